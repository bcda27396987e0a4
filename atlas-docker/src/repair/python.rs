//! Python modules that are missing, and those that are too old for the interpreter.

use super::change::python_day;
use super::tables::MODULES;
use super::{Change, Repair, Symptom};
use atlas_core::Day;
use atlas_facts::{Family, package_file};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Files that name distributions, and lists that are not called as most are: `tools/test-requires.txt`.
fn names_distributions(path: &str) -> bool {
    let known = package_file(path);
    known.is_some_and(|file| file.family == Family::Python && file.role.declares())
        || path.starts_with(".github/workflows/")
        || path.contains("require") && [".txt", ".in"].iter().any(|end| path.ends_with(end))
}

/// A module that cannot be imported, is none of the repository's, and whose distribution the table
/// or the repository names.
pub(super) fn modules(symptom: &Symptom<'_>) -> Vec<Repair> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:ModuleNotFoundError|ImportError): No module named '?([A-Za-z_]\w*)")
            .expect("a literal pattern")
    });
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for line in symptom.text.lines() {
        if let Some(name) = MISSING.captures(line).and_then(|c| c.get(1)) {
            found.entry(name.as_str()).or_insert(line);
        }
    }
    found
        .into_iter()
        .filter(|(module, _)| !own(symptom, module))
        .filter_map(|(module, line)| {
            let distribution = MODULES
                .iter()
                .find(|(known, _)| *known == module.to_ascii_lowercase())
                .map(|(_, distribution)| (*distribution).to_owned())
                .or_else(|| named(symptom, module))?;
            Some(Repair {
                rule: "missing Python module",
                proof: symptom.proof(line),
                change: Change::PythonPackage(distribution),
            })
        })
        .collect()
}

/// Half a year after each release of Python 3, when most distributions had one that runs on it.
const SETTLED: &[(u32, &str)] = &[
    (7, "2018-12-27"),
    (8, "2020-04-14"),
    (9, "2021-04-05"),
    (10, "2022-04-04"),
    (11, "2023-04-24"),
    (12, "2024-04-02"),
    (13, "2025-04-07"),
    (14, "2026-04-07"),
];

/// A distribution as of the pull request's day that needs what this Python, a newer one, has no more.
pub(super) fn distributions_of_the_day(symptom: &Symptom<'_>) -> Vec<Repair> {
    static GONE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?x)^\s*(?:E\s+)?(?:
                AttributeError:\ (?:__spec__$|
                    (?:module|type\ object)\ '(?:collections|inspect|pkgutil|ast|asyncio|configparser|fractions|typing|unittest|locale)'\ has\ no\ attribute)
                |ImportError:\ cannot\ import\ name\ '\w+'\ from\ '(?:collections|inspect|fractions|typing|ast|asyncio)'
                |ModuleNotFoundError:\ No\ module\ named\ '(?:imp|distutils|asyncore|asynchat|smtpd|cgi|pipes|telnetlib|pkg_resources\.extern\S*)'
                |TypeError:\ required\ field\ "\w+"\ missing\ from
            )"#,
        )
        .expect("a literal pattern")
    });
    // What the image has: another may have stood in for the plan's.
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"/python3\.(\d+)/site-packages/").expect("a literal pattern"));
    let Some(known) = python_day(symptom.plan) else {
        return Vec::new();
    };
    let mut frame = "";
    for line in symptom.text.lines() {
        if line.contains("File \"") || line.contains(".py:") {
            frame = line;
        } else if GONE.is_match(line)
            && let Some(found) = PLACE.captures(frame)
        {
            let settled = SETTLED
                .iter()
                .find(|(minor, _)| found[1] == minor.to_string());
            let later = settled.and_then(|(_, day)| day.parse().ok());
            let repair = |day: Day| Repair {
                rule: "distributions older than this Python",
                proof: symptom.proof(line),
                change: Change::PythonDay(day),
            };
            let later = later.filter(|day| known < day);
            return later.map(repair).into_iter().collect();
        }
    }
    Vec::new()
}

