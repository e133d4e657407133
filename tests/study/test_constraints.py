"""Constraints in a study: journalled with each value, the same after a crash, exported, corrected, explained."""

import json
import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import windvane as wv
from windvane.digits import estimate
from windvane.errors import Conflict, InvalidArgument, InvalidType, UnknownName, WindvaneError
from windvane.storage import Database
from windvane.study import Study

SPACE = wv.Space(power=wv.Real(0.0, 10.0, unit="kW"))
LIMITS = {
    "heat": wv.AtMost(90, unit="°C", kernel=wv.RBF(0.3), noise_variance=0.01),
    "purity": wv.AtLeast(0.8, kernel=wv.RBF(0.3), noise_variance=0.01),
}
GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.01, "seed": 3, "constraints": LIMITS}
SAFE = {"safe": 0.9, "start": [{"power": 2.0}]}


def measured(x, shift=0.0):
    """An objective and two constraints; heat and purity in units of the models above."""
    power = x["power"] / 10.0
    return math.sin(3.0 * power), {"heat": 88.0 + 4.0 * power + shift, "purity": 1.5 - power}


def make(url, name="oven", algorithm="et-gp-ucb", **more):
    return Study.create(url, name, SPACE, algorithm, **{**GIVEN, **more})


@pytest.fixture
def study(database_url, clock):
    with make(database_url, clock=clock) as made:
        yield made


