"""Atlas in the place of SWE-bench's functions, with a stand-in for the package and with the package itself."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import swe_atlas
from swe_atlas.compat import swebench as compat

SHARED = Path(os.environ.get("ATLAS_SHARED") or Path(__file__).parents[3] / "shared")

ROW = {
    "instance_id": "me__calc-7",
    "repo": "me/calc",
    "version": "1",
    "base_commit": "0" * 40,
    "patch": "",
    "test_patch": "",
    "image": "calc",
    "log_parser": "parse_log_pytest",
    "eval_type": "pass_and_fail",
    "eval_script": "#!/bin/bash\nset -uxo pipefail\ncd /testbed\n: '>>>>> Start Test Output'\npytest -rA\n: '>>>>> End Test Output'\ngit checkout x\n",
    "FAIL_TO_PASS": '["t.py::test_new"]',
    "PASS_TO_PASS": ["t.py::test_old"],
}

PASSING = "PASSED t.py::test_new\nPASSED t.py::test_old\n"


def log(tests: str, code: int = 0) -> str:
    summary = f"======= {tests.count('PASSED')} passed, {tests.count('FAILED')} failed in 0.01s =======\n".replace(", 0 failed", "")
    return (
        "+ : '>>>>> Start Test Output'\n======= test session starts =======\ncollected 2 items\n\nt.py ..\n\n"
        f"======= short test summary info =======\n{tests}{summary}"
        f"+ : '>>>>> End Test Output'\n>>>>> Test Exit Code: {code}\n"
    )


@pytest.fixture
def stored(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "test_output.txt"
        path.write_text(text)
        return path

    return write


def report(path: Path, patch: str | None = "diff", row: Any = ROW) -> dict[str, Any]:
    prediction = {"instance_id": "me__calc-7", "model_patch": patch}
    found = compat.get_eval_report(compat.make_test_spec(row), prediction, path, True)
    assert list(found) == ["me__calc-7"]
    return dict(found["me__calc-7"])


def test_a_run_is_reported_as_the_harness_reports_it(stored: Any) -> None:
    good = report(stored(log(PASSING)))
    assert good["resolved"] and good["patch_successfully_applied"] and not good["infra_failure"]
    assert good["tests_status"]["FAIL_TO_PASS"] == {"success": ["t.py::test_new"], "failure": []}
    bad = report(stored(log("FAILED t.py::test_new - x\nPASSED t.py::test_old\n", 1)))
    assert not bad["resolved"] and bad["tests_status"]["FAIL_TO_PASS"]["failure"] == ["t.py::test_new"]
    null = report(stored(log(PASSING)), None)
    assert null["patch_is_None"] and not null["patch_exists"] and not null["resolved"]
    unapplied = report(stored(">>>>> Patch Apply Failed\n"))
    assert not unapplied["patch_successfully_applied"] and not unapplied["resolved"]
    # Rows of release 4 name no parser.
    assert report(stored(log(PASSING)), row={**ROW, "log_parser": "parse_log_pytest_v2"})["resolved"]


def test_one_log_is_graded_and_told_in_full(stored: Any) -> None:
    path = stored(log(PASSING))
    found = swe_atlas.grade_log(ROW, path, patch="diff", model="m")
    assert found["verdict"]["resolved"] and found["verdict"]["mode"] == "strict"
    assert found["statuses"] == {"t.py::test_new": "PASSED", "t.py::test_old": "PASSED"}
    assert swe_atlas.grade_log(ROW, None, patch="diff")["report"] is None
    assert swe_atlas.grade_log(ROW, path, patch=None)["verdict"]["outcome"] == "null_patch"
    with pytest.raises(swe_atlas.InvalidInputError, match="base_commit"):
        swe_atlas.grade_log({"instance_id": "a__b-1"}, path, patch="x")


def test_a_log_is_read_by_the_harness_s_name_of_a_parser(stored: Any) -> None:
    assert len(compat.PARSER_REGISTRY) > 50
    read = compat.PARSER_REGISTRY["parse_log_pytest"]
    assert read is compat.parse_log_pytest and read.__name__ == "parse_log_pytest"
    region = log(PASSING).split("Output'\n")[1]
    assert read(region, None) == {"t.py::test_new": "PASSED", "t.py::test_old": "PASSED"}
    spec = compat.make_test_spec(ROW)
    statuses, found = compat.get_logs_eval(spec, stored(log(PASSING)))
    assert found and statuses == read(region)
    assert compat.get_logs_eval(spec, stored("nothing")) == ({}, False)


def test_specifications_of_three_harnesses() -> None:
    five = compat.make_test_spec(ROW)
    assert five.FAIL_TO_PASS == ["t.py::test_new"] and five.PASS_TO_PASS == ["t.py::test_old"]
    lines = five.eval_script.splitlines()
    assert lines[:2] == ["#!/bin/bash", "set -uxo pipefail"] and lines.count("set -uxo pipefail") == 1
    end = lines.index(": '>>>>> End Test Output'")
    assert lines[end - 1] == "SWEBENCH_TEST_EXIT_CODE=$?" and "Exit Code" in lines[end + 1]
    classic = {key: ROW[key] for key in ("instance_id", "repo", "version", "FAIL_TO_PASS", "PASS_TO_PASS")}
    with pytest.raises(KeyError):
        compat.make_test_spec(classic)
    assert compat.make_test_spec(classic, harness="swebench4").eval_script_list == []
    four = compat.make_test_spec(classic, harness="swebench4")
    assert four.image == "swebench/sweb.eval.x86_64.me_1776_calc-7:latest"
    assert compat.make_test_spec(ROW, harness="swebench4").image == "calc"
    with pytest.raises(KeyError, match="PASS_TO_PASS"):
        compat.make_test_spec({"instance_id": "a__b-1", "repo": "a/b", "FAIL_TO_PASS": []}, harness="swebench4")


def test_specifications_of_both_forms_of_swebenchpp_s_rows() -> None:
    row = {"instance_id": "me__calc-7", "repo": "me/calc", "language": "Python", "FAIL_TO_PASS": "['t.py::test_new']"}
    found = compat.make_test_spec({**row, "environment_config": '{"log_parser_name": "pytest"}'}, harness="swebenchpp")
    assert (found.FAIL_TO_PASS, found.PASS_TO_PASS) == (["t.py::test_new"], [])
    assert (found.log_parser, found.language, found.version) == ("pytest", "Python", "7")
    assert found.image == "sweb.eval.x86_64.me__calc-7:latest"
    delivered = {"instance_id": "me__calc-7", "repo": "me/calc", "fail_to_pass": ["a"], "pass_to_pass": ["b"]}
    code = {"log_parser_name": "custom", "log_parser_code": "def parse_log_to_json(log):\n    return {}\n"}
    found = compat.make_test_spec({**delivered, "spec_dict": str(code)}, harness="swebenchpp")
    assert (found.FAIL_TO_PASS, found.PASS_TO_PASS, found.log_parser) == (["a"], ["b"], "")


def test_it_goes_into_swebenchpp_too(stand_in: Path, stored: Any) -> None:
    harness = stand_in / "swebench" / "harness"
    (harness.parent / "__init__.py").write_text('__version__ = "7.0.0"\n')
    (harness / "log_parsers.py").write_text(
        "def parse_log_pytest(log):\n    return {}\n\nLANGUAGE_PARSER_MAP = {'Python': lambda name: parse_log_pytest}\n"
    )
    (harness / "grading.py").write_text(
        "def get_logs_eval(test_spec, log_fp):\n    return {}, True\n\n"
        "def get_eval_report(test_spec, prediction, test_log_path, include_tests_status, run_id='', has_new_test_file=False):\n"
        "    return {prediction['instance_id']: {'resolved': True, 'status': 'RESOLVED'}}\n"
    )
    from swebench.harness import grading, log_parsers  # type: ignore[import-not-found,import-untyped,unused-ignore]

    spec = compat.make_test_spec({**ROW, "environment_config": {"log_parser_name": "pytest"}}, harness="swebenchpp")
    passing, failing = log(PASSING), log("PASSED t.py::test_old\nFAILED t.py::test_new - x\n", 1)

    def status(text: str, patch: str | None) -> str:
        prediction = {"instance_id": "me__calc-7", "model_patch": patch, "model_name_or_path": "m"}
        body = grading.get_eval_report(spec, prediction, stored(text), True, "run", has_new_test_file=True)["me__calc-7"]
        assert body["resolved"] == (body["status"] == "RESOLVED") and "infra_failure" not in body
        return str(body["status"])

    with compat.installed():
        assert status(passing, "x") == "RESOLVED" and status(failing, "x") == "UNSOLVED"
        assert (status(passing, ""), status(passing, None)) == ("EMPTY_PATCH", "SYSTEM_ERROR")
        assert status("nothing ran", "x") == "TEST_ERROR"
        assert log_parsers.LANGUAGE_PARSER_MAP["Python"]("pytest")(passing) == {
            "t.py::test_new": "PASSED",
            "t.py::test_old": "PASSED",
        }
        # It keeps a function, or the code of one, where other releases have a name; the code is not run.
        spec.log_parser = "def parse_log_to_json(log):\n    raise SystemExit\n"
        assert status(passing, "x") == "RESOLVED"
    with compat.installed("compare"):
        assert status(failing, "x") == "RESOLVED"
    assert len(compat.differences()) == 1


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A `swebench` in which everything is resolved, and a module that took a function over by name."""
    root = tmp_path / "site" / "swebench" / "harness"
    root.mkdir(parents=True)
    (root.parent / "__init__.py").write_text('__version__ = "5.0.2"\n')
    (root / "__init__.py").write_text("")
    (root / "log_parsers.py").write_text(
        "def parse_log_pytest(log, test_spec):\n    return {}\n\nPARSER_REGISTRY = {'parse_log_pytest': parse_log_pytest}\n"
    )
    (root / "grading.py").write_text(
        "from swebench.harness.log_parsers import PARSER_REGISTRY\n\n"
        "def get_logs_eval(test_spec, log_fp):\n    return {}, True\n\n"
        "def get_eval_report(test_spec, prediction, test_log_path, include_tests_status):\n"
        "    return {prediction['instance_id']: {'resolved': True}}\n"
    )
    (root / "run_evaluation.py").write_text(
        "import json, sys\nfrom swebench.harness.grading import get_eval_report\n"
        "from swe_atlas.compat.swebench import make_test_spec\n\n"
        "if __name__ == '__main__':\n"
        "    row = json.load(open(sys.argv[1]))\n"
        "    prediction = {'instance_id': row['instance_id'], 'model_patch': 'x'}\n"
        "    print(json.dumps(get_eval_report(make_test_spec(row), prediction, sys.argv[2], False)))\n"
    )
    known = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "swebench"}
    for name in known:
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(root.parents[1]))
    yield root.parents[1]
    compat.uninstall()
    for name in [name for name in sys.modules if name.split(".")[0] == "swebench"]:
        del sys.modules[name]
    sys.modules.update(known)


