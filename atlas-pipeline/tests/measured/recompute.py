"""Every number of `atlas metrics --format json`, computed a second time from the lines themselves.

Nothing here is fast or clever: sets of runs are listed one by one, shares are exact fractions, and each
quantity is written down as its definition says. Left out are what `options` repeats, the notes, which
are sentences, and the bootstrap intervals, which hang on a generator of random numbers.

    python3 recompute.py [--tau 0.5] [--percentiles 75,90] … FILE…
"""

import argparse
import json
import math
from fractions import Fraction
from functools import cache
from itertools import combinations


def read(files):
    """Patches by (instance, agent, patch), each with all that its lines say, and the number of lines."""
    patches, lines = {}, 0
    for file in files:
        with open(file, encoding="utf-8") as text:
            for line in text:
                if not line.strip():
                    continue
                lines += 1
                said = json.loads(line)
                patch = patches.setdefault(
                    (said["instance_id"], said["agent"], said["patch_id"]),
                    {"bug": said["instance_id"], "agent": said["agent"], "critics": {}},
                )
                for field in ("resolved", "tests", "abstention", "deterministic", "validation", "kind", "patch_size"):
                    if said.get(field) is not None:
                        patch[field] = said[field]
                critic = said.get("critic")
                if critic is not None:
                    patch["critics"][critic.get("variant") or ""] = critic
    return [patch for patch in patches.values() if "resolved" in patch], lines


def share(part, whole):
    return Fraction(part, whole) if whole else None


def mean(values):
    values = [Fraction(value) for value in values]
    return sum(values) / len(values) if values else None


def grouped(items, of):
    groups = {}
    for item in items:
        groups.setdefault(of(item), []).append(item)
    return groups


def confusion(pairs):
    """Of (truth, said)."""
    pairs = list(pairs)
    return {
        "tp": sum(truth and said for truth, said in pairs),
        "fp": sum(said and not truth for truth, said in pairs),
        "fn": sum(truth and not said for truth, said in pairs),
        "tn": sum(not truth and not said for truth, said in pairs),
    }


# Chances within k runs.


@cache
def chance(good, all_, k):
    """That k of `all_` runs, of which `good` are good, have a good one: every choice is looked at."""
    choices = list(combinations(range(all_), k))
    hits = sum(any(run < good for run in choice) for choice in choices)
    return Fraction(hits, len(choices))


def at_k(bugs, k, beyond):
    """The mean over bugs, each (good runs, runs)."""
    chances = []
    for good, runs in bugs:
        if runs == 0 or (k > runs and beyond == "exclude"):
            continue
        chances.append(chance(good, runs, min(k, runs)))
    return {"value": mean(chances), "bugs_counted": len(chances)}


# Scores.


def percentile(values, percent):
    """The linear rule of NumPy: the place among the ordered values is percent of the last place."""
    values = sorted(Fraction(value) for value in values)
    if not values:
        return None
    place = Fraction(percent) / 100 * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def curve(items):
    """Precision and recall of (truth, score) at each distinct score, and the average precision."""
    right = sum(truth for truth, _ in items)
    if right == 0:
        return None, None
    found = {"precision": [], "recall": [], "thresholds": [], "shown": []}
    for threshold in sorted({score for _, score in items}):
        kept = [truth for truth, score in items if score >= threshold]
        found["thresholds"].append(threshold)
        found["precision"].append(Fraction(sum(kept), len(kept)))
        found["recall"].append(Fraction(sum(kept), right))
        found["shown"].append(Fraction(len(kept), len(items)))
    found["precision"].append(1)
    found["recall"].append(0)
    rises = zip(found["recall"], found["recall"][1:])
    average = sum(p * (now - next_) for p, (now, next_) in zip(found["precision"], rises))
    return found, average


def wasserstein(left, right):
    """The area between the two distribution functions."""
    left, right = [Fraction(v) for v in left], [Fraction(v) for v in right]
    places = sorted({*left, *right})
    area = Fraction(0)
    for here, there in zip(places, places[1:]):
        of_left = Fraction(sum(v <= here for v in left), len(left))
        of_right = Fraction(sum(v <= here for v in right), len(right))
        area += abs(of_left - of_right) * (there - here)
    return area


