"""The forms of nested values, for type checkers: what reports hold is plain dicts and lists."""

import os
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict

__all__ = [
    "AbstainResult",
    "AskOptions",
    "AtK",
    "AttemptResult",
    "AttemptSummary",
    "AuditCount",
    "BeforeFailureExtent",
    "Beyond",
    "BugRuns",
    "CanaryReport",
    "Cause",
    "CheckedFile",
    "ChoiceReport",
    "ChosenPatch",
    "ClassTable",
    "CompatGrade",
    "Confirmation",
    "Content",
    "CorrelationSummary",
    "CriticAggregate",
    "CriticResult",
    "DatasetDiff",
    "Decision",
    "Diagnosis",
    "Distribution",
    "Duplicates",
    "EvalVerdict",
    "Evidence",
    "FailedItem",
    "FalsePositiveRates",
    "Finding",
    "FittedThreshold",
    "FunnelStep",
    "Grade",
    "GradeChange",
    "GradedLog",
    "GradedTests",
    "GridThreshold",
    "Harness",
    "InfraFailure",
    "InputFault",
    "InstanceCost",
    "InstanceReport",
    "InstanceVerdict",
    "Interval",
    "Isolation",
    "JudgeResult",
    "Kind",
    "LabelMass",
    "LeaderboardRow",
    "LeaderboardTable",
    "Ledger",
    "LintFinding",
    "LogWarning",
    "Loss",
    "LostModule",
    "MakeOutcome",
    "Mended",
    "Mode",
    "ModelAnswer",
    "ModelLedger",
    "ModuleFailure",
    "NetValue",
    "Outcome",
    "PassAtK",
    "PassAtKRow",
    "PatchDiff",
    "PatchFault",
    "PercentileDecision",
    "PrecisionRecallCurve",
    "PredictionDict",
    "RandomBaseline",
    "ReadBy",
    "RegradedInstance",
    "Reliability",
    "ReliabilityBin",
    "ReportBody",
    "Resolution",
    "ResourceUsage",
    "ReviewResult",
    "ReviewStep",
    "RiskCoverage",
    "RowDiff",
    "RowFault",
    "RunOutcome",
    "RunReport",
    "RunSummary",
    "Schema",
    "ScoreBounds",
    "SecondWitness",
    "Seconds",
    "Signal",
    "SourceReport",
    "Stage",
    "Status",
    "TestPrediction",
    "TestsDiff",
    "TestsStatus",
    "Totals",
    "Transition",
    "Try",
    "TypedBug",
    "Verdict",
    "Vote",
    "Yields",
]

Content: TypeAlias = bytes | bytearray | str | os.PathLike[str]
"""Content as bytes or str, or a path object for a file."""

# Each is a union of literals, not one literal of many words: mypy's stubtest tells the two apart.
Status: TypeAlias = Literal["PASSED", "XFAIL", "XPASS"] | Literal["SKIPPED", "FAILED", "ERROR"]

RunOutcome: TypeAlias = (
    Literal["completed", "build_failed", "crashed", "timed_out", "truncated"]
    | Literal["nothing_ran"]
)

Kind: TypeAlias = Literal["bug_fix"] | Literal["feature_request"]

BeforeFailureExtent: TypeAlias = Literal["none"] | Literal["partial", "full", "crash"]

Outcome: TypeAlias = (
    Literal["instance"]
    | Literal[
        "reject_no_fail_to_pass",
        "environment_invalid",
        "reject_after_broken",
        "no_evidence",
    ]
)

MakeOutcome: TypeAlias = Outcome | Literal["reject_nothing_to_test", "reject_entangled"]


class _EvidenceText(TypedDict):
    source: str
    text: str


class Evidence(_EvidenceText, total=False):
    """One proof line: a place and what stands there. `line` is absent for a whole file."""

    line: int


class Totals(TypedDict, total=False):
    """The runner's own counts; what it did not declare is absent."""

    total: int
    passed: int
    failed: int
    errors: int
    skipped: int
    xfailed: int
    xpassed: int


class Isolation(TypedDict):
    """What keeps a script apart from the machine, as it really was."""

    kind: str
    network_off: bool
    filesystem: bool
    processes: bool
    no_privileges: bool
    non_root: bool
    limits: list[str]
    missing: list[str]


class LostModule(TypedDict):
    """A file, package, binary or suite whose tests are missing from a log, and why."""

    module: str
    reason: Literal["build_failed", "load_failed", "crashed", "timed_out"]
    lines: list[Evidence]


