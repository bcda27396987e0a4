//! `atlas eval` and `atlas regrade`: predictions against instances.

mod canary;
mod compat;
mod episodes;
#[cfg(target_os = "linux")]
mod folders;
mod ids;
mod input;
mod layout;
mod options;
mod own;
mod regrade;
mod report;
mod script;
mod settle;
mod site;
mod stored;
mod strict;
mod subject;
mod tree;
mod verdict;

pub use compat::{HarnessFiles, grade_row};
pub use episodes::{Episode, Episodes};
pub use input::{InputFault, PredictionSource};
pub use layout::run_id;
pub use options::EvalOptions;
pub use regrade::{
    GradeChange, GradedLog, RegradeOptions, RegradeReport, RegradedInstance, grade_log, regrade,
};
pub use report::{EvalReport, InstanceCost, Ledger};
pub use verdict::{CanaryReport, EvalOutcome, EvalVerdict};

use crate::batch::Batch;
use crate::clones::artefacts_of;
use crate::own_parser::{Isolated, OwnParser, ParserOrigin, ReadBy, needs_callers_parser};
use crate::retry::{Patience, RetrySandbox};
use crate::store::{Key, Workplace, clear_unfinished, seed};
use crate::synth::ParserFile;
use crate::validate::candidate::{Prepared as FromClone, Prospect};
use crate::{CachedSandbox, Engines};
use atlas_core::{
    Environment, EnvironmentLock, EnvironmentPlan, Error, ErrorKind, GradingMode, Harness,
    ImageRef, Limits, Network, Patch, Progress, RunContext, Sandbox,
};
use atlas_docker::FoundImage;
use atlas_oracle::{Cause, CompatStage, InstanceReport, RunEntry};
use input::{Input, Item, Keep};
use layout::{RunFolder, keep, log_name};
use site::{PreparedInstances, Site};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use strict::{Prepared, Strict};
use subject::Subject;
use tree::BaseTree;

/// Runs predictions and grades them.
///
/// Below `out` it leaves what the SWE-bench harness leaves, in its names and forms:
/// `logs/run_evaluation/<run id>/<model>/<instance>/{run_instance.log, patch.diff, eval.sh,
/// test_output.txt, report.json}`, `run.json` and `<model>.<run id>.json`; and `verdict.json` beside
/// each `report.json`. A job that was run before, by whichever run, is not run again.
///
/// # Errors
/// A dataset or predictions that cannot be read at all, wrong options, an engine that does not answer.
/// What goes wrong with one row or one instance stands in the report, and the others go on.
///
/// # Cancellation
/// Raising `cx.cancel` ends the runs in flight and returns [`ErrorKind::Cancelled`]; the same call
/// later goes on from there.
pub async fn evaluate(cx: &RunContext, options: &EvalOptions) -> Result<EvalReport, Error> {
    let started = Instant::now();
    let input = Input::read(
        &options.dataset,
        &options.predictions,
        &options.instances,
        Keep::Rows,
    )?;
    let host = Box::pin(Host::open(options.clone())).await?;
    let batch = Batch {
        cx,
        name: "evaluate",
        jobs: options.jobs,
        known: 0,
    };
    let work = |at: usize| {
        let (host, item) = (&host, &input.items[at]);
        let cx = cx.clone().with_progress(Arc::new(Named {
            name: item.instance_id.clone(),
            inner: Arc::clone(&cx.progress),
        }));
        async move { Ok(Box::pin(host.one(&cx, item)).await) }
    };
    let mut done = batch.run(0..input.items.len(), work).await?;
    if let Some(engine) = &host.engines.docker {
        // Containers of this run that could not be removed while the engine was away.
        engine.sweep().await.ok();
    }
    cx.progress.phase("write the report");
    done.sort_by(|a, b| {
        (&a.verdict.model_name_or_path, &a.verdict.instance_id)
            .cmp(&(&b.verdict.model_name_or_path, &b.verdict.instance_id))
    });
    let report = report::sum_up(
        options,
        &input,
        done,
        &host.cached,
        started.elapsed().as_secs_f64(),
    );
    report.write(&host.folder)?;
    Ok(report)
}

/// Progress of one prediction amid the others: its phases are details of the whole run.
#[derive(Debug)]
struct Named {
    name: String,
    inner: Arc<dyn Progress>,
}

impl Progress for Named {
    fn phase(&self, name: &str) {
        tracing::debug!(instance = self.name, phase = name);
        self.detail(name);
    }

