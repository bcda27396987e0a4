import json
import math
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import declared

import swe_atlas
import swe_atlas.types

PATCH = """\
--- a/store.py
+++ b/store.py
@@ -1,2 +1,5 @@
 def close(s):
     return s
+
+def open_store(path):
+    return path
"""
TEST_PATCH = """\
--- /dev/null
+++ b/test_store.py
@@ -0,0 +1,3 @@
+from store import open_store
+def test_store():
+    assert open_store(1) == 1
"""
LOG = "E   OSError: [Errno 28] No space left on device\n"


def rows(path: Path, count: int = 2) -> Path:
    lines = [
        {
            "instance_id": f"o__n-{at}",
            "repo": "o/n",
            "base_commit": "0123456789abcdef0123456789abcdef01234567",
            "problem_statement": f"Stores cannot be opened\n\nSee number {at}.",
            "patch": PATCH,
            "test_patch": TEST_PATCH,
            "FAIL_TO_PASS": ["test_store.py::test_store"],
            "PASS_TO_PASS": [],
        }
        for at in range(count)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def candidates(**more: Any) -> list[dict[str, Any]]:
    return [
        {"instance_id": f"o__n-{at}", "model_name_or_path": "m", "model_patch": PATCH, **more}
        for at in range(2)
    ]


class Label:
    """A model that knows how sure it is, as OpenAI's API would tell."""

    name = "label-model"

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.asked: list[tuple[list[dict[str, str]], dict[str, Any]]] = []

    def __call__(self, messages: list[dict[str, str]], **options: Any) -> swe_atlas.types.ModelAnswer:
        self.asked.append((messages, options))
        top = [
            {"token": "success", "logprob": math.log(self.probability)},
            {"token": "failure", "logprob": math.log(1 - self.probability)},
        ]
        word = "success" if self.probability >= 0.5 else "failure"
        best = max(token["logprob"] for token in top)  # type: ignore[type-var]
        return {
            "text": word,
            "logprobs": [{"token": word, "logprob": best, "top_logprobs": top}],
            "finish_reason": "stop",
            "usage": {"prompt_tokens": 11, "completion_tokens": 1},
        }


def test_a_callable_is_a_model(tmp_path: Path) -> None:
    model = Label(0.8)
    out = tmp_path / "abstain.jsonl"
    report = swe_atlas.abstain(rows(tmp_path / "rows.jsonl"), model=model, out=out)
    assert report.complete and (report.items, report.done, report.attempt) == (2, 2, 2)
    assert [one["probability"] for one in report.results] == [pytest.approx(0.8)] * 2
    assert report.results[0]["source"] == "label_top_logprobs"
    assert report.out == out and report.failed == [] and report.stopped is None
    assert report.ledger is not None
    assert (report.ledger["calls"], report.ledger["prompt_tokens"]) == (2, 22)
    assert list(report.ledger["models"]) == ["label-model"]
    messages, options = model.asked[0]
    assert messages[-1]["role"] == "user" and "Stores cannot be opened" in messages[-1]["content"]
    assert options["temperature"] == 0.0 and options["top_logprobs"] == 20
    assert options["max_tokens"] == 16 and options["json_schema"] is None
    assert report.features["attempt"]["reports"] == 2

    declared(report)
    assert pickle.loads(pickle.dumps(report)) == report
    assert json.loads(report.to_json()) == report.to_dict()
    # What is done is not asked again; other options are other results.
    again = swe_atlas.abstain(tmp_path / "rows.jsonl", model=model, out=out)
    assert (again.known, again.done, len(model.asked)) == (2, 0, 2)
    with pytest.raises(swe_atlas.InvalidInputError, match="tau.*was 0.5 and is 0.9"):
        swe_atlas.abstain(tmp_path / "rows.jsonl", model=model, out=out, tau=0.9)


def test_what_goes_wrong_in_a_callable(tmp_path: Path) -> None:
    dataset = rows(tmp_path / "rows.jsonl", 1)

    def failed(model: Any, **more: Any) -> str:
        out = tmp_path / f"{time.monotonic_ns()}.jsonl"
        report = swe_atlas.abstain(dataset, model=model, out=out, verbalised=False, samples=0, **more)
        assert not report.complete and report.failed[0]["kind"] == "model"
        return report.failed[0]["message"]

    def raises(messages: Any, **options: Any) -> str:
        raise LookupError("no such thing")

    assert "LookupError: no such thing" in failed(raises)
    assert "unexpected keyword argument" in failed(lambda messages: "x")
    assert "it gave int; a str or a dict is expected" in failed(lambda m, **o: 7)
    assert "unknown field `words`" in failed(lambda m, **o: {"text": "x", "words": 1})
    assert "`text`" in failed(lambda m, **o: {})
    with pytest.raises(swe_atlas.InvalidInputError, match="a list of texts or a callable"):
        swe_atlas.abstain(dataset, model=7, out=tmp_path / "o")  # type: ignore[arg-type]
    with pytest.raises(swe_atlas.InvalidInputError, match="no price"):
        swe_atlas.abstain(dataset, model=raises, out=tmp_path / "o", budget="money=1")
    with pytest.raises(TypeError, match="unexpected keyword argument 'tokens'"):
        swe_atlas.abstain(dataset, model=raises, out=tmp_path / "o", tokens=1)  # type: ignore[call-arg]
    with pytest.raises(swe_atlas.InvalidInputError, match="r1.*r2"):
        swe_atlas.abstain(dataset, model=raises, out=tmp_path / "o", representation="r3")  # type: ignore[arg-type]


def test_a_budget_ends_a_run_and_the_next_goes_on(tmp_path: Path) -> None:
    dataset, out = rows(tmp_path / "rows.jsonl"), tmp_path / "abstain.jsonl"
    first = swe_atlas.abstain(dataset, model=Label(0.3), out=out, budget="calls=1")
    assert (first.done, first.left, first.complete) == (1, 1, False)
    assert first.stopped is not None and "raise the budget" in first.stopped
    second = swe_atlas.abstain(dataset, model=Label(0.3), out=out, budget="calls=1")
    assert (second.known, second.done, second.abstain, second.complete) == (1, 1, 2, True)


def test_a_total_is_of_all_runs_and_limits_cut(tmp_path: Path) -> None:
    dataset, out = rows(tmp_path / "rows.jsonl"), tmp_path / "abstain.jsonl"
    for done in (1, 0):
        run = swe_atlas.abstain(dataset, model="noise:7", out=out, total_budget="calls=1", limits={"report": 1})
        assert (run.done, run.complete) == (done, False)
        assert run.stopped is not None and "by all runs together" in run.stopped
    assert run.ledger is not None and run.ledger["in_all"]["calls"] == 1
    assert json.loads(out.read_text().splitlines()[0])["judgement"]["details"]["cut"] == ["report"]
    for wrong in ({"limits": {"patch": 5}}, {"limits": {"report": 0}}, {"total_budget": "time=1h"}, {"batch_poll": 1.0}):
        with pytest.raises(swe_atlas.InvalidInputError):
            swe_atlas.abstain(dataset, model="noise:7", out=tmp_path / "o", **wrong)  # type: ignore[arg-type]
    with pytest.raises(swe_atlas.InvalidInputError, match="callable"):
        swe_atlas.abstain(dataset, model=Label(0.3), out=tmp_path / "o", batch_poll=1.0)


def test_several_models_are_one_judge(tmp_path: Path) -> None:
    dataset, models = rows(tmp_path / "rows.jsonl"), ["a=noise:1", "b=noise:2"]
    single = {}
    for model in models:
        name = model[0]
        swe_atlas.abstain(dataset, model=model[2:], out=tmp_path / name)
        single[name] = [line["abstention"]["probability"] for line in read(tmp_path / name)]
    both = swe_atlas.abstain(dataset, model=models, out=tmp_path / "both")
    assert [member["model"] for member in both.to_dict()["members"]] == ["a", "b"]
    for at, line in enumerate(read(tmp_path / "both")):
        mean = (single["a"][at] + single["b"][at]) / 2
        assert abs(line["abstention"]["probability"] - mean) < 1e-12
    # A band that holds everything asks the second one always, and takes its word.
    swe_atlas.abstain(dataset, model=models, ensemble="cascade=0..1", out=tmp_path / "cascade")
    assert [line["abstention"]["probability"] for line in read(tmp_path / "cascade")] == single["b"]
    critics = swe_atlas.critic(dataset, candidates(), model=models, mode="problem", out=tmp_path / "critic")
    assert critics.complete and len(critics.to_dict()["members"]) == 2
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("several models", {"model": "noise:1", "ensemble": "mean"}),
        ("several models", {"model": ["noise:1"], "calibrators": ["fits.json"]}),
        ("ensemble", {"model": models, "ensemble": "best"}),
        ("holds texts", {"model": ["noise:1", 7]}),
        ("empty", {"model": []}),
    ]
    for said, options in wrong:
        with pytest.raises(swe_atlas.InvalidInputError, match=said):
            swe_atlas.abstain(dataset, out=tmp_path / "o", **options)
    with pytest.raises(swe_atlas.InvalidInputError, match="not several"):
        swe_atlas.judge(dataset, model=models, out=tmp_path / "o")  # type: ignore[arg-type]


