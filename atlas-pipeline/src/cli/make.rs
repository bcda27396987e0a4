//! `atlas make`.

use super::shared::EngineArgs;
use super::{Format, output, verdict};
use atlas_core::{Error, RunContext};
use atlas_pipeline::{MakeOptions, make, read_candidate};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct MakeArgs {
    /// A clone on this machine, or an address to clone from [default: what the candidate names].
    #[arg(long, value_name = "PATH|URL", required_unless_present = "candidate")]
    repo: Option<String>,
    /// A pull request that `atlas source` wrote: a line of its file, counted from 1, or the only one.
    #[arg(long, value_name = "FILE[:LINE]", conflicts_with_all = ["base", "head", "pr"])]
    candidate: Option<String>,
    /// The commit the pull request starts from.
    #[arg(
        long,
        value_name = "SHA",
        required_unless_present_any = ["pr", "candidate"],
        requires = "head"
    )]
    base: Option<String>,
    /// The pull request's last commit.
    #[arg(
        long,
        value_name = "SHA",
        required_unless_present_any = ["pr", "candidate"],
        requires = "base"
    )]
    head: Option<String>,
    /// The pull request's number, found in the clone's refs or history.
    #[arg(long, value_name = "N", conflicts_with_all = ["base", "head"])]
    pr: Option<u64>,
    /// The instance's name [default: owner__name-N].
    #[arg(long, value_name = "ID")]
    instance_id: Option<atlas_core::InstanceId>,
    /// A file with the problem statement [default: the commit messages].
    #[arg(long, value_name = "FILE")]
    problem: Option<PathBuf>,
    #[command(flatten)]
    place: EngineArgs,
    /// Where the dataset and all artefacts go.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A model that is asked where rules cannot mend a plan, and for a parser where none is known: a name from `[models]` of the configuration,
    /// PROVIDER:MODEL, an address, replay:FILE or scripted:FILE.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Refuse a base image other than the planned one [default: the nearest version that can be had].
    #[arg(long)]
    exact: bool,
    /// Run each state N times and set aside tests that do not repeat.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Run the tests of `FAIL_TO_PASS` again N times in Before and in After, their files alone, and set
    /// aside those that contradict themselves [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    confirm: Option<u32>,
    /// Accept what one run of each state says.
    #[arg(long, conflicts_with = "confirm")]
    no_confirm: bool,
    /// How much of the suite runs; `[make] scope` of the configuration. Default: auto.
    #[arg(long, value_enum)]
    scope: Option<atlas_pipeline::ScopeChoice>,
    /// Seconds that Base, Before and After may take together with the whole suite; where Base takes more than a third, `--scope auto`
    /// takes a part of it. Default: 300.
    #[arg(long, value_name = "SECONDS")]
    scope_seconds: Option<u64>,
    /// A further name for the image, with a registry, which the row then says; `[image] name` of the configuration. Fields: `{instance_id}`,
    /// `{repo}`, `{owner}`, `{name}`, `{base}`, `{key}`.
    #[arg(long, value_name = "TEMPLATE")]
    image_name: Option<atlas_pipeline::ImageName>,
    /// A parser that reads the tests, in the place of the plan's: a rule set, or Python for a sandbox.
    #[arg(long, value_name = "FILE.json")]
    parser: Option<PathBuf>,
    /// Write failures into the pull request's tests and see whether the parser sees exactly them; with
    /// --model also into tests that no rule can rewrite.
    #[arg(long)]
    inject: bool,
    /// Keep each run whose console and structured report differ in a folder below this one.
    #[arg(long, value_name = "DIR")]
    keep_differences: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) async fn command(cx: &RunContext, args: MakeArgs) -> Result<u8, Error> {
    let mut config = args.place.config.read()?;
    config.engine.exact |= args.exact;
    config.model.name = args.model.clone().or(config.model.name);
    config.make.scope = args.scope.unwrap_or(config.make.scope);
    config.make.scope_seconds = args.scope_seconds.unwrap_or(config.make.scope_seconds);
    config.image.name = args.image_name.or(config.image.name);
    config.make.confirm = match args.confirm {
        Some(runs) => runs,
        None if args.no_confirm => 0,
        None => config.make.confirm,
    };
    let told = match &args.candidate {
        None => MakeOptions {
            base: args.base,
            head: args.head,
            pull_request: args.pr,
            ..MakeOptions::new("", args.out)
        },
        Some(place) => {
            let (file, line) = match place.rsplit_once(':') {
                Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => {
                    (file, line.parse().ok())
                }
                _ => (place.as_str(), None),
            };
            MakeOptions::sourced(read_candidate(std::path::Path::new(file), line)?, args.out)?
        }
    };
    let options = MakeOptions {
        repo: args.repo.unwrap_or_else(|| told.repo.clone()),
        instance_id: args.instance_id.or_else(|| told.instance_id.clone()),
        problem: args.problem,
        engine: args.place.engine,
        config,
        trust: args.place.trust,
        repeats: args.repeats,
        parser: args.parser,
        inject: args.inject,
        keep_differences: args.keep_differences,
        ..told
    };
    let report = make(cx, &options).await?;
    cx.progress.phase("");
    output::make(&report, args.format)?;
    Ok(verdict(report.outcome))
}
