//! What runs the tests, and on which files.

use super::gems;
use super::manifests::{Manifests, is_manifest, is_test};
use super::rake::{self, TestTask};
use crate::facts::{Facts, Verdict};
use crate::quote::shell_quote;
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A test runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Runner {
    Rspec,
    Minitest,
    TestUnit,
    Cucumber,
}

impl Runner {
    pub(super) fn parser(self) -> &'static str {
        match self {
            Self::Rspec => "rspec",
            Self::Minitest => "minitest",
            Self::TestUnit => "testunit",
            Self::Cucumber => "cucumber",
        }
    }

    /// Gems that bring it, its own name first.
    pub(super) fn gems(self) -> &'static [&'static str] {
        match self {
            Self::Rspec => &["rspec", "rspec-core", "rspec-rails"],
            Self::Minitest => &[
                "minitest",
                "rails",
                "activesupport",
                "railties",
                "minitest-global_expectations",
                "minitest-reporters",
                "m",
            ],
            Self::TestUnit => &["test-unit", "test-unit-ruby-core"],
            Self::Cucumber => &["cucumber", "cucumber-rails"],
        }
    }
}

/// The runner, with its proof.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) runner: Runner,
    pub(super) evidence: Vec<Evidence>,
    tests: Vec<String>,
}

/// As many test files are read for what they require.
const MAX_READ: usize = 200;

static RSPEC: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"require\s*\(?['"]rspec|\bRSpec\.(describe|configure|shared)|^\s*RSpec\b"#)
        .expect("a literal pattern")
});
static MINITEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"require\s*\(?['"]minitest|\bMini[Tt]est::|ActiveSupport::TestCase|ActionDispatch::IntegrationTest"#)
        .expect("a literal pattern")
});
static TEST_UNIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"require\s*\(?['"]test[/-]unit|\bTest::Unit\b"#).expect("a literal pattern")
});

/// Tests below `spec/`, `test/` and `features/`, by the runner that they or their helpers require;
/// of several runners the one with most files.
pub(super) fn find(facts: &Facts<'_>, manifests: &Manifests) -> Result<Found, Verdict> {
    let tree = facts.tree;
    let folder = manifests.folder.as_str();
    let below = |path: &&str| path.strip_prefix(folder).is_some_and(is_test);
    // Tests of a gem or an application in a subfolder have helpers and a Gemfile of their own.
    let foreign: Vec<&str> = tree
        .files()
        .filter(|path| is_manifest(path))
        .filter_map(|path| path.rfind('/').map(|at| (path, &path[..=at])))
        .filter(|(path, other)| path.ends_with(".gemspec") || !gems::is_aside(other))
        .map(|(_, other)| other)
        .filter(|other| other.len() > folder.len() && other.starts_with(folder))
        .collect();
    let files: Vec<&str> = tree
        .files()
        .filter(below)
        .filter(|path| !foreign.iter().any(|other| path.starts_with(other)))
        .collect();
    let mut found: BTreeMap<Runner, Vec<String>> = BTreeMap::new();
    let mut proof: BTreeMap<Runner, Evidence> = BTreeMap::new();
    let mut by_root: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files {
        if path.ends_with(".feature") {
            found
                .entry(Runner::Cucumber)
                .or_default()
                .push(path.to_owned());
            proof
                .entry(Runner::Cucumber)
                .or_insert_with(|| Evidence::of(path, "a feature of Cucumber"));
        } else {
            let root = path[folder.len()..].split('/').next().unwrap_or_default();
            by_root
                .entry(format!("{folder}{root}"))
                .or_default()
                .push(path.to_owned());
        }
    }
    for (root, paths) in by_root {
        let (runner, why) = runner_of(tree, manifests, &root, &paths);
        found.entry(runner).or_default().extend(paths);
        proof.entry(runner).or_insert(why);
    }
    let usable =
        |runner: Runner| runner != Runner::Cucumber || manifests.first(runner.gems()).is_some();
    let best = found
        .iter()
        .filter(|(runner, _)| usable(**runner))
        .max_by_key(|(runner, paths)| (**runner != Runner::Cucumber, paths.len()))
        .map(|(runner, _)| *runner);
    let Some(runner) = best else {
        let evidence = vec![Evidence::of(
            manifests.main.clone(),
            "no file below test/, spec/ or features/ is named like a test",
        )];
        return Err(Verdict::new("the repository has no Ruby tests", evidence));
    };
    let mut evidence: Vec<Evidence> = proof.remove(&runner).into_iter().collect();
    for (other, mut why) in proof {
        let count = found.get(&other).map_or(0, Vec::len);
        why.text = format!(
            "overruled: {}, {count} files for {}",
            why.text,
            other.parser()
        );
        evidence.push(why);
    }
    if !facts.knows(runner.parser()) {
        return Err(Verdict::no_parser(runner.parser(), evidence));
    }
    Ok(Found {
        runner,
        evidence,
        tests: found.remove(&runner).unwrap_or_default(),
    })
}

