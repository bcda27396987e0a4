//! A part of the suite for good: the tests that a pull request touches, or those beside them.

use super::narrow::Spelling;
use super::{Edit, JEST, VITEST, edit};
use atlas_core::{EnvironmentPlan, Evidence, TestScope, TestScopeLevel};
use atlas_source::{Side, SplitDecision};
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a pull request touches of a checkout of Base.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    checkout: PathBuf,
    tests: Vec<String>,
    sources: Vec<String>,
}

impl Touched {
    pub(crate) fn new(checkout: &Path, decisions: &[SplitDecision]) -> Self {
        let of = |sides: &[Side]| {
            let found = decisions.iter().filter(|d| sides.contains(&d.side));
            found.map(|d| d.path.clone()).collect()
        };
        Self {
            checkout: checkout.to_owned(),
            tests: of(&[Side::Test, Side::Both]),
            sources: of(&[Side::Gold, Side::Both]),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.checkout.join(path).is_file()
    }

    /// Files beside this one whose names end as its name does.
    fn beside(&self, path: &str) -> Vec<String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let end = name.find('.').map_or("", |at| &name[at..]);
        let entries = std::fs::read_dir(self.checkout.join(folder));
        let mut found: Vec<String> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|other| !end.is_empty() && other.ends_with(end))
            .map(|other| {
                if folder.is_empty() {
                    other
                } else {
                    format!("{folder}/{other}")
                }
            })
            .collect();
        found.sort();
        found
    }
}

/// One family of runners: how test files become a selection, and where that goes in the test command.
struct Scoping {
    parsers: &'static [&'static str],
    /// The ends of its test files' names.
    ends: &'static [&'static str],
    /// What stands for a file: its path from the folder of the command, its folder, its class.
    place: fn(&str) -> Option<String>,
    /// How the places are written into an edit's text.
    spelling: Spelling,
    edits: &'static [Edit],
    /// Whether the places are whole packages, those of changed sources among them.
    is_by_package: bool,
}

