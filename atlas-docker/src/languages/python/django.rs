//! The runners of Django and `SymPy`, and services that tests would need.

use super::runner::{Found, Runner};
use crate::analysis::{Facts, Verdict};
use crate::ci::Placed;
use crate::render::shell_quote;
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

static ENGINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"["']ENGINE["']\s*:\s*["'][\w.]*\.(sqlite3|spatialite|postgresql\w*|postgis|mysql|oracle)["']"#)
        .expect("a literal pattern")
});

/// What a command that is neither pytest's nor unittest's comes to: the runner that a plan can be
/// made for, or a verdict that names the other one.
pub(super) fn other(facts: &Facts<'_>, name: &str, evidence: Evidence) -> Result<Found, Verdict> {
    let found = |runner, text: Option<&str>| {
        let mut lines = vec![evidence.clone()];
        lines.extend(text.map(|text| Evidence::of(evidence.source.clone(), text)));
        Ok(Found {
            runner,
            evidence: lines,
        })
    };
    match name {
        "nosetests" | "nose2" => found(
            Runner::Pytest,
            Some(
                "nose is no longer kept and does not run on newer Pythons: pytest collects its tests",
            ),
        ),
        "trial" | "stestr" => found(
            Runner::Unittest,
            Some("the tests are unittest's, whoever runs them"),
        ),
        _ if name.contains("manage.py") || name.contains("django-admin") => {
            needs_server(facts)?;
            found(Runner::Django, None)
        }
        "runtests.py" => {
            let script = script(facts, "runtests.py");
            let text = script
                .as_ref()
                .and_then(|path| facts.tree.text(path))
                .unwrap_or_default();
            if text.contains("pytest") {
                found(Runner::Pytest, Some("runtests.py calls pytest"))
            } else if text.contains("django") {
                needs_server(facts)?;
                found(Runner::Django, None)
            } else {
                Err(Verdict::no_parser(name, vec![evidence]))
            }
        }
        "bin/test" if facts.tree.has("bin/test") && facts.tree.has_folder("sympy") => {
            found(Runner::Sympy, None)
        }
        _ => Err(Verdict::no_parser(name, vec![evidence])),
    }
}

/// The script of this name that is nearest to the root.
fn script(facts: &Facts<'_>, name: &str) -> Option<String> {
    facts
        .tree
        .files()
        .filter(|path| *path == name || path.ends_with(&format!("/{name}")))
        .min_by_key(|path| (path.matches('/').count(), *path))
        .map(str::to_owned)
}

/// Django's tests make a database before the first one runs: with a server that is not there, none
/// would.
fn needs_server(facts: &Facts<'_>) -> Result<(), Verdict> {
    let mut server = None;
    for path in facts.tree.ending(".py") {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !(name.contains("settings") || path.contains("settings/") || name == "runtests.py") {
            continue;
        }
        if let Some((line, text)) = facts.tree.line(path, &ENGINE) {
            let found = ENGINE.captures(&text).map(|found| found[1].to_owned());
            match found.as_deref() {
                Some("sqlite3" | "spatialite") => return Ok(()),
                Some(_) => {
                    server.get_or_insert(Evidence::at(path, line, text));
                }
                None => {}
            }
        }
    }
    match server {
        Some(at) => Err(Verdict::new(
            "every test needs a database server, and environments have no services",
            vec![at],
        )),
        None => Ok(()),
    }
}

/// The command for the whole suite under Django's runner.
pub(super) fn command(facts: &Facts<'_>, plan: &mut EnvironmentPlan) -> String {
    let into = |path: &str| -> (String, String) {
        match path.rsplit_once('/') {
            Some((folder, name)) => (format!("cd {} && ", shell_quote(folder)), shell_quote(name)),
            None => (String::new(), shell_quote(path)),
        }
    };
    if let Some(path) = script(facts, "runtests.py") {
        let text = facts.tree.text(&path).unwrap_or_default();
        // A script that knows the option says what it runs; another one may take it for a label.
        let verbose = if text.contains("verbosity") && text.contains("add_argument") {
            " --verbosity=2"
        } else {
            ""
        };
        plan.prove(
            "test_cmd",
            Evidence::of(path.clone(), "runs Django's tests"),
        );
        let (folder, name) = into(&path);
        return format!("{folder}python {name}{verbose}");
    }
    let path = script(facts, "manage.py").unwrap_or_else(|| "manage.py".to_owned());
    plan.prove("test_cmd", Evidence::of(path.clone(), "Django's command"));
    let (folder, name) = into(&path);
    format!("{folder}python {name} test --verbosity 2 --noinput")
}

/// Servers that CI starts beside the tests. Environments have none: what needs one fails in every
/// state, and the plan says so.
pub(super) fn services(facts: &Facts<'_>) -> Vec<Placed> {
    static KEY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(\s+)services:\s*$").expect("a literal pattern"));
    static IMAGE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s+image:\s*(\S.*)$").expect("a literal pattern"));
    let workflows: Vec<&str> = facts
        .tree
        .files()
        .filter(|path| path.starts_with(".github/workflows/"))
        .collect();
    let mut found = Vec::new();
    for path in workflows {
        let mut depth = None;
        for (at, line) in facts
            .tree
            .text(path)
            .unwrap_or_default()
            .lines()
            .enumerate()
        {
            let indent = line.len() - line.trim_start().len();
            if line.trim().is_empty() {
                continue;
            }
            if depth.is_some_and(|depth| indent <= depth) {
                depth = None;
            }
            if let (Some(_), Some(image)) = (depth, IMAGE.captures(line)) {
                found.push(Placed {
                    file: path.to_owned(),
                    line: at + 1,
                    text: image[1].trim_matches(['"', '\'']).to_owned(),
                });
            }
            if let Some(key) = KEY.captures(line) {
                depth = Some(key[1].len());
            }
        }
    }
    found
}
