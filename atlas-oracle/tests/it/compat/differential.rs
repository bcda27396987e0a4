//! Against the installed harness itself, over logs made by chance: `ATLAS_SWEBENCH_PYTHON` names a
//! Python that has `swebench` 5, `ATLAS_SWEBENCH4_PYTHON` one that has version 4 and
//! `ATLAS_SWEBENCHPP_PYTHON` one that imports SWE-Bench++ by that name.

use super::{START, grade_log, row};
use atlas_core::Harness;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Grades each case with the harness and the summary reader of these tests, so that both sides read
/// the same statuses.
const SCRIPT: &str = r#"
import json, sys, tempfile, os, types
import swebench.harness.grading as grading
plus = hasattr(grading, "create_error_report")
five = hasattr(grading, "PARSER_REGISTRY")
def summary(log, spec=None):
    found = {}
    for line in log.split("\n"):
        if any(line.startswith(w) for w in ("FAILED", "PASSED", "SKIPPED", "ERROR", "XFAIL")):
            if line.startswith("FAILED"):
                line = line.replace(" - ", " ")
            parts = line.split()
            if len(parts) > 1:
                found[parts[1]] = parts[0]
    return found
os.chdir(tempfile.mkdtemp())
written = "logs/run_evaluation/run/model/o__r-1/report.json"
if plus:
    os.makedirs(os.path.dirname(written))
    grading.setup_logger = lambda *_: types.SimpleNamespace(log_file="")
elif five:
    grading.PARSER_REGISTRY["summary"] = summary
else:
    from collections import defaultdict
    grading.MAP_REPO_TO_PARSER = defaultdict(lambda: summary)
    grading.MAP_REPO_VERSION_TO_SPECS = defaultdict(lambda: {"1": {"test_cmd": "x"}})
out = []
path = "test_output.txt"
for case in json.load(sys.stdin):
    with open(path, "wb") as f:
        f.write(case["log"].encode())
    spec = types.SimpleNamespace(
        instance_id="o__r-1", log_parser=summary if plus else "summary",
        environment_config={"test_cmd": "x"}, eval_type=case["eval_type"], repo=case["repo"],
        version="1", FAIL_TO_PASS=case["f2p"], PASS_TO_PASS=case["p2p"])
    pred = {"instance_id": "o__r-1", "model_patch": "diff", "model_name_or_path": "model"}
    more = {"run_id": "run"} if plus else {}
    try:
        out.append(json.dumps(grading.get_eval_report(spec, pred, path, True, **more), indent=4))
    except Exception:
        out.append(open(written).read() if os.path.exists(written) else None)
        if os.path.exists(written):
            os.unlink(written)
json.dump(out, sys.stdout)
"#;

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

const PIECES: [&str; 46] = [
    "PASSED t::f",
    "PASSED t::f",
    "PASSED t::p",
    "PASSED t::p",
    "PASSED t::g",
    "FAILED t::f - why",
    "FAILED t::p",
    "FAILED t::x",
    "ERROR t::x",
    "ERROR t::p",
    "SKIPPED t::p",
    "SKIPPED t::f",
    "XFAIL t::f",
    "XPASS t::f",
    "SKIPPEDx t::f",
    "PASSED_ t::p",
    "PASSED t::c[log(a,b)]",
    "FAILED t::c[log(a,c)]",
    "SKIPPED t::c[log(a,d)]",
    "XFAIL t::c[log(a,e)]",
    "PASSEDy t::c[log(a,f)]",
    "PASSED",
    " PASSED t::f",
    "+ : '>>>>> Start Test Output'",
    "+ : '>>>>> Start Test Output'",
    "+ : '>>>>> End Test Output'",
    "+ : '>>>>> End Test Output'",
    ">>>>> Tests Timed Out",
    ">>>>> Some Tests Failed",
    ">>>>> Test Exit Code: 0",
    ">>>>> Test Exit Code: 1",
    ">>>>> Test Exit Code:\u{1c}\n\n-3",
    ">>>>> Test Exit Code: x",
    "Executed 3 of 3",
    "Executed 0 of 0",
    "Tests:\u{a0}3",
    "Test Suites: 1 failed, 2 total",
    "# tests 3",
    "x': ok",
    "x': ok \r",
    "Killed",
    "Killed\r",
    "ModuleNotFoundError",
    "Timeout error: 3 seconds exceeded.",
    "prose \u{2028} ü",
    "",
];

fn cases(count: usize) -> Vec<Value> {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let lists: [(&[&str], &[&str]); 5] = [
        (&["t::f"], &["t::p"]),
        (&["t::f", "t::g"], &["t::p"]),
        (&["t::f"], &["t::c[log(a"]),
        (&["t::c[log(a", "t::f"], &[]),
        (&[], &["t::p"]),
    ];
    (0..count)
        .map(|_| {
            let mut log = String::new();
            let framed = chance.below(4) > 0;
            if framed {
                log.push_str(START);
            }
            for _ in 0..=chance.below(6) {
                log.push_str(PIECES[chance.below(PIECES.len())]);
                log.push_str(["\n", "\n", "\n", "\r\n", "\r"][chance.below(5)]);
            }
            if framed {
                log.push_str(">>>>> End Test Output\n");
                if chance.below(3) == 0 {
                    log.push_str(">>>>> Test Exit Code: 1\n");
                }
            }
            let (f2p, p2p) = lists[chance.below(lists.len())];
            let eval_type = ["pass_and_fail", "pass_and_fail", "fail_only"][chance.below(3)];
            let repo = ["o/r", "o/r", "markedjs/marked"][chance.below(3)];
            json!({"log": log, "f2p": f2p, "p2p": p2p, "eval_type": eval_type, "repo": repo})
        })
        .collect()
}

fn compare(variable: &str, harness: Harness) {
    let Ok(python) = std::env::var(variable) else {
        println!("skipped: {variable} names no Python with the harness");
        return;
    };
    let cases = cases(10_000);
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(&serde_json::to_vec(&cases).unwrap())
        .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let answers: Vec<Option<String>> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers.len(), cases.len());
    let mut resolved = 0;
    for (case, theirs) in cases.iter().zip(answers) {
        let ids = |key: &str| -> Vec<&str> {
            let ids = case[key].as_array().unwrap();
            ids.iter().map(|id| id.as_str().unwrap()).collect()
        };
        let mut row = row(&ids("f2p"), &ids("p2p"));
        case["repo"].as_str().unwrap().clone_into(&mut row.repo);
        row.eval_type = serde_json::from_value(case["eval_type"].clone()).unwrap();
        let grade = grade_log(harness, &row, case["log"].as_str().unwrap());
        let ours = grade
            .report
            .map(|report| String::from_utf8(report.to_json_bytes()).unwrap());
        resolved += usize::from(grade.resolution == atlas_oracle::Resolution::Full);
        assert_eq!(ours, theirs, "{case}");
    }
    // Chance must have made enough of both kinds.
    assert!(resolved > 500 && resolved < 9_500, "{resolved} resolved");
    println!("{} logs, {resolved} resolved: equal", cases.len());
}

#[test]
fn version_5_itself_says_the_same() {
    compare("ATLAS_SWEBENCH_PYTHON", Harness::SweBench5);
}

#[test]
fn version_4_itself_says_the_same() {
    compare("ATLAS_SWEBENCH4_PYTHON", Harness::SweBench4);
}

#[test]
fn plus_plus_itself_says_the_same() {
    compare("ATLAS_SWEBENCHPP_PYTHON", Harness::SweBenchPp);
}
