//! Modules that did not build or load in After although the patches change them: then nothing is known
//! of the pull request, whatever other modules say.

use super::failures::{is_test_named, named};
use super::{ClassifyInput, is_module};
use crate::source::is_code;
use atlas_core::{
    BuildFailureClass, Evidence, FilePatch, LostModule, LostReason, ModuleFailure, OracleOutcome,
    ParsedLog, Patch, RunOutcome, State, TestResult, one_line, telling,
};
use std::collections::BTreeSet;

/// So many characters of a log's line are shown within a sentence.
const SHOWN: usize = 90;

/// The verdict on a pull request whose own code was not run.
///
/// A runner names what it could not build or load in its own way: a file, a folder (Go's package), a
/// dotted path, an object file, a program. [`Name::is_of`] compares each with the patches' paths. A module
/// that no patch touches is a remark and no verdict.
///
/// A test file that is broken itself, by its own lines, is none either: no environment would run it, and
/// what the gold patch changes runs without it.
pub(super) fn not_run(
    input: &ClassifyInput<'_>,
    failures: &[ModuleFailure],
) -> Option<(OracleOutcome, String, Vec<Evidence>)> {
    let files = |patch: Option<&Patch>| -> Vec<FilePatch> {
        patch
            .and_then(|patch| patch.files().ok())
            .unwrap_or_default()
    };
    let (gold, tests) = (files(input.gold_patch), files(input.test_patch));
    let broken: Vec<Name<'_>> = input
        .after
        .modules_not_loaded
        .iter()
        .filter(|lost| {
            failures.iter().any(|failure| {
                failure.state == State::After
                    && failure.module == lost.module
                    && failure.class == BuildFailureClass::BrokenTest
            })
        })
        .map(|lost| Name::of(lost, input))
        .collect();
    let ran: BTreeSet<&str> = input
        .after
        .results
        .iter()
        .filter(|test| test.status.is_passing())
        .map(|test| test.module)
        .collect();
    let (lost, path) = input
        .after
        .modules_not_loaded
        .iter()
        .filter(|lost| {
            matches!(
                lost.reason,
                LostReason::BuildFailed | LostReason::LoadFailed
            ) && !ran.contains(lost.module.as_str())
        })
        .find_map(|lost| {
            let name = Name::of(lost, input);
            let tests = tests
                .iter()
                .filter(|file| !broken.iter().any(|name| name.is_of(file.path())));
            let mut paths = gold.iter().chain(tests).map(FilePatch::path);
            let path = paths.find(|path| is_code(path) && name.is_of(path))?;
            Some((lost, path))
        })?;
    let evidence: Vec<Evidence> = lost
        .lines
        .iter()
        .take(12)
        .map(|line| named(line.clone(), State::After))
        .collect();
    // The line that says most, the first of several that say as much.
    let said = evidence
        .iter()
        .rev()
        .max_by_key(|line| telling(&line.text))
        .map_or_else(String::new, |line| {
            format!(" (`{}`)", one_line(&line.text, SHOWN))
        });
    let reason = format!(
        "`{}` does not build or load in After{said}, and the pull request changes `{path}` of it: the code \
         in question was not run, so nothing can be said of it in this environment",
        lost.module
    );
    Some((OracleOutcome::EnvironmentInvalid, reason, evidence))
}

/// The verdict on a pull request whose own tests come after the place where After's run died.
pub(super) fn cut_off(input: &ClassifyInput<'_>) -> Option<(OracleOutcome, String, Vec<Evidence>)> {
    let ended = |log: &ParsedLog| {
        !matches!(
            log.outcome,
            RunOutcome::Crashed | RunOutcome::TimedOut | RunOutcome::Truncated
        )
    };
    if ended(input.after) {
        return None;
    }
    let seen = |modified: &str| {
        let mut results = input.after.results.iter();
        results.any(|test| is_test_named(test.name, modified))
    };
    let mut lost = input.modified_tests.iter().filter(|name| !seen(name));
    let first = lost.next()?;
    let ran = input.after.results.iter().last();
    let place = ran
        .as_ref()
        .map_or_else(String::new, |test| format!(", after `{}`", test.name));
    let rest = match lost.count() {
        0 => "was not run".to_owned(),
        more => format!("and {more} more were not run"),
    };
    let reason = format!(
        "After did not come to its end ({:?}{place}), and `{first}` of the test patch {rest}",
        input.after.outcome
    );
    // A process that dies where Base's lived is the pull request's; one that ran out of its time may have had a busy machine.
    let outcome = if ended(input.base) && input.after.outcome == RunOutcome::Crashed {
        OracleOutcome::RejectAfterBroken
    } else {
        OracleOutcome::EnvironmentInvalid
    };
    let shown = ran.map(|test| {
        let text = format!("the last test that is named: {}", test.name);
        Evidence::of("after.log", text)
    });
    let lines = input.after.modules_not_loaded.iter();
    let lines = lines.flat_map(|lost| lost.lines.iter().take(6).cloned());
    let lines = lines.take(12).map(|line| named(line, State::After));
    Some((outcome, reason, shown.into_iter().chain(lines).collect()))
}

