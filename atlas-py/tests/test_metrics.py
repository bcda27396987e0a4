import json
import math
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest

import swe_atlas
from swe_atlas import metrics

GOLDEN = Path(__file__).parents[2] / "atlas-judge" / "tests" / "golden" / "metrics"
FILES = sorted(GOLDEN.glob("*.json"))


def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((GOLDEN / f"{name}.json").read_text())["cases"]
    assert found
    return found


def same(got: float | None, expected: float | None) -> bool:
    if got is None or expected is None:
        return got is expected
    return math.isclose(got, expected, rel_tol=0, abs_tol=1e-9)


def bools(numbers: list[int]) -> list[bool]:
    return [bool(number) for number in numbers]


def test_every_stored_value(tmp_path: Path) -> None:
    assert len(FILES) > 20
    checked = metrics.check(FILES)
    assert [file["file"] for file in checked] == [str(path) for path in FILES]
    for file in checked:
        assert file["agrees"] and file["cases"] > 0 and file["fields"] > 0, file
    wrong = json.loads((GOLDEN / "pass_at_k.json").read_text())
    key = next(key for key in wrong["cases"][0] if key not in {"n", "c", "k"})
    wrong["cases"][0][key] = 0.123
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(wrong))
    (report,) = metrics.check(path)
    assert not report["agrees"] and report["differences"][0]["expected"] == 0.123
    (missing,) = metrics.check(tmp_path / "nowhere.json")
    assert not missing["agrees"] and "cannot be read" in missing["faults"][0]["message"]


def test_rates_at_k() -> None:
    compared = 0
    for name, function in [
        ("filtered_success_at_k", metrics.filtered_success_at_k),
        ("pass_and_validation_at_k", metrics.pass_and_validation_at_k),
        ("validation_recall_at_k", metrics.validation_recall_at_k),
    ]:
        for case in cases(name):
            bugs: list[Any] = [
                {
                    "attempt": bool(bug.get("attempt", True)),
                    "success": bools(bug.get("success", bug.get("passed"))),
                    "accepted": bools(bug["accepted"]),
                }
                for bug in case["bugs"]
            ]
            for beyond in ("clamp", "exclude"):
                expected = case.get(beyond, case if beyond == "clamp" else None)
                if expected is not None:
                    found = function(bugs, case["k"], beyond=beyond)
                    assert same(found["value"], expected["value"]), (name, case)
                    compared += 1
    assert compared > 80
    one: list[Any] = [{"success": [True, False, False]}]
    assert metrics.filtered_success_at_k(one, 1) == {"value": pytest.approx(1 / 3), "bugs_counted": 1}
    assert metrics.mean_at_k([(3, 1), (0, 0)], 1)["bugs_counted"] == 1
    assert metrics.pass_at_k(20, 1, 5) == swe_atlas.pass_at_k(20, 1, 5) == 0.25
    with pytest.raises(swe_atlas.InvalidInputError, match="fewer than k"):
        metrics.mean_at_k([(3, 1)], 4, beyond="error")
    with pytest.raises(swe_atlas.InvalidInputError, match="clamp, exclude, error"):
        metrics.mean_at_k([(3, 1)], 4, beyond="guess")  # type: ignore[arg-type]
    with pytest.raises(swe_atlas.InvalidInputError, match="bug 0"):
        metrics.filtered_success_at_k([{"success": [True], "accepted": []}], 1)


