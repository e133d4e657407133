"""Replay: what algorithms would have said about a log of past measurements."""

from windvane.replay.account import Account, Coverage
from windvane.replay.limits import ConstraintAccount, HeldShare
from windvane.replay.log import Log, infer_space
from windvane.replay.read import read_log
from windvane.replay.replay import replay
from windvane.replay.report import Replay

__all__ = [
    "Account",
    "ConstraintAccount",
    "Coverage",
    "HeldShare",
    "Log",
    "Replay",
    "infer_space",
    "read_log",
    "replay",
]
