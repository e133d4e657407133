"""A generator after the gest-api standard, which Xopt, optimas and libEnsemble share.

>>> from gest_api.vocs import VOCS
>>> from windvane.integrations.gest import WindvaneGenerator
>>> vocs = VOCS(variables={"x": [0.0, 10.0]}, objectives={"f": "MINIMIZE"})
>>> generator = WindvaneGenerator(vocs, seed=0)
"""

from windvane.extras import require

require("gest_api", "gest")  # says which extra to install; the imports below would not

from windvane.integrations.gest.generator import WindvaneGenerator  # noqa: E402

__all__ = ["WindvaneGenerator"]
