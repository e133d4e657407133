"""The page of all studies: create, filter, delete, and text that stays text."""

from urllib.parse import quote

import pytest

EVIL = '<img src=x onerror="window.pwned=1">'


def test_first_visit_teaches_and_the_keyboard_alone_creates_asks_and_tells(service, visit):
    for study in service.call("GET", "/v1/studies")["studies"]:
        service.call("DELETE", f"/v1/studies/{quote(study['name'])}")
    page = visit(service).open()
    page.get_by_role("heading", name="No study yet").wait_for()
    command = page.locator(".lessons pre").inner_text()
    assert command.startswith("curl -X POST")
    assert service.url in command

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["y"] >= 0  # it shows itself to those who need it
    _tab_to(page, "New study …")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.type("kiln 3")  # the focus is in the first field
    _tab_to(page, "Upper bound of dimension 1")
    page.keyboard.press("Control+A")
    page.keyboard.type("950")
    _tab_to(page, "Create")
    page.keyboard.press("Enter")
    page.wait_for_url("**/studies/kiln%203")
    page.get_by_role("heading", name="kiln 3", exact=True).wait_for()
    made = service.call("GET", "/v1/studies/kiln%203")
    assert made["definition"]["space"] == {"type": "Box", "bounds": [[0.0, 950.0]]}
    assert (made["algorithm"], made["goal"]) == ("auto", "maximize")

    _tab_to(page, "Ask for a point")
    page.keyboard.press("Enter")
    page.locator("input[aria-label='Value of trial 1']:focus").wait_for()
    page.keyboard.type("1.5")  # the focus has followed the question
    page.keyboard.press("Enter")
    page.locator(".timeline .scatterlayer").first.wait_for()
    told = service.call("GET", "/v1/studies/kiln%203/events?kind=told")["events"]
    assert [(each["trial"], each["y"]) for each in told] == [(1, 1.5)]


def _tab_to(page, label):
    """Press Tab until the control with this label has the focus; every stop on the way is visibly focused."""
    for _ in range(40):
        page.keyboard.press("Tab")
        found, ring = page.evaluate(
            """() => {
                const node = document.activeElement;
                const name = node.getAttribute("aria-label") ?? node.labels?.[0]?.textContent ?? node.textContent;
                const seen = node.matches("[type=radio]") ? node.nextSibling : node;
                const after = getComputedStyle(seen, "::after").outlineStyle;
                return [name.trim(), [getComputedStyle(seen).outlineStyle, after]];
            }"""
        )
        if page.evaluate("document.activeElement !== document.body"):
            assert set(ring) != {"none"}, f"{found!r} does not show that it has the focus"
        if found == label:
            return
    pytest.fail(f"Tab never reached {label!r}")


def test_form_makes_named_parameters_and_shows_what_the_service_refuses(service, visit):
    looked = visit(service)
    looked.forgive("422|400")
    page = looked.open()
    page.get_by_role("button", name="New study …").click()
    page.get_by_label("Name", exact=True).fill("press")
    page.get_by_role("radio", name="named parameters").check()
    page.get_by_label("Upper bound", exact=True).fill("-1")
    page.get_by_role("button", name="Create").click()
    complaint = page.get_by_role("dialog").get_by_role("alert")
    complaint.wait_for()
    assert "lo=0.0 must be below hi=-1.0" in complaint.inner_text()  # the service's own sentence

    page.get_by_label("Upper bound", exact=True).fill("10")
    page.get_by_label("Lower bound", exact=True).fill("0.1")
    page.get_by_label("log", exact=True).check()
    page.get_by_role("button", name="Add parameter").click()
    page.get_by_label("Name of the parameter").last.fill("mode")
    page.get_by_label("Kind of the parameter").last.select_option("choice")
    page.get_by_label("Options, separated by commas").last.fill("slow, fast")
    page.get_by_role("radio", name="minimise").check()
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/studies/press")
    made = service.call("GET", "/v1/studies/press")["definition"]
    assert made["goal"] == "minimize"
    assert made["space"]["parameters"] == [
        ["gain", {"type": "Real", "lo": 0.1, "hi": 10.0, "log": True}],
        ["mode", {"type": "Choice", "options": ["slow", "fast"]}],
    ]


def test_filter_delete_and_where_the_focus_goes(service, visit):
    for name in ("alpha", "beta"):
        service.create(name, {"box": [[0, 1]]})
    page = visit(service).open()
    page.get_by_label("Filter studies").fill("ALPH")
    assert page.locator(".study-row:visible").count() == 1
    delete = page.get_by_role("button", name="Delete alpha")
    delete.click()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Delete alpha"
    assert "alpha" in {each["name"] for each in service.call("GET", "/v1/studies")["studies"]}

    delete.click()
    page.get_by_role("button", name="Delete for good").click()
    page.get_by_role("link", name="alpha").wait_for(state="detached")
    names = {each["name"] for each in service.call("GET", "/v1/studies")["studies"]}
    assert "alpha" not in names
    assert "beta" in names


def test_a_study_told_elsewhere_moves_up_to_date_by_itself(service, visit):
    path = service.create("busy", {"box": [[0, 1]]})
    page = visit(service).open()
    row = page.locator(".study-row", has=page.get_by_role("link", name="busy"))
    row.wait_for()
    service.tell(path, [([0.2], 1.0), ([0.6], 2.0)])
    row.locator(".cell", has_text="tells").get_by_text("2", exact=True).wait_for()
    row.locator(".spark-line").wait_for(state="attached")


def test_markup_in_names_stays_text(service, visit):
    """Names are refused by the service, so a lying service is played; what it does accept is told for real."""
    looked = visit(service)
    page = looked.page
    honest = service.create(
        "honest",
        {"parameters": {EVIL: {"real": [0, 1]}, "m": {"choice": [EVIL, "b"]}, "z": {"real": [0, 1]}}},
    )
    service.tell(honest, [({EVIL: i / 9, "m": EVIL, "z": 0.5}, i / 9) for i in range(9)])
    trial = service.call("POST", f"{honest}/ask", {})
    service.call("POST", f"{honest}/fail", {"trial": trial["number"], "reason": EVIL})
    summary = {**service.call("GET", honest), "name": EVIL}
    page.route("**/v1/studies", lambda route: route.fulfill(json={"studies": [summary]}))
    looked.forgive("404")  # the sparkline of a study that is not there
    looked.open()
    assert page.locator(".row-name a").inner_text() == EVIL

    looked.study("honest")
    page.locator(".entry-reason", has_text=EVIL).wait_for()
    page.locator(".posterior .xtitle").wait_for()
    assert page.locator(".posterior .xtitle").text_content() == EVIL
    assert page.locator(".parallel text").first.text_content().startswith("<img")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x]").count() == 0
