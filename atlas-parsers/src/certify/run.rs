//! From logs to a certificate.

use super::certificate::{Certificate, Check, CheckKind};
use super::mutate::{Expect, Mutation, doubts, mutations};
use super::words::{Counts, counts_of};
use atlas_core::{Evidence, LogParser, LogParserExt, ParsedLog, RunOutcome, TestStatus};
use std::collections::BTreeMap;

/// What is known of a log from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Where it comes from: `junit report`, `second parser`.
    pub source: String,
    /// SWE-bench id -> status.
    pub tests: BTreeMap<String, TestStatus>,
    /// More statuses that are right too, and tests that may be read or not.
    pub accept: BTreeMap<String, Vec<TestStatus>>,
}

/// A log that a parser is examined with.
#[derive(Clone, Debug, Default)]
pub struct CertifyCase<'a> {
    /// Its name in proofs: the file's.
    pub name: String,
    /// The log as the run printed it.
    pub log: &'a [u8],
    /// What is known of it.
    pub truth: Option<Truth>,
    /// The exit code of the command that printed it.
    pub exit_code: Option<i64>,
}

/// An examination in two steps, for parsers that are not called directly: read the
/// [`originals`](CertifyCase), [`begin`](Self::begin), read the changed [`logs`](Self::logs), and
/// [`judge`](Self::judge).
#[derive(Debug)]
pub struct Examination<'a> {
    cases: &'a [CertifyCase<'a>],
    read: Vec<ParsedLog>,
    changed: Vec<(usize, Mutation)>,
}

