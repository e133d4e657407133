"""The trigger of ET-GP-UCB: the uniform error bound of Lemma 3."""

from __future__ import annotations

from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.theory.confidence import trigger_widths
from windvane.triggers.base import Memory, exceeds, since


@component
@dataclass(frozen=True)
class PosteriorBound:
    """Fires if |y - mean| > sqrt(rho) std + w_bar (Lemma 3).

    Here rho = 2 ln(2 pi_t / delta) and w_bar^2 = rho sigma_n^2, sigma_n^2 being the noise variance. While
    the objective stands still and the model is right, it fires between two resets with a probability
    of at most `delta`. The threshold grows with the steps since the last reset. `noise_cap` is
    a fixed upper bound on w_bar, in the units of the `y` it is handed (Section 6.3): a change after a
    long quiet time is seen earlier, but Lemma 3 no longer holds once the cap is in force.

    >>> from windvane.triggers import replay
    >>> model = Prediction(mean=0.0, std=0.1, noise_variance=0.01)
    >>> verdicts = replay(PosteriorBound(delta=0.1), [(model, y) for y in (0.1, -0.3, 0.2, 0.9, 0.0, -2.0)])
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [4, 6]
    >>> verdicts[3].reason
    'bound broken: |y - mean| = 0.9 > 0.708, 4 steps after the last reset or start'
    """

    delta: float = 0.1
    noise_cap: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checks.probability("delta", self.delta))
        if self.noise_cap is not None:
            object.__setattr__(self, "noise_cap", checks.real("noise_cap", self.noise_cap, at_least=0.0))

    def start(self) -> Memory:
        """Nothing to remember: each observation is judged by itself."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:  # noqa: ARG002
        """The test and threshold functions that follow Lemma 3."""
        width, noise = trigger_widths(elapsed, self.delta, prediction.noise_variance)
        if self.noise_cap is not None and noise > self.noise_cap:
            noise = self.noise_cap
        statistic = abs(y - prediction.mean)
        threshold = width * prediction.std + noise
        if statistic > threshold:
            reason = f"bound broken: |y - mean| = {exceeds(statistic, threshold)}, {since(elapsed)}"
            return Verdict(True, statistic, threshold, reason), ()
        return Verdict(False, statistic, threshold), ()