def lived(study, steps=16):
    """With late answers, values that nobody asked for, constraints left out, a failure and a change."""
    out = []
    for step in range(steps):
        out.append(study.ask())
        if step % 3 == 2:
            for trial in reversed(out):
                y, told = measured(trial.x, 3.0 * (step > steps // 2))
                if trial.number % 4 == 1:
                    del told["purity"]
                study.tell(trial, y, **told)
            out = []
        elif step == 7:
            study.fail(out.pop(), "no power")
        elif step == 9:
            study.add({"power": 9.5}, 0.1, outcomes={"heat": 95.0, "purity": None})
    return study


# -- telling -----------------------------------------------------------------------------------------------


def test_ask_and_tell_are_those_of_the_optimiser(study):
    twin = wv.make("et-gp-ucb", SPACE, **GIVEN)
    for step in range(8):
        trial, x = study.ask(), twin.ask()
        assert trial.x == x
        y, told = measured(x)
        event = study.tell(trial, y, **told) if step % 2 else study.tell(trial, y, outcomes=told)
        assert event == twin.tell(x, y, **told)
    assert set(event.outcomes) == {"heat", "purity"}
    best = study.best()
    assert (best.x, best.feasible) == (twin.best().x, twin.best().feasible)
    assert 0.0 < best.feasible <= 1.0
    points = [{"power": 1.0}, {"power": 9.0}]
    for of in (None, "heat", "purity"):
        np.testing.assert_array_equal(study.predict(points, of=of), twin.predict(points, of=of))
    for name, chances in twin.feasibility(points).items():
        np.testing.assert_array_equal(study.feasibility(points)[name], chances)
    assert study.constraints == LIMITS


def test_a_record_has_what_was_told_and_what_was_broken(study):
    study.tell(study.ask(), 1.0, heat=93.5, purity=0.9)
    study.add({"power": 1.0}, 1.0, heat=80.0)
    first, second = study.events(kinds=["told"])
    assert (first.violated, second.violated) == (("heat",), ())
    assert first.outcomes == {"heat": 93.5, "purity": 0.9}
    assert second.told == {"y": 1.0, "noise_variance": None, "heat": 80.0}
    assert first.event["outcomes"]["heat"]["violated"] is True
    assert [record.seq for record in study.events(violations=True)] == [first.seq]
    summary = study.summary()
    assert (summary.violations, summary.last_violation, summary.safe) == (1, 1, None)
    assert summary.constraints == LIMITS
    spelt = summary.as_dict()["constraints"]
    assert spelt["heat"]["at_most"] == 90.0
    assert spelt["heat"]["unit"] == "°C"
    assert spelt["purity"]["at_least"] == 0.8


def test_the_same_key_gives_the_same_event_and_other_values_are_a_conflict(study):
    trial = study.ask()
    event = study.tell(trial, 1.0, key="k", heat=84.0, purity=0.9)
    assert study.tell(trial, 1.0, key="k", outcomes={"purity": 0.9, "heat": 84}) == event
    head = study.summary().head
    for other in ({"heat": 85.0, "purity": 0.9}, {"heat": 84.0}, {}):
        with pytest.raises(Conflict, match="used before"):
            study.tell(trial, 1.0, key="k", outcomes=other)
    study.add({"power": 1.0}, 1.0, key="a", heat=84.0)
    with pytest.raises(Conflict, match="used before"):
        study.add({"power": 1.0}, 1.0, key="a", heat=84.5)
    assert study.summary().head == head + 1


@pytest.mark.parametrize(
    ("told", "error", "match"),
    [
        ({"heta": 1.0}, UnknownName, "did you mean 'heat'"),
        ({"outcomes": {"heta": 1.0}}, UnknownName, "did you mean 'heat'"),
        ({"heat": math.nan}, InvalidArgument, "heat=nan"),
        ({"heat": math.inf}, InvalidArgument, "heat=inf"),
        ({"heat": 1e200}, InvalidArgument, "heat=1e.200"),
        ({"heat": "84"}, InvalidType, "heat='84'"),
        ({"heat": True}, InvalidType, "heat=True"),
        ({"outcomes": [84.0]}, InvalidType, "outcomes="),
        ({"outcomes": {7: 84.0}}, InvalidType, "outcomes="),
        ({"outcomes": {"heat": 84.0}, "heat": 84.0}, InvalidArgument, "heat: is told twice"),
        ({"outcomes": {"he\0at": 84.0}}, UnknownName, "outcomes="),
    ],
)
def test_what_cannot_be_told_changes_nothing(study, told, error, match):
    trial = study.ask()
    study.add({"power": 5.0}, 0.3, heat=85.0)
    before, state = study.events(), study.optimizer.state()
    for call in (lambda: study.tell(trial, 1.0, **told), lambda: study.add({"power": 1.0}, 1.0, **told)):
        with pytest.raises(error, match=match):
            call()
    assert study.events() == before
    assert study.optimizer.state() == state
    assert study.tell(trial, 1.0, heat=84.0).step == 2


def test_a_study_without_constraints_cannot_be_told_any(database_url):
    with Study.create(database_url, "plain", SPACE, "random", seed=0) as study:
        with pytest.raises(InvalidArgument, match="has no constraints"):
            study.add({"power": 1.0}, 1.0, heat=84.0)
        assert study.summary().head == 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"safe": 0.9, "constraints": None}, "safe=: belongs to constraints="),
        ({"safe": 0.9}, "start=: needed with safe="),
        ({"start": [{"power": 1.0}]}, "start=: belongs to safe="),
        ({"safe": 0.9, "start": [{"power": 11.0}]}, r"start\[0\].*power"),
        ({"safe": 0.9, "start": []}, "start="),
        ({"safe": 1.0, "start": [{"power": 1.0}]}, "safe=1.0"),
        ({"constraints": {"he at": wv.AtMost(90)}}, "'he at' must be a name"),
        ({"constraints": {"key": wv.AtMost(90)}}, "another meaning"),
        ({"constraints": {"outcomes": wv.AtMost(90)}}, "another meaning"),
        ({"constraints": {"self": wv.AtMost(90)}}, "another meaning"),
        (
            {"constraints": {"µ": wv.AtMost(90)}},
            "call it that",
        ),  # the micro sign, which Python takes for a mu
        ({"constraints": {"h" * 101: wv.AtMost(90)}}, "at most 100 characters"),
        ({"constraints": {"heat": 90}}, r"constraints\['heat'\]=90"),
        ({"constraints": {}}, "constraints="),
    ],
)
def test_what_cannot_work_is_refused_and_no_study_is_made(database_url, options, match):
    with Database(database_url, create=True) as database:
        with pytest.raises(WindvaneError, match=match):
            make(database, **options)
        assert database.studies() == []


@pytest.mark.parametrize("name", ["class", "T_1", "größe", "μ", "温度"])
def test_odd_names_and_units(database_url, name):
    limits = {name: wv.AtMost(3.0, unit="<b>°C & µm</b>")}
    with Study.create(database_url, "odd", SPACE, "random", seed=0, constraints=limits) as study:
        study.add({"power": 1.0}, 1.0, outcomes={name: 4.0})
        study.forget()
        (record,) = study.events()
        assert record.violated == (name,)
        assert study.summary().constraints == limits
        assert f"{name} must be at most 3 <b>°C & µm</b>." in study.explain().text


