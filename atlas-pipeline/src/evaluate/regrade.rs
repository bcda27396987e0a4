//! Grading stored logs: no engine, any rules, any version of the parsers.

use super::compat::{self, HarnessFiles};
use super::ids;
use super::input::{Input, InputFault, Item, Keep, PredictionSource};
use super::layout;
use super::own::{LogBuffer, Own, Reader, said_of};
use super::report;
use super::script::{END, EXIT_CODE, START};
use super::settle;
use super::stored::{Stored, choose, find_logs};
use super::subject::Subject;
use super::verdict::{EvalOutcome, EvalVerdict};
use crate::own_parser::Isolated;
use crate::reading::parse_bytes;
use crate::synth::ParserFile;
use crate::{Config, EngineChoice};
use atlas_core::{
    Error, ErrorKind, GradingMode, Harness, Instance, InstanceId, LogParserExt, ParsedLog,
    RunContext, RunOutcome, TestStatus,
};
use atlas_oracle::{
    Cause, Graded, InstanceReport, ReportState, RunEntry, RunReport, ScoreBounds, Scored,
};
use atlas_parsers::Hints;
use clap::Args;
use rayon::prelude::*;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to grade again, and how. Each field is an option of `atlas regrade` and an argument of `swe_atlas.regrade`.
#[derive(Clone, Debug, Deserialize, Args)]
#[serde(default)]
pub struct RegradeOptions {
    /// The dataset: a file, or a folder of tasks.
    #[arg(skip)]
    pub dataset: PathBuf,
    /// The predictions, for what was null, empty or never made: a file, gold or null.
    #[arg(long, value_name = "FILE|gold|null")]
    #[serde(skip)]
    pub predictions: PredictionSource,
    /// A folder with `<instance>/test_output*.txt`, at any depth.
    #[arg(long, value_name = "DIR")]
    pub logs: PathBuf,
    /// Only these instances. Default: all.
    #[arg(skip)]
    #[serde(rename = "instance_ids")]
    pub instances: Vec<InstanceId>,
    /// By whose rules.
    #[arg(skip)]
    pub mode: GradingMode,
    /// Also grade by these rules, and print what they see otherwise, test by test.
    #[arg(long, value_name = "MODE")]
    pub against: Option<GradingMode>,
    /// A parser that reads all logs in strict mode. Default: what the row brings along, else the one that it names.
    #[arg(skip)]
    pub parser: Option<PathBuf>,
    /// Where parser code of rows runs: auto, docker or local. Nothing else needs an engine.
    #[arg(long, default_value = "auto")]
    pub engine: EngineChoice,
    /// The configuration of engines.
    #[arg(skip)]
    #[serde(skip)]
    pub config: Config,
    /// Whether parser code that rows bring along may run where nothing keeps it apart from this machine.
    #[arg(skip)]
    pub trust_parsers: bool,
}

impl Default for RegradeOptions {
    fn default() -> Self {
        Self::new("", PredictionSource::default(), "")
    }
}

impl RegradeOptions {
    /// Defaults for everything but the dataset, the predictions and the logs.
    pub fn new(
        dataset: impl Into<PathBuf>,
        predictions: PredictionSource,
        logs: impl Into<PathBuf>,
    ) -> Self {
        Self {
            dataset: dataset.into(),
            predictions,
            logs: logs.into(),
            instances: Vec::new(),
            mode: GradingMode::Strict,
            against: None,
            parser: None,
            engine: EngineChoice::Auto,
            config: Config::default(),
            trust_parsers: false,
        }
    }
}

/// One instance, graded again.
#[derive(Clone, Debug, Serialize)]
pub struct RegradedInstance {
    /// The instance.
    pub instance_id: String,
    /// The model.
    pub model_name_or_path: String,
    /// The log that was read, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// What the harness would write; absent where it writes nothing.
    pub report: Option<InstanceReport>,
    /// Atlas's verdict by the same rules.
    pub verdict: EvalVerdict,
}

/// One test, or a whole instance, that two gradings see differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GradeChange {
    /// The instance.
    pub instance_id: String,
    /// `FAIL_TO_PASS`, `PASS_TO_PASS`, or `resolved` for the verdict itself.
    pub list: String,
    /// The test; empty for the verdict.
    pub test: String,
    /// What the compared rules say.
    pub from: String,
    /// What the chosen rules say.
    pub to: String,
}

