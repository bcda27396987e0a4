//! Files of tests that no rule knows as such, so that their change went to the solution's side.

use super::{Judged, Means};
use crate::reason;
use atlas_core::{FilePatch, OracleOutcome, ParsedLog, Patch, State, TestResult};
use atlas_oracle::is_style_check;
use std::path::Path;

/// Takes the verdict back where After runs a file of the gold patch as tests; the reason then.
pub(super) fn take_back(means: &Means, judged: &mut Judged) -> Option<String> {
    let after = &judged.first(State::After)?.parsed;
    let decides = [OracleOutcome::RejectNoFailToPass, OracleOutcome::Instance];
    let is_decided = decides.contains(&judged.report.outcome);
    let (gold, checkout) = (&means.task.gold_patch, &means.repository.checkout);
    let (file, test) = is_decided.then(|| misplaced(gold, after, checkout))??;
    judged.report.outcome = OracleOutcome::NoEvidence;
    Some(reason::of_misplaced(&file, &test))
}

/// A file that the gold patch changes and that After's runner names as one of its tests' files, and such a test. Where files
/// may hold tests beside what they test, that is no fault: inline tests of Rust, documentation tests of Python, tests that
/// Vitest finds in sources.
fn misplaced(gold: &Patch, after: &ParsedLog, checkout: &Path) -> Option<(String, String)> {
    const IN_SOURCE: &str = "import.meta.vitest";
    let adds_some = gold.as_text().is_ok_and(|text| text.contains(IN_SOURCE));
    let gold = gold.files().ok()?;
    let is_of = |test: &TestResult<'_>, path: &str| {
        let rest = test.name.strip_prefix(path);
        let named = rest.is_some_and(|rest| rest.starts_with("::") || rest.starts_with(" > "));
        named || test.module == path
    };
    let is_documentation = |test: &TestResult<'_>| {
        let (_, name) = test.name.rsplit_once("::").unwrap_or_default();
        name.split('[').next().unwrap_or(name).contains('.')
    };
    let holds_sources = |path: &str| {
        let text = std::fs::read_to_string(checkout.join(path)).unwrap_or_default();
        let is_rust = Path::new(path).extension().is_some_and(|it| it == "rs");
        is_rust || adds_some || text.contains(IN_SOURCE)
    };
    gold.iter().map(FilePatch::path).find_map(|path| {
        let mut tests = after.results.iter();
        let test = tests.find(|test| {
            is_of(test, path) && !is_documentation(test) && !is_style_check(test.name)
        })?;
        (!holds_sources(path)).then(|| (path.to_owned(), test.name.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::misplaced;
    use atlas_core::{ParsedLogBuilder, Patch, RunOutcome, TestStatus};

    #[test]
    fn a_file_that_runs_as_tests_is_no_source() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sum.ts"), "if (import.meta.vitest) {}\n").unwrap();
        let found = |path: &str, module: &str, name: &str| {
            let mut log = ParsedLogBuilder::new("hand");
            log.record(module, name, name, TestStatus::Passed);
            let patch = Patch::new(format!(
                "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,1 @@\n-old\n+new\n"
            ));
            misplaced(&patch, &log.finish(RunOutcome::Completed), folder.path())
        };
        for (path, module, name, expected) in [
            ("src/cases.ts", "src/cases.ts", "src/cases.ts > adds", true),
            ("src/cases.ts", "src/other.ts", "src/other.ts > adds", false),
            ("pkg/checks.py", "", "pkg/checks.py::test_sum[1.5]", true),
            ("pkg/sums.py", "", "pkg/sums.py::pkg.sums.add", false),
            ("pkg/sums.py", "", "pkg/sums.py::ruff", false),
            ("sum.ts", "sum.ts", "sum.ts > adds", false),
            (
                "src/lib.rs",
                "src/lib.rs",
                "src/lib.rs - add (line 3)",
                false,
            ),
        ] {
            let found = found(path, module, name);
            assert_eq!(found.is_some(), expected, "{name}");
            assert!(found.is_none_or(|(file, test)| file == path && test == name));
        }
    }
}
