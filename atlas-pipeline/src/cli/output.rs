//! Reports as text for people or JSON for programs.

use super::document;
use super::shared::Format;
use atlas_core::{Error, ErrorKind, Evidence, TestStatus};
use atlas_oracle::Classification;
use atlas_parsers::{About, BUILTIN};
use atlas_pipeline::{
    BuildOutcome, BuildReport, DemoReport, DemoSource, DoctorReport, FailureReport, InputFault,
    MakeOutcome, MakeReport, ParseReport, PlanReport, SecondWitness,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::fd::AsFd;

/// Writes to standard output. A reader that has gone away is no error.
pub(super) fn print(text: &str) -> Result<(), Error> {
    written(std::io::stdout().lock().write_all(text.as_bytes()))
}

/// Writes lines to standard output as they come. A reader that has gone away is no error, and ends them.
///
/// # Errors
/// Those of the lines; standard output cannot be written to.
pub(super) fn lines(lines: impl Iterator<Item = Result<String, Error>>) -> Result<(), Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in lines {
        let done = writeln!(out, "{}", line?);
        if done.is_err() {
            return written(done);
        }
    }
    written(out.flush())
}

/// Writes a document to standard output. A reader that has gone away is no error.
pub(super) fn json<T: Serialize>(value: &T) -> Result<(), Error> {
    // What looks for line ends in everything that is written would only cost time.
    let direct = std::io::stdout().as_fd().try_clone_to_owned();
    match direct {
        Ok(direct) => written(document::write(File::from(direct), value)?),
        Err(_) => written(document::write(std::io::stdout().lock(), value)?),
    }
}

fn written(done: std::io::Result<()>) -> Result<(), Error> {
    match done {
        Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, "write to standard output", "").with_source(why))
        }
        _ => Ok(()),
    }
}

/// What is wrong with inputs, a line each.
pub(super) fn input_faults(text: &mut String, faults: &[InputFault]) {
    for fault in faults {
        let line = fault
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        let field = fault
            .field
            .as_ref()
            .map_or_else(String::new, |field| format!(" column `{field}`:"));
        let _ = writeln!(
            text,
            "input: {}{line}:{field} {}",
            fault.file, fault.message
        );
    }
}

/// The whole chain of an error on one line of standard error.
pub(crate) fn error(why: &Error) {
    let mut text = why.chain();
    if why.kind() == ErrorKind::Cancelled && !text.contains("cancelled") {
        text.push_str(": cancelled");
    }
    let _ = writeln!(std::io::stderr(), "atlas: error: {text}");
}

/// A parsed log for a person: the tests, those that matter most last, then what is to be said of the
/// run as a whole.
pub(crate) fn parse(report: &ParseReport<'_>) -> String {
    let mut text = String::new();
    let mut rows: Vec<(TestStatus, &str)> = report
        .tests
        .iter()
        .map(|(id, status)| (status, id))
        .collect();
    rows.sort();
    if !rows.is_empty() {
        text.push_str("STATUS   TEST\n");
    }
    let mut counts: BTreeMap<TestStatus, usize> = BTreeMap::new();
    for (status, id) in rows {
        *counts.entry(status).or_default() += 1;
        let _ = write!(text, "{status:<8} {}", one_line(id));
        if let Some(times) = report.duplicates.ids.get(id) {
            let _ = write!(text, "  ({times} results)");
        }
        text.push('\n');
    }
    if !text.is_empty() {
        text.push('\n');
    }
    for lost in report.modules_not_loaded {
        let why = word(&lost.reason);
        let _ = writeln!(text, "not run  {} ({why})", one_line(&lost.module));
        for line in lost.lines.iter().take(5) {
            let number = line.line.map_or_else(String::new, |n| format!("{n}: "));
            let _ = writeln!(text, "         {number}{}", one_line(&line.text));
        }
    }
    for id in report.in_flight {
        let _ = writeln!(text, "running  {}", one_line(id));
    }
    for warning in report.warnings {
        let line = warning
            .line
            .map_or_else(String::new, |n| format!("line {n}: "));
        let _ = writeln!(text, "warning  {line}{}", one_line(&warning.text));
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(status, n)| format!("{n} {status}"))
        .collect();
    let _ = writeln!(
        text,
        "tests    {}{}",
        report.tests.len(),
        if counts.is_empty() {
            String::new()
        } else {
            format!(": {}", counts.join(", "))
        },
    );
    if let Some(totals) = &report.totals {
        let declared: Vec<String> = [
            ("in all", totals.total),
            ("passed", totals.passed),
            ("failed", totals.failed),
            ("errors", totals.errors),
            ("skipped", totals.skipped),
            ("xfailed", totals.xfailed),
            ("xpassed", totals.xpassed),
        ]
        .iter()
        .filter_map(|(name, count)| Some(format!("{} {name}", (*count)?)))
        .collect();
        let agreement = match report.consistent {
            Some(true) => "the tests above agree",
            Some(false) => "the tests above DO NOT agree",
            None => "not comparable with the tests above",
        };
        let _ = writeln!(text, "totals   {}; {agreement}", declared.join(", "));
    }
    let _ = writeln!(text, "outcome  {}", word(&report.outcome));
    let _ = write!(text, "parser   {}", report.parser);
    if let Some(found) = &report.detection {
        let _ = write!(
            text,
            ", {}: {}",
            word(&found.confidence),
            found.reasons.join("; ")
        );
    }
    text.push('\n');
    text
}

