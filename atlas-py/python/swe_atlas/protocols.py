"""Protocols: what an object must have to stand in the place of a part of Atlas, and what such objects are given.

Any object with these attributes and methods will do; nothing has to be inherited from. A method may be `async`. Each
call has a thread of its own: a call that is waited for no longer, because the run was cancelled, goes on unheard. What
a method raises ends the step with an error that names the object, the method and the line; an exception of this package
keeps its kind, any other is a tool's failure. `swe_atlas.testing` checks an object against its contract.

What is called mapping here is plain JSON in the form that Atlas writes to files.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, runtime_checkable

from swe_atlas._attempt import AgentTask, Room
from swe_atlas._swe_atlas import Instance, ParsedLog, Tools, _prelude

__all__ = [
    "Agent",
    "BuildPlan",
    "Candidate",
    "CodeHost",
    "EnvSynthesizer",
    "FileContent",
    "Job",
    "JobResult",
    "Judge",
    "LanguageModel",
    "LogParser",
    "Oracle",
    "OracleTask",
    "PlanTools",
    "Reading",
    "Repository",
    "Sandbox",
    "StateName",
    "StateRun",
    "States",
    "Subject",
    "Synthesis",
    "Validator",
]

StateName: TypeAlias = Literal["base"] | Literal["before", "after"]
"""Base is the commit before the pull request, Before has its tests, After its tests and its solution."""


@dataclass(frozen=True)
class Reading:
    """What a parser read, where it knows more than tests and statuses."""

    tests: Mapping[str, Any]
    """Id -> 'PASSED', 'FAILED', 'ERROR', 'SKIPPED', 'XFAIL' or 'XPASS'."""
    totals: Mapping[str, int] | None = None
    """The runner's own counts: `total`, `passed`, `failed`, `errors`, `skipped`, `xfailed`, `xpassed`."""
    outcome: str | None = None
    """'completed', 'build_failed', 'crashed', 'timed_out', 'truncated' or 'nothing_ran'; by default the first where
    there are tests, else the last."""
    warnings: Sequence[str] = ()
    """Remarks."""


@runtime_checkable
class LogParser(Protocol):
    """Reads the output of a test runner.

    The same log gives the same tests. Any bytes are taken, and a log without tests gives none. A test has one id in
    whatever way it ends: without times, addresses, temporary paths.
    """

    id: str
    """One word, which stands in the column `log_parser` of rows."""

    def parse(
        self, log: bytes, /
    ) -> Mapping[str, Any] | Reading | ParsedLog | Awaitable[Mapping[str, Any] | Reading | ParsedLog]:
        """Id -> status, as the parsers of SWE-bench give it; a `Reading`; or what `parse_log` gives."""
        ...


@dataclass(frozen=True)
class Repository:
    """What an environment is made for."""

    name: str
    """`owner/name`."""
    checkout: os.PathLike[str]
    """A folder with Base checked out, and no later commit. It is only read."""
    base: str
    """The commit."""
    base_date: str
    """Its date, ISO 8601: dependencies resolve as of then."""
    head_manifests: Mapping[str, bytes]
    """Manifests and lock files that the pull request changes, as they are afterwards."""
    head_tests: Mapping[str, bytes]
    """Test files that it changes, likewise; nothing of them is to be in an environment."""
    touched: Sequence[str]
    """All paths that it touches."""


class BuildPlan(TypedDict):
    """What Atlas would build: a plan, or none and why."""

    plan: dict[str, Any] | None
    """The plan, as `atlas plan --format json` prints it; None where there is none."""
    reason: str
    """Why there is none. Absent with a plan."""
    evidence: list[dict[str, Any]]
    """Proof lines of that. Absent with a plan."""
    fault: Literal["repository", "atlas"]
    """Whose fault that is: 'atlas' where the repository has what Atlas does not know. Absent with a plan."""


class Synthesis(TypedDict, total=False):
    """What came of building: `outcome` is 'ready', with `environment`, or 'not_buildable', with `reason`."""

    outcome: Literal["ready", "not_buildable"]
    environment: dict[str, Any]
    reason: str
    attempts: list[dict[str, Any]]
    """Plans that were built, each with its `failure`: the step, and the end of what it printed."""
    dockerfile: str | None
    evidence: list[dict[str, Any]]
    fault: Literal["repository", "atlas", "environment"]
    """Whose fault it is that it cannot be built. Default: 'environment'."""