/// Tests that fail in Base by themselves and pass in Before and After, where the test patch changes nothing but
/// test modules that they are not of: nothing of the pull request made them pass in Before.
pub(super) fn by_chance<'a>(input: &ClassifyInput<'a>) -> Vec<&'a str> {
    let files: Vec<FilePatch> = input
        .test_patch
        .and_then(|patch| patch.files().ok())
        .unwrap_or_default();
    let failed = |test: &TestResult<'_>| {
        test.status.is_failing()
            && !test.module.is_empty()
            && !is_module(input.base, test.name)
            && !is_module(input.base, test.module)
    };
    let candidates: Vec<TestResult<'a>> = input.base.results.iter().filter(failed).collect();
    if files.is_empty() || candidates.is_empty() {
        return Vec::new();
    }
    let passes = |log: &ParsedLog, name: &str| {
        let mut of_name = log.results.iter().filter(|test| test.name == name);
        let first = of_name.next();
        first.is_some_and(|test| test.status.is_passing())
            && of_name.all(|test| test.status.is_passing())
    };
    let modules: BTreeSet<&str> = input
        .after
        .results
        .iter()
        .map(|test| test.module)
        .filter(|module| !module.is_empty())
        .collect();
    let names = modules
        .into_iter()
        .map(|module| (module, Name::of_module(module, input)));
    let mut touched = BTreeSet::new();
    let mut known = BTreeSet::new();
    for (module, name) in names {
        for file in files.iter().filter(|file| name.is_of(file.path())) {
            touched.insert(module);
            known.insert(file.path());
        }
    }
    // A helper or data of several tests is of no module.
    if files.iter().any(|file| !known.contains(file.path())) {
        return Vec::new();
    }
    candidates
        .into_iter()
        .filter(|test| !touched.contains(test.module))
        .map(|test| test.name)
        .filter(|name| passes(input.before, name) && passes(input.after, name))
        .collect()
}

/// A lost module's name, made comparable with paths.
struct Name<'a> {
    /// With `/` between its parts, without what a build puts around a source's name.
    text: String,
    is_root: bool,
    lines: &'a [Evidence],
}

impl<'a> Name<'a> {
    fn of(lost: &'a LostModule, input: &ClassifyInput<'_>) -> Self {
        Self {
            lines: &lost.lines,
            ..Self::of_module(&lost.module, input)
        }
    }

    fn of_module(module: &str, input: &ClassifyInput<'_>) -> Self {
        // `example.com/x [example.com/x.test]`; `CMakeFiles/prog.dir/src/a.cpp.o`.
        let first = module.split_whitespace().next().unwrap_or_default();
        let first = first
            .trim_start_matches("./")
            .trim_start_matches("/testbed/");
        let object = [".o", ".obj", ".lo"]
            .iter()
            .find_map(|end| first.strip_suffix(end));
        let name = object.unwrap_or(first);
        let below = format!("{name}/");
        let modules = || {
            let logs = [input.base, input.before, input.after];
            logs.into_iter().flat_map(|log| {
                let lost = log
                    .modules_not_loaded
                    .iter()
                    .map(|lost| lost.module.as_str());
                lost.chain(log.results.iter().map(|test| test.module))
            })
        };
        // A Go module's root package is named like the module.
        let is_root = name.contains('/')
            && name
                .split('/')
                .next()
                .is_some_and(|host| host.contains('.'))
            && modules()
                .all(|other| other.is_empty() || other == module || other.starts_with(&below));
        Self {
            text: name.to_owned(),
            is_root,
            lines: &[],
        }
    }

    /// Whether a file of this path, from the repository's root, is what could not be built or loaded, or
    /// belongs to it.
    fn is_of(&self, path: &str) -> bool {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let bare = |text: &str| {
            text.rsplit_once('.')
                .map_or(text, |(stem, _)| stem)
                .to_owned()
        };
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let name = self.text.as_str();
        if name.is_empty() {
            return false;
        }
        // The file itself, named from the root, from a folder below it, or by an absolute path.
        if ends(name, path) || name.contains('/') && ends(path, name) {
            return true;
        }
        // A Go package is a folder.
        let is_go = path
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ending == "go");
        if is_go && (!folder.is_empty() && ends(name, folder) || folder.is_empty() && self.is_root)
        {
            return true;
        }
        // `tests.test_a`, `org.x.FooTest`, `App\FooTest`, `crate::tests`.
        let dotted = name.replace("::", "/").replace(['.', '\\'], "/");
        let stem = bare(path);
        if dotted.contains('/') && (ends(&stem, &dotted) || ends(&dotted, &stem)) {
            return true;
        }
        // An object file or a program of C and C++ is named for its source.
        let last = name.rsplit('/').next().unwrap_or(name);
        if last == file || (!name.contains('/') && last == bare(file)) {
            return true;
        }
        // Compilers name the place of a complaint.
        self.lines.iter().any(|line| names_place(&line.text, path))
    }
}

/// Whether a line names a place in this very path, and nothing of a longer path: `a.rs:3`, `a.ts(3`,
/// `A.java:[3`, `"a.py", line 3`. A file without a line is only spoken of, and a warning stops nothing.
fn names_place(line: &str, path: &str) -> bool {
    !line.contains(": warning: ")
        && line.match_indices(path).any(|(at, _)| {
            let before = line[..at]
                .trim_end_matches("/testbed/")
                .trim_end_matches("./");
            let after = &line[at + path.len()..];
            let place = after
                .strip_prefix(":[")
                .or_else(|| after.strip_prefix([':', '(']))
                .or_else(|| after.strip_prefix("\", line "));
            !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.'))
                && place.is_some_and(|place| place.starts_with(|c: char| c.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests {
    use super::names_place;

    #[test]
    fn a_complaint_names_its_place_and_a_warning_none() {
        for (line, is) in [
            ("src/a.rs:3:1: error: no such field", true),
            ("/testbed/src/a.rs:3: no such field", true),
            ("other/src/a.rs:3: no such field", false),
            ("src/a.rs was read", false),
            (
                "/testbed/src/a.rs:510: warning: assigned but unused variable - doc",
                false,
            ),
        ] {
            assert_eq!(names_place(line, "src/a.rs"), is, "{line}");
        }
    }
}
