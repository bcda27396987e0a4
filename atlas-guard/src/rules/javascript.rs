//! Jest, Vitest, Mocha, AVA, Karma, Jasmine and other runners of JavaScript and TypeScript.

use super::Act::{Judge, Part, Report, Whole, WholeIf};
use super::{Rule, Ruling, everywhere};
use crate::change::Change;
use crate::command::join;
use crate::sections::{Fragments, Section, paths};
use crate::signal::SignalKind::{
    BuildProduct, Dependencies, RunnerConfig, RunnerHook, Shadowing, TestScript,
};
use crate::signal::SignalSeverity::Suspicious;
use regex::Regex;
use std::sync::LazyLock;

pub(super) const RULES: &[Rule] = &[
    // Scripts that the command reaches, and the runners' own members.
    Rule {
        files: &["package.json"],
        kind: RunnerConfig,
        act: Part(package_json),
        why: "the runner or the test command takes this part",
    },
    Rule {
        files: &["package.json"],
        kind: TestScript,
        act: Report(changes_build_script),
        why: "the test command also runs this manifest's build scripts, which changed",
    },
    Rule {
        files: &[
            "jest.config.*",
            "jest.setup.*",
            "jest-*.config.*",
            "jest.*.config.*",
            "jest-preset.*",
            ".jestrc*",
            "vitest.config.*",
            "vitest.workspace.*",
            "vitest.setup.*",
            ".mocharc*",
            "mocha.opts",
            "karma.conf*",
            "karma.*.conf*",
            "ava.config.*",
            ".taprc",
            ".nycrc*",
            ".c8rc*",
            "nyc.config.*",
            "support/jasmine.*",
            "playwright.config.*",
            "cypress.config.*",
            "cypress.json",
            "wdio.conf*",
            "testem.*",
            "bunfig.toml",
            ".labrc.*",
            "web-test-runner.config.*",
            "intern.json",
        ],
        kind: RunnerConfig,
        act: WholeIf(not_a_fixture, Suspicious),
        why: "the runner takes its options from this file",
    },
    // Runners transpile the tests with it.
    Rule {
        files: &["babel.config.*", ".babelrc*", ".swcrc"],
        kind: RunnerConfig,
        act: WholeIf(not_a_fixture, Suspicious),
        why: "the tests' code is rewritten as this file says",
    },
    // One that Base does not have may stand in front of the one it has.
    Rule {
        files: &["vite.config.*"],
        kind: RunnerConfig,
        act: WholeIf(
            |change| change.is_new() && runs_vitest(change) && not_a_fixture(change),
            Suspicious,
        ),
        why: "vitest takes its options and plugins from this file",
    },
    Rule {
        files: &["vite.config.*"],
        kind: RunnerConfig,
        act: Part(|change| {
            let runs = runs_vitest(change) && not_a_fixture(change);
            runs.then_some(Section::Fragments(Fragments::Vite))
        }),
        why: "vitest takes this part",
    },
    Rule {
        files: &["vite.config.*"],
        kind: RunnerConfig,
        act: Report(|change| runs_vitest(change) && not_a_fixture(change)),
        why: "vitest loads this file too, with its plugins and aliases",
    },
    // What `ts-node` loads first.
    Rule {
        files: &["tsconfig.json", "tsconfig.*.json"],
        kind: RunnerConfig,
        act: Part(|change| not_a_fixture(change).then(|| Section::Json(paths(&["ts-node"])))),
        why: "ts-node takes this part before any test",
    },
    Rule {
        files: &[
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "/.yarn/",
            ".pnp.*",
        ],
        kind: Dependencies,
        act: WholeIf(
            |change| change.folder().is_empty() || change.in_command_folder(),
            Suspicious,
        ),
        why: "the package manager that starts the tests is steered by this file",
    },
    // Installed packages: the runner itself lies there.
    Rule {
        files: &["node_modules/"],
        kind: Dependencies,
        act: WholeIf(
            |change| !change.in_test_folder() && not_a_fixture(change),
            Suspicious,
        ),
        why: "a file among the installed packages, where the runner lies",
    },
    // Jest puts mocks beside `node_modules` in the place of packages without being asked.
    Rule {
        files: &["__mocks__/"],
        kind: Shadowing,
        act: WholeIf(adds_mock, Suspicious),
        why: "jest takes this file in the place of a module",
    },
    Rule {
        files: &[
            "*.js", "*.cjs", "*.mjs", "*.ts", "*.mts", "*.cts", "*.jsx", "*.tsx",
        ],
        kind: RunnerHook,
        act: Judge(set_up_file),
        why: "the runner's configuration loads this file before the tests",
    },
    Rule {
        files: &["/Gruntfile.*", "/gulpfile.*", "/gulpfile.js/"],
        kind: TestScript,
        act: Report(|change| change.context.command.runs_any(&["grunt", "gulp"])),
        why: "the test command runs tasks of this file",
    },
    Rule {
        files: &[".nyc_output/", ".jest-cache/", ".swc/"],
        kind: BuildProduct,
        act: Whole(Suspicious),
        why: "a cache that stands in for sources",
    },
];

