"""From pull requests to graded predictions. The native module does the work; here stand signatures and documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swe_atlas._swe_atlas import (
    _classify,
    _evaluate,
    _grade_compat,
    _grade_log,
    _make,
    _parse_log_compat,
    _regrade,
    _source,
    _validate,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from swe_atlas._progress import ProgressEvent
    from swe_atlas._reports import Classification, EvalReport, MakeReport, RegradeReport, ValidateReport
    from swe_atlas._swe_atlas import Instance, ParsedLog, Prediction, Predictions, Row
    from swe_atlas.protocols import CodeHost, EnvSynthesizer, LogParser, Oracle, Sandbox, Validator
    from swe_atlas.types import CompatGrade, Content, GradedLog, Harness, Mode, SourceReport, Stage


def classify(
    base: ParsedLog | Content,
    before: ParsedLog | Content,
    after: ParsedLog | Content,
    parser: str = "auto",
    *,
    test_patch: Content | None = None,
    gold_patch: Content | None = None,
    command: str | None = None,
    language: str | None = None,
) -> Classification:
    """Classifies the logs of Base, Before and After; needs no engine.

    Each log is a ParsedLog, the content as bytes or str, or a path object for a file; a patch is
    the content or a path object. With 'auto' the runner is found once, in the first log that tells,
    and read in all.

    Raises InvalidInputError for an unknown parser or where no runner is recognised.
    """
    return _classify(locals())


def make(
    repo: str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str],
    base: str | None = None,
    head: str | None = None,
    pr: int | None = None,
    instance_id: str | None = None,
    problem: str | os.PathLike[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    trust: bool = False,
    repeats: int = 1,
    confirm: int | None = None,
    scope: Literal["full", "package", "touched", "auto"] | None = None,
    candidate: Mapping[str, Any] | None = None,
    parser: str | os.PathLike[str] | LogParser | None = None,
    synthesizer: EnvSynthesizer | None = None,
    oracle: Oracle | None = None,
    sandbox: Sandbox | None = None,
) -> MakeReport:
    """Makes one merged pull request into a verified instance, or says why it is none.

    `repo` is a clone's path or an address to clone from. The pull request is `base` and `head`
    (revisions), or `pr` (its number, found in the clone). `problem` is a file with the problem
    statement; `engine` is 'auto', 'docker' or 'local'; `config` is a path to an atlas.toml or its
    content as a mapping, and no file is read unasked. Artefacts and `dataset.jsonl` go below `out`.
    `trust` lets the repository's code run where nothing keeps it apart from this machine. Each state
    runs `repeats` times; tests that do not repeat are set aside.
    Each test of FAIL_TO_PASS is run `confirm` further times in Before and in After, its files alone, and
    set aside if it contradicts itself; 0 for none, by default the configuration's, 3.
    `scope` is how much of the suite runs: 'full', 'package', 'touched' or 'auto', by default the
    configuration's, 'auto'. `progress` is that of `evaluate`.

    `candidate` is what `source` wrote, one of its lines as a mapping, in the place of `repo`. `parser` is the file of a parser
    or an object of the protocol `LogParser`, in the place of the plan's; `synthesizer`, `oracle` and `sandbox` are objects of the
    protocols `EnvSynthesizer`, `Oracle` and `Sandbox` (`swe_atlas.protocols`), in the place of Atlas's own. What they raise ends the call with
    an exception that says so, and nothing is written of the instance.

    Runs detached from Python's lock. Ctrl-C, which Python hears in its main thread, ends the step in
    flight, cleans up and raises KeyboardInterrupt; the same call later goes on from there.

    A rejected pull request is a report, not an exception. Raises AtlasError for what is no property
    of the pull request: a commit that is not there, a dead engine, a full disk.
    """
    return _make(locals())


def source(
    hosts: Sequence[CodeHost],
    *,
    out: str | os.PathLike[str],
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> SourceReport:
    """Asks hosts for merged pull requests and writes those that pass the filters (paper 001, section 3.1).

    `hosts` are objects of the protocol `CodeHost`, asked one after the other, and behind them the sources of `config`
    (`[source]`, with its filters). Candidates go to `out`, one JSON object a line, which `make(candidate=…)` takes; beside it
    stand all that was told and what the filters did. The same call again asks for what is new or changed since.

    Gives what `atlas source --format json` prints. Runs detached from Python's lock. Ctrl-C ends it after the page in
    flight and raises KeyboardInterrupt. Raises AtlasError for a host that refuses and files that cannot be written.
    """
    return _source(locals())


def validate(
    dataset: str | os.PathLike[str],
    *,
    instances: Sequence[str] | None = None,
    repos: str | os.PathLike[str] | None = None,
    gates: Sequence[str | Validator] | None = None,
    keep_going: bool = False,
    runs: int | None = None,
    null_runs: int = 1,
    perturbations: Sequence[str] = (),
    perturbed_runs: int = 1,
    sequential: float | None = None,
    tolerate: float = 0.0,
    power: float = 0.95,
    builds: int = 3,
    strength_runs: int = 40,
    min_strength: float = 0.0,
    concurrency: int = 1,
    jobs: int = 1,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    out: str | os.PathLike[str] | None = None,
    trust: bool = False,
    set_aside_flaky: bool = False,
    parser: str | os.PathLike[str] | LogParser | None = None,
    sandbox: Sandbox | None = None,
) -> ValidateReport:
    """Puts the instances of a dataset through quality gates.

    `dataset` is a file of JSON lines or one JSON list; `instances` names those wanted, default all.
    `repos` is a clone or a folder of clones; without it the clone is used that `make` used beside the
    dataset. `gates` names gates in order, default all: integrity, test_run, oracle_consistency,
    gold_patch, null_patch, strength, environment_determinism; the first that rejects an instance ends its way
    unless `keep_going`. Objects of the protocol `Validator` (`swe_atlas.protocols`) may be among them and run behind the others.
    `parser` and `sandbox` are those of `evaluate`. `runs` identical runs of After (default 3, or as many as `sequential` may need),
    `null_runs` of the empty prediction,
    `perturbed_runs` under each of `perturbations` (order, parallelism, clock, timezone, locale, load,
    network), `builds` from scratch, at most `strength_runs` without parts of the gold patch.
    `sequential` is a fail rate: runs stop as soon as every test is decided at it, for rates up to
    `tolerate` as stable, with `power`. An instance with a test in its lists that differs between
    identical runs is rejected; with `set_aside_flaky` it is kept without it. `concurrency` runs of an instance go on at once, and `jobs`
    instances. `engine`, `config` and `trust` are those of `make`, `progress` is that of `evaluate`. Reports go below `out`, default the
    dataset's folder.

    Runs detached from Python's lock. Ctrl-C ends the runs in flight, cleans up and raises
    KeyboardInterrupt; the same call later goes on from there.

    A rejected instance is a part of the report, and so is what goes wrong with one instance. Raises
    AtlasError for a dataset that cannot be read, wrong options, a dead engine.
    """
    return _validate(locals())


def evaluate(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    run_id: str,
    *,
    mode: Mode = "strict",
    instance_ids: Sequence[str] | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    jobs: int = 1,
    timeout: int | None = None,
    out: str | os.PathLike[str] = ".",
    repos: str | os.PathLike[str] | None = None,
    canaries: bool = True,
    network: Literal["none", "full"] | None = None,
    results: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    trust: bool = False,
    fresh_canaries: bool = False,
    times_gold: int | None = None,
    least_seconds: int | None = None,
    parser: str | os.PathLike[str] | LogParser | None = None,
    sandbox: Sandbox | None = None,
    trust_parsers: bool = False,
) -> EvalReport:
    """Runs predictions against the instances of a dataset and grades them.

    `dataset` is a file or a folder of tasks. `predictions` is a path, 'gold' (the rows' own patches),
    'null' (empty ones), what `read_predictions` gave, or what would stand in such a file: mappings with
    `instance_id`, `model_name_or_path` and `model_patch`, or a dict of them by instance. `run_id` names a folder and nothing more: results are shared
    by content, so what was run before, by whichever run, is not run again.

    `mode` says by whose rules: 'strict', 'compat-swebench5', 'compat-swebench4' or 'compat-swebenchpp'.
    `jobs` instances go on at once; a run of tests ends after `timeout` seconds, default the
    configuration's; in strict mode also after `times_gold` times (default 10; 0: never) what the gold
    patch took, but not before `least_seconds` (default 120). `repos` is a clone or a folder of clones, for rows without an image. `canaries` runs
    the gold patch first with tests that must pass and must fail; with `fresh_canaries` their names are this run's own, and
    strict mode shares no results with runs of other names. `network` is 'none' or 'full', default
    none in strict mode and full in the others. `results` is where results are kept, default the user's
    cache folder. `engine`, `config` and `trust` are those of `make`. What the SWE-bench harness leaves,
    `logs/run_evaluation` and `<model>.<run_id>.json`, goes below `out`, with a `verdict.json` beside each
    `report.json`.

    `parser`, in strict mode, is the file of a parser or an object of the protocol `LogParser` that reads all logs in the place of the
    rows' own, which run with `trust_parsers` even where nothing keeps them apart from this machine; `sandbox` is an object of the protocol `Sandbox` (`swe_atlas.protocols`). What they raise is the cause of a verdict
    without evidence.

    `progress` hears what the run does: True opens a bar of tqdm, a callable gets dicts with `phase`, `detail`, `done` and
    `total`, in this thread, ten times a second at most; of details between two times it gets the last one. The run waits for it, and
    what it raises ends the run in order and is raised here. By default nothing is shown.

    Runs detached from Python's lock. Ctrl-C ends the runs in flight, cleans up and raises
    KeyboardInterrupt; the same call later goes on from there.

    A prediction that fails is a part of the report, and so is what goes wrong with one row or one
    instance. Raises AtlasError for inputs that cannot be read at all, wrong options, a dead engine.
    """
    return _evaluate(locals())


def regrade(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    logs: str | os.PathLike[str],
    *,
    mode: Mode = "strict",
    against: Mode | None = None,
    instance_ids: Sequence[str] | None = None,
    parser: str | os.PathLike[str] | None = None,
    trust_parsers: bool = False,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> RegradeReport:
    """Grades stored logs again, by any rules; needs no engine but for parser code that rows bring along.

    `logs` is a folder with `<instance>/test_output*.txt` at any depth, such as a harness leaves.
    `predictions`, `mode`, `trust_parsers` and `config` are those of `evaluate`; `against` names other rules, and what they
    see differently is told test by test. `parser` is the file of a parser that reads all logs in strict mode; `engine` is where
    parser code of rows runs.

    A log that cannot be read, or is there twice, is one of `faults`, and its prediction is without
    evidence. Raises AtlasError for inputs that cannot be read at all.
    """
    return _regrade(locals())


def parse_log_compat(
    harness: Harness,
    parser: str,
    log: Content,
    *,
    version: str = "",
    instance_id: str = "",
    repo: str = "",
    test_cmd: str = "",
    language: str = "",
) -> dict[str, str]:
    """Reads a log as a released harness does, its mistakes included.

    `harness` is 'swebench5', 'swebench4' or 'swebenchpp'; `parser` is what it goes by: a row's
    `log_parser`, the name of the function that its table has for a repository, or a `log_parser_name`
    of SWE-Bench++, which goes by the `language` too. `log` is what the harness hands to its function.
    The other arguments are columns of the row, which some readers ask for.

    Raises CompatFault where the harness's reader raises or there is none; its text is that exception.
    """
    return _parse_log_compat(locals())


def grade_compat(
    harness: Harness,
    row: Mapping[str, Any] | Instance | Row,
    log: Content | None,
    *,
    patch: str | None,
    stage: Stage = "tested",
    instance_log: Content | None = None,
    read: Callable[[str], Mapping[str, str]] | None = None,
) -> CompatGrade:
    """Grades the stored log of one prediction as a released harness does.

    `harness` is 'swebench5', 'swebench4' or 'swebenchpp'; `row` is the instance as a mapping. `log` is
    the log of the tests, None where none was written; `patch` is the prediction's patch, None where it
    is null. `stage` says how far the run came: 'tested', 'timed_out', 'not_applied' or 'not_started'.
    `instance_log` is the harness's own log, which SWE-bench 5 searches for reasons. `read` takes the
    test output and gives name -> status, in place of the reader that the harness takes for the row.

    The result has `report` (what the harness writes to `report.json`, None where it writes nothing),
    `resolution`, `outcome` (where the run's report counts it: completed, empty_patch or error), `infra`,
    `statuses` and `why`. Raises InvalidInputError naming a column that cannot be used.
    """
    return _grade_compat(locals())


def grade_log(
    row: Mapping[str, Any] | Instance | Row,
    log: Content | None,
    *,
    patch: str | None,
    model: str = "",
) -> GradedLog:
    """Grades the stored log of one prediction by Atlas's own rules; needs no engine.

    `row` is the instance as a mapping, `log` the log of the tests with the harness's markers, None where none was
    written; `patch` is the prediction's patch, None where it is null. The log is read by the parser that the row
    names, or by the one of its repository; code of a row is not run.

    The result has `verdict` (as `regrade` gives it), `report` (what a harness writes to `report.json`, None where there is
    nothing to read), `statuses` (SWE-bench id -> worst status) and `is_closed` (whether the harness's marker ends the tests'
    output). Raises InvalidInputError naming a column that cannot be used.
    """
    return _grade_log(locals())