/// Stored logs, graded again. In JSON, `instance_reports` stands behind the run's report.
#[derive(Clone, Debug)]
pub struct RegradeReport {
    /// By whose rules.
    pub mode: GradingMode,
    /// The harness's report of the run: of the first model.
    pub run: RunReport,
    /// Bounds of the score.
    pub bounds: ScoreBounds,
    /// Each instance.
    pub instances: Vec<RegradedInstance>,
    /// What the compared rules see differently.
    pub changes: Vec<GradeChange>,
    /// What was wrong with the inputs.
    pub faults: Vec<InputFault>,
}

impl RegradeReport {
    /// Each instance's report, as the harness writes it, by instance; of several models the last one's.
    pub fn instance_reports(&self) -> BTreeMap<&str, &InstanceReport> {
        let reports = self.instances.iter();
        reports
            .filter_map(|one| Some((one.instance_id.as_str(), one.report.as_ref()?)))
            .collect()
    }

    /// Verdicts that could not be reached for no fault of the prediction.
    pub fn without_evidence(&self) -> usize {
        self.instances
            .iter()
            .filter(|one| one.verdict.outcome == EvalOutcome::NoEvidence)
            .count()
    }
}

impl Serialize for RegradeReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            mode: GradingMode,
            #[serde(flatten)]
            run: &'a RunReport,
            instance_reports: BTreeMap<&'a str, &'a InstanceReport>,
            bounds: &'a ScoreBounds,
            instances: &'a [RegradedInstance],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            changes: &'a [GradeChange],
            faults: &'a [InputFault],
        }
        let document = Document {
            mode: self.mode,
            run: &self.run,
            instance_reports: self.instance_reports(),
            bounds: &self.bounds,
            instances: &self.instances,
            changes: &self.changes,
            faults: &self.faults,
        };
        document.serialize(serializer)
    }
}

/// Grades stored logs.
///
/// A log that cannot be read, or that is there twice, stands in the report as a fault and its
/// prediction as one without evidence; the others are graded.
///
/// Parser code that rows bring along runs in a sandbox, each log once; where nothing keeps it apart
/// its predictions are without evidence, unless [`trust_parsers`](RegradeOptions::trust_parsers) says
/// that it may run all the same.
///
/// # Errors
/// A dataset, predictions or a folder that cannot be read at all.
///
/// # Cancellation
/// Raising `cx.cancel` ends the parser in flight and returns [`Cancelled`](atlas_core::ErrorKind::Cancelled).
pub async fn regrade(cx: &RunContext, options: &RegradeOptions) -> Result<RegradeReport, Error> {
    let mut out_of_reach = Vec::new();
    let (input, logs) = rayon::join(
        || {
            Input::read(
                &options.dataset,
                &options.predictions,
                &options.instances,
                Keep::Verdicts,
            )
        },
        || find_logs(&options.logs, &mut out_of_reach),
    );
    let (mut input, logs) = (input?, logs?);
    let mut faults = input.faults.clone();
    faults.append(&mut out_of_reach);
    let given = options
        .parser
        .as_deref()
        .map(ParserFile::read)
        .transpose()?;
    let isolated = Isolated::new(options.engine, &options.config, options.trust_parsers, None)?;
    let items = std::mem::take(&mut input.items);
    // Each row goes with the last of its predictions, on the core that graded it.
    input.subjects.clear();
    let models = items.iter().map(|item| layout::part(&item.model)).collect();
    let mut work = Vec::with_capacity(items.len());
    for item in items {
        // Of a prediction without a patch there is no log to tell from those of others.
        let chosen = match choose(&logs, &item, &models) {
            Err(_) if matches!(item.patch.as_deref(), None | Some("")) => Ok(None),
            chosen => chosen,
        };
        cx.check("regrade")?;
        let own = match &chosen {
            Ok(Some(found)) => {
                let place = (found.folder.as_path(), found.log.as_deref());
                Own::of(cx, options, (&isolated, given.as_ref()), &item, place).await
            }
            _ => Ok(None),
        };
        let own = own.map_err(|why| why.chain());
        cx.check("regrade")?;
        work.push((item, chosen, own));
    }
    let graded = work.into_par_iter();
    let graded = graded.map_init(LogBuffer::default, |buffer, (item, chosen, own)| {
        let mut graded = |mode| {
            let found = chosen.as_ref().map_err(|(_, why)| why.clone())?;
            let own = own.as_ref().map_err(Clone::clone)?;
            one(mode, &item, *found, own.as_ref(), buffer).map_err(|why| why.chain())
        };
        let mut fault = None;
        let (regraded, entry) = graded(options.mode).unwrap_or_else(|why| {
            fault = Some(InputFault {
                file: match &chosen {
                    Ok(Some(found)) => found.folder.display().to_string(),
                    Ok(None) => options.logs.display().to_string(),
                    Err((folder, _)) => folder.display().to_string(),
                },
                line: None,
                field: None,
                message: why.clone(),
            });
            lost(options.mode, &item, why)
        });
        let mut changes = Vec::new();
        // Where the chosen rules have nothing to read, others have not either, and it is said already.
        if let Some(other) = options.against
            && let Ok((before, _)) = graded(other)
        {
            differences(&before, &regraded, &mut changes);
        }
        (regraded, entry, changes, fault)
    });
    let graded: Vec<_> = graded.collect();
    let mut instances = Vec::with_capacity(graded.len());
    let mut entries = Vec::with_capacity(graded.len());
    let mut changes = Vec::new();
    for (regraded, entry, mut seen_otherwise, fault) in graded {
        faults.extend(fault);
        changes.append(&mut seen_otherwise);
        if regraded.model_name_or_path == input.model() {
            entries.push(entry);
        }
        instances.push(regraded);
    }
    let entries = report::entries(&input, input.model(), entries.into_iter());
    let run = report::run_report(options.mode, &input.ids, &entries, None);
    let verdicts = instances.iter().map(|one| Scored {
        resolved: one.verdict.resolved,
        cause: one.verdict.cause,
    });
    Ok(RegradeReport {
        mode: options.mode,
        run,
        bounds: ScoreBounds::of(verdicts),
        instances,
        changes,
        faults,
    })
}

