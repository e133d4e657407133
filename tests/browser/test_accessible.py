"""What axe-core finds on every page, light and dark; the keyboard alone; and Firefox, where there is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
AXE = HERE / "node_modules" / "axe-core" / "axe.min.js"
FINDINGS = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]});
  return found.violations.filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => [each.id, each.nodes.map((node) => [node.html.slice(0, 160), node.failureSummary]).slice(0, 3)]);
}"""


@pytest.fixture(scope="session")
def axe():
    """The checker's source, of the version in package-lock.json."""
    if not AXE.exists():
        if shutil.which("npm") is None:
            pytest.skip("axe-core comes from npm, and there is no npm here")
        command = ["npm", "ci", "--prefix", str(HERE), "--no-audit", "--no-fund"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            pytest.skip(f"npm could not install axe-core: {done.stderr.strip()[-200:]}")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def studies(service):
    """One of each kind: named parameters with a reset and trials, constraints with a violation, arms, none yet."""
    named = {
        "pressure": {"real": [1, 9], "unit": "bar"},
        "speed": {"integer": [100, 3000], "unit": "rpm"},
        "mode": {"choice": ["slow", "fast"]},
        "hall": {"real": [0, 40], "unit": "°C", "context": True},
    }
    path = service.create("axe named", {"parameters": named}, algorithm="auto", options={})
    for i in range(8):
        point = {"pressure": 1 + i, "speed": 100 + 300 * i, "mode": "slow", "hall": 20 + i}
        service.tell(path, [(point, 0.1 * i)])
    service.call("POST", f"{path}/ask", {"context": {"hall": 21}})
    service.call("POST", f"{path}/reset", {"reason": "new pump"})
    service.tell(path, [({"pressure": 2, "speed": 200, "mode": "fast", "hall": 20}, 0.5)])
    limits = {"constraints": {"heat": {"at_most": 90, "unit": "°C"}}}
    oven = service.create("axe oven", {"box": [[0, 1]]}, algorithm="auto", options=limits)
    for i in range(6):
        service.call("POST", f"{oven}/tell", {"x": [i / 6], "y": i, "outcomes": {"heat": 70 + 5 * i}})
    arms = service.create("axe arms", {"arms": 4}, options={})
    service.tell(arms, [(i % 4, float(i % 4)) for i in range(8)])
    service.create("axe bare", {"box": [[0, 1]]})


PAGES = {
    "studies": ("/", ".rack"),
    "alarms": ("/?view=alarms", ".alarm"),
    "named": ("/studies/axe%20named", ".posterior .xtitle"),
    "oven": ("/studies/axe%20oven", ".outcomes .annotation"),
    "arms": ("/studies/axe%20arms", ".posterior .xtitle"),
    "bare": ("/studies/axe%20bare", ".lesson pre"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_no_serious_finding_on_any_page(service, visit, studies, axe, size, scheme):
    looked = visit(service, size, scheme)
    page = looked.page
    for path, sign in PAGES.values():
        looked.open(path)
        page.locator(sign).first.wait_for()
        if "axe%20named" in path:
            page.locator(".words p").first.wait_for()
            page.locator(".own-point").evaluate("(node) => { node.open = true; }")
            page.locator(".timeline-panel .help summary").click()
        page.evaluate(axe)
        assert page.evaluate(FINDINGS) == [], path
    looked.open("/")
    page.get_by_role("button", name="New study …").click()
    page.get_by_role("radio", name="named parameters").check()
    page.get_by_role("button", name="Add constraint").click()
    page.get_by_role("radio", name="only what is safe").check()
    page.get_by_text("More", exact=True).click()
    page.evaluate(axe)
    assert page.evaluate(FINDINGS) == [], "the form"


def test_alarms_of_all_studies_are_acknowledged_by_keyboard_and_stay_so(service, visit, studies):
    looked = visit(service)
    page = looked.open("/")
    page.get_by_role("link", name="Alarms").click()
    reset = page.locator(".alarm.is-reset", has_text="new pump")
    reset.wait_for()
    assert "axe named" in reset.inner_text()
    beyond = page.locator(".alarm.is-violation", has=page.get_by_role("link", name="axe oven"))
    assert beyond.count() == 1
    assert "heat 95\xa0°C, above the limit of 90\xa0°C" in beyond.inner_text()
    box = reset.get_by_role("checkbox", name="acknowledged reset of axe named")
    box.focus()
    page.keyboard.press("Space")
    reset.wait_for(state="detached")  # only what is open is shown
    assert "acknowledged" in page.locator("#announcer").inner_text()
    looked.open("/?view=alarms")
    beyond.wait_for()
    assert reset.count() == 0
    page.get_by_role("radio", name="all").check()
    assert reset.get_by_role("checkbox").is_checked()
    reset.get_by_role("link", name="axe named").click()
    page.get_by_role("heading", name="axe named").wait_for()


def test_help_opens_and_closes_by_keyboard(service, visit, studies):
    page = visit(service).study("axe named")
    mark = page.get_by_label("What is “Course”?")
    mark.focus()
    page.keyboard.press("Enter")
    text = page.locator(".timeline-panel .help p")
    text.wait_for()
    assert "too little is known for a test" in text.inner_text()
    page.keyboard.press("Escape")
    assert text.is_hidden()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "What is “Course”?"


def test_a_chart_is_saved_as_a_picture(service, visit, studies):
    page = visit(service).study("axe named")
    page.locator(".timeline .scatterlayer .point").first.wait_for()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save “Course” as a picture").click()
    assert caught.value.suggested_filename == "axe named - Course.svg"
    saved = Path(caught.value.path()).read_text(encoding="utf-8")
    assert saved.startswith("<svg")
    assert "points in use" in saved
