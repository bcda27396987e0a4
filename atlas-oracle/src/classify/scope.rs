//! What a state did not run: a program that died or was not built is one program, however many tests
//! it holds, and what it took along is no failure of its own.

use super::{ClassifyInput, Statuses, failures};
use atlas_core::{
    Evidence, FilePatch, LostReason, ParsedLog, Patch, RunOutcome, TestResult, TestStatus, one_line,
};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// So many characters of a source's line are shown within a sentence.
const SHOWN: usize = 90;

/// Tests of which a state says nothing, though others do.
#[derive(Debug, Default)]
pub(super) struct Unrun<'a> {
    /// Pass in Base and in After, and Before says nothing of them: it did not run them.
    pub(super) lost: BTreeSet<&'a str>,
    /// Pass in After and are in no other log, because their program ran in neither: the output cannot
    /// tell whether they are new, and their source does not say so.
    pub(super) unknown: BTreeSet<&'a str>,
    /// Programs that pass in Base and fail in After, each with the number of its tests that pass in Base
    /// and are missing in After.
    pub(super) dead_in_after: Vec<(&'a str, usize)>,
}

impl<'a> Unrun<'a> {
    pub(super) fn of(
        input: &ClassifyInput<'a>,
        base: &Statuses<'a>,
        before: &Statuses<'a>,
        after: &Statuses<'a>,
    ) -> Self {
        let passes = |map: &Statuses<'_>, id: &str| map.get(id).is_some_and(|s| s.is_passing());
        let fails = |map: &Statuses<'_>, id: &str| map.get(id).is_some_and(|s| s.is_failing());
        let unbuilt: BTreeSet<&str> = not_run(input.base).collect();
        let mut found = Self::default();
        for test in &input.after.results {
            let id = test.name;
            if !passes(after, id) || before.contains_key(id) {
                continue;
            }
            if passes(base, id) {
                found.lost.insert(id);
            } else if !base.contains_key(id) {
                let ran_never = unbuilt.contains(test.module)
                    || program(id, base)
                        .is_some_and(|program| fails(base, program) && fails(before, program));
                let mut modified = input.modified_tests.iter();
                if ran_never && !modified.any(|name| failures::is_test_named(id, name)) {
                    found.unknown.insert(id);
                }
            }
        }
        let missing = base
            .iter()
            .filter(|(id, status)| status.is_passing() && !after.contains_key(*id));
        for (id, _) in missing {
            let Some(program) = program(id, base) else {
                continue;
            };
            if !passes(base, program) || !fails(after, program) {
                continue;
            }
            match found.dead_in_after.last_mut() {
                Some((name, count)) if *name == program => *count += 1,
                _ => found.dead_in_after.push((program, 1)),
            }
        }
        found
    }
}

/// Why Before tells no test from another: none came further there than its set-up, though some pass in Base, and the test
/// patch changes what sets up all of them, a `conftest.py`.
pub(super) fn none_set_up(
    input: &ClassifyInput<'_>,
    base: &Statuses<'_>,
    before: &Statuses<'_>,
) -> Option<String> {
    let mut ran = before
        .values()
        .filter(|status| **status != TestStatus::Skipped)
        .peekable();
    ran.peek()?;
    if ran.any(|status| *status != TestStatus::Error)
        || !base.values().any(|status| status.is_passing())
    {
        return None;
    }
    let files = input.test_patch.and_then(|patch| patch.files().ok())?;
    let mut paths = files.iter().map(FilePatch::path);
    let shared = paths.find(|path| path.rsplit('/').next() == Some("conftest.py"))?;
    Some(format!(
        "no test comes further in Before than its set-up, and the test patch changes what sets up all of them \
         (`{shared}`): which are about the pull request cannot be told"
    ))
}

/// The test program that a test is inside of, where the log knows it as a test, too.
fn program<'a>(id: &str, known: &Statuses<'a>) -> Option<&'a str> {
    id.rmatch_indices("::")
        .find_map(|(at, _)| known.get_key_value(&id[..at]))
        .map(|(name, _)| *name)
}

/// Modules that a log names as not run and of which it has no result.
fn not_run(log: &ParsedLog) -> impl Iterator<Item = &str> {
    let ran: BTreeSet<&str> = log
        .results
        .iter()
        .filter(|test| test.name != test.module)
        .map(|test| test.module)
        .collect();
    log.modules_not_loaded
        .iter()
        .map(|lost| lost.module.as_str())
        .filter(move |module| !module.is_empty() && !ran.contains(module))
}