def test_other_threads_run_while_a_model_is_asked(tmp_path: Path) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def slow(messages: Any, **options: Any) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.3)
        with lock:
            running -= 1
        return "success"

    dataset, ticks = rows(tmp_path / "rows.jsonl", 4), 0
    options: Any = {"verbalised": False, "samples": 1, "temperature": 1.0, "jobs": 4}
    work = threading.Thread(
        target=lambda: swe_atlas.abstain(dataset, model=slow, out=tmp_path / "out", **options)
    )
    work.start()
    while work.is_alive():
        time.sleep(0.01)
        ticks += 1
    assert ticks > 10
    assert most > 1, "four jobs were asked one after the other"
    assert all("abstention" in line for line in read(tmp_path / "out"))


def test_a_text_names_a_model(tmp_path: Path) -> None:
    dataset = rows(tmp_path / "rows.jsonl", 1)
    answer = {
        "holds": "Title",
        "text": "success",
        "logprobs": [
            {"bytes": list(b"success"), "logprob": -0.1, "top": [[list(b"success"), -0.1]]}
        ],
    }
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps(answer) + "\n")
    report = swe_atlas.abstain(dataset, model=f"scripted:{script}", out=tmp_path / "a.jsonl")
    assert report.complete and report.attempt == 1
    with pytest.raises(swe_atlas.InvalidInputError, match="no provider"):
        swe_atlas.abstain(dataset, model="weather:1", out=tmp_path / "b.jsonl")


