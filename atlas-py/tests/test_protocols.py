"""Parts of the pipeline that are objects of Python."""

import asyncio
import copy
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import FAILED, NOTHING, PASSED, PullRequest, git

import swe_atlas
from swe_atlas import protocols, testing

ID = "example__sums-1"
LINE = re.compile(r"^(\w+) \(([\w.]+)\).*? \.\.\. (ok|FAIL|ERROR|skipped.*)$", re.MULTILINE)
WORDS = {"ok": "PASSED", "FAIL": "FAILED", "ERROR": "ERROR"}


class Lines:
    """Reads what unittest prints with `-v`, and numbers what it was asked for."""

    id = "lines"

    def __init__(self) -> None:
        self.logs: list[bytes] = []

    def parse(self, log: bytes, /) -> Mapping[str, str]:
        self.logs.append(log)
        found = LINE.findall(log.decode(errors="replace"))
        return {f"{where}::{name}": WORDS.get(word, "SKIPPED") for name, where, word in found}


class Bash:
    """Runs jobs in copies of a folder of its own, which the test makes beforehand."""

    engine = "copies"

    def __init__(self, checkout: Path, work: Path) -> None:
        self.checkout, self.work, self.labels, self.turn = checkout, work, list[str](), 0

    def run(self, environment: dict[str, Any], job: protocols.Job, /) -> protocols.JobResult:
        self.labels.append(job.label)
        self.turn += 1
        place = self.work / str(self.turn)
        names = ("repo", "env", "cache", "input", "output", "home")
        repo, *others = (place / name for name in names)
        for folder in others:
            folder.mkdir(parents=True)
        _, _, given, out, _ = others
        subprocess.run(["cp", "-a", str(self.checkout), str(repo)], check=True)
        for name in job.remove:
            subprocess.run(["rm", "-rf", str(repo / name)], check=True)
        for name, file in job.write.items():
            path = repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if file.mode == "symlink":
                path.symlink_to(file.content.decode())
            else:
                path.write_bytes(file.content)
                path.chmod(0o755 if file.mode == "executable" else 0o644)
        for name, content in job.files.items():
            (given / name).write_bytes(content)
        prelude = job.prelude(environment, **{name: str(place / name) for name in names})
        exit_: Any
        process = subprocess.Popen(
            ["bash", "-c", prelude + job.script], cwd=place, env={"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=job.limits["seconds"])
            exit_ = process.returncode if process.returncode >= 0 else 128 - process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            exit_ = "timed_out"
        files = {name: (out / name).read_bytes() for name in job.collect if (out / name).exists()}
        subprocess.run(["rm", "-rf", str(place)], check=True)
        most = job.limits["output_bytes"]
        return protocols.JobResult(exit_, output[:most], files, output_total=len(output))


class Careful:
    """Takes what Atlas would plan, or the plan that it was given, and builds it."""

    name = "careful"

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan, self.seen = plan, list[protocols.Repository]()

    async def synthesize(
        self, repository: protocols.Repository, tools: protocols.PlanTools, /
    ) -> protocols.Synthesis:
        await asyncio.sleep(0)
        self.seen.append(repository)
        found = tools.analyse()
        if not (Path(repository.checkout) / "sums.py").exists():
            return {"outcome": "not_buildable", "reason": f"no sums.py: {found['reason']}"}
        return tools.build(self.plan)


class Stricter:
    """Atlas's verdict without tests that have `zero` in their names."""

    name = "stricter"

    def judge(
        self, environment: dict[str, Any], task: protocols.OracleTask, states: protocols.States, /
    ) -> dict[str, Any]:
        after = states.run("after")
        assert after.parsed.tests and after.log and not after.tampering
        report = states.report()
        report["PASS_TO_PASS" if "PASS_TO_PASS" in report else "pass_to_pass"] = []
        report["warnings"].append(f"{task.instance_id} was judged by {self.name}")
        return report


class Small:
    """A gate for small patches whose tests see the solution's file."""

    id = "small"

    def __init__(self, most: int) -> None:
        self.most = most

    def validate(self, candidate: protocols.Candidate, /) -> dict[str, Any]:
        result = candidate.run("cat sums.py; echo made > $ATLAS_OUT/x", state="before", collect=["x"])
        assert result.exit == 0 and b"a - b" in result.output and result.files == {"x": b"made\n"}
        assert candidate.instance["instance_id"] == candidate.task.instance_id
        lines = len(candidate.task.gold_patch.splitlines())
        if lines <= self.most:
            return {"decision": "accept", "measurements": {"lines": lines}}
        message = f"the patch has {lines} lines"
        finding = {"code": "large", "severity": "fatal", "message": message}
        return {"decision": "reject", "findings": [finding]}


class Plus:
    """Says `pass` of patches that add."""

    id = "plus"

    def judge(self, subject: protocols.Subject, /) -> dict[str, Any]:
        patch = subject.patch if subject.patch is not None else subject.instance["patch"]
        good = "+    return a + b" in patch
        return {"label": "pass" if good else "fail", "confidence": 0.9, "reasoning": "by its lines"}


class Clone:
    """Tells of the one pull request of a clone, on two pages."""

    name = "a clone of the test's"

    def __init__(self, request: PullRequest) -> None:
        self.request = request

    def page(self, cursor: str | None, /) -> dict[str, Any]:
        if cursor is None:
            return {"next": "2"}
        told = {
            "repo": "example/sums", "clone": str(self.request.repo), "source": "clone", "number": 1,
            "base": self.request.base, "head": self.request.head, "title": "add() subtracts",
            "merged_at": "2026-01-01T00:00:00Z",
        }  # fmt: skip
        return {"pull_requests": [told]}

    def changes(self, since: str, cursor: str | None, /) -> dict[str, Any]:
        raise AssertionError("this host gives no mark, so nobody asks for changes")


@pytest.fixture
def sandbox(pull_request: PullRequest, tmp_path: Path) -> Bash:
    checkout = tmp_path / "base"
    checkout.mkdir()
    git(checkout, "init", "--quiet")
    git(checkout, "fetch", "--quiet", str(pull_request.repo), pull_request.base)
    git(checkout, "checkout", "--quiet", "--detach", pull_request.base)
    return Bash(checkout, tmp_path / "copies")


def plan(request: PullRequest) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((request.config.parent / "plan.json").read_text())
    return made


def test_every_part_of_make_may_be_pythons(pull_request: PullRequest, sandbox: Bash) -> None:
    parser, synthesizer = Lines(), Careful(plan(pull_request))
    told = swe_atlas.source([Clone(pull_request)], out=pull_request.out / "candidates.jsonl")
    assert told["hosts"][Clone.name]["told"] == 1
    candidate = json.loads((pull_request.out / "candidates.jsonl").read_text())
    arguments = {name: value for name, value in pull_request.arguments.items() if name not in ("repo", "base", "head")}
    made = swe_atlas.make(
        **arguments, candidate=candidate, parser=parser, synthesizer=synthesizer, oracle=Stricter(), sandbox=sandbox
    )
    assert made.outcome == "instance", made.reason
    assert made.fail_to_pass == ["tests.test_sums.Sums.test_two::test_two"]
    assert made.pass_to_pass == []
    assert f"{ID} was judged by stricter" in made.warnings
    assert {"base", "before", "after"} <= set(sandbox.labels)
    assert synthesizer.seen[0].base == pull_request.base and parser.logs
    row = swe_atlas.read_dataset(pull_request.out / "dataset.jsonl")[0]
    assert row["log_parser"] == "lines" and row["problem_statement"].startswith("add() subtracts")
    with pytest.raises(swe_atlas.InvalidInputError, match="give either"):
        swe_atlas.make("somewhere", out=pull_request.out, candidate=candidate)


def test_rows_are_graded_and_checked_with_the_same_parts(pull_request: PullRequest, sandbox: Bash) -> None:
    made = swe_atlas.make(**pull_request.arguments, parser=Lines())
    assert made.outcome == "instance", made.reason
    dataset, results = pull_request.out / "dataset.jsonl", pull_request.out / "results"
    given: dict[str, Any] = {
        "engine": "local", "config": str(pull_request.config), "trust": True, "out": pull_request.out,
    }  # fmt: skip
    parser = Lines()
    report = swe_atlas.evaluate(
        dataset, "gold", "own", **given, results=results, parser=parser, sandbox=sandbox
    )
    verdict = report.verdicts[0]
    assert verdict["resolved"], verdict
    assert verdict["read_by"]["id"] == "lines" and verdict["read_by"]["origin"] == "caller"
    assert parser.logs and sandbox.labels
    # Without it nobody knows how to read them, and no other parser is tried.
    lost = swe_atlas.evaluate(dataset, "gold", "none", **given, results=results)
    assert lost.verdicts[0]["outcome"] == "no_evidence"
    assert "read by `lines`, a parser of the program that made the row" in str(lost.verdicts[0]["reasons"])
    regraded = swe_atlas.regrade(dataset, "gold", pull_request.out / "logs/run_evaluation/own")
    assert not regraded.resolved_ids and "read by `lines`" in regraded.to_json()
    unchecked = swe_atlas.validate(dataset, gates=["gold_patch"], **given)
    assert unchecked.errors == 1 and "read by `lines`" in unchecked.to_json()
    with swe_atlas.Evaluator(dataset, run_id="o", **given, results=results, parser=Lines()) as evaluator:
        assert evaluator.grade(ID, made_patch(dataset))["resolved"]
    gates: list[Any] = ["gold_patch", Small(most=40)]
    checked = swe_atlas.validate(dataset, gates=gates, **given, parser=Lines())
    assert checked.accepted == 1, checked.to_dict()
    assert checked.instances[0]["verdicts"][-1]["measurements"]["lines"] > 3
    checked = swe_atlas.validate(dataset, gates=[Small(most=1)], **given, parser=Lines())
    assert checked.rejected == 1 and "large" in checked.to_json()
    with pytest.raises(swe_atlas.InvalidInputError, match="a gate of Atlas has that name"):
        gate = Small(1)
        gate.id = "integrity"
        swe_atlas.validate(dataset, gates=[gate], **given)


def made_patch(dataset: Path) -> str:
    patch: str = swe_atlas.read_dataset(dataset)[0]["patch"]
    return patch


def test_judges_of_tasks_and_of_patches(pull_request: PullRequest, tmp_path: Path) -> None:
    swe_atlas.make(**pull_request.arguments)
    dataset = pull_request.out / "dataset.jsonl"
    report = swe_atlas.judge(dataset, out=tmp_path / "judged.jsonl", question=Plus())
    assert report.labels == {"pass": 1}
    patches = [
        {"instance_id": ID, "model_name_or_path": name, "model_patch": patch}
        for name, patch in [("good", made_patch(dataset)), ("bad", made_patch(dataset).replace("a + b", "b"))]
    ]
    critic = swe_atlas.critic(dataset, patches, out=tmp_path / "critic.jsonl", baseline=Plus())
    assert (critic.baseline, critic.passing, critic.failing) == ("plus", 1, 1)
    line = json.loads((tmp_path / "critic.jsonl").read_text().splitlines()[0])
    assert line["critic"]["variant"] == "plus"


def test_objects_are_checked(pull_request: PullRequest, sandbox: Bash) -> None:
    sample = "test_zero (tests.T.test_zero) ... ok\ntest_two (tests.T.test_two) ... FAIL\n"
    testing.check_log_parser(Lines(), sample)
    swe_atlas.make(**pull_request.arguments)
    dataset = pull_request.out / "dataset.jsonl"
    given: Any = {"engine": "local", "config": str(pull_request.config), "trust": True}
    testing.check_sandbox(sandbox, dataset, ID, **given)
    testing.check_env_synthesizer(Careful(plan(pull_request)), dataset, ID, **given)
    testing.check_oracle(Stricter(), dataset, ID, **given)
    testing.check_validator(Small(40), dataset, ID, **given)
    testing.check_validator(Small(1), dataset, ID, expected="reject", **given)
    row = swe_atlas.Instance.from_json(dataset.read_text().splitlines()[0])
    testing.check_judge(Plus(), row, labels=["pass", "fail"])
    testing.check_language_model(lambda messages, **options: "yes")
    assert testing.check_code_host(Clone(pull_request))[0]["number"] == 1

    def agent(task: Any, room: Any) -> None:
        for _ in range(4):
            room.run("true")

    testing.check_agent(agent)


class Sloppy(Lines):
    """Sees a test in every log."""

    def parse(self, log: bytes, /) -> Mapping[str, str]:
        return {"t": "PASSED"}


def test_what_breaks_a_contract_is_told(pull_request: PullRequest, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionError, match='lines sees tests in ""'):
        testing.check_log_parser(Sloppy(), "x")

    class Random(Lines):
        def parse(self, log: bytes, /) -> Mapping[str, str]:
            return {f"t{time.time_ns()}": "PASSED"} if log.strip() else {}

    with pytest.raises(AssertionError, match="not pure"):
        testing.check_log_parser(Random(), "x")

    class Raises(Lines):
        def parse(self, log: bytes, /) -> Mapping[str, str]:
            raise LookupError("no such line")

    with pytest.raises(AssertionError, match="LookupError: no such line"):
        testing.check_log_parser(Raises(), "x")
    with pytest.raises(AssertionError, match="undocumented label pass|undocumented label fail"):
        row = swe_atlas.Instance.from_dict({"instance_id": "a__b-1", "patch": ""})
        testing.check_judge(Plus(), row, labels=["yes"])
    host = Clone(pull_request)
    pages = [{"next": "2"}, {"next": "3"}, {"next": "4"}]
    host.page = lambda cursor: pages.pop() if pages else {}  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="another page when asked again"):
        testing.check_code_host(host)
    # A finding is an exception alone.
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (7, "int; a mapping of test ids to statuses is expected"),
        ({"t": "GREAT"}, "the status of `t`"),
        ({3: "PASSED"}, "a test's id is no text"),
        (protocols.Reading({"t": "PASSED"}, outcome="great"), "`outcome`: unknown variant `great`"),
        (LookupError("no such line"), r"LookupError: no such line \(.*test_protocols.py, line \d+\)"),
        (swe_atlas.TimedOutError("too slow"), "TimedOutError: too slow"),
    ],
)
def test_a_parser_that_fails_ends_make_and_leaves_nothing(
    pull_request: PullRequest, answer: Any, why: str
) -> None:
    class Bad(Lines):
        def parse(self, log: bytes, /) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    kind = swe_atlas.TimedOutError if "TimedOut" in why else swe_atlas.ToolFailedError
    with pytest.raises(kind, match=f"call `parse` of the parser `lines`: .*{why}"):
        swe_atlas.make(**pull_request.arguments, parser=Bad())
    assert not (pull_request.out / "dataset.jsonl").exists()
    # The same call with one that works goes on from there.
    assert swe_atlas.make(**pull_request.arguments, parser=Lines()).outcome == "instance"


