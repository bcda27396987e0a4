"""Prints files of stored values, computed by NumPy, SciPy, scikit-learn, statsmodels, krippendorff and exact fractions.

One JSON list of files in the form that `atlas metrics --check` takes. The seed is the first argument.
"""

import json
import math
import sys
import warnings
from fractions import Fraction

import krippendorff
import numpy as np
from scipy import optimize, special, stats
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_test
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests

random = np.random.default_rng(int(sys.argv[1]))


def tied(size):
    """Scores of which many are equal."""
    return random.choice([0.0, 0.1, 0.25, 0.5, 0.75, 1.0], size) if random.random() < 0.5 else random.random(size)


def number(value):
    return None if math.isnan(value) else float(value)


def labelled():
    size = int(random.integers(2, 80))
    truths = random.integers(0, 2, size)
    truths[int(random.integers(size))] = 1
    return truths, tied(size)


def average_precision():
    truths, scores = labelled()
    return {
        "y_true": truths.tolist(),
        "scores": scores.tolist(),
        "average_precision": metrics.average_precision_score(truths, scores),
        "no_skill_prevalence": float(truths.mean()),
    }


def precision_recall_curve():
    truths, scores = labelled()
    precision, recall, thresholds = metrics.precision_recall_curve(truths, scores)
    return {
        "y_true": truths.tolist(),
        "scores": scores.tolist(),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "thresholds": thresholds.tolist(),
    }


def binary_metrics():
    truths, scores = labelled()
    said = (scores >= random.random()).astype(int)
    undefined = {"zero_division": np.nan}
    return {
        "y_true": truths.tolist(),
        "y_pred": said.tolist(),
        "accuracy": metrics.accuracy_score(truths, said),
        "precision": number(metrics.precision_score(truths, said, **undefined)),
        "recall": number(metrics.recall_score(truths, said, **undefined)),
        "f1_sklearn_zero_division_0": number(metrics.f1_score(truths, said, zero_division=0)),
        "precision_negative_label": number(metrics.precision_score(truths, said, pos_label=0, **undefined)),
        "specificity": number(metrics.recall_score(truths, said, pos_label=0, **undefined)),
    }


def wasserstein_1d():
    u, v = tied(int(random.integers(1, 60))), tied(int(random.integers(1, 60)))
    return {"u": u.tolist(), "v": v.tolist(), "distance": stats.wasserstein_distance(u, v)}


def spearman_ties():
    size = int(random.integers(3, 30))
    x, y = tied(size), tied(size)
    constant = len(set(x)) == 1 or len(set(y)) == 1
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "rho": None if constant else number(stats.spearmanr(x, y).statistic),
        "rank_x": stats.rankdata(x).tolist(),
        "rank_y": stats.rankdata(y).tolist(),
    }


def percentile_cutoff():
    scores = tied(int(random.integers(1, 90)))
    case = {"scores": scores.tolist()}
    for p in ["5", "50", "75", "90", "97_5"]:
        cutoff = float(np.percentile(scores, float(p.replace("_", "."))))
        case[f"p{p}"] = {"cutoff": cutoff, "accepted_idx": np.flatnonzero(scores >= cutoff).tolist()}
    return case


def pass_at_k():
    n = int(random.choice([5, 20, 100, 1000, 5000]))
    c, k = int(random.integers(0, n + 1)), int(random.integers(1, n + 1))
    missed = Fraction(math.comb(n - c, k), math.comb(n, k))
    return {"n": n, "c": c, "k": k, "pass_at_k": float(1 - missed)}


def paper1_table5_ci_reconstruction():
    n = int(random.integers(1, 900))
    gained = int(random.integers(0, n + 1))
    interval = [float(stats.binom.ppf(q, n, gained / n)) for q in (0.025, 0.975)]
    return {"row": "any", "prev": 0, "cur": gained, "n": n, "binom_ppf_ci": interval}