    fn detail(&self, text: &str) {
        let last = text.lines().next_back().unwrap_or_default();
        self.inner.detail(&format!("{}: {last}", self.name));
    }
}

/// What all evaluations of a run share.
#[derive(Debug)]
struct Host {
    options: EvalOptions,
    /// Where parser code of rows runs.
    isolated: Isolated,
    /// The parser that was given for all rows.
    given: Option<ParserFile>,
    folder: RunFolder,
    engines: Engines,
    /// The sandbox of these engines, which knows what was run before.
    cached: CachedSandbox,
    /// How long the engine is waited for.
    patience: Patience,
    results: PathBuf,
    /// The secret behind markers.
    seed: String,
    /// The secret behind names of canaries.
    canary_seed: String,
    limits: Limits,
    /// Instances that stay prepared; absent where each is prepared for one prediction.
    kept: Option<PreparedInstances>,
}

/// One prediction, evaluated.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) verdict: EvalVerdict,
    pub(crate) entry: RunEntry,
    /// The image that was run, where one was.
    pub(crate) image: Option<String>,
    /// Seconds of tests, and around them.
    pub(crate) spent: (f64, f64),
}

impl Host {
    /// Opens engines and stores.
    async fn open(options: EvalOptions) -> Result<Self, Error> {
        let folder = RunFolder::new(&options.out, &options.run_id)?;
        let results = match &options.results {
            Some(path) => path.clone(),
            None => crate::engine::cache_folder()?.join("results"),
        };
        let seed = seed(&results.join("seed"))?;
        folder.describe(&options.dataset)?;
        let has_own_names =
            options.canaries && options.fresh_canaries && options.mode == GradingMode::Strict;
        let canary_seed = if has_own_names {
            Key::new("canaries of a run")
                .part(seed.as_bytes())
                .part(folder.nonce(&results.join("seed.lock"))?.as_bytes())
                .finish()
        } else {
            seed.clone()
        };
        let engines = Engines::open(options.engine, &options.config, options.trust).await?;
        let mut engines = engines.with(options.parts.as_ref());
        let patient = RetrySandbox::new(Arc::clone(&engines.sandbox), Duration::from_secs(120));
        let patience = patient.patience();
        let cached = CachedSandbox::new(Arc::new(patient), results.join("jobs"));
        engines.sandbox = Arc::new(cached.clone());
        let isolated = Isolated::new(
            options.engine,
            &options.config,
            options.trust_parsers,
            Some(&results),
        )?;
        let given = options
            .parser
            .as_deref()
            .map(ParserFile::read)
            .transpose()?;
        Ok(Self {
            limits: options.limits(),
            options,
            isolated,
            given,
            folder,
            engines,
            cached,
            patience,
            results,
            seed,
            canary_seed,
            kept: None,
        })
    }

    /// Evaluates one prediction; whatever goes wrong becomes its verdict.
    async fn one(&self, cx: &RunContext, item: &Item) -> Done {
        let mode = self.options.mode;
        let bytes = item.patch.as_deref().unwrap_or_default().as_bytes();
        let mut verdict = EvalVerdict::new(&item.instance_id, &item.model, mode, bytes);
        verdict.fail_to_pass.failure = item.subject.fail_to_pass.ids.clone();
        verdict.pass_to_pass.failure = item.subject.pass_to_pass.ids.clone();
        let folder = self.folder.instance(&item.model, &item.instance_id);
        let mut log = RunLog::default();
        let result = match (item.patch.as_deref(), mode) {
            (None | Some(""), GradingMode::Strict) => {
                verdict.outcome = match item.patch {
                    None => EvalOutcome::NullPatch,
                    Some(_) => EvalOutcome::EmptyPatch,
                };
                verdict.cause = Some(Cause::Model);
                verdict.reasons = vec!["there is nothing to run".to_owned()];
                Ok(Finished::of(
                    verdict.clone(),
                    RunEntry::stored(&item.instance_id, item.patch.as_deref(), None, None),
                ))
            }
            (_, GradingMode::Strict) => {
                Box::pin(self.strict(cx, item, &folder, &mut log, verdict.clone())).await
            }
            (_, GradingMode::Compat(harness)) => {
                Box::pin(self.compat(cx, harness, item, &folder, &mut log, verdict.clone())).await
            }
        };
        let finished = match result {
            Ok(finished) => finished,
            Err(why) => {
                log.say(&why.chain());
                verdict.outcome = EvalOutcome::NoEvidence;
                verdict.cause = Some(settle::blame(&why));
                verdict.reasons = vec![why.chain()];
                Finished::of(
                    verdict,
                    RunEntry::stored(&item.instance_id, item.patch.as_deref(), None, None),
                )
            }
        };
        let mut finished = finished;
        if finished.verdict.outcome == EvalOutcome::NotApplied {
            settle::examine(&mut finished.verdict, bytes);
        }
        let mut verdict = finished.verdict.clone();
        // What was broken off says nothing, and may have a verdict of an earlier start.
        if !cx.cancel.is_cancelled()
            && let Err(why) = finished.write(&folder, &log)
        {
            let why = format!("its files are not written: {}", why.chain());
            tracing::warn!(instance = item.instance_id, "{why}");
            verdict.notes.push(why);
        }
        Done {
            verdict,
            entry: finished.entry,
            image: finished.image,
            spent: finished.spent,
        }
    }

