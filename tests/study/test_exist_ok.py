"""A study that is opened if it is there, and only if it is the one that was meant."""

import pytest

import windvane as wv
from windvane.errors import Conflict, InvalidType

SPACE = wv.Space(gain=wv.Real(0.1, 10, log=True))
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "goal": "minimize"}


@pytest.fixture
def url(tmp_path):
    path = tmp_path / "studies.db"
    with wv.Study.create(path, "filter", SPACE, "gp-ucb", seed=3, **GIVEN) as study:
        study.tell(study.ask(), 0.7)
    return path


def test_the_second_time_it_is_opened(url):
    with wv.Study.create(url, "filter", SPACE, "gp-ucb", exist_ok=True, **GIVEN) as study:
        assert study.summary().tells == 1
        assert study.definition["seed"] == 3
    with wv.Study.create(url, "other", SPACE, "gp-ucb", exist_ok=True, **GIVEN) as study:
        assert study.summary().tells == 0


def test_a_goal_in_british_spelling_is_the_same_goal(url):
    with wv.Study.create(
        url, "filter", SPACE, "gp-ucb", exist_ok=True, **{**GIVEN, "goal": "minimise"}
    ) as study:
        assert study.summary().goal == "minimize"


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ({"goal": "maximize"}, "goal"),
        ({"seed": 4}, "seed"),
        ({"noise_variance": 0.02}, "options"),
        ({"expires_after": 60.0}, "expires_after"),
        ({"algorithm": "random"}, "algorithm"),
        ({"space": wv.Box([(0, 1)])}, "space"),
    ],
)
def test_another_of_that_name_is_a_conflict_and_nothing_changes(url, other, name):
    wanted = {"space": SPACE, "algorithm": "gp-ucb", **GIVEN, **other}
    with pytest.raises(Conflict, match=f"^{name}: "):
        wv.Study.create(url, "filter", exist_ok=True, **wanted)
    with wv.Study.open(url, "filter") as study:
        assert study.summary().tells == 1


def test_without_it_the_name_is_taken(url):
    with pytest.raises(Conflict, match="already"):
        wv.Study.create(url, "filter", SPACE, "gp-ucb", seed=3, **GIVEN)


def test_a_study_is_not_made_by_its_constructor():
    with pytest.raises(InvalidType, match=r"Study\.create"):
        wv.Study("studies.db", "filter")