const SCOPINGS: &[Scoping] = &[
    Scoping {
        parsers: &["pytest"],
        ends: &[".py"],
        place: |path| {
            let name = path.rsplit('/').next()?;
            (!["conftest.py", "__init__.py"].contains(&name)).then(|| path.to_owned())
        },
        spelling: Spelling::Words,
        // A file that a state does not have is an error for all of them.
        edits: &[Edit::Insert(
            r#"--junitxml="\$ATLAS_OUT/junit\.xml""#,
            " $(ls -d -- {} 2>/dev/null)",
        )],
        is_by_package: false,
    },
    Scoping {
        parsers: &["unittest"],
        ends: &[".py"],
        place: |path| {
            Some(format!(
                "{}.",
                path.rsplit('/').next()?.strip_suffix(".py")?
            ))
        },
        spelling: Spelling::Options("-k"),
        edits: &[Edit::Insert(r"-m unittest( discover)?", " {}")],
        is_by_package: false,
    },
    Scoping {
        parsers: &["gotest", "gotestsum"],
        ends: &[".go"],
        place: |path| {
            Some(
                path.rsplit_once('/')
                    .map_or_else(|| ".".to_owned(), |(folder, _)| format!("./{folder}")),
            )
        },
        spelling: Spelling::Words,
        edits: &[Edit::Replace(r" \./\.\.\.", " {}")],
        is_by_package: true,
    },
    Scoping {
        parsers: &["jest"],
        ends: &["js", "jsx", "ts", "tsx", "mjs", "cjs"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Regex("^(?!.*/(?:", ")$).*$"),
        edits: &[Edit::Insert(JEST, "--testPathIgnorePatterns={} ")],
        is_by_package: false,
    },
    Scoping {
        parsers: &["vitest"],
        ends: &["js", "jsx", "ts", "tsx", "mjs", "cjs"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        edits: &[Edit::Insert(VITEST, "{} ")],
        is_by_package: false,
    },
    Scoping {
        parsers: &["rspec"],
        ends: &["_spec.rb"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        edits: &[Edit::Insert(
            r"--require \S*keep_going\.rb\S*",
            " $(ls -d -- {} 2>/dev/null)",
        )],
        is_by_package: false,
    },
    Scoping {
        parsers: &["minitest", "testunit"],
        ends: &[".rb"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        // Its own program takes a file that is not there for a pattern that matches none.
        edits: &[Edit::Replace(r" '[^']*\*[^']*\.rb' --", " {} --")],
        is_by_package: false,
    },
    Scoping {
        parsers: &["phpunit"],
        ends: &["Test.php"],
        place: |path| Some(path.rsplit('/').next()?.strip_suffix(".php")?.to_owned()),
        spelling: Spelling::Regex(r"/(?:^|\\)(?:", ")::/"),
        edits: &[Edit::Insert(r#"bin/(simple-)?phpunit\b"?"#, " --filter {}")],
        is_by_package: false,
    },
    Scoping {
        parsers: &["maven"],
        ends: &[".java"],
        place: |path| Some(path.rsplit('/').next()?.strip_suffix(".java")?.to_owned()),
        spelling: Spelling::Commas,
        edits: &[Edit::Append(
            "MAVEN_CHECKS_OFF",
            "-Dtest={} -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false",
        )],
        is_by_package: false,
    },
    Scoping {
        parsers: &["gradle"],
        ends: &[".java", ".kt", ".groovy"],
        place: |path| Some(format!("*{}*", path.rsplit('/').next()?.split('.').next()?)),
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        is_by_package: false,
    },
];

/// The plan with that part of its suite alone; the reason where that cannot be done.
pub(crate) fn scoped(
    plan: &EnvironmentPlan,
    touched: &Touched,
    level: TestScopeLevel,
) -> Result<EnvironmentPlan, String> {
    /// Most places; more are no part any more.
    const MOST: usize = 200;
    let parser = plan.log_parser_name.as_str();
    let known = SCOPINGS
        .iter()
        .find(|scoping| scoping.parsers.contains(&parser));
    let Some(known) = known else {
        return Err(format!(
            "no way is known to run a part of the tests of `{parser}`"
        ));
    };
    let is_test = |path: &&String| {
        known.ends.iter().any(|end| path.ends_with(end)) && (known.place)(path).is_some()
    };
    let mut files: BTreeSet<String> = touched.tests.iter().filter(is_test).cloned().collect();
    let is_beside =
        level == TestScopeLevel::Package || !files.iter().any(|path| touched.exists(path));
    if is_beside && !known.is_by_package {
        let beside = touched.tests.iter().flat_map(|path| touched.beside(path));
        files.extend(beside.filter(|path| is_test(&path)));
    }
    if known.is_by_package && level == TestScopeLevel::Package {
        files.extend(touched.sources.iter().filter(is_test).cloned());
    }
    if !files.iter().any(|path| touched.exists(path)) {
        return Err("no test file that the pull request touches, or that stands beside one, is there in Base".to_owned());
    }
    let folder = folder(&plan.test_cmd);
    // Jest's pattern matches whole paths; classes and modules have no folder.
    let by_path = known
        .ends
        .iter()
        .filter_map(|end| (known.place)(&format!("a/b/x{end}")))
        .any(|place| place.contains("a/b"))
        && parser != "jest";
    let goes = plan.test_cmd.matches("cd ").count();
    if by_path && goes > usize::from(folder.is_some()) {
        return Err("the command runs suites of several folders".to_owned());
    }
    let mut places = BTreeSet::new();
    for path in &files {
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
        places.extend((known.place)(path));
    }
    if places.is_empty() || places.len() > MOST {
        return Err(format!("{} places are no part of a suite", places.len()));
    }
    let narrow = EnvironmentPlan {
        test_cmd: without_operands(&plan.test_cmd, &touched.checkout, known),
        ..plan.clone()
    };
    let edited = edit(&narrow, known.edits, &known.spelling.write(&places)).ok_or_else(|| {
        format!(
            "the test command has no place for a selection: `{}`",
            plan.test_cmd
        )
    })?;
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
    Ok(plan)
}

/// Whether a part is most of a suite, so that it takes about as long as all of it.
pub(crate) fn is_most(part: &EnvironmentPlan, touched: &Touched) -> bool {
    let parser = part.log_parser_name.as_str();
    let known = SCOPINGS
        .iter()
        .find(|scoping| scoping.parsers.contains(&parser));
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
                if lower.contains("test") || lower.contains("spec") {
                    all.extend(path.to_str().and_then(known.place));
                }
            }
        }
    }
    scope.places.len() * 2 > all.len()
}

/// The folder that a command goes to before anything else.
fn folder(command: &str) -> Option<String> {
    let found = Regex::new(r"^cd ([\w./-]+) && ").ok()?;
    Some(found.captures(command)?[1].to_owned())
}

/// pytest's own operands go: beside them a selection selects nothing.
fn without_operands(command: &str, checkout: &Path, scoping: &Scoping) -> String {
    if scoping.parsers != ["pytest"] {
        return command.to_owned();
    }
    let root = folder(command).map_or_else(|| checkout.to_owned(), |folder| checkout.join(folder));
    let words = command.split(' ').enumerate();
    let mut before = "";
    let kept: Vec<&str> = words
        .filter(|(at, word)| {
            let is_value = matches!(
                before,
                "-o" | "-p" | "-m" | "-k" | "-n" | "-c" | "cd" | "-r" | "-W"
            );
            before = word;
            let is_place = *at > 0
                && !is_value
                && !word.is_empty()
                && !word.starts_with(['-', '"', '\'', '$', '/'])
                && !word.contains('=')
                && root.join(word.trim_matches('\'')).exists();
            !is_place
        })
        .map(|(_, word)| word)
        .collect();
    kept.join(" ")
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
                assert!(
                    made.test_cmd.contains(wanted),
                    "{parser} {level}: {}",
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