def calibration(items, bins=10):
    """Of (truth, score): how far scores mean what they say, and the risk the more is shown."""
    items = [(truth, score) for truth, score in items]
    if not items:
        return None
    found = {"bins": [], "maximum_error": Fraction(0)}
    expected = Fraction(0)
    for at in range(bins):
        # As doubles, as the command has them.
        low, high = at / bins, (at + 1) / bins
        inside = [(t, s) for t, s in items if low < s <= high or (at == 0 and s == 0)]
        said = mean(score for _, score in inside)
        true = mean(truth for truth, _ in inside)
        found["bins"].append(
            {
                "from": low,
                "to": high,
                "count": len(inside),
                "right": sum(truth for truth, _ in inside),
                "mean_score": said,
                "share_right": true,
            }
        )
        if inside:
            expected += len(inside) * abs(said - true)
            found["maximum_error"] = max(found["maximum_error"], abs(said - true))
    found["expected_error"] = expected / len(items)
    found["brier"] = mean((Fraction(score) - truth) ** 2 for truth, score in items)
    curve_ = {"thresholds": sorted({score for _, score in items}, reverse=True), "coverage": [], "risk": []}
    for threshold in curve_["thresholds"]:
        kept = [not truth for truth, score in items if score >= threshold]
        curve_["coverage"].append(Fraction(len(kept), len(items)))
        curve_["risk"].append(mean(kept))
    wrongs = Fraction(0)
    for shown in range(1, len(items) + 1):
        last = sorted((score for _, score in items), reverse=True)[shown - 1]
        sure = [not truth for truth, score in items if score > last]
        equal = [not truth for truth, score in items if score == last]
        # Those of the equal ones that are shown are any of them.
        wrongs += (sum(sure) + (shown - len(sure)) * mean(equal)) / shown
    curve_["area"] = wrongs / len(items)
    right = sum(truth for truth, _ in items)
    curve_["best_area"] = mean(Fraction(max(0, shown - right), shown) for shown in range(1, len(items) + 1))
    curve_["no_skill"] = Fraction(len(items) - right, len(items))
    return {"items": len(items), "right": right, "reliability": found, "risk_coverage": curve_}


def over(bugs, found):
    return None if found is None else found | {"bugs": len(set(bugs))}


# Ranks.


def ranks(values):
    """From 1; equal values share the mean of their places."""
    return [
        sum(other < value for other in values) + Fraction(sum(other == value for other in values) + 1, 2)
        for value in values
    ]


def spearman(pairs):
    """Pearson's correlation of the ranks, as (sign, its square), or None."""
    if len(pairs) < 2:
        return None
    x, y = ranks([pair[0] for pair in pairs]), ranks([pair[1] for pair in pairs])
    middle_x, middle_y = mean(x), mean(y)
    together = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y))
    spread_x = sum((a - middle_x) ** 2 for a in x)
    spread_y = sum((b - middle_y) ** 2 for b in y)
    if spread_x == 0 or spread_y == 0:
        return None
    return (together > 0) - (together < 0), together**2 / (spread_x * spread_y)


def kendall(pairs):
    """Of all pairs of places: those in the same order less those in the opposite one; tau-b."""
    sign = lambda a, b: (a > b) - (a < b)
    signs = [(sign(a[0], b[0]), sign(a[1], b[1])) for a, b in combinations(pairs, 2)]
    of_x, of_y = (sum(abs(one[side]) for one in signs) for side in (0, 1))
    return sum(x * y for x, y in signs) / math.sqrt(of_x * of_y) if of_x and of_y else None


def number(rho):
    return None if rho is None else rho[0] * math.sqrt(rho[1])


def tenth(rho):
    """The place of a correlation among the tenths from -1 to 1, exact at their borders."""
    sign, square = rho
    signed = sign * square
    at = 0
    for candidate in range(20):
        border = Fraction(candidate - 10, 10)
        if signed >= border * abs(border):
            at = candidate
    return at


# Policies.


class Policy:
    """Stages a patch has to pass to be shown; `percent` of None is the judgement itself."""

    def __init__(self, name, abstains=False, nonempty=False, stages=False, validates=False, percent=None):
        self.name, self.abstains, self.nonempty, self.stages = name, abstains, nonempty, stages
        self.validates, self.percent = validates, percent


def attempted(patch, options):
    return patch["abstention"]["probability"] >= options.tau


def passed(patch):
    """None where no stage was run; a validation that says nothing of stages had none before it."""
    if "deterministic" in patch:
        return patch["deterministic"]["passed"]
    return True if "validation" in patch else None


def cut_off(patches, policy, options):
    """The percentile over the scores of what got to validation."""
    if policy.percent is None:
        return None
    scores = []
    for patch in patches:
        if not passed(patch) or patch.get("validation", {}).get("score") is None:
            continue
        if policy.abstains and options.population == "attempted":
            if "abstention" not in patch or not attempted(patch, options):
                continue
        scores.append(patch["validation"]["score"])
    return percentile(scores, policy.percent)