def bootstrap_ci():
    size = int(random.integers(2, 40))
    a, b = random.random(size), random.random(size)
    places = random.integers(0, size, (int(random.integers(5, 200)), size))
    interval = lambda values: np.percentile(values[places].mean(axis=1), [2.5, 97.5]).tolist()
    return {
        "a": a.tolist(),
        "b": b.tolist(),
        "resample_indices": places.tolist(),
        "mean_b": float(b.mean()),
        "ci95_mean_b": interval(b),
        "diff": float((b - a).mean()),
        "ci95_diff": interval(b - a),
    }


def reliability():
    truths, scores = labelled()
    bins = int(random.choice([1, 4, 5, 10]))
    shares, means = calibration_curve(truths, scores, n_bins=bins)
    counts = np.bincount(np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], scores), minlength=bins)
    errors = np.abs(shares - means)
    return {
        "y_true": truths.tolist(),
        "scores": scores.tolist(),
        "bins": bins,
        "counts": counts.tolist(),
        "mean_scores": means.tolist(),
        "shares_right": shares.tolist(),
        "expected_error": float((errors * counts[counts > 0]).sum() / len(scores)),
        "maximum_error": float(errors.max()),
        "brier": float(metrics.brier_score_loss(truths, scores)),
    }


def risk_coverage():
    truths, scores = labelled()
    scores = scores * random.choice([1.0, 100.0])
    thresholds = np.unique(scores)[::-1]
    area = 0.0
    for shown in range(1, len(scores) + 1):
        # Of the items with the lowest score shown some are drawn.
        last = np.sort(scores)[::-1][shown - 1]
        above, equal = truths[scores > last], truths[scores == last]
        drawn = shown - len(above)
        numbers = np.arange(drawn + 1)
        wrong = numbers @ stats.hypergeom.pmf(numbers, len(equal), int((1 - equal).sum()), drawn)
        area += ((1 - above).sum() + wrong) / shown / len(scores)
    best = np.sort(1 - truths)
    return {
        "y_true": truths.tolist(),
        "scores": scores.tolist(),
        "thresholds": thresholds.tolist(),
        "coverage": [float((scores >= at).mean()) for at in thresholds],
        "risk": [float((1 - truths[scores >= at]).mean()) for at in thresholds],
        "area": float(area),
        "best_area": float((np.cumsum(best) / np.arange(1, len(best) + 1)).mean()),
        "no_skill": float((1 - truths).mean()),
    }


def operating_point():
    truths, scores = labelled()
    target = float(random.choice([0.3, 0.5, 0.7, 0.9, 1.0]))
    precision, recall, thresholds = metrics.precision_recall_curve(truths, scores)
    reach = np.flatnonzero(precision[:-1] >= target)
    case = {"y_true": truths.tolist(), "scores": scores.tolist(), "target": target}
    if len(reach) == 0:
        return case | {"threshold": None, "precision": None, "recall": None, "coverage": None}
    at = reach[0]
    return case | {
        "threshold": float(thresholds[at]),
        "precision": float(precision[at]),
        "recall": float(recall[at]),
        "coverage": float((scores >= thresholds[at]).mean()),
    }


def two_classes():
    """Labels of both classes; in some cases the scores tell them apart without fault."""
    truths, scores = labelled()
    truths[0], truths[-1] = 0, 1
    if random.random() < 0.3:
        scores = (truths + random.random(len(truths))) / 2
    return truths, scores * random.choice([1.0, 100.0])


def isotonic():
    truths, scores = two_classes()
    at = np.concatenate([scores, random.random(20) * 1.4 * scores.max() - 0.2])
    fitted = IsotonicRegression(out_of_bounds="clip").fit(scores, truths)
    return {
        "y_true": truths.tolist(),
        "scores": scores.tolist(),
        "at": at.tolist(),
        "probabilities": fitted.predict(at).tolist(),
    }


