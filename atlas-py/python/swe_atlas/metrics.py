"""The numbers by which policies and critics are measured (papers 001, 002 and 004).

Each function says its formula's source, its units and what is None. A number that is not defined is None,
never NaN and never 0. `check` compares all of them with stored values; `swe_atlas.measure` applies them to
whole files of results.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING

from swe_atlas._swe_atlas import _metric, check, pass_at_k

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from swe_atlas.types import (
        AtK,
        Beyond,
        BugRuns,
        CorrelationSummary,
        CriticAggregate,
        Distribution,
        FalsePositiveRates,
        GridThreshold,
        LabelMass,
        NetValue,
        PercentileDecision,
        PrecisionRecallCurve,
        RandomBaseline,
        Reliability,
        RiskCoverage,
        TestPrediction,
        TypedBug,
        Vote,
        Yields,
    )

__all__ = [
    "aggregate_critic",
    "average_precision",
    "average_ranks",
    "binomial_quantile",
    "bootstrap_mean",
    "bootstrap_mean_with",
    "bootstrap_ratio",
    "brier_score",
    "check",
    "confusion",
    "cosine",
    "distribution",
    "expected_net_value",
    "f1_of",
    "false_positive_rates",
    "filtered_success_at_k",
    "grid_threshold",
    "implied_precision",
    "implied_prevalence",
    "label_mass",
    "lift_by_type",
    "majority_vote",
    "mean_at_k",
    "no_skill_precision",
    "normalise_identifiers",
    "paired_differences",
    "pass_and_validation_at_k",
    "pass_at_k",
    "patch_correctness_score",
    "percentile",
    "percentile_decision",
    "precision_recall_curve",
    "random_baseline",
    "reliability",
    "risk_coverage",
    "spearman",
    "summarise_correlations",
    "threshold_for_precision",
    "validation_recall_at_k",
    "wasserstein_1",
    "yields",
]


def mean_at_k(counts: Sequence[tuple[int, int]], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """The mean of pass@k over bugs, each given as `(runs, successes)` (paper 002, section 5.2).

    Gives `value`, 0 to 1, None where no bug counts, and `bugs_counted`. Bugs without a run are left out. What
    a bug with fewer than `k` runs counts as, `beyond` says: 'clamp' (`k` is lowered to its runs), 'exclude'
    (it is left out) or 'error' (InvalidInputError).
    """
    return _metric("mean_at_k", locals())


def filtered_success_at_k(bugs: Sequence[BugRuns], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """Filtered success@k: the chance that one of `k` patches is right, of those that the policies let through
    (paper 002, section 5.2).

    A bug is a mapping with `success` (a bool for each run), `accepted` (the same, default all) and `attempt`
    (default True). Gives `value` and `bugs_counted`; `beyond` is that of `mean_at_k`, with the runs that are
    left.
    """
    return _metric("filtered_success_at_k", locals())


def pass_and_validation_at_k(bugs: Sequence[BugRuns], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """(pass & validation)@k: the chance over all bugs that one of `k` runs is right and accepted (paper 002,
    section 6.2). Unlike `filtered_success_at_k` it falls with every right patch that a policy hides.

    Bugs, result and `beyond` are those of `filtered_success_at_k`; a bug that is not attempted has no success.
    """
    return _metric("pass_and_validation_at_k", locals())


def validation_recall_at_k(bugs: Sequence[BugRuns], k: int, *, beyond: Beyond = "clamp") -> AtK:
    """Validation recall@k: the chance that one of `k` right runs is accepted, over the bugs that have one (paper
    002, appendix C.1).

    Bugs, result and `beyond` are those of `filtered_success_at_k`; whether a bug is attempted makes no
    difference.
    """
    return _metric("validation_recall_at_k", locals())


def confusion(truths: Sequence[bool], predictions: Sequence[bool]) -> dict[str, Any]:
    """How often a yes or no was right: counts and the shares that follow.

    Gives `tp`, `fp`, `fn`, `tn`, and `accuracy`, `precision`, `recall`, `f1`, `specificity`, `fpr` (false
    positives among the negatives counted here), `negative_precision` and `prevalence`, 0 to 1, None where
    their denominator is 0. Raises InvalidInputError for lists of different lengths.
    """
    return _metric("confusion", locals())


def false_positive_rates(patches: Sequence[tuple[bool, bool, bool]]) -> FalsePositiveRates:
    """The false positive rate of a validation with both denominators (paper 002, section 6.2 against its Table
    4): `of_all` wrong patches, and `of_reached`, those that got as far as validation.

    A patch is `(success, reached, accepted)`. Gives also `false_positives`, `negatives` and
    `negatives_reached`; a rate is None where its denominator is 0.
    """
    return _metric("false_positive_rates", locals())


def f1_of(precision: float, recall: float) -> float | None:
    """F1 from a printed precision and recall, in their unit: 2 P R / (P + R); None where both are 0."""
    return _metric("f1_of", locals())


def implied_prevalence(accuracy: float, precision: float, recall: float) -> float | None:
    """The share of positives that a printed accuracy, precision and recall imply, all 0 to 1: rows of a table
    that imply different shares were not scored on the same labels (paper 004, Table 2).
    """
    return _metric("implied_prevalence", locals())


def implied_precision(prevalence: float, recall: float, fpr: float) -> float | None:
    """The precision that a recall and a false positive rate imply at a share of positives, all 0 to 1 (paper
    002, Table 4 against section 6.2).
    """
    return _metric("implied_precision", locals())


def average_precision(truths: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Average precision: the sum over thresholds, highest score first, of the precision there times the rise of
    recall, as scikit-learn's (paper 002, Figure 3). Equal scores are one step; a perfect order gives exactly 1.

    None without a true item, or with a score that is no finite number.
    """
    return _metric("average_precision", locals())


