"""Share prices: on a small file, on skfolio's, and on the real ones where they are at hand."""

import csv
import os
import sys
from datetime import date, timedelta
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import windvane as wv
from windvane.tasks import Task

DATA = Path(os.environ.get("WINDVANE_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
REAL = DATA / "stocks_adjclose_29x823.csv"
needs_data = pytest.mark.skipif(
    not REAL.is_file(), reason=f"needs {REAL.name} in the folder that WINDVANE_DATA names"
)
NAMES = ("AAA", "BBB", "CCC", "DDD")


@pytest.fixture
def prices():
    steps = np.random.default_rng(0).normal(0.0, 0.02, (90, 4))
    return np.exp(np.cumsum(steps, axis=0)) * [20.0, 60.0, 63.0, 250.0]


@pytest.fixture
def file(tmp_path, prices):
    lines = ["date," + ",".join(NAMES)]
    lines += [
        f"{date(2016, 1, 4) + timedelta(days=i)},{','.join(map(repr, row))}"
        for i, row in enumerate(prices.tolist())
    ]
    path = tmp_path / "prices.csv"
    path.write_text("\n".join(lines))
    return path


def test_the_refactored_prior(file, prices):
    task = wv.task("stocks", data=file)
    assert isinstance(task, Task)
    assert (task.name, task.space, task.horizon, task.noise_variance) == ("stocks", wv.Arms(4), 90, 0.01)
    assert (task.arms, task.labels[0], task.source) == (NAMES, "2016-01-04", "stand-in: 4 shares from a file")
    z = (prices - prices.mean()) / prices.std()
    np.testing.assert_allclose(task.values, z)
    assert (task.values.mean(), task.values.var()) == pytest.approx((0.0, 1.0))
    np.testing.assert_allclose(task.kernel.covariance, np.cov(z, rowvar=False), rtol=1e-10)


def test_the_original_prior(file, prices):
    task = wv.task("stocks", data=file, normalise=False)
    np.testing.assert_array_equal(task.values, prices)
    assert (task.noise_variance, task.mean, task.scale) == (300.0, 0.0, 1.0)
    np.testing.assert_allclose(task.kernel.covariance, np.corrcoef(prices, rowvar=False), rtol=1e-10)
    np.testing.assert_allclose(np.diag(task.kernel.covariance), 1.0)


def test_the_kernel_by_hand(file, prices):
    unit = wv.task("stocks", data=file, prior="correlation")
    np.testing.assert_allclose(unit.kernel.covariance, np.corrcoef(prices, rowvar=False), rtol=1e-10)
    raw = wv.task("stocks", data=file, normalise=False, prior="covariance", noise_variance=2.0)
    np.testing.assert_allclose(raw.kernel.covariance, np.cov(prices, rowvar=False), rtol=1e-10)
    assert raw.noise_variance == 2.0


@pytest.mark.parametrize("normalise", [True, False])
def test_the_optimum_is_the_highest_price(file, prices, normalise):
    task = wv.task("stocks", data=file, normalise=normalise, seed=4)
    assert task.seed == 4
    for t in range(1, 91):
        best = task.optimum(t)
        assert best.x == prices[t - 1].argmax()
        assert all(best >= task.value(arm, t) for arm in range(4))


@pytest.mark.parametrize("normalise", [True, False])
def test_it_can_be_simulated(file, normalise):
    task = wv.task("stocks", data=file, normalise=normalise)
    opt = wv.make("et-gp-ucb", task.space, kernel=task.kernel, noise_variance=task.noise_variance, seed=0)
    assert (wv.simulate(opt, task).regret >= 0.0).all()


def test_a_folder(tmp_path, file):
    with pytest.raises(wv.InvalidArgument, match=r"this folder has no stocks_adjclose_29x823\.csv"):
        wv.task("stocks", data=tmp_path)
    file.rename(tmp_path / "stocks_adjclose_29x823.csv")
    assert wv.task("stocks", data=str(tmp_path)).horizon == 90


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AAA,BBB\n1,2\n3,4\n5,5\n", "has no date column"),
        ("date,AAA\nx,1\ny,2\nz,4\n", "has 3 days and 1 shares; must have at least 2 of each"),
        ("date,AAA,BBB\nx,1,2\n", "has 1 days and 2 shares"),
        ("date,AAA,BBB\nx,1,2\ny,2,0\nz,3,4", "the price of BBB on y is 0; must be above 0"),
        ("date,AAA,BBB\nx,1,2\ny,-2.5,2\nz,3,4", "the price of AAA on y is -2.5; must be above 0"),
        ("date,AAA,BBB\nx,1,2\ny,2,n/a\nz,3,4", "line 3, column 3: 'n/a'"),
        ("date,AAA,BBB\nx,1,2\ny,2\n", "line 3: has 2 columns; must have 3"),
        ("date,AAA,BBB\nx,1,2\ny,2,2\nz,3,2", "arm 'BBB' .* does not change"),
        ("date,AAA,BBB\nx,2,2\ny,2,2\nz,2,2", "all entries are 2"),
    ],
)
def test_bad_files(tmp_path, text, message):
    (tmp_path / "p.csv").write_text(text)
    for normalise in (True, False):
        with pytest.raises(wv.InvalidArgument, match=message):
            wv.task("stocks", data=tmp_path / "p.csv", normalise=normalise)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "data, skfolio: neither given"),
        ({"data": "x.csv", "skfolio": True}, "data, skfolio: both given"),
        ({"data": "x.csv"}, "data='x.csv': there is no such file"),
        ({"data": 3}, "data=3: must be a path"),
        ({"skfolio": 1}, "skfolio=1: must be True or False"),
        ({"data": "x.csv", "normalise": None}, "normalise=None: must be True or False"),
        ({"data": "x.csv", "prior": "covarience"}, "prior='covarience': unknown; did you mean 'covariance'"),
        ({"data": "x.csv", "horizon": 3}, "does not use horizon="),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(wv.WindvaneError, match=message):
        wv.task("stocks", **options)