/// Examines a parser: its readings of the given logs, and of the same logs changed in every way of
/// [`CheckKind`]. `hash` says what the parser is; injections are added by
/// [`Examination::judge`].
pub fn certify(parser: &dyn LogParser, hash: &str, cases: &[CertifyCase<'_>]) -> Certificate {
    certify_with(parser, hash, cases, Vec::new())
}

/// As [`certify`], with checks that were made elsewhere: a structured report that agrees,
/// injections.
pub fn certify_with(
    parser: &dyn LogParser,
    hash: &str,
    cases: &[CertifyCase<'_>],
    more: Vec<Check>,
) -> Certificate {
    let read = cases.iter().map(|case| parser.parse(case.log)).collect();
    let examination = Examination::begin(cases, read);
    let changed = examination
        .logs()
        .map(|log| Some(parser.parse(log)))
        .collect();
    examination.judge(parser.id(), hash, changed, more)
}

impl<'a> Examination<'a> {
    /// Prepares the changed logs. `read` is what the parser made of the cases, in their order.
    pub fn begin(cases: &'a [CertifyCase<'a>], read: Vec<ParsedLog>) -> Self {
        let mut changed = Vec::new();
        for (at, (case, log)) in cases.iter().zip(&read).enumerate() {
            let known: BTreeMap<&str, TestStatus> = match &case.truth {
                // What may be read in two ways has no other side to be turned to.
                Some(truth) => truth
                    .tests
                    .iter()
                    .filter(|(id, _)| !truth.accept.contains_key(*id))
                    .map(|(id, status)| (id.as_str(), *status))
                    .collect(),
                None => log.tests(),
            };
            changed.extend(mutations(case.log, &known).into_iter().map(|one| (at, one)));
        }
        Self {
            cases,
            read,
            changed,
        }
    }

    /// The changed logs.
    pub fn logs(&self) -> impl Iterator<Item = &[u8]> {
        self.changed.iter().map(|(_, one)| one.log.as_slice())
    }

    /// Judges. `changed` is what the parser made of [`logs`](Self::logs), in their order; none for
    /// a log on which it broke down. `more` are checks that were made elsewhere: injections.
    pub fn judge(
        &self,
        parser: &str,
        hash: &str,
        changed: Vec<Option<ParsedLog>>,
        more: Vec<Check>,
    ) -> Certificate {
        let mut checks = more;
        for (case, read) in self.cases.iter().zip(&self.read) {
            original(case, read, &mut checks);
        }
        outcomes_together(self.cases, &mut checks);
        for ((at, mutation), read) in self.changed.iter().zip(changed) {
            let case = &self.cases[*at];
            for (kind, expect) in &mutation.expect {
                let wrong = match &read {
                    Some(read) => violated(expect, &self.read[*at], read),
                    None => Some("the parser broke down".to_owned()),
                };
                let text = match &wrong {
                    Some(why) => format!("{}: {why}", mutation.what),
                    None => mutation.what.clone(),
                };
                checks.push(Check {
                    kind: *kind,
                    passed: wrong.is_none(),
                    proof: Evidence {
                        source: case.name.clone(),
                        line: mutation.line,
                        text,
                    },
                });
            }
        }
        Certificate::weigh(parser, hash, self.cases.len() as u64, &checks)
    }
}

/// Runners that name their failures in one kind of run and their passes in another: where all of it
/// was read as it is, the logs together show both.
fn outcomes_together(cases: &[CertifyCase<'_>], checks: &mut Vec<Check>) {
    let agreed = |check: &Check| check.kind != CheckKind::Agreement || check.passed;
    let shown = |check: &Check| check.kind == CheckKind::Outcomes;
    if !checks.iter().all(agreed) || checks.iter().any(shown) {
        return;
    }
    let truths = || cases.iter().filter_map(|case| case.truth.as_ref());
    let has = |wanted: fn(TestStatus) -> bool| {
        truths().any(|truth| truth.tests.values().any(|status| wanted(*status)))
    };
    if has(TestStatus::is_passing) && has(TestStatus::is_failing) {
        let text = format!("{} logs together", truths().count());
        checks.push(Check {
            kind: CheckKind::Outcomes,
            passed: true,
            proof: Evidence::of("all logs", text),
        });
    }
}

/// The checks of a log as it is.
fn original(case: &CertifyCase<'_>, read: &ParsedLog, checks: &mut Vec<Check>) {
    let mut add = |kind, passed, line: Option<usize>, text: String| {
        checks.push(Check {
            kind,
            passed,
            proof: Evidence {
                source: case.name.clone(),
                line,
                text,
            },
        });
    };
    let tests = read.tests();
    if let Some(truth) = &case.truth {
        let mut wrong = Vec::new();
        // A witness without a word for errors calls them failures.
        let one_word = !truth
            .tests
            .values()
            .any(|status| *status == TestStatus::Error);
        for (id, status) in &truth.tests {
            let have = tests.get(id.as_str());
            let accepted = have.is_some_and(|have| {
                have == status
                    || one_word && have.is_failing() && status.is_failing()
                    || truth.accept.get(id).is_some_and(|more| more.contains(have))
            });
            if !accepted {
                let have = have.map_or("absent", |have| have.as_str());
                wrong.push(format!(
                    "`{id}` is {status} by the {}, and read as {have}",
                    truth.source
                ));
            }
        }
        for (id, status) in &tests {
            if !truth.tests.contains_key(*id) && !truth.accept.contains_key(*id) {
                wrong.push(format!(
                    "`{id}` was read as {status}, and the {} has no such test",
                    truth.source
                ));
            }
        }
        if wrong.is_empty() {
            let what = format!("{} tests as in the {}", truth.tests.len(), truth.source);
            add(CheckKind::Agreement, true, None, what.clone());
            let has =
                |wanted: fn(TestStatus) -> bool| truth.tests.values().any(|status| wanted(*status));
            if has(TestStatus::is_passing) && has(TestStatus::is_failing) {
                add(CheckKind::Outcomes, true, None, what);
            }
        }
        for what in wrong.into_iter().take(20) {
            add(CheckKind::Agreement, false, None, what);
        }
    } else {
        for (kind, passed, line, what) in doubts(case.log, &tests) {
            add(kind, passed, Some(line), what);
        }
    }
    counts(case, read, &mut add);
    if let Some(code) = case.exit_code
        && code != 0
    {
        let whole = read.outcome == RunOutcome::Completed && read.modules_not_loaded.is_empty();
        let silent = whole && !tests.values().any(|status| status.is_failing());
        let what = format!("the command ended with {code}, and no test was read as failed");
        add(CheckKind::ExitCode, !silent, None, what);
    }
}

fn counts(
    case: &CertifyCase<'_>,
    read: &ParsedLog,
    add: &mut impl FnMut(CheckKind, bool, Option<usize>, String),
) {
    let complete = read.outcome == RunOutcome::Completed && read.modules_not_loaded.is_empty();
    if let Some(consistent) = read.consistent {
        // Where the truth is known, it says more than counts do.
        if consistent || complete && case.truth.is_none() {
            let what = format!(
                "{} results, and the log's own counts are {:?}",
                read.results.reports(),
                read.totals.unwrap_or_default()
            );
            add(CheckKind::Totals, consistent, None, what);
        }
        return;
    }
    if case.truth.is_some() {
        return;
    }
    let text = String::from_utf8_lossy(case.log);
    let last = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at, line, counts_of(line)?)))
        .last();
    let Some((at, line, said)) = last else { return };
    if let Some(why) = disagreement(said, read) {
        let what = format!("{why}: {}", line.trim());
        add(CheckKind::Totals, false, Some(at + 1), what);
    } else {
        add(
            CheckKind::Totals,
            true,
            Some(at + 1),
            line.trim().to_owned(),
        );
    }
}

