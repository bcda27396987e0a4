//! The trial run: whether the tests of Base can run in what was built.

use crate::repair::NOT_FETCHED;
use crate::tree::Tree;
use async_trait::async_trait;
use atlas_core::{
    Environment, EnvironmentPlan, Error, Evidence, ExitState, LostReason, ParsedLog, RunContext,
    RunOutcome, TestStatus, telling_lines,
};
use regex::Regex;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

/// Runs the tests of Base once in a new environment and reads what they printed.
///
/// # Contract
/// Tests that fail, or that do not run at all, are a [`Trial`]; an engine that died is an [`Error`].
#[async_trait]
pub trait TrialRun: fmt::Debug + Send + Sync {
    /// Runs them.
    ///
    /// # Errors
    /// Whatever is no property of the repository: engine, disk, cancellation.
    async fn run(&self, cx: &RunContext, environment: &Environment) -> Result<Trial, Error>;
}

/// What a trial run showed.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Rebuild and tests, as printed.
    pub log: Vec<u8>,
    /// The same, read by the plan's parser.
    pub parsed: ParsedLog,
    /// How the command ended.
    pub exit: ExitState,
    /// The plan that was run, where it is not the given one: its test command runs a part of the suite. What was
    /// built stays the same.
    pub plan: Option<EnvironmentPlan>,
}

/// Whether a trial run speaks for the environment (paper 001, section 3.2.2, phase 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verification {
    /// Tests run. The notes say what does not, where that is the environment's fault.
    Accepted(Vec<String>),
    /// They do not, for want of something that the environment should have.
    Rejected {
        reason: String,
        evidence: Vec<Evidence>,
    },
}

