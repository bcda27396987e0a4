"""What making, checking and grading report: a class for each, with an attribute for each field of its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from swe_atlas._report import Field, Report

if TYPE_CHECKING:
    from pathlib import Path

    from swe_atlas._swe_atlas import Dataset
    from swe_atlas.types import (
        AuditCount,
        BeforeFailureExtent,
        Cause,
        Confirmation,
        EvalVerdict,
        Evidence,
        FunnelStep,
        GradeChange,
        InputFault,
        InstanceReport,
        InstanceVerdict,
        Isolation,
        Kind,
        LeaderboardTable,
        Ledger,
        LintFinding,
        Loss,
        MakeOutcome,
        Mode,
        ModuleFailure,
        Outcome,
        PassAtK,
        RegradedInstance,
        RowFault,
        RunReport,
        Schema,
        ScoreBounds,
        SecondWitness,
        Seconds,
        Transition,
    )


@final
class Classification(Report):
    """What three runs of one test selection say of a pull request.

    Made by `classify`. Immutable; every attribute gives fresh plain values. `table` gives `transitions`; drawn are tests by
    transition.
    """

    outcome: Field[Outcome]
    """The verdict: instance, reject_no_fail_to_pass, environment_invalid, reject_after_broken
    or no_evidence."""
    reason: Field[str]
    """One sentence why."""
    kind: Field[Kind | None]
    """bug_fix or feature_request, by state; None where Base gives no ground to tell."""
    before_failure_extent: Field[BeforeFailureExtent]
    """How much of Before did not run: none, partial, full or crash."""
    fail_to_pass: Field[list[str]]
    """Tests that define the task."""
    pass_to_pass: Field[list[str]]
    """Tests that must go on passing."""
    pass_to_fail: Field[list[str]]
    """Tests that pass before and fail after: in neither list."""
    unstable: Field[dict[str, str]]
    """Ids that hold a time, an address or a counter, each with why: in neither list."""
    gold_only: Field[dict[str, str]]
    """Tests that exist only through the gold patch, each with what shows it: in neither list."""
    fail_to_pass_swebench_rule: Field[list[str] | None]
    """What the plain SWE-bench rule would have given as FAIL_TO_PASS, where it differs."""
    fail_to_pass_rule: Field[str]
    """How FAIL_TO_PASS was found."""
    module_failures: Field[list[ModuleFailure]]
    """Modules that did not build or load, in any state, each with its class and proof lines."""
    transition_counts: Field[dict[str, int]]
    """Class of transition ('F2P', 'P2P', 'N2P', …) -> number of tests."""
    transitions: Field[list[Transition]]
    """Every test over the three states."""
    evidence: Field[list[Evidence]]
    """Proof lines for the verdict."""
    warnings: Field[list[str]]
    """Remarks."""

    def _told(self) -> str:
        return _lists(self)


def _lists(report: Classification | MakeReport) -> str:
    counts = (f"{name}={report._count(name)}" for name in ("FAIL_TO_PASS", "PASS_TO_PASS"))
    return f"outcome='{report.outcome}', {', '.join(counts)}"


@final
class MakeReport(Report):
    """What making a pull request into an instance came to: the verdict, and what proves it.

    Made by `make`. Immutable; every attribute gives fresh plain values. Drawn are seconds by step.
    """

    schema_version: Field[int]
    """Version of the report's form."""
    instance_id: Field[str]
    """The instance's name."""
    outcome: Field[MakeOutcome]
    """The verdict: instance, or why it is none (reject_no_fail_to_pass, environment_invalid,
    reject_after_broken, reject_nothing_to_test, reject_entangled, no_evidence)."""
    reason: Field[str]
    """One sentence why."""
    kind: Field[Kind | None]
    """bug_fix or feature_request, by state; None where it cannot be told."""
    before_failure_extent: Field[BeforeFailureExtent | None]
    """How much of Before did not run: none, partial, full or crash; None if it was not run."""
    fail_to_pass: Field[list[str]]
    """Tests that define the task."""
    pass_to_pass: Field[list[str]]
    """Tests that must go on passing."""
    gold_only: Field[dict[str, str]]
    """Tests that exist only through the gold patch, each with what shows it: in neither list."""
    row: Field[Path | None]
    """The dataset row's file; None for a rejected pull request."""
    artefacts: Field[Path]
    """The folder with everything that proves the verdict."""
    engine: Field[str]
    """The engine that was used."""
    isolation: Field[Isolation | None]
    """How the tests were kept apart from this machine; None if none ran."""
    seconds: Field[Seconds]
    """Wall seconds by step."""
    evidence: Field[list[Evidence]]
    """Proof lines."""
    warnings: Field[list[str]]
    """Remarks."""
    confirmation: Field[Confirmation | None]
    """What further runs said of the tests that define the task; None where none were made."""
    second_witness: Field[SecondWitness | None]
    """What the runner's structured reports say beside the console; None where no state ran."""
    model: Field[dict[str, Any] | None]
    """What the model was asked and cost, for plan, parser and injection together; None without a model."""

    def _told(self) -> str:
        return f"'{self.instance_id}', {_lists(self)}"


