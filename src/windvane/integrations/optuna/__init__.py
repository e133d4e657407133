"""Optuna with drift: a sampler, what is believed best now, and the resets that it noted.

>>> import optuna
>>> from windvane.integrations.optuna import WindvaneSampler, best_now, resets
>>> study = optuna.create_study(sampler=WindvaneSampler(seed=0))
"""

from windvane.extras import require

require("optuna", "optuna")  # says which extra to install; the imports below would not

from windvane.integrations.optuna.belief import BestNow, best_now  # noqa: E402
from windvane.integrations.optuna.notes import Reset, resets  # noqa: E402
from windvane.integrations.optuna.sampler import WindvaneSampler  # noqa: E402

__all__ = ["BestNow", "Reset", "WindvaneSampler", "best_now", "resets"]
