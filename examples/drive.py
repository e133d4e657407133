"""A simulated drive that wears, under a PID controller: the machine of `wearing_pid.py`.

A motor moves a slide to position 1, and half-way through the batch a load begins to push against it. With age
the motor weakens, while drag, dry friction and dead time grow. Many gains can be simulated at once.
"""

import math
from dataclasses import dataclass

import numpy as np

STEP, SAMPLES = 0.02, 250  # seconds a sample, samples a batch


@dataclass(frozen=True)
class Drive:
    """x'' = strength u - drag x' -+ friction, where the signal u arrives `dead` samples late."""

    strength: float
    drag: float
    friction: float
    dead: int


def aged(age, motor=2.0):
    """The drive at an age from 0, new, to 1, worn out."""
    return Drive(motor * 0.25**age, 1 + 2 * age, 0.5 * age, round((0.08 + 0.12 * age) / STEP))


def respond(gains, drive, noise, load):
    """Positions and signals, samples x cases, for gains (kp, ki, kd), each an array of cases.

    The controller acts once a sample; in between, the motion is solved exactly.
    """
    kp, ki, kd = gains
    fade = math.exp(-drive.drag * STEP)
    x, v, seen, integral, slope = np.zeros((5, len(kp)))
    positions, signals = np.zeros((2, len(noise), len(kp)))
    for k in range(len(noise)):
        before, seen = seen, x + noise[k]
        slope = slope + 0.2 * ((seen - before) / STEP - slope)  # filtered, for the sake of the noise
        wanted = kp * (1 - seen) + ki * integral - kd * slope
        signals[k] = np.clip(wanted, -10, 10)
        integral = integral + np.where(signals[k] == wanted, (1 - seen) * STEP, 0)  # no wind-up
        late = signals[k - drive.dead] if k >= drive.dead else 0
        push = drive.strength * late - load * (k >= SAMPLES // 2)
        way = np.where(v == 0, np.sign(push), np.sign(v))
        stuck = (v == 0) & (np.abs(push) <= drive.friction)
        final = np.where(stuck, 0, push - drive.friction * way) / drive.drag  # the speed that it tends to
        x = x + final * STEP + (v - final) * (1 - fade) / drive.drag
        v = final + (v - final) * fade
        if drive.friction > 0:
            v = np.where(v * way < 0, 0, v)  # friction stops a slide; it does not push it back
        positions[k] = x
    return positions, signals


def cost(gains, drive, rng):
    """The cost of a batch, its noise and load drawn from `rng`, for gains 3 x cases; less is better.

    It is the error weighted by the time since target or load changed (ITAE), overshoot, and abrupt signals.
    """
    positions, signals = respond(gains, drive, rng.normal(0, 0.002, SAMPLES), rng.uniform(1, 2))
    since = STEP * (np.arange(SAMPLES) % (SAMPLES // 2))
    itae = STEP * since @ np.abs(1 - positions)
    overshoot = np.maximum(positions.max(axis=0) - 1, 0)
    return itae + 2 * overshoot + 0.001 * (np.diff(signals, axis=0) ** 2).sum(axis=0)


def tuned(space, drive, tries=1000, batches=4):
    """The gains of a space that are best for a drive which is known, by brute force."""
    points = [space.decode(unit) for unit in space.candidates(tries)]
    gains = np.array([list(point.values()) for point in points]).T
    total = sum(cost(gains, drive, np.random.default_rng(number)) for number in range(batches))
    return points[int(np.argmin(total))]
