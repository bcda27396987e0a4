//! What the test command names, and what shells and git run by themselves.

use super::Act::Whole;
use super::Act::{Judge, Part, Report, WholeIf};
use super::{Rule, Ruling, whole};
use crate::change::Change;
use crate::places::speaks_of_tests;
use crate::sections::{Fragments, Section};
use crate::signal::SignalKind::{Repository, RunnerConfig, StartupHook, TestScript};
use crate::signal::SignalSeverity::{Suspicious, Tamper};
use std::collections::BTreeSet;

pub(super) const RULES: &[Rule] = &[
    // Read by shells, direnv and git hooks, never by the program under test.
    Rule {
        files: &[
            "/.envrc",
            "/.bashrc",
            "/.bash_profile",
            "/.bash_login",
            "/.profile",
            "/.zshrc",
            "/.zshenv",
            "/.zprofile",
            "/.inputrc",
            "/.githooks/",
            "/.husky/",
            "/.gitconfig",
        ],
        kind: StartupHook,
        act: Whole(Suspicious),
        why: "a shell or git runs this by itself",
    },
    Rule {
        files: &[".gitattributes"],
        kind: Repository,
        act: Report(|change| {
            let added = change.added();
            ["filter=", "merge=", "diff=", "working-tree-encoding="]
                .iter()
                .any(|word| added.contains(word))
        }),
        why: "git changes files as this file says",
    },
    // Loaded by dotenv, bun, vitest and frameworks before the tests.
    Rule {
        files: &[
            "/.env",
            "/.env.test",
            "/.env.testing",
            "/.env.local",
            "/.env.test.local",
        ],
        kind: StartupHook,
        act: Report(|_| true),
        why: "some runners set environment variables from this file",
    },
    Rule {
        files: &["GNUmakefile", "makefile", "Makefile"],
        kind: TestScript,
        act: WholeIf(
            |change| {
                let first = ["GNUmakefile", "makefile", "Makefile"];
                let rank = |name: &str| first.iter().position(|one| *one == name);
                let mine = rank(change.name());
                let base = |name: &&&str| {
                    let path = format!("{}/{name}", change.folder());
                    change.context.base.exists(path.trim_start_matches('/'))
                };
                let theirs = first.iter().filter(base).find_map(|name| rank(name));
                change.is_new() && runs_make(change) && theirs.is_some_and(|at| mine < Some(at))
            },
            Tamper,
        ),
        why: "make reads this file instead of the repository's own",
    },
    Rule {
        files: &[
            "GNUmakefile",
            "makefile",
            "Makefile",
            "Makefile.am",
            "Makefile.in",
            "*.mk",
        ],
        kind: TestScript,
        act: Part(makefile),
        why: "the test command runs these rules",
    },
    Rule {
        files: &[
            "justfile",
            "Justfile",
            ".justfile",
            "Taskfile.yml",
            "Taskfile.yaml",
            "magefile.go",
        ],
        kind: TestScript,
        act: WholeIf(
            |change| change.context.command.runs_any(&["just", "task", "mage"]),
            Suspicious,
        ),
        why: "the test command runs tasks of this file",
    },
    Rule {
        files: &["*"],
        kind: TestScript,
        act: Judge(named_script),
        why: "the test command runs this file",
    },
    Rule {
        files: &["*"],
        kind: RunnerConfig,
        act: Judge(named_config),
        why: "the test command takes options from this file",
    },
];

fn runs_make(change: &Change<'_>) -> bool {
    !change.context.command.targets("make").is_empty() && change.in_command_folder()
}

/// The rules that the test command names, and those that these need and that speak of tests.
fn makefile(change: &Change<'_>) -> Option<Section> {
    if !runs_make(change) {
        return None;
    }
    let named = change.context.command.targets("make");
    let mut targets: BTreeSet<String> = named.into_iter().map(str::to_owned).collect();
    // A build rule is where an honest patch adds its object files.
    targets.retain(|target| !matches!(target.as_str(), "all" | "build" | "install" | "clean"));
    let text = change.base_text();
    for _ in 0..8 {
        let mut more = Vec::new();
        for line in text.lines() {
            let Some((left, right)) = line.split_once(':') else {
                continue;
            };
            if left.split_whitespace().any(|name| targets.contains(name)) {
                let needed = right
                    .split('#')
                    .next()
                    .unwrap_or_default()
                    .split_whitespace();
                let tests = needed.filter(|name| {
                    let lower = name.to_ascii_lowercase();
                    lower.contains("test") || lower.contains("check")
                });
                more.extend(tests.map(str::to_owned));
            }
        }
        let before = targets.len();
        targets.extend(more);
        if targets.len() == before {
            break;
        }
    }
    Some(Section::Fragments(Fragments::Make(targets)))
}

/// A script that the command runs: taken back where it is one for testing. `node bin/cli.js` may
/// be the program under test, so that stays and is told.
pub(super) fn script(change: &Change<'_>, why: &str) -> Ruling {
    if speaks_of_tests(change.path) || change.in_test_folder() {
        whole(change, Suspicious, why)
    } else {
        Ruling::Keep(
            Suspicious,
            format!("{why}; it stays, as it may be the program under test"),
        )
    }
}

fn named_script(change: &Change<'_>) -> Option<Ruling> {
    // `python setup.py test`: a manifest first of all.
    let named = change.context.command.scripts.contains(change.path) && change.name() != "setup.py";
    (named && !is_test_selection(change)).then(|| script(change, "the test command runs this file"))
}

fn named_config(change: &Change<'_>) -> Option<Ruling> {
    let named = change.context.command.configs.contains(change.path);
    // Manifests and makefiles have rules that look closer.
    let closer = [
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "pom.xml",
    ];
    let closer = closer.contains(&change.name()) || change.name().contains("akefile");
    (named && !closer).then(|| script_or_config(change))
}

fn script_or_config(change: &Change<'_>) -> Ruling {
    let why = "the test command takes options from this file";
    let data = [
        ".ini", ".cfg", ".toml", ".json", ".yml", ".yaml", ".xml", ".conf", ".opts",
    ];
    if data.iter().any(|end| change.path.ends_with(end)) || change.name().contains("config") {
        whole(change, Suspicious, why)
    } else {
        script(change, why)
    }
}

/// A test that the command selects is left to the rules about tests.
fn is_test_selection(change: &Change<'_>) -> bool {
    change.in_test_folder() && change.is_new()
}