def test_patches_are_reviewed(tmp_path: Path) -> None:
    dataset = rows(tmp_path / "rows.jsonl")
    report = swe_atlas.review(
        dataset, candidates(), mode="deterministic", out=tmp_path / "review.jsonl"
    )
    assert report.complete and (report.accepted, report.rejected) == (2, 0)
    assert not report.ledger and [step["step"] for step in report.funnel][0] == "all"
    assert {one["label"] for one in report.results} == {"accept"}
    with pytest.raises(swe_atlas.InvalidInputError, match="one is needed"):
        swe_atlas.review(dataset, candidates(), out=tmp_path / "r.jsonl")

    def reviewer(messages: Any, *, json_schema: Any, **options: Any) -> str:
        if json_schema is None:
            return "It should open stores."
        return json.dumps(
            {name: spec_value(spec) for name, spec in json_schema["properties"].items()}
        )

    def spec_value(spec: dict[str, Any]) -> Any:
        return {"boolean": True, "array": [], "integer": 1, "number": 1}.get(
            spec.get("type", ""), spec.get("enum", ["so"])[0]
        )

    asked = swe_atlas.review(
        dataset, "gold", model=reviewer, out=tmp_path / "asked.jsonl", max_tokens=99
    )
    assert asked.done == 2, asked.to_json()
    assert asked.notes and "--repos" in asked.notes[0]