@final
class ValidateReport(Report):
    """What the quality gates came to, instance by instance and gate by gate.

    Made by `validate`. Immutable; every attribute gives fresh plain values. `table` gives `instances`; drawn is how many
    instances come to each gate, and how many it lets through.
    """

    schema_version: Field[int]
    """Version of the report's form."""
    dataset: Field[Path]
    """The dataset."""
    validated: Field[Path]
    """The rows that passed, repaired where needed."""
    total: Field[int]
    """Instances looked at."""
    accepted: Field[int]
    """Instances that passed as they are."""
    faults: Field[list[InputFault]]
    """What is wrong with the dataset's rows, each with `file`, `line`, `field` and `message`: they were
    left out, and the others looked at."""
    repaired: Field[int]
    """Instances that passed with tests taken out of their lists."""
    needs_repair: Field[int]
    """Instances that do not pass before someone repairs what no rule can: a statement that holds the
    solution."""
    rejected: Field[int]
    """Instances that did not pass."""
    no_evidence: Field[int]
    """Instances about which no gate had anything to decide on."""
    errors: Field[int]
    """Instances at which something went wrong, and faults of the dataset."""
    funnel: Field[list[FunnelStep]]
    """Gate by gate, in order: how many instances entered and what became of them."""
    instances: Field[list[InstanceVerdict]]
    """Every instance with its verdicts, in the dataset's order."""
    seconds: Field[float]
    """Wall seconds."""

    def _told(self) -> str:
        counts = (f"{name}={self._field(name)}" for name in ("accepted", "repaired", "rejected", "errors"))
        return f"'{self._field('dataset')}', {', '.join(counts)}"


@final
class EvalReport(Report):
    """What evaluating predictions came to, model by model and prediction by prediction.

    Made by `evaluate`. Immutable; every attribute gives fresh plain values. `table` gives `verdicts`; drawn are predictions by
    what became of them.
    """

    run_id: Field[str]
    """The run's name."""
    mode: Field[Mode]
    """By whose rules."""
    verdicts: Field[list[EvalVerdict]]
    """The verdicts, by model and instance."""
    reports: Field[dict[str, RunReport]]
    """Model -> the report that the harness writes of a run."""
    bounds: Field[dict[str, ScoreBounds]]
    """Model -> bounds of its score: what infrastructure lost counts as failed in the lower one and as
    resolved in the upper."""
    causes: Field[dict[Cause, int]]
    """Why predictions are not resolved, of all models together: cause -> number."""
    faults: Field[list[InputFault]]
    """What was wrong with the inputs."""
    ledger: Field[Ledger]
    """What it cost: jobs and seconds."""

    @property
    def resolved_ids(self) -> list[str]:
        """Instances that are resolved, by whichever model; those of one model are in its report."""
        return sorted({name for report in self.reports.values() for name in report["resolved_ids"]})

    def _told(self) -> str:
        counts = f"{self._count('verdicts')} predictions, {len(self.resolved_ids)} instances resolved"
        return f"'{self.run_id}', mode='{self.mode}', {counts}"