# -- the journal -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "more"), [("et-gp-ucb", {}), ("et-gp-ucb", SAFE), ("auto", SAFE)])
def test_after_a_kill_it_is_the_same_bit_for_bit(database_url, clock, algorithm, more):
    with lived(make(database_url, algorithm=algorithm, clock=clock, **more)) as study:
        state, told = study.optimizer.state(), study.events(kinds=["told"])
        study.forget()  # as after a crash
        assert study.optimizer.state() == state
        study.rebuild()
        assert study.optimizer.state() == state
        assert {name for record in told for name in record.outcomes} == {"heat", "purity"}
        assert study.summary().violations > 0
    with Study.open(database_url, "oven", clock=clock) as again:
        assert again.optimizer.state() == state
        out = [trial.x for trial in again.pending()]
        assert again.ask().x == wv.restore(state).ask(pending=out)


def test_another_process_hears_of_constraints(database_url, clock):
    with make(database_url, clock=clock) as one, Study.open(database_url, "oven", clock=clock) as two:
        for step in range(6):
            here = (one, two)[step % 2]
            y, told = measured(here.ask().x)
            here.tell(step + 1, y, **told)
        assert one.optimizer.state() == two.optimizer.state()
        assert len(one.optimizer.feasibility([{"power": 1.0}])) == 2


def test_exist_ok_compares_constraints(database_url):
    make(database_url).close()
    make(database_url, exist_ok=True).close()
    with pytest.raises(Conflict, match="options"):
        make(database_url, exist_ok=True, constraints={"heat": wv.AtMost(91)})


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_what_was_exported_is_imported_again(database_url, clock, tmp_path, kind):
    path = tmp_path / f"out.{kind}"
    with lived(make(database_url, clock=clock)) as study, make(database_url, "other") as other:
        broken = study.events(violations=True)
        study.correct(broken[0], heat=80.0)
        study.correct(broken[-1], outcomes={"heat": None})
        study.retract(study.events(kinds=["told"])[2])
        study.export(path)
        assert other.import_log(path) == study.summary().tells - 1
        assert other.optimizer.state()["step"] == study.optimizer.state()["step"]
        points = [{"power": p} for p in (0.5, 3.0, 9.0)]
        for of in (None, "heat", "purity"):
            np.testing.assert_allclose(other.predict(points, of=of), study.predict(points, of=of), rtol=1e-9)
        said = [record.outcomes for record in other.events(kinds=["told"])]
    assert 80.0 in [one.get("heat") for one in said]
    assert sum("heat" not in one for one in said) == 1


def test_a_table_has_a_column_for_each_constraint(study, tmp_path):
    study.add({"power": 1.0}, 1.0, heat=84.2)
    study.export(tmp_path / "out.csv")
    header, row = (tmp_path / "out.csv").read_text().splitlines()
    cells = dict(zip(header.split(","), row.split(","), strict=True))
    assert (cells["outcome.heat [°C]"], cells["outcome.purity"]) == ("84.2", "")


def test_logs_of_others(study, tmp_path):
    (tmp_path / "log.csv").write_text("power,y,heat,purity\n1.0,0.5,84.2,\n2.0,0.6,91,0.9\n")
    (tmp_path / "log.jsonl").write_text('{"x": {"power": 3.0}, "y": 0.7, "outcomes": {"heat": 83.0}}\n')
    assert study.import_log(tmp_path / "log.csv") == 2
    assert study.import_log(tmp_path / "log.jsonl") == 1
    assert [record.outcomes for record in study.events()] == [
        {"heat": 84.2},
        {"heat": 91.0, "purity": 0.9},
        {"heat": 83.0},
    ]
    head = study.summary().head
    (tmp_path / "bad.csv").write_text("power,y,heat\n1.0,0.5,84.2\n2.0,0.6,hot\n")
    with pytest.raises(InvalidArgument, match="line 3: heat='hot'"):
        study.import_log(tmp_path / "bad.csv")
    assert study.summary().head == head


# -- a hand on the wheel -----------------------------------------------------------------------------------


