//! How much of a suite runs, by the time it takes.

use crate::support::{BASE, FIX, Place, ids, make_args};
use serde_json::Value;

/// Passes after its sleep; the pull request does not touch it.
const SLOW: (&str, &str) = (
    "tests/slow/test_slow.py",
    "import time\nimport unittest\n\n\nclass SlowTest(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(6)\n",
);
const PACKAGE: (&str, &str) = ("tests/slow/__init__.py", "");
const SLOW_ID: &str = "test_slow (tests.slow.test_slow.SlowTest.test_slow)";

/// What the plan says of the part that ran.
fn scope(place: &Place, instance: &str) -> Value {
    let plan = std::fs::read_to_string(place.path(&format!("out/{instance}/plan.json"))).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    plan["test_scope"].clone()
}

#[test]
fn a_suite_that_takes_too_long_is_cut_to_what_is_near_the_pull_request() {
    let place = Place::new();
    let base: Vec<(&str, &str)> = BASE.iter().copied().chain([SLOW, PACKAGE]).collect();
    let repo = place.repository("repo", &[&base, FIX]);
    let repo = repo.to_str().unwrap();
    let all = place
        .run(&make_args(
            repo,
            &["--instance-id", "me__whole-1", "--no-confirm"],
        ))
        .json();
    assert!(
        ids(&all, "PASS_TO_PASS").contains(&SLOW_ID.to_owned()),
        "{all}"
    );
    assert!(scope(&place, "me__whole-1").is_null());

    // A third of it is Base's, in which the slow test does not end.
    let brief = [
        "--instance-id",
        "me__part-1",
        "--no-confirm",
        "--scope-seconds",
        "9",
    ];
    let part = place.run(&make_args(repo, &brief)).json();
    assert_eq!(part["outcome"], "instance", "{part}");
    assert_eq!(ids(&part, "FAIL_TO_PASS"), ids(&all, "FAIL_TO_PASS"));
    assert!(
        !ids(&part, "PASS_TO_PASS").contains(&SLOW_ID.to_owned()),
        "{part}"
    );
    let scope = scope(&place, "me__part-1");
    assert_eq!(
        scope["reason"], "the whole suite did not end within 3 s in Base",
        "{scope}"
    );
    let dataset = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    let row = dataset
        .lines()
        .find(|line| line.contains("me__part-1"))
        .unwrap();
    assert!(
        row.contains("the whole suite did not end within 3 s in Base"),
        "{row}"
    );
}