def platt():
    truths, scores = two_classes()
    while len(set(scores)) == 1:
        truths, scores = two_classes()
    right, wrong = int(truths.sum()), int((1 - truths).sum())
    targets = np.where(truths == 1, (right + 1) / (right + 2), 1 / (wrong + 2))
    scale = np.ptp(scores)
    x = scores / scale
    # Each item once as true and once as false, weighted by its target: a fit close by, which is then made exact.
    rough = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(
        np.concatenate([x, x])[:, None],
        np.repeat([1, 0], len(x)),
        np.concatenate([targets, 1 - targets]),
    )

    def gradient(parameters):
        off = special.expit(parameters[0] * x + parameters[1]) - targets
        return [(off * x).sum(), off.sum()]

    start = [rough.coef_[0, 0], rough.intercept_[0]]
    exact = optimize.root(gradient, start, tol=1e-14).x
    assert np.allclose(exact, start, rtol=1e-4, atol=1e-4), (exact, start)
    assert np.abs(gradient(exact)).max() < 1e-11, gradient(exact)
    at = np.concatenate([scores, random.random(20) * 1.4 * scores.max() - 0.2])
    return {
        "y_true": truths.tolist(),
        "scores": scores.tolist(),
        "at": at.tolist(),
        "probabilities": special.expit(exact[0] * at / scale + exact[1]).tolist(),
        "slope": float(exact[0] / scale),
        "intercept": float(exact[1]),
    }


def paired_ratio_differences():
    size = int(random.integers(2, 40))
    places = random.integers(0, size, (int(random.integers(5, 200)), size))
    below = random.integers(0, 4, (2, size))
    above = random.integers(0, below + 1)
    below[:, 0] = 1

    def differences(picked):
        above_, below_ = above[:, picked].sum(axis=-1), below[:, picked].sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = above_ / below_
        return ratios[1] - ratios[0]

    drawn = differences(places)
    drawn = drawn[np.isfinite(drawn)]
    return {
        "a": np.stack([above[0], below[0]], axis=1).tolist(),
        "b": np.stack([above[1], below[1]], axis=1).tolist(),
        "resample_indices": places.tolist(),
        "difference": float(differences(np.arange(size))),
        "ci95_difference": np.percentile(drawn, [2.5, 97.5]).tolist() if len(drawn) else None,
    }


def committee():
    size = int(random.integers(2, 7))
    numbers, briers = random.random(size), random.uniform(0.01, 0.6, size)
    slopes, intercepts = random.normal(0, 4, size), random.normal(0, 2, size)
    threshold = float(random.choice([0.3, 0.5, 0.8]))
    calibrated = special.expit(slopes * numbers + intercepts)
    share, mean = np.mean(numbers >= threshold), calibrated.mean()
    weighted = np.average(calibrated, weights=1 / briers)
    return {
        "numbers": numbers.tolist(),
        "fits": [{"slope": a, "intercept": b} for a, b in zip(slopes.tolist(), intercepts.tolist())],
        "brier": briers.tolist(),
        "threshold": threshold,
        "majority": [float(share), bool(share > 0.5)],
        "mean": [float(mean), bool(mean >= threshold)],
        "weighted": [float(weighted), bool(weighted >= threshold)],
        "weights": (1 / briers / (1 / briers).sum()).tolist(),
    }