def test_a_constraint_that_was_wrong_is_corrected(study):
    for heat in (84.0, 95.0, 86.0):
        study.tell(study.ask(), 0.5, heat=heat, purity=0.9)
    told = study.events(kinds=["told"])
    record = study.correct(2, heat=85.0, key="c")
    assert (record.y, record.event["was"]) == (0.5, 0.5)
    assert record.event["outcomes"]["heat"] == {"value": 85.0, "violated": False, "was": 95.0}
    assert record.event["outcomes"]["purity"] == {"value": 0.9, "violated": False, "was": 0.9}
    assert study.correct(2, heat=85.0, key="c") == record
    with pytest.raises(Conflict, match="used before"):
        study.correct(2, heat=85.5, key="c")
    twin = wv.make("et-gp-ucb", SPACE, **GIVEN)
    for one, heat in zip(told, (84.0, 85.0, 86.0), strict=True):
        twin.tell(one.x, 0.5, heat=heat, purity=0.9)
    assert study.optimizer.state() == twin.state()
    study.rebuild()
    assert study.optimizer.state() == twin.state()
    assert study.explain().constraints[0].violations == 0
    study.correct(2, outcomes={"heat": None})
    study.correct(1, 0.7)
    again = wv.make("et-gp-ucb", SPACE, **GIVEN)
    for one, told_then in zip(
        told, ({"y": 0.7, "heat": 84.0}, {"y": 0.5}, {"y": 0.5, "heat": 86.0}), strict=True
    ):
        again.tell(one.x, **told_then, purity=0.9)
    assert study.optimizer.state() == again.state()
    text = study.explain().text
    assert "heat of trial 2, 95 °C, was corrected to 85" in text
    assert "heat of trial 2, 85 °C, was taken back" in text
    assert "the value of trial 1, 0.5, was corrected to 0.7" in text


def test_a_correction_that_breaks_a_limit_counts(study):
    study.tell(study.ask(), 0.5, heat=84.0)
    study.correct(1, heat=97.0)
    (heat, _) = study.explain().constraints
    assert (heat.violations, heat.last_violation["value"]) == (1, 97.0)
    study.retract(1)
    assert study.explain().constraints[0].violations == 0


def test_what_is_said_of_a_violation_has_the_step_that_it_has_now(study):
    """As the last reset has: what was before it may have been taken back."""
    for heat in (84.0, 85.0, 96.0):
        study.tell(study.ask(), 0.5, heat=heat)
    study.retract(1)
    assert study.explain().constraints[0].last_violation["step"] == 2
    assert "once, at step 2: 96 °C" in study.explain().text
    study.correct(3, heat=97.0)
    assert study.explain().constraints[0].last_violation["step"] == 2
    study.correct(3, heat=86.0)
    study.correct(2, heat=98.0)
    assert "once, at record 4: 98 °C" in study.explain().text


@pytest.mark.parametrize(("told", "found"), [(None, 1.0), (2.0, 2.0)], ids=["steps", "the caller's clock"])
def test_a_violation_keeps_its_time_when_its_value_is_corrected(study, told, found):
    study.tell(study.ask(), 0.5, heat=84.0)
    study.tell(study.ask(), 0.5, told, heat=96.0)
    study.retract(1)
    study.correct(2, heat=97.0)
    last = study.explain().constraints[0].last_violation
    assert (last["step"], last["time"], last["value"]) == (1, found, 97.0)


@pytest.mark.parametrize(
    ("told", "error", "match"),
    [
        ({}, InvalidArgument, "y: must be the right value"),
        ({"heta": 1.0}, UnknownName, "did you mean 'heat'"),
        ({"heat": math.nan}, InvalidArgument, "heat=nan"),
    ],
)
def test_corrections_that_are_none(study, told, error, match):
    study.tell(study.ask(), 0.5, heat=84.0)
    head, state = study.summary().head, study.optimizer.state()
    with pytest.raises(error, match=match):
        study.correct(1, **told)
    assert (study.summary().head, study.optimizer.state()) == (head, state)


def test_a_space_must_have_the_settings_it_starts_from(database_url):
    with make(database_url, **SAFE) as study:
        study.tell(study.ask(), 0.5, heat=80.0, purity=0.9)
        head = study.summary().head
        with pytest.raises(InvalidArgument, match=r"start\[0\], \{'power': 2.0\}.*lies outside"):
            study.change_space(wv.Space(power=wv.Real(3.0, 10.0, unit="kW")))
        assert study.summary().head == head
        assert study.space == SPACE
        wider = wv.Space(power=wv.Real(1.0, 12.0, unit="kW"))
        study.change_space(wider)
        assert study.space == wider
        assert study.constraints == LIMITS
        assert study.predict([{"power": 2.0}], of="heat")[0][0] < 90.0


def test_under_a_context_a_start_says_nothing_of_it(database_url):
    space = wv.Space(power=wv.Real(0, 10), load=wv.Context(0, 100))
    options = {**GIVEN, "kernel": wv.RBF([0.3, 0.5]), "constraints": {"heat": wv.AtMost(90)}, **SAFE}
    with Study.create(database_url, "mill", space, "et-gp-ucb", **options) as study:
        trial = study.ask(context={"load": 30.0})
        assert trial.x == {"power": 2.0, "load": 30.0}
        study.tell(trial, 0.5, heat=85.0)
        study.change_space(wv.Space(power=wv.Real(0, 8), load=wv.Context(0, 100)))
        with pytest.raises(InvalidArgument, match=r"start\[0\]"):
            study.change_space(wv.Space(power=wv.Real(4, 8), load=wv.Context(0, 100)))