@dataclass(frozen=True)
class PlanTools:
    """What a synthesizer may use of the run that calls it."""

    native: Tools

    def analyse(self) -> BuildPlan:
        """What Atlas would plan for the repository. Nothing of it is run."""
        found: BuildPlan = self.native.ask("analyse", {})
        return found

    def build(self, plan: Mapping[str, Any]) -> Synthesis:
        """Builds a plan on the run's engine and runs Base's tests in it.

        What cannot be built, or where the tests cannot run, is 'not_buildable' with what was printed. Raises
        InvalidInputError for what is no plan, and what the engine's failures raise.
        """
        made: Synthesis = self.native.ask("build", {"plan": dict(plan)})
        return made


@runtime_checkable
class EnvSynthesizer(Protocol):
    """Finds and builds an environment for a repository at a commit (paper 001, section 3.2)."""

    def synthesize(
        self, repository: Repository, tools: PlanTools, /
    ) -> Synthesis | Awaitable[Synthesis]:
        """What `tools.build` gave of the plan that is best, or why there is none. A repository that cannot be built is
        'not_buildable', no exception."""
        ...


@dataclass(frozen=True)
class OracleTask:
    """What a pull request asks of an oracle."""

    instance_id: str
    test_patch: str
    gold_patch: str
    modified_tests: Sequence[str]
    """Names of tests whose source the test patch changes."""


@dataclass(frozen=True)
class StateRun:
    """One run of the tests in one state."""

    log: bytes
    """What they printed."""
    parsed: ParsedLog
    """The same, read."""
    summary: dict[str, Any]
    """The run in numbers: exit, seconds, isolation, …"""
    tampering: Sequence[str]
    """Signs that the code under test meddled with its verdict: nothing such a run says counts."""


@dataclass(frozen=True)
class States:
    """The three states of a task, run when they are asked for; what was run is remembered."""

    native: Tools

    def run(self, state: StateName, *, repeat: int = 0) -> StateRun:
        """Runs a state's tests; `repeat` tells further runs of it apart."""
        run: StateRun = self.native.ask("run", {"state": state, "repeat": repeat})
        return run

    def report(self) -> dict[str, Any]:
        """What Atlas's own oracle says of these runs, as `oracle.json` has it."""
        report: dict[str, Any] = self.native.ask("report", {})
        return report


@runtime_checkable
class Oracle(Protocol):
    """Decides which tests define a task (paper 001, section 3.3)."""

    def judge(
        self, environment: dict[str, Any], task: OracleTask, states: States, /
    ) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """A whole report in the form of `states.report()`, which is a good beginning. No instance without
        `fail_to_pass`, no test in both lists."""
        ...


@dataclass(frozen=True)
class FileContent:
    """A file's content and how it is stored."""

    mode: Literal["regular", "executable", "symlink"]
    content: bytes
    """Of a symbolic link its target."""


@dataclass(frozen=True)
class Job:
    """A script to run in a fresh copy of an environment."""

    label: str
    """What it is: `before`."""
    script: str
    """Text for bash, which starts in the repository's root. Variables name the folders of Atlas's convention, and those
    of the plan are set: `prelude` does so."""
    write: Mapping[str, FileContent]
    """Files to lay on the repository first, by path."""
    remove: Sequence[str]
    """Paths to remove before that."""
    files: Mapping[str, bytes]
    """Files to put into `$ATLAS_IN`."""
    collect: Sequence[str]
    """Names of files in `$ATLAS_OUT` to bring back."""
    env: Mapping[str, str]
    """Environment variables."""
    limits: Mapping[str, Any]
    """`seconds`, `memory_bytes`, `cpus`, `processes`, `output_bytes`, `file_bytes`."""
    network: Literal["none", "full"]
    user: Literal["tests", "bare_root", "root"]
    """Who the script is: the user that Atlas's environments are made for; root without capabilities, in images of
    others; or root."""

    def prelude(self, environment: Mapping[str, Any], **places: str) -> str:
        """What bash is to do before the script, once `write`, `remove` and `files` are done.

        It sets the variables of the plan and of the job, goes to the repository, and makes what was written newer than
        all that was built, so that build tools see it change. `places` are the folders `repo`, `env`, `cache`, `input`,
        `output` and `home` as the script sees them, by default those of Atlas's images: `/testbed`, `/opt/atlas/env`,
        `/opt/atlas/cache`, `/opt/atlas/in`, `/opt/atlas/out`, `/home/atlas`.
        """
        variables = [dict(environment["plan"].get("env", {})), dict(self.env)]
        return _prelude(places, variables, list(self.write))


