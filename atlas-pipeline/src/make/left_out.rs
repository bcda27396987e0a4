//! Runs of the repository's own tests that the plan leaves out.

use super::{Judged, Means};
use atlas_core::{EnvironmentPlan, FilePatch, OracleOutcome, ParsedLog, Patch, State};
use atlas_docker::{ALSO_WITH, LEFT_OUT};

/// Where no test fails without the solution, what was not run, or not read, may be what changes.
pub(super) fn undecided(means: &Means, judged: &mut Judged) {
    let Some(run) = judged.first(State::After) else {
        return;
    };
    if judged.report.outcome != OracleOutcome::RejectNoFailToPass {
        return;
    }
    let few = means.reading.too_few(run);
    let few = few.map(|said| format!("but in After {said}"));
    let (plan, patch) = (&judged.environment.plan, &means.task.test_patch);
    let shared = || shared(&judged.first(State::Before)?.parsed, &run.parsed);
    let said = few
        .or_else(|| left_out(plan, patch, &run.parsed))
        .or_else(shared);
    if let Some(said) = said {
        let report = &mut judged.report;
        report.outcome = OracleOutcome::NoEvidence;
        report.reason = format!("{}; {said}", report.reason);
    }
}

/// What of the repository's own runs of tests the plan does not have and may be what changes: those under other
/// variables, and, where no test of a file that the test patch changes was seen in After, what has no parser.
fn left_out(plan: &EnvironmentPlan, tests: &Patch, after: &ParsedLog) -> Option<String> {
    if let Some(line) = plan.drift.iter().find(|line| line.starts_with(ALSO_WITH)) {
        return Some(format!("but {line}, and this plan does not"));
    }
    let what = plan
        .drift
        .iter()
        .find_map(|line| line.strip_prefix(LEFT_OUT))?;
    let files = tests.files().ok()?;
    let is_seen = |path: &str| {
        after.results.iter().any(|test| {
            let rest = test.name.strip_prefix(path);
            test.module == path
                || rest.is_some_and(|rest| rest.starts_with("::") || rest.starts_with(" > "))
        })
    };
    let none = !files.iter().map(FilePatch::path).any(is_seen);
    none.then(|| {
        format!("but the plan leaves a part of the tests out ({what}), and no test of a file that the test patch changes ran")
    })
}

/// A test that After has and Before has not, under the id of another one: of a module whose classes are named as another's,
/// of a package whose functions are.
fn shared(before: &ParsedLog, after: &ParsedLog) -> Option<String> {
    let had = before.duplicates().ids;
    let rose = |(id, count): &(String, u64)| *count > had.get(id).copied().unwrap_or(1);
    let more: Vec<(String, u64)> = after.duplicates().ids.into_iter().filter(rose).collect();
    let (id, count) = more.first()?;
    let n = more.len();
    Some(format!(
        "but {n} ids name more tests in After than in Before, as `{id}`, which {count} have: what is new cannot be told from others of its name"
    ))
}

#[cfg(test)]
mod tests {
    use super::{left_out, shared};
    use atlas_core::{EnvironmentPlan, ParsedLogBuilder, Patch, RunOutcome, TestStatus};

    #[test]
    fn what_was_left_out_may_be_what_runs_the_changed_files() {
        let patch = Patch::new(
            "diff --git a/test/cases.js b/test/cases.js\n--- a/test/cases.js\n+++ b/test/cases.js\n@@ -1,1 +1,1 @@\n-old\n+new\n",
        );
        let said = |drift: &str, module: &str| {
            let mut log = ParsedLogBuilder::new("hand");
            let name = format!("{module} > adds");
            log.record(module, &name, &name, TestStatus::Passed);
            let plan = EnvironmentPlan {
                drift: vec![drift.to_owned()],
                ..EnvironmentPlan::default()
            };
            left_out(&plan, &patch, &log.finish(RunOutcome::Completed))
        };
        let drift = "left out of the tests: node test/all.js has no parser";
        let reason = said(drift, "test/other.js").unwrap();
        assert!(
            reason.contains("(node test/all.js has no parser)"),
            "{reason}"
        );
        assert_eq!(said(drift, "test/cases.js"), None);
        let drift = "CI runs the tests once more with X_PURE=1";
        assert!(said(drift, "test/cases.js").is_some());
        assert_eq!(said("no lockfile", "test/other.js"), None);
    }
    #[test]
    fn a_new_test_under_the_id_of_another_decides_nothing() {
        let log = |modules: &[&str]| {
            let mut log = ParsedLogBuilder::new("hand");
            for module in modules {
                log.record(
                    module,
                    &format!("{module}/C.adds"),
                    "C.adds",
                    TestStatus::Passed,
                );
            }
            log.finish(RunOutcome::Completed)
        };
        let reason = shared(&log(&["old"]), &log(&["old", "new"])).unwrap();
        assert!(
            reason.contains(
                "1 ids name more tests in After than in Before, as `C.adds`, which 2 have"
            ),
            "{reason}"
        );
        assert_eq!(shared(&log(&["old", "new"]), &log(&["old", "new"])), None);
        assert_eq!(shared(&log(&["old"]), &log(&["old"])), None);
    }
}
