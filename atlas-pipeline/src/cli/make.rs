//! `atlas make`.

use super::shared::BuilderArgs;
use super::{CommitArgs, Format, output, verdict};
use atlas_core::{Error, RunContext};
use atlas_pipeline::{MakeOptions, make, read_candidate};
use clap::{Arg, Args};

#[derive(Debug, Args)]
#[command(mut_args(of_pull_request))]
pub(super) struct MakeArgs {
    #[command(flatten)]
    commit: Option<CommitArgs>,
    /// A pull request that `atlas source` wrote: a line of its file, counted from 1, or the only one.
    #[arg(long, value_name = "FILE[:LINE]", conflicts_with_all = ["base", "head", "pr"])]
    candidate: Option<String>,
    #[command(flatten)]
    options: MakeOptions,
    #[command(flatten)]
    builder: BuilderArgs,
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
    #[command(flatten)]
    format: Format,
}

/// What a pull request needs, unless it is a candidate.
fn of_pull_request(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "repo" => option.required(false).required_unless_present("candidate"),
        "base" => option.required_unless_present("candidate").requires("head"),
        "head" => option.required_unless_present_any(["pr", "candidate"]),
        _ => option,
    }
}

pub(super) async fn command(cx: &RunContext, args: MakeArgs) -> Result<u8, Error> {
    let mut config = args.builder.configuration()?;
    config.make.scope = args.scope.unwrap_or(config.make.scope);
    config.make.scope_seconds = args.scope_seconds.unwrap_or(config.make.scope_seconds);
    config.image.name = args.image_name.or(config.image.name);
    config.make.confirm = match args.confirm {
        Some(runs) => runs,
        None if args.no_confirm => 0,
        None => config.make.confirm,
    };
    let (said, commit) = (args.options, args.commit.unwrap_or_default());
    let told = match &args.candidate {
        None => MakeOptions {
            base: commit.base,
            head: commit.head,
            pull_request: commit.pr,
            ..said.clone()
        },
        Some(place) => {
            let (file, line) = match place.rsplit_once(':') {
                Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => {
                    (file, line.parse().ok())
                }
                _ => (place.as_str(), None),
            };
            MakeOptions::sourced(
                read_candidate(std::path::Path::new(file), line)?,
                said.out.clone(),
            )?
        }
    };
    let options = MakeOptions {
        repo: Some(commit.repo)
            .filter(|repo| !repo.is_empty())
            .unwrap_or(told.repo),
        instance_id: said.instance_id.or(told.instance_id),
        problem: said.problem,
        engine: args.builder.place.engine,
        config,
        trust: args.builder.place.trust,
        repeats: said.repeats,
        parser: said.parser,
        inject: said.inject,
        keep_differences: said.keep_differences,
        ..told
    };
    let report = make(cx, &options).await?;
    cx.progress.phase("");
    args.format.show(&report, || output::make(&report))?;
    Ok(verdict(report.outcome))
}
