//! Tests that one run of each state takes for a task's, and further runs do not.

use crate::support::{BASE, FIX, Place, ids, make_args};
use serde_json::Value;

const DEFINING: &str = "test_negative (tests.test_calc.CalcTest.test_negative)";

/// The fix of a bug over a base with one more test file.
fn repository(place: &Place, more: &[(&str, &str)]) -> String {
    let base: Vec<(&str, &str)> = BASE.iter().chain(more).copied().collect();
    let repo = place.repository("repo", &[&base, FIX]);
    repo.to_str().unwrap().to_owned()
}

fn row(place: &Place) -> Value {
    let dataset = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    serde_json::from_str(dataset.lines().next().unwrap()).unwrap()
}

#[test]
fn what_is_confirmed_says_so_in_report_and_row() {
    let place = Place::new();
    let repo = repository(&place, &[]);
    let report = place.run(&make_args(&repo, &[])).json();
    assert_eq!(ids(&report, "FAIL_TO_PASS"), [DEFINING], "{report}");
    let found = &report["confirmation"];
    assert_eq!(found["runs"]["before"], 3, "{found}");
    assert_eq!(found["runs"]["after"], 3, "{found}");
    assert_eq!(
        found["scope"],
        serde_json::json!(["tests.test_calc.CalcTest"])
    );
    assert_eq!(found["order"], "methods in reverse");
    assert!(found["seconds"].as_f64().unwrap() > 0.0, "{found}");
    let in_row = &row(&place)["atlas"]["confirmation"];
    assert_eq!(in_row["runs"], found["runs"]);
    assert_eq!(in_row["seconds"], Value::Null, "a row holds no times");
    for switch in [&["--no-confirm"][..], &["--confirm", "1"]] {
        let report = place.run(&make_args(&repo, switch)).json();
        let runs = &report["confirmation"]["runs"]["after"];
        assert_eq!(runs.as_u64(), (switch.len() == 2).then_some(1), "{report}");
    }
}

/// A test far from the pull request that passes by the clock, and by chance fails in Before and passes in
/// After: the first of these runs that takes it for the task's is the case.
#[test]
fn a_test_that_depends_on_time_does_not_define_the_task() {
    let clock = "import time\nimport unittest\n\n\nclass ClockTest(unittest.TestCase):\n    def test_even(self):\n        self.assertEqual(time.time_ns() // 1000 % 2, 0)\n";
    let id = "test_even (tests.test_clock.ClockTest.test_even)";
    for _ in 0..60 {
        let place = Place::new();
        let repo = repository(&place, &[("tests/test_clock.py", clock)]);
        let unconfirmed = place.run(&make_args(&repo, &["--no-confirm"])).json();
        if !ids(&unconfirmed, "FAIL_TO_PASS")
            .iter()
            .any(|test| test == id)
        {
            continue;
        }
        let report = place.run(&make_args(&repo, &[])).json();
        assert_eq!(report["outcome"], "instance", "{report}");
        assert_eq!(ids(&report, "FAIL_TO_PASS"), [DEFINING], "{report}");
        let why = report["confirmation"]["contradicted"][id].as_str().unwrap();
        assert!(why.contains("further run"), "{why}");
        assert!(row(&place)["atlas"]["unstable"][id].is_string());
        return;
    }
    panic!("the clock never failed in Before and passed in After");
}

/// The same where no other test defines the task: the verdict is no, and says why.
#[test]
fn a_task_of_chance_alone_is_rejected() {
    let text = |n: u32| {
        format!(
            "import random\nimport unittest\n\n\nclass ChanceTest(unittest.TestCase):\n    def test_chance(self):\n        self.assertGreater(random.random(), 0.5, {n})\n"
        )
    };
    let (old, new) = (text(1), text(2));
    let mut survived = 0;
    for _ in 0..60 {
        let place = Place::new();
        let base: Vec<(&str, &str)> = BASE
            .iter()
            .copied()
            .chain([("tests/test_chance.py", old.as_str())])
            .collect();
        let head = [
            (
                "calc/__init__.py",
                "def double(n):\n    return 2 * n if n > 0 else n\n",
            ),
            ("tests/test_chance.py", new.as_str()),
        ];
        let repo = place.repository("repo", &[&base, &head]);
        let repo = repo.to_str().unwrap();
        let unconfirmed = place.run(&make_args(repo, &["--no-confirm"]));
        if unconfirmed.code() != 0 {
            continue;
        }
        let done = place.run(&make_args(repo, &[]));
        // Chance holds in all further runs, too, once in some dozens of times.
        if done.code() == 0 {
            survived += 1;
            assert!(survived < 5, "{}", done.stdout());
            continue;
        }
        assert_eq!(done.code(), 3, "{}", done.stdout());
        let report = done.json();
        assert_eq!(report["outcome"], "reject_no_fail_to_pass", "{report}");
        let reason = report["reason"].as_str().unwrap();
        assert!(
            reason.contains("further runs") && reason.contains("test_chance"),
            "{reason}"
        );
        let dataset = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
        assert_eq!(dataset, "", "the row of the first run is gone");
        return;
    }
    panic!("chance never failed in Before and passed in After");
}

