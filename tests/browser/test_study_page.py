"""The page of one study, live: ask, tell, resets, failures, charts of every kind of space."""

import csv
import io
import urllib.request

import pytest

import windvane as wv


def calm(count):
    """Values of a flat objective at points spread over the unit interval."""
    return [([((7 * i) % 20) / 20], 0.5 + 0.01 * (-1) ** i) for i in range(count)]


def test_ask_tell_and_the_reset_appears_without_reloading(service, visit):
    path = service.create("reset", {"box": [[0, 1]]})
    service.tell(path, calm(20))
    page = visit(service).study("reset")
    page.locator(".timeline .scatterlayer").first.wait_for()
    page.evaluate("window.here = true")  # a reload would forget it
    assert page.locator(".timeline .shapelayer path").count() == 0

    page.get_by_role("button", name="Ask for a point").click()
    answer = page.get_by_label("Value of trial 1")
    answer.wait_for()
    x = service.call("GET", f"{path}/trials?status=pending")["trials"][0]["x"][0]
    assert float(page.locator(".trials dd").inner_text()) == pytest.approx(x, abs=1e-4)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Value of trial 1"
    page.keyboard.type("9.5")
    page.keyboard.press("Enter")

    entry = page.locator(".entry.is-reset")
    entry.wait_for()
    event = service.call("GET", f"{path}/events?resets=true")["events"][0]
    assert event["step"] == 21
    assert event["reason"] in entry.inner_text()
    page.locator(".timeline .shapelayer path").wait_for(state="attached")
    assert page.locator("#announcer").inner_text() == f"Reset at step 21: {event['reason']}"
    resets = page.locator(".readout", has=page.get_by_text("Resets", exact=True))
    assert resets.locator(".readout-value").inner_text() == "1"
    assert page.locator(".trials li").count() == 0
    assert page.evaluate("window.here") is True


def test_what_others_tell_appears_and_a_lost_stream_is_taken_up_where_it_broke(service, visit):
    path = service.create("shared", {"box": [[0, 1]]})
    service.tell(path, calm(3))
    looked = visit(service)
    looked.forgive("ERR_FAILED")
    page = looked.page
    refusals = []

    def refuse_twice(route):
        refusals.append(route.request.url)
        if len(refusals) <= 2:
            route.abort()
        else:
            route.continue_()

    page.route("**/stream?*", refuse_twice)
    looked.open("/studies/shared")
    page.locator(".badge[data-state=reconnecting]").wait_for()
    service.tell(path, calm(5)[3:])
    page.locator(".badge[data-state=live]").wait_for()
    page.get_by_text("step 5", exact=True).wait_for()
    assert page.locator(".entry-step").all_inner_texts() == [f"step {i}" for i in (5, 4, 3, 2, 1)]
    assert (
        page.locator(".readout", has=page.get_by_text("Steps", exact=True))
        .locator(".readout-value")
        .inner_text()
        == "5"
    )
    service.call("DELETE", path)
    page.locator(".badge[data-state=gone]").wait_for()
    looked.forgive("404")


def test_failures_points_of_ones_own_and_complaints_in_place(service, visit):
    path = service.create("hand", {"box": [[0, 1]]})
    looked = visit(service)
    page = looked.study("hand")
    assert "curl -X POST" in page.locator(".lesson").inner_text()
    page.get_by_role("button", name="Ask for a point").click()
    page.get_by_label("Value of trial 1").fill("about 3")
    page.get_by_role("button", name="Tell", exact=True).click()
    assert "finite number" in page.locator(".trials [role=alert]").inner_text()
    page.get_by_role("button", name="Trial 1 failed").click()
    page.get_by_label("Reason").fill("valve stuck")
    page.keyboard.press("Enter")
    page.locator(".trials li").wait_for(state="detached")
    page.get_by_role("radio", name="failures").check()
    assert "valve stuck" in page.locator(".entry.is-failed").inner_text()
    assert page.locator(".entry").count() == 1  # neither the question nor anything else

    looked.forgive("422|400")
    page.get_by_label("x1").fill("3")
    page.get_by_label("Measured y").fill("1.25")
    page.get_by_role("button", name="Tell this point").click()
    complaint = page.locator(".own [role=alert]")
    complaint.wait_for()
    assert "at least 0 and at most 1" in complaint.inner_text()
    page.get_by_label("x1").fill("0.3")
    page.keyboard.press("Enter")
    page.locator(".timeline .scatterlayer").first.wait_for()  # the lesson has made room for the charts
    assert page.locator(".lesson").is_hidden()
    told = service.call("GET", f"{path}/events?kind=told")["events"]
    assert [(each["x"], each["y"]) for each in told] == [([0.3], 1.25)]


