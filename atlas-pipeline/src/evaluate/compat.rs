//! Grading by the rules of a released harness.

use super::script;
use super::subject::Subject;
use super::verdict::{EvalOutcome, EvalVerdict};
use crate::own_parser::{Isolated, OwnParser, ParserOrigin, ReadBy};
use atlas_core::{
    Environment, Error, ErrorKind, ExitState, GradingMode, Harness, Instance, InstanceError, Job,
    JobFile, JobResult, JobUser, Limits, Network, Overlay, RunContext, Sandbox,
};
use atlas_oracle::{
    CompatGrade, CompatInput, CompatLines, CompatOutcome, CompatRead, CompatRow, CompatStage,
    EvalType, grade_compat, judge_compat,
};
use atlas_parsers::{CompatFound, CompatHints, compat_parser_of, compat_read};
use std::collections::BTreeMap;

/// What a harness keeps of one instance.
#[derive(Clone, Debug, Default)]
pub(super) struct HarnessRun {
    /// What applying the prediction said.
    pub(super) applying: Vec<u8>,
    /// The output of the row's script; absent if it never began.
    pub(super) log: Option<Vec<u8>>,
    /// The script.
    pub(super) script: String,
    pub(super) stage: CompatStage,
    pub(super) result: Option<JobResult>,
}

/// What a harness has of one prediction when it grades.
#[derive(Clone, Copy, Debug, Default)]
pub struct HarnessFiles<'a> {
    /// The prediction's patch; `None` where it is null.
    pub patch: Option<&'a str>,
    /// The log of the tests; `None` where none was written.
    pub log: Option<&'a [u8]>,
    /// The harness's own log of the instance.
    pub instance_log: Option<&'a [u8]>,
    /// How far the run came. Default: to the end of the tests.
    pub stage: CompatStage,
}

/// Grades what a harness has of one prediction, as it does. The log is read by `read`, or by the reader
/// that the harness takes for the row.
///
/// # Errors
/// [`InstanceError`] naming the column of the row that cannot be used.
pub fn grade_row(
    harness: Harness,
    row: &Instance,
    files: &HarnessFiles<'_>,
    read: Option<&dyn Fn(&str) -> CompatRead>,
) -> Result<CompatGrade, InstanceError> {
    let subject = Subject::read(row.clone())?;
    Ok(grade_by(harness, &subject, files, read, grade_compat))
}

/// What the row's own code made of a log.
#[derive(Clone, Debug)]
pub(super) struct CodeRead {
    pub(super) read: CompatRead,
    pub(super) by: ReadBy,
}

/// Grades what a harness has before it. A log that the harness would have read by code of the row is
/// read by it, in a sandbox.
pub(super) async fn grade_with_code(
    cx: &RunContext,
    isolated: &Isolated,
    harness: Harness,
    subject: &Subject,
    files: &HarnessFiles<'_>,
) -> Result<(CompatGrade, Option<ReadBy>), Error> {
    let code = read_by_code(cx, isolated, harness, subject, files).await?;
    Ok(grade_as_read(harness, subject, files, code.as_ref()))
}

/// The same, with what the code said.
pub(super) fn grade_as_read(
    harness: Harness,
    subject: &Subject,
    files: &HarnessFiles<'_>,
    code: Option<&CodeRead>,
) -> (CompatGrade, Option<ReadBy>) {
    let Some(code) = code else {
        return (grade_by(harness, subject, files, None, judge_compat), None);
    };
    let read = |_: &str| code.read.clone();
    let grade = grade_by(harness, subject, files, Some(&read), judge_compat);
    (grade, Some(code.by.clone()))
}

/// Has the row's code read what the harness would give it; nothing where the harness runs none, or
/// does not come so far.
pub(super) async fn read_by_code(
    cx: &RunContext,
    isolated: &Isolated,
    harness: Harness,
    subject: &Subject,
    files: &HarnessFiles<'_>,
) -> Result<Option<CodeRead>, Error> {
    let Some((parser, ParserOrigin::Dataset)) = &subject.own else {
        return Ok(None);
    };
    // The only one of the harnesses that runs code of rows.
    if harness != Harness::SweBenchPp || subject.log_parser != "custom" {
        return Ok(None);
    }
    let Some(text) = asked_to_read(harness, subject, files) else {
        return Ok(None);
    };
    let own = isolated.ready(cx, parser, true).await?;
    let by = own.read_by(ParserOrigin::Dataset);
    let OwnParser::Script(reader) = own else {
        return Ok(None);
    };
    let read = match reader.reading(cx, text.as_bytes()).await? {
        Ok(log) => CompatRead::Statuses(
            log.tests()
                .into_iter()
                .map(|(id, status)| (id.to_owned(), status.as_str().to_owned()))
                .collect(),
        ),
        Err(fault) => CompatRead::Raised(fault.to_string()),
    };
    Ok(Some(CodeRead { read, by }))
}

