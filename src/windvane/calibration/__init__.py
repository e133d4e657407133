"""Calibration: what a trigger does on your space, kernel and noise, before it does it to your system."""

from windvane.calibration.calibrate import DELTAS, JUMPS, calibrate
from windvane.calibration.report import Calibration
from windvane.calibration.rows import CalibrationRow, Delay
from windvane.calibration.safety import SAFE, calibrate_safety
from windvane.calibration.safety_report import SafetyCalibration, SafetyRow

__all__ = [
    "DELTAS",
    "JUMPS",
    "SAFE",
    "Calibration",
    "CalibrationRow",
    "Delay",
    "SafetyCalibration",
    "SafetyRow",
    "calibrate",
    "calibrate_safety",
]
