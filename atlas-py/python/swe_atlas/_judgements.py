"""What judges report, and what their answers are worth: a class for each, with an attribute for each field of its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, final

from swe_atlas._report import Field, Report

if TYPE_CHECKING:
    from pathlib import Path

    from swe_atlas.types import (
        AbstainResult,
        AttemptResult,
        AttemptSummary,
        ClassTable,
        CriticResult,
        FailedItem,
        FittedThreshold,
        InputFault,
        JudgeResult,
        ModelLedger,
        ReviewResult,
        ReviewStep,
    )


class _JudgingReport(Report):
    """What runs of judges have in common. `table` gives `results`; drawn are results by label, or what each step of a funnel
    leaves."""

    out: Field[Path]
    """The file of results, one JSON object a line. What it holds is not asked again by the next run."""
    items: Field[int]
    """Items that were asked for."""
    known: Field[int]
    """Those that earlier runs had done."""
    done: Field[int]
    """Those that this run did."""
    failed: Field[list[FailedItem]]
    """Those that failed, each with `key`, `kind` and `message`; the next run tries them again."""
    left: Field[int]
    """Those that were not begun, or not finished, because the run was stopped."""
    stopped: Field[str | None]
    """Why it was stopped, and how to go on; None if it was not."""
    faults: Field[list[InputFault]]
    """What is wrong with the inputs."""
    ledger: Field[ModelLedger | None]
    """What was paid in this run: calls, tokens, money, model by model; None without a model."""

    @property
    def complete(self) -> bool:
        """Whether every item has its result."""
        return self._count("failed") == 0 and self.left == 0

    def _told(self) -> str:
        return f"'{self._field('out')}', items={self.items}, failed={self._count('failed')}, left={self.left}"


@final
class AbstainReport(_JudgingReport):
    """Which bugs an agent should try, by a model's word before any try (paper 002, section 3.1).

    Made by `abstain`. Immutable; every attribute gives fresh plain values.
    """

    attempt: Field[int]
    """Instances to attempt."""
    abstain: Field[int]
    """Instances to abstain from."""
    features: Field[dict[str, dict[str, float]]]
    """`attempt` or `abstain` -> averages of the reports' properties, as in paper 002's Table 3."""
    results: Field[list[AbstainResult]]
    """One entry for every instance that has a result: `instance_id`, `label`, `probability`, `source`."""


@final
class ReviewReport(_JudgingReport):
    """Which candidate patches stand: what tests say, then a model's review (paper 002, section 3.2).

    Made by `review`. Immutable; every attribute gives fresh plain values.
    """

    accepted: Field[int]
    """Patches that every stage lets through."""
    rejected: Field[int]
    """Patches that a stage rejects."""
    abstained: Field[int]
    """Patches of instances that the abstention policy abstains from."""
    funnel: Field[list[ReviewStep]]
    """What each step leaves of the patches that have a result; empty where it cannot be told, which a note
    explains."""
    cutoff: Field[float | None]
    """The lowest score that a percentile lets through; None without one."""
    notes: Field[list[str]]
    """What deserves to be known."""
    results: Field[list[ReviewResult]]
    """One entry for every patch that has a result, with `label`, `score`, `reason` and `shown`."""


@final
class CriticReport(_JudgingReport):
    """Whether candidate patches pass their tests, foretold without running anything (paper 004).

    Made by `critic`. Immutable; every attribute gives fresh plain values.
    """

    passing: Field[int]
    """Patches that are said to pass."""
    failing: Field[int]
    """Patches that are said to fail."""
    baseline: Field[str | None]
    """What ran, by name, where it was a baseline; None for a critic."""
    fitted: Field[FittedThreshold | None]
    """The threshold of likeness, where it was searched for: with its F1, and on which patches."""
    results: Field[list[CriticResult]]
    """One entry for every patch that has a result, with `label` and `progress`."""


@final
class JudgeReport(_JudgingReport):
    """What a judge of paper 001 said of every task: alignment, classes or hints.

    Made by `judge` and `hints`. Immutable; every attribute gives fresh plain values.
    """

    labels: Field[dict[str, int]]
    """Label -> how many."""
    tables: Field[dict[str, ClassTable]]
    """For classes, the tables of paper 001's appendix E: `code_type`, `issue_type`; else empty."""
    results: Field[list[JudgeResult]]
    """One entry for every instance that has a result: `label`, `reasoning`, and for hints `hint`."""


