//! Python: pip and a virtual environment; pytest or unittest.

mod cython;
mod django;
mod ini;
mod install;
mod lists;
mod locks;
mod manifests;
mod monorepo;
mod prefetch;
mod runner;
mod unittest;
mod variables;

pub(crate) use django::{Database, database};

use super::{Language, env, nested};
use crate::facts::{Facts, Presence, Verdict};
use crate::system;
use crate::tree::Tree;
use crate::versions::{self, Version};
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use manifests::Manifests;
use regex::Regex;
use runner::Runner;
use std::sync::LazyLock;

/// Python.
#[derive(Debug)]
pub(crate) struct Python;

/// Files in the root that make a repository a Python one, the most telling first.
const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Pipfile",
    "requirements.txt",
    "tox.ini",
    "noxfile.py",
    "environment.yml",
    "environment.yaml",
];

/// Files that make a folder below the root a project of its own.
const PROJECTS: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "Pipfile",
    "requirements.txt",
];

impl Language for Python {
    fn id(&self) -> &'static str {
        "python"
    }

    fn template(&self) -> &'static str {
        include_str!("Dockerfile.j2")
    }

    fn inventory(&self) -> &'static str {
        include_str!("inventory.sh")
    }

    fn image(&self) -> &'static str {
        "python:3.12-slim-bookworm"
    }

    fn presence(&self, tree: &Tree) -> Presence {
        Presence {
            manifest: tree.first(MANIFESTS).map(str::to_owned).or_else(|| {
                let folder = nested::folder(tree, PROJECTS, is_test)?;
                Some(format!("{folder}/{}", tree.below(&folder).first(PROJECTS)?))
            }),
            sources: tree.ending(".py").count(),
            tests: tree.files().filter(|path| is_test(path)).count(),
        }
    }

    /// Modules in the root are importable as they stand, and unittest comes with the language.
    fn needs_manifest(&self) -> bool {
        false
    }

    fn analyse(&self, facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
        let projects = monorepo::Projects::find(facts.tree);
        if projects.are_several() {
            return projects.plan(facts);
        }
        if facts.tree.first(MANIFESTS).is_none()
            && let Some(folder) = nested::folder(facts.tree, PROJECTS, is_test)
        {
            return nested::within(&project, facts, &folder);
        }
        project(facts)
    }
}

/// The plan of the project in the root.
fn project(facts: &Facts<'_>) -> Result<EnvironmentPlan, Verdict> {
    let manifests = Manifests::read(facts.tree);
    let found = runner::find(facts, &manifests)?;
    let mut plan = EnvironmentPlan {
        env: env([
            ("LANG", "C.UTF-8"),
            ("PATH", "$ATLAS_ENV/venv/bin:$PATH"),
            ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ]),
        ..EnvironmentPlan::default()
    };
    let parser = found.runner.parser();
    if !facts.knows(parser) {
        return Err(Verdict::no_parser(parser, found.evidence));
    }
    parser.clone_into(&mut plan.log_parser_name);
    // SymPy's runner writes none, and has no results that others could see.
    let report = found.runner != Runner::Sympy && facts.knows("junit");
    plan.report = report.then(|| ReportSpec::new("junit.xml", "junit"));
    variables::set(&manifests, &mut plan);
    plan.test_cmd = runner::command(facts, &manifests, found.runner, report, &mut plan);
    for line in found.evidence {
        plan.prove("log_parser_name", line.clone());
        plan.prove("test_cmd", line);
    }
    version(facts, &manifests, &mut plan);
    let extension = install::plan(facts, &manifests, found.runner, &mut plan);
    let names: Vec<(String, String)> = manifests.all_names(facts.tree).into_iter().collect();
    let compiler: Vec<(&str, Evidence)> = extension
        .into_iter()
        .map(|at| ("build-essential", at))
        .collect();
    system::packages(facts, Python.id(), &names, &compiler, &mut plan);
    Ok(plan)
}

/// Whether a path looks like a test module.
fn is_test(path: &str) -> bool {
    let Some(stem) = path.strip_suffix(".py") else {
        return false;
    };
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    name.starts_with("test_")
        || name.ends_with("_test")
        || matches!(name, "tests" | "test")
        || (folder
            .split('/')
            .any(|part| matches!(part, "tests" | "test" | "testing"))
            && name != "__init__"
            && name != "conftest")
}