    /// What reads a row's logs in the place of a shipped parser.
    async fn own(
        &self,
        cx: &RunContext,
        subject: &Subject,
    ) -> Result<Option<(OwnParser, ReadBy)>, Error> {
        if let Some(parser) = self.options.parts.as_ref().and_then(|parts| parts.parser()) {
            let own = OwnParser::Callers(parser);
            let by = own.read_by(ParserOrigin::Caller);
            return Ok(Some((own, by)));
        }
        let given = self
            .given
            .as_ref()
            .map(|parser| (parser, ParserOrigin::File));
        let of_row = subject
            .own
            .as_ref()
            .map(|(parser, origin)| (parser, *origin));
        let Some((parser, origin)) = given.or(of_row) else {
            return match &subject.absent_parser {
                Some(id) => Err(needs_callers_parser(id)),
                None => Ok(None),
            };
        };
        let own = self.isolated.ready(cx, parser, false).await?;
        let by = own.read_by(origin);
        Ok(Some((own, by)))
    }

    async fn image(&self, cx: &RunContext, subject: &Subject) -> Result<FoundImage, Error> {
        let Some(engine) = &self.engines.docker else {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("run `{}`:", subject.id),
                format!(
                    "its row names the image `{}`, which needs a container engine; start one, or give --repos \
                     with a clone",
                    subject.image
                ),
            ));
        };
        let find = || engine.find_image(cx, &subject.image);
        self.patience.run(cx, &subject.image, find).await
    }

    async fn compat(
        &self,
        cx: &RunContext,
        harness: Harness,
        item: &Item,
        folder: &Path,
        log: &mut RunLog,
        mut verdict: EvalVerdict,
    ) -> Result<Finished, Error> {
        let subject = &item.subject;
        let patch = item.patch.as_deref();
        let is_run = match harness {
            Harness::SweBenchPp => patch.is_some_and(|patch| !patch.trim().is_empty()),
            _ => patch.is_some_and(|patch| !patch.is_empty()),
        };
        let mut run = compat::HarnessRun {
            stage: CompatStage::Tested,
            ..compat::HarnessRun::default()
        };
        let mut image = None;
        if is_run {
            let found = self.image(cx, subject).await?;
            let environment = of_image(&found);
            let network = self.options.network.unwrap_or(Network::Full);
            let bytes = patch.unwrap_or_default().as_bytes();
            keep(folder, "patch.diff", bytes)?;
            run = compat::run_as(
                cx,
                harness,
                compat::Place {
                    sandbox: &*self.engines.sandbox,
                    environment: &environment,
                    limits: &self.limits,
                    network,
                    seed: &self.seed,
                },
                subject,
                bytes,
            )
            .await?;
            log.say(&String::from_utf8_lossy(&run.applying));
            log.say(match run.stage {
                CompatStage::NotApplied => ">>>>> Patch Apply Failed",
                _ => ">>>>> Applied Patch",
            });
            if run.stage != CompatStage::NotApplied {
                keep(folder, "eval.sh", run.script.as_bytes())?;
            }
            verdict.environment.clone_from(&found.id);
            image = Some(found.name);
        }
        let text = log.text.clone();
        let instance_log = (!text.is_empty()).then_some(text.as_bytes());
        let files = HarnessFiles {
            patch,
            log: run.log.as_deref(),
            instance_log,
            stage: run.stage,
        };
        let (grade, by) =
            compat::grade_with_code(cx, &self.isolated, harness, subject, &files).await?;
        compat::describe(&mut verdict, &grade, run.stage);
        if !is_run {
            verdict.outcome = match patch {
                None => EvalOutcome::NullPatch,
                Some(_) => EvalOutcome::EmptyPatch,
            };
        }
        settle::compat(&mut verdict, &grade, run.result.as_ref());
        if let Some(by) = by {
            verdict.is_read_by(by);
        }
        if let Some(result) = &run.result {
            verdict.usage = result.usage;
        }
        let mut finished =
            Finished::of(verdict, RunEntry::graded(&item.instance_id, patch, &grade));
        if let Some(result) = &run.result {
            finished.spent = (result.seconds, result.overhead_seconds);
        }
        finished.log = run.log.map(|bytes| (log_name(Some(harness)), bytes));
        finished.report = grade.report;
        finished.image = image;
        Ok(finished)
    }

    async fn strict(
        &self,
        cx: &RunContext,
        item: &Item,
        folder: &Path,
        log: &mut RunLog,
        mut verdict: EvalVerdict,
    ) -> Result<Finished, Error> {
        let patch = item.patch.as_deref().unwrap_or_default();
        keep(folder, "patch.diff", patch.as_bytes())?;
        if Patch::new(patch)
            .files()
            .is_ok_and(|files| files.is_empty())
        {
            verdict.outcome = EvalOutcome::NotApplied;
            verdict.reasons =
                vec!["the prediction changes no file: there is no diff in it".to_owned()];
            settle::unfit(&mut verdict);
            log.say(&verdict.reasons[0]);
            let entry = RunEntry::stored(&item.instance_id, Some(patch), None, None);
            return Ok(Finished::of(verdict, entry));
        }
        let site = match &self.kept {
            Some(kept) => kept.site(cx, self, item).await?,
            None => self.site(cx, item).await?.map(Arc::new),
        };
        let site = match site {
            Ok(site) => site,
            Err((cause, why)) => {
                log.say(&why);
                verdict.cause = Some(cause);
                verdict.reasons = vec![why];
                let entry = RunEntry::stored(&item.instance_id, Some(patch), None, None);
                return Ok(Finished::of(verdict, entry));
            }
        };
        let prepared = &site.prepared;
        let plan = site.calibrated(cx, self.options.canaries).await?;
        keep(
            folder,
            "eval.sh",
            atlas_oracle::state_script(&prepared.candidate.environment.plan).as_bytes(),
        )?;
        let Strict {
            mut verdict,
            log: output,
            report,
        } = prepared
            .evaluate(cx, &Patch::new(patch), plan, verdict)
            .await?;
        let graded = verdict.outcome == EvalOutcome::Graded;
        if let Some(by) = site.by.as_ref().filter(|_| graded) {
            verdict.is_read_by(by.clone());
        }
        if self.kept.is_none()
            && let Some(place) = &prepared.place
        {
            place.clear_temporary()?;
        }
        for note in verdict.reasons.iter().chain(&verdict.notes) {
            log.say(note);
        }
        if let Some(bytes) = report {
            keep(folder, "structured_report", &bytes)?;
        }
        let is_written = verdict.outcome == EvalOutcome::Graded;
        let written = is_written.then(|| report::instance_report(&verdict));
        let bytes = written.as_ref().map(InstanceReport::to_json_bytes);
        let exit = verdict.run.as_ref().map(|run| run.exit);
        let mut finished = Finished::of(
            verdict,
            RunEntry::stored(&item.instance_id, Some(patch), bytes.as_deref(), None),
        );
        finished.log = output.map(|bytes| (log_name(None), script::marked(&bytes, exit)));
        finished.report = written;
        finished.image.clone_from(&site.image);
        Ok(finished)
    }

    /// The environment of an instance: what `make` left beside the dataset, or the row's image.
    async fn site(
        &self,
        cx: &RunContext,
        item: &Item,
    ) -> Result<Result<Site, (Cause, String)>, Error> {
        let subject = &item.subject;
        let own = self.own(cx, subject).await?;
        let (own, by) = own.map_or((None, None), |(own, by)| (Some(own), Some(by)));
        let beside = artefacts_of(&self.options.dataset, &item.instance_id);
        let is_made_here = self.options.repos.is_some() || beside.join("plan.json").exists();
        if !is_made_here {
            let image = match self.image(cx, subject).await {
                Ok(image) => image,
                Err(why) if why.kind() == ErrorKind::ImageMissing => {
                    return Ok(Err((Cause::Environment, why.chain())));
                }
                Err(why) => return Err(why),
            };
            let Some(engine) = self.engines.docker.clone() else {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "find the engine of",
                    image.name,
                ));
            };
            let sandbox: Arc<dyn Sandbox> = Arc::clone(&self.engines.sandbox);
            let made = strict::from_image(
                subject,
                (engine, self.patience.clone()),
                sandbox,
                &image,
                (&self.limits, &self.options.grading()),
                (self.seed.clone(), self.canary_seed.clone()),
                own.as_ref(),
            );
            return Ok(made
                .map(|prepared| Site::new(prepared, Some(image.name), by))
                .map_err(|why| (Cause::Environment, format!("`{}`: {why}", subject.id))));
        }
        let place = match &self.kept {
            Some(kept) => kept.place(&self.results, &item.instance_id)?,
            None => Workplace::wait(cx, &self.results.join("places"), &item.instance_id).await?,
        };
        let mut config = self.options.config.clone();
        config.limits = self.limits.clone();
        let prospect = Prospect {
            config: &config,
            repos: self.options.repos.as_deref(),
            engines: &self.engines,
            place: &place,
            artefacts: &beside,
            seed: self.seed.clone(),
            runs_states: false,
            own,
        };
        let prepared = match prospect.prepare(cx, &subject.row).await? {
            FromClone::Ready(ready) => {
                let tree = BaseTree::Commit(ready.applier);
                let prepared = Prepared {
                    candidate: ready.candidate,
                    evaluator: ready.evaluator,
                    tree,
                    canary_seed: self.canary_seed.clone(),
                    place: Some(Arc::new(place)),
                    time: self.options.grading(),
                };
                Ok(Site::new(prepared, None, by))
            }
            FromClone::Broken(verdict) => {
                let said: Vec<&str> = verdict
                    .findings
                    .iter()
                    .map(|finding| finding.message.as_str())
                    .collect();
                let why = (Cause::Environment, said.join("; "));
                place.clear_temporary()?;
                Err(why)
            }
        };
        Ok(prepared)
    }
}

