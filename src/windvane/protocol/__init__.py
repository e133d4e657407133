"""What studies in a database and studies of a service have in common: their records, requests and methods."""

from windvane.protocol.records import AMENDING, KINDS, Kind, Record, Status, Summary, Trial
from windvane.protocol.study import StudyProtocol

__all__ = ["AMENDING", "KINDS", "Kind", "Record", "Status", "StudyProtocol", "Summary", "Trial"]
