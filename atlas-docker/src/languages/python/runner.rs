//! Which runner the tests are written for, and how it is called.

use super::manifests::{Manifests, name_of};
use super::{django, is_test, unittest};
use crate::ci::Placed;
use crate::facts::{Facts, Verdict};
use crate::quote::shell_quote;
use crate::toolbox::{self, UNITTEST_TWO};
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// Runners that a plan can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    Pytest,
    Unittest,
    Django,
    Sympy,
}

impl Runner {
    pub(super) fn parser(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Django => "django",
            Self::Sympy => "sympy",
        }
    }
}

/// The runner with its proof.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) runner: Runner,
    pub(super) evidence: Vec<Evidence>,
}

static PYTEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s/])(?:pytest|py\.test)(?:\s|$)").expect("a literal pattern")
});
static UNITTEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"-m\s+unittest\b|setup\.py\s+test\b").expect("a literal pattern"));
static OTHER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s/])(nosetests|nose2|trial|ward|stestr|behave|zope-testrunner|runtests\.py|bin/test|manage\.py\s+test|django(?:-admin(?:\.py)?)?\s+test)(?:\s|$)")
        .expect("a literal pattern")
});
static INSTALLS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(install|add)\b").expect("a literal pattern"));
static IMPORT_PYTEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(?:import|from)\s+pytest\b").expect("a literal pattern"));
static IMPORT_UNITTEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*(?:import|from)\s+unittest\b").expect("a literal pattern"));
static PLAIN_TEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:async\s+)?def\s+test_").expect("a literal pattern"));

pub(super) fn at(place: &Placed) -> Evidence {
    Evidence::at(place.file.clone(), place.line, place.text.clone())
}

/// The commands by which the repository runs its tests: tox, nox, hatch, make, CI.
pub(super) fn commands(facts: &Facts<'_>, manifests: &Manifests) -> Vec<Placed> {
    let mut found: Vec<Placed> = Vec::new();
    for (section, keys) in &manifests.tox.sections {
        if section.starts_with("testenv") {
            let lines = keys.get("commands").map_or(&[][..], Vec::as_slice);
            found.extend(joined(lines));
        }
    }
    found.extend(facts.ci.test_commands().cloned());
    for file in ["Makefile", "noxfile.py", "justfile", "pyproject.toml"] {
        for (line, text) in facts
            .tree
            .text(file)
            .unwrap_or_default()
            .lines()
            .enumerate()
        {
            let words = text.replace(['"', '\'', ',', '(', '['], " ");
            // In manifests the word also stands in lists of requirements.
            let is_command = match file {
                "noxfile.py" => text.contains(".run("),
                "pyproject.toml" => {
                    text.contains(" = ")
                        && !words.trim_end().ends_with(['=', '{'])
                        && !text.contains(">=")
                        && (words.contains(" pytest ") || words.contains("-m unittest"))
                        && !words.contains(" pytest =")
                }
                _ => true,
            };
            if is_command {
                found.push(Placed {
                    file: file.to_owned(),
                    line: line + 1,
                    text: words.trim().to_owned(),
                });
            }
        }
    }
    found.retain(|command| !INSTALLS.is_match(&command.text));
    found
}

/// Commands of which each may go on over several lines.
fn joined(lines: &[Placed]) -> Vec<Placed> {
    let mut found: Vec<Placed> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        let text = line.text.trim_end_matches('\\').trim_end();
        match found.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            None => found.push(Placed {
                text: text.to_owned(),
                ..line.clone()
            }),
        }
        goes_on = line.text.ends_with('\\');
    }
    found
}