/// Lines by which a run blames its environment and not the code under test.
static SIGNS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?:ModuleNotFoundError|ImportError):\ No\ module\ named\ '?(?<python>[A-Za-z_]\w*)
        |Cannot\ find\ (?:module|package)\ '(?<node>[@A-Za-z][\w./@-]*)'
        |cannot\ load\ such\ file\ --\ (?<ruby>[a-z][\w/-]*)
        |no\ required\ module\ provides\ package\ \S+
        |error\[E0463\]:\ can't\ find\ crate
        |Could\ not\ find\ or\ load\ main\ class
        |UnsupportedClassVersionError
        |ERR_OSSL_EVP_UNSUPPORTED
        |version\ `GLIBC\w*_[\d.]+'\ not\ found
        |error\ while\ loading\ shared\ libraries
        |internal\ compiler\ error
        |Exec\ format\ error
        |linker\ `\S+`\ not\ found
        |(?:command\ not\ found|:\ not\ found)$
        |No\ space\ left\ on\ device",
    )
    .expect("a literal pattern")
});

/// Lines by which a virtual machine says that its heap is full, not the machine's memory.
static HEAP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"Java heap space$|JavaScript heap out of memory").expect("a literal pattern")
});

/// Lines by which a test shows that it was written for another version of its runner, or for a plugin
/// that is not there: the runner's own interface lacks something, or gave it no arguments.
static RUNNERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?:^\W*|\ message=')\w*Error\ ?:\ Too\ few\ arguments\ to\ function\ \S+::\w+\(\),\ 0\ passed\ in\ \S*/(?i:phpunit)/
        |(?:Class|Interface|Trait|Attribute\ class)\ "?PHPUnit\\\S+\ not\ found
        |Call\ to\ undefined\ method\ \S*(?:PHPUnit\\|Test::(?:assert|expect|create|get|set)\w*\(\))
        |fixture\ '\w+'\ not\ found
        |(?:module\ '?pytest'?|pytest\.\w+|'Pytester'\ object)\ has\ no\ attribute
        |ReferenceError:\ (?:describe|it|test|expect|vi|jest|before|after|beforeEach|afterEach|suite)\ is\ not\ defined
        |TypeError:\ (?:expect|vi|jest|t|test|describe)\.\S+\ is\ not\ a\ function
        |undefined\ method\ \S+\ for\ \S*(?:Minitest|RSpec|Test::Unit|Spec::)
        |NoSuchMethodError:.*\borg[./](?:junit|testng|mockito)\b"#,
    )
    .expect("a literal pattern")
});

/// Whether a line blames the environment; a module of the repository's own is the code's fault.
fn blames(line: &str, tree: &Tree) -> bool {
    let Some(found) = SIGNS.captures(line) else {
        return false;
    };
    let named = |group: &str| found.name(group).map(|name| name.as_str());
    let own = |ends: &[String]| {
        tree.files().any(|path| {
            ends.iter()
                .any(|end| path == end || path.ends_with(&format!("/{end}")))
        })
    };
    if let Some(module) = named("python") {
        return !own(&[format!("{module}.py"), format!("{module}/__init__.py")]);
    }
    if let Some(module) = named("ruby") {
        return !own(&[format!("{module}.rb")]);
    }
    if let Some(module) = named("node") {
        // A package's own name or a path below the root is built or written by the repository.
        return !tree
            .text("package.json")
            .is_some_and(|text| text.contains(&format!("\"name\": \"{module}\"")));
    }
    true
}

/// Reads a trial run. Tests that fail by themselves are accepted; a run is rejected where nothing
/// ran, where no test passes, or where at least half of the test modules are missing and their own
/// lines blame the environment.
pub(crate) fn verify(trial: &Trial, tree: &Tree) -> Verification {
    let text = String::from_utf8_lossy(&trial.log);
    let parsed = &trial.parsed;
    let rejected = |reason: String| Verification::Rejected {
        reason,
        evidence: proof(&text, parsed, tree),
    };
    if parsed.results.is_empty() {
        let how = match trial.exit {
            ExitState::TimedOut => "the time limit ended the tests before one was reported",
            ExitState::OutOfMemory => "the memory limit ended the tests before one was reported",
            ExitState::Exited { .. } => "no test was seen to run",
        };
        return rejected(how.to_owned());
    }
    let mut ran = BTreeSet::new();
    let mut good = 0_usize;
    for result in &parsed.results {
        ran.insert(result.module);
        let passes = matches!(result.status, TestStatus::Passed | TestStatus::Xfail);
        good += usize::from(passes);
    }
    // Some runners do not say where a test stands.
    let ran = match ran.len() {
        1 if ran.contains("") => parsed.results.len(),
        modules => modules,
    };
    if good == 0 {
        return rejected(format!("none of {} tests passes", parsed.results.len()));
    }
    let bad = parsed.results.len() - good;
    let misunderstood = text.lines().filter(|line| RUNNERS.is_match(line)).count();
    if bad * 2 >= parsed.results.len() && misunderstood * 2 >= bad {
        return rejected(format!(
            "{bad} of {} tests die of what their runner is lacking: they are written for another version of it",
            parsed.results.len()
        ));
    }
    if parsed.outcome == RunOutcome::Crashed && text.lines().any(|line| HEAP.is_match(line)) {
        return rejected("the tests die because their runner may use too little memory".to_owned());
    }
    let lost: Vec<_> = parsed
        .modules_not_loaded
        .iter()
        .filter(|lost| {
            matches!(
                lost.reason,
                LostReason::BuildFailed | LostReason::LoadFailed | LostReason::Crashed
            ) && lost.lines.iter().any(|line| blames(&line.text, tree))
        })
        .collect();
    if lost.len() >= ran && !lost.is_empty() {
        return rejected(format!(
            "{} test modules do not load for want of something that the environment lacks",
            lost.len()
        ));
    }
    let mut notes: Vec<String> = lost
        .iter()
        .map(|lost| {
            let line = lost.lines.iter().find(|line| blames(&line.text, tree));
            let why = line.map_or("", |line| line.text.trim());
            format!("`{}` does not load in Base: {why}", lost.module)
        })
        .collect();
    if let Some(line) = text.lines().find(|line| NOT_FETCHED.is_match(line)) {
        notes.push(format!(
            "something is not there and cannot be fetched: {}",
            line.trim()
        ));
    }
    Verification::Accepted(notes)
}

/// The lines that blame the environment, those of lost modules first; without any, those that tell most.
fn proof(text: &str, parsed: &ParsedLog, tree: &Tree) -> Vec<Evidence> {
    const LINES: usize = 12;
    let source = "test log";
    let of_lost = parsed.modules_not_loaded.iter().filter_map(|lost| {
        let line = lost.lines.iter().find(|line| blames(&line.text, tree))?;
        Some((line.line, line.text.trim()))
    });
    let of_log = text
        .lines()
        .enumerate()
        .filter(|(_, line)| blames(line, tree))
        .map(|(at, line)| (Some(at + 1), line.trim()));
    let mut found: Vec<Evidence> = Vec::new();
    for (line, text) in of_lost.chain(of_log) {
        if found.len() == LINES {
            break;
        }
        if found.iter().all(|known| known.text != text) {
            found.push(Evidence {
                source: source.to_owned(),
                line,
                text: text.to_owned(),
            });
        }
    }
    if found.is_empty() {
        return telling_lines(source, text, Some(parsed), LINES);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::ParsedLogBuilder;

    fn run(passed: usize, failed: usize, lost: &[&str]) -> Verification {
        run_with(passed, failed, lost, &lost.join("\n"))
    }

    fn run_with(passed: usize, failed: usize, lost: &[&str], text: &str) -> Verification {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("own.py"), "").unwrap();
        let mut log = ParsedLogBuilder::new("x");
        for at in 0..passed {
            let name = format!("a{at}");
            log.record("m", &name, &name, TestStatus::Passed);
        }
        for at in 0..failed {
            let name = format!("b{at}");
            log.record("m", &name, &name, TestStatus::Failed);
        }
        for (at, line) in lost.iter().enumerate() {
            let module = format!("lost{at}");
            let proof = vec![Evidence::at("log", 1, *line)];
            log.lose(&module, LostReason::LoadFailed, proof);
        }
        let trial = Trial {
            log: text.as_bytes().to_vec(),
            parsed: log.finish(RunOutcome::Completed),
            exit: ExitState::Exited { code: 1 },
            plan: None,
        };
        verify(&trial, &Tree::open(folder.path()).unwrap())
    }

    #[test]
    fn a_run_that_dies_of_a_full_heap_asks_for_more() {
        let folder = tempfile::tempdir().unwrap();
        let of = |outcome| {
            let mut log = ParsedLogBuilder::new("maven");
            log.record("m", "m.a", "m.a", TestStatus::Passed);
            let trial = Trial {
                log: b"[ERROR] Java heap space\n".to_vec(),
                parsed: log.finish(outcome),
                exit: ExitState::Exited { code: 0 },
                plan: None,
            };
            verify(&trial, &Tree::open(folder.path()).unwrap())
        };
        assert!(matches!(
            of(RunOutcome::Crashed),
            Verification::Rejected { .. }
        ));
        // A test may print it, or expect it.
        assert!(matches!(
            of(RunOutcome::Completed),
            Verification::Accepted(_)
        ));
    }

    #[test]
    fn tests_that_fail_by_themselves_are_accepted() {
        assert_eq!(run(1, 3, &[]), Verification::Accepted(Vec::new()));
    }

    #[test]
    fn nothing_that_runs_or_passes_is_the_environments_fault() {
        for (passed, failed) in [(0, 0), (0, 2)] {
            let found = run(passed, failed, &[]);
            assert!(matches!(found, Verification::Rejected { .. }), "{found:?}");
        }
    }

    #[test]
    fn tests_for_another_version_of_the_runner_are_not_accepted() {
        let line = "ArgumentCountError: Too few arguments to function A\\BTest::testC(), 0 passed in /testbed/vendor/phpunit/phpunit/src/Framework/TestCase.php on line 1 and exactly 2 expected";
        let found = run_with(1, 3, &[], &[line; 3].join("\n"));
        assert!(matches!(found, Verification::Rejected { .. }), "{found:?}");
        // As Debian's PHPUnit says it, under the format that is asked of it.
        let line = "##teamcity[testFailed name='testOf' message='ArgumentCountError : Too few arguments to function A\\BTest::testOf(), 0 passed in /usr/share/php/PHPUnit/Framework/TestCase.php on line 1617 and exactly 2 expected' details='|n' flowId='7']";
        let found = run_with(1, 3, &[], &[line; 3].join("\n"));
        assert!(matches!(found, Verification::Rejected { .. }), "{found:?}");
        // A few of many, and failures of the code's own, say nothing.
        for (passed, failed, text) in [
            (9, 1, line),
            (
                1,
                3,
                "Error: Too few arguments to function f(), 0 passed in /testbed/src/f.php",
            ),
        ] {
            assert_eq!(
                run_with(passed, failed, &[], text),
                Verification::Accepted(Vec::new())
            );
        }
    }

    #[test]
    fn missing_modules_reject_unless_they_are_few_or_the_repositorys_own() {
        let foreign = "ModuleNotFoundError: No module named 'requests'";
        let own = "ModuleNotFoundError: No module named 'own'";
        let found = run(2, 0, &[foreign]);
        assert!(matches!(found, Verification::Rejected { .. }), "{found:?}");
        assert_eq!(run(2, 0, &[own]), Verification::Accepted(Vec::new()));
    }
}