/// A prediction whose log could not be read.
fn lost(mode: GradingMode, item: &Item, why: String) -> (RegradedInstance, RunEntry) {
    let patch = item.patch.as_deref();
    let bytes = patch.unwrap_or_default().as_bytes();
    let mut verdict = EvalVerdict::new(&item.instance_id, &item.model, mode, bytes);
    let subject = &item.subject;
    for (list, ids) in [
        (&mut verdict.fail_to_pass, &subject.fail_to_pass.ids),
        (&mut verdict.pass_to_pass, &subject.pass_to_pass.ids),
    ] {
        list.failure.clone_from(ids);
    }
    verdict.cause = Some(Cause::Harness);
    verdict.reasons = vec![why];
    let regraded = RegradedInstance {
        instance_id: item.instance_id.clone(),
        model_name_or_path: item.model.clone(),
        log: None,
        report: None,
        verdict,
    };
    (
        regraded,
        RunEntry::stored(&item.instance_id, patch, None, None),
    )
}

fn one(
    mode: GradingMode,
    item: &Item,
    found: Option<&Stored>,
    own: Option<&Own>,
    buffer: &mut LogBuffer,
) -> Result<(RegradedInstance, RunEntry), Error> {
    let path = found.and_then(|found| found.log.as_deref());
    let log = path.map(|path| buffer.read(path)).transpose()?;
    let bytes = item.patch.as_deref().unwrap_or_default().as_bytes();
    let mut verdict = EvalVerdict::new(&item.instance_id, &item.model, mode, bytes);
    let (report, entry) = match mode {
        GradingMode::Compat(harness) => {
            let folder = found.filter(|found| found.has_own_log);
            let folder = folder.map(|found| found.folder.as_path());
            as_harness(harness, item, (folder, log), own, &mut verdict)
        }
        GradingMode::Strict => {
            let strict = strictly(item, log, own, &mut verdict)?;
            (strict.report, strict.entry)
        }
    };
    Ok((
        RegradedInstance {
            instance_id: item.instance_id.clone(),
            model_name_or_path: item.model.clone(),
            log: path.map(Path::to_owned),
            report,
            verdict,
        },
        entry,
    ))
}

fn as_harness(
    harness: Harness,
    item: &Item,
    (folder, log): (Option<&Path>, Option<&[u8]>),
    own: Option<&Own>,
    verdict: &mut EvalVerdict,
) -> (Option<InstanceReport>, RunEntry) {
    let patch = item.patch.as_deref();
    let (said, stage) = said_of(folder, log, harness);
    let files = HarnessFiles {
        patch,
        log,
        instance_log: said.as_deref(),
        stage,
    };
    let code = own.and_then(|own| own.harness.as_ref());
    let code = code.filter(|_| harness == Harness::SweBenchPp);
    let (grade, by) = compat::grade_as_read(harness, &item.subject, &files, code);
    compat::describe(verdict, &grade, stage);
    if matches!(patch, None | Some("")) {
        verdict.outcome = match patch {
            None => EvalOutcome::NullPatch,
            Some(_) => EvalOutcome::EmptyPatch,
        };
    }
    settle::compat(verdict, &grade, None);
    if let Some(by) = by {
        verdict.is_read_by(by);
    }
    let entry = RunEntry::graded(&item.instance_id, patch, &grade);
    (grade.report, entry)
}

