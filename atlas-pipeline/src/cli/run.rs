//! `atlas run`, `atlas status` and `atlas why`.

use super::images::people;
use super::output::print;
use super::run_progress;
use super::shared::ConfigArgs;
use super::{DONE, ERROR, Format, NO};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_pipeline::{
    CandidateStory, Config, PipelineEstimate, PipelineReport, RepositoryImages, RunEnd, RunOptions,
    RunStatus, StageStatus, estimate_pipeline, run_pipeline, run_status, standard_stages, why,
};
use clap::Args;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Say what would be done for all candidates, with its time and disk, and do nothing.
    #[arg(long, conflicts_with_all = ["only", "limit", "retry"])]
    dry_run: bool,
    /// The last stage that is done: prepare, make, validate, classify, judge, hints or accept, of those that the
    /// configuration has.
    #[arg(long, value_name = "STAGE")]
    until: Option<String>,
    /// Only candidates of this name, or of names that match a pattern with `*`. Can be given several times.
    #[arg(long, value_name = "ID|GLOB")]
    only: Vec<String>,
    /// Only the first N candidates of the queue that have something to do.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Try failed steps of this kind of error again, and steps that went on without their model's answer for it: `io`,
    /// `not_found`, `model`, … Can be given several times.
    #[arg(long, value_name = "KIND")]
    retry: Vec<String>,
    /// Do steps of another version or configuration anew [default: they are counted and stay].
    #[arg(long)]
    stale: bool,
    /// Start nothing more when all steps together took so many seconds, earlier calls included; `[run] seconds` of the
    /// configuration.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Start nothing more when models cost so much, earlier calls included; `[run] money` of the configuration.
    #[arg(long, value_name = "AMOUNT")]
    money: Option<f64>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Look again every two seconds until stopped; with `--format json` a document a line.
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The candidate's name.
    #[arg(value_name = "CANDIDATE")]
    id: String,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    format: Format,
}

fn options(args: &RunArgs, config: &Config) -> RunOptions {
    let usual = RunOptions::of(&config.run);
    RunOptions {
        until: args.until.clone(),
        only: args.only.clone(),
        limit: args.limit,
        retry: args.retry.clone(),
        stale: args.stale,
        seconds: args.seconds.or(usual.seconds),
        money: args.money.or(usual.money),
        ..usual
    }
}

pub(super) async fn run(cx: &RunContext, args: RunArgs) -> Result<u8, Error> {
    let config = args.config.read()?;
    let options = options(&args, &config);
    let stages = standard_stages(&config).await?;
    if args.dry_run {
        let estimate = estimate_pipeline(cx, &config, &options, &stages).await?;
        args.format.show(&estimate, || estimated(&estimate))?;
        return Ok(DONE);
    }
    let listener = run_progress::listener();
    let report = run_pipeline(cx, &config, &options, &stages, Arc::clone(&listener) as _).await;
    listener.finish();
    let report = report?;
    args.format.show(&report, || ran(&report))?;
    let run = &report.run;
    let failed = run.status.stages.iter().any(|stage| stage.failed > 0);
    Ok(match run.ended {
        RunEnd::Budget => NO,
        RunEnd::Done if failed || run.import.faulty > 0 => ERROR,
        RunEnd::Done => DONE,
    })
}

pub(super) async fn status(cx: &RunContext, args: StatusArgs) -> Result<u8, Error> {
    let config = args.config.read()?;
    loop {
        let status = run_status(&config.run.folder)?;
        if args.format.is_json() && args.watch {
            let line = serde_json::to_string(&status).map_err(|why| {
                Error::new(ErrorKind::Internal, "write", "the status").with_source(why)
            })?;
            print(&format!("{line}\n"))?;
        } else {
            if args.watch && std::io::stdout().is_terminal() {
                print("\x1b[H\x1b[2J")?;
            }
            args.format.show(&status, || standing(&status))?;
        }
        if !args.watch {
            return Ok(DONE);
        }
        tokio::select! {
            () = cx.cancel.cancelled() => return Ok(DONE),
            () = tokio::time::sleep(Duration::from_secs(2)) => {}
        }
    }
}

pub(super) fn why_command(args: &WhyArgs) -> Result<u8, Error> {
    let config = args.config.read()?;
    let story = why(&config.run.folder, &args.id)?;
    args.format.show(&story, || told(&story))?;
    Ok(DONE)
}

/// Seconds for people.
pub(super) fn duration(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds that were rounded, and are not below 0"
    )]
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..=9 => format!("{seconds:.1} s"),
        10..=119 => format!("{whole} s"),
        120..=7_199 => format!("{} min", whole / 60),
        7_200..=172_799 => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
        _ => format!("{} d {} h", whole / 86_400, whole % 86_400 / 3600),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of bytes"
)]
fn bytes(mean: f64) -> String {
    people(mean.max(0.0) as u64)
}