/// Members of `package.json` that runners read.
const MEMBERS: &[&str] = &[
    "jest",
    "mocha",
    "ava",
    "vitest",
    "c8",
    "nyc",
    "tap",
    "jasmine",
    "karma",
    "jest-junit",
    "babel",
    "wireit",
    "ts-node",
    "tsd",
    "testem",
    "xo-tests",
    "mocha-junit-reporter",
];

fn package_json(change: &Change<'_>) -> Option<Section> {
    // A manifest in a folder of its own is seen by nothing of the instance.
    if !not_a_fixture(change) || change.is_new() && !change.has_neighbours() {
        return None;
    }
    let mut wanted = paths(MEMBERS);
    for script in change.context.command.targets("npm") {
        if !builds(script) {
            wanted.push(vec!["scripts".to_owned(), script.to_owned()]);
        }
    }
    Some(Section::Json(wanted))
}

/// One that Base has is a test file, for the rules about those.
fn adds_mock(change: &Change<'_>) -> bool {
    change.is_new()
}

/// Scripts where an honest patch adds a step.
fn builds(script: &str) -> bool {
    let plain = script.trim_start_matches("pre").trim_start_matches("post");
    [
        "build", "compile", "prepare", "bundle", "generate", "codegen", "install",
    ]
    .iter()
    .any(|word| plain.starts_with(word))
}

fn changes_build_script(change: &Change<'_>) -> bool {
    let scripts = |text: &str| -> serde_json::Value {
        let manifest: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        manifest.get("scripts").cloned().unwrap_or_default()
    };
    if !not_a_fixture(change) {
        return false;
    }
    let (old, new) = (scripts(&change.base_text()), scripts(&change.text()));
    let targets = change.context.command.targets("npm");
    let mut built = targets.iter().filter(|script| builds(script));
    built.any(|script| old.get(script) != new.get(script))
}

/// Whether the file is the project's own and none that tests or templates of it carry.
fn not_a_fixture(change: &Change<'_>) -> bool {
    let carried = [
        "fixtures",
        "__fixtures__",
        "fixture",
        "templates",
        "template",
        "examples",
        "example",
        "testdata",
        "boilerplate",
        "boilerplates",
        "generators",
    ];
    !change
        .folder()
        .split('/')
        .any(|part| carried.contains(&part))
}

fn runs_vitest(change: &Change<'_>) -> bool {
    let base = change.context.base;
    let manifest = base.read("package.json").map(String::from_utf8_lossy);
    change.context.command.runs("vitest")
        || manifest.is_some_and(|manifest| manifest.contains("\"vitest\""))
}

/// Files that Base's configurations name: `setupFiles`, `globalSetup`, mocha's `require`.
fn set_up_file(change: &Change<'_>) -> Option<Ruling> {
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?s)\b(setupFiles|setupFilesAfterEnv|setupTestFrameworkScriptFile|globalSetup|globalTeardown|testEnvironment|testRunner|reporters?|transform|snapshotSerializers|require|file|helpers|moduleNameMapper|resolver|runner)['\x22]?\s*[:=]\s*(\[[^\]]*\]|\{[^}]*\}|[^,\n]*)",
        )
        .expect("a pattern of this file")
    });
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"['"`]([^'"`\n]+)['"`]|-\s+(\S+)"#).expect("a pattern of this file")
    });
    let context = change.context;
    let configurations = context.places.within("").filter(|path| {
        let names = [
            "package.json",
            "jest.config.*",
            "vitest.config.*",
            "vite.config.*",
            ".mocharc*",
            "ava.config.*",
            "karma.conf*",
            "jasmine.json",
            ".taprc",
        ];
        names.iter().any(|name| crate::places::fits(name, path))
    });
    let names_it = |text: &str| {
        KEY.captures_iter(text).any(|found| {
            let value = found.get(2).map_or("", |value| value.as_str());
            LITERAL.captures_iter(value).any(|literal| {
                let name = literal.get(1).or_else(|| literal.get(2));
                let path = name.and_then(|name| join("", name.as_str()));
                path.is_some_and(|path| {
                    path == change.path
                        || change
                            .path
                            .rsplit_once('.')
                            .is_some_and(|(stem, _)| stem == path)
                })
            })
        })
    };
    let named = configurations.filter_map(|path| Some((path, context.base.read(path)?)));
    let named = named.into_iter().any(|(path, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        // Of a manifest the runners' members alone: `require` is a word of `exports` too.
        if path != "package.json" {
            return names_it(&text);
        }
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let members = MEMBERS.iter().filter_map(|member| manifest.get(member));
        members
            .into_iter()
            .any(|member| names_it(&member.to_string()))
    });
    named.then(|| {
        everywhere::script(
            change,
            "the runner's configuration loads this file before the tests",
        )
    })
}