/// Order: configuration of pytest; the commands of tox, CI and make; a declared pytest; what the
/// test files import.
pub(super) fn find(facts: &Facts<'_>, manifests: &Manifests) -> Result<Found, Verdict> {
    let tree = facts.tree;
    let tests: Vec<&str> = tree.files().filter(|path| is_test(path)).collect();
    let Some(first) = tests.first() else {
        let evidence = vec![Evidence::of(".", "no file named like a test")];
        return Err(Verdict::new("the repository has no Python tests", evidence));
    };
    let found = |runner, evidence| Ok(Found { runner, evidence });
    if let Some(evidence) = configuration(facts, manifests) {
        return found(Runner::Pytest, vec![evidence]);
    }
    let commands = commands(facts, manifests);
    let first_of = |pattern: &Regex| {
        commands
            .iter()
            .find(|command| pattern.is_match(&command.text))
            .map(at)
    };
    if let Some(evidence) = first_of(&PYTEST) {
        return found(Runner::Pytest, vec![evidence]);
    }
    let other = first_of(&OTHER);
    if let (Some(evidence), None) = (first_of(&UNITTEST), &other) {
        return found(Runner::Unittest, vec![evidence]);
    }
    if let Some(evidence) = other {
        let name = OTHER
            .captures(&evidence.text)
            .map(|found| found[1].to_owned())
            .unwrap_or_default();
        return django::other(facts, &name, evidence).or_else(|verdict| {
            let (place, _) = unittest::own_program(facts, manifests, "python").ok_or(verdict)?;
            found(Runner::Unittest, vec![at(&place)])
        });
    }
    if let Some(file) = manifests.all_names(tree).get("pytest") {
        let line = tree.line_with(file, "pytest").unwrap_or(1);
        return found(
            Runner::Pytest,
            vec![Evidence::at(file.clone(), line, "pytest is declared")],
        );
    }
    let import = |pattern: &Regex| {
        tests
            .iter()
            .find_map(|path| Some((path, tree.line(path, pattern)?)))
            .map(|(path, (line, text))| Evidence::at(*path, line, text))
    };
    if let Some(evidence) = import(&IMPORT_PYTEST) {
        return found(Runner::Pytest, vec![evidence]);
    }
    if let Some(file) = tree.files().find(|path| path.ends_with("conftest.py")) {
        return found(Runner::Pytest, vec![Evidence::of(file, "a conftest.py")]);
    }
    if let Some(evidence) = import(&IMPORT_UNITTEST) {
        return found(Runner::Unittest, vec![evidence]);
    }
    if let Some(evidence) = import(&PLAIN_TEST) {
        return found(Runner::Pytest, vec![evidence]);
    }
    Err(Verdict::unknown(
        "the files named like tests use no runner that is known",
        vec![Evidence::of(*first, "imports neither pytest nor unittest")],
    ))
}

fn configuration(facts: &Facts<'_>, manifests: &Manifests) -> Option<Evidence> {
    for file in ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"] {
        if facts.tree.has(file) {
            return Some(Evidence::of(file, "configures pytest"));
        }
    }
    let tool = manifests.pyproject.as_ref();
    if tool.is_some_and(|root| {
        root.get("tool")
            .and_then(|tool| tool.get("pytest"))
            .is_some()
    }) {
        let text = facts.tree.text("pyproject.toml").unwrap_or_default();
        let (line, text) = (1..)
            .zip(text.lines())
            .find(|(_, line)| line.starts_with("[tool.pytest"))
            .unwrap_or((1, "[tool.pytest]"));
        return Some(Evidence::at("pyproject.toml", line, text));
    }
    for (file, ini, section) in [
        ("tox.ini", &manifests.tox, "pytest"),
        ("setup.cfg", &manifests.setup_cfg, "tool:pytest"),
    ] {
        if ini.sections.contains_key(section) {
            let section = format!("[{section}]");
            let line = facts.tree.line_with(file, &section).unwrap_or(1);
            return Some(Evidence::at(file, line, section));
        }
    }
    None
}

/// The command for the whole suite.
pub(super) fn command(
    facts: &Facts<'_>,
    manifests: &Manifests,
    runner: Runner,
    report: bool,
    plan: &mut EnvironmentPlan,
) -> String {
    // What unittest runs is written down by a program around it.
    let python = match runner {
        Runner::Unittest | Runner::Django if report => {
            toolbox::add(plan, UNITTEST_TWO);
            format!("python {}", toolbox::path(UNITTEST_TWO))
        }
        _ => "python".to_owned(),
    };
    match runner {
        Runner::Pytest => pytest(facts, manifests, report, plan),
        Runner::Unittest => unittest::command(facts, manifests, &python, plan),
        Runner::Django => django::command(facts, &commands(facts, manifests), &python, plan),
        Runner::Sympy => "bin/test --verbose".to_owned(),
    }
}

