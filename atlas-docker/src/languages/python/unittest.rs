//! unittest: the command by which a repository calls it.

use super::is_test;
use super::manifests::Manifests;
use super::runner::{at, commands, is_below};
use crate::ci::Placed;
use crate::facts::Facts;
use crate::quote::shell_quote;
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::sync::LazyLock;

/// A program of the repository that runs unittest, as the repository calls it, and the same with every test named.
pub(super) fn own_program(
    facts: &Facts<'_>,
    manifests: &Manifests,
    python: &str,
) -> Option<(Placed, String)> {
    static CALL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:\w+=\S*\s+)*(?:poetry run |uv run |pipenv run )?(?:python[\d.]*|\./)\s*([\w./-]*tests?\.py)((?:\s+[\w./=:,-]+)*)\s*$")
            .expect("a literal pattern")
    });
    commands(facts, manifests).into_iter().find_map(|place| {
        let found = CALL.captures(place.text.trim())?;
        let file = found[1].trim_start_matches("./");
        let text = facts.tree.text(file)?;
        if !text.contains("unittest") {
            return None;
        }
        let mut words: Vec<&str> = found[2].split_whitespace().collect();
        words.retain(|word| !matches!(*word, "-q" | "--quiet" | "-f" | "--failfast"));
        let is_told = words
            .iter()
            .any(|word| word.starts_with("-v") || word.starts_with("--verbos"));
        let knows = ["unittest.main", "\"-v\"", "'-v'"]
            .iter()
            .any(|sign| text.contains(sign));
        if !is_told && knows {
            words.push("-v");
        }
        let mut command = format!("{python} {}", shell_quote(file));
        for word in words {
            command.push(' ');
            command.push_str(&shell_quote(word));
        }
        Some((place, command))
    })
}

/// The repository's own arguments where a command shows them; otherwise by where the tests are.
pub(super) fn command(
    facts: &Facts<'_>,
    manifests: &Manifests,
    python: &str,
    plan: &mut EnvironmentPlan,
) -> String {
    static CALL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"-m\s+unittest\b(.*)$").expect("a literal pattern"));
    let tests: Vec<&str> = facts.tree.files().filter(|path| is_test(path)).collect();
    for command in commands(facts, manifests) {
        let Some(found) = CALL.captures(&command.text) else {
            continue;
        };
        let words: Vec<&str> = found[1]
            .split_whitespace()
            .take_while(|word| !word.starts_with(['&', '|', ';', '>', '#', '{']))
            .filter(|word| {
                !matches!(
                    *word,
                    "-v" | "--verbose" | "-q" | "--quiet" | "-f" | "--failfast" | "-b" | "--buffer"
                )
            })
            .collect();
        if words.iter().any(|word| word.contains(['$', '`', '{'])) {
            continue;
        }
        let places = begins(facts, &words);
        let reached = tests
            .iter()
            .filter(|test| places.is_empty() || places.iter().any(|place| is_below(test, place)))
            .count();
        // One that leaves most test files out runs a part of the suite, here too.
        if 2 * reached < tests.len() {
            continue;
        }
        plan.prove("test_cmd", at(&command));
        let mut text = format!("{python} -m unittest");
        if words.is_empty() {
            text.push_str(" discover");
        }
        for word in words {
            text.push(' ');
            text.push_str(&shell_quote(word.trim_matches(['"', '\''])));
        }
        return format!("{text} -v");
    }
    if let Some((place, command)) = own_program(facts, manifests, python) {
        plan.prove("test_cmd", at(&place));
        return command;
    }
    let tree = facts.tree;
    // Discovery only enters folders that are packages.
    let reached = tree.files().filter(|path| is_test(path)).any(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let folders: Vec<&str> = path.split('/').collect();
        name.starts_with("test")
            && (1..folders.len())
                .all(|depth| tree.has(&format!("{}/__init__.py", folders[..depth].join("/"))))
    });
    let folder = ["tests", "test", "src/tests"]
        .into_iter()
        .find(|folder| tree.has_folder(folder));
    match folder {
        Some(folder) if !reached => {
            plan.prove(
                "test_cmd",
                Evidence::of(folder, "no package: discovery starts in it"),
            );
            format!("{python} -m unittest discover -s {folder} -v")
        }
        _ => format!("{python} -m unittest discover -v"),
    }
}

/// Where a call of unittest begins: folders and files, none for a discovery from the root. A name of a module may end in
/// what the module holds, as a function that gathers a folder's tests.
fn begins(facts: &Facts<'_>, words: &[&str]) -> Vec<String> {
    let mut places = Vec::new();
    let mut before = "";
    for word in words.iter().filter(|word| **word != "discover") {
        let word = word.trim_matches(['"', '\'']);
        let is_value = matches!(
            std::mem::replace(&mut before, word),
            "-p" | "--pattern" | "-t" | "--top-level-directory" | "-k"
        );
        if word.starts_with('-') || is_value {
            continue;
        }
        let path = word.trim_start_matches("./").trim_end_matches('/');
        if path.is_empty() || path == "." {
            return Vec::new();
        }
        if path.contains('/')
            || path.rsplit('.').next() == Some("py")
            || facts.tree.has_folder(path)
        {
            places.push(path.to_owned());
            continue;
        }
        let mut module = path.replace('.', "/");
        while !module.is_empty() {
            if facts.tree.has(&format!("{module}.py")) {
                let name = module.rsplit('/').next().unwrap_or_default();
                // `tests.test_suite`, `tests.runtests`: a module that gathers what lies beside it.
                let gathers = ["suite", "all", "run"]
                    .iter()
                    .any(|word| name.contains(word));
                places.push(match module.rsplit_once('/') {
                    Some((folder, _)) if gathers => folder.to_owned(),
                    _ => format!("{module}.py"),
                });
                break;
            }
            if facts.tree.has_folder(&module) {
                places.push(module);
                break;
            }
            module = module
                .rsplit_once('/')
                .map_or(String::new(), |(rest, _)| rest.to_owned());
        }
    }
    places
}