def test_named_parameters_slice_by_two_axes_and_all_at_once(service, visit):
    space = {
        "gain": {"real": [0.1, 10], "log": True},
        "taps": {"integer": [1, 8]},
        "mode": {"choice": ["slow", "fast"]},
    }
    path = service.create("named", {"parameters": space}, algorithm="auto", options={})
    for i in range(6):
        service.tell(path, [({"gain": 0.5 + i, "taps": 1 + i, "mode": "slow"}, 0.1 * i)])
    page = visit(service).study("named")
    page.locator(".posterior .xtitle").wait_for()
    page.get_by_label("Up", exact=True).select_option("gain")
    page.locator(".posterior .ytitle", has_text="gain").wait_for()
    assert page.locator(".posterior .xtitle").text_content() == "taps"  # the axes swap: never twice the same
    assert page.locator(".parallel polyline").count() == 6
    weights = page.locator(".beliefs .figure").all_inner_texts()
    assert len(weights) == 8
    assert page.locator(".beliefs-panel h2").inner_text() == "Hypotheses about time"
    page.locator(".belief-name[title]").first.wait_for()
    for one in page.locator(".belief-name").all()[:-1]:
        assert one.get_attribute("title") == wv.describe_hypothesis(one.inner_text()) != ""
    assert sum(float(each.strip("< %")) for each in weights) == pytest.approx(100, abs=1)
    page.locator(".words p").first.wait_for()
    assert (
        page.locator(".words").inner_text().split() == service.call("GET", f"{path}/explain")["text"].split()
    )


def test_arms_are_bars_and_the_map_can_show_its_uncertainty(service, visit):
    arms = service.create("arms", {"arms": 5}, options={})
    service.tell(arms, [(i % 5, float(i % 5)) for i in range(10)])
    looked = visit(service)
    page = looked.study("arms")
    page.locator(".posterior .bars .point").nth(4).wait_for()
    assert page.locator(".posterior .errorbar").count() == 5

    plane = service.create("plane", {"box": [[0, 1], [0, 1]]})
    service.tell(plane, [([i / 5, (i * 3 % 5) / 5], i / 5) for i in range(6)])
    looked.study("plane")
    page.locator(".posterior .contourlayer").wait_for(state="attached")
    assert page.locator(".posterior-panel .caption").inner_text().startswith("Mean")
    page.get_by_role("radio", name="uncertainty").check()
    page.locator(".posterior-panel .caption", has_text="Standard deviation").wait_for()
    surface = service.call("GET", f"{plane}/surface?axes=x1,x2&resolution=41")
    shown = page.evaluate("document.querySelector('.posterior').data[0].z")
    assert shown == surface["std"]


def test_download_is_what_the_service_exports(service, visit):
    path = service.create("export", {"box": [[0, 1]]})
    service.tell(path, calm(4))
    page = visit(service).study("export")
    with page.expect_download() as caught:
        page.get_by_role("button", name="CSV").click()
    assert caught.value.suggested_filename == "export.csv"
    with urllib.request.urlopen(f"{service.url}{path}/export?format=csv", timeout=10) as answer:
        expected = answer.read().decode()
    with open(caught.value.path(), encoding="utf-8", newline="") as saved:
        assert saved.read() == expected
    assert len(list(csv.reader(io.StringIO(expected)))) == 5