def decide(patch, policy, cutoff, options):
    """(got to validation, is shown), or None where the lines do not say."""
    if policy.abstains:
        if "abstention" not in patch:
            return None
        if not attempted(patch, options):
            return False, False
    if policy.nonempty:
        if "patch_size" not in patch:
            return None
        if patch["patch_size"]["files"] == 0:
            return False, False
    if policy.stages:
        through = passed(patch)
        if through is None:
            return None
        if not through:
            return False, False
    if not policy.validates:
        return True, True
    said = patch.get("validation")
    if said is None:
        return None
    if policy.percent is None:
        return True, said["accepted"]
    if said.get("score") is None:
        return None
    # A score of 0 is a review that said no: it is hidden however low the cut-off.
    return True, Fraction(said["score"]) >= cutoff and said["score"] > 0


def lift(decided):
    """By kind, over its bugs: the mean share of right patches among the kept over that among all."""
    found = {}
    for kind, of_kind in grouped((d for d in decided if d[0].get("kind")), lambda d: d[0]["kind"]).items():
        before, after = [], []
        for of_bug in grouped(of_kind, lambda d: d[0]["bug"]).values():
            before.append(mean(patch["resolved"] for patch, _ in of_bug))
            kept = [patch["resolved"] for patch, (_, shown) in of_bug if shown]
            if kept:
                after.append(mean(kept))
        found[kind] = mean(after) / mean(before) if after and mean(before) else None
    return found


def spread(values):
    if not values:
        return None
    return {
        "count": len(values),
        "mean": mean(values),
        "least": min(values),
        "lower_quartile": percentile(values, 25),
        "median": percentile(values, 50),
        "upper_quartile": percentile(values, 75),
        "most": max(values),
    }


def sizes_of(patches):
    sizes = [patch["patch_size"] for patch in patches]
    return {
        "patches": len(sizes),
        "line_operations": spread([size["added"] + size["removed"] for size in sizes]),
        **{part: mean(size[part] for size in sizes) for part in ("added", "removed", "files", "hunks")},
    }


def sizes_by_decision(judged):
    """Of patches that got as far as the last stage, by what was decided and by what was true."""
    sized = [(patch, shown) for patch, (there, shown) in judged if there and "patch_size" in patch]
    if not sized:
        return None
    found = {}
    for word, wanted in (("accepted", True), ("rejected", False)):
        these = [patch for patch, shown in sized if shown == wanted]
        found[word] = sizes_of(these)
        found[word + "_right"] = sizes_of([patch for patch in these if patch["resolved"]])
        found[word + "_wrong"] = sizes_of([patch for patch in these if not patch["resolved"]])
    return found


def policy_row(patches, policy, ks, options):
    cutoff = cut_off(patches, policy, options)
    decided = [(patch, decide(patch, policy, cutoff, options)) for patch in patches]
    judged = [(patch, decision) for patch, decision in decided if decision is not None]
    counts = confusion((patch["resolved"], shown) for patch, (_, shown) in judged)
    tp, fp, fn, tn = (counts[name] for name in ("tp", "fp", "fn", "tn"))
    reached = sum(not patch["resolved"] and there for patch, (there, _) in judged)
    those = confusion((patch["resolved"], shown) for patch, (there, shown) in judged if there)
    bugs = [
        [(patch["resolved"], shown) for patch, (_, shown) in of_bug]
        for of_bug in grouped(judged, lambda d: d[0]["bug"]).values()
    ]
    both = [sum(right and shown for right, shown in runs) for runs in bugs]
    left = [sum(shown for _, shown in runs) for runs in bugs]
    successes = [sum(right for right, _ in runs) for runs in bugs]

    def curve_of(whole):
        return {str(k): at_k(list(zip(both, whole)), k, options.beyond) for k in ks}

    return {
        "name": policy.name,
        "judged": len(judged),
        "unjudged": len(decided) - len(judged),
        "shown": tp + fp,
        "shown_share": share(tp + fp, len(judged)),
        "bugs_shown": sum(runs > 0 for runs in left),
        "counts": counts,
        "precision": share(tp, tp + fp),
        "recall": share(tp, tp + fn),
        "f1": share(2 * tp, 2 * tp + fp + fn),
        "accuracy": share(tp + tn, len(judged)),
        "specificity": share(tn, tn + fp),
        "false_positives": {
            "false_positives": fp,
            "negatives": fp + tn,
            "negatives_reached": reached,
            "of_all": share(fp, fp + tn),
            "of_reached": share(fp, reached),
        },
        "reached": those,
        "cutoff": cutoff,
        "success_at": curve_of(left),
        "pass_and_validation_at": curve_of([len(runs) for runs in bugs]),
        "recall_at": curve_of(successes),
        "lift": lift(judged),
        "sizes": sizes_by_decision(judged),
    }


def step(name, patches):
    of_bugs = grouped(patches, lambda patch: patch["bug"]).values()
    return {
        "name": name,
        "bugs": len({patch["bug"] for patch in patches}),
        "patches": len(patches),
        "resolved": sum(patch["resolved"] for patch in patches),
        "success_at_1": mean(mean(patch["resolved"] for patch in of) for of in of_bugs),
    }