fn own(symptom: &Symptom<'_>, module: &str) -> bool {
    let (file, package) = (format!("{module}.py"), format!("{module}/__init__.py"));
    symptom.tree.files().any(|path| {
        path == file
            || path == package
            || path.ends_with(&format!("/{file}"))
            || path.ends_with(&format!("/{package}"))
    })
}

/// A distribution of the module's name that the repository itself mentions, or one whose name says
/// besides what the module belongs to: `xdist` is of `pytest-xdist`, `dateutil` of `python-dateutil`.
fn named(symptom: &Symptom<'_>, module: &str) -> Option<String> {
    let spelt = regex::escape(module).replace('_', "[-_.]");
    let mention = |prefix: &str| {
        let name = format!(r"(?i)(?:^|[^\w.-])({prefix}{spelt})(?:$|[^\w.-]|[.-]?\s)");
        let word = Regex::new(&name).ok()?;
        symptom
            .tree
            .files()
            .filter(|path| names_distributions(path))
            .find_map(|path| {
                let text = symptom.tree.text(path)?;
                let found = word.captures(&text)?;
                Some(found[1].to_owned())
            })
    };
    mention("").or_else(|| mention("(?:pytest|python|django)[-_.]"))
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::super::testing::changes;

    fn installed(text: &str) -> Vec<Change> {
        let files = [
            ("src/mine/__init__.py", ""),
            (
                "requirements-dev.txt",
                "pytest-mock\nfreezegun>=1\npytest-xdist\n",
            ),
        ];
        changes("python:3.11", &files, text)
    }

    #[test]
    fn a_module_becomes_a_distribution_that_is_known() {
        for (module, distribution) in [
            ("yaml", "PyYAML"),
            ("freezegun", "freezegun"),
            ("pytest_mock", "pytest-mock"),
            ("xdist", "pytest-xdist"),
        ] {
            let text = format!("E   ModuleNotFoundError: No module named '{module}'");
            let expected = [Change::PythonPackage(distribution.to_owned())];
            assert_eq!(installed(&text), expected, "{module}");
        }
    }

    #[test]
    fn a_name_from_a_log_alone_installs_nothing() {
        for module in ["mine", "typosquatted_thing"] {
            let text = format!("ModuleNotFoundError: No module named '{module}'");
            assert_eq!(installed(&text), [], "{module}");
        }
    }

    /// pytest 6.2 with py 1.10, which Python 3.11 does not run.
    #[test]
    fn a_newer_python_takes_newer_distributions() {
        const OLD: &str = "Traceback (most recent call last):\n  File \"/v/lib/python3.11/site-packages/py/_vendored_packages/apipkg.py\", \
                           line 143, in __makeattr\n    raise AttributeError(name)\nAttributeError: __spec__\n";
        let changes = |day: &str, text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let plan = atlas_core::EnvironmentPlan {
                build: vec![format!(
                    "bash \"$ATLAS_ENV/toolbox/install-python\" --day {day} --project . pytest"
                )],
                as_of: Some(day.parse().unwrap()),
                tools: vec![crate::toolbox::INSTALL_PYTHON.to_owned()],
                ..atlas_core::EnvironmentPlan::default()
            };
            let found = super::distributions_of_the_day(&super::Symptom {
                plan: &plan,
                tree: &crate::tree::Tree::open(folder.path()).unwrap(),
                text,
                source: "test log",
            });
            let mut plan = plan.clone();
            let applied = found.iter().any(|repair| repair.change.apply(&mut plan));
            (applied, plan.build.remove(0))
        };
        let (applied, command) = changes("2020-12-26", OLD);
        assert!(
            applied && command.contains(" --day 2023-04-24 --project"),
            "{command}"
        );
        for (day, text) in [
            ("2024-01-01", OLD.to_owned()),
            ("2020-12-26", OLD.replace("site-packages", "own")),
            ("2020-12-26", OLD.replace("__spec__", "x")),
        ] {
            assert!(!changes(day, &text).0, "{day}: {text}");
        }
    }
}
