"""Set the price of a product each day while demand changes, and learn from counted sales alone.

A visitor weighs the price against what the product is worth to her, and against a rival's offer once there is
one (a logit model). The worth follows the seasons, and after 240 days the rival enters. The shop knows its
costs and counts visitors and sales; sales are binomial, so the noise is that of real counts. Contestants:

  fixed      the true best price of the first day, kept for good: no tuning at the start could do better
  gp-ucb     Bayesian optimisation that believes all it ever saw
  et-gp-ucb  drops its data when a day breaks the bound
  auto       Windvane's default, which weighs hypotheses about how things change

Prints the expected profit that each loses against the best price of the day, and draws the first run.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from scipy.special import lambertw

import windvane as wv
from windvane.plots import style

SPACE = wv.Space(price=wv.Real(25, 80))
UNIT_COST, SPREAD, ENTRY = 20.0, 8.0, 240  # euros, euros, and the day on which the rival enters
NAMES = ("fixed", "gp-ucb", "et-gp-ucb", "auto")


def market(day):
    """What the product is worth, and the pull of the rival's, which is worth 4 euros less and sold for 46."""
    worth = 60 + 6 * math.sin(2 * math.pi * day / 365)
    return worth, math.exp((worth - 4 - 46) / SPREAD) if day >= ENTRY else 0.0


def share(price, day):
    """The share of visitors who buy."""
    worth, rival = market(day)
    pull = np.exp((worth - price) / SPREAD)
    return pull / (1 + rival + pull)


def best_price(day):
    """The price with the largest expected profit, in closed form with Lambert's W."""
    worth, rival = market(day)
    return UNIT_COST + SPREAD * (1 + lambertw(math.exp((worth - UNIT_COST) / SPREAD - 1) / (1 + rival)).real)


def contest(seed, days):
    """Prices and profit lost, days x contestants, and the days of resets by name."""
    rng = np.random.default_rng(seed)
    opts = {name: wv.make(name, SPACE, seed=seed) for name in NAMES[1:]}
    prices, lost, resets = [], [], {name: [] for name in NAMES}
    for day in days:
        visitors = rng.poisson(400 if day % 7 < 5 else 520)
        asked = [opt.ask()["price"] for opt in opts.values()]
        *tried, best = np.array([best_price(days[0]), *asked, best_price(day)])
        profit = [visitors * (price - UNIT_COST) * share(price, day) for price in (*tried, best)]
        prices.append(tried)
        lost.append(profit[-1] - np.array(profit[:-1]))
        for (name, opt), price in zip(opts.items(), asked, strict=True):
            earned = (price - UNIT_COST) * rng.binomial(visitors, share(price, day))
            event = opt.tell({"price": price}, earned / visitors)  # that Saturdays are busy is known
            resets[name] += [day] * event.reset
    return np.array(prices), np.array(lost), resets


def draw(days, prices, lost, resets):
    """The prices that were tried, around the best one; and the profit lost so far."""
    figure, ((above,), (below,)) = style.sheet(2, 1, (8, 5.4), sharex=True)
    above.plot(days, [best_price(day) for day in days], color=style.SKY, lw=4)
    looks = style.looks(NAMES, {"fixed": style.GREEN})
    for (name, look), price, sum_lost in zip(looks.items(), prices.T, lost.T, strict=True):
        total = np.cumsum(sum_lost) / 1000
        above.plot(days, price, ".", color=look.colour, ms=2.5)
        below.plot(days, total, label=name, **look.line)
        below.plot(resets[name], np.interp(resets[name], days, total), "v", color=look.colour)
    above.set(ylabel="price, euros (light blue: best)")
    below.set(ylabel="profit lost, 1,000 euros", xlabel="day (triangles: resets)")
    style.legend(figure, below)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few days, too few to judge by")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--runs", type=int, default=1, help="how many seeds")
    given = parser.parse_args()
    days = range(ENTRY - 15, ENTRY + 15) if given.short else range(540)
    runs = [contest(given.seed + number, days) for number in range(given.runs)]
    print("profit lost, euros per day   all  before  after the rival came; resets in the first run")
    for name, lost in zip(NAMES, np.mean([lost for _, lost, _ in runs], axis=0).T, strict=True):
        parts = (lost, lost[: ENTRY - days[0]], lost[ENTRY - days[0] :])
        resets = runs[0][2][name] or ["none"]
        print(f"{name:24}", *(f"{part.mean():7.0f}" for part in parts), "   resets", *resets)
    given.out.mkdir(parents=True, exist_ok=True)
    draw(days, *runs[0]).savefig(given.out / "changing-demand.png", dpi=130)
