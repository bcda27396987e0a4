import json
import pickle
from pathlib import Path

import pytest
from conftest import FAILED, PASSED, PullRequest

import swe_atlas


def test_an_instance_goes_through_the_gates(pull_request: PullRequest) -> None:
    assert swe_atlas.make(**pull_request.arguments).outcome == "instance"
    dataset = pull_request.out / "dataset.jsonl"
    report = swe_atlas.validate(
        dataset,
        gates=["oracle_consistency", "gold_patch", "null_patch", "strength"],
        runs=2,
        engine="local",
        trust=True,
    )
    assert (report.total, report.accepted, report.errors) == (1, 1, 0), report.to_json()
    assert [step["gate"] for step in report.funnel][0] == "oracle_consistency"
    (instance,) = report.instances
    assert instance["decision"] == "accept" and len(instance["verdicts"]) == 4
    assert instance["verdicts"][3]["measurements"]["score"] == 1.0
    assert report.dataset == dataset
    row = swe_atlas.Instance.from_json(report.validated.read_text())
    assert row["atlas"]["gates"]["gold_patch"] == "accept"
    assert report.to_dict() == json.loads((pull_request.out / "validate.json").read_text())
    assert pickle.loads(pickle.dumps(report)) == report


def test_wrong_options_are_exceptions(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("")
    with pytest.raises(swe_atlas.InvalidInputError, match="weather"):
        swe_atlas.validate(rows, gates=["weather"])
    with pytest.raises(swe_atlas.InvalidInputError, match="weather"):
        swe_atlas.validate(rows, perturbations=["weather"])
    with pytest.raises(TypeError, match="argument 'runs'.*expected u32$"):
        swe_atlas.validate(rows, runs="three")  # type: ignore[arg-type]
    with pytest.raises(swe_atlas.NotFoundError, match="nowhere"):
        swe_atlas.validate(tmp_path / "nowhere.jsonl")


def test_a_run_is_graded() -> None:
    lists = {
        "fail_to_pass": ["tests/test_sums.py::test_two"],
        "pass_to_pass": ["tests/test_sums.py::test_zero"],
    }
    good = swe_atlas.grade(swe_atlas.parse_log(PASSED), **lists)
    assert good["resolution"] == "RESOLVED_FULL"
    bad = swe_atlas.grade(swe_atlas.parse_log(FAILED), **lists)
    assert bad["resolution"] == "RESOLVED_NO"
    assert bad["FAIL_TO_PASS"]["failure"] == bad["failed_by_name"] == lists["fail_to_pass"]
    assert bad["PASS_TO_PASS"] == {"success": lists["pass_to_pass"], "failure": []}