/// The stored log of one prediction, graded by Atlas's own rules.
#[derive(Clone, Debug, Serialize)]
pub struct GradedLog {
    /// The verdict.
    pub verdict: EvalVerdict,
    /// What a harness would write to `report.json`; none where there is nothing to read.
    pub report: Option<InstanceReport>,
    /// Each test that the log names, by its SWE-bench id, with its worst status.
    pub statuses: BTreeMap<String, TestStatus>,
    /// Whether the tests' output is closed by the harness's marker: else it did not come to them, or was cut off.
    pub is_closed: bool,
}

/// Grades the stored log of one prediction as [`regrade`] does in strict mode: between the harness's markers, read by the
/// parser that the row names. Parser code of a row is not run. `patch` is `None` where it is null, `log` where none
/// was written.
///
/// # Errors
/// A column of the row that cannot be used; a parser that nobody knows.
pub fn grade_log(
    row: &Instance,
    model: &str,
    patch: Option<&str>,
    log: Option<&[u8]>,
) -> Result<GradedLog, Error> {
    let unusable = |why| Error::new(ErrorKind::InvalidInput, "read", "row").with_source(why);
    let subject = Arc::new(Subject::read(row.clone()).map_err(unusable)?);
    let item = Item {
        instance_id: subject.id.to_string(),
        model: model.to_owned(),
        patch: patch.map(str::to_owned),
        subject,
    };
    let bytes = patch.unwrap_or_default().as_bytes();
    let mut verdict = EvalVerdict::new(&item.instance_id, model, GradingMode::Strict, bytes);
    let strict = strictly(&item, log, None, &mut verdict)?;
    let parsed = strict.parsed.as_ref();
    let statuses = parsed.map(|parsed| parsed.tests().into_iter());
    Ok(GradedLog {
        is_closed: log.is_some_and(|log| region(log).ended),
        verdict,
        report: strict.report,
        statuses: statuses
            .into_iter()
            .flatten()
            .map(|(id, status)| (id.to_owned(), status))
            .collect(),
    })
}

/// What strict rules make of a log.
struct Strict {
    report: Option<InstanceReport>,
    entry: RunEntry,
    parsed: Option<ParsedLog>,
}

/// By Atlas's own rules, as far as a log that others marked can be believed.
fn strictly(
    item: &Item,
    log: Option<&[u8]>,
    own: Option<&Own>,
    verdict: &mut EvalVerdict,
) -> Result<Strict, Error> {
    let patch = item.patch.as_deref();
    let subject = &item.subject;
    verdict
        .fail_to_pass
        .failure
        .clone_from(&subject.fail_to_pass.ids);
    verdict
        .pass_to_pass
        .failure
        .clone_from(&subject.pass_to_pass.ids);
    let none = |verdict: &mut EvalVerdict, outcome, cause, why: &str| {
        verdict.outcome = outcome;
        verdict.cause = Some(cause);
        verdict.reasons = vec![why.to_owned()];
        let entry = RunEntry::stored(&item.instance_id, patch, None, None);
        Ok(Strict {
            report: None,
            entry,
            parsed: None,
        })
    };
    match (patch, log) {
        (None, _) => none(
            verdict,
            EvalOutcome::NullPatch,
            Cause::Model,
            "the patch is null",
        ),
        (Some(""), _) => none(
            verdict,
            EvalOutcome::EmptyPatch,
            Cause::Model,
            "the patch is empty",
        ),
        (Some(_), None) => none(
            verdict,
            EvalOutcome::NoEvidence,
            Cause::Harness,
            "no log of the tests was stored; run it with `atlas eval`",
        ),
        (Some(_), Some(log)) => {
            let region = region(log);
            let hints = Hints {
                command: None,
                language: (!subject.language.is_empty()).then_some(subject.language.as_str()),
            };
            let own = own.and_then(|own| Some((own.strict.as_ref()?, &own.by)));
            let mut parsed = match own {
                Some((Reader::Rules(rules), _)) => rules.parse(region.text),
                Some((Reader::Log(log), _)) => log.as_ref().clone(),
                None => parse_bytes(region.text, &subject.parser(), &hints)?.0,
            };
            if !region.ended && parsed.outcome == RunOutcome::Completed {
                parsed.outcome = RunOutcome::Truncated;
            }
            parsed = parsed.without_source_lines();
            let graded = ids::grade_listed(
                &parsed,
                &subject.fail_to_pass.ids,
                &subject.pass_to_pass.ids,
            );
            verdict.outcome = EvalOutcome::Graded;
            verdict.notes.extend(region.notes);
            let lists = [&subject.fail_to_pass.ids, &subject.pass_to_pass.ids];
            settle::stored(verdict, &parsed, &graded, region.code, lists);
            if let Some((_, by)) = own {
                verdict.is_read_by(by.clone());
            }
            let report = report::instance_report(verdict);
            let entry = RunEntry {
                report: if report.body.resolved {
                    ReportState::Resolved
                } else {
                    ReportState::Unresolved
                },
                ..RunEntry::stored(&item.instance_id, patch, None, None)
            };
            Ok(Strict {
                report: Some(report),
                entry,
                parsed: Some(parsed),
            })
        }
    }
}