/// Test programs that pass in Base and After and that Before did not build, where all that did not compile there are
/// objects of files which the test patch changes. Logs that name programs alone tell nothing nearer, and each of these
/// programs holds a changed file. Nothing where the log names tests within, or fewer objects than programs: then
/// something else was left out with them.
pub(super) fn unbuilt_programs<'a>(
    input: &ClassifyInput<'a>,
    unrun: &Unrun<'a>,
    after: &Statuses<'a>,
) -> BTreeSet<&'a str> {
    static OBJECT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|/)([^/]+)\.(?:dir|p)/(?:.*__)?([^/]+(?:/[^/]+)*)\.o(?:bj)?$")
            .expect("a literal pattern")
    });
    let files: Vec<FilePatch> = input
        .test_patch
        .and_then(|patch| patch.files().ok())
        .unwrap_or_default();
    let is_changed = |source: &str| {
        let mut paths = files.iter().map(FilePatch::path);
        paths.any(|path| {
            let rest = path.strip_suffix(source);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })
    };
    let mut targets = BTreeSet::new();
    for lost in &input.before.modules_not_loaded {
        match OBJECT.captures(&lost.module) {
            Some(parts) if is_changed(&parts[2]) => targets.insert(parts[1].to_owned()),
            _ => return BTreeSet::new(),
        };
    }
    let lost: BTreeSet<&str> = unrun.lost.union(&unrun.unknown).copied().collect();
    let has_within = |id: &&str| {
        let inside = format!("{id}::");
        let next = after.range(inside.as_str()..).next();
        id.contains("::") || next.is_some_and(|(next, _)| next.starts_with(&inside))
    };
    if lost.len() > targets.len() || lost.iter().any(has_within) {
        return BTreeSet::new();
    }
    lost
}

/// Whether a run came to no good end, in whole or in a program of it.
pub(super) fn died(log: &ParsedLog) -> bool {
    let ended = matches!(
        log.outcome,
        RunOutcome::Crashed | RunOutcome::TimedOut | RunOutcome::Truncated
    );
    ended
        || log
            .modules_not_loaded
            .iter()
            .any(|lost| matches!(lost.reason, LostReason::Crashed | LostReason::TimedOut))
}

/// Why an environment says nothing of the pull request whatever passes in it: more tests fail in After as they do in
/// Base than pass. Code that catches its own import errors loads without what it needs, and then each of its tests fails
/// by itself; a test that happens to pass is then one of those that the pull request is about. Where each changed test
/// runs in After and passes, what the pull request is about did run, whatever else the environment lacks.
pub(super) fn hardly_run(
    input: &ClassifyInput<'_>,
    base: &Statuses<'_>,
    after: &Statuses<'_>,
) -> Option<String> {
    let mut changed = after
        .iter()
        .filter(|(id, _)| is_modified(input, id))
        .peekable();
    if changed.peek().is_some() && changed.all(|(_, status)| status.is_passing()) {
        return None;
    }
    let is_failing = |id: &str| base.get(id).is_some_and(|status| status.is_failing());
    let passing = after.values().filter(|status| status.is_passing()).count();
    let failing = after.iter().filter(|(_, status)| status.is_failing());
    let as_in_base = failing.filter(|(id, _)| is_failing(id)).count();
    (as_in_base > passing).then(|| {
        format!(
            "{as_in_base} tests fail in After as they do in Base and {passing} pass: the environment lacks what they need, and \
             what the pull request changes was hardly run"
        )
    })
}

/// Why an environment in which no test defines the task says nothing of the pull request: each test that it adds runs
/// in After and fails.
pub(super) fn adds_failing_tests(base: &Statuses<'_>, after: &Statuses<'_>) -> Option<String> {
    let mut new = after.iter().filter(|(id, _)| !base.contains_key(*id));
    let first = new.next().filter(|(_, status)| status.is_failing())?.0;
    let mut others = 0;
    for (_, status) in new {
        if !status.is_failing() {
            return None;
        }
        others += 1;
    }
    let all = match others {
        0 => "which the pull request adds, fails in After: where it was merged it".to_owned(),
        _ => format!(
            "and {others} more that the pull request adds fail in After: where it was merged they"
        ),
    };
    Some(format!(
        "`{first}`, {all} passed, so this environment lacks what is needed"
    ))
}

/// Whether the test patch changes the source of this test.
fn is_modified(input: &ClassifyInput<'_>, name: &str) -> bool {
    let mut known = input.modified_tests.iter();
    known.any(|test| super::failures::is_test_named(name, test))
}

/// Why a changed test that fails in After is no ground to reject.
fn fails_too(input: &ClassifyInput<'_>, test: &str) -> String {
    let mut before = input.before.results.iter();
    let before = before
        .find(|result| result.name == test)
        .map(|result| result.status);
    let passed = before.is_some_and(TestStatus::is_passing);
    let how = match before {
        Some(_) if passed => "passes in Before and fails in After",
        Some(status) if status.is_failing() => "fails in After, too",
        _ => "fails in After",
    };
    let why = match input.after.outcome {
        RunOutcome::TimedOut => "the run of After ran out of its time",
        RunOutcome::Crashed | RunOutcome::Truncated => "the run of After ended before it was done",
        _ if passed => "it passes by chance, or what it newly needs is not here",
        _ => "what it needs is not here, or the test is wrong itself",
    };
    format!("`{test}`, which the test patch changes, {how}: {why}")
}