fn pytest(
    facts: &Facts<'_>,
    manifests: &Manifests,
    report: bool,
    plan: &mut EnvironmentPlan,
) -> String {
    let mut text = "python -m pytest -rA --continue-on-collection-errors".to_owned();
    // Under `--strict-config` an option of a plugin that is off is an error.
    text.push_str(if configured(facts, manifests, "cache_dir") {
        " -o cache_dir=\"$ATLAS_OUT/cache\""
    } else {
        " -p no:cacheprovider"
    });
    if manifests
        .all_names(facts.tree)
        .contains_key("pytest-randomly")
    {
        text.push_str(" -p no:randomly");
    }
    if report {
        text.push_str(" -o junit_family=xunit1 --junitxml=\"$ATLAS_OUT/junit.xml\"");
    }
    if let Some((options, place)) = addopts(facts, manifests) {
        let (kept, dropped) = sift(&options);
        if !dropped.is_empty() {
            text.push_str(" -o addopts=");
            text.push_str(&shell_quote(&kept.join(" ")));
            plan.prove(
                "test_cmd",
                Evidence {
                    text: format!("addopts without {}", dropped.join(" ")),
                    ..place
                },
            );
        }
    }
    if let Some((words, place)) = spread(facts, manifests) {
        text.push(' ');
        text.push_str(&words);
        plan.prove("test_cmd", place);
    }
    // A repository that says where its tests are is believed. A command that leaves most of the
    // test files out runs a part of the suite: benchmarks, type checks.
    let tests: Vec<&str> = facts.tree.files().filter(|path| is_test(path)).collect();
    let most = |paths: &[&str]| {
        let below = |test: &&&str| {
            paths.iter().any(|path| {
                let path = path.trim_end_matches('/').trim_start_matches("./");
                path == "." || is_below(test, path)
            })
        };
        2 * tests.iter().filter(below).count() >= tests.len()
    };
    if !configured(facts, manifests, "testpaths") {
        for command in commands(facts, manifests) {
            let Some(found) = PYTEST.find(&command.text) else {
                continue;
            };
            let mut before = "";
            let paths: Vec<&str> = command.text[found.end()..]
                .split_whitespace()
                .filter(|word| {
                    let path = word.trim_end_matches('/').trim_start_matches("./");
                    let is_value = WITH_VALUE.contains(&std::mem::replace(&mut before, word));
                    !word.starts_with('-')
                        && !is_value
                        && (facts.tree.has(path) && path.rsplit('.').next() == Some("py")
                            || facts.tree.has_folder(path))
                })
                .collect();
            if !paths.is_empty() && most(&paths) {
                plan.prove("test_cmd", at(&command));
                for path in paths {
                    text.push(' ');
                    text.push_str(&shell_quote(path));
                }
                break;
            }
        }
    }
    text
}

/// The options by which the repository's own command spreads pytest over processes, where it names
/// the plugin for it. What its configuration says holds for every run anyway.
fn spread(facts: &Facts<'_>, manifests: &Manifests) -> Option<(String, Evidence)> {
    static OPTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?:^|\s)(?:-n[= ]?|--(?:numprocesses|maxprocesses|dist)[= ])(?:\d+|auto|logical|each|worksteal|load\w*)\b",
        )
        .expect("a literal pattern")
    });
    if !manifests.all_names(facts.tree).contains_key("pytest-xdist") {
        return None;
    }
    let own = addopts(facts, manifests).is_some_and(|(words, _)| OPTION.is_match(&words.join(" ")));
    let command = commands(facts, manifests)
        .into_iter()
        .find(|command| PYTEST.is_match(&command.text))
        .filter(|_| !own)?;
    let found: Vec<&str> = OPTION
        .find_iter(&command.text)
        .map(|found| found.as_str().trim())
        .collect();
    (!found.is_empty()).then(|| (found.join(" "), at(&command)))
}

/// The settings of pytest that are TOML, and their file: `pytest.toml` and `[tool.pytest]`, which
/// pytest 9 reads, and `[tool.pytest.ini_options]`.
fn table(facts: &Facts<'_>, manifests: &Manifests) -> Option<(&'static str, toml::Table)> {
    for file in ["pytest.toml", ".pytest.toml"] {
        if let Some(text) = facts.tree.text(file) {
            let root: toml::Table = text.parse().ok()?;
            return Some((file, root.get("pytest")?.as_table()?.clone()));
        }
    }
    let pytest = manifests.pyproject.as_ref()?.get("tool")?.get("pytest")?;
    let table = pytest.get("ini_options").unwrap_or(pytest).as_table()?;
    Some(("pyproject.toml", table.clone()))
}

