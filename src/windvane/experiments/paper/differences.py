"""Where the paper contradicts itself, slips or is silent, and how each case was settled.

"Not in the text" means the text and tables that were at hand. Figures, the authors' code and the supplements
that the paper cites may well say it.
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """A place in the paper, what is wrong or open there, and what is done here."""

    where: str
    what: str
    settled: str


CONTRADICTIONS = (
    Difference(
        "Appendix H, within-model",
        "N_const for eps = 0.2 is 17 in the table; ceil(12 * 0.2^(-1/4)) is 18, and the other entries "
        "follow it.",
        "The formula.",
    ),
    Difference(
        "Section 6.2, Appendix H",
        "Runs: 20 in the text and 50 in the tables (temperature, policy search); 5 and 20 (stocks).",
        "The larger number by default; --runs changes it.",
    ),
    Difference(
        "Appendix A.5, Appendix H",
        "Noise variance of the synthetic experiments after Deng et al.: 0.1 in the text, {0.01, 1} in the "
        "table. Their domain is one-dimensional although the table says [0, 1]^2.",
        "0.1 (refactored prior) and 1 (original prior) on [0, 1].",
    ),
    Difference(
        "Appendix A.5, Table 3",
        "In (b) W-GP-UCB is called competitive; in the table it is last, at 197.0 against 86.3.",
        "Both are tested: the order, and whether it is within a quarter.",
    ),
    Difference(
        "Fig. 7",
        "The caption says that shaded areas are one standard deviation, and at its end that they are the "
        "interquartile range.",
        "The interquartile range, as everywhere else.",
    ),
    Difference(
        "Section 6.2.2, Appendix H",
        "Two days of 10-minute steps in the text, which are 288; T = 286 in the table.",
        "T = 288.",
    ),
)
SLIPS = (
    Difference(
        "Eq. 5",
        "The exponent of the time-varying posterior has t + 1 - i where the age of an observation, t - i, "
        "is meant.",
        "(1 - eps)^(|t - i| / 2) between an observation at i and the present t, as follows from Assumption "
        "2.",
    ),
    Difference(
        "Corollary 1, Appendix F",
        "The static term for Matern kernels is printed as sqrt(T^(1 - xi)); two of the three exponents of "
        "the sub-linear region multiply by (1 - xi) where one must divide.",
        "The corrected forms are computed; the argument is in `windvane.theory.regret`.",
    ),
    Difference(
        "Lemma 6",
        "The inequality is reversed: it says P(sup |df/dx| > L_t) <= 1 - delta, and the proof of Theorem 1 "
        "uses P(sup |df/dx| <= L_t) >= 1 - delta.",
        "The latter.",
    ),
    Difference("Lemma 5", "For all x of the discretisation, but the event is about x_t.", "x."),
    Difference(
        "Proof of Theorem 1",
        "That x is near its closest point of the discretisation is stated for the points of the "
        "discretisation, where all points of the domain are meant.",
        "All points of the domain.",
    ),
    Difference(
        "Lemma 8",
        "theta_t has ln(2 a_1 d pi_t / delta); Lemma 6 at delta / 4 gives 4, as in the lemma's own beta_t.",
        "4; theta_t counts points and is taken as at least 1.",
    ),
    Difference(
        "Sketch of the proof of Theorem 1, Section 4",
        "N_low and N_high are exchanged: the sketch calls the former the upper and the latter the lower "
        "threshold, and after Corollary 1 the window is twice written from the larger to the smaller.",
        "N_low <= N_high, as in the theorem.",
    ),
    Difference(
        "Proof of Theorem 1",
        "s^2 <= C_2 ln(1 + s^2) is stated for s in [0, sigma_n^2], where s^2 up to sigma_n^-2 is needed and "
        "used.",
        "Nothing depends on it.",
    ),
    Difference(
        "Appendix F, squared exponential kernel",
        "The information gain is quoted as O(ln N); the cited theorem has O((ln N)^(d + 1)), which the "
        "corollary's O up to logarithms covers as well.",
        "Nothing depends on it.",
    ),
    Difference(
        "Appendix H, policy search", "The caption refers to Fig. 3 (c); the policy search is (d).", "(d)."
    ),
)
SILENCES = (
    Difference(
        "Section 6.2, tables of Appendix H",
        "c1 of beta_t = c1 ln(c2 t) by dimension: the text quotes 0.8 as the suggestion of Bogunovic et al. "
        "and has beta_t grow with d; the tables have 0.4 in two dimensions and 0.8 in four (and for the 46 "
        "sensors). Of boxes that is 0.2 d, which is not said, nor is c1 for six and eight dimensions.",
        "The tables' values: 0.4 reproduces Table 1 and 0.8 does not. In higher dimensions 0.4 and 0.2 d, "
        "side by side. beta is clipped at 0 where the logarithm is negative.",
    ),
    Difference(
        "Alg. 1, Table 1",
        "Algorithm 1 keeps the last point at every reset, also at one that N_high forces. Bogunovic et al., "
        "after whom R-GP-UCB is run, empty the data; which rule was followed in the experiments is not said.",
        "Triggered resets keep the last point. Periodic ones empty the data, and so do forced ones, against "
        "the letter of Algorithm 1: only so do both R-GP-UCB and the narrow-window variants of ET-GP-UCB "
        'come out. `forced="last"` is the letter.',
    ),
    Difference(
        "Alg. 2",
        "The t_r with which the trigger tests an observation while it backtracks, and whether the data that "
        "it goes through include the point that fired.",
        "One more than the points kept so far; they do, and it is tested first, against the prior.",
    ),
    Difference(
        "Appendix A.5 (synthetic functions, stocks)",
        "The functions of Deng et al. and the 48 tickers are in the supplement that the paper cites, which "
        "was not available to us. Whether every run had functions of its own is not in the text; the "
        "standard deviations of Table 3 suggest one for all. In (c) W-GP-UCB equals IGP-UCB, as it does with "
        "a g near 1.",
        "Stand-ins, labelled so: functions of the same space, drawn for every run and once for all, and 29 "
        "stocks over the same 823 days. W-GP-UCB with g from the budget and with g = 0.9999.",
    ),
    Difference(
        "Section 6.2.2",
        "Which 46 of the 54 sensors and which eight days were used. The paper refers to a notebook of its "
        "code base, which was not available to us.",
        "The sensors with at most 8 % unusable ten-minute means (46 in the ready table), 1 to 8 March 2004.",
    ),
    Difference(
        "Fig. 2",
        "How the reset window is placed around R-GP-UCB's N.",
        "Both ends move from N in proportion: N_low = N - s (N - 1), N_high = N + s (T - N), W = s (T - 1).",
    ),
    Difference(
        "Fig. 2 (right)",
        "The number of runs: 30,000 objectives are those of the reset times on the left, and the table of "
        "hyperparameters has them for the whole figure.",
        "30,000 on the left, 200 on the right, where the regret of whole runs is compared on the same seeds.",
    ),
    Difference(
        "Fig. 14",
        "The three rates of its rows; they may be in the figure. The table of hyperparameters, which is that "
        "of Fig. 2, has two.",
        "These two, 0.03 and 0.1, and 0.01 as a guess that is labelled so.",
    ),
    Difference(
        "Fig. 5, Fig. 8, Fig. 9",
        "Lengthscale and number of runs of the experiments in two to eight dimensions; they may be in the "
        "figures.",
        "l = 0.2 as in two dimensions; 50 runs.",
    ),
    Difference(
        "Table 2",
        "How often, from how many starts and with which prior hyperparameters are fitted.",
        "Whenever the data have grown by a tenth, from one start; without a prior and with Gamma(3, 6) on "
        "lengthscales, side by side.",
    ),
    Difference(
        "Section 6.2.3",
        "How the cost of the policy search is scaled to unit variance.",
        "By its mean and standard deviation over the box before the change, and not below -3; beside it "
        "without that floor, and as in the public code of Brunzema et al. (2022), by 30 random gains.",
    ),
    Difference(
        "Fig. 6",
        "The two rates of the experiment with a changing rate; they may be in the figure.",
        "Three pairs, side by side: until step 175 0.01, 0.001 and 0.01, then 0.05, 0.05 and 0.1.",
    ),
    Difference(
        "Appendix A.4",
        "By how much Ackley's and Hartmann's optimum is shifted, the noise, and the prior of lengthscales.",
        "Shift and noise: stated in the tasks `ackley-shift` and `hartmann-shift`. Without a prior, values "
        "standardised whenever lengthscales are learned; and beside it with Gamma(3, 6), standardised "
        "at every step.",
    ),
)
OPEN = (
    Difference(
        "Table 1, last column",
        "TV-GP-UCB told eps = 0.2 at a true 0.05: 1.223.",
        "Eq. 5 gives about 0.70 with the exponent as derived and 0.65 as printed, by the incremental "
        "posterior and by a direct solve alike (tests/integration/test_paper.py). Other readings, in a few "
        "small runs: an exponent without 1/2 (0.82), c1 = 0.8 (0.73), told 0.5 or 0.8 (0.72, 0.89). Where "
        "the true rate is 0.2 it is 1.18. What the cause is we do not know.",
    ),
    Difference(
        "Theorem 1, Lemma 3",
        "The proof of Theorem 1 treats a block as if its start did not depend on the data, and Lemma 3 the "
        "data after a reset as if they had not been selected.",
        "For resets that empty the data a union bound over the start of the block mends the former; with "
        "the point that Alg. 1 keeps, a cover over x is needed as well. What was measured, from the "
        "start and after a reset, is in the section on Lemma 3.",
    ),
)
DIFFERENCES = {
    "Where the paper says two things": CONTRADICTIONS,
    "Slips in formulas": SLIPS,
    "What is not in the text": SILENCES,
    "What we could not reproduce or prove": OPEN,
}
