"""Phone and desktop, light and dark: nothing sticks out, everything can be read and hit."""

import pytest

CONTRAST = """() => {
  // WCAG 2: relative luminance and contrast of each visible text against what lies behind it.
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (node) => { for (; node; node = node.parentElement) { const c = rgba(getComputedStyle(node).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = []; let seen = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.checkVisibility() || node.closest("svg, .unseen, .skip, noscript, script")) continue;
    seen += 1;
    const [a, b] = [luminance(rgba(getComputedStyle(node).color)), luminance(behind(node))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) poor.push([walker.currentNode.textContent.trim().slice(0, 40), Math.round(contrast * 100) / 100]);
  }
  return [seen, poor];
}"""

SMALL = """() => [...document.querySelectorAll("a, button, input, select, summary, textarea")]
  .filter((node) => node.checkVisibility() && !node.closest(".unseen, .skip, .words") && !node.closest("svg"))
  .map((node) => {
    const target = node.matches("[type=checkbox], [type=radio]") ? node.closest("label") : node.matches(".row-name a") ? node.closest("li") : node;
    const {width, height} = target.getBoundingClientRect();
    return [node.textContent.trim() || node.getAttribute("aria-label") || node.type, width, height];
  }).filter(([, width, height]) => width < 44 || height < 44)"""


@pytest.fixture(scope="module")
def filled(service):
    """A study with everything in it: a reset, a failure, trials that wait, many parameters, a long name."""
    space = {f"parameter {i}": {"real": [0, 1]} for i in range(6)}
    path = service.create(
        "a rather long name of a study that somebody made in a hurry", {"parameters": space}
    )
    point = dict.fromkeys(space, 0.5)
    service.tell(path, [({**point, "parameter 0": i / 20}, 0.5) for i in range(16)] + [(point, 9.0)])
    for _ in range(2):
        trial = service.call("POST", f"{path}/ask", {})
    service.call("POST", f"{path}/fail", {"trial": trial["number"], "reason": "x" * 200})
    assert service.call("GET", path)["resets"] == 1
    service.create("empty", {"box": [[0, 1]]})
    return path.replace("/v1", "")


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_every_page_fits_reads_and_can_be_hit(service, visit, filled, size):
    looked = visit(service, size)
    page = looked.page
    for path, sign in (("/", ".rack"), ("/studies/empty", ".lesson pre"), (filled, ".parallel text")):
        looked.open(path)
        page.locator(sign).first.wait_for()
        if path == filled:
            page.locator(".posterior .xtitle").wait_for()
            page.locator(".own-point").evaluate("(node) => { node.open = true; }")
            page.locator(".words p").first.wait_for()
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"], f"{path} scrolls sideways"
        if size == "phone":
            assert page.evaluate(SMALL) == [], f"{path}: smaller than 44 px"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            seen, poor = page.evaluate(CONTRAST)
            assert seen > 10
            assert not poor, f"{path}: contrast below 4.5"
            background = page.evaluate("getComputedStyle(document.body).backgroundColor")
            brightness = sum(int(each) for each in background[4:-1].split(",")) / 3
            assert brightness > 200 if scheme == "light" else brightness < 60
    boxes = [page.locator(each).bounding_box() for each in (".timeline-panel", ".trials-panel")]
    beside = boxes[1]["x"] >= boxes[0]["x"] + boxes[0]["width"]
    assert beside == (size == "desktop")


def test_form_fits_a_phone(service, visit):
    page = visit(service, "phone", "dark").open()
    page.get_by_role("button", name="New study …").click()
    page.get_by_role("radio", name="named parameters").check()
    page.get_by_role("button", name="Add parameter").click()
    page.get_by_text("More", exact=True).click()
    dialog = page.get_by_role("dialog")
    assert dialog.evaluate("(node) => node.scrollWidth <= node.clientWidth")
    assert page.evaluate(SMALL) == []
    assert page.evaluate(CONTRAST)[1] == []


def test_chosen_theme_holds_and_charts_follow(service, visit, filled):
    looked = visit(service, "desktop", "light")
    page = looked.open(filled)
    tick = page.locator(".timeline .xtick text").first
    tick.wait_for()
    before = tick.evaluate("(node) => getComputedStyle(node).fill")
    button = page.get_by_role("button", name="Theme: auto")
    button.click()
    page.get_by_role("button", name="Theme: light").click()
    looked.until(
        "(was) => getComputedStyle(document.querySelector('.timeline .xtick text')).fill !== was", before
    )
    looked.open("/")
    page.get_by_role("button", name="Theme: dark").wait_for()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