/// By what helpers and tests require, then by the gems that are named, then by the folder's name.
fn runner_of(
    tree: &Tree,
    manifests: &Manifests,
    root: &str,
    tests: &[String],
) -> (Runner, Evidence) {
    let prefix = format!("{root}/");
    let helpers = tree
        .ending("helper.rb")
        .chain(tree.ending("env.rb"))
        .filter(|path| path.starts_with(&prefix))
        .map(str::to_owned);
    let mut votes: BTreeMap<Runner, (usize, Evidence)> = BTreeMap::new();
    for path in helpers.chain(tests.iter().take(MAX_READ).cloned()) {
        for (runner, pattern) in [
            (Runner::Rspec, &*RSPEC),
            (Runner::Minitest, &MINITEST),
            (Runner::TestUnit, &TEST_UNIT),
        ] {
            if let Some((line, text)) = tree.line(&path, pattern) {
                let at = || (0, Evidence::at(path.clone(), line, text));
                votes.entry(runner).or_insert_with(at).0 += 1;
            }
        }
    }
    // minitest's own shims are named like test-unit; the gem, where it is named, decides.
    let named = |runner: Runner| manifests.first(runner.gems()).is_some();
    if votes.contains_key(&Runner::Minitest)
        && votes.contains_key(&Runner::TestUnit)
        && named(Runner::Minitest) != named(Runner::TestUnit)
    {
        votes.remove(if named(Runner::Minitest) {
            &Runner::TestUnit
        } else {
            &Runner::Minitest
        });
    }
    let best = votes
        .into_iter()
        .max_by_key(|(runner, (count, _))| (named(*runner), *count));
    if let Some((runner, (_, why))) = best {
        return (runner, why);
    }
    let is_spec = root.ends_with("spec") || root.ends_with("specs");
    let order = if is_spec {
        [Runner::Rspec, Runner::Minitest, Runner::TestUnit]
    } else {
        [Runner::Minitest, Runner::TestUnit, Runner::Rspec]
    };
    let runner = order.into_iter().find(|runner| named(*runner));
    let runner = runner.unwrap_or(order[0]);
    let gem = manifests.first(runner.gems());
    let at = gem.and_then(|gem| manifests.gems.get(gem).map(|named| (gem, named)));
    let why = match at {
        Some((gem, named)) => Evidence::at(named.file.clone(), named.line, format!("gem {gem}")),
        None => Evidence::of(
            tests[0].clone(),
            format!("nothing names a runner: that usual for {root}/"),
        ),
    };
    (runner, why)
}

/// The test command, its report and the steps before it.
pub(super) fn command(
    facts: &Facts<'_>,
    manifests: &Manifests,
    found: &Found,
    bundled: bool,
    plan: &mut EnvironmentPlan,
) {
    let tree = facts.tree;
    let enter = enter(manifests);
    let exec = if bundled { "bundle exec " } else { "" };
    match found.runner {
        Runner::Rspec => {
            // Several would write over each other's.
            let report = facts.knows("rspec") && !manifests.are_several;
            plan.report = report.then(|| ReportSpec::new("rspec.json", "rspec"));
            let json = if report {
                " --format json --out \"$ATLAS_OUT/rspec.json\""
            } else {
                ""
            };
            // RSpec's own pattern finds all below `spec`.
            let places = places(manifests, found, "spec");
            plan.test_cmd = format!(
                "{enter}{exec}rspec --require \"$ATLAS_ENV/toolbox/keep_going.rb\" --no-color --order defined --format documentation{json}{places}"
            );
        }
        Runner::Cucumber => {
            plan.test_cmd =
                format!("{enter}{exec}cucumber --format pretty --no-color --order defined");
        }
        Runner::Minitest | Runner::TestUnit => {
            let report = facts.knows("junit");
            plan.report = report.then(|| ReportSpec::new("junit.xml", "junit"));
            let tasks = rake::test_tasks(tree, manifests);
            let (mut globs, libs, options) = selection(manifests, found, &tasks);
            if tasks.is_empty() {
                globs.extend(touched_cases(facts, manifests));
            }
            for task in &tasks {
                let at = Evidence::at(task.file.clone(), task.line, task.text.clone());
                plan.prove("test_cmd", at);
            }
            let mut words = String::new();
            for lib in libs {
                words.push_str(" -I ");
                words.push_str(&shell_quote(&lib));
            }
            for option in options {
                words.push(' ');
                words.push_str(&shell_quote(&option));
            }
            words.push_str(" \"$ATLAS_ENV/toolbox/load.rb\"");
            for glob in globs {
                words.push(' ');
                words.push_str(&shell_quote(&glob));
            }
            let flags = if found.runner == Runner::Minitest {
                "-v --seed=0"
            } else {
                "--verbose=verbose"
            };
            plan.test_cmd = format!("{enter}{exec}ruby{words} -- {flags}");
        }
    }
    for line in &found.evidence {
        plan.prove("log_parser_name", line.clone());
        plan.prove("test_cmd", line.clone());
    }
}