def test_decisions_and_scores() -> None:
    for case in cases("binary_metrics"):
        found = metrics.confusion(bools(case["y_true"]), bools(case["y_pred"]))
        for name in ("tp", "fp", "fn", "tn"):
            assert found[name] == case[name]
        for name in ("accuracy", "precision", "recall", "specificity", "fpr", "f1"):
            assert same(found[name], case[name]), name
        assert same(found["negative_precision"], case["precision_negative_label"])
    for case in cases("lift_by_type"):
        bugs: list[Any] = [
            {"type": bug["type"], "correct": bools(bug["correct"]), "kept": bools(bug["kept"])}
            for bug in case["bugs"]
        ]
        lift = metrics.lift_by_type(bugs)
        assert set(lift) == set(case["lift"])
        assert all(same(lift[kind], case["lift"][kind]) for kind in lift)
    for case in cases("critic_rule_and_aggregation"):
        tests: list[Any] = [
            {
                "passes": test["predicted_pass"],
                "confidence": test["confidence"],
                "length": test["test_length"],
            }
            for test in case["tests"]
        ]
        if not tests:
            continue
        said = metrics.aggregate_critic(tests)
        assert said["passes"] == case["final_pass"]
        assert said["build_success"] == case["build_success"]
        assert same(said["pass_rate"], case["predicted_pass_rate"])
    for case in cases("majority_vote"):
        vote = metrics.majority_vote(case["patches"], case.get("lines"))
        assert vote is not None
        assert (vote["winner"], vote["votes"]) == (case["winner_index"], case["votes"])
        assert vote["groups"] == case["groups"]
    perfect = [True] * 7 + [False] * 3
    assert metrics.average_precision(perfect, [float(-at) for at in range(10)]) == 1.0
    assert metrics.average_precision([False], [0.5]) is None
    curve = metrics.precision_recall_curve([False, True], [0.1, 0.9])
    assert curve == {
        "precision": [0.5, 1.0, 1.0],
        "recall": [1.0, 1.0, 0.0],
        "thresholds": [0.1, 0.9],
        "shown": [1.0, 0.5],
    }
    found = metrics.reliability([True, False], [0.9, 0.7], bins=2)
    assert found is not None
    assert found["bins"][1]["count"] == 2 and found["expected_error"] == pytest.approx(0.3)
    assert metrics.reliability([True], [1.5]) is None
    assert metrics.brier_score([True, False], [0.5, 0.5]) == 0.25
    risk = metrics.risk_coverage([True, False], [9, 7])
    assert risk is not None and (risk["risk"], risk["area"]) == ([0.0, 0.5], 0.25)
    assert metrics.threshold_for_precision([True, False, True], [0.9, 0.5, 0.5], 0.6) == 0.5
    assert metrics.threshold_for_precision([False], [0.9], 0.6) is None
    assert metrics.grid_threshold([False, True], [0.1, 0.9]) == {"threshold": 0.9, "f1": 1.0}
    rates = metrics.false_positive_rates([(False, True, True), (False, False, False)])
    assert (rates["of_all"], rates["of_reached"]) == (0.5, 1.0)
    decided = metrics.percentile_decision([0.0, 0.2, 0.4], 50)
    assert decided == {"cutoff": 0.2, "accepted": [False, True, True]}
    assert metrics.percentile_decision([], 50) == {"cutoff": None, "accepted": []}
    mass = metrics.label_mass([("succ", math.log(0.6)), (b" failure", math.log(0.2))])
    assert mass["probability"] == pytest.approx(0.75)
    assert metrics.patch_correctness_score(False, []) == 0.0
    assert metrics.patch_correctness_score(True, []) is None
    worth = metrics.expected_net_value(0.5, value=10, cost=2, run_cost=1, review_cost=3)
    assert (worth["attempt"], worth["show"], worth["hide"]) == (3.0, 1.0, -2.0)
    assert metrics.no_skill_precision([True, False]) == 0.5
    assert metrics.cosine([1, 0], [0, 1]) == 0.0 and metrics.cosine([0], [1]) is None
    assert metrics.random_baseline(0.5, 3)["build_success"] == 0.125
    assert metrics.normalise_identifiers("a = b") == "id0 = id1"
    for wrong in (
        lambda: metrics.confusion([True], []),
        lambda: metrics.average_precision([True], []),
        lambda: metrics.reliability([True], []),
        lambda: metrics.aggregate_critic([]),
        lambda: metrics.random_baseline(1.5),
        lambda: metrics.majority_vote(["a"], []),
        lambda: metrics.distribution({"a": 2}, 1),
    ):
        with pytest.raises(swe_atlas.InvalidInputError):
            wrong()


def test_statistics() -> None:
    assert metrics.wasserstein_1([0, 1, 3], [5, 6, 8]) == 5.0
    assert metrics.spearman([1, 2, 3], [3, 2, 1]) == -1.0
    assert metrics.spearman([1, 1], [1, 2]) is None
    assert metrics.average_ranks([5, 1, 5]) == [2.5, 1.0, 2.5]
    assert metrics.summarise_correlations([1.0, None, 0.0]) == {
        "defined": 2,
        "undefined": 1,
        "mean": 0.5,
        "share_perfect": 0.5,
    }
    assert metrics.percentile([0.0, 0.0, 0.0, 0.5], 75) == 0.125
    interval = metrics.bootstrap_mean([0.0, 1.0, 1.0], seed=7)
    assert interval == metrics.bootstrap_mean([0.0, 1.0, 1.0], seed=7)
    assert interval is not None and 0 <= interval[0] <= interval[1] <= 1
    assert metrics.bootstrap_mean([]) is None
    assert metrics.bootstrap_ratio([(1, 2), (1, 2)]) == (0.5, 0.5)
    for case in cases("bootstrap_ci"):
        b = [float(value) for value in case["b"]]
        found = metrics.bootstrap_mean_with(b, case["resample_indices"])
        assert found is not None
        assert all(same(*pair) for pair in zip(found, case["ci95_mean_b"], strict=True))
    assert metrics.paired_differences([1, 2], [2, 4]) == [1.0, 2.0]
    ends = [metrics.binomial_quantile(q, 300, 5 / 300) for q in (0.025, 0.975)]
    assert ends == [1, 10]
    assert metrics.yields(10, 5, 2)["accepted_of_replicated"] == 0.4
    assert metrics.distribution({"a": 1}, 4) == {"percent": {"a": 25.0}, "counted": 1}
    assert metrics.f1_of(0.5, 0.5) == 0.5
    assert metrics.implied_prevalence(0.8, 0.5, 0.5) == pytest.approx(0.2)
    assert metrics.implied_precision(0.5, 1.0, 1.0) == 0.5