def funnel(patches, policies, options):
    """What is left after each stage, one upon the other; but percentiles are alternatives."""
    steps = [step("candidates", patches)]
    left = [patch for patch in patches if "abstention" in patch and attempted(patch, options)]
    steps.append(step("of attempted tasks", left))
    left = [patch for patch in left if passed(patch)]
    steps.append(step("passed deterministic stages", left))
    left = [patch for patch in left if patch.get("validation", {}).get("accepted")]
    steps.append(step("accepted by validation", left))
    strict = {policy.percent: policy for policy in policies if policy.abstains and policy.percent is not None}
    for _, policy in sorted(strict.items()):
        cutoff = cut_off(patches, policy, options)
        high = [patch for patch in patches if (decide(patch, policy, cutoff, options) or (0, 0))[1]]
        steps.append(step(f"score at or above p{policy.percent:g}", high))
    return steps


def histogram(probabilities, rates):
    # As doubles, as the edges are.
    probabilities, rates = [float(p) for p in probabilities], [float(rate) for rate in rates]
    found = []
    for at in range(10):
        low, high = at / 10, (at + 1) / 10
        inside = lambda value: low < value <= high or (at == 0 and value == 0)
        of = [rate for probability, rate in zip(probabilities, rates) if inside(probability)]
        found.append(
            {
                "from": low,
                "to": high,
                "solved": sum(2 * rate > 1 for rate in of),
                "unsolved": sum(2 * rate <= 1 for rate in of),
                "success_rates": sum(map(inside, rates)),
            }
        )
    return found


def sweep(items, price, grid, worth):
    """Of (right, score): what each is worth from a threshold on, one by one, in the paper's own formula."""
    value, cost = worth["fix"], worth["open"]

    def gains(threshold):
        """Over leaving it, of each item that is taken."""
        return [(value if right else -cost) - price + cost for right, score in items if score >= threshold]

    points = []
    for threshold in sorted(set(grid)):
        taken = [right for right, score in items if score >= threshold]
        chance = mean(taken)
        points.append(
            {
                "threshold": threshold,
                "taken": len(taken),
                "right": sum(taken),
                "left": len(items) - len(taken),
                "per_taken": None if chance is None else chance * value + (1 - chance) * -cost - price,
                "per_left": -cost,
                "per_item": sum(gains(threshold)) / len(items) - cost,
                "gain": sum(gains(threshold)) / len(items),
            }
        )
    scores = {score for _, score in items}
    fine = [score for score in scores if sum(gains(score)) >= 0]
    return {
        "items": len(items),
        "break_even_chance": price / (value + cost),
        "break_even_threshold": 0 if sum(gains(0)) >= 0 else min(fine, default=None),
        "best_threshold": max(fine, key=lambda score: (sum(gains(score)), score), default=None),
        "points": points,
    }


def values(patches, options):
    if not options.value:
        return {}
    worth = {name: Fraction(number) for name, number in (part.split("=") for part in options.value.split(","))}
    runs = [(patch["resolved"], patch["abstention"]["probability"]) for patch in patches if "abstention" in patch]
    shown = [
        (patch["resolved"], patch["validation"]["score"])
        for patch in patches
        if passed(patch) and patch.get("validation", {}).get("score") is not None
    ]
    places = [percentile([score for _, score in shown], p) for p in [*range(0, 100, 10), *options.percentiles]]
    # Rounded as the command has them: two percentiles may be one double.
    places = [float(place) for place in places]
    return {
        "value": {
            "attempt": sweep(runs, worth["run"], [at / 10 for at in range(11)] + [options.tau], worth),
            "show": sweep(shown, worth["review"], places, worth),
        }
    }


def abstention(patches, options):
    """Task by task: a task has one probability, and all its runs tell how it went."""
    runs = grouped(patches, lambda patch: patch["bug"])
    said = {
        bug: [patch["abstention"] for patch in of if "abstention" in patch] for bug, of in runs.items()
    }
    bugs = [bug for bug in runs if said[bug]]
    if not bugs:
        return None
    probabilities = {bug: [word["probability"] for word in said[bug]] for bug in bugs}
    items = [(any(patch["resolved"] for patch in runs[bug]), mean(probabilities[bug])) for bug in bugs]
    points, average = curve(items)
    (source,) = {word["source"] for bug in bugs for word in said[bug]}
    return {
        "bugs": len(bugs),
        "counts": confusion((fixable, probability >= options.tau) for fixable, probability in items),
        "disagreeing": sum(len(set(probabilities[bug])) > 1 for bug in bugs),
        "source": source,
        "average_precision": average,
        "no_skill": mean(fixable for fixable, _ in items),
        "curve": points,
        "wasserstein": wasserstein(
            [probability for _, probability in items],
            [mean(patch["resolved"] for patch in runs[bug]) for bug in bugs],
        ),
        "histogram": histogram(
            [probability for _, probability in items],
            [mean(patch["resolved"] for patch in runs[bug]) for bug in bugs],
        ),
        "calibration": over(
            bugs,
            calibration(
                [
                    (patch["resolved"], patch["abstention"]["probability"])
                    for patch in patches
                    if "abstention" in patch
                ]
            ),
        ),
    }