def no_skill_precision(truths: Sequence[bool]) -> float | None:
    """The share of true items: the precision of a policy without skill. None without items."""
    return _metric("no_skill_precision", locals())


def precision_recall_curve(
    truths: Sequence[bool],
    scores: Sequence[float],
) -> PrecisionRecallCurve | None:
    """Precision and recall at every threshold, in the form of scikit-learn (paper 002, Figure 3).

    Gives `thresholds`, the distinct scores ascending; `precision` and `recall` there, with one more point, 1
    and 0, at the end; and `shown`, the share of items with at least that score. None as `average_precision`.
    """
    return _metric("precision_recall_curve", locals())


def reliability(
    truths: Sequence[bool],
    scores: Sequence[float],
    *,
    bins: int = 10,
) -> Reliability | None:
    """Whether scores mean what they say (Guo et al. 2017): `bins` of equal width from 0 to 1, each with its upper edge,
    `expected_error`, `maximum_error` and `brier`. None without items, with a score that is not within 0 to 1, or with no bins
    or more than 10,000.
    """
    return _metric("reliability", locals())


def brier_score(truths: Sequence[bool], scores: Sequence[float]) -> float | None:
    """The mean square of score less truth, 1 or 0. None without items, or with a score that is not within 0 to 1."""
    return _metric("brier_score", locals())


def risk_coverage(truths: Sequence[bool], scores: Sequence[float]) -> RiskCoverage | None:
    """The share of wrong items among those from a score on (Geifman and El-Yaniv 2017): `thresholds`, the distinct scores
    descending, with `coverage` and `risk`; the `area` under the curve, the mean over all orders of equal scores, beside
    `best_area` and `no_skill`. None without items, or with a score that is no finite number.
    """
    return _metric("risk_coverage", locals())


def threshold_for_precision(
    truths: Sequence[bool],
    scores: Sequence[float],
    target: float,
) -> float | None:
    """The smallest score from which on the share of true items is at least `target`, 0 to 1. None where no score reaches
    it, without items, or with a score that is no finite number.
    """
    return _metric("threshold_for_precision", locals())


def grid_threshold(truths: Sequence[bool], scores: Sequence[float]) -> GridThreshold | None:
    """The threshold with the best F1: `threshold`, from which on an item is a yes, and `f1` (paper 004, section
    4.2.1 b). The grid is the distinct scores; of equally good thresholds the lowest wins. None as
    `average_precision`.
    """
    return _metric("grid_threshold", locals())