class Duplicates(TypedDict):
    """Ids that were reported more than once."""

    count: int
    ids: dict[str, int]


class _WarningText(TypedDict):
    text: str


class LogWarning(_WarningText, total=False):
    """A remark of a parser. `line` is absent where there is no one line."""

    line: int


class _Failure(TypedDict):
    state: Literal["base", "before", "after"]
    module: str
    proof: list[Evidence]


# `class` is no name that a class body can hold.
_FailureClass = TypedDict(
    "_FailureClass",
    {"class": Literal["missing_symbol", "environment", "broken_test", "unknown"]},
)


class ModuleFailure(_Failure, _FailureClass, total=False):
    """A module that did not build or load in one state, with `class` and proof lines."""

    symbol: str


class _States(TypedDict):
    name: str
    base: Status | None
    before: Status | None
    after: Status | None


_TransitionClass = TypedDict("_TransitionClass", {"class": str})


class Transition(_States, _TransitionClass):
    """One test over the three states; None means not in the log. `class` is 'F2P', 'P2P', …"""


class Seconds(TypedDict):
    """Wall seconds by step."""

    prepare: float
    environment: float
    base: float
    before: float
    after: float
    confirm: float
    sandbox_overhead: float
    total: float


class _Confirmed(TypedDict):
    runs: dict[str, int]
    scope: list[str]
    seconds: float


class Confirmation(_Confirmed, total=False):
    """What further runs of Before and After said of FAIL_TO_PASS. `runs` by state; `scope` is what was
    run, `whole` why everything was; `order` the other order that one run had; `distant` the tests that
    the pull request does not reach, or whose neighbours contradicted themselves, with their runs; `contradicted` those that left the lists.
    """

    whole: str
    order: str
    distant: dict[str, int]
    contradicted: dict[str, str]
    remarks: list[str]


class _SecondWitness(TypedDict):
    file: str | None
    runs: int
    tests: int
    differences: list[str]


class SecondWitness(_SecondWitness, total=False):
    """What the runner's structured reports say beside the console. `file` is None where the runner was asked
    for none; `runs` left it, and it names `tests` in all of them together; `differences` with their states.
    `why_none` says in one sentence why there is no such report, where there is none.
    """

    why_none: str


Decision: TypeAlias = Literal["accept", "repair"] | Literal["reject", "no_evidence"]


class Finding(TypedDict):
    """One thing that a gate found."""

    code: str
    severity: Literal["note", "warning", "fatal"]
    message: str
    evidence: list[Evidence]


class _VerdictText(TypedDict):
    validator: str
    decision: Decision
    findings: list[Finding]


class Verdict(_VerdictText, total=False):
    """What a gate says. `quarantine` has the tests that must not be counted, each with the reason;
    `measurements` the numbers that the gate documents. Both are absent where there are none.
    """

    quarantine: dict[str, str]
    measurements: dict[str, Any]


class InstanceVerdict(TypedDict):
    """One instance and its gates; `decision` is None where something went wrong."""

    instance_id: str
    decision: Decision | None
    verdicts: list[Verdict]
    error: str | None
    seconds: float


class FunnelStep(TypedDict):
    """How many instances came to a gate, and what it did with them."""

    gate: str
    entered: int
    accepted: int
    repaired: int
    rejected: int
    no_evidence: int


class GradedTests(TypedDict):
    """One list, as it came out."""

    success: list[str]
    failure: list[str]


class Grade(TypedDict):
    """How a run came out against both lists of an instance."""

    resolution: Literal["RESOLVED_FULL", "RESOLVED_PARTIAL", "RESOLVED_NO"]
    FAIL_TO_PASS: GradedTests
    PASS_TO_PASS: GradedTests
    failed_by_name: list[str]


# By whose rules predictions are graded.
Mode: TypeAlias = Literal["strict"] | Literal[
    "compat-swebench5", "compat-swebench4", "compat-swebenchpp"
]

Harness: TypeAlias = Literal["swebench5"] | Literal["swebench4", "swebenchpp"]

Schema: TypeAlias = (
    Literal["swebench4", "swebench5", "swebench5-tasks", "swebenchpp", "swebenchpp-delivery"]
    | Literal["multi-swebench", "swebench-live", "swebench-pro", "swe-rebench", "swe-smith"]
    | Literal["r2e", "harbor"]
)

Cause: TypeAlias = (
    Literal["model", "patch_format", "weak_test", "parser"]
    | Literal["environment", "harness", "flaky", "tampered"]
)

