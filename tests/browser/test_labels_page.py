"""Names of options, small numbers and dates on the axes of charts: whole, or shortened where it can be seen."""

import pytest

LONG = [
    "conservative, with pre-heating of the second stage",
    "aggressive <fast>, no pre-heating",
    "whatever the operator on shift has chosen",
]
CUT = """(chart) => {
  // Labels of ticks that reach beyond the picture, or over one another.
  const frame = document.querySelector(chart).getBoundingClientRect();
  const labels = [...document.querySelectorAll(`${chart} :is(.xtick, .ytick, .y2tick, .y3tick, .y4tick) text`)];
  const boxes = labels.map((node) => [node.textContent, node.getBoundingClientRect()]);
  const out = boxes.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1);
  const meet = ([, a], [, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const over = boxes.filter((one, i) => boxes.some((other, j) => j > i && meet(one, other)));
  return [boxes.map(([text]) => text), [...out, ...over].map(([text]) => text)];
}"""


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_long_names_of_options_stay_within_their_charts(service, visit, size):
    space = {"pressure": {"real": [1, 9]}, "strategy": {"choice": LONG}}
    path = service.create(f"long {size}", {"parameters": space}, algorithm="random", options={})
    service.tell(path, [({"pressure": 1 + i, "strategy": LONG[i % 3]}, 0.1 * i) for i in range(8)])
    alone = service.create(
        f"alone {size}", {"parameters": {"strategy": {"choice": LONG}}}, algorithm="auto", options={}
    )
    service.tell(alone, [({"strategy": LONG[i % 3]}, 0.1 * i) for i in range(8)])
    looked = visit(service, size)
    for name in (f"long {size}", f"alone {size}"):
        page = looked.study(name)
        for chart in (".posterior", ".optimum"):
            page.locator(f"{chart} .ytick text").first.wait_for()
            labels, cut = page.evaluate(CUT, chart)
            assert cut == [], (name, chart)
            for option in LONG:  # each is told from the others by how it begins
                assert any(each.startswith(option[:8]) for each in labels), (name, chart, labels)


def test_small_numbers_have_a_power_of_ten_on_axes(service, visit):
    path = service.create("small", {"box": [[0, 1e-6], [0, 1e-6]]}, algorithm="auto", options={})
    service.tell(path, [([2e-8 * i, 1e-8 * i], 1e-6 * i) for i in range(30)])
    page = visit(service).study("small")
    for chart in (".posterior", ".optimum", ".timeline"):
        page.locator(f"{chart} .ytick text").first.wait_for()
        labels, cut = page.evaluate(CUT, chart)
        assert cut == [], chart
        assert not [each for each in labels if each.startswith("0.000")], chart
        assert [each for each in labels if "×10" in each], chart
    scale = page.locator(".posterior .infolayer [class^=cb] text").all_text_contents()
    assert scale
    assert not [each for each in scale if each.startswith("0.000")]


def test_dates_that_were_told_are_dates_on_the_axis_and_in_what_is_pointed_at(service, visit):
    path = service.create("dated", {"box": [[0, 1]]}, options={})
    for i in range(30):
        at = 1_793_520_000 + 900 * i  # 1 November 2026, 8:00 UTC, and every quarter of an hour
        service.call("POST", f"{path}/tell", {"x": [i / 30], "y": 0.5 + 0.01 * (-1) ** i, "time": at})
    looked = visit(service)
    page = looked.study("dated")
    page.locator(".timeline .xtitle", has_text="caller’s time (UTC)").wait_for()
    assert page.locator(".timeline .xtick text", has_text="Nov 1, 2026").count() == 1
    shapes = page.evaluate(
        "document.querySelector('.timeline').layout.shapes.filter((e) => e.name === 'learning').length"
    )
    assert shapes == 1
    text = page.evaluate("document.querySelector('.timeline').data.find((e) => e.mode === 'markers').text[3]")
    assert text.startswith("step 4, 2026-11-01 08:45:00 UTC<br>")
    page.locator(".optimum .xtitle", has_text="caller’s time (UTC)").wait_for()
    assert page.locator(".optimum .xtick text", has_text="Nov 1, 2026").count() == 1
    last = page.locator(".entry").filter(has=page.get_by_text("step 30", exact=True))
    assert "at 2026-11-01 15:15:00 UTC" in last.inner_text()
    page.get_by_label("Against").select_option("step")
    page.locator(".timeline .xtitle", has_text="step").wait_for()
