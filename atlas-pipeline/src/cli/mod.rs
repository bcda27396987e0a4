//! The command line: arguments in, reports out. All work is done by the library.

mod annotate;
mod attempt;
mod attempts;
mod audit;
mod baseline;
mod choose;
mod combine;
mod critic;
mod dataset;
mod document;
mod dry_run;
mod eval;
mod exchanges;
mod facts;
mod funnel;
mod images;
mod judge_bench;
mod judging;
mod leaderboard;
mod make;
mod metrics;
mod output;
mod progress;
mod publish;
mod rows;
mod run;
mod run_progress;
mod runtime;
mod serve;
mod shared;
mod source;
mod synth;
mod telemetry;
mod trajectories;
mod validate;
mod view;

use atlas_core::Error;
use atlas_parsers::Hints;
use atlas_pipeline::{
    BuildOutcome, EngineChoice, EnvironmentOptions, MakeOutcome, ParseReport, build,
    classify_files, demo, doctor, parse_file, plan, sweep,
};
#[cfg(feature = "mcp")]
use atlas_pipeline::{McpOptions, serve_mcp};
use clap::{Args, Parser, Subcommand};
use runtime::with_runtime;
use shared::{BuilderArgs, ConfigArgs, Format};
use std::ffi::OsString;
use std::path::PathBuf;

/// Turn merged pull requests into executable, verified software-engineering tasks.
///
/// Exit codes: 0 done; 1 error, or a prediction about which nothing could be found out; 2 wrong
/// usage; 3 a verdict of "no" (a rejected pull request, no environment, a rejected instance, a
/// prediction that does not solve its instance).
#[derive(Debug, Parser)]
#[command(name = "atlas", version, max_term_width = 100)]
struct Cli {
    /// Say more on standard error; twice for everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find merged pull requests that may become tasks, from clones, hosts and archives.
    Source(Box<source::SourceArgs>),
    /// Make one merged pull request into a verified instance.
    Make(Box<make::MakeArgs>),
    /// Take many candidates through all stages, resumable at any moment.
    Run(Box<run::RunArgs>),
    /// Tell where a run stands, also while it goes on.
    Status(run::StatusArgs),
    /// Tell the whole story of one candidate of a run.
    Why(run::WhyArgs),
    /// Find out how a repository is built and tested, with the evidence; nothing is built.
    Plan(PlanArgs),
    /// Build a repository's environment and run its tests in it once.
    Build(Box<BuildArgs>),
    /// Show a language model one repository at one commit: an MCP server on standard input/output.
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    /// Read a test runner's log.
    Parse(ParseArgs),
    /// Classify the logs of Base, Before and After, without any engine.
    Classify(ClassifyArgs),
    /// Put the instances of a dataset through quality gates.
    Validate(Box<validate::ValidateArgs>),
    /// Run predictions against instances and grade them.
    Eval(Box<eval::EvalArgs>),
    /// Have an agent attempt instances in sealed sandboxes, and grade what it leaves.
    Attempt(Box<attempt::AttemptArgs>),
    /// The shell of an agent.
    #[command(hide = true)]
    AgentShell(attempt::ShellArgs),
    /// Serve instances as environments for reinforcement learning, over HTTP.
    Serve(Box<serve::ServeArgs>),
    /// Grade stored logs again, by any rules, without any engine.
    Regrade(Box<eval::RegradeArgs>),
    /// Write a dataset in another schema of the field.
    Convert(dataset::ConvertArgs),
    /// Look for faults in a dataset's rows.
    Lint(dataset::LintArgs),
    /// Say what is wrong with published rows, from their data, and by running them where asked.
    Audit(Box<audit::AuditArgs>),
    /// Compare two datasets.
    Diff(dataset::DiffArgs),
    /// Hand tasks to people as pages and a table, and bring back what they say.
    Annotate(annotate::AnnotateArgs),
    /// Write a dataset as a folder that others can load, check and validate again.
    Publish(Box<publish::PublishArgs>),
    /// Tell why a patch does or does not apply, and what would mend it.
    Patch(dataset::PatchArgs),
    /// Compare models by pass@k from their run reports.
    Leaderboard(leaderboard::LeaderboardArgs),
    /// Ask a model which instances an agent should try at all.
    Abstain(Box<judging::AbstainArgs>),
    /// Validate candidate patches: what tests say, then a model's review.
    Review(Box<judging::ReviewArgs>),
    /// Judge tasks: is the statement clear, and do the tests judge what it asks for? Or why attempts failed.
    Judge(Box<rows::JudgeArgs>),
    /// Find names that tests need and problem statements do not tell.
    Hints(Box<rows::HintsArgs>),
    /// Ask a critic whether candidate patches pass their tests, without running anything.
    Critic(Box<critic::CriticArgs>),
    /// Write what an evaluation says of tests near each patch, for the regression check of `atlas review`.
    Facts(facts::FactsArgs),
    /// Put results of single models together as a committee or a cascade, without asking anybody.
    Combine(Box<combine::CombineArgs>),
    /// Choose one of several candidate patches for each task, by vote or score.
    Choose(choose::ChooseArgs),
    /// Measure a model as every policy and critic on patches of which it is known whether they are right.
    JudgeBench(judge_bench::JudgeBenchArgs),
    /// Measure policies and critics from their results, or check the metrics against stored values.
    Metrics(Box<metrics::MetricsArgs>),
    /// Write a run, an instance, an evaluation, a comparison of models or a judging as one HTML page.
    Report(Box<metrics::ReportArgs>),
    /// Show such a page in the browser while a run goes on, on this machine only.
    View(view::ViewArgs),
    /// Have a model write a parser for logs that none of the shipped ones knows, and certify it.
    SynthParser(Box<synth::SynthParserArgs>),
    /// Say which kinds of failure keep environments from being had, heaviest first.
    Failures(FailuresArgs),
    /// Say how much is left after each stage and by language, beside the paper, and what was rejected why.
    Funnel(funnel::FunnelArgs),
    /// Write the exchanges with a model that a run kept as JSON lines, which `--model replay:FILE` answers from.
    Exchanges(exchanges::ExchangesArgs),
    /// Read, convert and check recordings of agents.
    Trajectories(trajectories::TrajectoriesArgs),
    /// Tell what is installed here and what will work.
    Doctor(DoctorArgs),
    /// Do the main job once, on a real pull request, with what is on this machine.
    Demo(DemoArgs),
    /// List, remove, push and write into files the images that Atlas made.
    Images(images::ImagesArgs),
    /// Remove containers and folders that killed runs left behind.
    Sweep(SweepArgs),
}

