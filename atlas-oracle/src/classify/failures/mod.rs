//! Modules that did not build or load, and why.

use super::ClassifyInput;
use crate::agreement::leaf;
use atlas_core::{
    BuildFailureClass, Evidence, LostModule, LostReason, ModuleFailure, Patch, State,
};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Every module that did not build or load in any state, with its class and proof.
pub(super) fn failures(input: &ClassifyInput<'_>) -> Vec<ModuleFailure> {
    let gold = input.gold_patch.map(Introduced::by);
    let mut failures = Vec::new();
    for state in State::ALL {
        for lost in &input.log(state).modules_not_loaded {
            if !matches!(
                lost.reason,
                LostReason::BuildFailed | LostReason::LoadFailed
            ) {
                continue;
            }
            failures.push(explain(state, lost, input, gold.as_ref()));
        }
    }
    failures
}

/// Those of Before that load in After: what the pull request brings is what they lack.
pub(super) fn newly_lost(failures: &[ModuleFailure]) -> Vec<&ModuleFailure> {
    let lost_in = |state: State| -> BTreeSet<&str> {
        failures
            .iter()
            .filter(|f| f.state == state)
            .map(|f| f.module.as_str())
            .collect()
    };
    let (base, after) = (lost_in(State::Base), lost_in(State::After));
    failures
        .iter()
        .filter(|f| f.state == State::Before)
        .filter(|f| !base.contains(f.module.as_str()) && !after.contains(f.module.as_str()))
        .collect()
}

fn explain(
    state: State,
    lost: &LostModule,
    input: &ClassifyInput<'_>,
    gold: Option<&Introduced>,
) -> ModuleFailure {
    let lost_in = |other: State| {
        input
            .log(other)
            .modules_not_loaded
            .iter()
            .any(|m| m.module == lost.module)
    };
    let mut proof: Vec<Evidence> = lost
        .lines
        .iter()
        .map(|line| named(line.clone(), state))
        .collect();
    let mut symbol = None;
    let class = if lost_in(State::Base) || lost_in(State::After) && state != State::Before {
        BuildFailureClass::Environment
    } else if lost_in(State::After) {
        // Fails with and without the solution, and not without the tests.
        if is_syntax_error(&lost.lines) {
            BuildFailureClass::BrokenTest
        } else {
            BuildFailureClass::Environment
        }
    } else if let Some((name, place)) = gold.and_then(|gold| gold.explains(&lost.lines)) {
        proof.push(place);
        symbol = Some(name);
        BuildFailureClass::MissingSymbol
    } else {
        BuildFailureClass::Unknown
    };
    ModuleFailure {
        state,
        module: lost.module.clone(),
        class,
        symbol,
        proof,
    }
}

/// A proof line of a parser, which knows only "log", with the state whose log it is.
pub(super) fn named(line: Evidence, state: State) -> Evidence {
    let source = if line.source == "log" {
        format!("{state}.log")
    } else {
        line.source
    };
    Evidence { source, ..line }
}

fn is_syntax_error(lines: &[Evidence]) -> bool {
    lines.iter().any(|line| {
        let text = line.text.to_ascii_lowercase();
        [
            "syntaxerror",
            "syntax error",
            "indentationerror",
            "unexpected token",
            "parse error",
        ]
        .iter()
        .any(|word| text.contains(word))
    })
}

/// Identifiers and files that a patch brings.
struct Introduced {
    /// Identifier -> the first added line that holds it; not on any removed or context line.
    new: BTreeMap<String, Evidence>,
    /// Identifier -> the first added line that holds it, wherever else it stands.
    touched: BTreeMap<String, Evidence>,
}

static IDENTIFIER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_$][A-Za-z0-9_$]*").expect("a constant pattern"));