@pytest.mark.parametrize(
    "options", [{"noise_variance": 0}, {"noise_variance": "x"}, {"seed": -1}, {"seed": "x"}]
)
def test_bad_numbers(file, options):
    with pytest.raises(wv.WindvaneError, match=next(iter(options))):
        wv.task("stocks", data=file, **options)


# skfolio


class Frame:
    """As much of a pandas.DataFrame as is used."""

    def __init__(self, index, columns, values):
        self.index, self.columns, self._values = index, columns, values

    def to_numpy(self):
        return self._values


@pytest.fixture
def shipped(monkeypatch):
    """A stand-in for skfolio with two shares, 823 rows of which lie in the paper's days."""
    days = [date(2016, 1, 4) + timedelta(days=i) for i in range(822)] + [date(2019, 4, 10)]
    days = [date(2016, 1, 3), *days, date(2019, 4, 11)]
    values = np.random.default_rng(0).uniform(1.0, 9.0, (len(days), 2))
    frame = Frame([f"{day} 00:00:00" for day in days], ["AAPL", "XOM"], values)
    package, datasets = ModuleType("skfolio"), ModuleType("skfolio.datasets")
    datasets.load_sp500_dataset = lambda: frame
    monkeypatch.setitem(sys.modules, "skfolio", package)
    monkeypatch.setitem(sys.modules, "skfolio.datasets", datasets)
    return frame


def test_skfolio_is_cut_to_the_days_of_the_paper(shipped):
    task = wv.task("stocks", skfolio=True)
    assert (task.horizon, task.labels[0], task.labels[-1]) == (823, "2016-01-04", "2019-04-10")
    assert (task.arms, task.source) == (("AAPL", "XOM"), "stand-in: 2 shares from skfolio")
    np.testing.assert_allclose(task.mean + task.scale * task.values, shipped.to_numpy()[1:-1])


def test_skfolio_with_other_days_or_gaps(shipped):
    shipped.to_numpy()[5, 1] = np.nan
    with pytest.raises(wv.InvalidArgument, match="skfolio, row 4, column 1"):
        wv.task("stocks", skfolio=True)
    shipped.index = shipped.index[:-2]
    with pytest.raises(wv.InvalidArgument, match=r"have 822 trading days .* must be 823"):
        wv.task("stocks", skfolio=True)


def test_without_skfolio_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfolio", None)
    monkeypatch.delitem(sys.modules, "skfolio.datasets", raising=False)
    with pytest.raises(wv.MissingExtra, match=r"windvane\[stocks\]"):
        wv.task("stocks", skfolio=True)


# The real prices


@needs_data
def test_the_real_prices():
    with REAL.open() as stream:
        rows = list(csv.reader(stream))
    values = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])
    task = wv.task("stocks", data=DATA)
    assert (task.horizon, task.space, len(values)) == (823, wv.Arms(29), 823)
    assert (task.labels[0], task.labels[-1]) == ("2016-01-04", "2019-04-10")
    assert task.source == "stand-in: 29 shares from a file"
    assert [task.optimum(t).x for t in range(1, 824)] == values.argmax(axis=1).tolist()
    np.testing.assert_allclose(task.values * task.scale + task.mean, values, rtol=1e-12)