#[derive(Debug, Default, Args)]
struct CommitArgs {
    /// A clone on this machine, or an address to clone from.
    #[arg(long, value_name = "PATH|URL")]
    repo: String,
    /// The commit that the pull request starts from, or that the environment is for.
    #[arg(long, value_name = "SHA", required_unless_present = "pr")]
    base: Option<String>,
    /// The pull request's last commit.
    #[arg(long, value_name = "SHA", requires = "base")]
    head: Option<String>,
    /// The pull request's number, found in the clone's refs or history.
    #[arg(long, value_name = "N", conflicts_with_all = ["base", "head"])]
    pr: Option<u64>,
}

impl CommitArgs {
    fn options(self) -> EnvironmentOptions {
        EnvironmentOptions {
            base: self.base,
            head: self.head,
            pull_request: self.pr,
            ..EnvironmentOptions::new(self.repo)
        }
    }
}

#[derive(Debug, Args)]
struct PlanArgs {
    #[command(flatten)]
    commit: CommitArgs,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct BuildArgs {
    #[command(flatten)]
    commit: CommitArgs,
    #[command(flatten)]
    builder: BuilderArgs,
    /// Where plan, Dockerfile, lock and log go.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
struct McpArgs {
    /// The repository that clients see: a clone on this machine, or an address to clone from.
    #[arg(long, value_name = "PATH|URL")]
    repo: String,
    /// The commit that clients see; nothing younger is shown.
    #[arg(long, value_name = "SHA")]
    base: String,
    /// Another clone, a folder of clones or an address that clients may ask for, at any commit.
    /// Can be given several times.
    #[arg(long, value_name = "PATH|URL")]
    allow: Vec<String>,
}

#[derive(Debug, Args)]
struct HintArgs {
    /// The log parser's id, ids joined with + for a log of several runners, the file of a rule set or of a
    /// row that brings one along, or auto.
    #[arg(long, default_value = "auto", value_name = "ID|FILE.json|auto")]
    parser: String,
    /// The repository's language, a hint for auto.
    #[arg(long)]
    language: Option<String>,
    /// The test command, a hint for auto.
    #[arg(long)]
    command: Option<String>,
    #[command(flatten)]
    format: Format,
}

impl HintArgs {
    fn hints(&self) -> Hints<'_> {
        Hints {
            command: self.command.as_deref(),
            language: self.language.as_deref(),
        }
    }
}

#[derive(Debug, Args)]
struct ParseArgs {
    #[command(flatten)]
    hints: HintArgs,
    /// List the parsers: what each reads, and what it cannot know.
    #[arg(long)]
    list: bool,
    /// Name the tests by their qualified ids, too, which tell tests of one name apart; with --format json.
    #[arg(long)]
    qualified: bool,
    /// The log file; - is standard input.
    #[arg(required_unless_present = "list")]
    log: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ClassifyArgs {
    /// Base's log. Given several times, as the others can be: repeats of the state, and tests that
    /// differ between them are set aside.
    #[arg(long, value_name = "LOG", required = true)]
    base: Vec<PathBuf>,
    /// Before's log.
    #[arg(long, value_name = "LOG", required = true)]
    before: Vec<PathBuf>,
    /// After's log.
    #[arg(long, value_name = "LOG", required = true)]
    after: Vec<PathBuf>,
    /// The test patch.
    #[arg(long, value_name = "FILE")]
    test_patch: Option<PathBuf>,
    /// The gold patch: proves which missing symbol it introduces.
    #[arg(long, value_name = "FILE")]
    gold_patch: Option<PathBuf>,
    #[command(flatten)]
    hints: HintArgs,
}

#[derive(Debug, Args)]
struct FailuresArgs {
    /// Output folders of `atlas make` and `atlas build`, or their failures.jsonl.
    #[arg(value_name = "PLACE", required = true)]
    places: Vec<PathBuf>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct DoctorArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct DemoArgs {
    /// The folder that is made.
    #[arg(long, value_name = "DIR", default_value = "atlas-demo")]
    out: PathBuf,
    /// Where the tests run: auto, docker or local.
    #[arg(long, default_value = "local")]
    engine: EngineChoice,
    /// Use the small repository inside this program and no package registry.
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct SweepArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    format: Format,
}

const DONE: u8 = 0;
const ERROR: u8 = 1;
const NO: u8 = 3;

/// The command with all that it takes, for its reference.
#[cfg(feature = "schema")]
pub(crate) fn tree() -> clap::Command {
    let mut tree = <Cli as clap::CommandFactory>::command();
    tree.build();
    tree
}

/// What the command `atlas` does with these words, of which the first is its own name; gives the exit code.
///
/// What it prints goes to the process's standard output and standard error. A second signal while it works ends the
/// process.
pub fn command_line<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> u8 {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(told) => {
            // Help and version are told this way, too.
            told.print().ok();
            return u8::try_from(told.exit_code()).unwrap_or(ERROR);
        }
    };
    let level = match cli.verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    // Sends what was told last when it goes.
    let _telemetry = match telemetry::listen(level) {
        Ok(telemetry) => telemetry,
        Err(why) => {
            output::error(&why);
            return ERROR;
        }
    };
    dispatch(cli.command).unwrap_or_else(|why| {
        output::error(&why);
        ERROR
    })
}

fn dispatch(command: Command) -> Result<u8, Error> {
    match command {
        Command::Parse(args) => parse_command(&args),
        Command::Classify(args) => classify_command(&args),
        Command::Make(args) => {
            with_runtime(|cx| async move { Box::pin(make::command(&cx, *args)).await })
        }
        Command::Run(args) => with_runtime(|cx| async move { run::run(&cx, *args).await }),
        Command::Status(args) => with_runtime(|cx| async move { run::status(&cx, args).await }),
        Command::Why(args) => run::why_command(&args),
        Command::Source(args) => {
            with_runtime(|cx| async move { source::command(&cx, *args).await })
        }
        Command::Validate(args) => {
            with_runtime(|cx| async move { validate::command(&cx, *args).await })
        }
        Command::Attempt(args) => {
            with_runtime(|cx| async move { attempt::command(&cx, *args).await })
        }
        Command::AgentShell(args) => attempt::shell(&args),
        Command::Serve(args) => with_runtime(|cx| async move { serve::command(&cx, *args).await }),
        Command::Eval(args) => {
            with_runtime(|cx| async move { Box::pin(eval::eval(&cx, *args)).await })
        }
        Command::Convert(args) => dataset::convert_command(&args),
        Command::Lint(args) => dataset::lint_command(&args),
        Command::Audit(args) => {
            with_runtime(|cx| async move { Box::pin(audit::command(&cx, *args)).await })
        }
        Command::Diff(args) => dataset::diff_command(&args),
        Command::Annotate(args) => annotate::command(args),
        Command::Publish(args) => with_runtime(|cx| async move { publish::command(&cx, &args) }),
        Command::Patch(args) => with_runtime(|_| async move { dataset::patch_command(args).await }),
        Command::Leaderboard(args) => leaderboard::command(&args),
        Command::Metrics(args) => metrics::metrics(&args),
        Command::Report(args) => metrics::report(&args),
        Command::View(args) => with_runtime(|cx| async move { view::command(&cx, args).await }),
        Command::Regrade(args) => {
            with_runtime(|cx| async move { Box::pin(eval::again(&cx, *args)).await })
        }
        Command::Abstain(args) => {
            with_runtime(|cx| async move { judging::abstain_command(&cx, *args).await })
        }
        Command::Review(args) => {
            with_runtime(|cx| async move { judging::review_command(&cx, *args).await })
        }
        Command::Judge(args) => {
            with_runtime(|cx| async move { rows::judge_command(&cx, *args).await })
        }
        Command::Hints(args) => {
            with_runtime(|cx| async move { rows::hints_command(&cx, *args).await })
        }
        Command::Critic(args) => {
            with_runtime(|cx| async move { critic::command(&cx, *args).await })
        }
        Command::SynthParser(args) => {
            with_runtime(|cx| async move { synth::command(&cx, *args).await })
        }
        Command::Plan(args) => with_runtime(|cx| async move {
            let options = EnvironmentOptions {
                config: args.config.read()?,
                ..args.commit.options()
            };
            let report = plan(&cx, &options).await?;
            cx.progress.phase("");
            args.format.show(&report, || output::plan(&report))?;
            Ok(if report.plan.is_some() { DONE } else { NO })
        }),
        Command::Build(args) => with_runtime(|cx| async move {
            let options = EnvironmentOptions {
                config: args.builder.configuration()?,
                engine: args.builder.place.engine,
                trust: args.builder.place.trust,
                ..args.commit.options()
            };
            let report = build(&cx, &options, &args.out).await?;
            cx.progress.phase("");
            args.format.show(&report, || output::build(&report))?;
            let ready = report.outcome == BuildOutcome::Ready;
            Ok(if ready { DONE } else { NO })
        }),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => with_runtime(|cx| async move {
            let options = McpOptions {
                allow: args.allow,
                ..McpOptions::new(args.repo, args.base)
            };
            serve_mcp(&cx, &options).await?;
            Ok(DONE)
        }),
        Command::Demo(args) => with_runtime(|cx| async move {
            let report = demo(&cx, &args.out, args.engine, args.offline).await?;
            cx.progress.phase("");
            args.format.show(&report, || output::demo(&report))?;
            Ok(verdict(report.make.outcome))
        }),
        Command::Failures(args) => {
            let report = atlas_pipeline::failures(&args.places)?;
            args.format.show(&report, || output::failures(&report))?;
            Ok(DONE)
        }
        Command::Facts(args) => with_runtime(|_| async move { facts::command(args).await }),
        Command::Combine(args) => {
            with_runtime(|cx| async move { combine::command(&cx, *args).await })
        }
        Command::Choose(args) => choose::command(&args),
        Command::Funnel(args) => funnel::command(&args),
        Command::JudgeBench(args) => {
            with_runtime(|cx| async move { judge_bench::command(&cx, args).await })
        }
        Command::Exchanges(args) => exchanges::command(&args),
        Command::Trajectories(args) => {
            with_runtime(|cx| async move { trajectories::command(&cx, args).await })
        }
        Command::Doctor(args) => with_runtime(|_| async move {
            let report = doctor(&args.config.read()?).await;
            args.format.show(&report, || output::doctor(&report))?;
            Ok(if report.ready { DONE } else { NO })
        }),
        Command::Images(args) => with_runtime(|cx| async move { images::images(&cx, args).await }),
        Command::Sweep(args) => with_runtime(|_| async move {
            let removed = sweep(&args.config.read()?).await?;
            args.format.show(&removed, || output::sweep(&removed))?;
            Ok(DONE)
        }),
    }
}

fn verdict(outcome: MakeOutcome) -> u8 {
    if outcome == MakeOutcome::Instance {
        DONE
    } else {
        NO
    }
}

fn parse_command(args: &ParseArgs) -> Result<u8, Error> {
    let Some(log) = args.log.as_deref().filter(|_| !args.list) else {
        output::parsers(args.hints.format)?;
        return Ok(DONE);
    };
    let (parsed, detection) = parse_file(log, &args.hints.parser, &args.hints.hints())?;
    let report = if args.qualified {
        ParseReport::with_qualified(&parsed)
    } else {
        ParseReport::from(&parsed)
    };
    let report = ParseReport {
        detection,
        ..report
    };
    let format = args.hints.format;
    format.show(&report, || output::parse(&report))?;
    Ok(DONE)
}

fn classify_command(args: &ClassifyArgs) -> Result<u8, Error> {
    let found = classify_files(
        [&args.base, &args.before, &args.after],
        &args.hints.parser,
        &args.hints.hints(),
        args.test_patch.as_deref(),
        args.gold_patch.as_deref(),
    )?;
    let format = args.hints.format;
    format.show(&found, || output::classification(&found))?;
    Ok(verdict(found.outcome.into()))
}