# -- what is said ------------------------------------------------------------------------------------------


def test_an_explanation_speaks_of_every_constraint(study):
    assert study.explain().constraints[0].mean is None
    for power in (1.0, 2.0, 4.0, 8.0):
        event = study.add({"power": power}, math.sin(0.3 * power), heat=86.0 + power, purity=1.2)
    found = study.explain()
    heat, purity = found.constraints
    best = study.best().x
    mean, std = study.predict([best], of="heat")
    assert (heat.mean, heat.std) == (float(mean[0]), float(std[0]))
    assert heat.probability == float(study.feasibility([best])["heat"][0])
    assert (heat.violations, purity.violations, purity.size) == (1, 0, event.outcomes["purity"].size)
    assert heat.last_violation["step"] == 4
    lines = found.text.splitlines()
    (line,) = [line for line in lines if line.startswith("heat must be at most 90 °C.")]
    assert f"it is {estimate(heat.mean, heat.std)} °C" in line
    assert "It has been beyond its limit once, at step 4: 94 °C at power=8 kW." in line
    (line,) = [line for line in lines if line.startswith("purity must be at least 0.8.")]
    assert "It has never been beyond its limit." in line
    assert "Only points are asked for" not in found.text
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_violation_has_the_time_that_was_told(tmp_path):
    limits = {"heat": wv.AtMost(90, unit="°C")}
    day = datetime(2026, 3, 1, 18, tzinfo=UTC)
    with wv.Study.create(
        tmp_path / "studies.db", "dated", wv.Box([(0, 1)]), constraints=limits, seed=0
    ) as study:
        for number, heat in enumerate((80.0, 94.0, 81.0)):
            study.add([0.3 * number], 1.0, time=day + timedelta(days=number), heat=heat)
        text = study.explain().text
    assert "beyond its limit once, at 2026-03-02 18:00:00 UTC (step 2): 94 °C" in text


def test_a_constraint_of_which_nothing_was_measured(study):
    study.add({"power": 1.0}, 1.0, heat=84.0)
    (line,) = [line for line in study.explain().text.splitlines() if line.startswith("purity")]
    assert "Nothing that was measured of it is in use." in line


def test_a_reset_of_a_constraint_is_told_with_its_reason(database_url):
    with make(database_url, algorithm="auto", constraints={"heat": wv.AtMost(90)}) as study:
        for step in range(24):
            trial = study.ask()
            power = trial.x["power"]
            event = study.tell(trial, power, heat=50.0 + power + 300.0 * (step > 15))
            if event.outcomes["heat"].reset:
                break
        assert event.outcomes["heat"].reset
        record = study.events(kinds=["told"])[-1]
        assert record.outcome_resets == ("heat",)
        (heat,) = study.explain().constraints
        assert (heat.resets, heat.last_reset["step"]) == (1, record.step)
        reason = " ".join(event.outcomes["heat"].reason.split())
        assert f"What was known of it was reset once, last at step {record.step}: {reason}." in str(
            study.explain()
        )


def test_a_retreat_is_explained(database_url):
    with make(database_url, **SAFE) as study:
        event = None
        for step in range(30):
            trial = study.ask()
            y, told = measured(trial.x, 6.0 * (step > 4))
            event = study.tell(trial, y, **told)
            if event.retreat is not None:
                break
        assert event.retreat is not None
        found = study.explain()
        assert found.retreat.x == event.retreat == study.ask().x
        assert found.safe == 0.9
        assert f"Nothing is believed safe; asking for power={event.retreat['power']:.4g} kW, " in found.text
        assert study.summary().last_retreat == event.step
        study.correct(study.events(kinds=["told"])[-1], heat=70.0)
        assert study.explain().retreat is None


def test_nothing_is_predicted_of_a_constraint_where_there_are_none(tmp_path):
    """The error ended with a list of what is allowed, and the list was empty."""
    with Study.create(tmp_path / "s.db", "plain", wv.Box([(0, 1)]), "random") as plain:
        plain.add([0.5], 1.0)
        with pytest.raises(UnknownName, match=r"^of='heat': this study has no constraints; leave it out"):
            plain.predict([[0.5]], of="heat")
        assert plain.predict([[0.5]]) is not None
