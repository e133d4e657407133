"""Numbers that people type: read as they are meant, or refused with both readings, wherever there is a field."""

import pytest


def run(page, module, expression, argument=None):
    return page.evaluate(f"(given) => import('/static/{module}.js').then((m) => {expression})", argument)


READ = (
    "given.map((text) => { try { return m.numberFrom(text, 'y'); } catch (error) { return error.message; } })"
)
AMBIGUOUS = "“{}” may mean {} or {}: write it without the comma."

MEANT = {
    "1.25": 1.25,
    " -3 ": -3,
    "−0.5": -0.5,
    "+2": 2,
    ".5": 0.5,
    "5.": 5,
    "1e-3": 0.001,
    "2E6": 2e6,
    "1.5×10⁻³": 0.0015,  # as the page writes it
    "1250": 1250,
    "1.250": 1.25,  # a full stop is always the decimal point, as in JSON, unless there are several
    "0,5": 0.5,
    "1,25": 1.25,
    "0,250": 0.25,  # thousands do not begin with a nought
    "1250,500": 1250.5,
    "1,2500": 1.25,
    "1,250,000": 1_250_000,
    "1.250.000": 1_250_000,
    "1,250.5": 1250.5,
    "1.250,5": 1250.5,
    "−1.250,75": -1250.75,
    "12 345": 12345,
    "12\u202f345.5": 12345.5,
    "1’250": 1250,
}
REFUSED = {
    "1,250": ("1.25", "1250"),
    "-12,345": ("−12.345", "−12345"),
    "999,999": ("999.999", "999999"),
    "1,250e3": ("1250", "1250000"),
}
NONE = [
    "",
    "about 3",
    "1,2,3",
    "1,25.5",
    "1.25.5",
    "1 25",
    "1,,5",
    "e5",
    "Infinity",
    "0x10",
    "1e999",
    "1,250.000,5",
]


def test_what_people_type_is_read_as_they_mean_it(service, visit):
    page = visit(service).open("/")
    assert run(page, "typed", READ, list(MEANT)) == list(MEANT.values())
    said = run(page, "typed", READ, list(REFUSED))
    assert said == [f"y: {AMBIGUOUS.format(text, *both)}" for text, both in REFUSED.items()]
    for text, sentence in zip(NONE, run(page, "typed", READ, NONE), strict=True):
        assert sentence == "y: enter a number.", text


@pytest.fixture(scope="module")
def mill(service):
    space = {"gain": {"real": [0, 5000]}, "load": {"real": [0, 5000], "context": True}}
    limited = {"constraints": {"heat": {"at_most": 9000}}}
    path = service.create("typed", {"parameters": space}, algorithm="auto", options=limited)
    service.call("POST", f"{path}/tell", {"x": {"gain": 5, "load": 7}, "y": 2, "outcomes": {"heat": 3}})
    return path


def told(service, path):
    return len(service.call("GET", f"{path}/events")["events"])


def test_trials_contexts_constraints_and_corrections_refuse_the_same(service, visit, mill):
    page = visit(service).study("typed")
    before = told(service, mill)
    both = AMBIGUOUS.format("1,250", "1.25", "1250")

    page.get_by_label("load now").fill("1,250")
    page.get_by_role("button", name="Ask for a point").click()
    page.locator(".trials-panel > [role=alert]", has_text=f"load: {both}").wait_for()
    assert told(service, mill) == before
    page.get_by_label("load now").fill("1250")
    page.get_by_role("button", name="Ask for a point").click()

    complaint = page.locator(".trials [role=alert]")
    for label, what in (("Value of trial 1", "y"), ("Noise of trial 1", "±"), ("heat of trial 1", "heat")):
        page.get_by_label(label).fill("1,250")
        page.get_by_role("button", name="Tell", exact=True).click()
        complaint.filter(has_text=f"{what}: {both}").wait_for()
        assert page.evaluate("document.activeElement.value") == "1,250"
        page.get_by_label(label).fill("2")

    page.locator(".own-point").evaluate("(node) => { node.open = true; }")
    page.get_by_label("gain", exact=True).fill("1,250")
    page.get_by_label("Measured y").fill("1")
    page.get_by_role("button", name="Tell this point").click()
    page.locator(".own [role=alert]", has_text=f"gain: {both}").wait_for()

    page.get_by_role("button", name="Correct the value of step 1").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    for label, what in (("Right value", "y"), ("heat", "heat")):
        dialog.get_by_label(label).fill("1,250")
        dialog.get_by_role("button", name="Correct it").click()
        dialog.locator("[role=alert]", has_text=f"{what}: {both}").wait_for()
        dialog.get_by_label(label).fill("2")
    assert told(service, mill) == before + 1  # the question alone


def test_the_form_refuses_the_same(service, visit):
    page = visit(service).open("/")
    page.get_by_role("button", name="New study …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("ambiguous")
    both = AMBIGUOUS.format("1,250", "1.25", "1250")
    refused = dialog.locator("[role=alert]")

    def refuses(field, what, right):
        field.fill("1,250")
        dialog.get_by_role("button", name="Create").click()
        refused.filter(has_text=f"{what}: {both}").wait_for()
        field.fill(right)

    refuses(dialog.get_by_label("Upper bound of dimension 1"), "upper bound", "5000")
    dialog.get_by_role("button", name="Add constraint").click()
    dialog.get_by_label("Name of the constraint").fill("heat")
    refuses(dialog.get_by_label("Limit", exact=True), "heat: limit", "90")
    dialog.get_by_role("radio", name="only what is safe").check()
    dialog.get_by_label("Start settings").fill("1,250;")
    dialog.get_by_role("button", name="Create").click()
    refused.filter(has_text=f"start “1,250;”: {both}").wait_for()
    dialog.get_by_label("Start settings").fill("2")
    dialog.get_by_text("More", exact=True).click()
    refuses(dialog.get_by_label("A question expires after"), "expires after", "100")
    dialog.get_by_role("button", name="Create").click()
    page.wait_for_url("**/studies/ambiguous")
    definition = service.call("GET", "/v1/studies/ambiguous")["definition"]
    assert definition["space"]["bounds"] == [[0, 5000]]