/// The text that a harness would have its parser read, if it comes to that.
fn asked_to_read(harness: Harness, subject: &Subject, files: &HarnessFiles<'_>) -> Option<String> {
    let asked = std::cell::RefCell::new(None);
    let read = |text: &str| {
        asked.replace(Some(text.to_owned()));
        CompatRead::Statuses(BTreeMap::new())
    };
    grade_by(harness, subject, files, Some(&read), judge_compat);
    asked.into_inner()
}

fn grade_by(
    harness: Harness,
    subject: &Subject,
    files: &HarnessFiles<'_>,
    read: Option<&dyn Fn(&str) -> CompatRead>,
    grade: fn(Harness, &CompatInput<'_>) -> CompatGrade,
) -> CompatGrade {
    let parser = parser_name(harness, subject);
    let hints = CompatHints {
        version: subject.version.clone(),
        instance_id: subject.id.to_string(),
        repo: subject.repo.clone(),
        language: as_plus_plus_spells(&subject.language).to_owned(),
        ..CompatHints::default()
    };
    let own = |text: &str| match compat_read(harness, &parser, text, &hints) {
        Ok(found) => as_lines(found),
        Err(why) => CompatRead::Raised(why.to_string()),
    };
    grade(
        harness,
        &CompatInput {
            row: CompatRow {
                instance_id: subject.id.as_str(),
                repo: &subject.repo,
                fail_to_pass: &subject.fail_to_pass.ids,
                pass_to_pass: &subject.pass_to_pass.ids,
                eval_type: if subject.fails_only {
                    EvalType::FailOnly
                } else {
                    EvalType::PassAndFail
                },
            },
            patch: files.patch,
            log: files.log,
            instance_log: files.instance_log,
            stage: files.stage,
            read: read.unwrap_or(&own),
        },
    )
}

fn as_lines(found: CompatFound) -> CompatRead {
    let (names, statuses) = found.into_parts();
    CompatRead::Lines(CompatLines { names, statuses })
}

/// A language as SWE-Bench++ spells it, which knows no other spelling; Atlas's rows have small letters.
fn as_plus_plus_spells(language: &str) -> &str {
    const SPELLED: [(&str, &str); 14] = [
        ("c", "C"),
        ("c#", "C#"),
        ("c++", "C++"),
        ("cpp", "C++"),
        ("csharp", "C#"),
        ("go", "Go"),
        ("java", "Java"),
        ("javascript", "JavaScript"),
        ("kotlin", "Java"),
        ("php", "PHP"),
        ("python", "Python"),
        ("ruby", "Ruby"),
        ("rust", "Rust"),
        ("typescript", "TypeScript"),
    ];
    let known = SPELLED.iter().find(|(ours, _)| *ours == language);
    known.map_or(language, |(_, theirs)| theirs)
}

/// The harness's name for the reader of a row.
fn parser_name(harness: Harness, subject: &Subject) -> String {
    if harness == Harness::SweBenchPp && !subject.plus_plus_parser.is_empty() {
        return in_plus_plus(&subject.plus_plus_parser).to_owned();
    }
    let by_repo = || compat_parser_of(harness, &subject.repo).map(str::to_owned);
    let by_row = || {
        (!subject.log_parser.is_empty()).then(|| {
            if subject.log_parser.starts_with("parse_") || harness == Harness::SweBenchPp {
                subject.log_parser.clone()
            } else {
                format!("parse_log_{}", subject.log_parser)
            }
        })
    };
    match harness {
        Harness::SweBench4 => by_repo().or_else(by_row),
        Harness::SweBench5 | Harness::SweBenchPp => by_row().or_else(by_repo),
    }
    .unwrap_or_default()
}

/// SWE-Bench++'s name of the reader of what one of Atlas's parsers reads, where the two differ.
fn in_plus_plus(parser: &str) -> &str {
    match parser {
        "gtest" => "googletest",
        "test-unit" => "rubyunit",
        "unittest" => "django",
        other => other,
    }
}

/// Where and how a harness's evaluation runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) sandbox: &'a dyn Sandbox,
    pub(super) environment: &'a Environment,
    pub(super) limits: &'a Limits,
    pub(super) network: Network,
    /// Makes the mark between applying and testing.
    pub(super) seed: &'a str,
}