/// How counts that a log seems to hold stand against what was read; only what cannot be a sum over
/// parts is held against it.
pub(super) fn disagreement(said: Counts, read: &ParsedLog) -> Option<String> {
    let count = |wanted: fn(TestStatus) -> bool| {
        read.results
            .iter()
            .filter(|result| wanted(result.status))
            .count() as u64
    };
    let failing = count(TestStatus::is_failing);
    let skipped = count(|status| status == TestStatus::Skipped);
    if said.failed.is_some_and(|failed| failed > 0) && failing == 0 {
        return Some("the log counts failures, and none was read".to_owned());
    }
    if said.skipped.is_some_and(|skips| skips > 0)
        && skipped == 0
        && said
            .passed
            .is_some_and(|passed| passed < count(TestStatus::is_passing))
    {
        return Some("the log counts skipped tests, and they were read as passed".to_owned());
    }
    None
}

/// What is wrong with the reading of a changed log.
fn violated(expect: &Expect, before: &ParsedLog, after: &ParsedLog) -> Option<String> {
    let (was, is) = (before.tests(), after.tests());
    let told = |status: Option<&TestStatus>| status.map_or("absent", |status| status.as_str());
    match expect {
        Expect::Status(id, wanted) => {
            let have = is.get(id.as_str());
            let right =
                have.is_some_and(|have| have == wanted || have.is_failing() && wanted.is_failing());
            (!right).then(|| format!("`{id}` is {} and must be {wanted}", told(have)))
        }
        Expect::Turned(id, wanted) => match is.get(id.as_str()) {
            Some(have) if have == wanted || have.is_failing() && wanted.is_failing() => None,
            None if after.consistent != Some(true) || before.consistent != Some(true) => None,
            have => Some(format!("`{id}` is {} and must be {wanted}", told(have))),
        },
        Expect::NotPassing(id) => {
            let have = is.get(id.as_str());
            let passes = have.is_some_and(|have| have.is_passing());
            passes.then(|| format!("`{id}` is {} and must not pass", told(have)))
        }
        Expect::Absent(id) => {
            let have = is.get(id.as_str());
            have.map(|have| format!("`{id}` is still {have}"))
        }
        Expect::Missed(id) => {
            let unseen = was.contains_key(id.as_str())
                && !is.contains_key(id.as_str())
                && before.consistent == Some(true)
                && after.consistent == Some(true);
            unseen.then(|| format!("`{id}` is missing, and the counts are said to agree"))
        }
        Expect::Same => {
            let ids = was.keys().chain(is.keys());
            let mut differing = ids.filter(|id| was.get(*id) != is.get(*id));
            differing.next().map(|id| {
                format!(
                    "`{id}` was {} and is {}",
                    told(was.get(id)),
                    told(is.get(id))
                )
            })
        }
        Expect::NothingInvented => is.iter().find_map(|(id, status)| match was.get(id) {
            None => Some(format!("`{id}` is {status} and is no test")),
            Some(known) if status < known => Some(format!("`{id}` was {known} and is {status}")),
            Some(_) => None,
        }),
        Expect::NothingLost => was.iter().find_map(|(id, known)| match is.get(id) {
            None => Some(format!("`{id}` is lost")),
            Some(status) if status > known => Some(format!("`{id}` was {known} and is {status}")),
            Some(_) => None,
        }),
        Expect::Prefix => {
            // The line that is cut may name a test that nobody knows. And what only the end of a
            // run refutes, a printed line in the form of a result, stands in a log without it: who
            // is told that the log is cut does not believe it.
            let foreign = is.keys().filter(|id| !was.contains_key(*id)).nth(1);
            let believed =
                after.outcome == RunOutcome::Completed && after.consistent != Some(false);
            foreign
                .filter(|_| believed)
                .map(|id| format!("`{id}` and others are no tests of the whole log"))
        }
        Expect::CutSeen => {
            let lost = was.keys().filter(|id| !is.contains_key(*id)).count();
            let whole = after.outcome == RunOutcome::Completed && after.consistent != Some(false);
            (lost > 0 && whole)
                .then(|| format!("{lost} tests are missing, and the run is called complete"))
        }
    }
}
