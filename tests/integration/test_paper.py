"""The paper's figures and claims, measured: Table 1 at eps = 0.03 and Lemma 3."""

import numpy as np
import pytest

from windvane.experiments.paper import lemma3, table1


@pytest.mark.parametrize("name", ["gp-ucb", "r-gp-ucb", "tv-gp-ucb", "ui-tvbo", "et-gp-ucb"])
def test_table_1_medians(name):
    """Fifty seeds; within 0.06 of the paper's median."""
    regrets = [table1.run(name, 0.03, seed).regret for seed in range(50)]
    median = float(np.median(regrets))
    paper = table1.ROWS[name].medians[table1.RATES.index(0.03)]
    print(f"{name}: paper {paper:.3f}, here {median:.3f}")
    assert abs(median - paper) <= 0.06


STATIC_RUNS = 1000


@pytest.mark.parametrize("part", range(4))
def test_lemma_3_holds(part, record_property):
    """A thousand static runs of 200 steps in four parts: the share with any alarm is at most delta.

    The shares are far below delta: the union bound and the sum of two separate widths are loose.
    """
    seeds = range(part * STATIC_RUNS // 4, (part + 1) * STATIC_RUNS // 4)
    fired = np.array([lemma3.alarms(seed) for seed in seeds])
    shares = fired.mean(axis=0)
    print({delta: float(share) for delta, share in zip(lemma3.DELTAS, shares, strict=True)})
    for delta, share in zip(lemma3.DELTAS, shares, strict=True):
        assert share <= delta
