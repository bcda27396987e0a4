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

#[test]
fn settings_of_pytest_are_read_from_toml_of_pytest_9() {
    let settings = "testpaths = [\"tests\"]\naddopts = [\"-ra\", \"-q\"]\n";
    for (file, head) in [
        ("pyproject.toml", "[tool.pytest]"),
        ("pyproject.toml", "[tool.pytest.ini_options]"),
        ("pytest.toml", "[pytest]"),
    ] {
        let inside = folder(&[
            ("tests/test_p.py", "import pytest\n"),
            ("bench/test_b.py", "import pytest\n"),
            ("tox.ini", "[testenv:bench]\ncommands = pytest -n 2 bench\n"),
            (file, &format!("{head}\n{settings}")),
        ]);
        let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
        let command = &plan.test_cmd;
        assert!(command.contains("addopts=-ra"), "{file}: {command}");
        assert!(!command.ends_with("bench"), "{file}: {command}");
        let proof = &plan.evidence["log_parser_name"][0];
        assert_eq!(proof.source, file);
    }
}

#[test]
fn a_command_that_leaves_most_test_files_out_is_not_the_suite() {
    let inside = folder(&[
        ("tests/test_a.py", "import pytest\n"),
        ("tests/test_b.py", "import pytest\n"),
        ("bench/test_c.py", "import pytest\n"),
        ("requirements.txt", "pytest\n"),
        (
            "tox.ini",
            "[testenv:bench]\ncommands = pytest bench\n[testenv:py]\ncommands = pytest tests/\n",
        ),
    ]);
    let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
    assert!(plan.test_cmd.ends_with(" tests/"), "{}", plan.test_cmd);
}

#[test]
fn comments_within_an_ini_value_are_no_options() {
    let value = "addopts =\n  # it's slow with\n  # -n auto\n\n  -ra\n  --doctest-modules\n  --cov\nmarkers =\n  slow\n";
    for (file, section) in [("pytest.ini", "pytest"), ("tox.ini", "pytest")] {
        let inside = folder(&[
            ("test_p.py", "import pytest\n"),
            ("requirements.txt", "pytest\npytest-cov\n"),
            (file, &format!("[{section}]\n{value}")),
        ]);
        let plan = plan(&repository(inside.path()), &AnalysisOptions::default());
        let overridden = plan.test_cmd.split("addopts=").nth(1).unwrap_or_default();
        assert!(
            overridden.contains("--doctest-modules") && !overridden.contains("slow"),
            "{file}: {}",
            plan.test_cmd
        );
    }
}