def results(path: Path) -> Path:
    lines = [
        {
            "instance_id": f"i{at // 2}",
            "patch_id": str(at),
            "agent": "a",
            "resolved": at % 2 == 0,
            "abstention": {"probability": 0.9, "source": "verbalised"},
            "validation": {"accepted": at % 2 == 0, "score": at / 10, "source": "verbalised"},
        }
        for at in range(8)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_results_are_measured(tmp_path: Path) -> None:
    path = results(tmp_path / "results.jsonl")
    found = swe_atlas.measure(path, resamples=10)
    beside = swe_atlas.measure({"a": path, "b": [path]}, resamples=10).to_dict()
    assert beside["judges"] == ["a", "b"] and len(beside["policies"]) == 2 * len(found.policies)
    assert (found.lines, found.instances, found.agents) == (8, 4, {"a": 8})
    assert len(found.policies) == 1 and found.critics == []
    assert "Markdown" not in found.to_markdown() and "|" in found.to_markdown()
    assert json.loads(found.to_json()) == found.to_dict()
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.to_markdown() == found.to_markdown()
    other = results(tmp_path / "other.jsonl")
    other.write_text(other.read_text().replace('"instance_id": "i', '"instance_id": "j'))
    for where in ((), (other,)):
        fitted = swe_atlas.measure(
            path, resamples=10, bins=4, target_precision=0.5, calibrate="platt", calibrate_on=where
        )
        calibration = fitted.policies[0]["abstention"]["calibration"]
        assert len(calibration["reliability"]["bins"]) == 4
        assert calibration["target"]["threshold"] == 0.9
        assert len(calibration["calibrated"]["fits"]) == (1 if where else 2)
    for name, wrong in (("bins", 0), ("target_precision", 2), ("calibrate", "x"), ("calibrate_on", [other])):
        with pytest.raises(swe_atlas.InvalidInputError, match=name):
            swe_atlas.measure(path, **{name: wrong})  # type: ignore[arg-type]
    worth = {"fix": 100, "open": 10, "run": 1, "review": 5}
    valued = swe_atlas.measure(path, resamples=10, value=worth, ks=[2])
    assert valued.policies[0]["value"]["attempt"]["break_even_chance"] == pytest.approx(1 / 110)
    assert "| Validation recall | @2 |" in valued.to_markdown() and found.progress == []
    assert "value" not in found.policies[0]
    for name, wrong in (("value", {"fix": 1.0}), ("ks", [0])):
        with pytest.raises(swe_atlas.InvalidInputError, match=name):
            swe_atlas.measure(path, **{name: wrong})  # type: ignore[arg-type]
    page = tmp_path / "page.html"
    assert swe_atlas.policies_report([path], page, resamples=10, title="Mine") == found
    assert "<title>Mine</title>" in page.read_text()
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"instance_id": "i"}\n')
    with pytest.raises(swe_atlas.InvalidInputError, match="line 1"):
        swe_atlas.measure(bad)
    with pytest.raises(swe_atlas.InvalidInputError, match="tau"):
        swe_atlas.measure(path, tau=2)
    with pytest.raises(FileNotFoundError):
        swe_atlas.measure(tmp_path / "nowhere.jsonl")


def test_the_command_measures_the_same(tmp_path: Path, atlas: str) -> None:
    path = results(tmp_path / "results.jsonl")
    command = [atlas, "metrics", str(path), "--format", "json", "--resamples", "10"]
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    assert json.loads(printed) == swe_atlas.measure(path, resamples=10).to_dict()