def test_no_such_study_is_said_in_place(service, visit):
    looked = visit(service)
    looked.forgive("404|422")
    page = looked.open("/studies/a%2Fb%22%3Cb%3E")
    page.get_by_role("heading", name="There is no such study").wait_for()
    assert page.get_by_role("alert").inner_text() != ""


def test_what_is_observed_is_asked_for_with_a_point_and_moves_the_slice(service, visit):
    space = {
        "gain": {"real": [0, 1]},
        "taps": {"integer": [1, 4]},
        "load": {"real": [0, 100], "unit": "%", "context": True},
        "crew": {"choice": ["early", "late"], "context": True},
    }
    path = service.create("mill", {"parameters": space}, algorithm="auto", options={})
    looked = visit(service)
    page = looked.study("mill")
    looked.forgive("422|400")
    page.get_by_label("load now").fill("137")
    page.get_by_label("crew now").select_option(label="early")
    page.get_by_role("button", name="Ask for a point").click()
    complaint = page.locator(".trials-panel > [role=alert]")
    complaint.wait_for()
    assert "at most 100" in complaint.inner_text()
    page.get_by_label("load now").fill("37")
    page.get_by_label("crew now").select_option(label="late")
    page.get_by_role("button", name="Ask for a point").click()
    page.get_by_label("Value of trial 1").fill("0.5")
    page.get_by_role("button", name="Tell", exact=True).click()
    page.locator(".posterior .xtitle").wait_for()
    assert page.locator(".posterior .xtitle").text_content() == "gain"  # what is chosen comes first
    told = service.call("GET", f"{path}/events?kind=told")["events"]
    assert (told[0]["x"]["load"], told[0]["x"]["crew"]) == (37, "late")
    slider = page.locator(".posterior-panel input[type=range]")
    assert slider.input_value() == "37"
    with page.expect_request(lambda request: "/surface" in request.url and "context" in request.url):
        slider.fill("80")
    page.locator(".posterior-panel .caption", has_text="80").wait_for()


def test_noise_that_is_known_and_repeats_are_told_by_hand(service, visit):
    path = service.create("noisy", {"box": [[0, 1]]})
    page = visit(service).study("noisy")
    page.get_by_role("button", name="Ask for a point").click()
    page.get_by_label("Value of trial 1").fill("0.5; 0.7")
    page.get_by_label("Noise of trial 1").fill("-1")
    page.keyboard.press("Enter")
    page.get_by_text("a number above 0, or nothing").wait_for()
    page.get_by_label("Noise of trial 1").fill("0.2")
    page.keyboard.press("Enter")
    page.locator(".trials li").wait_for(state="detached")
    (record,) = service.call("GET", f"{path}/events?kind=told")["events"]
    assert record["event"]["values"] == [0.5, 0.7]
    assert record["event"]["told_variance"] == pytest.approx(0.04)


def test_a_failure_is_marked_in_the_course(service, visit):
    path = service.create("failing", {"box": [[0, 1]]})
    service.tell(path, calm(6))
    page = visit(service).study("failing")
    page.locator(".timeline .scatterlayer").first.wait_for()
    before = page.locator(".timeline .points path").count()
    trial = service.call("POST", f"{path}/ask", {})["number"]
    service.call("POST", f"{path}/fail", {"trial": trial, "reason": "no <b>power</b>"})
    page.locator(".entry.is-failed").wait_for()
    page.wait_for_function(
        "(count) => document.querySelectorAll('.timeline .points path').length === count", arg=before + 1
    )


