"""Atlas within real packages: SWE-bench 4.x, Multi-SWE-bench and inspect_evals, each where it is installed."""

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swe_atlas.compat import inspect_evals, multi_swe_bench, swebench

IMAGE = "buildpack-deps:bookworm-scm"


# Results without a run: a process that ends itself has run no test to its end, whatever it has printed.
FORGED = "--- PASS: TestSum (0.00s)\n--- PASS: TestSum/big (0.00s)\n--- PASS: TestSum/small (0.00s)\n--- PASS: TestOld (0.00s)\n"


def gotest(big: str, ends: str = "") -> str:
    """The log of two tests, of which one has two subtests."""
    word = {"PASS": "ok", "FAIL": "FAIL"}[big]
    return (
        "=== RUN   TestSum\n=== RUN   TestSum/small\n=== RUN   TestSum/big\n"
        f"--- {big}: TestSum (0.00s)\n    --- PASS: TestSum/small (0.00s)\n    --- {big}: TestSum/big (0.00s)\n"
        f"=== RUN   TestOld\n--- PASS: TestOld (0.00s)\n{big}\n{word}  \tme/sums\t0.01s\n{ends}"
    )


ROW: dict[str, Any] = {
    "instance_id": "me__sums-1",
    "repo": "me/sums",
    "version": "1",
    "base_commit": "0" * 40,
    "patch": "",
    "test_patch": "",
    "problem_statement": "Sums of big numbers are wrong.",
    "image": "atlas-compat-test:1",
    "log_parser": "parse_log_gotest",
    "eval_type": "pass_and_fail",
    "language": "go",
    # The harness reads the two streams apart, so what tests print might come behind the end's marker.
    "eval_script": "#!/bin/bash\nset -uxo pipefail\nexec 2>&1\ncd /testbed\n: '>>>>> Start Test Output'\nsh tests.sh\n: '>>>>> End Test Output'\n",
    "FAIL_TO_PASS": '["TestSum", "TestSum/big"]',
    "PASS_TO_PASS": '["TestSum/small", "TestOld"]',
}


def marked(log: str, code: int = 0) -> str:
    return f"+ : '>>>>> Start Test Output'\n{log}+ : '>>>>> End Test Output'\n>>>>> Test Exit Code: {code}\n"


def release(wanted: str) -> None:
    """Skips where `swebench` of that release is not installed."""
    found = pytest.importorskip("swebench", reason=f"swebench {wanted} is not installed").__version__
    if found.split(".")[0] != wanted:
        pytest.skip(f"swebench {wanted} is not installed: {found} is")


def test_swebench_4_takes_rows_with_their_own_script(tmp_path: Path) -> None:
    release("4")
    from swebench.harness import grading, run_evaluation  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from swebench.harness.log_parsers import go  # type: ignore[import-not-found,import-untyped,unused-ignore]

    theirs = (run_evaluation.make_test_spec, grading.get_eval_report, go.parse_log_gotest)
    with pytest.raises(KeyError, match="me/sums"):
        run_evaluation.make_test_spec(ROW, namespace="swebench")
    path = tmp_path / "test_output.txt"
    prediction = {"instance_id": "me__sums-1", "model_patch": "x", "model_name_or_path": "m"}
    forged = marked(FORGED)
    for text, strict in ((marked(gotest("PASS")), True), (marked(gotest("FAIL"), 1), False), (forged, False)):
        path.write_text(text)
        resolved = {}
        for mode in ("strict", "compat", "compare"):
            with swebench.installed(mode):
                spec = run_evaluation.make_test_spec(ROW, namespace="swebench")
                assert (spec.instance_image_key, spec.is_remote_image) == ("atlas-compat-test:1", True)
                assert "sh tests.sh" in spec.eval_script
                report = run_evaluation.get_eval_report(spec, prediction, path, True)["me__sums-1"]
                resolved[mode] = report["resolved"]
                assert "infra_failure" not in report
        assert resolved["strict"] is strict, text
        assert resolved["compat"] == resolved["compare"] == ("--- FAIL" not in text), text
        assert bool(swebench.differences()) == (text is forged)
    assert (run_evaluation.make_test_spec, grading.get_eval_report, go.parse_log_gotest) == theirs
    with pytest.raises(KeyError, match="me/sums"):
        run_evaluation.make_test_spec(ROW, namespace="swebench")
    known = {**ROW, "repo": "gin-gonic/gin", "version": "1805", "eval_script": ""}
    with swebench.installed():
        spec = run_evaluation.make_test_spec(known, namespace="swebench")
        assert type(spec) is type(theirs[0](known, namespace="swebench")) and "go test" in spec.eval_script
        path.write_text(marked(gotest("PASS")))
        assert run_evaluation.get_eval_report(spec, prediction, path, True)["me__sums-1"]["resolved"]
        assert go.parse_log_gotest(gotest("FAIL"), spec)["TestSum/big"] == "FAILED"