def cascade_curve():
    size, steps = int(random.integers(2, 40)), int(random.choice([4, 10, 20]))
    # Tasks in their order as texts, and money whose sums are exact.
    instances = np.sort(random.integers(0, 9, size))
    truths = random.integers(0, 2, size)
    scores = [np.round(random.random(size), 2) * (random.random(size) < 0.7) for _ in range(2)]
    money = [random.integers(0, 64, size) / 64 + 1 / 64, random.integers(64, 640, size) / 64]

    def point(band, asked, costs):
        shown = np.where(asked, scores[1], scores[0]) > 0
        rates = [truths[shown & (instances == one)].mean() for one in np.unique(instances[shown])]
        undefined = {"zero_division": np.nan}
        return {
            "band": band,
            "asked": int(asked.sum()),
            "shown": int(shown.sum()),
            "precision": number(metrics.precision_score(truths, shown, **undefined)),
            "recall": number(metrics.recall_score(truths, shown, **undefined)),
            "success_at_1": float(np.mean(rates)) if rates else None,
            "money": float(costs.mean()),
        }

    none, all_ = np.zeros(size, bool), np.ones(size, bool)
    points, seen = [point(None, none, money[0]), point(None, all_, money[1])], {none.tobytes()}
    for width in range(1, steps + 1):
        for low in range(steps + 1 - width):
            band = [low / steps, (low + width) / steps]
            asked = (scores[0] >= band[0]) & (scores[0] <= band[1])
            if asked.tobytes() not in seen:
                seen.add(asked.tobytes())
                points.append(point(band, asked, money[0] + asked * money[1]))
    values = np.array([[-one["money"], one["precision"] or 0, one["recall"] or 0] for one in points])
    for one, own in zip(points, values):
        one["is_best"] = bool(not ((values >= own).all(axis=1) & (values > own).any(axis=1)).any())
    return {
        "instances": instances.tolist(),
        "y_true": truths.tolist(),
        "first": scores[0].tolist(),
        "first_money": money[0].tolist(),
        "second": scores[1].tolist(),
        "second_money": money[1].tolist(),
        "step": 1 / steps,
        "points": points,
    }


def kendall_tau_b():
    size = int(random.integers(1, 12))
    x, y = tied(size), tied(size)
    return {"x": x.tolist(), "y": y.tolist(), "tau_b": number(stats.kendalltau(x, y).statistic)}


def spread():
    values = tied(int(random.integers(1, 30))) * 10
    lower, median, upper = np.percentile(values, [25, 50, 75])
    return {
        "values": values.tolist(),
        "spread": {
            "count": len(values),
            "mean": float(np.mean(values)),
            "least": float(np.min(values)),
            "lower_quartile": float(lower),
            "median": float(median),
            "upper_quartile": float(upper),
            "most": float(np.max(values)),
        },
    }


def net_value_thresholds():
    truths, scores = labelled()
    value, cost, run, review = (int(v) for v in random.integers(0, [100, 20, 10, 10]) + 1)

    def at(price, threshold):
        taken = scores >= threshold
        right = int(truths[taken].sum())
        chance = truths[taken].mean() if taken.any() else None
        each = None if chance is None else float(chance * value + (1 - chance) * -cost - price)
        worth = np.where(taken, np.where(truths == 1, value - price, -cost - price), -cost)
        return {
            "threshold": float(threshold),
            "taken": int(taken.sum()),
            "right": right,
            "left": int((~taken).sum()),
            "per_taken": each,
            "per_left": -cost,
            "per_item": float(worth.mean()),
            "gain": float((worth + cost).mean()),
        }

    def decision(price):
        gains = {}
        for score in sorted(set(scores.tolist())):
            taken = truths[scores >= score]
            gains[score] = int(taken.sum()) * (value + cost) - len(taken) * price
        losing_nothing = [score for score in gains if gains[score] >= 0]
        all_ = gains[min(gains)]
        best = max(losing_nothing, key=lambda score: (gains[score], score), default=None)
        return {
            "points": [at(price, threshold) for threshold in thresholds],
            "break_even_threshold": 0 if all_ >= 0 else min(losing_nothing, default=None),
            "best_threshold": best,
        }

    thresholds = [0, 0.25, 0.5, 1, 1.5]
    return {
        "V_b": value,
        "C_b": cost,
        "R_c": run,
        "H_c": review,
        "y_true": truths.tolist(),
        "scores": scores.tolist(),
        "thresholds": thresholds,
        "attempt": decision(run),
        "show": decision(review),
    }