Resolution: TypeAlias = Literal["RESOLVED_FULL"] | Literal["RESOLVED_PARTIAL", "RESOLVED_NO"]

Stage: TypeAlias = Literal["tested"] | Literal["timed_out", "not_applied", "not_started"]


class PredictionDict(TypedDict):
    """A prediction in memory. A null patch is none; an empty one is graded as empty."""

    instance_id: str
    model_name_or_path: str
    model_patch: str | None


class Signal(TypedDict):
    """A change of a prediction that steers the test runner, and what was done about it."""

    kind: str
    path: str
    message: str
    action: Literal["restored", "section_restored", "removed", "kept"]
    severity: Literal["info", "suspicious", "tamper"]


class _CanaryFacts(TypedDict):
    file: str | None
    passed: bool | None
    failed: bool | None


class CanaryReport(_CanaryFacts, total=False):
    """What the canary tests of a run did; `absent_because` where there were none, or fewer."""

    absent_because: str


class ResourceUsage(TypedDict):
    """What a run took of the machine; `None` where neither engine nor kernel told."""

    peak_memory_bytes: int | None
    cpu_seconds: float | None


class _RunFacts(TypedDict):
    exit: Any
    outcome: RunOutcome
    counts: dict[Status, int]
    totals: Totals | None
    consistent: bool | None
    isolation: Isolation
    seconds: float
    overhead_seconds: float
    usage: ResourceUsage


class RunSummary(_RunFacts, total=False):
    """A run in numbers. `report` compares its console with a structured report, if there is one."""

    report: Any


class _EvalVerdictFacts(TypedDict):
    schema_version: int
    instance_id: str
    model_name_or_path: str
    mode: Mode
    outcome: Literal["graded", "null_patch", "empty_patch", "not_applied", "no_evidence"]
    resolved: bool
    resolution: Resolution
    reasons: list[str]
    evidence: list[Evidence]
    tampering: list[str]
    guards: list[Signal]
    canaries: CanaryReport
    notes: list[str]
    FAIL_TO_PASS: GradedTests
    PASS_TO_PASS: GradedTests
    usage: ResourceUsage
    environment: str
    patch_sha256: str


class _ReadByFacts(TypedDict):
    id: str
    hash: str
    origin: Literal["file", "row"] | Literal["dataset", "caller"]


class ReadBy(_ReadByFacts, total=False):
    """Who read a log, where no parser of Atlas did; `hash` is the SHA-256 of its rules or source."""

    isolation: str
    """What kept its code apart from this machine; absent for rules and for what the calling program brought."""


class EvalVerdict(_EvalVerdictFacts, total=False):
    """The verdict on one prediction. `cause` is absent if it is resolved, `run` if none was made."""

    cause: Cause
    run: RunSummary
    read_by: ReadBy


class ScoreBounds(TypedDict):
    """A score, and what it would be if each failure that is not the model's were none."""

    submitted: int
    resolved: int
    excused: int
    lower: float
    upper: float
    by_cause: dict[Cause, int]


class InputFault(TypedDict, total=False):
    """Something wrong with an input. `line` and `field` are absent where there is none to blame."""

    file: str
    line: int
    field: str
    message: str


class InstanceCost(ResourceUsage):
    """What one prediction's run cost, wherever and whenever it was run."""

    instance_id: str
    model_name_or_path: str
    test_seconds: float
    overhead_seconds: float


class Ledger(ResourceUsage):
    """What an evaluation cost: the highest peak of any run, and the sums of the rest."""

    jobs_run: int
    jobs_known: int
    result_bytes: int
    test_seconds: float
    overhead_seconds: float
    seconds: float
    instances: list[InstanceCost]


class _RunReportFacts(TypedDict):
    total_instances: int
    submitted_instances: int
    completed_instances: int
    resolved_instances: int
    unresolved_instances: int
    empty_patch_instances: int
    error_instances: int
    completed_ids: list[str]
    incomplete_ids: list[str]
    empty_patch_ids: list[str]
    submitted_ids: list[str]
    resolved_ids: list[str]
    unresolved_ids: list[str]
    error_ids: list[str]


class RunReport(_RunReportFacts, total=False):
    """The report that a harness writes of a run. Some fields only some harnesses know."""

    infra_failure_instances: int
    ambiguous_failure_instances: int
    infra_failure_ids: list[str]
    ambiguous_failure_ids: list[str]
    failure_reasons: dict[str, str]
    schema_version: int
    unstopped_instances: int
    unstopped_containers: list[str]
    unremoved_images: list[str]


