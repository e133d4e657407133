"""The page's own functions, in the browser that runs them, against Python."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

import windvane
from windvane import Box, digits
from windvane.moments import place_text
from windvane.protocol import AMENDING
from windvane.study import Study
from windvane.study.amendments import as_they_count
from windvane.study.numbering import Numbering

PAGE = Path(windvane.__file__).parent / "service" / "dashboard"


@pytest.fixture
def page(service, visit):
    return visit(service).open("/")


def run(page, module, expression, argument=None):
    return page.evaluate(f"(given) => import('/static/{module}.js').then((m) => {expression})", argument)


THIN = "\u202f"
POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def back(text):
    """The number that a text of the page stands for."""
    plain = text.replace("−", "-").replace(THIN, "").translate(POWERS)
    return float(plain.replace("×10", "e"))


def test_numbers(page):
    values = [random.Random(4).uniform(-1, 1) * 10**e for e in range(-8, 13) for _ in range(4)]
    for value, text in zip(values, run(page, "format", "given.map((v) => m.number(v))", values), strict=True):
        assert back(text) == pytest.approx(value, rel=0.0006)
        assert len(text) <= 12
    special = [0, 3, -3, 1234567.0, 12345, None, 0.5, 1234567.89, 2.5e9, 0.00025, 2.5e-5, -1e-12, 1e9]
    assert run(page, "format", "given.map((v) => m.number(v))", special) == [
        "0", "3", "−3", f"1{THIN}234{THIN}567", f"12{THIN}345", "–", "0.5", f"1{THIN}234{THIN}568", "2.5×10⁹",
        "0.00025", "2.5×10⁻⁵", "−1×10⁻¹²", "1×10⁹",
    ]  # fmt: skip


def test_python_and_the_page_write_the_same_digits(page):
    draw = random.Random(5)
    pairs = [
        (draw.uniform(-1, 1) * 10**a, draw.uniform(0.1, 1) * 10**b)
        for a in range(-7, 12)
        for b in range(-7, 12)
    ]
    for (mean, std), text in zip(
        pairs, run(page, "format", "given.map((p) => m.plusMinus(...p))", pairs), strict=True
    ):
        power = re.search("×10([⁻⁰-⁹¹²³]+)$", text) if text.startswith("(") else None
        plain = text.replace(THIN, "").replace("−", "-")
        if power:
            plain = f"{plain[: -len(power[0])]}e{int(power[1].translate(POWERS)):+03d}"
        if "×10" not in plain:  # too exact to be written out: each has a power of its own then
            assert digits.estimate(mean, std) == plain


def test_python_and_the_page_write_the_same_times(page):
    told = [
        (81, 81.0),
        (81, 40.5),
        (7, 1_772_366_400.25),
        (7, 1e9),
        (7, 1_234_567.125),
        (3, None),
        (3, 4.2e9),
    ]
    here = [place_text(step, time) for step, time in told]
    assert run(page, "format", "given.map((p) => m.place(...p))", told) == here


def test_a_number_stays_with_what_belongs_to_it(page):
    text = "lay in it (84 %; 95 % interval), 1.5 ± 0.2 °C, a % of it"
    expected = "lay in it (84\xa0%; 95\xa0% interval), 1.5\xa0±\xa00.2 °C, a % of it"
    assert run(page, "format", "m.unbroken(given)", text) == expected


def test_numbers_have_the_digits_that_their_uncertainty_deserves(page):
    pairs = {
        (1234567.8, 6344): f"1{THIN}234{THIN}600 ± 6{THIN}300",  # once "1.2e6 ± 6344"
        (0.31234, 0.0412): "0.312 ± 0.041",
        (0.5, 0.0996): "0.50 ± 0.10",
        (-12.3456, 0.25): "−12.35 ± 0.25",
        (84.2, 3): "84.2 ± 3.0",
        (84.2, 37.4): "84 ± 37",
        (1.23456e9, 6.3e6): "(1.2346 ± 0.0063)×10⁹",
        (2.5e-5, 1e-6): "(2.50 ± 0.10)×10⁻⁵",
        (0.001, 5): "0.0 ± 5.0",
        (0.5, 0): "0.5",
        (0.5, 1e-14): "0.500000000000 ± 1×10⁻¹⁴",
        (None, 1): "–",
    }
    said = run(
        page, "format", "given.map(([mean, std]) => m.plusMinus(mean, std))", [list(pair) for pair in pairs]
    )
    assert said == list(pairs.values())
    assert run(page, "format", "m.plusMinus(84.2, 0.5, '°C')") == "84.20 ± 0.50\xa0°C"
    # Of a single value: more digits where the noise is small, never fewer than four, no zeros that nobody told.
    told = {
        (84.21379, 0.01): "84.214",
        (84.21379, 30): "84.21",
        (84.5, 0.0001): "84.5",
        (1203456.789, 3000): f"1{THIN}203{THIN}457",
    }
    assert run(
        page, "format", "given.map(([v, std]) => m.number(v, std))", [list(pair) for pair in told]
    ) == list(told.values())


def test_settings_are_written_on_the_scale_of_their_axis_with_their_unit(page):
    def real(lo, hi, **more):
        return {"kind": "real", "lo": lo, "hi": hi, "log": False, "unit": "", **more}

    cases = [
        (real(0, 1), 0.123456, "0.1235"),
        (real(1000, 1001), 1000.123456, f"1{THIN}000.1235"),
        (real(0, 5000, unit="rpm"), 1250.04, f"1{THIN}250\xa0rpm"),
        (real(1e-6, 1, log=True, unit="bar"), 0.000123456, "0.0001235\xa0bar"),
        ({"kind": "integer", "lo": 1, "hi": 9_000_000, "unit": "W"}, 1_250_000, f"1{THIN}250{THIN}000\xa0W"),
        ({"kind": "choice", "options": ["<b>"]}, "<b>", "<b>"),
    ]
    shown = run(
        page, "space", "given.map(([axis, value]) => m.valueOn(axis, value))", [case[:2] for case in cases]
    )
    assert shown == [case[2] for case in cases]
    space = {
        "type": "Space",
        "parameters": [
            ["p", {"type": "Real", "lo": 1, "hi": 9, "log": False, "unit": "bar"}],
            ["mode", {"type": "Choice", "options": ["a"]}],
        ],
    }
    assert run(page, "space", "m.spoken(given, {p: 2.5, mode: 'a'})", space) == "p 2.5\xa0bar · mode a"


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


VIOLATED = """async (log) => {
  const { History } = await import("/static/history.js");
  const history = new History("x", true);
  history.loaded = true;
  log.forEach((record) => history.add(record));
  return history.violated(1);
}"""


def test_the_last_violation_has_the_step_that_it_has_now(page):
    def told(seq, **more):
        return {"seq": seq, "kind": "told", "step": seq, "event": {"outlier": None}, **more}

    log = [told(1), told(2), told(3, violated=["heat"])]
    log.append({"seq": 4, "kind": "retracted", "event": {"record": 1}})
    assert page.evaluate(VIOLATED, log) == {"count": 1, "last": 2}


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


COUNTED = """async (log) => {
  const { History } = await import("/static/history.js");
  window.fetch = async (url) => {
    const asked = new URL(url, location).searchParams;
    const kinds = asked.getAll("kind");
    const found = log.filter((r) => (!kinds.length || kinds.includes(r.kind)) && (asked.get("resets") !== "true" || r.reset));
    return new Response(JSON.stringify({events: found, head: log.length}));
  };
  const history = new History("x");
  await history.load();
  return [...history.counted(), ...history.asked()].map((r) => [r.seq, r.step, r.event.step, r.event.time, r.reason, r.y]);
}"""


@pytest.mark.parametrize("timed", [False, True], ids=["steps", "times"])
def test_steps_are_counted_as_python_counts_them(page, tmp_path, timed):
    """Values taken back and corrected, and others that a change of the space leaves out."""
    with Study.create(tmp_path / "s.db", "s", Box([(0, 1)]), seed=0) as study:
        for n in range(1, 45):
            x = (0.37 * n) % (1.0 if n <= 18 else 0.9)
            y = -10.0 * (x - (0.2 if n <= 30 else 0.7)) ** 2 + 0.05 * np.cos(37.0 * n) + 3.0 * (n > 30)
            study.add([x], float(y), 1000.0 + n / 2 if timed else None)
            if n == 12:
                study.retract(study.events(kinds=["told"])[2])
                study.correct(study.events(kinds=["told"])[4], 0.01)
            if n == 18:
                study.reset("new pump")
                study.change_space(Box([(0, 0.9)]))
        study.retract(study.events(kinds=["told"])[5])
        study.change_space(Box([(0, 0.8)]))
        amending = study.events(kinds=AMENDING)
        told = as_they_count(study.events(kinds=["told"]), amending, study.space)
        (asked,) = [Numbering(amending).now(each) for each in study.events(kinds=["reset"])]
        wanted = [
            [each.seq, each.step, each.event["step"], each.event["time"], each.reason, each.y]
            for each in (*told, asked)
        ]
        log = [json.loads(json.dumps(record.as_dict())) for record in study.events()]
    assert len(wanted) < 40
    assert any("step" in row[4] for row in wanted)
    assert page.evaluate(COUNTED, log) == wanted


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


def test_limits_in_words(page):
    """A limit is shown as it was chosen, and what is not certain is not called certain."""
    chosen = run(
        page, "format", "given.map((v) => m.chosen(v))", [90, 0.7, 0.25, -3.5, 1e-7, 1234567, 100.5, 0]
    )
    assert chosen == ["90", "0.7", "0.25", "−3.5", "1×10⁻⁷", f"1{THIN}234{THIN}567", "100.5", "0"]
    shown = run(page, "format", "given.map((v) => m.probability(v))", [1, 0.99996, 0.999, 0.5, 0.00001, 0])
    assert [each.replace("\xa0", " ") for each in shown] == [
        "100.0 %", "> 99.9 %", "99.9 %", "50.0 %", "< 0.1 %", "0.0 %",
    ]  # fmt: skip


def test_what_is_allowed_is_each_constraint_if_safe_and_all_together_if_not(page):
    surface = {"feasible": [0.98, 0.48, 0.3], "feasibility": {"a": [0.99, 0.6, 0.3], "b": [0.99, 0.8, 1.0]}}
    script = "given.map(([surface, safe]) => m.allowed(surface, safe).outside)"
    safe, soft, all_safe = run(page, "limits", script, [[surface, 0.7], [surface, None], [surface, 0.1]])
    assert safe == [False, True, True]  # b holds at the second, a does not
    assert soft == [False, True, True]  # each more likely than not, but not both
    assert all_safe == [False] * 3
    assert run(page, "limits", "m.allowed({mean: [1]}, null)") is None
    flags = [True, False, True, True, False, True]
    assert run(page, "limits", "m.stretches(given)", flags) == [[0, 0], [2, 3], [5, 5]]


def test_hatching_stays_on_what_is_marked(page):
    draw = random.Random(6)
    xs, ys = [i / 10 for i in range(11)], [i / 5 for i in range(6)]
    marked = [[draw.random() < 0.5 for _ in xs] for _ in ys]
    lines = run(page, "limits", "m.hatching(given.xs, given.ys, given.marked, 2)", {"xs": xs, "ys": ys, "marked": marked})  # fmt: skip
    places = [(x, y) for x, y in zip(lines["x"], lines["y"], strict=True) if x is not None]
    expected = {(x, y) for j, y in enumerate(ys) for i, x in enumerate(xs) if marked[j][i] and (i + j) % 2}
    assert set(places) == expected
    assert len(places) == len(expected)


@pytest.mark.parametrize(
    ("line", "space", "point"),
    [
        ("0.5, 0.2", {"box": [[0, 1], [0, 1]]}, [0.5, 0.2]),
        ("[0.5, 0.2]", {"box": [[0, 1], [0, 1]]}, [0.5, 0.2]),
        ("3", {"arms": 5}, 3),
        ("2, slow", None, {"power": 2, "mode": "slow"}),
        ("mode = slow, power=−2", None, {"power": -2, "mode": "slow"}),
        ('{"power": 2, "mode": "slow"}', None, {"power": 2, "mode": "slow"}),
    ],
)
def test_start_settings_from_text(page, line, space, point):
    space = space or NAMED
    assert (
        run(page, "create", "m.settingFrom(given.line, given.space)", {"line": line, "space": space}) == point
    )


NAMED = {
    "parameters": {
        "power": {"real": [0, 10]},
        "mode": {"choice": ["slow", "fast"]},
        "load": {"real": [0, 1], "context": True},
    }
}


@pytest.mark.parametrize(
    ("line", "space", "complaint"),
    [
        ("0.5", {"box": [[0, 1], [0, 1]]}, "has 1 numbers; a point has 2"),
        ("1, 2", {"arms": 5}, "one arm"),
        ("2", NAMED, "has no mode"),
        ("2, slow, 3", NAMED, "has 3 values; 2 can be set: power, mode"),
        ("power=2, slow", NAMED, "name every parameter"),
        ("much, slow", NAMED, "“much” is not a number"),
        ("power=2, mode=slow, load=1", NAMED, "has 3 values"),
        ("power=2, power=3, mode=slow", NAMED, "has 3 values"),
        ("{", NAMED, "not JSON"),
    ],
)
def test_start_settings_that_are_none(page, line, space, complaint):
    script = "(() => { try { m.settingFrom(given.line, given.space); return null; } catch (error) { return error.message; } })()"
    said = run(page, "create", script, {"line": line, "space": space})
    assert said.startswith(f"start “{line}”: ")
    assert complaint in said


def test_an_axis_of_few_steps_has_ticks_at_whole_steps(page):
    rows = [[{}] * tells for tells in (1, 7, 50)]
    whole = {"tick0": 0, "dtick": 1}
    assert run(page, "charts", "given.map((rows) => m.wholeSteps(rows))", rows) == [whole, whole, {}]