def progress_order():
    patches, tests = int(random.integers(1, 7)), int(random.integers(1, 4)) * (70 if random.random() < 0.2 else 1)
    passed = (random.random((patches, tests)) < random.random((patches, 1))).tolist()
    passed = [[None if random.random() < 0.1 else bool(test) for test in row] for row in passed]
    scores = [None if random.random() < 0.1 else float(score) for score in tied(patches)]
    pairs = []
    for behind in range(patches):
        for further in range(patches):
            both = [t for t in range(tests) if None not in (passed[behind][t], passed[further][t])]
            of_behind, of_further = ({t for t in both if passed[at][t]} for at in (behind, further))
            if of_behind < of_further:
                pairs.append([behind, further])
    signs = [
        int(np.sign(scores[further] - scores[behind]))
        for behind, further in pairs
        if None not in (scores[behind], scores[further])
    ]
    counts = {word: signs.count(sign) for word, sign in (("concordant", 1), ("ties", 0), ("discordant", -1))}
    counts["pairs"] = len(signs)
    pairs.sort(key=lambda pair: (min(pair), max(pair)))
    return {
        "passed": passed,
        "scores": scores,
        "pairs": pairs,
        "counts": counts,
        "share_concordant": counts["concordant"] / len(signs) if signs else None,
        "share_respected": (counts["concordant"] + counts["ties"]) / len(signs) if signs else None,
    }


def agreement():
    answers, raters, items = int(random.integers(2, 5)), int(random.integers(2, 6)), int(random.integers(2, 30))
    truth = random.integers(0, answers, (items, 1))
    other = random.integers(0, answers, (items, raters))
    said = np.where(random.random((items, raters)) < 0.6, truth, other).astype(float)
    said[random.random((items, raters)) < 0.15] = np.nan
    both = said[~np.isnan(said[:, :2]).any(axis=1), :2].astype(int)
    whole = said[~np.isnan(said).any(axis=1)].astype(int)

    def cohen(weights):
        # Of items that all are one answer it has a word of warning and no number.
        if len(both) == 0 or len(np.unique(both)) == 1:
            return None
        return number(metrics.cohen_kappa_score(both[:, 0], both[:, 1], labels=range(answers), weights=weights))

    def fleiss():
        if len(whole) == 0 or len(np.unique(whole)) == 1:
            return None
        table = np.array([[np.count_nonzero(row == answer) for answer in range(answers)] for row in whole])
        return number(fleiss_kappa(table))

    def alpha(level):
        spoken = said[np.count_nonzero(~np.isnan(said), axis=1) >= 2]
        if len(np.unique(spoken[~np.isnan(spoken)])) < 2:
            return None
        return number(krippendorff.alpha(reliability_data=said.T, level_of_measurement=level))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "answers": answers,
            "said": [[None if math.isnan(one) else int(one) for one in row] for row in said],
            "cohen": cohen(None),
            "cohen_quadratic": cohen("quadratic"),
            "fleiss": fleiss(),
            "alpha_nominal": alpha("nominal"),
            "alpha_ordinal": alpha("ordinal"),
        }


def mcnemar():
    first, second = (int(of) for of in random.integers(0, 400 if random.random() < 0.3 else 12, 2))
    several = random.random(int(random.integers(1, 9))) ** 3
    return {
        "only_first": first,
        "only_second": second,
        "several": several.tolist(),
        "p_exact": min(1.0, float(mcnemar_test([[7, first], [second, 5]], exact=True).pvalue)),
        "holm": multipletests(several, method="holm")[1].tolist(),
    }


QUANTITIES = [
    average_precision,
    precision_recall_curve,
    binary_metrics,
    wasserstein_1d,
    spearman_ties,
    percentile_cutoff,
    pass_at_k,
    paper1_table5_ci_reconstruction,
    bootstrap_ci,
    reliability,
    risk_coverage,
    operating_point,
    isotonic,
    platt,
    paired_ratio_differences,
    committee,
    cascade_curve,
    kendall_tau_b,
    spread,
    net_value_thresholds,
    progress_order,
    agreement,
    mcnemar,
]
json.dump(
    [
        {"name": of.__name__, "abs_tolerance": 1e-9, "cases": [of() for _ in range(40)]}
        for of in QUANTITIES
    ],
    sys.stdout,
)
