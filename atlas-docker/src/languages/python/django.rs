//! The runners of Django and `SymPy`, and services that tests would need.

use super::runner::{Found, Runner};
use crate::ci::Placed;
use crate::facts::{Facts, Verdict};
use crate::quote::shell_quote;
use crate::toolbox;
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
        _ if name.contains("manage.py") || name.starts_with("django") => {
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

/// The database that Django's settings ask for, where none of them does with a file: its name in
/// [`services`](crate::services), what it is given, and where that stands. Django's tests make a database before
/// the first one runs: with a server that is not there, none would.
pub(crate) fn database(facts: &Facts<'_>) -> Option<Database> {
    let mut server = None;
    for path in facts.tree.ending(".py") {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !(name.contains("settings") || path.contains("settings/") || name == "runtests.py") {
            continue;
        }
        if let Some((line, text)) = facts.tree.line(path, &ENGINE) {
            let kind = match &ENGINE.captures(&text)?[1] {
                "sqlite3" | "spatialite" => return None,
                "mysql" => "mariadb",
                "oracle" => "oracle",
                _ => "postgres",
            };
            let around = facts.tree.text(path).unwrap_or_default();
            let literal = |key: &str| {
                let pattern = format!(r#"["']{key}["']\s*:\s*["']([^"'$]+)["']"#);
                let found = Regex::new(&pattern).ok()?.captures(&around)?[1].to_owned();
                Some(found)
            };
            server.get_or_insert(Database {
                kind,
                user: literal("USER"),
                password: literal("PASSWORD"),
                evidence: Evidence::at(path, line, text),
            });
        }
    }
    server
}

/// A database server that settings ask for.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) kind: &'static str,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) evidence: Evidence,
}

/// A server that no distribution has is a verdict.
fn needs_server(facts: &Facts<'_>) -> Result<(), Verdict> {
    match database(facts) {
        Some(server) if server.kind == "oracle" => Err(Verdict::new(
            "every test needs a database server that the distribution does not have",
            vec![server.evidence],
        )),
        _ => Ok(()),
    }
}

/// The repository's own call of Django's command for tests, said in full: of an application that is no project it has the
/// settings.
fn own_call(facts: &Facts<'_>, commands: &[Placed], python: &str) -> Option<(Evidence, String)> {
    static CALL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?:([\w./{}-]*manage\.py)|(?:-m\s+django|\bdjango-admin(?:\.py)?))\s+test\b(.*)$",
        )
        .expect("a literal pattern")
    });
    const WITHOUT: [&str; 7] = [
        "--failfast",
        "--keepdb",
        "--noinput",
        "--no-input",
        "--parallel",
        "--timing",
        "--verbosity",
    ];
    let mut first = commands
        .iter()
        .take_while(|command| !command.text.contains("runtests.py"));
    first.find_map(|command| {
        let call = CALL.captures(&command.text)?;
        let text = |at: usize| call.get(at).map_or("", |part| part.as_str());
        let within = |text: &str| text.replace("{toxinidir}/", "").replace("{tox_root}/", "");
        let program = within(text(1));
        let program = match program.trim_start_matches("./") {
            "" => "-m django".to_owned(),
            path if facts.tree.has(path) => shell_quote(path),
            _ => return None,
        };
        let mut line = format!("{python} {program} test");
        let mut words = text(2).split_whitespace().peekable();
        while let Some(word) = words.next() {
            if word.starts_with(['&', '|', ';', '>', '#']) {
                break;
            }
            let word = within(word.split("{posargs").next().unwrap_or_default());
            let word: String = word.chars().filter(|c| !matches!(c, '"' | '\'')).collect();
            let name = word.split('=').next().unwrap_or_default();
            if WITHOUT.contains(&name) || word == "-v" || word.is_empty() {
                // A number of processes, a level.
                words.next_if(|next| next.chars().all(|c| c.is_ascii_digit()));
                continue;
            }
            if word.contains(['$', '`', '{', '}']) {
                return None;
            }
            line.push(' ');
            line.push_str(&shell_quote(&word));
        }
        let place = Evidence::at(command.file.clone(), command.line, command.text.clone());
        Some((place, format!("{line} --verbosity 2 --noinput")))
    })
}

/// The command for the whole suite under Django's runner.
pub(super) fn command(
    facts: &Facts<'_>,
    commands: &[Placed],
    python: &str,
    plan: &mut EnvironmentPlan,
) -> String {
    let into = |path: &str| -> (String, String) {
        match path.rsplit_once('/') {
            Some((folder, name)) => (format!("cd {} && ", shell_quote(folder)), shell_quote(name)),
            None => (String::new(), shell_quote(path)),
        }
    };
    if let Some((place, line)) = own_call(facts, commands, python) {
        plan.prove("test_cmd", place);
        return line;
    }
    if let Some(path) = script(facts, "runtests.py") {
        let text = facts.tree.text(&path).unwrap_or_default();
        plan.prove(
            "test_cmd",
            Evidence::of(path.clone(), "runs Django's tests"),
        );
        let (folder, name) = into(&path);
        // A script that knows the option says what it runs; another one may take it for a label.
        if text.contains("verbosity") && text.contains("add_argument") {
            return format!("{folder}{python} {name} --verbosity=2");
        }
        toolbox::add(plan, toolbox::NAMED);
        return format!("{folder}{python} {} {name}", toolbox::path(toolbox::NAMED));
    }
    let path = script(facts, "manage.py").unwrap_or_else(|| "manage.py".to_owned());
    plan.prove("test_cmd", Evidence::of(path.clone(), "Django's command"));
    let (folder, name) = into(&path);
    format!("{folder}{python} {name} test --verbosity 2 --noinput")
}
