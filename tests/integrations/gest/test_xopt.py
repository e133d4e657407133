"""In Xopt 3, unchanged. Xopt is not among the packages of the tests: the environment of `make bench` has it."""

import copy
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from gest_api.vocs import VOCS

xopt = pytest.importorskip(
    "xopt", minversion="3.0", reason="needs Xopt 3; the environment of `make bench` has it"
)

import windvane as wv  # noqa: E402
from windvane.integrations.gest import WindvaneGenerator  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")  # Xopt and what it imports are not ours to correct
PROBLEM = VOCS(
    variables={"x": [0.0, 10.0], "n": {1, 2, 3}}, objectives={"f": "MINIMIZE"}, constants={"offset": 3.0}
)


def valley(inputs):
    return {"f": (inputs["x"] - inputs["offset"]) ** 2 + (inputs["n"] - 2) ** 2}


def broken(inputs):
    if inputs["x"] > 5:
        raise RuntimeError("beam lost")
    return valley(inputs)


def make(function=valley, strict=True, **options):
    evaluator = xopt.Evaluator(function=function)
    return xopt.Xopt(
        generator=WindvaneGenerator(PROBLEM, seed=0), evaluator=evaluator, strict=strict, **options
    )


def test_twenty_steps():
    loop = make()
    for _ in range(20):
        loop.step()
    assert len(loop.data) == 20
    assert loop.generator.optimizer.step == 21
    assert loop.data["f"].min() < 0.1
    assert list(loop.data["_id"]) == list(range(20))
    best = loop.generator.best()
    assert abs(best.x["x"] - 3) < 0.5
    assert best.x["n"] == 2


def test_the_generator_that_was_handed_over_is_not_touched():
    generator = WindvaneGenerator(PROBLEM, seed=0)
    loop = xopt.Xopt(generator=generator, evaluator=xopt.Evaluator(function=valley))
    loop.step()
    assert (generator.optimizer.step, loop.generator.optimizer.step) == (1, 2)


def test_random_and_grid_points_are_learned_from():
    loop = make()
    loop.random_evaluate(3, seed=1)
    loop.grid_evaluate(2)
    assert loop.generator.optimizer.size == len(loop.data) == 9
    loop.step()
    assert loop.generator.optimizer.size == 10


def test_errors_are_failures():
    loop = make(broken, strict=False)
    for _ in range(10):
        loop.step()
    failed = loop.data["xopt_error"].astype(bool)
    assert failed.any()
    assert len(loop.generator.failures) == failed.sum()
    assert {each.reason for each in loop.generator.failures} == {"RuntimeError: beam lost"}


def test_a_run_stops_where_xopt_says_and_is_finalised():
    from xopt.stopping_conditions import MaxEvaluationsCondition

    loop = make(stopping_condition=MaxEvaluationsCondition(max_evaluations=6))
    loop.run()
    assert len(loop.data) == 6


def test_data_that_are_removed_are_forgotten():
    loop = make()
    for _ in range(6):
        loop.step()
    loop.remove_data([0, 1])
    assert loop.generator.optimizer.size == 4
    loop.reset_data()
    assert loop.generator.optimizer.size == 0
    loop.step()


def test_data_of_an_earlier_run():
    loop = make()
    for _ in range(5):
        loop.step()
    again = make(data=loop.data)
    assert again.generator.optimizer.state() == loop.generator.optimizer.state()
    evaluator = xopt.Evaluator(function=valley)
    restored = WindvaneGenerator.restore(PROBLEM, loop.generator.state())
    after = xopt.Xopt(generator=restored, evaluator=evaluator, data=copy.deepcopy(loop.data))
    for each in (loop, after):
        each.step()
    assert after.generator.state() == loop.generator.state()


def test_the_asynchronous_xopt_as_well():
    from concurrent.futures import ThreadPoolExecutor

    from xopt.asynchronous import AsynchronousXopt

    with ThreadPoolExecutor(3) as executor:
        evaluator = xopt.Evaluator(function=valley, executor=executor, max_workers=3)
        loop = AsynchronousXopt(generator=WindvaneGenerator(PROBLEM, seed=0), evaluator=evaluator)
        while len(loop.data if loop.data is not None else ()) < 12:
            loop.step()
    assert loop.generator.optimizer.size == len(loop.data)


def test_a_run_is_dumped_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setitem(xopt.generators.generators, "windvane", WindvaneGenerator)
    file = tmp_path / "run.yaml"
    generator = WindvaneGenerator(PROBLEM, "tv-gp-ucb", seed=0, rate=0.03, kernel=wv.RBF(0.2))
    loop = xopt.Xopt(generator=generator, evaluator=xopt.Evaluator(function=f"{__name__}.valley"))
    assert "algorithm: tv-gp-ucb" in str(loop)
    monkeypatch.setitem(sys.modules, __name__, SimpleNamespace(valley=valley))
    loop.xopt_dump_file = str(file)
    for _ in range(6):
        loop.step()
    for again in (xopt.Xopt(file.read_text()), xopt.Xopt.from_file(str(file))):
        made, before = again.generator, loop.generator
        assert made._recipe == before._recipe
        assert made.vocs == before.vocs
        assert made.optimizer.size == 6
        np.testing.assert_allclose(made.optimizer.data.y, before.optimizer.data.y, atol=1e-9)  # 10 decimals
        again.step()


def test_contexts_are_reported_by_the_evaluator():
    def under_load(inputs):
        load = 60.0
        return {"f": (inputs["x"] - load / 10) ** 2, "load": load}

    problem = VOCS(variables={"x": [0.0, 10.0], "load": "CONTEXTUAL"}, objectives={"f": "MINIMIZE"})
    generator = WindvaneGenerator(problem, seed=0, contexts={"load": wv.Context(0, 100)})
    loop = xopt.Xopt(generator=generator, evaluator=xopt.Evaluator(function=under_load))
    for _ in range(15):
        loop.step()
    assert loop.generator.context == {"load": 60.0}
    assert abs(loop.generator.best().x["x"] - 6) < 0.5