fn standing(status: &RunStatus) -> String {
    let mut text = format!(
        "{}: {} candidates, {} rows in `{}`\n\n",
        status.folder.display(),
        status.candidates,
        status.dataset_rows,
        status.dataset.display()
    );
    let _ = writeln!(
        text,
        "{:<10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>12}",
        "stage", "pending", "running", "passed", "rejected", "failed", "mean", "an hour", "left"
    );
    for stage in &status.stages {
        let mean = stage.mean_seconds.map_or_else(String::new, duration);
        let left = stage.eta_seconds.map_or_else(String::new, duration);
        let _ = writeln!(
            text,
            "{:<10} {:>8} {:>8} {:>8} {:>8} {:>8} {mean:>9} {:>8.0} {left:>12}",
            stage.stage,
            stage.pending,
            stage.running,
            stage.passed,
            stage.rejected,
            stage.failed,
            stage.per_hour
        );
    }
    text.push('\n');
    for stage in &status.stages {
        for (kind, words) in [("", &stage.outcomes), ("error: ", &stage.errors)] {
            for (word, count) in words {
                let _ = writeln!(text, "{:<10} {count:>8} {kind}{word}", stage.stage);
            }
        }
    }
    if !status.running.is_empty() {
        text.push('\n');
    }
    for step in &status.running {
        let _ = writeln!(
            text,
            "{:<10} {} since {} (process {})",
            step.stage,
            step.candidate,
            duration(step.seconds),
            step.owner
        );
    }
    if let Some(why) = &status.held {
        let _ = writeln!(text, "held: {why}");
    }
    let free = status
        .free_bytes
        .map_or_else(String::new, |free| format!(", {} free", people(free)));
    let _ = writeln!(
        text,
        "\nall steps took {}; artefacts {}, environments {}{free}",
        duration(status.seconds),
        people(status.artefact_bytes),
        people(status.image_bytes)
    );
    if status.money > 0.0 {
        let _ = writeln!(
            text,
            "models cost {:.4}{}",
            status.money,
            by_stage(&status.stages)
        );
    }
    shared(&mut text, status);
    text
}

/// The money of each stage that cost some.
fn by_stage(stages: &[StageStatus]) -> String {
    let paid = stages.iter().filter(|stage| stage.money > 0.0);
    let told: Vec<String> = paid
        .map(|stage| format!("{} {:.4}", stage.stage, stage.money))
        .collect();
    if told.is_empty() {
        String::new()
    } else {
        format!(" ({})", told.join(", "))
    }
}

/// A line for each repository: what its environments take up and share, and what the first and the later ones took.
fn shared(text: &mut String, status: &RunStatus) {
    if status.repositories.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{:<30} {:>6} {:>10} {:>10} {:>16} {:>18} {:>18}",
        "repository",
        "images",
        "on disk",
        "unshared",
        "shared layers",
        "first (build)",
        "later (build)"
    );
    for one in &status.repositories {
        let _ = writeln!(text, "{}", shared_line(one));
    }
    let told = status.repositories.len() as u64;
    if status.repositories_with_images > told {
        let more = status.repositories_with_images - told;
        let _ = writeln!(text, "and {more} more, which `report.json` has");
    }
}

fn shared_line(one: &RepositoryImages) -> String {
    let took = |whole: f64, build: f64| format!("{} ({})", duration(whole), duration(build));
    let later = match (one.later_seconds, one.later_build_seconds) {
        (Some(whole), Some(build)) => format!("{} x {}", one.later, took(whole, build)),
        _ => "-".to_owned(),
    };
    format!(
        "{:<30} {:>6} {:>10} {:>10} {:>16} {:>18} {later:>18}",
        one.repo,
        one.images,
        people(one.bytes),
        people(one.unshared_bytes),
        format!("{} of {}", one.shared_layers, one.layers),
        took(one.first_seconds, one.first_build_seconds),
    )
}

