//! pytest, unittest, Django's and other runners of Python.

use super::Act::{Judge, Part, Report, Whole, WholeIf};
use super::{Rule, Ruling, shadows};
use crate::change::Change;
use crate::sections::{Section, paths};
use crate::signal::SignalKind::{
    BuildProduct, RunnerConfig, RunnerHook, Shadowing, StartupHook, TestScript,
};
use crate::signal::SignalSeverity::{Suspicious, Tamper};

pub(super) const RULES: &[Rule] = &[
    // pytest imports it before the tests beside and below it; it can rewrite every report.
    Rule {
        files: &["conftest.py"],
        kind: RunnerHook,
        act: WholeIf(steers_tests_below, Suspicious),
        why: "pytest loads this file and lets it change how tests run and are reported",
    },
    // The first of these that pytest finds decides about options, plugins and warnings.
    Rule {
        files: &["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"],
        kind: RunnerConfig,
        act: WholeIf(may_be_root_of_tests, Suspicious),
        why: "pytest takes its options from this file",
    },
    Rule {
        files: &["tox.ini"],
        kind: RunnerConfig,
        act: Part(|change| Some(tox_ini(change))),
        why: "pytest or tox takes options from this part",
    },
    Rule {
        files: &["setup.cfg"],
        kind: RunnerConfig,
        act: Part(|change| Some(setup_cfg(change))),
        why: "pytest or another tool of the test run takes options from this part",
    },
    Rule {
        files: &["pyproject.toml"],
        kind: RunnerConfig,
        act: Part(|change| Some(pyproject(change))),
        why: "pytest or another tool of the test run takes options from this part",
    },
    // A plugin registered by an installed package is loaded by name.
    Rule {
        files: &["*.egg-info/", "*.dist-info/", "*.egg-link"],
        kind: RunnerHook,
        act: Whole(Suspicious),
        why: "metadata of an installed package can register plugins of the runner",
    },
    Rule {
        files: &["setup.py"],
        kind: RunnerHook,
        act: Report(|change| change.added().contains("pytest11")),
        why: "the package registers a plugin of pytest",
    },
    // `site` imports them at the start of every interpreter.
    Rule {
        files: &[
            "sitecustomize.py",
            "usercustomize.py",
            "sitecustomize/",
            "usercustomize/",
        ],
        kind: StartupHook,
        act: Whole(Tamper),
        why: "Python runs this module whenever it starts",
    },
    Rule {
        files: &["*.pth"],
        kind: StartupHook,
        act: WholeIf(is_path_file, Tamper),
        why: "Python runs the import lines of this file whenever it starts",
    },
    // A cached module without its check replaces the source beside it.
    Rule {
        files: &["__pycache__/", "*.pyc", "*.pyo"],
        kind: BuildProduct,
        act: Whole(Suspicious),
        why: "compiled Python can stand in for a test's source",
    },
    Rule {
        files: &[
            ".pytest_cache/",
            ".hypothesis/",
            ".tox/",
            ".nox/",
            ".venv/",
            "site-packages/",
        ],
        kind: BuildProduct,
        act: Whole(Suspicious),
        why: "what a tool of the test run keeps here steers the next run",
    },
    Rule {
        files: &["*.py", "*.so", "*.pyd"],
        kind: Shadowing,
        act: WholeIf(shadows::of_runner, Tamper),
        why: "Python finds this module before the one of the same name that the runner needs",
    },
    Rule {
        files: &["*.py", "*.so", "*.pyd"],
        kind: Shadowing,
        act: Report(shadows::of_library),
        why: "Python finds this module before the standard library's of the same name",
    },
    // Makes a package of a folder, and runs before its tests.
    Rule {
        files: &["__init__.py"],
        kind: RunnerHook,
        act: WholeIf(
            |change| change.is_new() && change.in_test_folder() && change.has_neighbours(),
            Suspicious,
        ),
        why: "this file makes a package of the tests' folder and runs before them",
    },
    // A compiled module is found before the source of the same name.
    Rule {
        files: &["*.so", "*.pyd"],
        kind: BuildProduct,
        act: WholeIf(
            |change| change.is_new() && change.in_test_folder(),
            Suspicious,
        ),
        why: "a compiled module stands in for a test's source",
    },
    Rule {
        files: &[".coveragerc"],
        kind: RunnerConfig,
        act: WholeIf(uses_coverage, Suspicious),
        why: "coverage loads plugins that this file names",
    },
    Rule {
        files: &["/noxfile.py"],
        kind: TestScript,
        act: WholeIf(|change| change.context.command.runs("nox"), Suspicious),
        why: "nox runs the tests as this file says",
    },
    Rule {
        files: &["/tasks.py", "tasks/"],
        kind: TestScript,
        act: WholeIf(
            |change| change.context.command.runs_any(&["invoke", "inv"]),
            Suspicious,
        ),
        why: "invoke runs the tests as this file says",
    },
    Rule {
        files: &["*.py"],
        kind: TestScript,
        act: Judge(module_of_command),
        why: "the test command runs this module",
    },
];