/// Names in an error message: quoted, or after `undefined:`, or the field a type has not. The
/// forms are those of compilers and loaders in general; which name is meant is decided by the gold
/// patch, not here.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"['"`‘“]([^'"`’”\s]{1,200})['"`’”]|undefined: (\S+)|field or method (\w+)|\.(\w+) undefined|symbol:\s+\w+\s+(\w+)|constant (\S+)|module named (\S+)"#,
    )
    .expect("a constant pattern")
});

impl Introduced {
    fn by(patch: &Patch) -> Self {
        let mut new = BTreeMap::new();
        let mut elsewhere = BTreeSet::new();
        let mut file = String::new();
        let mut in_hunk = false;
        for (number, line) in patch.as_bytes().split(|b| *b == b'\n').enumerate() {
            let line = String::from_utf8_lossy(line);
            if line.starts_with("diff --git ") {
                in_hunk = false;
            } else if let Some(path) = line.strip_prefix("+++ b/").filter(|_| !in_hunk) {
                path.clone_into(&mut file);
                // A new file is a new module under its stem.
                let stem = path
                    .rsplit('/')
                    .next()
                    .and_then(|name| name.split('.').next());
                if let Some(stem) = stem.filter(|stem| !stem.is_empty()) {
                    let place = Evidence::at("gold patch", number + 1, format!("{path}: {line}"));
                    new.entry(stem.to_owned()).or_insert(place);
                }
            } else if line.starts_with("@@ ") {
                in_hunk = true;
            } else if in_hunk && line.starts_with('+') {
                for name in IDENTIFIER.find_iter(&line[1..]) {
                    new.entry(name.as_str().to_owned()).or_insert_with(|| {
                        Evidence::at(
                            "gold patch",
                            number + 1,
                            format!("{file}: {}", line.trim_end()),
                        )
                    });
                }
            } else if in_hunk {
                elsewhere.extend(IDENTIFIER.find_iter(&line).map(|m| m.as_str().to_owned()));
            }
        }
        let touched = new.clone();
        new.retain(|name, _| !elsewhere.contains(name));
        Self { new, touched }
    }

    /// The first name of the proof lines that the patch introduces, else the first that it changes.
    fn explains(&self, lines: &[Evidence]) -> Option<(String, Evidence)> {
        let named: Vec<String> = lines.iter().flat_map(|line| names_in(&line.text)).collect();
        let find = |known: &BTreeMap<String, Evidence>| {
            named
                .iter()
                .find_map(|name| known.get_key_value(name))
                .map(|(n, e)| (n.clone(), e.clone()))
        };
        find(&self.new).or_else(|| find(&self.touched))
    }
}

fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for capture in NAMED.captures_iter(text) {
        let Some(found) = capture.iter().skip(1).flatten().next() else {
            continue;
        };
        // `a.b.c`, `a::b`, `./x.js`: the last part is the missing one, the others may be.
        let parts: Vec<&str> = IDENTIFIER
            .find_iter(found.as_str())
            .map(|m| m.as_str())
            .collect();
        names.extend(
            parts
                .iter()
                .rev()
                .filter(|part| part.len() > 1)
                .map(|part| (*part).to_owned()),
        );
    }
    names
}

/// Whether a test id belongs to a test named as in its source: `TestX`, `Class::test_x`, `title`.
pub(super) fn is_test_named(id: &str, name: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        let bare = text.split('[').next().unwrap_or(text);
        // libtest's remark is a part of the id, and none of the name in the source.
        let bare = bare.strip_suffix(" - should panic").unwrap_or(bare);
        // `test_x (package.module.Class.test_x)`: the dotted path says more than the name.
        let dotted = bare
            .strip_suffix(')')
            .and_then(|b| b.rsplit_once(" ("))
            .map(|(_, path)| path);
        let bare = dotted.filter(|path| !path.contains(' ')).unwrap_or(bare);
        if bare.contains(' ') {
            return vec![leaf(bare)];
        }
        bare.split([':', '.', '/', '#'])
            .filter(|p| !p.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (id, name) = (split(id), split(name));
    !name.is_empty() && (id.ends_with(&name) || id.windows(name.len()).any(|window| window == name))
}