/// A test that passes in After only behind another one of its class, in the order of their names.
#[test]
fn a_test_whose_result_depends_on_order_does_not_define_the_task() {
    let test = "import unittest\nimport calc\n\n\nclass SeenTest(unittest.TestCase):\n    def test_a_doubles(self):\n        self.assertEqual(calc.double(4), 8)\n\n    def test_b_seen(self):\n        self.assertIn(4, getattr(calc, 'seen', []))\n";
    let place = Place::new();
    let base: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([("tests/test_seen.py", test)])
        .collect();
    let head = [
        (
            "calc/__init__.py",
            "seen = []\n\n\ndef double(n):\n    seen.append(n)\n    return n + n\n",
        ),
        FIX[1],
    ];
    let repo = place.repository("repo", &[&base, &head]);
    let repo = repo.to_str().unwrap();
    let id = "test_b_seen (tests.test_seen.SeenTest.test_b_seen)";
    let unconfirmed = place.run(&make_args(repo, &["--no-confirm"])).json();
    assert_eq!(
        ids(&unconfirmed, "FAIL_TO_PASS"),
        [id, DEFINING],
        "{unconfirmed}"
    );
    let report = place.run(&make_args(repo, &[])).json();
    assert_eq!(ids(&report, "FAIL_TO_PASS"), [DEFINING], "{report}");
    let why = report["confirmation"]["contradicted"][id].as_str().unwrap();
    assert!(why.starts_with("depends on order"), "{why}");
}

/// Names with random data in them reach no list.
#[test]
fn a_name_that_is_another_in_each_run_is_left_out() {
    // In the file of a test that fails in Before: a file that runs there without a failure and has no such test
    // shows by itself that the test exists only through the gold patch.
    let random = "\n\nimport random\nsetattr(CalcTest, f'test_{random.randrange(10**9)}', lambda self: None)\n";
    let place = Place::new();
    let tests = format!("{}{random}", FIX[1].1);
    let head = [FIX[0], (FIX[1].0, tests.as_str())];
    let repo = place.repository("repo", &[BASE, &head]);
    let repo = repo.to_str().unwrap();
    let unconfirmed = place.run(&make_args(repo, &["--no-confirm"])).json();
    assert_eq!(ids(&unconfirmed, "FAIL_TO_PASS").len(), 2, "{unconfirmed}");
    let report = place.run(&make_args(repo, &[])).json();
    assert_eq!(ids(&report, "FAIL_TO_PASS"), [DEFINING], "{report}");
    let contradicted = report["confirmation"]["contradicted"].as_object().unwrap();
    let why = contradicted.values().next().unwrap().as_str().unwrap();
    assert!(why.contains("not named alike"), "{why}");
}

/// A test that leaves a file behind and does not pass a second time in the same place is no flaky one.
#[test]
fn what_a_test_leaves_behind_is_no_contradiction() {
    let test = "import pathlib\nimport unittest\nfrom calc import double\n\n\nclass LeavesTest(unittest.TestCase):\n    def test_leaves(self):\n        path = pathlib.Path('left-behind')\n        self.assertFalse(path.exists())\n        path.touch()\n        self.assertEqual(double(-1), -2)\n";
    let place = Place::new();
    let base: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([("tests/test_leaves.py", test)])
        .collect();
    let repo = place.repository("repo", &[&base, FIX]);
    let report = place.run(&make_args(repo.to_str().unwrap(), &[])).json();
    let id = "test_leaves (tests.test_leaves.LeavesTest.test_leaves)";
    assert_eq!(ids(&report, "FAIL_TO_PASS"), [id, DEFINING], "{report}");
    assert!(
        report["confirmation"]["remarks"]
            .to_string()
            .contains("left behind"),
        "{report}"
    );
}