@final
class AttemptReport(_JudgingReport):
    """Why attempts failed (paper 001, section 3.4, layer 4). No verdict is changed.

    Made by `judge_attempts`. Immutable; every attribute gives fresh plain values.
    """

    labels: Field[dict[str, int]]
    """Class -> how many: tool_crash, unsupported_dependency, infrastructure, underspecified,
    genuine_failure, undecided."""
    resolved: Field[int]
    """Predictions that were left out because they resolve their instance."""
    ungraded: Field[int]
    """Predictions of which nobody said whether they failed; they are looked at as if they had."""
    tasks: Field[dict[str, AttemptSummary]]
    """Instance -> what its failed attempts say about it together."""
    results: Field[list[AttemptResult]]
    """One entry for every attempt that has a result, with `label`, `look_again`, `by` and `reasoning`."""


@final
class SynthParserReport(Report):
    """A parser that a model wrote for logs that no shipped one knows, and how it came about.

    Made by `synth_parser`. Immutable; every attribute gives fresh plain values. `table` gives `attempts`.
    """

    outcome: Field[Literal["known", "certified"] | Literal["insufficient", "refused"]]
    """What came of it: 'known' (a shipped parser knows the log; nothing was asked), 'certified', 'insufficient'
    (the logs do not show enough to certify it) or 'refused' (no parser was made that certification takes)."""
    known: Field[str | None]
    """The shipped parser that knows the log; None if none does."""
    parser: Field[dict[str, Any] | None]
    """The parser as `out` keeps it: a rule set, or `id` and `python`; None if none was made."""
    certificate: Field[dict[str, Any] | None]
    """Its certificate: `decision`, `score`, `reasons` and every kind of check."""
    attempts: Field[list[dict[str, Any]]]
    """The model's answers, each with its `form` and `problems`."""
    notes: Field[list[str]]
    """Why no parser in Python was tried, where one was wanted."""

    def _told(self) -> str:
        return f"outcome='{self.outcome}', {self._count('attempts')} attempts"


@final
class Analysis(Report):
    """What policies and critics reach, from their results.

    Made by `measure` and `policies_report`. Immutable; every attribute gives fresh plain values. The JSON is what
    `atlas metrics` prints; `table` gives `policies`.
    """

    lines: Field[int]
    """Lines of the results."""
    instances: Field[int]
    """Tasks."""
    agents: Field[dict[str, int]]
    """Who made the patches -> how many."""
    kinds: Field[dict[str, int]]
    """Label of how patches were made -> how many."""
    policies: Field[list[dict[str, Any]]]
    """Policies: over all patches, then, if there are several agents, agent by agent."""
    critics: Field[list[dict[str, Any]]]
    """Critics, by variant."""
    progress: Field[list[dict[str, Any]]]
    """Whether critics, and proxies beside them, respect the progress of patches."""
    notes: Field[list[str]]
    """What the reader must know to read the numbers rightly."""

    def to_markdown(self) -> str:
        """The tables as Markdown, as `atlas metrics` prints them."""
        markdown: str = self._beside[0]
        return markdown

    def figures(self) -> dict[str, str]:
        """The drawings of the page of `policies_report` as SVG, by section and title: precision against recall,
        reliability, success by k, what each step leaves, pass rates, and others, as far as there is something to draw.

        Each stands alone, in a file or in a page, and is legible on light and on dark.
        """
        return dict(self._beside[1])

    def _repr_html_(self) -> str:
        return self._html(list(self._beside[1].items()))

    def _told(self) -> str:
        return f"{self.lines} lines, {self.instances} instances, {self._count('critics')} critics"
