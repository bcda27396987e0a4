//! A part of the suite for good: the tests that a pull request touches, or those beside them.

mod operands;
mod scoping;
mod touched;

pub(super) use scoping::{Operands, Reach, Scoping, by_operands};
pub(crate) use touched::Touched;

use super::known::RUNNERS;
use super::{Edited, edit};
use atlas_core::{EnvironmentPlan, Evidence, TestScope, TestScopeLevel};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use touched::may_hold_tests;

/// The table entry for a plan: which files its test command can be limited to, and how.
fn known(plan: &EnvironmentPlan) -> Option<&'static Scoping> {
    let mut all = RUNNERS.iter().flat_map(|runner| runner.scopings);
    all.find(|scoping| scoping.is_of(plan))
}

/// The plan with that part of its suite alone; the reason where that cannot be done.
pub(crate) fn scoped(
    plan: &EnvironmentPlan,
    touched: &Touched,
    level: TestScopeLevel,
) -> Result<EnvironmentPlan, String> {
    let parser = plan.log_parser_name.as_str();
    let Some(known) = known(plan) else {
        return Err(format!(
            "no way is known to run a part of the tests of `{parser}`"
        ));
    };
    let files = files(known, touched, level);
    if !files.iter().any(|path| touched.exists(path)) {
        return Err("no test file that the pull request touches, or that stands beside one, is there in Base".to_owned());
    }
    let Some(runs) = runs(&plan.test_cmd).filter(|_| is_by_path(known)) else {
        let (edited, places) = part(plan, known, touched, level, &files)?;
        return Ok(noted(plan, edited, places, level));
    };
    let mut all = BTreeSet::new();
    let (mut kept, mut env) = (Vec::new(), BTreeMap::new());
    for run in &runs {
        let own = |path: &&String| owner(&runs, path) == Some(*run);
        let mut inside: BTreeSet<String> = files.iter().filter(own).cloned().collect();
        if inside.is_empty() {
            continue;
        }
        if known.reach == Reach::File && !inside.iter().any(|path| touched.runs_in_base(path)) {
            let beside = inside.iter().flat_map(|path| touched.beside(path));
            let beside: Vec<String> = beside
                .filter(|path| known.is_test(path) && may_hold_tests(path))
                .collect();
            inside.extend(beside.into_iter().filter(|path| own(&path)));
        }
        let one = EnvironmentPlan {
            test_cmd: (*run).to_owned(),
            ..plan.clone()
        };
        let (edited, places) = part(&one, known, touched, level, &inside)?;
        let place = |place: String| match folder(run) {
            Some(folder) => format!("{folder}/{}", place.trim_start_matches("./")),
            None => place,
        };
        all.extend(places.into_iter().map(place));
        kept.push(edited.test_cmd);
        env.extend(edited.env);
    }
    let test_cmd = match kept.as_slice() {
        [] => return Err("no suite of the command holds what the pull request touches".to_owned()),
        [only] => only.clone(),
        several => format!("{FIRST}{}{LAST}", several.join(BETWEEN)),
    };
    let edited = Edited {
        env,
        test_cmd,
        ..Edited::default()
    };
    Ok(noted(plan, edited, all, level))
}

/// How a command runs suites of several folders, one after the other.
const FIRST: &str = "( failed=0; ( ";
const BETWEEN: &str = " ) || failed=1; ( ";
const LAST: &str = " ) || failed=1; exit $failed )";

/// The runs of a command that has several.
fn runs(command: &str) -> Option<Vec<&str>> {
    let inner = command.strip_prefix(FIRST)?.strip_suffix(LAST)?;
    let runs: Vec<&str> = inner.split(BETWEEN).collect();
    let are_simple = runs.iter().all(|run| !run.contains("failed="));
    (runs.len() > 1 && are_simple).then_some(runs)
}

/// The run whose folder is nearest to a file.
fn owner<'a>(runs: &[&'a str], path: &str) -> Option<&'a str> {
    let depth = |run: &&str| match folder(run) {
        Some(folder) => path
            .starts_with(&format!("{folder}/"))
            .then_some(folder.len()),
        None => Some(0),
    };
    let found = runs.iter().filter_map(|run| Some((depth(run)?, *run)));
    found.max_by_key(|(depth, _)| *depth).map(|(_, run)| run)
}