/// `.python-version`, then the newest released version of CI's matrix, then what `requires-python`
/// and the classifiers leave. Where only the last two speak, a version must have been out for half
/// a year: until then, packages have no wheels for it.
fn version(facts: &Facts<'_>, manifests: &Manifests, plan: &mut EnvironmentPlan) {
    static CLASSIFIER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"Programming Language :: Python :: (\d\.\d+)").expect("a literal pattern")
    });
    let mut candidates: Vec<(Version, Evidence)> = Vec::new();
    let newest = versions::released(versions::PYTHON, facts.date)
        .next_back()
        .unwrap_or(Version::new(3, 8));
    if let Some(text) = facts.tree.text(".python-version") {
        // pyenv allows several lines; the first is the default.
        let first = text
            .lines()
            .find_map(|line| Some((Version::parse(line)?, line)));
        if let Some((version, line)) = first.filter(|(version, _)| version.minor > 0) {
            candidates.push((version, Evidence::at(".python-version", 1, line.trim())));
        }
    }
    for (file, pattern) in [
        (".tool-versions", &*TOOL_VERSIONS),
        ("runtime.txt", &*RUNTIME),
    ] {
        if let Some((line, text)) = facts.tree.line(file, pattern)
            && let Some(found) = pattern.captures(&text)
            && let Some(version) = Version::parse(&found[1]).filter(|version| version.minor > 0)
        {
            candidates.push((version, Evidence::at(file, line, text)));
        }
    }
    let keys = [
        ("actions/setup-python", "python-version"),
        ("astral-sh/setup-uv", "python-version"),
        ("travis", "python"),
        ("toolchain", "python"),
        ("image", "python"),
    ];
    let in_ci = versions::in_ci(facts, "Python", &keys, |text| {
        let version = Version::parse(text)?;
        let exact = version.minor > 0;
        Some((exact, if exact { version } else { newest }))
    });
    // `3.x` counts only where nothing more exact stands.
    let best = in_ci
        .filter(|((_, version), _)| versions::is_released(versions::PYTHON, *version, facts.date))
        .max_by_key(|(version, _)| *version);
    candidates.extend(best.map(|((_, version), at)| (version, at)));

    let seasoned: Vec<Version> =
        versions::released(versions::PYTHON, &half_a_year_before(facts.date))
            .filter(|version| version.major == 3)
            .collect();
    let required = manifests.requires_python.as_ref();
    let fits = |version: &Version| {
        required.is_none_or(|(range, _)| versions::python_allows(range, *version))
    };
    let classified: Vec<(Version, Evidence)> = ["pyproject.toml", "setup.cfg", "setup.py"]
        .into_iter()
        .filter_map(|file| Some((file, facts.tree.text(file)?)))
        .flat_map(|(file, text)| {
            text.lines()
                .enumerate()
                .filter_map(|(at, line)| {
                    let version = Version::parse(&CLASSIFIER.captures(line)?[1])?;
                    Some((version, Evidence::at(file, at + 1, line.trim())))
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let by_classifier = classified
        .into_iter()
        .filter(|(version, _)| fits(version) && seasoned.contains(version))
        .max_by_key(|(version, _)| *version);
    let by_range = seasoned.iter().rev().find(|version| fits(version));
    let bounded = required.is_some_and(|(range, _)| range.contains('<') || range.contains("=="));
    let by_range = required
        .zip(by_range)
        .map(|((_, at), version)| (*version, at.clone()));
    if bounded {
        candidates.extend(by_range);
        candidates.extend(by_classifier);
    } else {
        candidates.extend(by_classifier);
        candidates.extend(by_range);
    }
    if candidates.is_empty() {
        let text = format!(
            "nothing names a Python version: the newest that was out for half a year at {}",
            versions::day(facts.date)
        );
        let version = seasoned.last().copied().unwrap_or(newest);
        candidates.push((version, Evidence::of(".", text)));
    }
    let version = versions::first(candidates, PartialEq::eq, plan);
    let named = version.to_string();
    let debian = match (version.major, version.minor) {
        (2, _) | (3, 0..=5) => "buster",
        (3, 6) => "bullseye",
        _ => "bookworm",
    };
    plan.base_image = format!("python:{named}-slim-{debian}");
    plan.docker_specs
        .insert("python_version".to_owned(), named.into());
}

static TOOL_VERSIONS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^python\s+(\d\S*)").expect("a literal pattern"));
static RUNTIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^python-(\d\S*)").expect("a literal pattern"));

fn half_a_year_before(date: &str) -> String {
    let date = versions::day(date);
    let number = |range| {
        date.get(range)
            .and_then(|text: &str| text.parse::<i64>().ok())
    };
    match (number(0..4), number(5..7)) {
        (Some(year), Some(month)) if month > 6 => {
            format!("{year:04}-{:02}{}", month - 6, &date[7..])
        }
        (Some(year), Some(month)) => format!("{:04}-{:02}{}", year - 1, month + 6, &date[7..]),
        _ => date.to_owned(),
    }
}
