"""Calibration: what a trigger does on your space, kernel and noise, before it does it to your system."""

from windvane.calibration.calibrate import DELTAS, JUMPS, calibrate
from windvane.calibration.report import Calibration
from windvane.calibration.rows import CalibrationRow, Delay

__all__ = ["DELTAS", "JUMPS", "Calibration", "CalibrationRow", "Delay", "calibrate"]
