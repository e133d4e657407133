"""Studies: optimisers that live in a database, ask and tell that survive a power cut."""

from windvane.protocol.records import Trial
from windvane.study.numbering import left_out
from windvane.study.study import Study, studies

__all__ = ["Study", "Trial", "left_out", "studies"]