def score(patches):
    scored = [patch for patch in patches if patch.get("validation", {}).get("score") is not None]
    if not scored:
        return None
    points, average = curve([(patch["resolved"], patch["validation"]["score"]) for patch in scored])
    (source,) = {patch["validation"]["source"] for patch in scored}
    return {
        "patches": len(scored),
        "source": source,
        "average_precision": average,
        "no_skill": mean(patch["resolved"] for patch in scored),
        "curve": points,
        "calibration": over(
            [patch["bug"] for patch in scored],
            calibration([(patch["resolved"], patch["validation"]["score"]) for patch in scored]),
        ),
    }


def difference(a, b):
    return None if a is None or b is None else {"difference": b - a}


def compared(patches, a, b, options):
    """Two policies over the patches that both judge."""
    cutoffs = [cut_off(patches, policy, options) for policy in (a, b)]
    both = []
    for patch in patches:
        said = [decide(patch, policy, cutoff, options) for policy, cutoff in zip((a, b), cutoffs)]
        if None not in said:
            both.append((patch, said[0][1], said[1][1]))

    def reached(at):
        pairs = [(item[0]["resolved"], item[at]) for item in both]
        counts = confusion(pairs)
        shown = grouped((item for item in both if item[at]), lambda item: item[0]["bug"])
        return {
            "precision": share(counts["tp"], counts["tp"] + counts["fp"]),
            "recall": share(counts["tp"], counts["tp"] + counts["fn"]),
            "accuracy": share(counts["tp"] + counts["tn"], len(pairs)),
            "success_at_1": mean(mean(item[0]["resolved"] for item in of) for of in shown.values()),
        }

    of_a, of_b = reached(1), reached(2)
    return {
        "a": a.name,
        "b": b.name,
        "bugs": len({item[0]["bug"] for item in both}),
        "patches": len(both),
        **{name: difference(of_a[name], of_b[name]) for name in of_a},
    }


def policies_over(name, patches, options, pairs):
    bugs = grouped(patches, lambda patch: patch["bug"])
    ks = list(range(1, min(max([options.max_k, *options.k]), max(len(runs) for runs in bugs.values())) + 1))
    combined = {"abstains": True, "stages": True, "validates": True}
    validation = {"stages": True, "validates": True}
    policies = [
        Policy("show everything"),
        Policy("abstention", abstains=True),
        *(
            [Policy("abstention without empty patches", abstains=True, nonempty=True)]
            if any("patch_size" in patch for patch in patches)
            else []
        ),
        Policy("deterministic stages", stages=True),
        Policy("abstention + deterministic stages", abstains=True, stages=True),
        Policy("validation", **validation),
        *(Policy(f"validation p{p:g}", percent=p, **validation) for p in options.percentiles),
        Policy("abstention + validation", **combined),
        *(Policy(f"abstention + validation p{p:g}", percent=p, **combined) for p in options.percentiles),
    ]
    found = {}
    if pairs:
        found["differences"] = [
            compared(patches, policies[a], policies[b], options) for b in range(len(policies)) for a in range(b)
        ]
    return found | {
        "name": name,
        "bugs": len(bugs),
        "fixable": sum(any(patch["resolved"] for patch in runs) for runs in bugs.values()),
        "patches": len(patches),
        "resolved": sum(patch["resolved"] for patch in patches),
        "ks": ks,
        "policies": [policy_row(patches, policy, ks, options) for policy in policies],
        "funnel": funnel(patches, policies, options),
        "abstention": abstention(patches, options),
        "score": score(patches),
        **values(patches, options),
    }


# Critics.


def after_rule(test, truth, options):
    """The prediction, unless it is an unsure "passes" on a long test. An unknown length is not long."""
    length = test.get("length")
    if length is None:
        length = (truth or {}).get("length")
    unsure = test["confidence"] <= options.low_confidence
    return test["predicted"] and not (unsure and length is not None and length > options.longer_than)