fn ran(pipeline: &PipelineReport) -> String {
    let mut text = String::new();
    if let Some(gathered) = &pipeline.gathered {
        let _ = writeln!(text, "{}", run_progress::gathered(gathered));
    }
    let report = &pipeline.run;
    let import = &report.import;
    if !import.unchanged {
        let _ = writeln!(
            text,
            "candidates: {} new, {} changed, {} known, {} withdrawn, {} repeated, {} faulty",
            import.new,
            import.changed,
            import.known,
            import.withdrawn,
            import.repeated,
            import.faulty
        );
    }
    super::output::input_faults(&mut text, &import.faults);
    let stages = report.status.stages.iter();
    let worked = stages.filter_map(|stage| report.work.get_key_value(&stage.stage));
    for (stage, work) in worked {
        let _ = writeln!(
            text,
            "{stage}: {} passed, {} rejected, {} failed, {} put back, in {}",
            work.passed,
            work.rejected,
            work.failed,
            work.returned,
            duration(work.seconds)
        );
    }
    if report.work.is_empty() {
        text.push_str("nothing was left to do\n");
    }
    for (stage, steps) in &report.stale {
        let _ = writeln!(
            text,
            "{stage}: {steps} steps are of another version or configuration; --stale does them anew"
        );
    }
    if report.ended == RunEnd::Budget {
        text.push_str("the budget is spent: with more of it the same command goes on\n");
    }
    if let Some(release) = &pipeline.release {
        let _ = writeln!(text, "{}", run_progress::released(release));
        for warning in &release.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
    }
    let _ = writeln!(text, "{}\n", duration(report.seconds));
    text + &standing(&report.status)
}

fn estimated(pipeline: &PipelineEstimate) -> String {
    let mut text = String::new();
    for source in &pipeline.sources {
        let so_far = match (source.progress.pages, source.progress.done) {
            (0, _) => "not asked yet: what it tells is not counted below".to_owned(),
            (_, true) => format!("{} pull requests, read to the end", source.progress.told),
            (_, false) => format!("{} pull requests, and there is more", source.progress.told),
        };
        let _ = writeln!(text, "source {}: {so_far}", source.name);
    }
    let estimate = &pipeline.run;
    let import = &estimate.import;
    if import.unchanged {
        text.push_str("the files of candidates are those of the last time\n");
    } else {
        let _ = writeln!(
            text,
            "candidates: {} new, {} changed, {} known, {} repeated, {} faulty",
            import.new, import.changed, import.known, import.repeated, import.faulty
        );
    }
    super::output::input_faults(&mut text, &import.faults);
    let _ = writeln!(
        text,
        "\n{:<10} {:>8} {:>14} {:>8} {:>10} {:>12}",
        "stage", "waiting", "more may come", "stale", "mean", "in all"
    );
    for stage in &estimate.stages {
        let time = |seconds: Option<f64>| seconds.map_or_else(|| "unknown".to_owned(), duration);
        let _ = writeln!(
            text,
            "{:<10} {:>8} {:>14.0} {:>8} {:>10} {:>12}",
            stage.stage,
            stage.waiting,
            stage.expected,
            stage.stale,
            time(stage.mean_seconds),
            time(stage.seconds)
        );
    }
    let time = estimate.seconds.map_or_else(
        || "not known before a step of each stage has ended".to_owned(),
        duration,
    );
    let disk = estimate
        .bytes
        .map_or_else(|| "not known before an instance was made".to_owned(), bytes);
    let free = estimate
        .free_bytes
        .map_or_else(String::new, |free| format!("; {} are free", people(free)));
    let _ = writeln!(
        text,
        "\ntime, one step after the other: {time}\nartefacts: {disk}{free}"
    );
    if let Some(folder) = &pipeline.release {
        let _ = writeln!(text, "release: {}, where rows changed", folder.display());
    }
    text
}

fn told(story: &CandidateStory) -> String {
    let mut text = format!("{} ({})", story.id, story.repo);
    if !story.title.is_empty() {
        let _ = write!(text, ": {}", story.title);
    }
    let line = story.told_by.line.unwrap_or_default();
    let _ = writeln!(text, "\ntold by {}:{line}", story.told_by.source);
    if story.withdrawn {
        text.push_str("withdrawn: no file of candidates has it any more\n");
    }
    for step in &story.steps {
        let _ = writeln!(
            text,
            "\n{} {} {}  {}, begun {} times",
            step.stage,
            step.state,
            step.outcome,
            duration(step.seconds),
            step.attempts
        );
        for line in step.reason.lines() {
            let _ = writeln!(text, "  {line}");
        }
        for proof in &step.evidence {
            let line = proof
                .line
                .map_or_else(String::new, |line| format!(":{line}"));
            let _ = writeln!(text, "  - {}{line}: {}", proof.source, proof.text);
        }
    }
    if !story.events.is_empty() {
        text.push('\n');
    }
    for event in &story.events {
        let _ = writeln!(
            text,
            "{} {} {}: {}",
            event.at, event.stage, event.what, event.text
        );
    }
    if !story.artefacts.is_empty() {
        text.push_str("\nartefacts:\n");
    }
    for file in &story.artefacts {
        let _ = writeln!(text, "  {}", file.display());
    }
    let _ = writeln!(text, "\nnext: {}", story.next);
    text
}