/// What of a stored log is the tests' output.
pub(super) struct Region<'a> {
    pub(super) text: &'a [u8],
    ended: bool,
    code: Option<i64>,
    notes: Vec<String>,
}

/// From the first start to the last end: a test that prints the end marker early hides nothing.
pub(super) fn region(log: &[u8]) -> Region<'_> {
    let (start, end) = (START.as_bytes(), END.as_bytes());
    let line_end =
        |at: usize| memchr::memchr(b'\n', &log[at..]).map_or(log.len(), |length| at + length + 1);
    let line_start = |at: usize| memchr::memrchr(b'\n', &log[..at]).map_or(0, |before| before + 1);
    let from = memchr::memmem::find(log, start).map(line_end);
    let to = memchr::memmem::rfind(log, end).filter(|to| from.is_some_and(|from| *to >= from));
    let mut notes = Vec::new();
    for (marker, name) in [(start, START), (end, END)] {
        let count = memchr::memmem::find_iter(log, marker).count();
        if count > 1 {
            notes.push(format!("`{name}` stands {count} times in the log"));
        }
    }
    let code = to.and_then(|to| {
        let after = &log[to..];
        let at = memchr::memmem::find(after, EXIT_CODE.as_bytes())?;
        let rest = std::str::from_utf8(&after[at + EXIT_CODE.len()..]).ok()?;
        rest.lines().next()?.trim().parse().ok()
    });
    Region {
        text: match (from, to) {
            (Some(from), Some(to)) => &log[from..line_start(to).max(from)],
            (Some(from), None) => &log[from..],
            (None, _) => b"",
        },
        ended: to.is_some(),
        code,
        notes,
    }
}

fn differences(
    before: &RegradedInstance,
    after: &RegradedInstance,
    changes: &mut Vec<GradeChange>,
) {
    let mut note = |list: &str, test: &str, from: &str, to: &str| {
        changes.push(GradeChange {
            instance_id: after.instance_id.clone(),
            list: list.to_owned(),
            test: test.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        });
    };
    let word = |resolved: bool| if resolved { "resolved" } else { "not resolved" };
    if before.verdict.resolved != after.verdict.resolved {
        note(
            "resolved",
            "",
            word(before.verdict.resolved),
            word(after.verdict.resolved),
        );
    }
    for (list, old, new) in [
        (
            "FAIL_TO_PASS",
            &before.verdict.fail_to_pass,
            &after.verdict.fail_to_pass,
        ),
        (
            "PASS_TO_PASS",
            &before.verdict.pass_to_pass,
            &after.verdict.pass_to_pass,
        ),
    ] {
        let (before, after) = (standings(old), standings(new));
        let all: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        for id in all {
            let of = |all: &HashMap<&str, &'static str>| {
                all.get(id).copied().unwrap_or("in neither list")
            };
            let (from, to) = (of(&before), of(&after));
            if from != to {
                note(list, id, from, to);
            }
        }
    }
}

/// In which part of its list each test is.
fn standings(graded: &Graded) -> HashMap<&str, &'static str> {
    let failure = graded.failure.iter().map(|id| (id, "failure"));
    let success = graded.success.iter().map(|id| (id, "success"));
    failure.chain(success).collect()
}
