"""The page's own functions, in the browser that runs them, against Python."""

import json
import random
import re
from pathlib import Path

import pytest

import windvane

PAGE = Path(windvane.__file__).parent / "service" / "dashboard"


@pytest.fixture
def page(service, visit):
    return visit(service).open("/")


def run(page, module, expression, argument=None):
    return page.evaluate(f"(given) => import('/static/{module}.js').then((m) => {expression})", argument)


def test_numbers(page):
    values = [random.Random(4).uniform(-1, 1) * 10**e for e in range(-8, 9) for _ in range(4)]
    for value, text in zip(values, run(page, "format", "given.map((v) => m.number(v))", values), strict=True):
        shown = float(text.replace("−", "-").replace("\u202f", ""))
        assert shown == pytest.approx(value, rel=0.006)
        assert len(text) <= 9
    special = [0, 3, -3, 1234567.0, 12345, None, 0.5]
    assert run(page, "format", "given.map((v) => m.number(v))", special) == [
        "0", "3", "−3", "1.23e6", "12\u202f345", "–", "0.5000",
    ]  # fmt: skip


def test_decimation_keeps_extremes_resets_and_order(page):
    draw = random.Random(5)
    rows = [{"seq": i, "y": draw.gauss(0, 1), "reset": draw.random() < 0.01} for i in range(9000)]
    kept = run(page, "history", "m.decimate(given, 2000)", rows)
    assert len(kept) <= 2000 + sum(row["reset"] for row in rows)
    assert [row["seq"] for row in kept] == sorted(row["seq"] for row in kept)
    assert {row["seq"] for row in rows if row["reset"]} <= {row["seq"] for row in kept}
    for extreme in (min, max):
        assert extreme(row["y"] for row in kept) == extreme(row["y"] for row in rows)
    assert run(page, "history", "m.decimate(given, 2000)", rows[:2000]) == rows[:2000]


def test_memory_is_bounded_and_nothing_counts_twice(page):
    script = """(() => { const h = new m.History("x"); const taken = given.map((r) => h.add(r));
        return [taken.filter(Boolean).length, h.tells.length, h.tells.at(-1).seq, h.resets.length, h.others.length]; })()"""
    told = [
        {"seq": i, "kind": "told" if i % 2 else "asked", "y": 0.0, "reset": i % 999 == 0}
        for i in range(1, 12001)
    ]
    taken, kept, last, resets, others = run(page, "history", script, [*told, *told[-5:]])
    assert (taken, last, resets) == (12000, 11999, 12)
    assert 2000 <= kept <= 2200
    assert 500 <= others <= 600


def test_stream_can_be_cut_anywhere(page):
    records = [{"seq": i, "reason": "a\nb — ✓ data: x"} for i in range(5)]
    text = ": hello\n\n" + "".join(f"id: {r['seq']}\nevent: told\ndata: {json.dumps(r)}\n\n" for r in records)
    script = """given.flatMap(([text, cut]) => { const got = []; const rest = m.parse(text.slice(0, cut), (r) => got.push(r));
        m.parse(rest + text.slice(cut), (r) => got.push(r)); return [got]; })"""
    for found in run(page, "stream", script, [[text, cut] for cut in range(0, len(text), 7)]):
        assert found == records


LOADED = """async ({log, grows}) => {
  const { History } = await import("/static/history.js");
  let seen = log.length - grows;  // a busy study: a record more at each answer
  window.fetch = async (url) => {
    const asked = new URL(url, location).searchParams;
    const flag = (name) => asked.get(name) === "true";
    seen = Math.min(log.length, seen + 1);
    const found = log.slice(0, seen).filter((r) => r.seq > Number(asked.get("after") ?? 0)
      && (!asked.get("kind") || r.kind === asked.get("kind")) && (!flag("resets") || r.reset));
    const limit = Number(asked.get("limit"));
    return new Response(JSON.stringify({events: flag("newest") ? found.slice(-limit) : found.slice(0, limit), head: seen}));
  };
  const history = new History("x");
  await history.load();
  const head = history.head;
  log.slice(head).forEach((record) => history.add(record));  // as the stream does
  await history.backfill();
  return [head, history.tells.map((r) => r.seq), history.resets.map((r) => r.seq), history.others.map((r) => r.seq)];
}"""


@pytest.mark.parametrize("pairs", [True, False], ids=["asked and told", "told only"])
def test_history_has_no_gap_however_busy_the_study_is(page, pairs):
    log = [
        {"seq": i, "kind": "asked" if pairs and i % 2 else "told", "step": i, "y": 0.0, "reset": i % 100 == 0}
        for i in range(1, 5001)
    ]
    head, tells, resets, others = page.evaluate(LOADED, {"log": log, "grows": 9})
    assert head < 5000
    told = [row["seq"] for row in log if row["kind"] == "told"]
    assert len(tells) >= 2000
    assert tells == told[-len(tells) :]
    assert resets == [row["seq"] for row in log if row["reset"]]
    assert others == [row["seq"] for row in log if row["kind"] == "asked"][-len(others) or 5000 :]


def test_every_module_is_fetched_at_once():
    """Else the browser finds them one import after the other."""
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:src|href)="/static/(\w+\.js)"', index)
    assert sorted(named) == sorted(path.name for path in PAGE.glob("*.js"))


def test_nothing_is_parsed_as_markup():
    for path in PAGE.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        ), path.name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), f"{path.name} names another host"


def test_steps_are_counted_without_what_was_taken_back(page):
    def told(seq, step, outlier=None):
        return {
            "seq": seq,
            "kind": "told",
            "step": step,
            "y": step,
            "event": {"step": step, "outlier": outlier, "size": 1},
        }

    records = [
        told(1, 1),
        told(2, 2),
        told(3, 3, 3),
        {
            "seq": 4,
            "kind": "reset",
            "step": 3,
            "reset": True,
            "event": {"step": 3, "outlier": None, "size": 0},
        },
        {"seq": 5, "kind": "retracted", "step": None, "event": {"record": 2, "size": 0}},
        told(6, 3),
    ]
    found = run(
        page,
        "history",
        "(() => { const all = new m.History('x'); given.forEach((r) => all.add(r)); "
        "return [all.counted().map((r) => [r.step, r.event.outlier]), all.asked().map((r) => r.step)]; })()",
        records,
    )
    assert found == [[[1, None], [2, 2], [3, None]], [2]]