@dataclass(frozen=True)
class JobResult:
    """What a script did."""

    exit: int | Literal["timed_out", "out_of_memory"]
    """Its exit code, 128 and more for a signal, or the limit that ended it."""
    output: bytes
    """Standard output and standard error as one stream, byte for byte."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The collected files that exist."""
    output_total: int | None = None
    """All bytes that it printed, where not all were kept."""
    seconds: float | None = None
    """Wall time of the script; by default that of the call."""
    isolation: Mapping[str, Any] | None = None
    """How it was kept apart, with `kind` and what is true of `network_off`, `filesystem`, `processes`, `no_privileges`,
    `non_root`; unknown by default."""


@runtime_checkable
class Sandbox(Protocol):
    """Runs scripts in environments that the engine built.

    Nothing that one job writes is seen by another. Limits hold; reaching one is a result, no exception. When `run` is
    back, nothing of the job is left.
    """

    engine: str
    """Its name in reports. Results are remembered under it and the version of the class."""

    def run(
        self, environment: dict[str, Any], job: Job, /
    ) -> JobResult | Awaitable[JobResult]:
        """Runs one job. `environment['image']` names the image as the engine does."""
        ...


@dataclass(frozen=True)
class Candidate:
    """An instance on its way into a dataset."""

    instance: Instance
    """The row."""
    environment: dict[str, Any]
    """Where it runs."""
    task: OracleTask
    """Its patches."""
    oracle: dict[str, Any]
    """How its tests were found."""
    native: Tools

    def run(
        self, script: str, *, state: StateName = "after", seconds: int = 300, collect: Sequence[str] = ()
    ) -> JobResult:
        """Runs a script in a fresh copy of the environment, in one of the states, without a network."""
        asked = {"script": script, "state": state, "seconds": seconds, "collect": list(collect)}
        result: JobResult = self.native.ask("run", asked)
        return result


@runtime_checkable
class Validator(Protocol):
    """A quality gate (paper 001, section 3.4)."""

    id: str
    """Letters, digits, `_` and `-`; none of Atlas's gates."""

    def validate(
        self, candidate: Candidate, /
    ) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """`decision` is 'accept', 'repair', 'reject' or 'no_evidence'; `findings` are mappings with `code`, `severity`
        ('note', 'warning', 'fatal'), `message` and proof lines as `evidence`, and a refusal has one; 'repair' names
        tests in `quarantine`, id -> reason; `measurements` are numbers of its own."""
        ...


@dataclass(frozen=True)
class Subject:
    """What a judge looks at."""

    instance: Instance
    patch: str | None
    """The candidate patch; None for a judgement on the task alone."""
    attachments: dict[str, Any]
    """What else is known."""


@runtime_checkable
class Judge(Protocol):
    """Gives an opinion on a task or a patch (papers 001, 002, 004)."""

    id: str
    """Its name in results."""

    def judge(
        self, subject: Subject, /
    ) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """`label` is one of its documented words; `confidence` is a number from 0 to 1 that a rule gave, or a mapping
        of `value` and `source`, and may be absent; `reasoning`, `evidence` and `details` likewise."""
        ...


class LanguageModel(Protocol):
    """A language model: any callable. Its attribute `name`, or else its qualified name, tells it from others."""

    def __call__(
        self, messages: list[dict[str, str]], **options: Any
    ) -> str | Mapping[str, Any] | Awaitable[str | Mapping[str, Any]]:
        """Answers a chat; `swe_atlas.abstain` documents options and answers."""
        ...


@runtime_checkable
class CodeHost(Protocol):
    """A place that tells of merged pull requests.

    Pages follow one another by their cursors and end; every pull request comes once. A cursor is one line of text and
    asks for the same page again, also in another process.
    """

    name: str
    """What is asked; two hosts of one name tell of the same place."""

    def page(self, cursor: str | None, /) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """`pull_requests` are mappings with `repo`, `clone`, `source`, `number`, `base`, `head`, `title`, `body`, … as
        `candidates.jsonl` has them; `next` is the next page's cursor, absent behind the last one; `mark` on the first
        page is what `changes` takes."""
        ...

    def changes(
        self, since: str, cursor: str | None, /
    ) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """The same of what is new or changed since a mark. Asked only of a host that gives marks."""
        ...


class Agent(Protocol):
    """An agent: any callable. It works on the repository by `room.run` and friends until it returns."""

    def __call__(self, task: AgentTask, room: Room, /) -> str | None:
        """Its exit status, or None."""
        ...