class Judged:
    """One patch under one critic."""

    def __init__(self, patch, said, options):
        tests = said["tests"]
        self.unseen = said.get("unseen", 0) > 0
        truths = {test["id"]: test for test in patch.get("tests", [])}
        self.bug, self.agent, self.resolved = patch["bug"], patch["agent"], patch["resolved"]
        # Of each test: what became of it, what was said, what the rule makes of that, how sure.
        self.tests = [
            (
                truths[test["id"]]["passed"] if test["id"] in truths else None,
                test["predicted"],
                after_rule(test, truths.get(test["id"]), options),
                test["confidence"],
            )
            for test in tests
        ]
        self.known = [test for test in self.tests if test[0] is not None]
        # Whether each prediction came true, and how sure it was; of the patch as a whole, whether it resolves its task.
        self.came_true = []
        for test in tests:
            if test["id"] in truths:
                end = truths[test["id"]]["passed"]
            elif test["id"] == "(patch)" and not (test["predicted"] and self.unseen):
                end = patch["resolved"]
            else:
                continue
            self.came_true.append((end == test["predicted"], test["confidence"] / 100))
        # Characters, by what the critic says or else the truth.
        self.lengths = [
            test.get("length", truths.get(test["id"], {}).get("length")) for test in tests
        ]
        self.score = said.get("score")
        self.predicted = share(sum(test[1] for test in self.known), len(self.known))
        self.actual = share(sum(test[0] for test in self.known), len(self.known))

        ends = [test["passed"] for test in patch.get("tests", [])]
        self.standing = None
        if self.score is not None:
            if ends:
                self.standing = self.score, share(sum(ends), len(ends))
        elif self.known:
            self.standing = self.predicted, self.actual
        # The patch as a whole: said to pass, and resolves; none where it may yet fail.
        self.verdict = None
        if self.tests and not (self.unseen and all(test[1] for test in self.tests)):
            self.verdict = all(test[1] for test in self.tests), self.resolved

    def rates(self):
        return self.predicted, self.actual


def micro(patches, ruled=False):
    return confusion((test[0], test[2 if ruled else 1]) for patch in patches for test in patch.known)


def macro(patches, ruled=False):
    """Of tests that were not seen, all may pass or not."""
    said = [(patch, all(test[2 if ruled else 1] for test in patch.tests)) for patch in patches]
    return confusion((patch.resolved, passes) for patch, passes in said if not (passes and patch.unseen))


def coin_of_patches(weight, patches):
    """What is expected of a coin that says "passes" of each test by itself, over patches whose tests were all seen."""
    seen = [(patch.resolved, weight ** len(patch.tests)) for patch in patches if not patch.unseen]
    if not seen:
        return None
    right = [chance for resolved, chance in seen if resolved]
    wrong = [chance for resolved, chance in seen if not resolved]
    return {
        "patches": len(seen),
        "accuracy": (sum(right) + sum(1 - chance for chance in wrong)) / len(seen),
        "precision": share(sum(right), sum(right) + sum(wrong)),
        "recall": share(sum(right), len(right)),
        "specificity": share(sum(1 - chance for chance in wrong), len(wrong)),
    }


def tenths(rates):
    found = [0] * 10
    for rate in rates:
        found[min(int(rate * 10), 9)] += 1
    return found


def lengths(judged):
    """Predictions whose end and length are known, by length."""
    edges = [0, 50, 100, 200, 400, 800, 1600, 3200, None]
    known = [
        (length, passes == predicted, confidence)
        for patch in judged
        for length, (passes, predicted, _, confidence) in zip(patch.lengths, patch.tests)
        if length is not None and passes is not None
    ]
    if not known:
        return []
    found = []
    for above, to in zip(edges, edges[1:]):
        inside = [
            (right, confidence)
            for length, right, confidence in known
            if (length > above or above == 0) and (to is None or length <= to)
        ]
        of_right, of_wrong = ([sure for right, sure in inside if right == end] for end in (True, False))
        found.append(
            {
                "above": above,
                "up_to": to,
                "right": len(of_right),
                "wrong": len(of_wrong),
                "accuracy": share(len(of_right), len(inside)),
                "mean_confidence": mean(sure for _, sure in inside),
                "mean_confidence_right": mean(of_right),
                "mean_confidence_wrong": mean(of_wrong),
            }
        )
    return found


def scores(scored):
    if not scored:
        return None
    points, average = curve([(patch.resolved, patch.score) for patch in scored])
    return {
        "patches": len(scored),
        "average_precision": average,
        "no_skill": mean(patch.resolved for patch in scored),
        "curve": points,
    }


def order(by, words):
    """Agents by the means of (foretold, true), the best true one first."""
    agents = sorted(grouped(words, lambda word: word[0]).items())
    if len(agents) < 2:
        return []
    means = [tuple(mean(word[at] for word in of) for at in (1, 2)) for _, of in agents]
    predicted, actual = (ranks([-pair[side] for pair in means]) for side in (0, 1))
    rows = [
        {
            "agent": agent,
            "patches": len(of),
            "predicted": means[at][0],
            "actual": means[at][1],
            "predicted_rank": predicted[at],
            "actual_rank": actual[at],
        }
        for at, (agent, of) in enumerate(agents)
    ]
    rows.sort(key=lambda row: (row["actual_rank"], row["agent"]))
    return [{"by": by, "agents": rows, "spearman": number(spearman(means)), "kendall": kendall(means)}]