/// The name of an enum's value as JSON has it, with blanks: `build failed`.
fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name.replace('_', " "),
        _ => String::new(),
    }
}

/// An id as one line of a terminal: control characters become visible.
pub(super) fn one_line(id: &str) -> std::borrow::Cow<'_, str> {
    if id.contains(char::is_control) {
        let shown = |c: char| -> String {
            if c.is_control() {
                c.escape_default().to_string()
            } else {
                c.to_string()
            }
        };
        return id.chars().map(shown).collect::<String>().into();
    }
    id.into()
}

/// One parser as `atlas parse --list` shows it.
#[derive(Serialize)]
struct Listed {
    id: &'static str,
    #[serde(flatten)]
    about: &'static About,
}

pub(crate) fn parsers(format: Format) -> Result<(), Error> {
    let listed: Vec<Listed> = BUILTIN
        .iter()
        .map(|runner| Listed {
            id: runner.id(),
            about: runner.about(),
        })
        .collect();
    format.show(&listed, || parser_list(&listed))
}

fn parser_list(listed: &[Listed]) -> String {
    let mut text = String::new();
    for Listed { id, about } in listed {
        let languages = if about.languages.is_empty() {
            "any language".to_owned()
        } else {
            about.languages.join(", ")
        };
        let _ = writeln!(text, "{id} ({languages})");
        let _ = writeln!(text, "    reads:        {}", about.reads);
        let _ = writeln!(text, "    cannot know:  {}", about.cannot_know);
        if !about.aliases.is_empty() {
            let _ = writeln!(text, "    other names:  {}", about.aliases.join(", "));
        }
    }
    text.push_str(
        "\nEach id is also known as parse_log_ID. Several runners in one log: ID+ID, or auto.\n",
    );
    text
}