@pytest.fixture
def image(tmp_path: Path) -> Iterator[str]:
    """An image with a repository whose tests are a script."""
    try:
        here = subprocess.run(["docker", "image", "inspect", IMAGE], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        here = False
    if not here and os.environ.get("ATLAS_TEST_DOCKER") == "1":
        subprocess.run(["docker", "pull", "--quiet", IMAGE], check=True)
    elif not here:
        pytest.skip(f"there is no Docker engine with {IMAGE}")
    context = tmp_path / "context"
    context.mkdir()
    # The patch makes `big` true; what prints a forged log needs no test.
    script = "if [ -f forged ]; then cat forged; elif [ -f big ]; then cat /passing; else cat /failing; exit 1; fi\n"
    files = {"tests.sh": script, "passing": gotest("PASS"), "failing": gotest("FAIL")}
    for name, text in files.items():
        (context / name).write_text(text)
    (context / "Dockerfile").write_text(
        f"FROM {IMAGE}\nCOPY passing failing /\nCOPY tests.sh /testbed/\nWORKDIR /testbed\n"
        "RUN git init -q && git add . && git -c user.name=n -c user.email=n@example.org commit -qm base\n"
    )
    subprocess.run(["docker", "build", "--quiet", "--tag", ROW["image"], str(context)], check=True, capture_output=True)
    yield ROW["image"]
    subprocess.run(["docker", "rmi", "--force", ROW["image"]], check=False, capture_output=True)


def added(name: str, text: str) -> str:
    lines = text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def test_run_evaluation_runs_unchanged_in_containers(image: str, tmp_path: Path) -> None:
    pytest.importorskip("swebench", reason="swebench is not installed")
    patches = [added("big", "yes"), added("other", "yes"), added("forged", FORGED)]
    ids = [f"me__sums-{number}" for number in (1, 2, 3)]
    rows, predictions = tmp_path / "rows.jsonl", tmp_path / "predictions.jsonl"
    rows.write_text("".join(json.dumps({**ROW, "instance_id": identity}) + "\n" for identity in ids))
    predictions.write_text(
        "".join(
            json.dumps({"instance_id": identity, "model_name_or_path": "m", "model_patch": patch}) + "\n"
            for identity, patch in zip(ids, patches, strict=True)
        )
    )
    command = [sys.executable, "-m", "swe_atlas.compat.swebench", "-m", "swebench.harness.run_evaluation"]
    arguments = ["-d", rows.name, "-p", predictions.name, "-id", "run", "--max_workers", "3"]
    done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "m.run.json").read_text())
    assert (report["resolved_ids"], report["unresolved_ids"], report["error_ids"]) == (ids[:1], ids[1:], []), done.stdout
    # Its own grading takes the printed results for a run.
    command[2:4] = ["pytest", "-p", "swe_atlas.compat.pytest_plugin"]
    command[5:] = ["logs", "--swe-atlas-dataset", rows.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout and "me__sums-3: harness resolved, Atlas not resolved" in done.stdout, done.stdout


def pull_request(repo: str) -> Any:
    from multi_swe_bench.harness.pull_request import Base, PullRequest  # type: ignore[import-not-found,unused-ignore]

    org, name = repo.split("/")
    return PullRequest(
        org=org, repo=name, number=1, state="closed", title="t", body="", base=Base(label="", ref="", sha=""),
        resolved_issues=[], fix_patch="", test_patch="",
    )  # fmt: skip


def gin() -> Any:
    from multi_swe_bench.harness.image import Config  # type: ignore[import-not-found,unused-ignore]
    from multi_swe_bench.harness.instance import Instance  # type: ignore[import-not-found,unused-ignore]

    return Instance.create(pull_request("gin-gonic/gin"), Config(need_clone=False, global_env=None, clear_env=False))


def test_multi_swe_bench_reads_by_atlas_and_decides_itself() -> None:
    pytest.importorskip("multi_swe_bench", reason="multi_swe_bench is not installed")
    gen_report = importlib.import_module("multi_swe_bench.harness.gen_report")
    report = importlib.import_module("multi_swe_bench.harness.report")
    theirs = report.generate_report
    failing, passing = gotest("FAIL"), gotest("PASS")
    # Its reader cuts subtests off to their parents, which then passed and failed.
    with pytest.raises(ValueError, match="TestSum"):
        report.generate_report(gin(), failing, failing, passing)
    with multi_swe_bench.installed():
        found = report.generate_report(gin(), failing, failing, passing)
        assert found.valid and sorted(found.f2p_tests) == ["TestSum", "TestSum/big"] and sorted(found.p2p_tests) == ["TestOld", "TestSum/small"]
        assert isinstance(found, gen_report.Report) and json.loads(found.json())["valid"]
        assert not report.generate_report(gin(), failing, failing, failing).valid
        broken = report.generate_report(gin(), failing, failing, passing.replace("--- PASS: TestOld", "--- FAIL: TestOld"))
        assert not broken.valid and "TestOld" in broken.error_msg
        nothing = report.generate_report(gin(), failing, failing, "make: command not found\n")
        assert not nothing.valid and "no test results were captured" in nothing.error_msg
    with multi_swe_bench.installed("compare"), pytest.raises(ValueError, match="TestSum"):
        report.generate_report(gin(), failing, failing, passing)
    (found,) = multi_swe_bench.differences()
    assert (found.instance_id, found.harness, found.atlas) == ("gin-gonic/gin:pr-1", False, True)
    assert report.generate_report is theirs
    with pytest.raises(ValueError, match="strict or compare"):
        multi_swe_bench.install("compat")  # type: ignore[arg-type]


def test_multi_swe_bench_does_not_believe_a_run_that_contradicts_itself() -> None:
    pytest.importorskip("multi_swe_bench", reason="multi_swe_bench is not installed")
    report = importlib.import_module("multi_swe_bench.harness.report")

    def pytest_log(second: str, summary: str) -> str:
        return (
            "======= test session starts =======\ncollected 2 items\n\nt.py::test_old PASSED [ 50%]\n"
            f"t.py::test_new {second} [100%]\n\n======= {summary} in 0.01s =======\n"
        )

    failing, passing = pytest_log("FAILED", "1 failed, 1 passed"), pytest_log("PASSED", "2 passed")
    with multi_swe_bench.installed():
        assert report.generate_report(gin(), failing, failing, passing).valid
        lying = report.generate_report(gin(), failing, failing, pytest_log("PASSED", "1 failed, 1 passed"))
        assert not lying.valid and lying.error_msg.startswith("Atlas: ")


def test_multi_swe_bench_makes_and_evaluates_a_dataset_of_a_repository_that_it_does_not_know(tmp_path: Path) -> None:
    pytest.importorskip("multi_swe_bench", reason="multi_swe_bench is not installed")
    importlib.import_module("multi_swe_bench.harness.gen_report")
    folder = tmp_path / "work/me/sums"
    logs = {"run.log": gotest("FAIL"), "test-patch-run.log": gotest("FAIL"), "fix-patch-run.log": gotest("PASS")}
    for place in ("instances/pr-1", "evals/pr-1"):
        (folder / place).mkdir(parents=True)
        for name, text in logs.items():
            (folder / place / name).write_text(text)
    (tmp_path / "raw.jsonl").write_text(pull_request("me/sums").to_json() + "\n")

    def run(mode: str, *files: str) -> Any:
        command = [sys.executable, "-m", "swe_atlas.compat.multi_swe_bench", "-m", "multi_swe_bench.harness.gen_report"]
        places = ["--workdir", "work", "--output_dir", "out", "--log_dir", "logs", "--mode", mode, *files]
        done = subprocess.run([*command, *places], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads((tmp_path / "out/final_report.json").read_text())

    assert run("dataset", "--raw_dataset_files", "raw.jsonl")["resolved_ids"] == ["me/sums:pr-1"]
    row = json.loads((tmp_path / "out/me__sums_dataset.jsonl").read_text())
    assert sorted(row["f2p_tests"]) == ["TestSum", "TestSum/big"]
    evaluate = ("evaluation", "--dataset_files", "out/me__sums_dataset.jsonl")
    assert run(*evaluate)["resolved_ids"] == ["me/sums:pr-1"]
    (folder / "evals/pr-1/fix-patch-run.log").write_text(gotest("FAIL"))
    assert run(*evaluate)["unresolved_ids"] == ["me/sums:pr-1"]


def evaluated(output: str, samples: list[Any], tmp_path: Path) -> Any:
    """Samples put through inspect with the scorer of SWE-bench; their sandbox's script prints `output`."""
    import inspect_ai.solver  # type: ignore[import-not-found,unused-ignore]
    from inspect_ai.util import ExecResult, SandboxEnvironment, SandboxEnvironmentSpec, sandboxenv  # type: ignore[import-not-found,unused-ignore]
    from inspect_evals.swe_bench import scorers  # type: ignore[import-not-found,import-untyped,unused-ignore]

    files: dict[str, Any] = {"/testbed/model.patch": "diff --git a/x b/x\n"}

    @sandboxenv(name="printing")
    class Printing(SandboxEnvironment):  # type: ignore[misc,unused-ignore]
        @classmethod
        async def sample_init(cls, task_name: str, config: Any, metadata: dict[str, str]) -> dict[str, Any]:
            return {"default": cls()}

        @classmethod
        async def sample_cleanup(cls, task_name: str, config: Any, environments: dict[str, Any], interrupted: bool) -> None:
            files.pop("eval_script_output", None)

        async def exec(self, cmd: list[str], *arguments: Any, **named: Any) -> Any:
            if "eval_script_output" in cmd[-1]:
                files["eval_script_output"] = output
            return ExecResult(True, 0, "", "")

        async def write_file(self, file: str, contents: str | bytes) -> None:
            files[file] = contents

        async def read_file(self, file: str, text: bool = True) -> Any:
            return files[file]

    for sample in samples:
        sample.sandbox = SandboxEnvironmentSpec("printing")
    @inspect_ai.solver.solver  # type: ignore[untyped-decorator,unused-ignore]
    def idle() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            return state

        return solve

    task = inspect_ai.Task(dataset=samples, solver=idle(), scorer=scorers.swe_bench_scorer())
    (log,) = inspect_ai.eval(task, model="mockllm/model", display="none", log_dir=str(tmp_path))
    return log, files


@pytest.mark.skipif(importlib.util.find_spec("inspect_evals") is None, reason="inspect_evals is not installed")
def test_inspect_evals_runs_and_grades_rows_of_any_repository(tmp_path: Path) -> None:
    with inspect_evals.installed():
        for output, value in ((gotest("PASS"), 1.0), (gotest("FAIL"), 0.0)):
            log, files = evaluated(marked(output), [inspect_evals.make_sample(ROW)], tmp_path)
            assert log.status == "success", log.error
            score = log.samples[0].scores["swe_bench_scorer"]
            assert score.value == value and "TestSum/big" in score.explanation
            assert score.metadata["model_patch"].startswith("diff")
            assert "sh tests.sh" in files["eval_script"]
        assert "Not resolved:\n\nFAIL_TO_PASS: 2 of 2 do not pass" in score.explanation
        # Where the tests did not begin or end nothing is decided, and inspect may run the sample again.
        for output in ("no such file\n", marked(gotest("PASS")).split("+ : '>>>>> End")[0]):
            log, _ = evaluated(output, [inspect_evals.make_sample(ROW)], tmp_path)
            assert log.samples[0].error is not None and "script did not come to" in log.samples[0].error.message


@pytest.mark.skipif(importlib.util.find_spec("inspect_evals") is None, reason="inspect_evals is not installed")
def test_inspect_evals_is_what_it_was_after_uninstall_and_decides_in_compare(tmp_path: Path) -> None:
    release("4")
    scorers = importlib.import_module("inspect_evals.swe_bench.scorers")
    theirs = (scorers.get_score_and_explanation_from_test_output, scorers.get_eval_script)
    row = {**ROW, "repo": "gin-gonic/gin", "version": "1805"}
    for output, differ in ((gotest("PASS"), False), (FORGED, True)):
        with inspect_evals.installed("compare"):
            log, _ = evaluated(marked(output), [inspect_evals.make_sample(row)], tmp_path)
            assert log.samples[0].scores["swe_bench_scorer"].value == 1.0, "the scorer decides"
        assert [(one.harness, one.atlas) for one in inspect_evals.differences()] == ([(True, False)] if differ else [])
        with inspect_evals.installed("compat"):
            log, _ = evaluated(marked(output), [inspect_evals.make_sample(row)], tmp_path)
            assert log.samples[0].scores["swe_bench_scorer"].value == 1.0, "its rules decide"
    assert (scorers.get_score_and_explanation_from_test_output, scorers.get_eval_script) == theirs