def test_critics_and_baselines(tmp_path: Path) -> None:
    dataset = rows(tmp_path / "rows.jsonl")

    def critic(messages: Any, **options: Any) -> str:
        return json.dumps({"reasoning": "so", "verdict": "pass", "confidence": 80})

    report = swe_atlas.critic(
        dataset, candidates(), model=critic, out=tmp_path / "c.jsonl", longer_than=1000
    )
    assert report.complete and (report.passing, report.failing) == (2, 0), report.to_json()
    assert report.baseline is None and report.fitted is None
    assert report.results[0]["progress"] == 1.0
    assert read(report.out)[0]["critic"]["variant"] == "isolated-function"

    coin = swe_atlas.critic(
        dataset, candidates(), baseline="random", share=1.0, out=tmp_path / "r.jsonl"
    )
    assert (coin.baseline, coin.passing, coin.ledger) == ("random-1", 2, None)
    likeness = swe_atlas.critic(
        dataset,
        candidates(resolved=True),
        baseline="likeness",
        threshold=0.9,
        out=tmp_path / "l.jsonl",
    )
    assert likeness.passing == 2 and likeness.ledger is not None
    assert likeness.baseline == "likeness-hashed-ngrams-3-5-1024"
    # Its results are what the metrics read.
    measured = swe_atlas.measure(likeness.out, resamples=0)
    assert measured.critics[0]["macro"]["tp"] == 2
    with pytest.raises(swe_atlas.InvalidInputError, match="random-tests, likeness or a judge"):
        swe_atlas.critic(dataset, "gold", baseline="guess", out=tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(swe_atlas.InvalidInputError, match="a baseline asks none"):
        swe_atlas.critic(dataset, "gold", baseline="random", model=critic, out=tmp_path / "x")
    with pytest.raises(swe_atlas.InvalidInputError, match="one is needed, or a baseline"):
        swe_atlas.critic(dataset, "gold", out=tmp_path / "x")


def test_rows_are_judged_by_rules(tmp_path: Path) -> None:
    dataset = rows(tmp_path / "rows.jsonl")
    found = swe_atlas.hints(dataset, out=tmp_path / "hints.jsonl")
    assert found.labels == {"needed": 2} and found.tables == {}
    assert "open_store" in found.results[0]["hint"]
    classes = swe_atlas.judge(dataset, question="classes", out=tmp_path / "classes.jsonl")
    assert classes.complete and classes.tables["code_type"]["total"] == 2
    with pytest.raises(swe_atlas.InvalidInputError, match="--model"):
        swe_atlas.judge(dataset, out=tmp_path / "judge.jsonl")

    attempts = swe_atlas.judge_attempts(
        dataset,
        [*candidates(log=LOG), {**candidates()[0], "patch_id": "good", "resolved": True}],
        hints=tmp_path / "hints.jsonl",
        out=tmp_path / "attempts.jsonl",
    )
    assert attempts.labels == {"infrastructure": 2}
    assert (attempts.resolved, attempts.ungraded) == (1, 2)
    assert attempts.tasks["o__n-0"]["is_task_in_doubt"]
    assert attempts.results[0]["by"] == "rule" and attempts.results[0]["look_again"]
    assert "AttemptReport(" in repr(attempts)


def test_the_command_goes_on_with_what_python_began(tmp_path: Path, atlas: str) -> None:
    dataset, out = rows(tmp_path / "rows.jsonl"), tmp_path / "hints.jsonl"
    ours = swe_atlas.hints(dataset, out=out)
    command = [atlas, "hints", "--dataset", str(dataset), "--out", str(out), "--format", "json"]
    theirs = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert (theirs["known"], theirs["done"]) == (2, 0)
    assert theirs["results"] == ours.results
    assert set(theirs) == set(ours.to_dict())


def test_a_parser_is_written_and_certified(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("1 ok zero\n2 ok one\n3 bad two\n4 left three\n= 2 ok, 1 bad, 1 left\n")
    passing = tmp_path / "pytest.log"
    passing.write_text(
        "============================= test session starts ==============================\n"
        "collected 1 item\n\ntests/test_a.py::test_a PASSED\n\n"
        "============================== 1 passed in 0.01s ===============================\n"
    )

    def useless(messages: Any, **options: Any) -> str:
        return "no parser"

    refused = swe_atlas.synth_parser(
        [log], model=useless, out=tmp_path / "p.json", engine="local"
    )
    assert refused.outcome == "refused" and refused.parser is None and refused.attempts
    assert not (tmp_path / "p.json").exists()
    declared(refused)
    assert pickle.loads(pickle.dumps(refused)) == refused
    known = swe_atlas.synth_parser([passing], model=useless)
    assert (known.outcome, known.known) == ("known", "pytest")
    certificate = swe_atlas.certify_parser([passing], "pytest")
    assert certificate["decision"] in {"certified", "insufficient"}, certificate
    assert 0 <= certificate["score"] <= 1
    with pytest.raises(swe_atlas.InvalidInputError, match="logs"):
        swe_atlas.synth_parser([], model=useless)


CHILD = """
import signal, sys, threading, time
import swe_atlas
# A shell that runs this in the background has switched the signal off.
signal.signal(signal.SIGINT, signal.default_int_handler)
ticks = []
def tick():
    while True:
        ticks.append(time.monotonic())
        time.sleep(0.05)
threading.Thread(target=tick, daemon=True).start()
calls = []
def slow(messages, **options):
    calls.append(1)
    if len(calls) == 3:
        print("asked", flush=True)
        time.sleep(600)
    return "success"
try:
    swe_atlas.abstain(sys.argv[1], model=slow, out=sys.argv[2], samples=1)
except KeyboardInterrupt:
    assert len(ticks) > 2, "the other thread stood still"
    print("interrupted", flush=True)
"""


def test_ctrl_c_in_the_middle_of_a_slow_model(tmp_path: Path) -> None:
    dataset, out = rows(tmp_path / "rows.jsonl"), tmp_path / "abstain.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(dataset), str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "asked\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        rest, err = child.communicate(timeout=60)
    finally:
        child.kill()
        child.wait()
    assert rest == "interrupted\n", err
    # The call in flight sleeps on in its thread, and the process ends all the same.
    assert child.returncode == 0, err
    assert time.monotonic() - interrupted < 20
    # What was done before stands in the file.
    assert [line["instance_id"] for line in read(out)] == ["o__n-0"]


def test_one_patch_of_several_is_chosen(tmp_path: Path, atlas: str) -> None:
    other = PATCH.replace("open_store", "open_shop")
    third = PATCH.replace("return path", "return None")
    lines = [
        {"instance_id": "o__n-0", "model_name_or_path": "m", "patch_id": name, "model_patch": patch}
        for name, patch in (("a", third), ("b", PATCH), ("c", other))
    ]
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = swe_atlas.choose(predictions, out=tmp_path / "chosen.jsonl")
    assert (found["candidates"], found["accepted"], found["without"]) == (3, 3, [])
    # Two say the same but for a name; the first of them is taken.
    (choice,) = found["choices"]
    assert (choice["patch_id"], choice["votes"]) == ("b", 2)
    (chosen,) = read(tmp_path / "chosen.jsonl")
    assert chosen["model_patch"] == PATCH
    results = tmp_path / "review.jsonl"
    judged = [
        {"instance_id": "o__n-0", "agent": "m", "patch_id": name, "accepted": True, "validation": {"score": score}}
        for name, score in (("a", 0.9), ("b", 0.5), ("c", 0.4))
    ]
    results.write_text("".join(json.dumps(line) + "\n" for line in judged))
    best = swe_atlas.choose(predictions, out=tmp_path / "best.jsonl", results=[results], rule="score", name="best")
    assert best["choices"][0]["patch_id"] == "a" and best["choices"][0]["score"] == 0.9
    assert read(tmp_path / "best.jsonl")[0]["model_name_or_path"] == "best"
    command = [atlas, "choose", "--predictions", str(predictions), "--out", str(tmp_path / "again.jsonl"), "--format", "json"]
    assert json.loads(subprocess.run(command, check=True, capture_output=True).stdout) == found
    with pytest.raises(swe_atlas.InvalidInputError, match="rule"):
        swe_atlas.choose(predictions, out=tmp_path / "x.jsonl", rule="best")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        swe_atlas.choose(tmp_path / "nowhere.jsonl", out=tmp_path / "x.jsonl")
