//! The document that `jest --json` writes, as a log.

use super::root::Root;
use crate::javascript::report::Report;
use atlas_core::{Evidence, LostReason, Names, ParsedLog, ParsedLogBuilder, RunOutcome, Totals};

/// The file names from the configured root.
///
/// A failing file's message has frames from there. Where no file failed, the document does not
/// tell, and neither do headings around it.
fn names(report: &Report, headings: &Names) -> Vec<String> {
    let mut root = Root::default();
    for file in &report.files {
        for line in file.message.lines() {
            root.look(&file.name, line.as_bytes());
        }
    }
    let all = || report.files.iter().map(|file| file.name.as_str());
    let cut = |length: usize| all().map(|name| name[length..].to_owned()).collect();
    if let Some(before) = root.before(all()) {
        return cut(before.len());
    }
    let printed = report.files.iter().find_map(|file| {
        let heading = headings
            .iter()
            .find(|heading| file.name.ends_with(heading))?;
        let before = file.name.len() - heading.len();
        file.name[..before]
            .ends_with('/')
            .then_some(&file.name[..before])
    });
    match printed {
        Some(before) if all().all(|name| name.starts_with(before)) => cut(before.len()),
        _ => report.below_root(),
    }
}

pub(super) fn into_log(report: &Report, headings: &Names, mut log: ParsedLogBuilder) -> ParsedLog {
    let names = names(report, headings);
    let mut lost = Vec::new();
    for (file, name) in report.files.iter().zip(&names) {
        if file.tests == 0 && file.failed {
            let lines = file.message.lines().map(str::trim_end);
            let lines = lines.filter(|line| !line.is_empty()).take(12);
            let proof = lines.map(|line| Evidence::of("log", line)).collect();
            log.lose(&file.name, LostReason::LoadFailed, proof);
            lost.push((file.name.clone(), name.clone()));
        }
    }
    for test in &report.tests {
        let mut name = String::new();
        for title in &test.ancestors {
            name.push_str(title);
            name.push_str(" > ");
        }
        name.push_str(&test.title);
        let (Some(file), Some(below)) = (report.files.get(test.file), names.get(test.file)) else {
            continue;
        };
        let qualified = format!("{below} > {name}");
        log.record(&file.name, &qualified, &name, test.status);
    }
    log.add_totals(Totals {
        total: Some(report.total),
        passed: Some(report.passed),
        failed: Some(report.failed),
        skipped: Some(report.pending.saturating_add(report.todo)),
        ..Totals::default()
    });
    let outcome = match (report.complete, log.recorded(), lost.is_empty()) {
        (false, ..) => RunOutcome::Truncated,
        (true, 0, false) => RunOutcome::BuildFailed,
        (true, 0, true) => RunOutcome::NothingRan,
        _ => RunOutcome::Completed,
    };
    if !report.complete {
        log.set_consistent(false);
    }
    let mut log = log.finish(outcome);
    super::report_as(&mut log, |module| {
        let known = lost.iter().find(|(file, _)| file == module);
        known.map_or_else(|| module.to_owned(), |(_, name)| name.clone())
    });
    log
}