def progress(patches, variants, options):
    """Of two patches of a task, one of which passes all tests of the other and more: whose score is higher?"""
    pairs = []
    for of_bug in grouped(patches, lambda patch: patch["bug"]).values():
        for behind in of_bug:
            for further in of_bug:
                ends = [{test["id"]: test["passed"] for test in patch.get("tests", [])} for patch in (behind, further)]
                both = ends[0].keys() & ends[1].keys()
                passed = [{test for test in both if end[test]} for end in ends]
                if passed[0] < passed[1]:
                    pairs.append((behind, further))

    def of_critic(variant):
        def score(patch):
            said = patch["critics"].get(variant)
            found = said and Judged(patch, said, options).standing
            return found and found[0]

        return score

    def of_size(parts):
        return lambda patch: sum(patch["patch_size"][part] for part in parts) if "patch_size" in patch else None

    named = [(variant, False, of_critic(variant)) for variant in variants] + [
        ("lines added", True, of_size(["added"])),
        ("line operations", True, of_size(["added", "removed"])),
        ("hunks", True, of_size(["hunks"])),
        ("files", True, of_size(["files"])),
    ]
    found = []
    for name, is_proxy, score in named:
        scored = [(behind["bug"], score(behind), score(further)) for behind, further in pairs]
        scored = [one for one in scored if None not in one]
        if not scored:
            continue
        higher, equal = sum(a < b for _, a, b in scored), sum(a == b for _, a, b in scored)
        found.append(
            {
                "name": name,
                "is_proxy": is_proxy,
                "tasks": len({bug for bug, _, _ in scored}),
                "pairs": len(scored),
                "concordant": higher,
                "ties": equal,
                "discordant": len(scored) - higher - equal,
                "share_concordant": share(higher, len(scored)),
                "share_respected": share(higher + equal, len(scored)),
            }
        )
    return found


def critic(variant, patches, options):
    all_ = [
        Judged(patch, patch["critics"][variant], options) for patch in patches if variant in patch["critics"]
    ]
    judged = [patch for patch in all_ if patch.tests]
    tests = [test for patch in judged for test in patch.tests]
    rated = [patch for patch in judged if patch.known]

    bins = [{"from": 5 * at, "right": 0, "wrong": 0, "unknown": 0} for at in range(20)]
    for passes, predicted, _, confidence in tests:
        found = "unknown" if passes is None else "right" if passes == predicted else "wrong"
        bins[min(int(Fraction(confidence) / 5), 19)][found] += 1

    cells = {}
    for patch in rated:
        cell = tuple(min(int(rate * 10), 9) for rate in patch.rates())
        cells[cell] = cells.get(cell, 0) + 1

    rhos = []
    standing = [patch for patch in all_ if patch.standing]
    for of_bug in grouped(standing, lambda patch: patch.bug).values():
        agents = grouped(of_bug, lambda patch: patch.agent).values()
        if len(agents) > 1:
            rhos.append(
                spearman([tuple(mean(p.standing[at] for p in of) for at in (0, 1)) for of in agents])
            )
    defined = [rho for rho in rhos if rho is not None]
    histogram = [0] * 20
    for rho in defined:
        histogram[tenth(rho)] += 1

    known = [test for test in tests if test[0] is not None]
    weight = share(sum(test[0] for test in known), len(known))
    return {
        "variant": variant,
        "patches": len(judged),
        "empty": len(all_) - len(judged),
        "undecided": sum(patch.unseen and all(test[1] for test in patch.tests) for patch in judged),
        "tests": len(known),
        "tests_without_truth": len(tests) - len(known),
        "micro": micro(judged),
        "micro_with_rule": micro(judged, ruled=True),
        "macro": macro(judged),
        "macro_with_rule": macro(judged, ruled=True),
        "random": None if weight is None else {"q": weight},
        "random_patches": None if weight is None else coin_of_patches(weight, judged),
        "confidence": bins,
        "pass_rates": [
            {"predicted": cell[0], "actual": cell[1], "patches": cells[cell]} for cell in sorted(cells)
        ],
        "pass_rate_correlation": number(spearman([patch.rates() for patch in rated])),
        "agents": [
            {
                "agent": agent,
                "patches": len(of),
                "micro": micro(of),
                "macro": macro(of),
                "predicted_pass_rate": mean(p.predicted for p in of if p.known),
                "actual_pass_rate": mean(p.actual for p in of if p.known),
                "correlation": number(spearman([p.rates() for p in of if p.known])),
                "predicted_spread": spread([p.predicted for p in of if p.known]),
                "actual_spread": spread([p.actual for p in of if p.known]),
                "predicted_tenths": tenths(p.predicted for p in of if p.known),
                "actual_tenths": tenths(p.actual for p in of if p.known),
            }
            for agent, of in sorted(grouped(judged, lambda patch: patch.agent).items())
        ],
        "instance_correlations": {
            "defined": len(defined),
            "undefined": len(rhos) - len(defined),
            "mean": sum(map(number, defined)) / len(defined) if defined else None,
            "share_perfect": share(sum(rho == (1, 1) for rho in defined), len(defined)),
        },
        "correlation_histogram": histogram,
        "lengths": lengths(judged),
        "score": scores([patch for patch in all_ if patch.score is not None]),
        "orders": [
            *order("progress", [(p.agent, *p.standing) for p in all_ if p.standing]),
            *order("resolved", [(p.agent, *p.verdict) for p in all_ if p.verdict]),
        ],
        "calibration": over(
            [patch.bug for patch in judged if patch.came_true],
            calibration([item for patch in judged for item in patch.came_true])
            if any(confidence for patch in judged for _, confidence in patch.came_true)
            else None,
        ),
    }


