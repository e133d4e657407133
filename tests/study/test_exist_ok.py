"""A study that is opened if it is there, and only if it is the one that was meant."""

import threading

import pytest

import windvane as wv
from windvane.errors import Conflict, InvalidType
from windvane.storage import journal

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


def test_two_that_make_it_in_the_same_moment(database_url, monkeypatch):
    """Both look, neither sees it, both make it: on PostgreSQL the second finds out only then."""
    exists, waiting = journal.exists, []

    def blind(connection, name):
        found = exists(connection, name)
        if waiting:
            waiting.pop()()
        return found

    with wv.Study.create(database_url, "other", SPACE, "gp-ucb", **GIVEN) as study:
        monkeypatch.setattr(journal, "exists", blind)
        if study.database.kind == "postgresql":  # on SQLite a writer is alone
            waiting.append(lambda: made_by_another(database_url, seed=8))
        wv.Study.create(study.database, "filter", SPACE, "gp-ucb", exist_ok=True, **GIVEN).ask()
        assert study.database.find("filter").trials == 1
        if study.database.kind == "postgresql":
            assert study.database.find("filter").definition["seed"] == 8
            waiting.append(lambda: made_by_another(database_url, name="third"))
            with pytest.raises(Conflict, match="'third': there is a study of that name already"):
                wv.Study.create(study.database, "third", SPACE, "gp-ucb", **GIVEN)


def made_by_another(url, name="filter", **options):
    wv.Study.create(url, name, SPACE, "gp-ucb", **GIVEN, **options).close()


def test_many_at_once(database_url):
    """The database is made by whoever is first, too."""
    gate, made, errors = threading.Barrier(8), [], []

    def make():
        try:
            gate.wait()
            with wv.Study.create(database_url, "filter", SPACE, "gp-ucb", exist_ok=True, **GIVEN) as study:
                made.append(study.definition["seed"])
        except Exception as error:  # pragma: no cover
            errors.append(error)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(made) == 8
    assert len(set(made)) == 1
