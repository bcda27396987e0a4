//! pytest's command, as the repository's own configuration and commands have it.

use crate::analysis::{folder, plan, repository};
use atlas_docker::AnalysisOptions;

#[test]
fn a_suite_that_its_configuration_spreads_over_processes_stays_spread() {
    let inside = folder(&[
        ("test_p.py", "import pytest\n"),
        ("requirements.txt", "pytest\npytest-cov\npytest-xdist\n"),
        (
            "pytest.ini",
            "[pytest]\naddopts = -n auto --dist loadfile --cov=p -x\n",
        ),
    ]);
    let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
    assert!(
        plan.test_cmd
            .contains("-o addopts='-n auto --dist loadfile'"),
        "{}",
        plan.test_cmd
    );
}

#[test]
fn a_command_that_spreads_pytest_is_followed_where_the_plugin_is_named() {
    for (deps, command, expected) in [
        (
            "pytest-xdist",
            "{envpython} -m pytest -n 4 {posargs}",
            Some("-n 4"),
        ),
        (
            "pytest-xdist",
            "pytest -nauto --dist=loadfile tests",
            Some("-nauto --dist=loadfile"),
        ),
        ("pytest-cov", "pytest -n 4", None),
        ("pytest-xdist", "pytest -n", None),
        ("pytest-xdist", "pytest --no-header", None),
    ] {
        let tox = format!("[testenv]\ncommands =\n  {command}\ndeps =\n  pytest\n  {deps}\n");
        let inside = folder(&[
            ("tests/test_p.py", "import pytest\n"),
            ("setup.py", "from setuptools import setup\nsetup()\n"),
            ("tox.ini", &tox),
        ]);
        let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
        match expected {
            Some(words) => assert!(
                plan.test_cmd.contains(&format!(" {words}")),
                "{command}: {}",
                plan.test_cmd
            ),
            None => assert!(
                !plan.test_cmd.contains(" -n"),
                "{command}: {}",
                plan.test_cmd
            ),
        }
    }
}
