"""How long to learn before monitoring: false alarms of ET-GP-UCB that is told nothing: `make first-steps`.

The objectives stand still, so every reset is a false alarm. Regret: mean of 150 steps, relative to the range.
"""

from __future__ import annotations

import numpy as np

import windvane as wv


def bump(dim: int, seed: int) -> tuple[np.ndarray, float, float]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.2, 0.8, dim), float(10.0 ** rng.uniform(-2, 3)), float(rng.normal() * 100.0)


def main() -> None:
    print("steps learned    false alarms a run (d = 1, 2, 3)     regret (d = 1, 2, 3)")
    for steps in (None, 10, 20, 30):
        alarms, regrets = [], []
        for dim in (1, 2, 3):
            count, regret = [], []
            for seed in range(6):
                centre, scale, offset = bump(dim, seed)
                rng = np.random.default_rng(seed)
                space = wv.Box([(0.0, 1.0)] * dim)
                opt = wv.make("et-gp-ucb", space, learning=wv.LearnThenMonitor(steps), seed=seed)
                total, resets = 0.0, 0
                for _ in range(150):
                    x = opt.ask()
                    value = float(np.exp(-0.5 * np.sum((x - centre) ** 2) / 0.04))
                    total += 1.0 - value
                    resets += opt.tell(x, offset + scale * (value + 0.05 * float(rng.normal()))).reset
                count.append(resets)
                regret.append(total / 150.0)
            alarms.append(np.mean(count))
            regrets.append(np.mean(regret))
        name = "2d" if steps is None else str(steps)
        print(f"{name:>13} {alarms[0]:>12.1f} {alarms[1]:>8.1f} {alarms[2]:>8.1f} ", end="")
        print(f"{regrets[0]:>17.3f} {regrets[1]:>8.3f} {regrets[2]:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
