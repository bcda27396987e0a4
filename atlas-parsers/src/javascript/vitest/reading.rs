//! What a log of Vitest says, once it has been read to its end.

use super::{Found, State};
use crate::javascript::junit::Cases;
use crate::javascript::report::Report;
use atlas_core::{
    Evidence, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use std::collections::{BTreeMap, BTreeSet};

/// The report of the junit reporter, whose classes are files; a case named as its file stands for
/// one that did not load.
fn of_cases(cases: &Cases, mut log: ParsedLogBuilder) -> ParsedLog {
    let mut lost = 0;
    for case in &cases.found {
        if case.name == case.class && case.status.is_failing() {
            lost += 1;
            let text = format!("test case `{}`", case.name);
            let line = usize::try_from(case.line).unwrap_or(usize::MAX);
            let proof = vec![Evidence::at("log", line, text)];
            log.lose(&case.class, LostReason::LoadFailed, proof);
            continue;
        }
        let name = format!("{} > {}", case.class, case.name);
        log.record(&case.class, &name, &name, case.status);
    }
    if let Some(total) = cases.total {
        log.add_totals(Totals {
            total: Some(total),
            failed: cases.failing,
            ..Totals::default()
        });
        log.set_consistent(total == cases.found.len() as u64 && cases.agrees(0) != Some(false));
    }
    let outcome = if cases.cut {
        RunOutcome::Truncated
    } else if log.recorded() > 0 {
        RunOutcome::Completed
    } else if lost > 0 {
        RunOutcome::BuildFailed
    } else {
        RunOutcome::NothingRan
    };
    let mut log = log.finish(outcome);
    for lost in &mut log.modules_not_loaded {
        lost.reported_as = Some(lost.module.clone());
    }
    log
}

/// How many results of each kind were named.
#[derive(Default)]
struct Named {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl State {
    pub(super) fn into_log(mut self, mut log: ParsedLogBuilder) -> ParsedLog {
        self.take_listings();
        for (line, text) in std::mem::take(&mut self.warnings) {
            log.warn(Some(line as u64), text);
        }
        let totals = self.totals();
        if let Some(report) = self.report.take_if(|report| {
            totals.is_none_or(|told| {
                told.total == Some(report.total) && told.failed.unwrap_or(0) == report.failed
            }) && report.complete
        }) {
            return self.of_report(&report, log);
        }
        if totals.is_none()
            && self.results.is_empty()
            && let Some(report) = self.report.take()
        {
            return self.of_report(&report, log);
        }
        if let (true, Some(cases)) = (
            totals.is_none() && self.results.is_empty(),
            std::mem::take(&mut self.xml).finish(),
        ) {
            return of_cases(&cases, log);
        }
        if self.messages {
            self.drop_echoes();
        }
        self.add_headings();
        let todo: u64 = self
            .runs
            .iter()
            .filter_map(|run| run.tests)
            .map(|c| c.todo)
            .sum();
        if self.verbose
            && self.version < 3
            && self.runs.len() == 1
            && self
                .results
                .iter()
                .all(|found| found.status != TestStatus::Skipped)
        {
            for (file, title) in self.frames.exactly(todo) {
                self.results.push(Found {
                    run: 0,
                    file: file.clone(),
                    project: String::new(),
                    name: format!("{file} > {title}"),
                    status: TestStatus::Skipped,
                    hash: 0,
                    listed: false,
                    held: false,
                });
            }
        }
        self.write(log, totals)
    }

    /// Takes back what is known as a line of a failure's message.
    pub(super) fn drop_echoes(&mut self) {
        let mut echoes = std::mem::take(&mut self.echoes);
        if echoes.is_empty() {
            return;
        }
        self.results
            .retain(|found| match echoes.get_mut(&found.hash) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    false
                }
                _ => true,
            });
    }

    /// Failing tests that only the closing list names. It names each of them in full and without a
    /// time, so that it counts and not the lines below a file.
    fn add_headings(&mut self) {
        let failing = std::mem::take(&mut self.failing);
        let Some(last) = failing.keys().next_back().map(|key| key.0) else {
            return;
        };
        // How often each is named: by its own line, and below its file.
        let mut known: BTreeMap<(usize, &str, &str), (u64, u64)> = BTreeMap::new();
        for found in &self.results {
            if found.status == TestStatus::Failed {
                let key = (found.run, found.project.as_str(), found.name.as_str());
                let times = known.entry(key).or_default();
                *(if found.listed {
                    &mut times.1
                } else {
                    &mut times.0
                }) += 1;
            }
        }
        // A heading's title of several lines is read by its first.
        let several: BTreeSet<(usize, &str, &str)> = self
            .results
            .iter()
            .filter(|found| !found.listed && found.status == TestStatus::Failed)
            .filter_map(|found| {
                let (first, _) = found.name.split_once('\n')?;
                Some((found.run, found.project.as_str(), first))
            })
            .collect();
        let mut missing = Vec::new();
        for ((run, project, name), file) in &failing {
            let key = (*run, project.as_str(), name.as_str());
            let (own, listed) = known.get(&key).copied().unwrap_or_default();
            let is_named = own > 0 || several.contains(&key);
            let times = if is_named { 0 } else { listed.max(1) };
            for _ in 0..times {
                missing.push(Found {
                    run: *run,
                    file: file.clone(),
                    project: project.clone(),
                    name: name.clone(),
                    status: TestStatus::Failed,
                    hash: 0,
                    listed: false,
                    held: false,
                });
            }
        }
        self.results.retain(|found| {
            !(found.listed && found.status == TestStatus::Failed && found.run <= last)
        });
        self.results.append(&mut missing);
    }

    fn totals(&self) -> Option<Totals> {
        let mut totals = None;
        for counts in self.runs.iter().filter_map(|run| run.tests) {
            totals.get_or_insert_with(Totals::default).add(Totals {
                total: Some(counts.total),
                passed: Some(counts.passed),
                failed: Some(counts.failed),
                skipped: Some(counts.skipped.saturating_add(counts.todo)),
                ..Totals::default()
            });
        }
        totals
    }

    /// What stands in front of a qualified id: the folders of several runs, as far as they differ.
    fn folders(&self) -> Vec<String> {
        let different: BTreeSet<&str> = self.runs.iter().map(|run| run.folder.as_str()).collect();
        if different.len() < 2 {
            return vec![String::new(); self.runs.len()];
        }
        let parts = |folder: &str| folder.split('/').map(str::to_owned).collect::<Vec<_>>();
        let mut shared: Option<Vec<String>> = None;
        for folder in &different {
            let parts = parts(folder);
            let same = shared.as_ref().map_or(parts.len(), |known| {
                known.iter().zip(&parts).take_while(|(a, b)| a == b).count()
            });
            let mut known = shared.unwrap_or(parts);
            known.truncate(same);
            shared = Some(known);
        }
        let skip = shared.map_or(0, |shared| shared.len());
        self.runs
            .iter()
            .map(|run| {
                let mut own = parts(&run.folder).split_off(skip).join("/");
                if !own.is_empty() {
                    own.push('/');
                }
                own
            })
            .collect()
    }

    fn write(mut self, mut log: ParsedLogBuilder, totals: Option<Totals>) -> ParsedLog {
        let folders = self.folders();
        let folder = |run: usize| folders.get(run).map_or("", String::as_str);
        let mut named = Named::default();
        let mut files: BTreeSet<(usize, &str)> = BTreeSet::new();
        for found in &self.results {
            // Projects have folders of their own, so one name may be a file of each.
            let id = if found.project.is_empty() {
                found.name.clone()
            } else {
                format!("|{}| {}", found.project, found.name)
            };
            let mut qualified = folder(found.run).to_owned();
            if !found.project.is_empty() {
                qualified = format!("|{}| {qualified}", found.project);
            }
            qualified.push_str(&found.name);
            match found.status {
                TestStatus::Passed => named.passed += 1,
                TestStatus::Failed => named.failed += 1,
                _ => named.skipped += 1,
            }
            files.insert((found.run, found.file.as_str()));
            log.record(&found.file, &qualified, &id, found.status);
        }
        let mut lost = BTreeMap::new();
        for broken in std::mem::take(&mut self.broken) {
            if files.contains(&(broken.run, broken.file.as_str())) {
                let text = format!("`{}` failed as a whole", broken.file);
                log.warn(broken.proof.first().and_then(line), text);
                continue;
            }
            let qualified = format!("{}{}", folder(broken.run), broken.file);
            log.lose(&broken.file, LostReason::LoadFailed, broken.proof);
            lost.insert(broken.file, qualified);
        }
        for suite in &self.failed_suites {
            log.warn(None, format!("a hook of the suite `{suite}` failed"));
        }
        if self.unhandled {
            log.warn(None, "errors that belong to no test");
        }
        if let Some(totals) = totals {
            let failed = totals.failed == Some(named.failed);
            let passed = totals.passed == Some(named.passed);
            // Tests that did not run need not be named.
            let skipped =
                named.skipped == 0 || totals.skipped.is_some_and(|all| all >= named.skipped);
            let all = self.verbose && !self.untold;
            log.set_consistent(failed && (!all || passed && skipped));
            log.add_totals(totals);
        }
        let recorded = log.recorded();
        let tap = self.tap.as_ref();
        let outcome = if let Some(tap) = tap.filter(|_| totals.is_none()) {
            match (tap.complete(), recorded, lost.is_empty()) {
                (_, 0, true) => RunOutcome::NothingRan,
                (false, ..) => RunOutcome::Truncated,
                (true, 0, false) => RunOutcome::BuildFailed,
                _ => RunOutcome::Completed,
            }
        } else if let Some(totals) = totals {
            match (totals.total.unwrap_or(0), lost.is_empty()) {
                (0, false) => RunOutcome::BuildFailed,
                (0, true) if recorded == 0 => RunOutcome::NothingRan,
                _ => RunOutcome::Completed,
            }
        } else if self.nothing_found || self.runs.is_empty() && recorded == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Truncated
        };
        let mut log = log.finish(outcome);
        for module in &mut log.modules_not_loaded {
            module.reported_as = lost.get(&module.module).cloned();
        }
        log
    }

    /// The names of a document are whole paths; where the banner tells the folder, they are cut there.
    fn of_report(&self, report: &Report, mut log: ParsedLogBuilder) -> ParsedLog {
        let folder = self.runs.last().map(|run| format!("{}/", run.folder));
        let below = folder
            .filter(|folder| folder.len() > 1)
            .and_then(|folder| -> Option<Vec<String>> {
                let cut = |name: &str| name.strip_prefix(&folder).map(str::to_owned);
                report.files.iter().map(|file| cut(&file.name)).collect()
            })
            .unwrap_or_else(|| report.below_root());
        let mut lost = BTreeMap::new();
        for (file, name) in report.files.iter().zip(&below) {
            if file.tests == 0 && file.failed {
                let lines = file
                    .message
                    .lines()
                    .filter(|line| !line.is_empty())
                    .take(12);
                let proof = lines.map(|line| Evidence::of("log", line)).collect();
                log.lose(name, LostReason::LoadFailed, proof);
                lost.insert(name.clone(), name.clone());
            }
        }
        for test in &report.tests {
            let Some(file) = below.get(test.file) else {
                continue;
            };
            let mut id = file.clone();
            // Before version 3 the file itself is the first, without a name.
            for title in test.ancestors.iter().filter(|title| !title.is_empty()) {
                id.push_str(" > ");
                id.push_str(title);
            }
            id.push_str(" > ");
            id.push_str(&test.title);
            log.record(file, &id, &id, test.status);
        }
        // Before version 2 the passed ones include those that did not run.
        log.add_totals(Totals {
            total: Some(report.total),
            failed: Some(report.failed),
            ..Totals::default()
        });
        let outcome = match (report.complete, log.recorded(), lost.is_empty()) {
            (false, ..) => RunOutcome::Truncated,
            (true, 0, false) => RunOutcome::BuildFailed,
            (true, 0, true) => RunOutcome::NothingRan,
            _ => RunOutcome::Completed,
        };
        let mut log = log.finish(outcome);
        for module in &mut log.modules_not_loaded {
            module.reported_as = lost.get(&module.module).cloned();
        }
        log
    }
}

fn line(proof: &Evidence) -> Option<u64> {
    proof.line.map(|line| line as u64)
}
