//! Pull requests whose tests are more, or less, than test functions.

use crate::support::{BASE, Place, git, ids, make_args};
use serde_json::Value;

const FIXED: (&str, &str) = ("calc/__init__.py", "def double(n):\n    return n + n\n");

/// Base, what the pull request writes and removes; the report of `make`, and the paths of the test
/// patch.
fn made(base: &[(&str, &str)], write: &[(&str, &str)], remove: &[&str]) -> (Value, Vec<String>) {
    let place = Place::new();
    let mut files = BASE.to_vec();
    files.extend_from_slice(base);
    let repo = place.repository("repo", &[&files]);
    for path in remove {
        git(&repo, &["rm", "-q", path]);
    }
    for (path, text) in write {
        let path = repo.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-q", "-m", "the pull request"]);
    let more = ["--instance-id", "me__calc-1"];
    let done = place.run(&make_args(repo.to_str().unwrap(), &more));
    let patch = std::fs::read_to_string(place.path("out/me__calc-1/test.patch")).unwrap();
    let paths = patch
        .lines()
        .filter_map(|line| line.strip_prefix("diff --git a/"))
        .map(|both| both.split(" b/").last().unwrap().to_owned())
        .collect();
    (done.json(), paths)
}

/// A test that reads its cases from a file, and a pull request that adds a case.
#[test]
fn only_data_changes() {
    let test = "import pathlib\nimport unittest\nfrom calc import double\n\n\nclass DataTest(unittest.TestCase):\n    def test_cases(self):\n        for line in pathlib.Path('tests/data/cases.txt').read_text().splitlines():\n            given, wanted = line.split()\n            self.assertEqual(double(int(given)), int(wanted))\n";
    let base = [
        ("tests/test_data.py", test),
        ("tests/data/cases.txt", "2 4\n"),
    ];
    let (report, paths) = made(
        &base,
        &[FIXED, ("tests/data/cases.txt", "2 4\n-2 -4\n")],
        &[],
    );
    assert_eq!(report["outcome"], "instance", "{report}");
    assert_eq!(paths, ["tests/data/cases.txt"]);
    assert_eq!(
        ids(&report, "FAIL_TO_PASS"),
        ["test_cases (tests.test_data.DataTest.test_cases)"]
    );
}

const NEGATIVE: &str = "import unittest\nfrom calc import double\n\n\nclass NegativeTest(unittest.TestCase):\n    def test_negative(self):\n        self.assertEqual(double(-2), -4)\n";

/// The test keeps its text and gets another name: it fails there before and passes after.
#[test]
fn only_a_test_files_name_changes() {
    let base = [("tests/test_old.py", NEGATIVE)];
    let (report, paths) = made(
        &base,
        &[FIXED, ("tests/test_new.py", NEGATIVE)],
        &["tests/test_old.py"],
    );
    assert_eq!(report["outcome"], "instance", "{report}");
    assert_eq!(paths, ["tests/test_new.py"]);
    assert_eq!(
        ids(&report, "FAIL_TO_PASS"),
        ["test_negative (tests.test_new.NegativeTest.test_negative)"]
    );
}

/// A test of the old behaviour goes: nothing is left that could tell a solution.
#[test]
fn only_a_test_is_removed() {
    let old = NEGATIVE.replace("-4)", "-2)");
    let base = [("tests/test_old.py", old.as_str())];
    let (report, paths) = made(&base, &[FIXED], &["tests/test_old.py"]);
    assert_eq!(report["outcome"], "reject_no_fail_to_pass", "{report}");
    assert_eq!(paths, ["tests/test_old.py"]);
}

/// What tests share changes, and with it a test whose own source does not.
#[test]
fn only_a_helper_changes() {
    let test = "import unittest\nfrom calc import double\nfrom tests.helpers import wanted\n\n\nclass HelpedTest(unittest.TestCase):\n    def test_helped(self):\n        self.assertEqual(double(-2), wanted(-2))\n";
    let base = [
        ("tests/test_helped.py", test),
        ("tests/helpers.py", "def wanted(n):\n    return n\n"),
    ];
    let helper = ("tests/helpers.py", "def wanted(n):\n    return 2 * n\n");
    let (report, paths) = made(&base, &[FIXED, helper], &[]);
    assert_eq!(report["outcome"], "instance", "{report}");
    assert_eq!(paths, ["tests/helpers.py"]);
    assert_eq!(
        ids(&report, "FAIL_TO_PASS"),
        ["test_helped (tests.test_helped.HelpedTest.test_helped)"]
    );
}