@final
class RegradeReport(Report):
    """Stored logs, graded again.

    Made by `regrade`. Immutable; every attribute gives fresh plain values, and the JSON holds the harness's report of the run
    as well. `table` gives `instances`; drawn are predictions by what became of them.
    """

    mode: Field[Mode]
    """By whose rules."""
    resolved_ids: Field[list[str]]
    """Instances that the first model resolved."""
    instances: Field[list[RegradedInstance]]
    """Each instance with its model, its log, what the harness would write and Atlas's verdict."""
    instance_reports: Field[dict[str, InstanceReport]]
    """Instance -> its report, as the harness writes it."""
    bounds: Field[ScoreBounds]
    """Bounds of the score."""
    changes: Field[list[GradeChange]]
    """What the rules that were compared with see differently, test by test."""
    faults: Field[list[InputFault]]
    """What was wrong with the inputs."""

    def _told(self) -> str:
        return f"mode='{self.mode}', {self._count('instances')} instances, {self._count('resolved_ids')} resolved"


@final
class Conversion(Report):
    """A dataset in another schema, and what that schema does not carry as it was.

    Made by `convert`. Immutable; every attribute gives fresh plain values. The JSON has what was lost; `table` gives `losses`.
    """

    from_schema: Field[Schema]
    """The schema of the rows as they were."""
    to_schema: Field[Schema]
    """The schema they have now."""
    losses: Field[list[Loss]]
    """What the new schema does not carry as it was, by row and column."""
    faults: Field[list[RowFault]]
    """Rows that could not be read, and what deserves a look."""

    @property
    def dataset(self) -> Dataset:
        """The rows in the new schema."""
        dataset: Dataset = self._beside
        return dataset

    def _told(self) -> str:
        counts = f"{self._field('rows')} rows, {self._count('losses')} losses"
        return f"'{self.from_schema}' to '{self.to_schema}', {counts}"


@final
class LintReport(Report):
    """What is wrong with a dataset's rows.

    Made by `lint`. Immutable; every attribute gives fresh plain values. `table` gives `findings`; drawn are findings by code.
    """

    rows: Field[int]
    """How many rows could be read."""
    findings: Field[list[LintFinding]]
    """What is wrong with these, in the order of the rows."""
    faults: Field[list[RowFault]]
    """Rows that could not be read, and what deserves a look."""

    def _told(self) -> str:
        return f"{self.rows} rows, {self._count('findings')} findings, {self._count('faults')} faults"


@final
class AuditReport(Report):
    """What is wrong with a dataset, row by row and kind by kind.

    Made by `audit`. Immutable; every attribute gives fresh plain values. `table` gives `findings`; drawn are findings by code.
    """

    rows: Field[int]
    """How many rows could be read."""
    rows_with_findings: Field[int]
    """How many of them have a finding that is more than a note."""
    counts: Field[dict[str, AuditCount]]
    """Code -> its severity, how many rows have it, and what it means."""
    findings: Field[list[LintFinding]]
    """What is wrong with each, in the order of the rows."""
    faults: Field[list[RowFault]]
    """Rows that could not be read, and what deserves a look."""

    def _told(self) -> str:
        return f"{self.rows_with_findings} of {self.rows} rows have something wrong with them"


@final
class Leaderboard(Report):
    """Models side by side.

    Made by `leaderboard`. Immutable; every attribute gives fresh plain values. `table` gives the table's rows, the best model
    first; drawn is pass@k by model, in percent: of one k with its interval, of several the first four side by side.
    """

    leaderboard: Field[LeaderboardTable]
    """The table: `k`, `instances`, `columns`, `column_instances` and `rows`, the best model first."""
    pass_at_k: Field[dict[str, PassAtK]]
    """Model -> pass@k for every `k`, overall and by language, domain and repository."""

    def to_markdown(self) -> str:
        """The table as Markdown."""
        markdown: str = self._beside
        return markdown

    def _told(self) -> str:
        return f"{len(self.leaderboard['rows'])} models"