/// Whether places are named from the folder of the command. Jest's pattern matches whole paths; classes and modules
/// have no folder.
fn is_by_path(known: &Scoping) -> bool {
    known
        .ends
        .iter()
        .filter_map(|end| (known.place)(&format!("a/b/x{end}")))
        .any(|place| place.contains("a/b"))
        && !known.parsers.contains(&"jest")
        && !known.is_from_root()
}

/// What changes in a plan so that its command runs the tests of these files alone, and the files, folders or classes that the
/// command then names.
fn part(
    plan: &EnvironmentPlan,
    known: &Scoping,
    touched: &Touched,
    level: TestScopeLevel,
    files: &BTreeSet<String>,
) -> Result<(Edited, BTreeSet<String>), String> {
    /// Most places; more are no part any more.
    const MOST: usize = 200;
    let folder = folder(&plan.test_cmd).filter(|_| !known.is_from_root());
    let goes = plan.test_cmd.matches("cd ").count();
    if is_by_path(known) && goes > usize::from(folder.is_some()) {
        return Err("the command runs suites of several folders".to_owned());
    }
    let mut paths = BTreeSet::new();
    for path in files {
        let path = match &folder {
            Some(folder) => match path.strip_prefix(&format!("{folder}/")) {
                Some(path) => path,
                None => continue,
            },
            None => path,
        };
        let is_simple = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
        if path.starts_with('-') || !path.chars().all(is_simple) {
            return Err(format!("`{path}`: such a name has no place in a command"));
        }
        paths.insert(path.to_owned());
    }
    let root = folder.map_or_else(
        || touched.checkout.clone(),
        |folder| touched.checkout.join(folder),
    );
    let narrow = EnvironmentPlan {
        test_cmd: match known.operands {
            Operands::Kept => plan.test_cmd.clone(),
            Operands::Existing => operands::without_existing(&plan.test_cmd, &root),
            Operands::Replaced(values) => {
                operands::replaced(&plan.test_cmd, values, &root, &mut paths)?
            }
        },
        ..plan.clone()
    };
    let places: BTreeSet<String> = paths
        .iter()
        .filter_map(|path| match known.reach {
            Reach::Manifest(name) if level == TestScopeLevel::Package => touched.holder(path, name),
            _ => (known.place)(path),
        })
        .collect();
    if places.is_empty() || places.len() > MOST {
        return Err(format!("{} places are no part of a suite", places.len()));
    }
    let edited = edit(&narrow, known.edits, &known.spelling.write(&places)).ok_or_else(|| {
        format!(
            "the test command has no place for a selection: `{}`",
            plan.test_cmd
        )
    })?;
    Ok((edited, places))
}

/// The plan with that run, and what is said of it.
fn noted(
    plan: &EnvironmentPlan,
    edited: Edited,
    places: BTreeSet<String>,
    level: TestScopeLevel,
) -> EnvironmentPlan {
    let mut plan = plan.clone();
    plan.test_cmd = edited.test_cmd;
    plan.env.extend(edited.env);
    let places: Vec<String> = places.into_iter().collect();
    let text = format!("{level} scope: {}", places.join(", "));
    plan.prove("test_cmd", Evidence::of("the pull request", text));
    plan.test_scope = Some(TestScope {
        level,
        places,
        reason: String::new(),
        risk: "PASS_TO_PASS outside of these places is not known: what a solution breaks there is not seen".to_owned(),
    });
    plan
}

/// The files that a level comes down to.
fn files(known: &Scoping, touched: &Touched, level: TestScopeLevel) -> BTreeSet<String> {
    let is_test = |path: &&String| known.is_test(path);
    let mut files: BTreeSet<String> = touched.tests.iter().filter(is_test).cloned().collect();
    let is_package = level == TestScopeLevel::Package;
    let by_package = match known.reach {
        Reach::Package => true,
        Reach::Manifest(_) => is_package,
        Reach::File | Reach::FromRoot => false,
    };
    if by_package && is_package {
        files.extend(touched.sources.iter().filter(is_test).cloned());
    }
    if !by_package && (is_package || !files.iter().any(|path| touched.runs_in_base(path))) {
        let beside = touched.tests.iter().flat_map(|path| touched.beside(path));
        files.extend(beside.filter(|path| is_test(&path) && may_hold_tests(path)));
    }
    files
}

