//! What the instance's own patches touch.

use crate::support::{Case, case};
use atlas_guard::SignalKind::{RunnerConfig, RunnerHook};
use atlas_guard::SignalSeverity::Suspicious;

const PYPROJECT: &str =
    "[project]\nname = \"shop\"\n\n[tool.pytest.ini_options]\naddopts = \"-ra\"\n";
const GOLD_MANIFEST: &str = "diff --git a/pyproject.toml b/pyproject.toml\n--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -1,5 +1,6 @@\n [project]\n name = \"shop\"\n+version = \"2\"\n \n [tool.pytest.ini_options]\n addopts = \"-ra\"\n";
const GOLD_SECTION: &str = "diff --git a/pyproject.toml b/pyproject.toml\n--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -4,2 +4,3 @@\n [tool.pytest.ini_options]\n addopts = \"-ra\"\n+markers = [\"slow\"]\n";
const GOLD_CONFTEST: &str = "diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+fixture = 1\n";

fn pytest() -> Case {
    case("pytest", "pytest")
        .base("pyproject.toml", PYPROJECT)
        .base("tests/test_a.py", "def test_a():\n    pass\n")
        .base("tests/conftest.py", "x = 1\n")
}

#[test]
fn the_instances_own_solution_passes_untouched() {
    let section = PYPROJECT.replace("\"-ra\"\n", "\"-ra\"\nmarkers = [\"slow\"]\n");
    let run = pytest()
        .gold(GOLD_SECTION)
        .gold(GOLD_CONFTEST)
        .write("pyproject.toml", &section)
        .write("conftest.py", "fixture = 1\n")
        .run();
    run.silent("pyproject.toml").silent("conftest.py");
    assert_eq!(run.guarded.signals, []);
}

#[test]
fn another_change_where_the_solution_steers_too_is_told() {
    let run = pytest()
        .gold(GOLD_SECTION)
        .gold(GOLD_CONFTEST)
        .write("pyproject.toml", &PYPROJECT.replace("-ra", "-p evil"))
        .write("conftest.py", "fixture = 2\n")
        .run();
    run.told("pyproject.toml", RunnerConfig, Suspicious).told(
        "conftest.py",
        RunnerHook,
        Suspicious,
    );
}

#[test]
fn a_manifest_that_the_solution_changes_elsewhere_is_still_restored() {
    let honest = PYPROJECT.replace("\"shop\"\n", "\"shop\"\nversion = \"3\"\n");
    let run = pytest()
        .gold(GOLD_MANIFEST)
        .write("pyproject.toml", &honest.replace("-ra", "-p evil"))
        .run();
    run.rewritten("pyproject.toml", &honest);
}

#[test]
fn files_of_the_test_patch_alone_come_as_they_are() {
    let tests = "--- a/tests/conftest.py\n+++ b/tests/conftest.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n";
    let run = pytest()
        .tests(tests)
        .write("tests/conftest.py", "x = 2\n")
        .run();
    run.silent("tests/conftest.py");
}

#[test]
fn a_section_that_the_test_patch_changes_is_the_test_patchs() {
    let with_tests = PYPROJECT.replace("-ra", "-rA");
    let tests = "--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -4,2 +4,2 @@\n [tool.pytest.ini_options]\n-addopts = \"-ra\"\n+addopts = \"-rA\"\n";
    let gold = "--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -1,2 +1,3 @@\n [project]\n name = \"shop\"\n+version = \"2\"\n";
    let honest = with_tests.replace("\"shop\"\n", "\"shop\"\nversion = \"2.0\"\n");
    let run = |text: &str| {
        pytest()
            .tests(tests)
            .gold(gold)
            .write("pyproject.toml", text)
            .run()
    };
    run(&honest).silent("pyproject.toml");
    run(&honest.replace("-rA", "-p evil")).rewritten("pyproject.toml", &honest);
}

#[test]
fn a_test_of_the_instance_keeps_its_place() {
    let tests = "--- /dev/null\n+++ b/tests/new/test_b.py\n@@ -0,0 +1 @@\n+x = 1\n";
    let run = pytest()
        .tests(tests)
        .write("tests/new/test_b.py", "x = 1\n")
        .write("tests/new", "a file\n")
        .run();
    run.silent("tests/new/test_b.py");
    assert!(!run.guarded.overlay.write.contains_key("tests/new"));
}

#[test]
fn patches_that_cannot_be_read_touch_nothing() {
    let run = pytest()
        .gold("no patch")
        .tests("@@ -1 +1")
        .write("conftest.py", "x\n")
        .run();
    run.taken("conftest.py", RunnerHook);
}