/// The command that enters the manifests' folder; of several gems without a Gemfile each has a made one of its own.
pub(super) fn enter(manifests: &Manifests) -> String {
    let folder = manifests.folder.trim_end_matches('/');
    let enter = go(folder);
    if manifests.gemfile.is_none() && manifests.are_several {
        return format!("{enter}export BUNDLE_GEMFILE={} && ", made_gemfile(folder));
    }
    enter
}

/// The command that enters the folder in which bundler installs.
pub(super) fn enter_bundle(manifests: &Manifests) -> String {
    if manifests.gemfile.is_none() {
        return enter(manifests);
    }
    go(manifests.bundle().trim_end_matches('/'))
}

/// The Gemfile that is made for one of several gems, as a word of the shell.
pub(super) fn made_gemfile(folder: &str) -> String {
    match folder {
        "" => "\"$ATLAS_ENV/gemfiles/Gemfile\"".to_owned(),
        folder => format!("\"$ATLAS_ENV/gemfiles\"/{}/Gemfile", shell_quote(folder)),
    }
}

fn go(folder: &str) -> String {
    match folder {
        "" => String::new(),
        folder => format!("cd {} && ", shell_quote(folder)),
    }
}

/// Folders of the tests as arguments, where not all are below the usual one.
fn places(manifests: &Manifests, found: &Found, usual: &str) -> String {
    let roots = roots(manifests, found);
    if roots == [usual] {
        return String::new();
    }
    let words: Vec<String> = roots.iter().map(|root| shell_quote(root)).collect();
    format!(" {}", words.join(" "))
}

/// Patterns, load path and options: those of the Rakefile's tasks as far as they match anything,
/// else the usual names of the files that are there.
fn selection(
    manifests: &Manifests,
    found: &Found,
    tasks: &[TestTask],
) -> (Vec<String>, Vec<String>, Vec<String>) {
    fn add(list: &mut Vec<String>, values: &[String]) {
        for value in values {
            if !list.contains(value) {
                list.push(value.clone());
            }
        }
    }
    let (mut globs, mut libs, mut options) = (Vec::new(), vec!["lib".to_owned()], Vec::new());
    for task in tasks {
        add(&mut globs, &task.globs);
        add(&mut libs, &task.libs);
        add(&mut options, &task.options);
    }
    let roots = roots(manifests, found);
    add(&mut libs, &roots);
    let covered = |glob: &String| {
        let start = glob.split(['*', '{', '?', '[']).next().unwrap_or_default();
        found
            .tests
            .iter()
            .any(|path| path[manifests.folder.len()..].starts_with(start))
    };
    globs.retain(covered);
    if globs.is_empty() {
        for root in roots {
            let prefix = format!("{}{root}/", manifests.folder);
            for (start, end) in [
                ("", "_test.rb"),
                ("", "_spec.rb"),
                ("test_", ".rb"),
                ("spec_", ".rb"),
                ("tc_", ".rb"),
            ] {
                let named = found.tests.iter().any(|path| {
                    let name = path.rsplit('/').next().unwrap_or(path);
                    path.starts_with(&prefix) && name.starts_with(start) && name.ends_with(end)
                });
                if named {
                    globs.push(format!("{root}/**/{start}*{end}"));
                }
            }
        }
    }
    (globs, libs, options)
}

/// Files that the pull request touches, that define test cases and are not named like tests: `test/tests.rb`.
fn touched_cases(facts: &Facts<'_>, manifests: &Manifests) -> Vec<String> {
    static CASE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*class\s+\S+\s*<\s*(?:::)?(?:Test::Unit::TestCase|Mini[Tt]est::(?:Test|Unit::TestCase))\b")
            .expect("a literal pattern")
    });
    let inside = facts
        .touched
        .iter()
        .filter_map(|path| path.strip_prefix(manifests.folder.as_str()));
    let is_case = |path: &&str| {
        let in_tests = ["test/", "tests/", "spec/"]
            .iter()
            .any(|folder| path.starts_with(folder));
        let text = || facts.head.text(&format!("{}{path}", manifests.folder));
        in_tests && !is_test(path) && text().is_some_and(|text| CASE.is_match(&text))
    };
    inside.filter(is_case).map(str::to_owned).collect()
}

fn roots(manifests: &Manifests, found: &Found) -> Vec<String> {
    let mut roots: Vec<String> = found
        .tests
        .iter()
        .filter_map(|path| path[manifests.folder.len()..].split('/').next())
        .map(str::to_owned)
        .collect();
    roots.sort();
    roots.dedup();
    roots
}