/// Whether a part is most of a suite, so that it takes about as long as all of it.
pub(crate) fn is_most(part: &EnvironmentPlan, touched: &Touched) -> bool {
    let known = known(part);
    let (Some(known), Some(scope)) = (known, &part.test_scope) else {
        return false;
    };
    let mut all = BTreeSet::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(touched.checkout.join(&folder));
        for entry in entries.into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let path = folder.join(&name);
            if is_folder
                && !name.starts_with('.')
                && !["node_modules", "vendor"].contains(&name.as_str())
            {
                open.push(path);
            } else if !is_folder && known.ends.iter().any(|end| name.ends_with(end)) {
                let lower = name.to_ascii_lowercase();
                // Some kinds of files are nothing but tests.
                let is_test = [".t", ".bats"].iter().any(|end| lower.ends_with(end));
                if is_test || lower.contains("test") || lower.contains("spec") {
                    all.extend(path.to_str().and_then(known.place));
                }
            }
        }
    }
    scope.places.len() * 2 > all.len()
}

/// The folder that a command goes to before anything else.
fn folder(command: &str) -> Option<String> {
    let found = Regex::new(r"^(?:cd ([\w./-]+) && |\( cd ([\w./-]+) \|\| exit 1; )").ok()?;
    let found = found.captures(command)?;
    Some(found.get(1).or_else(|| found.get(2))?.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Touched, is_most, scoped};
    use atlas_core::{EnvironmentPlan, TestScopeLevel};
    use atlas_source::{Side, SplitDecision};

    fn touched(
        folder: &std::path::Path,
        files: &[&str],
        tests: &[&str],
        sources: &[&str],
    ) -> Touched {
        for path in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let of = |side: Side, paths: &[&str]| -> Vec<SplitDecision> {
            let decision = |path: &&str| SplitDecision {
                path: (*path).to_owned(),
                side,
                rule: String::new(),
                evidence: String::new(),
            };
            paths.iter().map(decision).collect()
        };
        let decisions = [of(Side::Test, tests), of(Side::Gold, sources)].concat();
        Touched::new(folder, &decisions)
    }

    /// `HikariCP`: a new class of tests, and a class that it uses changes; in Base nothing would run.
    #[test]
    fn a_helper_that_is_there_is_no_test_that_runs_in_base() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            "t/x/ATest.java",
            "t/x/Stub.java",
            "p/test_a.py",
            "p/conftest.py",
        ];
        for (parser, command, tests, wanted) in [
            (
                "maven",
                "mvn test",
                ["t/x/NewTest.java", "t/x/Stub.java"],
                ["ATest", "NewTest", "Stub"].as_slice(),
            ),
            (
                "pytest",
                "python -m pytest --junitxml=\"$ATLAS_OUT/junit.xml\"",
                ["p/test_new.py", "p/conftest.py"],
                &["p/test_a.py", "p/test_new.py"],
            ),
        ] {
            let touched = touched(folder.path(), &files, &tests, &[]);
            let plan = EnvironmentPlan {
                log_parser_name: parser.to_owned(),
                test_cmd: command.to_owned(),
                env: [("MAVEN_CHECKS_OFF".to_owned(), String::new())].into(),
                ..EnvironmentPlan::default()
            };
            let made = scoped(&plan, &touched, TestScopeLevel::Touched).unwrap();
            assert_eq!(made.test_scope.unwrap().places, wanted, "{parser}");
        }
    }

    const SEVERAL: &str = "( failed=0; ( cd libs/a && pytest --junitxml=\"$ATLAS_OUT/junit.xml\" tests ) || failed=1; ( cd libs/b && pytest --junitxml=\"$ATLAS_OUT/junit.xml\" ) || failed=1; exit $failed )";

    /// Command, parser, what the pull request touches, what the command is at both levels.
    #[test]
    fn a_part_by_runner_at_both_levels() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            "tests/test_a.py",
            "tests/test_b.py",
            "tests/conftest.py",
            "tests/deep/test_c.py",
            "pkg/a/a.go",
            "pkg/a/a_test.go",
            "pkg/b/b.go",
            "src/x.test.ts",
            "src/y.test.ts",
            "src/x.ts",
            "spec/a_spec.rb",
            "test/a_test.rb",
            "t/ATest.php",
            "t/BTest.php",
            "j/src/test/java/x/CalcTest.java",
            "r/a/Cargo.toml",
            "r/a/src/lib.rs",
            "r/a/tests/it.rs",
            "c/test_a.c",
            "c/test_b.c",
            "m/a.spec.js",
            "m/b.spec.js",
            "t/basic.t",
            "t/deep.t",
            "cli/run.bats",
            "cli/stop.bats",
            "libs/a/tests/test_a.py",
            "libs/b/tests/test_b.py",
            "libs/b/tests/test_c.py",
        ];
        let python =
            "python -m pytest -rA -p no:cacheprovider --junitxml=\"$ATLAS_OUT/junit.xml\" tests";
        for (parser, command, tests, sources, by_touch, by_package) in [
            (
                "pytest",
                python,
                &["tests/test_a.py", "tests/conftest.py", "tests/data.json"][..],
                &["x.py"][..],
                "--junitxml=\"$ATLAS_OUT/junit.xml\" $(ls -d -- tests/test_a.py 2>/dev/null)",
                "--junitxml=\"$ATLAS_OUT/junit.xml\" $(ls -d -- tests/test_a.py tests/test_b.py 2>/dev/null)",
            ),
            // A new file alone leaves Base without a test: what stands beside it comes along.
            (
                "pytest",
                python,
                &["tests/test_new.py"],
                &[],
                "$(ls -d -- tests/test_a.py tests/test_b.py tests/test_new.py 2>/dev/null)",
                "$(ls -d -- tests/test_a.py tests/test_b.py tests/test_new.py 2>/dev/null)",
            ),
            (
                "gotest",
                "go test -count=1 -v ./...",
                &["pkg/a/a_test.go"],
                &["pkg/b/b.go"],
                "go test -count=1 -v ./pkg/a",
                "go test -count=1 -v ./pkg/a ./pkg/b",
            ),
            (
                "vitest",
                "vitest run --reporter=verbose",
                &["src/x.test.ts"],
                &[],
                "vitest run src/x.test.ts --reporter=verbose",
                "vitest run src/x.test.ts src/y.test.ts --reporter=verbose",
            ),
            (
                "jest",
                "jest --ci",
                &["src/x.test.ts"],
                &[],
                "jest --testPathIgnorePatterns='^(?!.*/(?:src/x\\.test\\.ts)$).*$' --ci",
                "(?:src/x\\.test\\.ts|src/y\\.test\\.ts)",
            ),
            (
                "minitest",
                "bundle exec ruby -I lib \"$ATLAS_ENV/toolbox/load.rb\" 'test/**/*_test.rb' -- -v",
                &["test/a_test.rb"],
                &[],
                "load.rb\" test/a_test.rb -- -v",
                "load.rb\" test/a_test.rb -- -v",
            ),
            // Files that a helper looks up are named from the root, whatever folders the command goes to.
            (
                "cargo",
                "( failed=0; ( cd r && bash \"$ATLAS_ENV/toolbox/cargo-test-each\" --workspace ) || failed=1; ( cd s && bash \"$ATLAS_ENV/toolbox/cargo-test-each\" ) || failed=1; exit $failed )",
                &["r/a/tests/it.rs", "r/a/tests/data.json"],
                &["r/a/src/lib.rs"],
                "r/a/tests/it.rs",
                "r/a",
            ),
            (
                "ctest+gtest",
                "bash \"$ATLAS_ENV/toolbox/ctest.sh\" split c -DX=ON",
                &["c/test_a.c"],
                &["c/x.c"],
                "c/test_a.c",
                "c/test_a.c c/test_b.c",
            ),
            (
                "automake",
                "bash \"$ATLAS_ENV/toolbox/make.sh\" automake . check",
                &["c/test_a.c"],
                &[],
                "c/test_a.c",
                "c/test_a.c c/test_b.c",
            ),
            (
                "mocha",
                "cd m && mocha '*.spec.js' --reporter spec",
                &["m/a.spec.js"],
                &[],
                "cd m && mocha --reporter spec $(ls -d -- a.spec.js 2>/dev/null)",
                "cd m && mocha --reporter spec $(ls -d -- a.spec.js b.spec.js 2>/dev/null)",
            ),
            (
                "vitest",
                "( cd src || exit 1; vitest run --reporter=verbose )",
                &["src/x.test.ts"],
                &[],
                "vitest run x.test.ts --reporter=verbose )",
                "vitest run x.test.ts y.test.ts --reporter=verbose )",
            ),
            (
                "nodetest",
                "node --test --test-reporter=spec",
                &["m/a.spec.js"],
                &[],
                "node --test --test-reporter=spec $(ls -d -- m/a.spec.js 2>/dev/null)",
                "$(ls -d -- m/a.spec.js m/b.spec.js 2>/dev/null)",
            ),
            (
                "ava",
                "export PATH=\"$PWD/node_modules/.bin:$PATH\"; ava --tap --timeout=300s 'm/*.js'",
                &["m/a.spec.js"],
                &[],
                "; ava --tap --timeout=300s $(ls -d -- m/a.spec.js 2>/dev/null)",
                "$(ls -d -- m/a.spec.js m/b.spec.js 2>/dev/null)",
            ),
            (
                "bun",
                "bun test --preload ./x.ts m/ --reporter=junit 2>&1",
                &["m/a.spec.js"],
                &[],
                "bun test --preload ./x.ts --reporter=junit $(ls -d -- m/a.spec.js 2>/dev/null) 2>&1",
                "$(ls -d -- m/a.spec.js m/b.spec.js 2>/dev/null)",
            ),
            (
                "prove",
                "prove -v -I lib -I t/lib t",
                &["t/basic.t"],
                &[],
                "prove -v -I lib -I t/lib $(ls -d -- t/basic.t 2>/dev/null)",
                "$(ls -d -- t/basic.t t/deep.t 2>/dev/null)",
            ),
            (
                "bats",
                "npx bats --tap --jobs 1 -r cli",
                &["cli/run.bats"],
                &[],
                "npx bats --tap --jobs 1 -r $(ls -d -- cli/run.bats 2>/dev/null)",
                "$(ls -d -- cli/run.bats cli/stop.bats 2>/dev/null)",
            ),
            // Of suites of several folders, those that hold a touched file are run.
            (
                "pytest",
                SEVERAL,
                &["libs/b/tests/test_b.py"],
                &[],
                "cd libs/b && pytest --junitxml=\"$ATLAS_OUT/junit.xml\" $(ls -d -- tests/test_b.py 2>/dev/null)",
                "$(ls -d -- tests/test_b.py tests/test_c.py 2>/dev/null)",
            ),
            // Base has none of the second's: what stands beside it comes along.
            (
                "pytest",
                SEVERAL,
                &["libs/a/tests/test_a.py", "libs/b/tests/test_new.py"],
                &[],
                "( failed=0; ( cd libs/a && pytest --junitxml=\"$ATLAS_OUT/junit.xml\" $(ls -d -- tests/test_a.py 2>/dev/null) ) || failed=1; ( cd libs/b && pytest --junitxml=\"$ATLAS_OUT/junit.xml\" $(ls -d -- tests/test_b.py tests/test_c.py tests/test_new.py 2>/dev/null) ) || failed=1; exit $failed )",
                "tests/test_b.py tests/test_c.py tests/test_new.py 2>/dev/null) ) || failed=1; exit $failed )",
            ),
            (
                "gotest",
                "( failed=0; ( go test -v ./... ) || failed=1; ( cd pkg/b && go test -v ./... ) || failed=1; exit $failed )",
                &["pkg/a/a_test.go"],
                &["pkg/b/b.go"],
                "go test -v ./pkg/a",
                "( failed=0; ( go test -v ./pkg/a ) || failed=1; ( cd pkg/b && go test -v . ) || failed=1; exit $failed )",
            ),
            (
                "phpunit",
                "vendor/bin/phpunit --teamcity",
                &["t/ATest.php"],
                &[],
                r"vendor/bin/phpunit --filter '/(?:^|\\)(?:ATest)::/' --teamcity",
                "(?:ATest|BTest)",
            ),
        ] {
            let touched = touched(folder.path(), &files, tests, sources);
            let plan = EnvironmentPlan {
                log_parser_name: parser.to_owned(),
                test_cmd: command.to_owned(),
                ..EnvironmentPlan::default()
            };
            for (level, wanted) in [
                (TestScopeLevel::Touched, by_touch),
                (TestScopeLevel::Package, by_package),
            ] {
                let made = scoped(&plan, &touched, level).unwrap();
                let chosen = made.env.get("ATLAS_TESTS");
                assert!(
                    made.test_cmd.contains(wanted) || chosen.is_some_and(|tests| tests == wanted),
                    "{parser} {level}: {} {chosen:?}",
                    made.test_cmd
                );
                assert!(!made.test_cmd.ends_with(" tests"), "{}", made.test_cmd);
                assert_eq!(made.test_scope.unwrap().level, level);
            }
        }
    }

    #[test]
    fn a_part_that_is_most_of_a_suite_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            "t/test_a.py",
            "t/test_b.py",
            "t/c/test_c.py",
            "t/d/test_d.py",
            "t/d/test_e.py",
            "x.py",
            "y.py",
        ];
        for (tests, wanted) in [
            (&["t/test_a.py"][..], false),
            (&["t/test_a.py", "t/d/test_d.py"], true),
        ] {
            let touched = touched(folder.path(), &files, tests, &[]);
            let plan = EnvironmentPlan {
                log_parser_name: "pytest".to_owned(),
                test_cmd: "pytest --junitxml=\"$ATLAS_OUT/junit.xml\"".to_owned(),
                ..EnvironmentPlan::default()
            };
            let part = scoped(&plan, &touched, TestScopeLevel::Package).unwrap();
            assert_eq!(is_most(&part, &touched), wanted, "{tests:?}");
        }
    }

    #[test]
    fn what_has_no_part_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let plan = |parser: &str, test_cmd: &str| EnvironmentPlan {
            log_parser_name: parser.to_owned(),
            test_cmd: test_cmd.to_owned(),
            ..EnvironmentPlan::default()
        };
        let why = |plan: &EnvironmentPlan, tests: &[&str], files: &[&str]| {
            scoped(
                plan,
                &touched(folder.path(), files, tests, &[]),
                TestScopeLevel::Touched,
            )
            .unwrap_err()
        };
        assert!(why(&plan("automake", "make check"), &["a.c"], &["a.c"]).contains("`automake`"));
        // Folders of the root are none of another module's.
        let modules = "( failed=0; ( go test -v ./... ) || failed=1; ( cd sub && go test -v ./... ) || failed=1 )";
        assert!(
            why(&plan("gotest", modules), &["p/a_test.go"], &["p/a_test.go"])
                .contains("several folders")
        );
        let suites = modules.replace("failed=1 )", "failed=1; exit $failed )");
        assert!(
            why(
                &plan("rspec", &suites.replace("( go", "( cd lib && go")),
                &["x_spec.rb"],
                &["x_spec.rb"]
            )
            .contains("no suite")
        );
        assert!(why(&plan("pytest", "tox"), &["t/test_a.py"], &["t/test_a.py"]).contains("`tox`"));
        assert!(why(&plan("pytest", "pytest"), &["u/test_a.py"], &[]).contains("in Base"));
        assert!(
            why(
                &plan("rspec", "rspec"),
                &["v/a b_spec.rb"],
                &["v/a b_spec.rb"]
            )
            .contains("a b_spec.rb")
        );
    }
}