fn steers_tests_below(change: &Change<'_>) -> bool {
    change.in_base() || change.has_neighbours()
}

/// pytest looks for its configuration from the tests upwards.
fn may_be_root_of_tests(change: &Change<'_>) -> bool {
    change.in_base() || change.folder().is_empty() || change.has_neighbours()
}

fn is_path_file(change: &Change<'_>) -> bool {
    // The ending is also that of stored models, which are no text.
    let text = change
        .after
        .and_then(|file| std::str::from_utf8(&file.bytes).ok());
    change.path.contains("site-packages/")
        || text.is_some_and(|text| text.lines().any(|line| line.starts_with("import")))
}

fn uses_coverage(change: &Change<'_>) -> bool {
    change.context.command.runs("coverage") || change.context.command.runs("pytest")
}

fn uses_tox(change: &Change<'_>) -> bool {
    change.context.command.runs("tox")
}

fn tox_ini(change: &Change<'_>) -> Section {
    let mut wanted = vec!["pytest", "tool:pytest", "coverage:*"];
    if uses_tox(change) {
        wanted.extend(["tox", "tox:*", "testenv", "testenv:*"]);
    }
    Section::Ini(paths(&wanted))
}

fn setup_cfg(change: &Change<'_>) -> Section {
    let mut wanted = vec![
        "tool:pytest",
        "pytest",
        "aliases",
        "nosetests",
        "unittest",
        "coverage:*",
        "options.entry_points/pytest11",
        "entry_points/pytest11",
    ];
    if uses_tox(change) {
        wanted.extend(["tox:*", "testenv*"]);
    }
    Section::Ini(paths(&wanted))
}

fn pyproject(change: &Change<'_>) -> Section {
    let command = &change.context.command;
    let mut wanted = vec![
        "tool/pytest",
        "tool/coverage/run/plugins",
        "project/entry-points/pytest11",
        "tool/poetry/plugins/pytest11",
        "tool/flit/entrypoints/pytest11",
        "tool/pdm/entry-points/pytest11",
    ];
    if uses_tox(change) {
        wanted.push("tool/tox");
    }
    for (program, path) in [
        ("poe", "tool/poe"),
        ("task", "tool/taskipy"),
        ("pdm", "tool/pdm/scripts"),
        ("hatch", "tool/hatch/envs"),
        ("rye", "tool/rye/scripts"),
        ("nose2", "tool/nose2"),
    ] {
        if command.runs(program) {
            wanted.push(path);
        }
    }
    Section::Toml(paths(&wanted))
}

/// `python -m x.y` and `pytest -p x.y`.
fn module_of_command(change: &Change<'_>) -> Option<Ruling> {
    let is_it = change.context.command.modules.iter().any(|module| {
        let path = module.replace('.', "/");
        let forms = [".py", "/__main__.py", "/__init__.py"];
        forms.iter().any(|end| {
            let file = format!("{path}{end}");
            change.path == file || change.path == format!("src/{file}")
        })
    });
    is_it.then(|| super::everywhere::script(change, "the test command runs this module"))
}
