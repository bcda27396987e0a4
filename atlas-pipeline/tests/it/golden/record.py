"""Records what version 5 of the SWE-bench harness says of small logs, for ../golden.rs: first the run's
report, then each case with its own.

    python record.py > swebench5.jsonl

wants the swebench package (5.0.2 was used) and a Docker engine, which the harness asks for leftovers
though it starts nothing here. The rows and logs below were made up for this file.
"""

import contextlib
import importlib.metadata
import json
import os
import pathlib
import sys
import tempfile

from swebench.harness.run_evaluation import main

START, END = ">>>>> Start Test Output", ">>>>> End Test Output"
PATCH = "--- a/n.txt\n+++ b/n.txt\n@@ -1 +1 @@\n-0\n+1\n"
cases = []


def marked(text, code=0):
    return (
        f"+ git status\n+ : '{START}'\n+ run-tests\n{text}\n+ SWEBENCH_TEST_EXIT_CODE={code}\n"
        f"+ : '{END}'\n+ echo '>>>>> Test Exit Code: {code}'\n>>>>> Test Exit Code: {code}\n"
    )


def case(name, log, *, define=("t.py::a",), guard=("t.py::b",), parser="pytest", patch=PATCH, **more):
    said = more.pop("said", ">>>>> Applied Patch\n")
    row = {
        "instance_id": f"example__cases-{name}",
        "repo": "example/cases",
        "base_commit": "0" * 40,
        "patch": PATCH,
        "test_patch": PATCH.replace("n.txt", "t.txt"),
        "problem_statement": name,
        "hints_text": "",
        "created_at": "2026-01-01T00:00:00Z",
        "environment_setup_commit": "0" * 40,
        "version": "1.0",
        "FAIL_TO_PASS": json.dumps(list(define)),
        "PASS_TO_PASS": json.dumps(list(guard)),
        "image": f"sweb.eval.x86_64.example__cases-{name}:latest",
        "eval_script": f"#!/bin/bash\n: '{START}'\nrun-tests\n: '{END}'\n",
        "log_parser": f"parse_log_{parser}",
        "eval_type": "pass_and_fail",
    } | more
    cases.append({"row": row, "patch": patch, "log": log, "said": said})


case("both-pass", marked("PASSED t.py::a\nPASSED t.py::b"))
case("defining-fails", marked("FAILED t.py::a - assert 1 == 2\nPASSED t.py::b", 1))
case("guarding-fails", marked("PASSED t.py::a\nFAILED t.py::b - assert 1 == 2", 1))
case("both-fail", marked("FAILED t.py::a\nFAILED t.py::b", 1))
case("defining-missing", marked("PASSED t.py::b"))
case("guarding-missing", marked("PASSED t.py::a"))
case("defining-skipped", marked("SKIPPED t.py::a\nPASSED t.py::b"))
case("guarding-skipped", marked("PASSED t.py::a\nSKIPPED t.py::b"))
case("expected-failure", marked("XFAIL t.py::a\nPASSED t.py::b"))
case("unexpected-pass", marked("XPASS t.py::a\nPASSED t.py::b"))
case("error", marked("ERROR t.py::a - fixture\nPASSED t.py::b", 1))
case("partly", marked("PASSED t.py::a\nFAILED t.py::c\nPASSED t.py::b", 1), define=("t.py::a", "t.py::c"))
case("failing-stranger", marked("PASSED t.py::a\nPASSED t.py::b\nFAILED t.py::z", 1))
case("code-without-failure", marked("PASSED t.py::a\nPASSED t.py::b", 3))
case("code-printed-by-test", ">>>>> Test Exit Code: 0\n" + marked("PASSED t.py::a\nPASSED t.py::b", 3))
case("no-end", f"+ : '{START}'\nPASSED t.py::a\nPASSED t.py::b\n")
case("no-start", f"PASSED t.py::a\nPASSED t.py::b\n+ : '{END}'\n")
case("early-end", marked(f"PASSED t.py::a\n{END}\nPASSED t.py::b"))
case("two-regions", marked("PASSED t.py::a\nPASSED t.py::b") + marked("FAILED t.py::a", 1))
case("outside-the-markers", marked("") + "PASSED t.py::a\nPASSED t.py::b\n")
case("nothing-ran", marked("sh: run-tests: not found", 127))
case("empty-log", "")
case("reset-failed", marked("PASSED t.py::a\nPASSED t.py::b") + ">>>>> Reset Failed\n")
case("tests-errored", marked(">>>>> Tests Errored\nPASSED t.py::a\nPASSED t.py::b"))
# A log that ends with the line of a time limit is left out: graded again, the harness writes a report of
# it, but none when it runs. `regrade` says what the run said.
case("no-space", marked("OSError: [Errno 28] No space left on device", 1))
case("no-network", marked("E  socket.gaierror: [Errno -3] Temporary failure in name resolution", 1))
case("killed", marked("Killed", 137))
case("verbose", marked("t.py::a PASSED [ 50%]\nt.py::b PASSED [100%]"))
case("parameters", marked("PASSED t.py::a[x y]\nPASSED t.py::b[1-2]"), define=("t.py::a[x y]",), guard=("t.py::b[1-2]",))
case("cut-id", marked("PASSED t.py::a[x y]\nPASSED t.py::b"), define=("t.py::a[x",))
case("coloured", marked("\x1b[32mPASSED\x1b[0m t.py::a\n\x1b[32mPASSED\x1b[0m t.py::b"))
case("carriage-returns", marked("PASSED t.py::a\r\nPASSED t.py::b\r\n"))
case("no-defining", marked("PASSED t.py::b"), define=())
case("no-lists", marked("PASSED t.py::b"), define=(), guard=())
case("fail-only-missing", marked("1 passed in 0.10s"), eval_type="fail_only")
case("fail-only-failing", marked("FAILED t.py::a\n1 failed in 0.10s", 1), eval_type="fail_only")
case("fail-only-never-ran", marked("", 1), eval_type="fail_only")
case("go", marked("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL", 1),
     parser="gotest", define=("TestA",), guard=("TestB",))