def test_parts_that_are_none_are_refused(pull_request: PullRequest) -> None:
    class Nothing:
        id = "two words"

    for argument, what in [("parser", "parse"), ("synthesizer", "synthesize"), ("oracle", "judge"), ("sandbox", "run")]:
        part: dict[str, Any] = {argument: Nothing()}
        with pytest.raises(swe_atlas.InvalidInputError, match=f"`.*Nothing` has no method `{what}`"):
            swe_atlas.make(**pull_request.arguments, **part)
    with pytest.raises(swe_atlas.InvalidInputError, match="`id` is one word"):
        parser = Lines()
        parser.id = "two words"
        swe_atlas.make(**pull_request.arguments, parser=parser)


def test_other_parts_that_fail_say_so(pull_request: PullRequest, sandbox: Bash) -> None:
    def fails(of: Any, method: str, answer: Any) -> Any:
        of = copy.copy(of)

        def call(*_: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        setattr(of, method, call)
        return of

    arguments = pull_request.arguments
    for part, match in [
        ({"sandbox": fails(sandbox, "run", 3)}, "`run` of the sandbox `copies`: its answer: int; a JobResult"),
        ({"sandbox": fails(sandbox, "run", OSError("gone"))}, "OSError: gone"),
        ({"oracle": fails(Stricter(), "judge", {"outcome": "x"})}, "`judge` of the oracle `stricter`: its answer"),
        ({"synthesizer": fails(Careful({}), "synthesize", "x")}, "str; a mapping is expected"),
        ({"synthesizer": fails(Careful({}), "synthesize", {"outcome": "great"})}, "unknown variant `great`"),
    ]:
        with pytest.raises(swe_atlas.ToolFailedError, match=match):
            swe_atlas.make(**arguments, **part)
        assert not (pull_request.out / "dataset.jsonl").exists()
    broken = Careful({"language": 7})
    with pytest.raises(swe_atlas.InvalidInputError, match="read plan"):
        swe_atlas.make(**arguments, synthesizer=broken)


def test_a_verdict_names_a_part_that_failed(pull_request: PullRequest) -> None:
    swe_atlas.make(**pull_request.arguments)
    dataset = pull_request.out / "dataset.jsonl"

    class Bad(Lines):
        def parse(self, log: bytes, /) -> Any:
            raise RuntimeError("no idea")

    report = swe_atlas.evaluate(
        dataset, "gold", "bad", engine="local", config=str(pull_request.config), trust=True,
        out=pull_request.out, parser=Bad(), results=pull_request.out / "r",
    )  # fmt: skip
    verdict = report.verdicts[0]
    assert not verdict["resolved"] and "RuntimeError: no idea" in str(verdict["reasons"])
    assert verdict["outcome"] == "no_evidence"


BLOCKED = """
import json, sys, time
import swe_atlas
arguments, what = json.loads(sys.argv[1]), sys.argv[2]

class Blocks:
    id = name = engine = "blocks"
    def parse(self, log): self.wait()
    def run(self, environment, job): self.wait()
    def judge(self, *any): self.wait()
    def synthesize(self, *any): self.wait()
    def wait(self):
        print("blocked", flush=True)
        time.sleep(600)

try:
    swe_atlas.make(**arguments, **{what: Blocks()})
except KeyboardInterrupt:
    print("interrupted", flush=True)
# The interpreter lives, and the same call goes through without.
print(swe_atlas.make(**arguments).outcome, flush=True)
"""


@pytest.mark.parametrize("what", ["parser", "sandbox", "oracle", "synthesizer"])
def test_ctrl_c_ends_a_part_that_blocks(pull_request: PullRequest, what: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BLOCKED, json.dumps(pull_request.arguments), what],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "blocked\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    # Several jobs may have been under way.
    assert out.removeprefix("blocked\n") == "interrupted\ninstance\n", errors
    assert process.returncode == 0 and time.monotonic() - began < 40


def test_parts_of_many_threads(pull_request: PullRequest) -> None:
    """Calls of one parser from several threads at once neither mix nor wait for each other for ever."""
    parser = Lines()
    found: list[Any] = []

    def read() -> None:
        for text, tests in ((PASSED, 0), (FAILED, 0), (NOTHING, 0), ("a (b.c) ... ok\n", 1)):
            found.append(len(swe_atlas.parse_log(text, parser).tests) == tests)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 32 and all(found)
    log = swe_atlas.parse_log("a (b.c) ... ok\n", parser)
    assert (log.parser, log.outcome, log.tests) == ("lines", "completed", {"b.c::a": "PASSED"})
    reading = protocols.Reading({"t": "PASSED", "u": "FAILED"}, totals={"passed": 2}, outcome="truncated")
    parser.parse = lambda log: reading  # type: ignore[assignment, method-assign, return-value]
    log = swe_atlas.parse_log("x", parser)
    assert (log.outcome, log.consistent) == ("truncated", False)