def critic_differences(patches, variants, options):
    """Each two critics over the patches, then the tests, that both judge, after the rule."""

    def words(variant, single):
        found = {}
        for patch in patches:
            if variant not in patch["critics"]:
                continue
            judged = Judged(patch, patch["critics"][variant], options)
            passes = all(test[2] for test in judged.tests)
            if single:
                for test, (end, _, ruled, _) in zip(patch["critics"][variant]["tests"], judged.tests):
                    if end is not None:
                        found[id(patch), test["id"]] = patch, end, ruled
            elif judged.tests and not (passes and judged.unseen):
                found[id(patch)] = patch, patch["resolved"], passes
        return found

    def reached(of, said):
        counts = confusion((end, passes) for (_, end, _), passes in zip(of, said))
        shown = grouped(
            (item for item, passes in zip(of, said) if passes), lambda item: item[0]["bug"]
        )
        return {
            "precision": share(counts["tp"], counts["tp"] + counts["fp"]),
            "recall": share(counts["tp"], counts["tp"] + counts["fn"]),
            "accuracy": share(counts["tp"] + counts["tn"], len(of)),
            "success_at_1": mean(mean(item[1] for item in of) for of in shown.values()),
        }

    found = []
    for b, of_b in enumerate(variants):
        for of_a in variants[:b]:
            for single in (False, True):
                both = [words(variant, single) for variant in (of_a, of_b)]
                keys = [key for key in both[0] if key in both[1]]
                if not keys:
                    continue
                items = [both[0][key] for key in keys]
                values = [reached(items, [words[key][2] for key in keys]) for words in both]
                line = {
                    "a": of_a,
                    "b": of_b,
                    "bugs": len({item[0]["bug"] for item in items}),
                    "patches": len({id(item[0]) for item in items}),
                    **{name: difference(values[0][name], values[1][name]) for name in values[0]},
                }
                if single:
                    line |= {"tests": len(keys), "success_at_1": None}
                found.append(line)
    return found


def sizes(patches, field):
    named = [patch for patch in patches if field in patch]
    return {name: len(of) for name, of in grouped(named, lambda patch: patch[field]).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--tau", type=float, default=0.5)
    parser.add_argument("--percentiles", default="75,90")
    parser.add_argument("--population", choices=["attempted", "all"], default="attempted")
    parser.add_argument("--beyond", choices=["clamp", "exclude"], default="clamp")
    parser.add_argument("--max-k", type=int, default=20)
    parser.add_argument("--k", default="")
    parser.add_argument("--value", default="")
    parser.add_argument("--low-confidence", type=float, default=65)
    parser.add_argument("--longer-than", type=int, default=50)
    options = parser.parse_args()
    options.k = [int(k) for k in options.k.split(",") if k]
    options.percentiles = [float(percent) for percent in options.percentiles.split(",")]

    patches, lines = read(options.files)
    agents = sizes(patches, "agent")
    sets = [("all agents" if len(agents) > 1 else next(iter(agents)), patches)]
    if len(agents) > 1:
        sets += sorted(grouped(patches, lambda patch: patch["agent"]).items())
    variants = sorted({variant for patch in patches for variant in patch["critics"]})
    found = {
        "lines": lines,
        "instances": len({patch["bug"] for patch in patches}),
        "agents": agents,
        "kinds": sizes(patches, "kind"),
        "policies": [
            policies_over(name, of, options, pairs=at == 0) for at, (name, of) in enumerate(sets)
        ],
        "critics": [critic(variant, patches, options) for variant in variants],
        "progress": progress(patches, variants, options),
    }
    if compared_critics := critic_differences(patches, variants, options):
        found["critic_differences"] = compared_critics
    print(json.dumps(found, indent=1, default=float, sort_keys=True))


if __name__ == "__main__":
    main()