def cosine(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The cosine of two vectors, -1 to 1; None if their lengths differ, one is zero or a number is not finite."""
    return _metric("cosine", locals())


def percentile_decision(scores: Sequence[float], p: float) -> PercentileDecision:
    """Which scores a percentile lets through (paper 002, section 3.2.6): `cutoff`, the `p`-th percentile of all
    scores, `p` from 0 to 100, and `accepted`, a bool for each: at or above the cut-off, and above 0. The
    cut-off is None without scores, or with one that is no finite number; then nothing is accepted.
    """
    return _metric("percentile_decision", locals())


def label_mass(
    alternatives: Sequence[tuple[str | bytes, float]],
    positive: str = "success",
    negative: str = "failure",
) -> LabelMass:
    """How much of the first token's probability belongs to two labels (paper 002, section 3.1).

    `alternatives` are `(token, log-probability)`, the token as str or bytes, the log-probability in nats. An
    alternative counts for a label if, stripped and in lower case, it is a beginning of it alone. Gives
    `positive`, `negative`, `total` and `probability`, positive over both; None without any mass.
    """
    return _metric("label_mass", locals())


def patch_correctness_score(is_bug_fixed: bool, token_logprobs: Sequence[float]) -> float | None:
    """The patch correctness score: 0 if the review says that the bug is not fixed, else the exponential of the
    mean log-probability (nats) of the response's tokens (paper 002, section 3.2.5). None for a yes without
    tokens, or with a log-probability that is no number or above 0.
    """
    return _metric("patch_correctness_score", locals())


def expected_net_value(
    p: float,
    *,
    value: float,
    cost: float,
    run_cost: float,
    review_cost: float,
) -> NetValue:
    """What trying to fix a bug and showing a patch are expected to be worth (paper 002, appendix C.4).

    `p` is the chance of success; `value`, `cost` (while it is not fixed), `run_cost` (of the agent) and
    `review_cost` (a person's look) are in one unit of yours. Gives `attempt`, `abstain`, `show` and `hide` in
    that unit, and the chances from which on trying and showing are worth more, `break_even_attempt` and
    `break_even_show`; None where value and cost are 0 together.
    """
    return _metric("expected_net_value", locals())


def majority_vote(patches: Sequence[str], lines: Sequence[int] | None = None) -> Vote | None:
    """Chooses one patch by majority (paper 002, section 5.1): the largest group of those that differ only in
    identifiers; of several the patch with the fewest `lines`, then the first.

    `lines` are the numbers of lines of the patched files; without them those of the patches count. Gives
    `winner`, `votes`, `groups` (places) and `normalised`; None without patches.
    """
    return _metric("majority_vote", locals())


def normalise_identifiers(patch: str) -> str:
    """A patch with every identifier replaced by `id` and its number in the order of appearance (paper 002,
    section 5.1): patches that differ only in names become equal.
    """
    return _metric("normalise_identifiers", locals())


def aggregate_critic(
    tests: Sequence[TestPrediction],
    *,
    rule: bool = True,
    max_confidence: float = 65.0,
    longer_than: int = 50,
) -> CriticAggregate:
    """From a critic's word on each test to its word on the patch (paper 004, section 2.2).

    A test is a mapping with `passes`, `confidence` (0 to 100) and, where it is known, `length`, the
    characters of its source. With `rule`, one that is said to pass with at most `max_confidence` and is longer
    than `longer_than` is taken to fail (section 4.1). Gives `passes` (after the rule), `build_success` (all
    pass) and `pass_rate`, the progress score. Raises InvalidInputError without tests.
    """
    return _metric("aggregate_critic", locals())


def random_baseline(q: float, tests: int = 1) -> RandomBaseline:
    """What a coin with the classes' weights is expected to reach (paper 004, section 4.1): `q`, 0 to 1, is the
    share of tests that pass and the chance that the coin says so. Gives `accuracy`, `precision` (recall and F1
    are the same), and `build_success`, the chance that all of `tests` tests are said to pass. Raises
    InvalidInputError for a `q` out of range.
    """
    return _metric("random_baseline", locals())


def lift_by_type(bugs: Sequence[TypedBug]) -> dict[str, float | None]:
    """Lift by type of bug: accept@1 of what a policy keeps over accept@1 of everything, each the mean over the
    type's bugs of the share of right patches (paper 002, section 6.4, Table 2).

    A bug is a mapping with `type`, and `correct` and `kept`, a bool for each patch. Gives type -> lift, None
    (the paper's NA) where the policy keeps no patch of the type or no patch of it is right.
    """
    return _metric("lift_by_type", locals())


def wasserstein_1(u: Sequence[float], v: Sequence[float]) -> float | None:
    """The Wasserstein-1 distance between two samples, in their unit (paper 002, section 6.1: predicted
    probabilities of success against observed rates). None if one is empty or holds what is no finite number.
    """
    return _metric("wasserstein_1", locals())


def percentile(values: Sequence[float], p: float) -> float | None:
    """The `p`-th percentile, `p` from 0 to 100, with linear interpolation, NumPy's default. None without values,
    with one that is no finite number, or with `p` out of range.
    """
    return _metric("percentile", locals())


def average_ranks(values: Sequence[float]) -> list[float] | None:
    """Ranks from 1, ascending; equal values share the mean of their places. None with a value that is no finite
    number.
    """
    return _metric("average_ranks", locals())


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rank correlation, -1 to 1, with average ranks (paper 004, section 4.4). None where the lengths
    differ, all values of one are equal, or one is no finite number.
    """
    return _metric("spearman", locals())


def summarise_correlations(rhos: Sequence[float | None]) -> CorrelationSummary:
    """Sums rank correlations of many instances up: `defined`, `undefined` (the Nones), `mean` and
    `share_perfect`, the share of the defined ones that are 1 (paper 004, section 4.4).
    """
    return _metric("summarise_correlations", locals())


def bootstrap_mean(
    values: Sequence[float],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 95.0,
) -> tuple[float, float] | None:
    """The percentile bootstrap of a mean: low and high end of the interval that holds `level` percent. The same
    values, seed and number of resamples give the same interval everywhere. None without values or resamples.

    For the difference of two systems give `paired_differences`. Paper 001 (Table 5) prints intervals without
    saying how they were made; this is the usual way.
    """
    return _ends(_metric("bootstrap_mean", locals()))


def bootstrap_mean_with(
    values: Sequence[float],
    resamples: Sequence[Sequence[int]],
    *,
    level: float = 95.0,
) -> tuple[float, float] | None:
    """As `bootstrap_mean`, with resamples that are given: for each a list of places in `values`. None where a
    resample is empty or names a place that is not there.
    """
    return _ends(_metric("bootstrap_mean_with", locals()))


def bootstrap_ratio(
    items: Sequence[tuple[float, float]],
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 95.0,
) -> tuple[float, float] | None:
    """The bootstrap of a ratio of sums, of items `(above, below)` that are drawn whole: all patches of a bug stay
    together. Draws whose lower sum is 0 are left out. Options and result are those of `bootstrap_mean`.
    """
    return _ends(_metric("bootstrap_ratio", locals()))


def paired_differences(a: Sequence[float], b: Sequence[float]) -> list[float] | None:
    """The differences b - a of paired values; None if their numbers differ."""
    return _metric("paired_differences", locals())


def binomial_quantile(q: float, n: int, p: float) -> int | None:
    """The smallest number of successes that has, in `n` trials with chance `p`, at least the chance `q` not to be
    exceeded: with `q` of 0.025 and 0.975 the intervals of paper 001's Table 5. None if `p` or `q` is out of
    range.
    """
    return _metric("binomial_quantile", locals())


def distribution(counts: Mapping[str, int], all: int) -> Distribution:
    """Percentages of labels among `all` items (paper 001, appendix E): `percent`, label -> 0 to 100, and
    `counted`, the sum of the counts. Raises InvalidInputError if `all` is 0 or less than that sum.
    """
    return _metric("distribution", locals())


def yields(sourced: int, replicated: int, accepted: int) -> Yields:
    """What is left of sourced pull requests (paper 001, section 4.1): `replicated_of_sourced`,
    `accepted_of_sourced` and `accepted_of_replicated`, 0 to 1; None where the denominator is 0.
    """
    return _metric("yields", locals())


def _ends(interval: list[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (interval[0], interval[1])
