"""One surrogate read in several threads: what one of them remembers in passing is no other's answer.

Another thread is played by what happens right after a value was remembered.
"""

import threading

import numpy as np

import windvane as wv
from windvane.kernels import RBF, Markov
from windvane.surrogates import GP, Noise
from windvane.surrogates.buffers import Tail
from windvane.surrogates.mixture.member import Member


def interrupted(value, name, other):
    """The same object, in which somebody else looks at another moment whenever `name` is assigned."""

    class Interrupted(type(value)):
        busy = False

        def __setattr__(self, key, new):
            object.__setattr__(self, key, new)
            if key == name and not type(self).busy:
                type(self).busy = True
                other(self)
                type(self).busy = False

    value.__class__ = Interrupted
    return value


def test_a_gp_at_two_moments():
    gp = GP(RBF(0.2), Noise(0.01), dim=1, temporal=Markov(0.1))
    for i in range(4):
        gp.append(np.array([0.2 * i]), float(i), time=1.0 + i)
    points = np.array([[0.1], [0.5]])
    expected = gp.at(points, 6.0)
    gp = interrupted(gp.copy(), "_faded", lambda gp: gp.at(points, 9.0))
    gp._faded = None
    assert all(np.array_equal(*each) for each in zip(gp.at(points, 6.0), expected, strict=True))


def test_a_member_of_a_mixture_at_two_moments():
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    for i in range(6):
        opt.tell([0.15 * i], float(np.sin(i)))
    members = opt._progress.surrogate.members
    assert all(isinstance(member, Member) for member in members)
    for member in members:
        member = interrupted(member.copy(), "_moved", lambda member: member.at(20.0))
        assert member.at(7.0).now == 7.0


def test_a_row_is_claimed_once_by_however_many():
    for _ in range(50):
        tail, start, found = Tail(3), threading.Barrier(4), []

        def claim(tail=tail, start=start, found=found):
            start.wait(60)
            found.append(tail.claim(3))

        threads = [threading.Thread(target=claim) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [False, False, False, True]
