"""Studies: optimisers that live in a database, ask and tell that survive a power cut."""

from windvane.study.study import Study, studies
from windvane.study.trial import Trial

__all__ = ["Study", "Trial", "studies"]
