//! Rows for the SWE-bench harness, graded by the harness itself where a Python has it.

use crate::support::{BASE, Place, make_args};
use serde_json::Value;
use std::process::Command;

/// Grades a log by the harness's own function: prints whether the row is resolved.
const PEER: &str = "import json, sys
from swebench.harness.grading import get_eval_report
from swebench.harness.utils import make_test_spec
row = json.loads(open(sys.argv[1], encoding='utf-8').readline())
log = open(sys.argv[2], encoding='utf-8').read()
with open(sys.argv[2] + '.marked', 'w', encoding='utf-8') as file:
    file.write(f\"+ : '>>>>> Start Test Output'\\n{log}\\n+ : '>>>>> End Test Output'\\n\")
prediction = {'instance_id': row['instance_id'], 'model_name_or_path': 'gold', 'model_patch': row['patch']}
report = get_eval_report(make_test_spec(row), prediction, sys.argv[2] + '.marked', True)
print(json.dumps(report[row['instance_id']]['resolved']))
";

/// Tests with a docstring go by another name in the harness.
const DOCUMENTED: &[(&str, &str)] = &[
    ("calc/__init__.py", "def double(n):\n    return n + n\n"),
    (
        "tests/test_calc.py",
        "import unittest\nfrom calc import double\n\n\nclass CalcTest(unittest.TestCase):\n    \
         def test_positive(self):\n        self.assertEqual(double(2), 4)\n\n    \
         def test_negative(self):\n        \"\"\"Numbers below zero.\"\"\"\n        \
         self.assertEqual(double(-2), -4)\n",
    ),
];

#[test]
fn the_harness_resolves_its_row_after_and_not_before() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, DOCUMENTED]);
    let args = make_args(repo.to_str().unwrap(), &["--instance-id", "me__calc-1"]);
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(place.path(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let (own, theirs) = (read("out/dataset.jsonl"), read("out/swebench5.jsonl"));
    assert_eq!(own["instance_id"], theirs["instance_id"]);
    assert_eq!(
        own["FAIL_TO_PASS"],
        "[\"test_negative (tests.test_calc.CalcTest.test_negative)\"]"
    );
    let Some(python) = std::env::var_os("ATLAS_PEER_PYTHON") else {
        eprintln!("skipped in part: ATLAS_PEER_PYTHON names no Python with swebench");
        return;
    };
    for (state, is_resolved) in [("before", "false"), ("after", "true")] {
        let done = Command::new(&python)
            .args(["-c", PEER])
            .arg(place.path("out/swebench5.jsonl"))
            .arg(place.path(&format!("out/me__calc-1/{state}.log")))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let why = String::from_utf8_lossy(&done.stderr);
        assert_eq!(said.trim(), is_resolved, "{state}: {why} {theirs}");
    }
}