class TestsStatus(TypedDict):
    """The four lists of an instance's report."""

    FAIL_TO_PASS: GradedTests
    PASS_TO_PASS: GradedTests
    FAIL_TO_FAIL: GradedTests
    PASS_TO_FAIL: GradedTests


class _ReportFacts(TypedDict):
    patch_is_None: bool
    patch_exists: bool
    patch_successfully_applied: bool
    resolved: bool


class ReportBody(_ReportFacts, total=False):
    """What `report.json` says of an instance. Some fields only some harnesses know."""

    infra_failure: bool
    infra_failure_reason: str
    status: str
    tests_status: TestsStatus


InstanceReport: TypeAlias = dict[str, ReportBody]
"""One instance's `report.json`: an object with one key, the instance's id."""


# `from` is no name that a class body can hold.
_ChangeFrom = TypedDict("_ChangeFrom", {"from": str})
_BinFrom = TypedDict("_BinFrom", {"from": float})


class GradeChange(_ChangeFrom):
    """A test, or with an empty `test` a verdict, that two gradings see differently."""

    instance_id: str
    list: Literal["FAIL_TO_PASS", "PASS_TO_PASS", "resolved"]
    test: str
    to: str


class _RegradedFacts(TypedDict):
    instance_id: str
    model_name_or_path: str
    report: InstanceReport | None
    verdict: EvalVerdict


class RegradedInstance(_RegradedFacts, total=False):
    """One instance, graded again. `log` is the file that was read, if there is one."""

    log: str


class InfraFailure(TypedDict):
    """What SWE-bench 5 gives as the reason of a failed run, and how sure it is."""

    reason: str
    tier: Literal["environment", "ambiguous"]


class GradedLog(TypedDict):
    """The stored log of one prediction, graded by Atlas's own rules."""

    verdict: EvalVerdict
    report: InstanceReport | None
    statuses: dict[str, Status]
    is_closed: bool


class CompatGrade(TypedDict):
    """A harness's verdict on one prediction."""

    report: InstanceReport | None
    resolution: Resolution
    outcome: Literal["completed", "empty_patch", "error"]
    infra: InfraFailure | None
    statuses: dict[str, str]
    why: list[str]


class RowFault(TypedDict):
    """What is wrong with a row or a prediction that could not be read, or deserves a look."""

    kind: str
    place: str
    field: str | None
    what: str
    way_out: str


class Loss(TypedDict):
    """What a schema does not carry as it was."""

    instance: str
    column: str
    kind: Literal["no_place", "inexact", "missing", "made", "unusable"]
    message: str


class LintFinding(TypedDict):
    """One thing that is wrong with a row. `line` is 0 where there are no lines."""

    code: str
    severity: Literal["note", "warning", "fatal"]
    instance: str
    field: str
    line: int
    message: str
    way_out: str


class AuditCount(TypedDict):
    """How often a kind of fault occurs."""

    severity: Literal["note", "warning", "fatal"]
    rows: int
    meaning: str


class TestsDiff(TypedDict):
    """What changed in a list of tests."""

    added: list[str]
    removed: list[str]
    reordered: bool


class PatchDiff(TypedDict):
    """How a patch changed: files and hunks of either; None where it is no patch."""

    first: list[int] | None
    second: list[int] | None


class RowDiff(TypedDict, total=False):
    """What changed in a row; what did not is absent."""

    added: list[str]
    removed: list[str]
    changed: list[str]
    tests: dict[str, TestsDiff]
    patches: dict[str, PatchDiff]


class DatasetDiff(TypedDict):
    """What two datasets do not have in common."""

    only_in_first: list[str]
    only_in_second: list[str]
    changed: dict[str, RowDiff]
    same: int


class PatchFault(TypedDict):
    """What is wrong with a patch, or noteworthy in it."""

    kind: str
    line: int | None
    file: str | None
    message: str
    way_out: str
    breaks: bool


class Try(TypedDict):
    """One attempt at applying a patch."""

    command: str
    exit_code: int | None
    said: str
    applied: bool


class Mended(TypedDict):
    """The same changes, written so that `git apply` takes them, and what was done."""

    patch: str | bytes
    how: list[str]


class Diagnosis(TypedDict):
    """Why a patch does or does not apply to a commit."""

    applies: bool
    tries: list[Try]
    faults: list[PatchFault]
    mended: Mended | None


class Interval(TypedDict):
    """From low to high, 0 to 1."""

    low: float
    high: float