def test_it_is_put_in_wherever_the_harness_holds_it_and_taken_out_again(stand_in: Path, stored: Any) -> None:
    from swebench.harness import grading, log_parsers, run_evaluation  # type: ignore[import-not-found,import-untyped,unused-ignore]

    theirs = (grading.get_eval_report, grading.get_logs_eval, log_parsers.parse_log_pytest)
    with compat.installed():
        assert run_evaluation.get_eval_report is grading.get_eval_report is compat.get_eval_report
        assert grading.PARSER_REGISTRY["parse_log_pytest"] is compat.PARSER_REGISTRY["parse_log_pytest"]
        compat.install("compat")
        assert grading.get_logs_eval is compat.get_logs_eval
    assert (grading.get_eval_report, grading.get_logs_eval, log_parsers.parse_log_pytest) == theirs
    assert run_evaluation.get_eval_report is theirs[0]
    assert grading.PARSER_REGISTRY["parse_log_pytest"] is theirs[2]
    with pytest.raises(ValueError, match="strict, compat or compare"):
        compat.install("loose")  # type: ignore[arg-type]

    path = stored(log("PASSED t.py::test_old\nFAILED t.py::test_new - x\n", 1))
    with compat.installed("compare"):
        prediction = {"instance_id": "me__calc-7", "model_patch": "x"}
        said = run_evaluation.get_eval_report(compat.make_test_spec(ROW), prediction, path, True)
        assert said == {"me__calc-7": {"resolved": True}}, "the harness decides"
    (found,) = compat.differences()
    assert (found.instance_id, found.harness, found.atlas) == ("me__calc-7", True, False)
    assert any("test_new" in reason for reason in found.reasons), found.reasons


