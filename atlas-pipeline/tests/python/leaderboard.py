"""Computes intervals and paired tests of a leaderboard anew; prints what differs from what the command printed, as JSON.

Arguments: the dataset (JSON lines), what the command printed, and MODEL=REPORT files.
"""

import json
import math
import sys

import numpy as np
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

ids = [json.loads(line)["instance_id"] for line in open(sys.argv[1])]
printed = json.load(open(sys.argv[2]))["statistics"]
attempts = {}
for argument in sys.argv[3:]:
    model, path = argument.split("=", 1)
    report = json.load(open(path))
    of = attempts.setdefault(model, {})
    for instance in report["submitted_ids"]:
        n, c = of.get(instance, (0, 0))
        of[instance] = (n + 1, c + (instance in report["resolved_ids"]))


def pass_at(n, c, k):
    n = max(n, k)
    return 1.0 if n - c < k else 1.0 - math.comb(n - c, k) / math.comb(n, k)


wrong = []


def same(name, expected, got, tolerance=1e-9):
    if expected is None or got is None:
        if expected is not got:
            wrong.append([name, expected, got])
    elif abs(expected - got) > tolerance:
        wrong.append([name, float(expected), got])


# Another generator draws other instances: with 20,000 draws of some hundred values ends differ by less than this.
DRAWN = 0.01
random = np.random.default_rng(7)
places = random.integers(0, len(ids), (20_000, len(ids)))
ks = sorted({pair["k"] for pair in printed["pairs"]})
values = {(m, k): np.array([pass_at(*of.get(i, (0, 0)), k) for i in ids]) for m, of in attempts.items() for k in ks}
checked = 0
for model, of in attempts.items():
    got = printed["models"][model]
    solved = sum(of.get(i, (0, 0))[1] > 0 for i in ids)
    low, high = proportion_confint(solved, len(ids), method="wilson")
    same(f"{model} solved", solved / len(ids), got["solved_share"]["value"])
    same(f"{model} wilson low", low, got["solved_share"]["interval"]["low"])
    same(f"{model} wilson high", high, got["solved_share"]["interval"]["high"])
    for k in ks:
        means = values[model, k][places].mean(axis=1)
        estimate = got["pass_at"][str(k)]
        same(f"{model} pass@{k}", values[model, k].mean(), estimate["value"])
        same(f"{model} pass@{k} low", np.percentile(means, 2.5), estimate["interval"]["low"], DRAWN)
        same(f"{model} pass@{k} high", np.percentile(means, 97.5), estimate["interval"]["high"], DRAWN)
        checked += 1
for k in ks:
    pairs = [pair for pair in printed["pairs"] if pair["k"] == k]
    exact = []
    for pair in pairs:
        first, second = values[pair["first"], k], values[pair["second"], k]
        name = f"{pair['first']}/{pair['second']}@{k}"
        difference = first - second
        drawn = difference[places].mean(axis=1)
        same(f"{name} difference", difference.mean(), pair["difference"]["value"])
        same(f"{name} low", np.percentile(drawn, 2.5), pair["difference"]["interval"]["low"], DRAWN)
        same(f"{name} high", np.percentile(drawn, 97.5), pair["difference"]["interval"]["high"], DRAWN)
        if not (np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all()):
            same(f"{name} p", None, pair["p"])
            continue
        one, other = int((difference > 0).sum()), int((difference < 0).sum())
        p = min(1.0, float(mcnemar([[0, one], [other, 0]], exact=True).pvalue))
        same(f"{name} p", p, pair["p"])
        exact.append((p, pair["p_holm"]))
        checked += 1
    if exact:
        for at, adjusted in enumerate(multipletests([p for p, _ in exact], method="holm")[1]):
            same(f"holm {at}@{k}", adjusted, exact[at][1])
print(json.dumps({"wrong": wrong, "checked": checked}))
