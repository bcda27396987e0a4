"""Prints files of stored values, computed by NumPy, SciPy, scikit-learn and exact fractions.

One JSON list of files in the form that `atlas metrics --check` takes. The seed is the first argument.
"""

import json
import math
import sys
from fractions import Fraction

import numpy as np
from scipy import stats
from sklearn import metrics

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
]
json.dump(
    [
        {"name": of.__name__, "abs_tolerance": 1e-9, "cases": [of() for _ in range(40)]}
        for of in QUANTITIES
    ],
    sys.stdout,
)