class LeaderboardRow(TypedDict):
    """One model of a table; shares are 0 to 1."""

    rank: int
    model: str
    overall: float
    interval: Interval
    per_language: dict[str, float]
    missing: int
    padded: int


class LeaderboardTable(TypedDict):
    """The table: models, best first."""

    k: int
    instances: int
    columns: list[str]
    column_instances: dict[str, int]
    rows: list[LeaderboardRow]


class PassAtKRow(TypedDict):
    """Pass@k of a group of instances; the keys of `pass_at` are the k as text."""

    instances: int
    missing: int
    padded: int
    pass_at: dict[str, float]


class PassAtK(TypedDict):
    """Pass@k over a dataset and its groups."""

    ks: list[int]
    overall: PassAtKRow
    per_language: dict[str, PassAtKRow]
    per_domain: dict[str, PassAtKRow]
    per_repo: dict[str, PassAtKRow]
    outside: list[str]


class AskOptions(TypedDict, total=False):
    """How a model is asked: tokens of an answer, samples where it gives no log-probabilities, and so on."""

    max_tokens: int
    samples: int
    temperature: float
    verbalised: bool
    corrections: int
    max_text: int | None
    mass_floor: float
    label_form: Literal["word", "json"]
    seed: int


class _ModelAnswerText(TypedDict):
    text: str


class ModelAnswer(_ModelAnswerText, total=False):
    """What a callable model gives back, as far as it knows it; log-probabilities in nats."""

    logprobs: list[dict[str, Any]] | None
    avg_logprob: float | None
    finish_reason: str | None
    usage: dict[str, int] | None
    model: str | None


class _PaidInAll(TypedDict, total=False):
    in_all: dict[str, Any]


class ModelLedger(_PaidInAll):
    """What models were paid: tokens as reported, tokens and money as they count against the budget.

    `money` is None where a price is unknown. `in_all` has `calls`, `tokens` and `money` of all runs that wrote to the same
    results, where earlier ones have paid. The account of what was asked in batches has ` (batch)` behind the model's name.
    """

    calls: int
    failed_calls: int
    prompt_tokens: int
    completion_tokens: int
    tokens: int
    money: float | None
    models: dict[str, dict[str, Any]]


class FailedItem(TypedDict):
    """An item about which nothing could be found out."""

    key: str
    kind: str
    message: str


class AbstainResult(TypedDict):
    """What the abstention policy said about one instance; the probability is 0 to 1."""

    instance_id: str
    label: str
    probability: float | None
    source: str


class ReviewResult(TypedDict):
    """What validation said about one patch; `shown` is None where there is no funnel."""

    instance_id: str
    agent: str
    patch_id: str
    label: str
    score: float | None
    reason: str
    shown: bool | None


class ReviewStep(TypedDict):
    """What one step of the funnel leaves, and what was lost in it."""

    step: str
    bugs: int
    patches: int
    removed_bugs: int
    removed_patches: int


class CriticResult(TypedDict):
    """What a critic foretold of one patch; `progress` is the share of tests said to pass."""

    instance_id: str
    agent: str
    patch_id: str
    label: str
    progress: float | None


class _ChosenPatch(TypedDict):
    instance_id: str
    agent: str
    patch_id: str
    votes: int
    accepted: int
    candidates: int


class ChosenPatch(_ChosenPatch, total=False):
    """A patch that was chosen: how many accepted candidates say the same, itself included, of how many accepted ones
    and candidates."""

    score: float


class _ChoiceReport(TypedDict):
    candidates: int
    accepted: int
    unjudged: int
    choices: list[ChosenPatch]
    without: list[str]
    faults: list[InputFault]


class ChoiceReport(_ChoiceReport, total=False):
    """What `choose` chose; `resolved` of the chosen ones resolve their task, where that is known of all."""

    resolved: int


class FittedThreshold(TypedDict):
    """A threshold of likeness, its F1, and on which patches it was found."""

    threshold: float
    f1: float
    patches: int
    passing: int
    instances: list[str]


class ClassTable(TypedDict):
    """A table of paper 001's appendix E: rows with `class`, `count` and `percentage`."""

    rows: list[dict[str, Any]]
    total: int


class _JudgeResultWords(TypedDict):
    instance_id: str
    label: str
    reasoning: str


class JudgeResult(_JudgeResultWords, total=False):
    """What was said about one row; `hint` is there where one is needed."""

    hint: str


class AttemptResult(TypedDict):
    """Why one attempt failed."""

    instance_id: str
    agent: str
    patch_id: str
    label: str
    look_again: bool
    by: str
    reasoning: str