def test_the_harness_s_own_command_runs_with_atlas_inside(stand_in: Path, stored: Any, tmp_path: Path) -> None:
    row = tmp_path / "row.json"
    row.write_text(json.dumps(ROW))
    path = stored(log("PASSED t.py::test_old\nFAILED t.py::test_new - x\n", 1))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(stand_in), os.environ.get("PYTHONPATH", "")])}

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "swe_atlas.compat.swebench", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    module = ["-m", "swebench.harness.run_evaluation", str(row), str(path)]
    done = run(*module)
    assert json.loads(done.stdout)["me__calc-7"]["resolved"] is False, done.stderr
    done = run("--mode", "compare", *module)
    assert json.loads(done.stdout)["me__calc-7"]["resolved"] is True, done.stderr
    assert "differs: me__calc-7: harness resolved, Atlas not resolved" in done.stderr
    assert run("--mode", "loose", *module).returncode == 1
    assert "no program of an installed package" in run("no-such-program").stderr
    assert "usage" in run().stderr


def test_a_plugin_tells_at_the_end_of_a_run_what_differs(stand_in: Path, stored: Any, tmp_path: Path) -> None:
    path = stored(log("PASSED t.py::test_old\nFAILED t.py::test_new - x\n", 1))
    (tmp_path / "test_grading.py").write_text(
        "from swebench.harness.grading import get_eval_report\nfrom swe_atlas.compat.swebench import make_test_spec\n"
        f"ROW = {ROW!r}\n\n\ndef test_it():\n"
        f"    prediction = {{'instance_id': 'me__calc-7', 'model_patch': 'x'}}\n"
        f"    assert get_eval_report(make_test_spec(ROW), prediction, {str(path)!r}, True)['me__calc-7']['resolved']\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(stand_in), os.environ.get("PYTHONPATH", "")])}
    for words, code in (([], 0), (["--swe-atlas-differences=fail"], 1)):
        command = [sys.executable, "-m", "pytest", "-p", "swe_atlas.compat.pytest_plugin", "test_grading.py", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        assert "me__calc-7: harness resolved, Atlas not resolved" in done.stdout


def test_the_logs_of_a_run_are_tests_of_the_plugin(stand_in: Path, tmp_path: Path) -> None:
    """By their name pytest would take them for texts with examples."""
    folder = tmp_path / "logs" / "run" / "m" / "me__calc-7"
    folder.mkdir(parents=True)
    (folder / "test_output.txt").write_text(log("PASSED t.py::test_old\nFAILED t.py::test_new - x\n", 1))
    (folder / "patch.diff").write_text("diff")
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    (tmp_path / "broken.jsonl").write_text("{}\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(stand_in), os.environ.get("PYTHONPATH", "")])}

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "pytest", "-p", "swe_atlas.compat.pytest_plugin", "logs", *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    done = run("--swe-atlas-dataset", "rows.jsonl")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert "me__calc-7: harness resolved, Atlas not resolved" in done.stdout
    done = run("--swe-atlas-dataset", "rows.jsonl", "--swe-atlas-differences=fail")
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "broken.jsonl, line 1: no row with an instance_id" in run("--swe-atlas-dataset", "broken.jsonl").stderr
    assert "graded beside swebench alone" in run("--swe-atlas-dataset", "rows.jsonl", "--swe-atlas-harness=inspect_evals").stderr


def test_a_script_tells_where_parsers_differ_and_who_is_right(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "scripts" / "compare-parsers"
    if not script.exists():
        pytest.skip("this is no checkout")
    if not str(pytest.importorskip("swebench", reason="swebench is not installed").__version__).startswith("5."):
        pytest.skip("swebench 5 is not installed")
    case = tmp_path / "gotest" / "quoted"
    case.mkdir(parents=True)
    (case / "log.txt").write_text(
        "=== RUN   TestA\nsays --- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\n    b_test.go:7: got:\n"
        "        --- PASS: TestQuoted (0.00s)\nFAIL\nFAIL\tme/sums\t0.01s\n"
    )
    (case / "expected.json").write_text(json.dumps({"tests": {"TestA": "PASSED", "TestB": "FAILED"}}))

    def run(folder: Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, str(script), "--corpus", str(folder)], capture_output=True, text=True, check=False)

    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "| gotest | tells its status | names no such test | Atlas | 1 |" in done.stdout, done.stdout
    assert "| gotest | names no such test | tells its status | Atlas | 1 |" in done.stdout, done.stdout
    assert run(tmp_path / "none").returncode == 2


def test_swebenchpp_itself_decides_alike_where_it_is_right(tmp_path: Path) -> None:
    source, golden = os.environ.get("ATLAS_SWEBENCHPP_SOURCE"), SHARED / "golden" / "swebench"
    if source is None or not golden.is_dir():
        pytest.skip("ATLAS_SWEBENCHPP_SOURCE names no checkout of SWE-Bench++, or runs of the harness are not here")
    pytest.importorskip("docker", reason="the libraries of swebench are not installed")
    program = """
import json, pathlib, sys
from swebench.harness import grading
from swebench.harness.test_spec.test_spec import make_test_spec
from swe_atlas.compat import swebench
golden = pathlib.Path(sys.argv[1])
rows = {row["instance_id"]: row for row in map(json.loads, (golden / "dataset_spp.jsonl").read_text().splitlines())}
paths = sorted(golden.glob("spp/logs/run_evaluation/*/*/*/test_output_after.txt"))
stored = [json.loads((path.parent / "report.json").read_text()) for path in paths]
for mode in ("strict", "compat", "compare"):
    with swebench.installed(mode):
        for path, theirs in zip(paths, stored, strict=True):
            name = path.parent.name
            prediction = {"instance_id": name, "model_patch": "diff", "model_name_or_path": "m"}
            found = grading.get_eval_report(make_test_spec({**rows[name]}), prediction, path, True, "run")
            assert found == theirs, (mode, path)
assert swebench.differences() == []
print(len(paths), "logs")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", program, str(golden)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("20 logs\n"), done.stdout + done.stderr


def test_the_real_harness_decides_alike_where_it_is_right(tmp_path: Path) -> None:
    found = pytest.importorskip("swebench", reason="swebench is not installed").__version__
    if not found.startswith("5."):
        pytest.skip(f"swebench 5 is not installed: {found} is")
    golden = SHARED / "golden" / "swebench"
    if not golden.is_dir():
        pytest.skip("runs of the harness are not here")
    from swebench.harness import run_evaluation
    from swebench.harness.utils import make_test_spec  # type: ignore[import-not-found,import-untyped,unused-ignore]

    lines = (golden / "dataset_v5.jsonl").read_text().splitlines()
    rows = {row["instance_id"]: row for row in map(json.loads, lines)}
    logs = sorted(golden.glob("v5/logs/run_evaluation/*/*/*/test_output.txt"))
    assert len(logs) >= 20

    def reports() -> list[Any]:
        found = []
        for path in logs:
            spec = make_test_spec(rows[path.parent.name])
            prediction = {"instance_id": path.parent.name, "model_patch": "diff"}
            found.append(run_evaluation.get_eval_report(spec, prediction, path, True))
        return found

    theirs = reports()
    assert 0 < sum(body["resolved"] for report in theirs for body in report.values()) < len(logs)
    for mode in ("compat", "strict"):
        with compat.installed(mode):
            assert reports() == theirs, mode
    with compat.installed("compare"):
        assert reports() == theirs and compat.differences() == []
    for row in rows.values():
        ours, spec = compat.make_test_spec(row), make_test_spec(row)
        assert (ours.eval_script, ours.FAIL_TO_PASS, ours.image) == (spec.eval_script, spec.FAIL_TO_PASS, spec.image)
    registry = run_evaluation.get_eval_report.__globals__["get_logs_eval"].__globals__["PARSER_REGISTRY"]
    assert sorted(registry) == sorted(compat.PARSER_REGISTRY)