case("cargo", marked("running 2 tests\ntest m::a ... ok\ntest m::b ... ok\n\ntest result: ok. 2 passed"),
     parser="cargo", define=("m::a",), guard=("m::b",))
case("jest", marked("PASS src/n.test.js\n  Thing\n    ✓ does a (2 ms)\n    ✕ does b"), parser="jest",
     define=("Thing > does a",), guard=("Thing > does b",))
case("django", marked("test_a (m.T) ... ok\ntest_b (m.T) ... FAIL\n\nRan 2 tests in 0.001s\n\nFAILED", 1),
     parser="django", define=("test_a (m.T)",), guard=("test_b (m.T)",))
case("null-patch", None, patch=None, said=None)
case("empty-patch", None, patch="", said=None)
case("not-applied", None, said=">>>>> Patch Apply Failed:\nerror: n.txt: patch does not apply\n")
case("engine-lost", None, said="Error in evaluating model: connection refused\n")
case("never-predicted", None, patch="absent", said=None)

with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
    os.chdir(folder)
    run = pathlib.Path("logs/run_evaluation/recorded/model")
    predictions = []
    for case in cases:
        name = case["row"]["instance_id"]
        if case["patch"] != "absent":
            predictions.append(
                {"instance_id": name, "model_name_or_path": "model", "model_patch": case["patch"]}
            )
        for file, text in (("test_output.txt", case["log"]), ("run_instance.log", case["said"])):
            if text is not None:
                (run / name).mkdir(parents=True, exist_ok=True)
                (run / name / file).write_bytes(text.encode())
    for file, rows in (("rows.jsonl", [case["row"] for case in cases]), ("preds.jsonl", predictions)):
        pathlib.Path(file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    main("rows.jsonl", "test", None, "preds.jsonl", 1, 4096, "recorded", 300, True, False)
    report = json.loads(pathlib.Path("model.recorded.json").read_text())
    reports = {
        path.parent.name: json.loads(path.read_text()) for path in sorted(run.glob("*/report.json"))
    }
head = {"swebench": importlib.metadata.version("swebench"), "report": report}
lines = [case | {"report": reports.get(case["row"]["instance_id"])} for case in cases]
for line in [head, *lines]:
    print(json.dumps(line, ensure_ascii=False))
