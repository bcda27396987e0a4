//! Python modules that are missing.

use super::tables::MODULES;
use super::{Change, Repair, Symptom};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Files that name distributions.
fn names_distributions(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(
        file,
        "pyproject.toml" | "setup.py" | "tox.ini" | "noxfile.py" | "Pipfile" | "environment.yml"
    ) || path.starts_with(".github/workflows/")
        || file == "setup.cfg"
        || matches!(ending, "txt" | "in") && path.contains("require")
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
}