/// Options that every run gets from the configuration, and where they stand.
fn addopts(facts: &Facts<'_>, manifests: &Manifests) -> Option<(Vec<String>, Evidence)> {
    static LINE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*addopts\s*[=:]").expect("a literal pattern"));
    let native = table(facts, manifests);
    let ini = facts.tree.text("pytest.ini").is_some();
    let (file, words) = if ini {
        let text = facts.tree.text("pytest.ini")?;
        let start = text.lines().position(|line| LINE.is_match(line))?;
        let mut lines = text.lines().skip(start);
        let mut words = lines.next()?.split_once(['=', ':'])?.1.to_owned();
        // Lines that are blank or a comment belong to no value and end none.
        let between = |line: &str| line.is_empty() || line.starts_with(['#', ';']);
        for line in lines {
            if between(line.trim()) {
                continue;
            }
            if !line.starts_with([' ', '\t']) {
                break;
            }
            words.push(' ');
            words.push_str(line.trim());
        }
        ("pytest.ini", split_words(&words))
    } else if let Some((file, value)) =
        native.and_then(|(file, table)| Some((file, table.get("addopts")?.clone())))
    {
        let words = match &value {
            toml::Value::Array(list) => list
                .iter()
                .filter_map(|word| word.as_str().map(str::to_owned))
                .collect(),
            other => split_words(other.as_str()?),
        };
        (file, words)
    } else {
        let (file, lines) = [
            ("tox.ini", manifests.tox.lines("pytest", "addopts")),
            (
                "setup.cfg",
                manifests.setup_cfg.lines("tool:pytest", "addopts"),
            ),
        ]
        .into_iter()
        .find(|(_, lines)| !lines.is_empty())?;
        let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        (file, split_words(&text.join(" ")))
    };
    let line = facts.tree.line(file, &LINE).map_or(1, |(line, _)| line);
    Some((words, Evidence::at(file, line, "addopts")))
}

fn split_words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    for piece in text.split_whitespace() {
        match found.last_mut() {
            Some(last) if open => {
                last.push(' ');
                last.push_str(piece);
            }
            _ => found.push(piece.to_owned()),
        }
        if piece.matches(['"', '\'']).count() % 2 == 1 {
            open = !open;
        }
    }
    found
}

/// Options of pytest and its plugins whose value may be a word of its own, and which no run is given.
const WITH_VALUE: &[&str] = &[
    "--cov",
    "--cov-report",
    "--cov-config",
    "--cov-fail-under",
    "--cov-context",
    "--junitxml",
    "--junit-xml",
    "--html",
    "--maxfail",
    "--splits",
    "--group",
    "--reruns",
    "--reruns-delay",
    "--color",
    "--report-log",
    "--json-report-file",
    "--pylint-rcfile",
    "--cov-append",
];

/// Parts options into those that stay and those that measure, stop early, write reports elsewhere or
/// hide names. Spreading over processes stays: a suite that its own configuration runs in parallel is
/// known to hold in parallel, and may not hold, or take many times as long, in one process.
fn sift(options: &[String]) -> (Vec<String>, Vec<String>) {
    const ALONE: &[&str] = &[
        "-x",
        "--exitfirst",
        "--ff",
        "--lf",
        "--failed-first",
        "--last-failed",
        "--sw",
        "--stepwise",
        "-q",
        "-qq",
        "--quiet",
        "--no-summary",
        "--black",
        "--flake8",
        "--mypy",
        "--isort",
        "--pylint",
        "--ruff",
        "--ruff-format",
        "--pycodestyle",
        "--pydocstyle",
        "--self-contained-html",
        "--json-report",
        "--no-cov",
        "--no-cov-on-fail",
        "--cov-branch",
        "--cov-append",
        "--random-order",
        "--flakes",
        "--pep8",
        "--nf",
        "--pdb",
        "--looponfail",
        "-f",
    ];
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut rest = options.iter().peekable();
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or(word);
        if ALONE.contains(&name) {
            dropped.push(word.clone());
        } else if WITH_VALUE.contains(&name) {
            dropped.push(word.clone());
            if !word.contains('=')
                && let Some(value) = rest.next_if(|next| !next.starts_with('-'))
            {
                dropped.push(value.clone());
            }
        } else {
            kept.push(word.clone());
        }
    }
    (kept, dropped)
}

fn configured(facts: &Facts<'_>, manifests: &Manifests, key: &str) -> bool {
    table(facts, manifests).is_some_and(|(_, table)| table.contains_key(key))
        || manifests.tox.value("pytest", key).is_some()
        || manifests.setup_cfg.value("tool:pytest", key).is_some()
        || facts
            .tree
            .text("pytest.ini")
            .is_some_and(|text| text.lines().any(|line| line.trim_start().starts_with(key)))
}

/// Whether a requirement is a testing tool.
pub(super) fn is_test_tool(requirement: &str) -> bool {
    let name = name_of(requirement);
    name.starts_with("pytest")
        || matches!(
            name.as_str(),
            "nose"
                | "mock"
                | "hypothesis"
                | "freezegun"
                | "responses"
                | "coverage"
                | "testfixtures"
                | "factory-boy"
                | "faker"
                | "vcrpy"
                | "parameterized"
                | "ddt"
                | "time-machine"
                | "testtools"
                | "tox"
                | "requests-mock"
                | "moto"
                | "httpretty"
                | "syrupy"
        )
}

/// Whether a path is this place or below it.
pub(super) fn is_below(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