/// Why nothing is known of changed tests that the source does not name: among the failing ones they may be, where these
/// are a tenth of all and more.
fn unnamed_may_fail(input: &ClassifyInput<'_>) -> Option<String> {
    if !input.modified_tests.is_empty() || input.test_patch.is_none_or(Patch::is_empty) {
        return None;
    }
    let after = input.after.tests();
    let failing = after.values().filter(|status| status.is_failing()).count();
    (failing > 0 && failing * 10 >= after.len()).then(|| {
        format!(
            "{failing} of {} tests fail in After, and which tests the test patch changes is not known: they may be among \
             these",
            after.len()
        )
    })
}

/// A changed test that After skips or does not run at all, and the line of its source that says when it runs.
pub(super) fn kept_out<'a>(
    input: &ClassifyInput<'a>,
) -> Option<(&'a str, &'static str, &'a Evidence)> {
    input.conditions.iter().find_map(|(name, why)| {
        let results = input.after.results.iter();
        let own = results.filter(|test| failures::is_test_named(test.name, name));
        let own: Vec<TestStatus> = own.map(|test| test.status).collect();
        let word = match own.as_slice() {
            [] => "not run",
            all if all.iter().all(|status| *status == TestStatus::Skipped) => "skipped",
            _ => return None,
        };
        Some((name.as_str(), word, why))
    })
}

/// That a test runs under the condition of this line.
pub(super) fn under_condition(why: &Evidence) -> String {
    let place = why.line.map_or_else(String::new, |line| format!(":{line}"));
    let text = one_line(&why.text, SHOWN);
    format!("it runs under a condition, {}{place}: `{text}`", why.source)
}

/// Why a pull request without `FAIL_TO_PASS` is not decided: what did not run may hold it.
pub(super) fn undecided(input: &ClassifyInput<'_>, unrun: &Unrun<'_>) -> Option<String> {
    if let Some((program, _)) = unrun.dead_in_after.first() {
        let tests: usize = unrun.dead_in_after.iter().map(|(_, count)| count).sum();
        return Some(format!(
            "`{program}` passes in Base and does not come to its end in After: {tests} tests that pass in \
             Base were not run there, and no test that ran fails in Before and passes in After"
        ));
    }
    let changed = || {
        let results = input.after.results.iter();
        results.filter(|test| is_modified(input, test.name))
    };
    // What no changed test says is said before what others lack.
    if let Some(first) = changed().next() {
        if changed().all(|test| test.status == TestStatus::Skipped) {
            let why = kept_out(input).map_or_else(
                || "it is for another system, or asks for something that is not here".to_owned(),
                |(_, _, why)| under_condition(why),
            );
            return Some(format!(
                "`{}`, which the test patch changes, is skipped in After: {why}",
                first.name
            ));
        }
        if changed().all(|test| test.status.is_failing()) {
            return Some(fails_too(input, first.name));
        }
    }
    if !unrun.lost.is_empty() || !unrun.unknown.is_empty() {
        return Some(format!(
            "{} tests that pass in After were not run in Before, because their program died or was not \
             built there, and neither output nor source tells one that the pull request is about",
            unrun.lost.len() + unrun.unknown.len()
        ));
    }
    // Some logs name the files of tests alone.
    let files: Vec<FilePatch> = input
        .test_patch
        .and_then(|patch| patch.files().ok())
        .unwrap_or_default();
    let is_file = |test: &str| files.iter().any(|file| file.path() == test);
    let seen = |test: &str| is_modified(input, test) || is_file(test);
    if let Some(first) = input.modified_tests.first()
        && !input.after.results.iter().any(|test| seen(test.name))
    {
        let why = kept_out(input).map_or_else(
            || "a build tag, a feature or the choice of what is run leaves them out".to_owned(),
            |(_, _, why)| under_condition(why),
        );
        return Some(format!(
            "no test that the test patch changes is seen to run in After, as `{first}`: {why}"
        ));
    }
    // A merged pull request's own tests pass where it was merged.
    let failing = |test: &TestResult<'_>| test.status.is_failing() && seen(test.name);
    if let Some(test) = input.after.results.iter().find(failing) {
        return Some(fails_too(input, test.name));
    }
    if let Some(reason) = unnamed_may_fail(input) {
        return Some(reason);
    }
    let sound = !died(input.base);
    if !sound && died(input.after) && input.modified_tests.is_empty() {
        return Some(format!(
            "the run of After did not come to its end ({:?}), as that of Base, and it is not known which tests \
             the test patch changes",
            input.after.outcome
        ));
    }
    let (state, log) = [("Before", input.before), ("After", input.after)]
        .into_iter()
        .find(|(_, log)| sound && died(log))?;
    let failing = |status: &TestStatus| status.is_failing();
    let named = log
        .tests()
        .values()
        .filter(|status| failing(status))
        .count();
    (named == 0).then(|| {
        format!(
            "{state} did not come to its end as Base did ({:?}), and no test of it is named as failing",
            log.outcome
        )
    })
}
