"""A checkpoint that cannot be read: the journal has everything to make it anew."""

import pytest

import windvane as wv
from windvane.cli import main

DAMAGE = {
    "cut": "UPDATE windvane_checkpoints SET state = substr(state, 1, 50) WHERE seq > 0",
    "format of another version": (
        """UPDATE windvane_checkpoints SET state = replace(state, '"windvane":3', '"windvane":99')"""
    ),
    "not an object": "UPDATE windvane_checkpoints SET state = '[]'",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize(
    "space", [wv.Box([(0, 1)] * 2), wv.Space(a=wv.Real(1, 9, log=True), b=wv.Choice(["u", "v"]))]
)
def test_it_is_refused_and_rebuilt_bit_for_bit(tmp_path, damage, space):
    options = {"kernel": wv.RBF(0.3), "noise_variance": 0.01, "goal": "minimize", "seed": 7}
    url = tmp_path / "studies.db"
    with wv.Study.create(url, "a", space, "et-gp-ucb", **options) as study:
        for step in range(70):
            study.tell(study.ask(), 0.1 * step % 0.7)
        study.ask()  # one is out
        study.fail(study.ask(), "no power")
        state, pending = study.optimizer.state(), study.pending()
        with study.database.link.writing() as connection:
            connection.exec_driver_sql(damage)

    with wv.Study.open(url, "a") as study:
        with pytest.raises(wv.CorruptState, match="study rebuild"):
            study.ask()
        seen = []
        assert (
            study.rebuild(on_progress=lambda done, total: seen.append((done, total))) == study.summary().head
        )
        assert seen[-1] == (143, 143)
        assert study.optimizer.state() == state
        assert study.pending() == pending
    with wv.Study.open(url, "a") as study:  # what was made anew was kept
        assert study.optimizer.state() == state
        assert study.ask().number == 73


def test_the_shell_does_it_too(tmp_path, capsys):
    url = tmp_path / "studies.db"
    with wv.Study.create(url, "a", wv.Box([(0, 1)]), "random", seed=1) as study:
        study.tell(study.ask(), 0.5)
        with study.database.link.writing() as connection:
            connection.exec_driver_sql(DAMAGE["not an object"])
    assert main(["study", "ask", "a", "--db", str(url)]) != 0
    assert "windvane study rebuild" in capsys.readouterr().err
    assert main(["study", "rebuild", "a", "--db", str(url)]) == 0
    assert capsys.readouterr().out == "study 'a': made anew from 2 records\n"
    assert main(["study", "ask", "a", "--db", str(url)]) == 0
