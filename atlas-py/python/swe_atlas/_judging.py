"""What asks language models, and what their answers are worth. The native module does the work; here stand signatures and
documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swe_atlas._swe_atlas import (
    _abstain,
    _certify_parser,
    _choose,
    _critic,
    _hints,
    _judge,
    _judge_attempts,
    _measure,
    _policies_report,
    _review,
    _synth_parser,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from typing_extensions import Unpack

    from swe_atlas._judgements import (
        AbstainReport,
        Analysis,
        AttemptReport,
        CriticReport,
        JudgeReport,
        ReviewReport,
        SynthParserReport,
    )
    from swe_atlas._progress import ProgressEvent
    from swe_atlas._swe_atlas import Prediction, Predictions
    from swe_atlas.protocols import Judge
    from swe_atlas.types import AskOptions, Beyond, ChoiceReport, ModelAnswer


def abstain(
    dataset: str | os.PathLike[str],
    *,
    model: str | Sequence[str] | Callable[..., str | ModelAnswer],
    out: str | os.PathLike[str],
    instance_ids: Sequence[str] | None = None,
    representation: Literal["r1", "r2"] = "r2",
    tools: Mapping[str, str] | None = None,
    max_steps: int = 25,
    tau: float = 0.5,
    labels: tuple[str, str] = ("success", "failure"),
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    total_budget: str | None = None,
    batch_poll: float | None = None,
    limits: Mapping[str, int] | None = None,
    ensemble: str | None = None,
    calibrators: Sequence[str] = (),
    roots: Sequence[str] = (),
    **ask: Unpack[AskOptions],
) -> AbstainReport:
    """Asks a model which instances an agent should try at all (paper 002, section 3.1).

    `dataset` is a file or a folder of tasks, `out` the file of results, one JSON object a line: what it
    holds already is not asked again, by this function or by `atlas abstain` with the same options.

    `model` is a text as the command takes it ('openai:NAME', 'llama:http://…', 'replay:FILE',
    'scripted:FILE', a table of `[models]` in `config`), or a callable
    `model(messages, **options) -> str | dict`, called in threads of its own. `messages` are dicts with
    `role` and `content`; `options` are `max_tokens`, `temperature`, `seed`, `top_logprobs` and
    `json_schema`. A dict has `text` and, as far as they are known, `logprobs` (the list that OpenAI's API
    gives for the tokens of an answer), `avg_logprob` (nats), `finish_reason` ('stop', 'length'), `usage`
    (`prompt_tokens`, `completion_tokens`, and of these `cached_tokens` and `reasoning_tokens`) and `model`. Its attribute `name` tells it from others.

    A list of texts is several models as one judge, `NAME=` before each its name: `ensemble` is 'mean', 'majority', 'weighted', or
    'cascade=0.3..0.7', which asks the next model only where the number of the one before lies in the band; default 'mean', of critics
    'majority'. `calibrators` are files of calibrations that make the models' numbers comparable, `NAME=` before one of a single model.

    `budget` limits what the run may spend, as 'calls=100,tokens=2M,money=1.50,time=10m'; what is left over
    waits for the next run. `total_budget` limits what all runs that write to `out` spend together, without time.
    `batch_poll` asks in batches of OpenAI's or Anthropic's, mostly at half the price and within a day, and looks every so
    many seconds whether they are answered; the same call again goes on with the same batch. `limits` are the most tokens
    (of four bytes) of parts of the prompt, here of `report`, default what fits into the model's context where that is known.
    Prices of one's own are `prices` in `config`. `jobs` items go on at once. `progress` is that of `evaluate`. `ask` are `max_tokens`, `samples`, `temperature`,
    `verbalised`, `corrections`, `max_text`, `mass_floor`, `label_form` (where a label is asked for: 'word', or 'json' for
    models that answer in sentences) and `seed`, with the command's defaults.

    `representation` is 'r1', or 'r2' with guidelines. `tools` maps the agent's tools to their purposes,
    default the paper's kind; `max_steps` is what it may take. From the probability `tau` on an instance is
    attempted. `labels` are the two words between which the model chooses; at least `mass_floor` must be on
    them together. `roots` are texts that stand for the repository's root, of which `features` says how many reports name one.

    Runs detached from Python's lock. Ctrl-C raises KeyboardInterrupt at once; what is done is kept, and a
    callable that is under way goes on unheard in its thread.

    An item that fails is one of `failed`. Raises AtlasError for inputs that cannot be read, wrong options, a
    file of results that was made with others.
    """
    return _abstain(locals())


def review(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    *,
    out: str | os.PathLike[str],
    model: str | Sequence[str] | Callable[..., str | ModelAnswer] | None = None,
    mode: Literal["specification", "trajectory", "deterministic"] = "specification",
    instance_ids: Sequence[str] | None = None,
    repos: str | os.PathLike[str] | None = None,
    trajectories: str | os.PathLike[str] | None = None,
    facts: str | os.PathLike[str] | None = None,
    abstentions: str | os.PathLike[str] | None = None,
    all_bugs: bool = False,
    reports: Sequence[str | os.PathLike[str]] = (),
    percentile: float | None = None,
    test_tools: Sequence[str] = (),
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    total_budget: str | None = None,
    batch_poll: float | None = None,
    limits: Mapping[str, int] | None = None,
    ensemble: str | None = None,
    calibrators: Sequence[str] = (),
    **ask: Unpack[AskOptions],
) -> ReviewReport:
    """Validates candidate patches: what tests say, then a model's review (paper 002, section 3.2).

    `predictions` is what `evaluate` takes; several patches of one agent for one instance are all reviewed.
    `mode` is 'specification' (one is written first), 'trajectory' (the whole of it is reviewed) or
    'deterministic' (only the stages without a model). `repos` is a clone or a folder of clones, to read
    original files from. `trajectories` and `facts` are files beside predictions that lack such columns,
    `abstentions` results of `abstain`, `reports` run reports of `evaluate`. Patches of instances that the
    policy abstains from are reviewed with `all_bugs` only. `percentile`, 0 to 100, decides what is shown
    instead of the review's yes or no. `test_tools` are tools of the agent that run tests.

    `model`, `out`, `budget`, `total_budget`, `batch_poll`, `ensemble`, `calibrators`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and
    exceptions; `limits` has `report`, `patch`, `files`, `tests` and `trajectory`.
    """
    return _review(locals())


def critic(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    *,
    out: str | os.PathLike[str],
    model: str | Sequence[str] | Callable[..., str | ModelAnswer] | None = None,
    mode: Literal["isolated", "holistic", "change-aware", "problem", "problem-hints"] = "isolated",
    variant: Literal["default", "function", "post-commit"] = "function",
    max_confidence: float = 65.0,
    longer_than: int = 50,
    rule: bool = True,
    repos: str | os.PathLike[str] | None = None,
    instance_ids: Sequence[str] | None = None,
    label_logprobs: bool = False,
    ignore_unseen: bool = False,
    baseline: Literal["random", "random-tests", "likeness"] | Judge | None = None,
    share: float = 0.85,
    embedder: str = "hashed",
    embedder_characters: int | None = None,
    threshold: float | None = None,
    validation_share: float = 0.3,
    evaluations: Sequence[str | os.PathLike[str]] = (),
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    total_budget: str | None = None,
    batch_poll: float | None = None,
    limits: Mapping[str, int] | None = None,
    ensemble: str | None = None,
    calibrators: Sequence[str] = (),
    **ask: Unpack[AskOptions],
) -> CriticReport:
    """Asks a critic whether candidate patches pass their tests, without running anything (paper 004).

    `predictions` is what `evaluate` takes; several patches of one agent for one instance are all judged.
    `mode` says what the critic sees: 'isolated' (one unseen test a call), 'holistic' (all of them),
    'change-aware' (the gold patch), 'problem' or 'problem-hints' (no reference). `variant` says how patches
    are shown: 'default', 'function' (with the whole functions around every change) or 'post-commit' (as the
    functions that they leave behind). A test that is said to pass with at most `max_confidence` (0 to 100)
    and whose source has more than `longer_than` characters is taken to fail, unless `rule` is False. `repos`
    is a clone or a folder of clones, to read the files at the base commit from. `label_logprobs` also keeps how
    likely the word 'pass' was where the verdict begins, and changes no verdict. A patch whose seen tests all pass
    while tests of FAIL_TO_PASS were not found in the test patch has the label 'abstained', unless `ignore_unseen`.

    `baseline` asks no language model, which critics are compared with: 'random' says pass with the chance
    `share`; 'random-tests' does so for each test of the row's lists, and a patch passes if all do;
    an object of the protocol `Judge` (`swe_atlas.protocols`) says 'pass' or 'fail' of a patch;
    'likeness' passes what is like the gold patch, by the cosine of their vectors. `embedder` makes the vectors:
    'hashed' (sequences of characters, no model), the address of a server with `/v1/embeddings` as
    'http://HOST:PORT/v1#NAME', 'openai:NAME', a table of `[models]`, or 'replay:FILE'; it sees the first
    `embedder_characters` of a patch, all of it by default. From the cosine `threshold` on a patch passes;
    without it the one with the best F1 on the share `validation_share` of the instances is taken, which are
    not judged. Which patches pass is told by the predictions' column `resolved`, else by `evaluations`,
    folders `logs/run_evaluation/<run id>`.

    `model`, `out`, `budget`, `total_budget`, `batch_poll`, `ensemble`, `calibrators`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and
    exceptions; `limits` has `patch`, `gold`, `tests`, `problem` and `hints`.
    """
    return _critic(locals())


def choose(
    predictions: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    results: Sequence[str | os.PathLike[str]] = (),
    rule: Literal["vote", "score"] = "vote",
    among: Literal["agent", "all"] = "agent",
    name: str | None = None,
) -> ChoiceReport:
    """Takes one patch of several for each task, of those that results accept, and writes them to `out` as predictions for
    `evaluate`, all columns kept (paper 002, section 5.1.2): what `atlas choose` does.

    `predictions` is a file of candidate patches, `results` what `review` or `critic` wrote; without any, every patch may be
    chosen. `rule` is 'vote' (the most frequent patch, names of variables aside, then the shortest, then the first) or
    'score' (the highest score, then by vote). `among` is 'agent', one patch for each task and agent, or 'all', one for each
    task. `name` is the `model_name_or_path` of the chosen ones, by default their own.

    Gives `candidates`, `accepted`, `unjudged`, `choices`, `without` (tasks of which no patch is accepted), `resolved` where
    it is known of all chosen ones, and `faults`. Raises AtlasError for files that cannot be read, results that contradict
    each other, and a score that is asked for and that the results do not have.
    """
    return _choose(locals())


def judge(
    dataset: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    question: Literal["alignment", "classes"] | Judge = "alignment",
    model: str | Callable[..., str | ModelAnswer] | None = None,
    instance_ids: Sequence[str] | None = None,
    high_up_to: int | None = None,
    medium_up_to: int | None = None,
    ask_again: int = 1,
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    **ask: Unpack[AskOptions],
) -> JudgeReport:
    """Judges the tasks of a dataset (paper 001).

    `question` is 'alignment' (is the statement clear, and do the tests judge what it asks for? section 3.4
    and appendix C; needs a model) or 'classes' (what kind of change and of report is it? appendix E; rules,
    then a model where one is given), or an object of the protocol `Judge` (`swe_atlas.protocols`), whose answers are kept as they are. Scores are 0, the best, to 3; one up to `high_up_to` makes a task of
    high quality, one up to `medium_up_to` of medium. After an answer that cannot be used the model is asked
    again `ask_again` times.

    `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, as are Ctrl-C and exceptions;
    `samples` is 0 by default.
    """
    return _judge(locals())


def hints(
    dataset: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    model: str | Callable[..., str | ModelAnswer] | None = None,
    instance_ids: Sequence[str] | None = None,
    repos: str | os.PathLike[str] | None = None,
    artefacts: str | os.PathLike[str] | None = None,
    always_ask: bool = False,
    ask_again: int = 1,
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    **ask: Unpack[AskOptions],
) -> JudgeReport:
    """Finds names that tests need and problem statements do not tell (paper 001, section 3.4).

    `repos` is a clone or a folder of clones, to read the files from that the patches change; without it only
    what the patches show is known. `artefacts` is what `make` left behind: `<instance>/before.log` and
    `<instance>/oracle.json` are read. A model is asked where rules show nothing, and with `always_ask` also
    where they do; without one the rules decide.

    `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, `ask_again` that of `judge`, as
    are Ctrl-C and exceptions.
    """
    return _hints(locals())


def judge_attempts(
    dataset: str | os.PathLike[str],
    predictions: str | os.PathLike[str] | Predictions | Mapping[str, Any] | Iterable[Mapping[str, Any] | Prediction],
    *,
    out: str | os.PathLike[str],
    model: str | Callable[..., str | ModelAnswer] | None = None,
    evaluations: Sequence[str | os.PathLike[str]] = (),
    trajectories: str | os.PathLike[str] | None = None,
    hints: str | os.PathLike[str] | None = None,
    instance_ids: Sequence[str] | None = None,
    ask_again: int = 1,
    budget: str | None = None,
    jobs: int = 1,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    **ask: Unpack[AskOptions],
) -> AttemptReport:
    """Says why failed attempts failed, and which are worth another look (paper 001, section 3.4, layer 4):
    the agent's tools crashed, the environment lacks something, the machinery failed, the task asks for what
    it does not tell, or the attempt is wrong. No verdict is changed.

    `predictions` is what `evaluate` takes; those that resolve their instance are left out. `evaluations` are
    folders `logs/run_evaluation/<run id>`: which attempts failed, and what the tests printed. A prediction's
    own columns `resolved`, `log`, `trajectory` and `exit_status` go before. `trajectories` is a file or
    folder of them, `hints` results of `hints`. Rules decide where a line of a log proves it; a model, if
    there is one, is asked about the rest and has to quote.

    `model`, `out`, `budget`, `jobs`, `config`, `progress` and `ask` are those of `abstain`, `ask_again` that of `judge`, as
    are Ctrl-C and exceptions.
    """
    return _judge_attempts(locals())


def synth_parser(
    logs: Sequence[str | os.PathLike[str]],
    *,
    model: str | Callable[..., str | ModelAnswer],
    out: str | os.PathLike[str] | None = None,
    exit_codes: Sequence[int] = (),
    truths: Sequence[str | os.PathLike[str]] = (),
    tests_in_source: int | None = None,
    command: str | None = None,
    id: str = "synthesised",
    anyway: bool = False,
    budget: str | None = None,
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: bool | Callable[[ProgressEvent], object] | None = None,
    trust: bool = False,
) -> SynthParserReport:
    """Has a model write a parser for logs of one runner that none of the shipped ones knows, and certifies it
    (paper 001, section 3.3.2).

    `logs` are paths, best with passed, failed and skipped tests; `exit_codes` those of the commands that printed
    them, in their order; `truths` for each log what another witness says: a report that a shipped parser
    knows, or JSON `{id: status}`. `tests_in_source` is about how many tests there are, `command` what printed
    the logs, `id` the parser's name. A rule set is tried first, then Python, which runs in a sandbox of
    `engine` ('auto', 'docker' or 'local'; `trust` lets it run where nothing keeps it apart). A parser is made
    even where a shipped one knows the log with `anyway`. It goes to `out`, if one was made.

    `model`, `budget`, `config` and `progress` are those of `abstain`, as is Ctrl-C. A parser that is refused is a report.
    Raises AtlasError for logs that cannot be read, a model that fails, a budget that is used up.
    """
    return _synth_parser(locals())


def certify_parser(
    logs: Sequence[str | os.PathLike[str]],
    parser: str | os.PathLike[str],
    *,
    exit_codes: Sequence[int] = (),
    truths: Sequence[str | os.PathLike[str]] = (),
    engine: Literal["auto", "docker", "local"] = "auto",
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    trust: bool = False,
) -> dict[str, Any]:
    """Certifies a parser on logs: a shipped one's id, or a file that `synth_parser` wrote.

    `exit_codes`, `truths`, `engine`, `config` and `trust` are those of `synth_parser`. Gives the certificate:
    `decision` ('certified', 'insufficient' or 'refused'), `score` (0 to 1), `reasons`, `checks` by kind.
    Raises AtlasError for a parser or logs that cannot be read.
    """
    return _certify_parser(locals())


def measure(
    results: str
    | os.PathLike[str]
    | Sequence[str | os.PathLike[str]]
    | Mapping[str, str | os.PathLike[str] | Sequence[str | os.PathLike[str]]],
    *,
    evaluations: Sequence[str | os.PathLike[str]] = (),
    tau: float = 0.5,
    percentiles: Sequence[float] = (75.0, 90.0),
    population: Literal["attempted", "all"] = "attempted",
    beyond: Beyond = "clamp",
    max_k: int = 20,
    ks: Sequence[int] = (),
    low_confidence: float = 65.0,
    longer_than: int = 50,
    resamples: int = 1000,
    seed: int = 0,
    bins: int = 10,
    target_precision: float | None = None,
    value: Mapping[str, float] | None = None,
    calibrate: Literal["platt", "isotonic"] | None = None,
    calibrate_on: Sequence[str | os.PathLike[str]] = (),
    cascade_step: float | None = None,
) -> Analysis:
    """Measures policies and critics from their results: what `abstain`, `review` and `critic` wrote, one or more
    lines a candidate patch.

    `results` is a path or a list of paths, read as one file, or a dict of judges that are compared, such as two models:
    name to path or paths, where the files of the empty name are common to all. `evaluations` are folders
    `logs/run_evaluation/<run id>`, whose verdicts say which patches resolve their task and which tests pass.
    A task is attempted from the probability `tau` on; `percentiles` of the validation score decide what is
    shown, over patches of tasks that are 'attempted' or of 'all' (`population`). `beyond` is that of
    `metrics.mean_at_k`, `max_k` the largest k; `ks` are those that tables show. A test that is said to pass with at most `low_confidence`, 0 to
    100, and whose source has more than `longer_than` characters is taken to fail. Intervals come from
    `resamples` of tasks, with this `seed`; 0 makes none. Reliability diagrams have `bins` bins.
    `target_precision`, 0 to 1, looks for the score from which on this share is right. `value` says what a fix is worth (`fix`), what a
    bug that stays open costs (`open`), what a run (`run`) and a person's look at a patch (`review`) cost: which thresholds lose
    money. `calibrate` is 'platt' or 'isotonic': each
    half of the tasks is measured by a fit to the other one, or by a fit to the results files `calibrate_on`, of which tasks that are
    measured are left out. With `cascade_step`, 0.005 to 1, each two judges, the cheaper one first, are tried as a cascade over bands
    of doubt whose ends lie this far apart.

    Raises InvalidInputError for a line with a fault, named by line and field.
    """
    return _measure(locals())


def policies_report(
    results: str
    | os.PathLike[str]
    | Sequence[str | os.PathLike[str]]
    | Mapping[str, str | os.PathLike[str] | Sequence[str | os.PathLike[str]]],
    out: str | os.PathLike[str],
    *,
    title: str = "Policies and critics",
    evaluations: Sequence[str | os.PathLike[str]] = (),
    tau: float = 0.5,
    percentiles: Sequence[float] = (75.0, 90.0),
    population: Literal["attempted", "all"] = "attempted",
    beyond: Beyond = "clamp",
    max_k: int = 20,
    ks: Sequence[int] = (),
    low_confidence: float = 65.0,
    longer_than: int = 50,
    resamples: int = 1000,
    seed: int = 0,
    bins: int = 10,
    target_precision: float | None = None,
    value: Mapping[str, float] | None = None,
    calibrate: Literal["platt", "isotonic"] | None = None,
    calibrate_on: Sequence[str | os.PathLike[str]] = (),
    cascade_step: float | None = None,
) -> Analysis:
    """Writes a page of figures on policies and critics, one self-contained HTML file, to `out`: curves of precision
    and recall, filtered success@k, funnel and trade-off (paper 002), confidence, predicted against actual
    pass rates and rank correlation (paper 004). Gives what is in it.

    All other arguments and exceptions are those of `measure`.
    """
    return _policies_report(locals())
