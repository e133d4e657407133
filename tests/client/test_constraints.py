"""Constraints through the client: as a study in process has them, bit for bit."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.client import Client
from windvane.errors import Conflict, InvalidArgument, InvalidType, UnknownName

pytest.importorskip("fastapi", reason="needs windvane[service]")
pytest.importorskip("uvicorn", reason="needs windvane[service]")
SPACE = wv.Space(power=wv.Real(0, 10))
OPTIONS = {
    "algorithm": "et-gp-ucb",
    "kernel": wv.RBF(0.3),
    "noise_variance": 0.01,
    "seed": 3,
    "constraints": {
        "heat": wv.AtMost(0.9, unit="°C", kernel=wv.RBF(0.3), noise_variance=0.01),
        "purity": wv.AtLeast(-0.5, mean=0.25),
    },
    "safe": 0.9,
    "start": [{"power": np.float64(2.0)}],
}


@pytest.fixture
def client(service):
    with Client(service.url, retries=12) as found:
        yield found


def test_a_remote_study_does_what_one_in_process_does(client, tmp_path):
    remote = client.create("twin", SPACE, **OPTIONS)
    with wv.Study.create(tmp_path / "twin.db", "twin", SPACE, **OPTIONS) as local:
        assert remote.constraints == local.constraints == OPTIONS["constraints"]
        for step in range(5):
            ours, theirs = local.ask(), remote.ask()
            assert theirs.x == ours.x
            told = {"heat": 0.1 * step, "purity": 0.2}
            event = local.tell(ours, 0.1 * step, **told)
            found = (
                remote.tell(theirs, 0.1 * step, outcomes=told)
                if step % 2
                else remote.tell(theirs, 0.1 * step, **told)
            )
            assert found == event
        point = {"power": 9.0}
        assert remote.add(point, 0.4, heat=1.5) == local.add(point, 0.4, heat=1.5)
        points = [{"power": 1.0}, point]
        for of in (None, "heat"):
            np.testing.assert_array_equal(remote.predict(points, of=of), local.predict(points, of=of))
        ours, theirs = local.feasibility(points), remote.feasibility(points)
        assert list(ours) == list(theirs) == ["heat", "purity"]
        for name, chances in ours.items():
            np.testing.assert_array_equal(theirs[name], chances)
        assert remote.best() == local.best()
        assert remote.best().feasible is not None
        summary = remote.summary()
        assert (summary.violations, summary.last_violation, summary.safe) == (1, 6, 0.9)
        assert summary.constraints == OPTIONS["constraints"]
        (record,) = remote.events(violations=True)
        assert (tuple(record.violated), record.as_event().violated) == (("heat",), ("heat",))
        for study in (remote, local):
            study.correct(study.events(violations=True)[0], heat=0.8)
            study.correct(2, outcomes={"purity": None})
            study.correct(3, 0.9, std=0.1)
        assert [each.event["outcomes"] for each in remote.events(kinds=["corrected"])] == [
            each.event["outcomes"] for each in local.events(kinds=["corrected"])
        ]
        np.testing.assert_array_equal(remote.predict(points, of="heat"), local.predict(points, of="heat"))
        assert remote.explain().text.splitlines()[1:] == local.explain().text.splitlines()[1:]


def test_the_same_errors(client):
    remote = client.create("strict", SPACE, **OPTIONS)
    trial = remote.ask()
    event = remote.tell(trial, 1.0, heat=0.5, key="k")
    assert remote.tell(trial, 1.0, heat=0.5, key="k") == event
    for told, error, words in (
        ({"heat": 0.6, "key": "k"}, Conflict, "used before"),
        ({"heta": 0.6}, UnknownName, "did you mean 'heat'"),
        ({"heat": math.nan}, InvalidArgument, "heat=nan"),
        ({"heat": "hot"}, InvalidType, "heat='hot'"),
        ({"outcomes": [1]}, InvalidType, "outcomes="),
        ({"outcomes": {"heat": 1.0}, "heat": 1.0}, InvalidArgument, "told twice"),
    ):
        with pytest.raises(error, match=words):
            remote.tell(trial, 1.0, **told)
    with pytest.raises(UnknownName, match="did you mean 'heat'"):
        remote.predict([{"power": 1.0}], of="heta")
    with pytest.raises(InvalidArgument, match="y: must be the right value"):
        remote.correct(trial)
    assert remote.summary().head == 2
    with pytest.raises(InvalidArgument, match="start=: needed"):
        client.create("none", SPACE, **{**OPTIONS, "start": None})
    with pytest.raises(InvalidArgument, match=r"start\[0\]"):
        client.create("none", SPACE, **{**OPTIONS, "start": [{"power": 11.0}]})


def test_constraints_may_be_plain_json(client):
    limits = {"heat": {"at_most": 0.9, "unit": "°C"}}
    assert client.create("json", SPACE, "random", constraints=limits).constraints == {
        "heat": wv.AtMost(0.9, unit="°C")
    }
    box = client.create(
        "box", wv.Box([(0, 1)]), constraints={"heat": wv.AtMost(1)}, safe=0.9, start=np.array([[0.5]]), seed=0
    )
    assert box.ask().x == [0.5]