def test_a_hand_on_the_wheel(service, visit):
    path = service.create("wheel", {"box": [[0, 1]]})
    service.tell(path, calm(6))
    page = visit(service).study("wheel")
    page.locator(".timeline .scatterlayer").first.wait_for()

    page.get_by_role("button", name="Correct the value of step 3").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Right value").fill("much")
    page.get_by_role("button", name="Correct it").click()
    page.get_by_text("enter the right value, a finite number").wait_for()
    page.get_by_label("Right value").fill("0.25")
    page.get_by_label("Reason (optional)").fill("a typo")
    page.get_by_role("button", name="Correct it").click()
    page.locator(".entry.is-corrected").wait_for()
    assert "a typo" in page.locator(".entry.is-corrected").inner_text()
    page.locator(".entry.was-corrected").wait_for()

    page.get_by_role("button", name="Take back the value of step 5").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Take it back").click()
    page.locator(".entry.is-retracted").wait_for()
    page.locator(".entry.was-retracted").wait_for()
    assert page.get_by_role("button", name="Take back the value of step 5").count() == 0

    page.get_by_role("button", name="The system has changed …").click()
    page.get_by_label("Reason (optional)").fill("new pump")
    page.get_by_role("button", name="Reset", exact=True).click()
    page.locator(".entry.is-reset").wait_for()
    assert "new pump" in page.locator(".entry.is-reset").inner_text()
    page.locator(".timeline .shapelayer path").wait_for(state="attached")
    kinds = [record["kind"] for record in service.call("GET", f"{path}/events?after=6")["events"]]
    assert kinds == ["corrected", "retracted", "reset"]
    assert service.call("GET", path)["size"] == 0


def test_candidates_are_shown_with_their_settings_and_a_reset_leaves_nothing_in_use(service, visit):
    rows = [{"gain": gain, "mode": mode} for gain in (0.25, 1.0, 4.0) for mode in ("<b>fast", "safe")]
    path = service.create("recipes", {"candidates": rows}, algorithm="auto", options={})
    for number, y in ((0, 1.0), (3, 2.0), (5, 1.5)):
        service.call("POST", f"{path}/tell", {"x": number, "y": [y, y + 0.5], "std": 0.25})
    service.call("POST", f"{path}/ask", {"available": [4]})
    page = visit(service).study("recipes")
    page.locator(".readout.wide", has_text="candidate").wait_for()
    assert "gain" in page.locator(".readout.wide").inner_text()
    assert "4" in page.locator(".trials .point").inner_text()
    assert "<b>fast" in page.locator(".trials .point").inner_text()
    assert "arm" not in page.locator(".log").inner_text()
    assert (
        page.locator(".entry.is-told .entry-point").first.inner_text() == "candidate 5 · gain 4 · mode safe"
    )
    assert page.locator(".entry.is-told .entry-value").first.inner_text() == "y 1.75 ± 0.25, mean of 2"
    service.call("POST", f"{path}/reset", {"reason": "new pump"})
    page.locator(".entry.is-reset").wait_for()
    in_use = page.locator(".readout", has_text="In use").locator(".readout-value")
    assert in_use.inner_text() == "0"
    weights = service.call("GET", f"{path}/events?kind=reset")["events"][0]["event"]["beliefs"]
    assert page.locator(".beliefs .figure").first.inner_text() == f"{100 * max(weights.values()):.1f} %"


def test_what_is_observed_is_not_made_up_and_may_lie_outside_a_space_that_became_narrower(service, visit):
    def space(most):
        return {
            "parameters": {
                "gain": {"real": [0, 1]},
                "load": {"real": [0, most], "context": True},
                "crew": {"choice": ["early", "late"], "context": True},
            }
        }

    path = service.create("mill-2", space(100), algorithm="auto", options={})
    for load in (30, 90):
        service.call("POST", f"{path}/tell", {"x": {"gain": 0.5, "load": load, "crew": "late"}, "y": 1})
    service.call("POST", f"{path}/space", {"space": space(60)})
    page = visit(service).study("mill-2")
    page.locator(".readout.wide", has_text="load 30").wait_for()
    complaint = page.locator(".trials-panel > [role=alert]")
    page.get_by_role("button", name="Ask for a point").click()
    complaint.filter(has_text="load: enter a number").wait_for()
    page.get_by_label("load now").fill("20")
    page.get_by_role("button", name="Ask for a point").click()
    complaint.filter(has_text="crew: choose what is observed").wait_for()
    assert service.call("GET", f"{path}/trials")["trials"] == []