/// Runs a prediction as a harness does: root in the row's image, its ladder, its script.
pub(super) async fn run_as(
    cx: &RunContext,
    harness: Harness,
    place: Place<'_>,
    subject: &Subject,
    patch: &[u8],
) -> Result<HarnessRun, Error> {
    let Place {
        sandbox,
        environment,
        limits,
        network,
        seed,
    } = place;
    let whole = subject.script.as_ref().map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            format!("run `{}`:", subject.id),
            why.clone(),
        )
    })?;
    let text = match harness {
        Harness::SweBench5 => script::with_exit_code(whole),
        Harness::SweBench4 | Harness::SweBenchPp => whole.clone(),
    };
    let nonce = crate::store::Key::new("harness run")
        .part(seed.as_bytes())
        .part(subject.id.as_str().as_bytes())
        .part(patch)
        .finish();
    let nonce = &nonce[..32];
    let file = |name: &str, bytes: &[u8]| JobFile {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    let job = Job {
        label: subject.id.to_string(),
        overlay: Overlay::default(),
        files: vec![file("patch.diff", patch), file("eval.sh", text.as_bytes())],
        script: script::as_harness(harness, nonce),
        collect: Vec::new(),
        env: BTreeMap::new(),
        limits: limits.clone(),
        network,
        user: JobUser::Root,
    };
    let result = sandbox.run(cx, environment, &job).await?;
    let cut = script::cut_harness(&result.output, nonce);
    let mut run = HarnessRun {
        applying: cut.applying.to_vec(),
        script: text,
        ..HarnessRun::default()
    };
    run.stage = match (cut.applied, result.exit) {
        (Some(0) | None, ExitState::TimedOut) => CompatStage::TimedOut,
        (Some(0), _) => CompatStage::Tested,
        (Some(_), _) => CompatStage::NotApplied,
        (None, _) => {
            let said = String::from_utf8_lossy(&result.output);
            let last = said.trim().lines().next_back().unwrap_or("nothing");
            return Err(Error::new(
                ErrorKind::EngineFailed,
                format!("apply the prediction in the image of `{}`:", subject.id),
                format!("the image's shell said: {last}"),
            ));
        }
    };
    if cut.applied == Some(0) {
        let mut log = cut.tests.to_vec();
        if run.stage == CompatStage::TimedOut {
            let note = format!("\n\nTimeout error: {} seconds exceeded.", limits.seconds);
            log.extend_from_slice(note.as_bytes());
        }
        run.log = Some(log);
    }
    run.result = Some(result);
    Ok(run)
}

/// A harness's verdict in Atlas's words.
pub(super) fn describe(verdict: &mut EvalVerdict, grade: &CompatGrade, stage: CompatStage) {
    verdict.resolution = grade.resolution;
    verdict.reasons.clone_from(&grade.why);
    if let Some(infra) = &grade.infra {
        verdict.reasons.push(infra.reason.clone());
    }
    let body = grade.report.as_ref().map(|report| &report.body);
    verdict.resolved = body.is_some_and(|body| body.resolved);
    if let Some(tests) = body.and_then(|body| body.tests_status.as_ref()) {
        verdict.fail_to_pass = tests.fail_to_pass.clone();
        verdict.pass_to_pass = tests.pass_to_pass.clone();
    }
    verdict.outcome = match stage {
        CompatStage::NotApplied => EvalOutcome::NotApplied,
        CompatStage::NotStarted => EvalOutcome::NoEvidence,
        // The harness had nothing to read, or broke off while it read.
        CompatStage::Tested if grade.outcome == CompatOutcome::Error => EvalOutcome::NoEvidence,
        CompatStage::Tested | CompatStage::TimedOut => EvalOutcome::Graded,
    };
    debug_assert!(verdict.mode != GradingMode::Strict);
}
