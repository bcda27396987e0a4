import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import PullRequest, git

import swe_atlas

PATCH = """\
diff --git a/sums.py b/sums.py
--- a/sums.py
+++ b/sums.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "repo": "example/sums",
        "instance_id": f"example__sums-{number}",
        "base_commit": "0123456789abcdef0123456789abcdef01234567",
        "patch": PATCH,
        "test_patch": PATCH.replace("sums.py", "tests/test_sums.py"),
        "problem_statement": "adding is wrong",
        "hints_text": "",
        "created_at": "2024-01-02T03:04:05Z",
        "version": "1.0",
        "FAIL_TO_PASS": '["tests/test_sums.py::test_two"]',
        "PASS_TO_PASS": "[]",
        "environment_setup_commit": "0123456789abcdef0123456789abcdef01234567",
        **changes,
    }


def written(path: Path, *rows: dict[str, Any], end: str = "") -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows) + end)
    return path


def test_rows_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.jsonl", row(1), row(2, stars=1e300), end='{"instance_id": \n')
    dataset = swe_atlas.read_dataset(path)
    assert len(dataset) == len(dataset.rows) == 2 and dataset.schema == "swebench4"
    assert [one.instance_id for one in dataset] == ["example__sums-1", "example__sums-2"]
    (fault,) = dataset.faults
    assert fault["kind"] == "not_json" and fault["place"].endswith("rows.jsonl:3")
    second = dataset[-1]
    assert second == dataset["example__sums-2"] == dataset[1] != dataset[0]
    assert second.to_dict() == dict(second) == row(2, stars=1e300)
    assert second["stars"] == 1e300 and second.get("moons", 0) == 0 and "repo" in second
    assert len(second) == 13 and list(second)[0] == "repo" == second.keys()[0]
    assert dict(second.items()) == row(2, stars=1e300) and second.values()[0] == "example/sums"
    assert second.place is not None and second.place.endswith(":2")
    assert swe_atlas.Instance.from_dict(second.to_dict()).patch == PATCH
    assert pickle.loads(pickle.dumps(second)) == second
    assert dataset.to_bytes() == path.read_bytes()
    with pytest.raises(IndexError):
        dataset[2]
    with pytest.raises(KeyError):
        dataset["nobody__none-1"]
    with pytest.raises(KeyError):
        second["moons"]
    with pytest.raises(swe_atlas.NotFoundError):
        swe_atlas.read_dataset(tmp_path / "nowhere.jsonl")
    with pytest.raises(swe_atlas.InvalidInputError, match="names the row"):
        swe_atlas.Row.from_dict({"n": 1})


def test_predictions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "preds.json"
    path.write_text('{"a__b-1": {"model_patch": null, "cost": 1.50}, "a__b-2": {"model_patch": 7}}')
    found = swe_atlas.read_predictions(path)
    (one,) = found
    assert len(found) == 1 and found[0] == one == found.predictions[-1]
    assert (one.instance_id, one.model_patch, one.model_name_or_path) == ("a__b-1", None, None)
    assert one["cost"] == 1.5 and one.to_json() == '{"model_patch": null, "cost": 1.50}'
    assert [fault["field"] for fault in found.faults] == ["model_patch"]
    again = pickle.loads(pickle.dumps(one))
    assert again == one and again.instance_id == "a__b-1" and again.to_json() == one.to_json()
    assert found.to_bytes() == path.read_bytes()
    made = swe_atlas.Prediction.from_dict({"instance_id": "a__b-1", "model_patch": ""})
    assert made.model_patch == "" and made != one
    with pytest.raises(IndexError):
        found[1]
    with pytest.raises(swe_atlas.InvalidInputError, match="model_patch"):
        swe_atlas.Prediction.from_dict({"instance_id": "a__b-1", "model_patch": 7})


def test_schemas_and_back(tmp_path: Path) -> None:
    dataset = swe_atlas.Dataset.from_rows([row(1), swe_atlas.Row.from_dict(row(2))])
    there = swe_atlas.convert(dataset, "multi-swebench", out=tmp_path / "multi.jsonl")
    assert (there.from_schema, there.to_schema, there.faults) == ("swebench4", "multi-swebench", [])
    assert there.dataset.schema == "multi-swebench"
    assert {loss["kind"] for loss in there.losses} <= {"no_place", "inexact", "missing", "made"}
    assert there.losses and json.loads(there.to_json()) == there.to_dict()
    back = swe_atlas.convert(tmp_path / "multi.jsonl", "swebench4").dataset
    assert [one.to_dict() for one in back] == [row(1), row(2)]
    assert swe_atlas.diff_datasets(dataset, back)["same"] == 2
    with pytest.raises(swe_atlas.InvalidInputError, match="multi-swebench"):
        swe_atlas.convert(dataset, "swebench9")  # type: ignore[arg-type]
    with pytest.raises(swe_atlas.InvalidInputError, match="no rows"):
        swe_atlas.convert(swe_atlas.Dataset.from_rows([]), "harbor")
    with pytest.raises(TypeError, match="dataset"):
        swe_atlas.convert(7, "harbor")  # type: ignore[arg-type]


def test_differences() -> None:
    first = swe_atlas.Dataset.from_rows([row(1), row(2), row(3)])
    tests = '["tests/test_sums.py::test_three"]'
    second = swe_atlas.Dataset.from_rows([row(2), row(3, FAIL_TO_PASS=tests), row(4)])
    diff = swe_atlas.diff_datasets(first, second)
    assert diff["only_in_first"] == ["example__sums-1"]
    assert diff["only_in_second"] == ["example__sums-4"]
    changed = diff["changed"]["example__sums-3"]["tests"]["FAIL_TO_PASS"]
    assert changed["added"] == ["tests/test_sums.py::test_three"]


def test_faults_of_rows_are_found(pull_request: PullRequest) -> None:
    rows = [row(1, base_commit=pull_request.base, test_patch=""), row(2, FAIL_TO_PASS="[]")]
    dataset = swe_atlas.Dataset.from_rows(rows)
    report = swe_atlas.lint(dataset)
    codes = {(one["instance"], one["code"]) for one in report.findings}
    assert ("example__sums-2", "empty_fail_to_pass") in codes
    assert report.rows == 2 and report.faults == []
    assert json.loads(report.to_json()) == report.to_dict()
    assert pickle.loads(pickle.dumps(report)) == report
    less = swe_atlas.lint(dataset, ignore=["empty_fail_to_pass"])
    assert len(less.findings) < len(report.findings)
    tried = swe_atlas.lint(dataset, repos=pull_request.repo)
    new = {(one["instance"], one["field"]) for one in tried.findings} - {
        (one["instance"], one["field"]) for one in report.findings
    }
    assert new == {("example__sums-2", "base_commit")}
    with pytest.raises(swe_atlas.InvalidInputError, match="no_such_code"):
        swe_atlas.lint(dataset, ignore=["no_such_code"])


def test_rows_are_audited() -> None:
    statement = "see https://github.com/example/sums/pull/2"
    dataset = swe_atlas.Dataset.from_rows([row(1), row(2, problem_statement=statement)])
    report = swe_atlas.audit(dataset)
    codes = {(one["instance"], one["code"]) for one in report.findings}
    assert ("example__sums-2", "link_in_problem") in codes
    assert report.counts["link_in_problem"]["rows"] == 1
    assert report.rows == 2 and report.rows_with_findings >= 1
    assert pickle.loads(pickle.dumps(report)) == report
    assert "link_in_problem" not in swe_atlas.audit(dataset, ignore=["link_in_problem"]).counts
    with pytest.raises(swe_atlas.InvalidInputError, match="path"):
        swe_atlas.audit(dataset, run=True)


def test_patches_are_examined(pull_request: PullRequest) -> None:
    assert swe_atlas.examine_patch(PATCH) == swe_atlas.examine_patch(PATCH.encode())
    assert not any(fault["breaks"] for fault in swe_atlas.examine_patch(PATCH))
    (empty,) = swe_atlas.examine_patch(b"")
    assert empty["kind"] == "empty" and empty["breaks"]

    repo, base = pull_request.repo, pull_request.base
    assert swe_atlas.diagnose_patch(repo, base, PATCH)["applies"]
    miscounted = PATCH.replace("@@ -1,2 +1,2 @@", "@@ -1,1 +1,1 @@")
    for mode in ("strict", "compat-swebench5", "compat-swebench4", "compat-swebenchpp"):
        found = swe_atlas.diagnose_patch(repo, base, miscounted, mode)
        assert "hunk_counts" in {fault["kind"] for fault in found["faults"]}
        assert not found["applies"] and found["tries"]
        assert found["mended"] is not None and found["mended"]["how"]
        assert swe_atlas.diagnose_patch(repo, base, found["mended"]["patch"])["applies"]
    with pytest.raises(swe_atlas.AtlasError):
        swe_atlas.diagnose_patch(repo, "f" * 40, PATCH)
    with pytest.raises(swe_atlas.InvalidInputError, match="strict"):
        swe_atlas.diagnose_patch(repo, base, PATCH, "lenient")  # type: ignore[arg-type]


def test_a_mended_patch_that_is_no_text(pull_request: PullRequest) -> None:
    repo = pull_request.repo
    (repo / "latin.txt").write_bytes("caf\xe9\none\n".encode("latin-1"))
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Latin")
    patch = b"--- a/latin.txt\n+++ b/latin.txt\n@@ -1,1 +1,1 @@\n caf\xe9\n-one\n+two\n"
    found = swe_atlas.diagnose_patch(repo, "HEAD", patch)
    assert not found["applies"] and found["mended"] is not None
    assert found["mended"]["patch"] == patch.replace(b"-1,1 +1,1", b"-1,2 +1,2")


def test_a_parquet_file_is_a_dataset(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    rows = [{"instance_id": f"a__b-{n}", "FAIL_TO_PASS": [f"t{n}"], "patch": "p"} for n in range(3)]
    parquet = __import__("pyarrow.parquet", fromlist=["write_table"])
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    read = swe_atlas.read_dataset(tmp_path / "rows.parquet")
    assert [row["instance_id"] for row in read.rows] == ["a__b-0", "a__b-1", "a__b-2"]
    assert read[2]["FAIL_TO_PASS"] == ["t2"]