/// An image as an environment for a harness's own script.
fn of_image(image: &FoundImage) -> Environment {
    Environment {
        plan: EnvironmentPlan::default(),
        dockerfile: String::new(),
        image: ImageRef::Docker {
            id: image.id.clone(),
            tag: image.name.clone(),
        },
        lock: EnvironmentLock {
            engine: "docker".to_owned(),
            image_id: image.id.clone(),
            image_bytes: image.bytes,
            ..EnvironmentLock::default()
        },
        attempts: Vec::new(),
    }
}

/// What is told of an instance's evaluation: `run_instance.log`.
#[derive(Debug, Default)]
struct RunLog {
    text: String,
}

impl RunLog {
    fn say(&mut self, words: &str) {
        if !words.is_empty() {
            self.text.push_str(words.trim_end());
            self.text.push('\n');
        }
    }
}

/// An evaluation before its files are written.
#[derive(Debug)]
struct Finished {
    verdict: EvalVerdict,
    entry: RunEntry,
    log: Option<(&'static str, Vec<u8>)>,
    report: Option<InstanceReport>,
    image: Option<String>,
    spent: (f64, f64),
}

impl Finished {
    fn of(verdict: EvalVerdict, entry: RunEntry) -> Self {
        let spent = verdict.run.as_ref();
        Self {
            spent: spent.map_or((0.0, 0.0), |run| (run.seconds, run.overhead_seconds)),
            verdict,
            entry,
            log: None,
            report: None,
            image: None,
        }
    }

    fn write(&self, folder: &Path, log: &RunLog) -> Result<(), Error> {
        clear_unfinished(folder);
        let is_empty = matches!(
            self.verdict.outcome,
            EvalOutcome::NullPatch | EvalOutcome::EmptyPatch
        );
        if let Some((name, bytes)) = &self.log {
            keep(folder, name, bytes)?;
        }
        // What an earlier start of this run wrote must not stand beside another verdict.
        let stale: BTreeSet<&str> = ["report.json", "test_output.txt", "test_output_after.txt"]
            .into_iter()
            .filter(|name| match *name {
                "report.json" => self.report.is_none(),
                name => self.log.as_ref().is_none_or(|(kept, _)| *kept != name),
            })
            .collect();
        for name in stale {
            match std::fs::remove_file(folder.join(name)) {
                Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &folder.join(name), why));
                }
                _ => {}
            }
        }
        if let Some(report) = &self.report {
            keep(folder, "report.json", &report.to_json_bytes())?;
        }
        if !is_empty {
            keep(folder, "run_instance.log", log.text.as_bytes())?;
        }
        crate::store::write_json(&folder.join("verdict.json"), &self.verdict)
    }
}