class AttemptSummary(TypedDict):
    """What the failed attempts at one task say about it; `look_again` has attempts with their classes."""

    failed: int
    counts: dict[str, int]
    look_again: list[list[str]]
    is_task_in_doubt: bool


Beyond: TypeAlias = Literal["clamp"] | Literal["exclude", "error"]


class _BugSuccess(TypedDict):
    success: Sequence[bool]


class BugRuns(_BugSuccess, total=False):
    """A bug's runs: which are right, which a policy accepts (default all), whether it is attempted."""

    accepted: Sequence[bool]
    attempt: bool


class AtK(TypedDict):
    """A mean over bugs, 0 to 1."""

    value: float | None
    bugs_counted: int


class FalsePositiveRates(TypedDict):
    """Wrong patches that were accepted, of all wrong ones and of those that reached validation."""

    false_positives: int
    negatives: int
    negatives_reached: int
    of_all: float | None
    of_reached: float | None


class PrecisionRecallCurve(TypedDict):
    """Precision and recall have one point more than thresholds."""

    precision: list[float]
    recall: list[float]
    thresholds: list[float]
    shown: list[float]


class ReliabilityBin(_BinFrom):
    """Scores above `from` and up to `to`, of which `right` are right."""

    to: float
    count: int
    right: int
    mean_score: float | None
    share_right: float | None


class Reliability(TypedDict):
    """Bins, calibration errors and Brier score."""

    bins: list[ReliabilityBin]
    expected_error: float
    maximum_error: float
    brier: float


class RiskCoverage(TypedDict):
    """The risk at each threshold, and areas under the curve."""

    thresholds: list[float]
    coverage: list[float]
    risk: list[float]
    area: float
    best_area: float
    no_skill: float


class GridThreshold(TypedDict):
    """Yes from `threshold` on, with this F1."""

    threshold: float
    f1: float


class PercentileDecision(TypedDict):
    """The cut-off of a percentile, and which scores it lets through."""

    cutoff: float | None
    accepted: list[bool]


class LabelMass(TypedDict):
    """Probabilities of two labels."""

    positive: float
    negative: float
    total: float
    probability: float | None


class NetValue(TypedDict):
    """What decisions are worth, and from which chances on."""

    attempt: float
    abstain: float
    show: float
    hide: float
    break_even_attempt: float | None
    break_even_show: float | None


class Vote(TypedDict):
    """The outcome of a vote, in places of patches."""

    winner: int
    votes: int
    groups: list[list[int]]
    normalised: list[str]


class _TestSaid(TypedDict):
    passes: bool
    confidence: float


class TestPrediction(_TestSaid, total=False):
    """A critic's word on one test: confidence 0 to 100, length in characters."""

    length: int | None


class CriticAggregate(TypedDict):
    """A critic's word on a patch."""

    passes: list[bool]
    build_success: bool
    pass_rate: float


class RandomBaseline(TypedDict):
    """What a coin is expected to reach."""

    accuracy: float
    precision: float
    build_success: float


class TypedBug(TypedDict):
    """A bug's type, and which of its patches are right and kept."""

    type: str
    correct: Sequence[bool]
    kept: Sequence[bool]


class CorrelationSummary(TypedDict):
    """Rank correlations of many instances."""

    defined: int
    undefined: int
    mean: float | None
    share_perfect: float | None


class Distribution(TypedDict):
    """Label -> percent of all, and the sum of the counts."""

    percent: dict[str, float]
    counted: int


class Yields(TypedDict):
    """Shares of pull requests, 0 to 1."""

    replicated_of_sourced: float | None
    accepted_of_sourced: float | None
    accepted_of_replicated: float | None


class CheckedFile(TypedDict):
    """How a file of stored values compares."""

    file: str
    agrees: bool
    name: str
    cases: int
    fields: int
    largest_error: float
    differences: list[dict[str, Any]]
    faults: list[dict[str, Any]]


class SourceReport(TypedDict, total=False):
    """What sourcing came to."""

    schema_version: int
    out: str
    """The file with the candidates."""
    sourced: str
    """The file with all pull requests that were told of, before any filter."""
    hosts: dict[str, dict[str, Any]]
    """What each host has told, by its name."""
    requests: int
    """Requests of this run."""
    news: dict[str, dict[str, Any]]
    """What was found at hosts that were read before."""
    funnel: dict[str, Any]
    """What the filters did: `sourced`, `kept`, `steps`."""