pub(crate) fn classification(found: &Classification) -> String {
    let mut text = format!("{:?}: {}\n", found.outcome, found.reason);
    list(&mut text, "FAIL_TO_PASS", &found.fail_to_pass);
    list(&mut text, "PASS_TO_PASS", &found.pass_to_pass);
    for (class, count) in &found.transition_counts {
        let _ = writeln!(text, "{class}: {count}");
    }
    for warning in &found.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

fn list(text: &mut String, name: &str, ids: &[String]) {
    const SHOWN: usize = 10;
    let _ = writeln!(text, "{name}: {}", ids.len());
    for id in ids.iter().take(SHOWN) {
        let _ = writeln!(text, "  {id}");
    }
    if ids.len() > SHOWN {
        let _ = writeln!(text, "  … and {} more", ids.len() - SHOWN);
    }
}

pub(crate) fn make(report: &MakeReport) -> String {
    let mut text = String::new();
    let word = if report.outcome == MakeOutcome::Instance {
        "accepted"
    } else {
        "rejected"
    };
    let _ = writeln!(text, "{}: {word}: {}", report.instance_id, report.reason);
    if report.outcome == MakeOutcome::Instance {
        list(&mut text, "FAIL_TO_PASS", &report.fail_to_pass);
        let _ = writeln!(text, "PASS_TO_PASS: {}", report.pass_to_pass.len());
    } else {
        proofs(&mut text, &report.evidence);
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if let Some(found) = &report.confirmation {
        for (id, why) in &found.contradicted {
            let _ = writeln!(text, "set aside: {id}: {why}");
        }
        for remark in &found.remarks {
            let _ = writeln!(text, "confirmation: {remark}");
        }
    }
    if let Some(found) = &report.second_witness {
        second_witness(&mut text, found);
    }
    let s = &report.seconds;
    let _ = writeln!(
        text,
        "{:.1} s: environment {:.1}, tests {:.1} + {:.1} + {:.1}, to confirm {:.1}, sandboxes {:.1}; {} engine",
        s.total,
        s.environment,
        s.base,
        s.before,
        s.after,
        s.confirm,
        s.sandbox_overhead,
        report.engine
    );
    if let Some(isolation) = &report.isolation {
        let missing = if isolation.missing.is_empty() {
            String::new()
        } else {
            format!("; missing: {}", isolation.missing.join("; "))
        };
        let _ = writeln!(text, "isolation: {}{missing}", isolation.kind);
    }
    let _ = writeln!(text, "artefacts: {}", report.artefacts.display());
    if let Some(row) = &report.row {
        let _ = writeln!(text, "row: {}", row.display());
    }
    text
}

fn second_witness(text: &mut String, found: &SecondWitness) {
    let file = found.file.as_deref().unwrap_or_default();
    let said = match (&found.why_none, found.differences.len()) {
        (Some(why), _) => format!("none: {why}"),
        (None, 0) => format!(
            "{file} of {} runs names {} tests, as the console does",
            found.runs, found.tests
        ),
        (None, n) => format!(
            "{file} of {} runs names {} tests and differs from the console {n} times",
            found.runs, found.tests
        ),
    };
    let _ = writeln!(text, "second witness: {said}");
    for difference in &found.differences {
        let _ = writeln!(text, "  {difference}");
    }
}

fn proofs(text: &mut String, evidence: &[Evidence]) {
    for proof in evidence {
        let line = proof
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        let _ = writeln!(text, "  {}{line}: {}", proof.source, proof.text);
    }
}

pub(crate) fn plan(report: &PlanReport) -> String {
    let mut text = format!("{} at {}", report.repository, report.base.short());
    if let Some(reason) = &report.reason {
        let _ = writeln!(text, ": no plan: {reason}");
        proofs(&mut text, &report.evidence);
    }
    if let Some(plan) = &report.plan {
        let _ = writeln!(text, " ({})", report.base_date);
        let _ = writeln!(text, "language    {}", plan.language);
        let _ = writeln!(text, "base image  {}", plan.base_image);
        for command in &plan.pre_install {
            let _ = writeln!(text, "as root     {}", one_line(command));
        }
        for command in &plan.setup {
            let _ = writeln!(text, "set up      {}", one_line(command));
        }
        for command in &plan.build {
            let _ = writeln!(text, "build       {}", one_line(command));
        }
        for command in &plan.prefetch {
            let _ = writeln!(text, "prefetch    {}", one_line(command));
        }
        for command in &plan.rebuild {
            let _ = writeln!(text, "rebuild     {}", one_line(command));
        }
        for service in &plan.services {
            let _ = writeln!(
                text,
                "service     {} on port {}, for {}",
                service.kind, service.port, service.image
            );
        }
        let _ = writeln!(text, "tests       {}", one_line(&plan.test_cmd));
        let _ = writeln!(text, "parser      {}", plan.log_parser_name);
        for (name, value) in &plan.env {
            let _ = writeln!(text, "env         {name}={}", one_line(value));
        }
        for (field, evidence) in &plan.evidence {
            let _ = writeln!(text, "why {field}:");
            proofs(&mut text, evidence);
        }
        for drift in &plan.drift {
            let _ = writeln!(text, "drift: {drift}");
        }
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if let Some(dockerfile) = &report.dockerfile {
        let _ = write!(text, "\n{dockerfile}");
    }
    text
}

pub(crate) fn failures(report: &FailureReport) -> String {
    let mut text = String::new();
    for weight in &report.classes {
        let by: Vec<String> = weight
            .languages
            .iter()
            .map(|(language, count)| {
                let language = if language.is_empty() {
                    "no language"
                } else {
                    language
                };
                format!("{language} {count}")
            })
            .collect();
        let _ = writeln!(
            text,
            "{}: {} repositories, {} environments ({})",
            weight.class.as_str(),
            weight.repositories,
            weight.environments,
            by.join(", ")
        );
        for failure in &weight.failures {
            let line = failure
                .line
                .as_ref()
                .map_or(&failure.reason, |line| &line.text);
            let _ = writeln!(text, "  {}: {}", failure.instance_id, one_line(line));
            for tried in &failure.tried {
                let _ = writeln!(text, "    tried {}", one_line(tried));
            }
        }
    }
    if report.classes.is_empty() {
        text.push_str("no environment failed\n");
    }
    text
}

pub(crate) fn build(report: &BuildReport) -> String {
    let verdict = match report.outcome {
        BuildOutcome::Ready => "ready",
        BuildOutcome::NotBuildable => "not buildable",
        BuildOutcome::NothingRan => "nothing ran",
    };
    let (name, base) = (&report.repository, report.base.short());
    let mut text = format!("{name} at {base}: {verdict}: {}\n", report.reason);
    proofs(&mut text, &report.evidence);
    if let Some(run) = &report.base_run {
        let counts: Vec<String> = run
            .counts
            .iter()
            .map(|(status, count)| format!("{count} {status}"))
            .collect();
        let _ = writeln!(text, "Base: {} tests: {}", run.tests, counts.join(", "));
        for lost in &run.modules_not_loaded {
            let _ = writeln!(
                text,
                "not run: {} ({})",
                one_line(&lost.module),
                word(&lost.reason)
            );
        }
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    let tests = report.base_run.as_ref().map_or(0.0, |run| run.seconds);
    let _ = writeln!(
        text,
        "build {:.1} s, tests {tests:.1} s; {} engine\nartefacts: {}",
        report.build_seconds,
        report.engine,
        report.artefacts.display()
    );
    text
}

pub(crate) fn demo(report: &DemoReport) -> String {
    let mut text = match report.source {
        DemoSource::Registry => {
            "The pull request: what changed between yamllint 1.37.0 and 1.37.1, \
                                 from the package registry."
                .to_owned()
        }
        DemoSource::Builtin if report.note.is_empty() => {
            "The pull request: a bug fix in a small repository that this program carries."
                .to_owned()
        }
        DemoSource::Builtin => format!(
            "The pull request: a bug fix in a small repository that this program carries ({}).",
            report.note
        ),
    };
    text.push('\n');
    text.push_str(&make(&report.make));
    if report.make.outcome != MakeOutcome::Instance {
        return text;
    }
    let folder = report.make.artefacts.display();
    let _ = write!(
        text,
        "\nWhat happened: the tests ran three times: as they were (Base), with the pull request's new \
         tests (Before), and with its solution too (After). The tests under FAIL_TO_PASS ({}) fail \
         without the solution and pass with it, so they define the task; those under PASS_TO_PASS \
         ({}) must go on passing. Together they are the oracle that grades any other solution.\n\
         Look at: {folder}/instance.json (the SWE-bench row), {folder}/oracle.json (every test in \
         every state), {folder}/base.log, before.log, after.log (what the runner printed).\n",
        report.make.fail_to_pass.len(),
        report.make.pass_to_pass.len(),
    );
    text
}

pub(crate) fn doctor(report: &DoctorReport) -> String {
    let mut text = format!("atlas {}\n", report.version);
    for (tool, version) in &report.status.tools {
        let version = version.as_deref().unwrap_or("not found");
        let _ = writeln!(text, "  {tool:<12} {version}");
    }
    for ability in &report.abilities {
        let mark = if ability.works { "yes" } else { "no " };
        let _ = writeln!(text, "{mark}  {}: {}", ability.what, ability.note);
    }
    text
}

pub(crate) fn sweep(removed: &[String]) -> String {
    if removed.is_empty() {
        return "nothing was left behind\n".to_owned();
    }
    removed.iter().fold(String::new(), |mut text, what| {
        let _ = writeln!(text, "removed {what}");
        text
    })
}
