"""The doctor finds each fault by itself, says where it is, and finds nothing where there is none."""

import json
import math
import shutil

import pytest
from sqlalchemy import delete, insert, update

import windvane as wv
from windvane.cli import main
from windvane.storage import Database
from windvane.storage.schema import checkpoints, deliveries, events, studies, tokens, webhooks
from windvane.study import Study
from windvane.study.doctor import examine

SPACE = wv.Box([(0, 1)])


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A database in which much has happened, to be copied."""
    path = tmp_path_factory.mktemp("example") / "s.db"
    with Database(path, create=True) as found:
        for name, tells in (("line", 3), ("press", 70)):  # beyond a checkpoint
            study = Study.create(
                found, name, SPACE, "et-gp-ucb", seed=0, noise_variance=0.01, kernel=wv.RBF(0.2)
            )
            for i in range(tells):
                study.tell(study.ask(), i / 70)
            study.fail(study.ask(), "pump off")
            study.ask()
    return path


@pytest.fixture
def database(example, tmp_path):
    shutil.copyfile(example, tmp_path / "s.db")
    (tmp_path / "s.db").chmod(0o600)
    with Database(tmp_path / "s.db") as found:
        yield found


def errors(database, **more):
    return [str(found) for found in examine(database, **more) if found.level == "error"]


def change(database, table, values, **where):
    with database.link.writing() as connection:
        which = [getattr(table.c, name) == value for name, value in where.items()]
        connection.execute(update(table).where(*which).values(**values))


@pytest.mark.parametrize("deep", [False, True])
def test_a_sound_database_has_no_faults(database, deep):
    found = list(examine(database, deep=deep))
    assert [(each.level, each.what) for each in found] == [("note", "2 studies")]


def test_amended_studies_are_sound_as_well(database):
    study = Study.open(database, "press")
    study.retract(3, "wrong")
    study.correct(5, 0.5)
    study.reset("new pump")
    study.change_space(wv.Box([(0, 0.9)]))
    study.tell(study.ask(), 1.0)
    assert errors(database, deep=True) == []


@pytest.mark.parametrize(
    ("table", "values", "where", "said"),
    [
        (studies, {"definition": "{"}, {"name": "press"}, "study 'press': its definition is damaged"),
        (
            studies,
            {"definition": '{"space": 1, "options": {}, "algorithm": "auto"}'},
            {"name": "press"},
            "definition",
        ),
        (studies, {"head": 7}, {"name": "press"}, "its last record should be 7, and is 143"),
        (studies, {"tells": 7}, {"name": "press"}, "says tells = 7, but its journal has 70"),
        (studies, {"pending": 7}, {"name": "press"}, "says pending = 7, but 1 trial is out"),
        (events, {"x": "["}, {"study_id": 2, "seq": 4}, "study 'press': record 4: damaged"),
        (events, {"event": None}, {"study_id": 2, "seq": 4}, "record 4: damaged (a tell without its value"),
        (events, {"event": "[]"}, {"study_id": 2, "seq": 4}, "record 4: damaged"),
        (events, {"trial": 40}, {"study_id": 2, "seq": 3}, "asked for trial 40, where 2 is next"),
        (studies, {"resets": 7}, {"name": "press"}, "says resets = 7, but its journal has "),
        (studies, {"violations": 7}, {"name": "press"}, "says violations = 7, but its journal has 0"),
        (
            studies,
            {"created": math.inf},
            {"name": "press"},
            "study 'press': says created = inf, which is no time",
        ),
        (
            studies,
            {"created": 1e15},
            {"name": "press"},
            "says created = 1000000000000000.0, which is no time",
        ),
        (studies, {"last_at": -math.inf}, {"name": "press"}, "says last_at = -inf, which is no time"),
        (
            events,
            {"at": math.inf},
            {"study_id": 2, "seq": 4},
            "record 4: damaged (says at = inf, which is no time)",
        ),
        (
            events,
            {"y": math.inf},
            {"study_id": 2, "seq": 4},
            "record 4: damaged (says y = inf, which is not finite)",
        ),
        (events, {"time": math.inf}, {"study_id": 2, "seq": 4}, "record 4: damaged (says time = inf"),
        (events, {"expires": math.inf}, {"study_id": 2, "seq": 3}, "record 3: damaged (says expires = inf"),
        (checkpoints, {"state": "{}"}, {"study_id": 2}, "checkpoint at record 0"),
    ],
)
def test_each_fault_is_found_and_named(database, table, values, where, said):
    change(database, table, values, **where)
    found = errors(database)
    assert any(said in each for each in found), found
    assert not any("'line'" in each for each in found)
    assert all("backup" in each or "rebuild" in each for each in found)


def test_records_that_are_missing(database):
    with database.link.writing() as connection:
        connection.execute(delete(events).where(events.c.study_id == 2, events.c.seq.in_([8, 9])))
    assert "journal: missing: 8 to 9" in errors(database)[0]


def test_a_checkpoint_of_another_history_is_found_by_a_deep_look(database):
    with database.link.writing() as connection:
        own = checkpoints.c.study_id == 2
        connection.execute(
            update(checkpoints)
            .where(own, checkpoints.c.seq > 0)
            .values(
                state=connection.execute(checkpoints.select().where(own, checkpoints.c.seq == 0)).one().state
            )
        )
    assert any(
        "is not what the journal makes of the one before" in each for each in errors(database, deep=True)
    )


def test_expired_trials_and_webhooks_that_are_stuck(database):
    hook = database.webhooks.add("http://127.0.0.1:1/")
    late = {
        "webhook_id": hook.id,
        "study_id": 1,
        "seq": 1,
        "attempts": 0,
        "not_before": 0.0,
        "error": "",
        "kind": "reset",
    }
    with database.link.writing() as connection:
        connection.execute(insert(deliveries), [{**late, "status": "due"}, {**late, "status": "given-up"}])
    found = [str(each) for each in examine(database, clock=lambda: 1e12) if each.level != "error"]
    assert sum("1 of 1 trial out has expired" in each for each in found) == 2
    assert any("1 webhook call due for up to" in each and "windvane serve" in each for each in found)
    assert any("given up" in each for each in found)


def test_tokens_and_webhooks_that_were_made_at_no_time(database):
    database.tokens.add("ada")
    hook = database.webhooks.add("http://127.0.0.1:1/")
    for table in (tokens, webhooks):
        change(database, table, {"created": math.inf})
    assert [each.split(": says")[0] for each in errors(database)] == ["token 1", f"webhook {hook.id}"]


def test_a_file_that_others_may_read(database, tmp_path):
    (tmp_path / "s.db").chmod(0o644)
    assert any("others may read it (644)" in str(each) for each in examine(database))


def test_in_a_shell(database, tmp_path, capsys):
    place = str(tmp_path / "s.db")
    assert main(["doctor", "--db", place]) == 0
    assert capsys.readouterr().out.endswith("all is well\n")
    change(database, events, {"x": "["}, study_id=2, seq=4)
    assert main(["doctor", "--db", place]) == 1
    assert "X study 'press': record 4: damaged" in capsys.readouterr().out
    assert main(["doctor", "--db", place, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["sound"] is False
    assert {each["study"] for each in found["findings"] if each["level"] == "error"} == {"press"}
    (tmp_path / "none.db").write_bytes(b"no database" * 100)
    assert main(["doctor", "--db", str(tmp_path / "none.db")]) == 1
    assert "not an SQLite database" in capsys.readouterr().err


def test_what_others_write_meanwhile_is_no_fault(database_url):
    """Each study is looked at as of one moment, also while checkpoints come and go."""
    with Database(database_url, create=True) as database:
        made = [Study.create(database, name, SPACE, "random", seed=0) for name in ("one", "three", "two")]
        for study in made:
            for i in range(70):
                study.tell(study.ask(), float(i))
        looks = 0

        def busy(_name):
            nonlocal looks
            looks += 1
            for study in made[:2]:
                for i in range(70):
                    study.tell(study.ask(), float(i))
                study.retract(looks)
            if looks == 2:
                made[2].delete()

        found = [str(each) for each in examine(database, deep=True, on_study=busy)]
        assert found[-1:] == ["3 studies"], found
        assert looks == 2
