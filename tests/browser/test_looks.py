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


@pytest.fixture(scope="module")
def limited(service):
    """A study with constraints: long names and units, a violation, nothing believed safe, a trial that waits."""
    names = {"temperature_of_the_product_at_the_exit": {"at_most": 0.9, "unit": "°C above the hall"}}
    names |= {f"constraint_{i}": {"at_least": 0.1 * i} for i in range(3)}
    options = {"constraints": names, "safe": 0.95, "start": [[0.1, 0.1]]}
    path = service.create("limited", {"box": [[0, 1], [0, 1]]}, algorithm="auto", options=options)
    for i in range(12):
        outcomes = dict.fromkeys(names, 0.5 if i < 10 else 12345.678 * (-1) ** i)
        service.call("POST", f"{path}/tell", {"x": [i / 20, 0.1], "y": 0.5, "outcomes": outcomes})
    service.call("POST", f"{path}/ask", {})
    assert service.call("GET", path)["violations"] == 2
    return path.replace("/v1", "")


@pytest.mark.parametrize("size", ["small", "phone", "desktop"])
def test_every_page_fits_reads_and_can_be_hit(service, visit, filled, limited, size):
    looked = visit(service, size)
    page = looked.page
    pages = {"/": ".rack", "/studies/empty": ".lesson pre", limited: ".outcomes .annotation"}
    for path, sign in (*pages.items(), (filled, ".parallel text")):
        looked.open(path)
        page.locator(sign).first.wait_for()
        if path in (filled, limited):
            page.locator(".posterior .xtitle").wait_for()
            page.locator(".own-point").evaluate("(node) => { node.open = true; }")
            page.locator(".words p").first.wait_for()
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"], f"{path} scrolls sideways"
        if size != "desktop":
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
    page = visit(service, "small", "dark").open()
    page.get_by_role("button", name="New study …").click()
    page.get_by_role("radio", name="named parameters").check()
    page.get_by_role("button", name="Add parameter").click()
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Add constraint").click()
    page.get_by_role("radio", name="only what is safe").check()
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


CROSSED = """() => {
  // Names and ends of the axes that a line of the data runs through: sampled along each line.
  const labels = [...document.querySelectorAll(".parallel text")].map((node) => [node.textContent, node.getBBox()]);
  const inside = (x, y, box) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
  const lines = [...document.querySelectorAll(".parallel polyline")].map((node) => [...node.points]);
  const crossed = new Set();
  for (const points of lines) for (let i = 1; i < points.length; i += 1) for (let share = 0; share <= 1; share += 0.02) {
    const [x, y] = [points[i - 1].x + share * (points[i].x - points[i - 1].x), points[i - 1].y + share * (points[i].y - points[i - 1].y)];
    for (const [text, box] of labels) if (inside(x, y, box)) crossed.add(text);
  }
  const seen = document.querySelector(".parallel").viewBox.baseVal;
  const out = labels.filter(([, box]) => box.x < -1 || box.x + box.width > seen.width + 1).map(([text]) => text);
  return [lines.length, [...crossed], out];
}"""


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_parallel_coordinates_leave_their_labels_alone(service, visit, size):
    space = {
        "temperature": {"real": [1, 9], "unit": "°C"},
        "speed": {"integer": [100, 3000], "unit": "rpm"},
        "mode": {"choice": ["slow", "fast"]},
    }
    name = f"labels {size}"
    path = service.create(name, {"parameters": space}, algorithm="random", options={})
    for i in range(24):
        point = {
            "temperature": 1 + (7 * i % 9),
            "speed": 100 + (1201 * i) % 2900,
            "mode": ["slow", "fast"][i % 2],
        }
        service.tell(path, [(point, 1_200_000.5 + i)])
    page = visit(service, size).study(name)
    page.locator(".parallel polyline").nth(23).wait_for(state="attached")
    assert page.evaluate(CROSSED) == [24, [], []]
    names = page.evaluate(
        "[...document.querySelectorAll('.parallel text')].map((each) => each.lastChild.data)"
    )
    assert {"temperature (°C)", "speed (rpm)", "mode", "y"} <= set(names)
