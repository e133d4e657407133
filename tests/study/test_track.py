"""What was believed best at earlier steps, worked out again."""

import windvane as wv
from windvane.study import Study
from windvane.study.track import track


def test_it_is_what_was_believed_then_under_the_context_of_then(tmp_path):
    space = wv.Space(gain=wv.Real(0, 1), load=wv.Context(0, 10))
    with Study.create(tmp_path / "studies.db", "plant", space, "gp-ucb", seed=0) as study:
        then = []
        for i in range(8):
            study.add({"gain": (3 * i % 8) / 8, "load": float(i)}, i / 8)
            then.append(study.best(context={"load": float(i)}))
        link = study.database.link
        found = track(link, study.id, 5, 100)
        assert [each.step for each in found] == [4, 5, 6, 7, 8]
        assert [(each.x, each.mean, each.std) for each in found] == [(b.x, b.mean, b.std) for b in then[3:]]
        assert [each.step for each in track(link, study.id, 100, 2)] == [4, 8]
        calls = iter([True, True, False])
        assert len(track(link, study.id, 100, 100, lambda: next(calls))) == 2
        study.retract(study.events(kinds=["told"])[-1])
        assert [each.step for each in track(link, study.id, 100, 100)] == list(range(1, 8))
