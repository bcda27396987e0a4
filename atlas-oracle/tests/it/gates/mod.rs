//! Gates on pull requests of a small repository whose tests are shell scripts.

mod consistency;
mod evaluator;
mod integrity;
mod runs;
mod strength;
mod support;

use atlas_core::testing::validator_contract;
use atlas_core::{Decision, RunContext, Validator};
use atlas_oracle::{Gate, GoldPatch, NullPatch};
use support::Case;

const LIB: (&str, &str) = ("lib.sh", "add() { echo $(($1 - $2)); }\n");
const OLD: (&str, &str) = ("tests/old.sh", "[ \"$(add 1 0)\" = 1 ]\n");
const GOLD: &str = "--- a/lib.sh\n+++ b/lib.sh\n@@ -1 +1 @@\n-add() { echo $(($1 - $2)); }\n+add() { echo $(($1 + $2)); }\n";

/// A test patch with one new test of this text.
fn new_test(name: &str, text: &str) -> String {
    format!("--- /dev/null\n+++ b/tests/{name}.sh\n@@ -0,0 +1 @@\n+{text}\n")
}

#[tokio::test]
async fn a_sound_instance_passes_gold_and_null_patch() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    assert_eq!(case.candidate.oracle.fail_to_pass, ["tests/new.sh"]);
    let gold = GoldPatch::new(case.evaluator.clone());
    validator_contract(&gold, &case.candidate, Decision::Accept).await;
    let null = NullPatch::new(case.evaluator.clone(), 2);
    validator_contract(&null, &case.candidate, Decision::Accept).await;
}

#[tokio::test]
async fn a_test_that_the_gold_patch_fails_is_named() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let mut case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    case.candidate
        .oracle
        .pass_to_pass
        .push("tests/gone.sh".to_owned());
    let verdict = GoldPatch::new(case.evaluator)
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap();
    assert_eq!(verdict.decision, Decision::Reject);
    assert_eq!(verdict.findings[0].code, "not_resolved");
    assert_eq!(
        verdict.findings[0].evidence[0].text,
        "tests/gone.sh: not in the log"
    );
}

#[tokio::test]
async fn a_gold_patch_that_does_not_fit_is_rejected() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let mut case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    case.candidate.task.gold_patch = atlas_core::Patch::new(GOLD.replace("$1 - $2", "$1 * $2"));
    let gold = GoldPatch::new(case.evaluator.clone());
    validator_contract(&gold, &case.candidate, Decision::Reject).await;
}

/// A race that the solution mends: without it the test fails two times out of three.
#[tokio::test]
async fn a_test_that_now_and_then_passes_without_the_solution_is_found() {
    // Runs 0 to 2 are the oracle's own.
    let tests = new_test("race", "[ \"$(add 1 1)\" = 2 ] || [ $((RUN % 3)) = 2 ]");
    let case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    assert_eq!(case.candidate.oracle.fail_to_pass, ["tests/race.sh"]);
    let verdict = NullPatch::new(case.evaluator, 3)
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap();
    assert_eq!(verdict.decision, Decision::Reject);
    assert_eq!(
        verdict.quarantine["tests/race.sh"],
        "passes without the solution in 1 of 3 runs"
    );
}

/// What a prediction does to the instance's own test files is not taken.
#[tokio::test]
async fn a_prediction_cannot_rewrite_the_tests() {
    let tests = "--- a/tests/old.sh\n+++ b/tests/old.sh\n@@ -1 +1,2 @@\n [ \"$(add 1 0)\" = 1 ]\n+[ \"$(add 1 1)\" = 2 ]\n";
    let case = Case::new(&[LIB, OLD], GOLD, tests).await;
    assert_eq!(case.candidate.oracle.fail_to_pass, ["tests/old.sh"]);
    let forged = atlas_core::Patch::new(
        "--- a/tests/old.sh\n+++ b/tests/old.sh\n@@ -1 +1 @@\n-[ \"$(add 1 0)\" = 1 ]\n+true\n",
    );
    let laid = case
        .evaluator
        .lay_out(&RunContext::new("t"), &case.candidate, &forged)
        .await
        .unwrap();
    let atlas_oracle::LaidOut::Ready { overlay, notes } = laid else {
        panic!("{laid:?}");
    };
    assert_eq!(overlay, case.candidate.task.before);
    assert!(notes[0].contains("`tests/old.sh`"), "{notes:?}");
}

/// The gate for who asks for it looks at the row alone.
#[tokio::test]
async fn a_row_whose_parser_was_refused_is_rejected() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let mut case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    let gate = atlas_oracle::ParserCertificate;
    validator_contract(&gate, &case.candidate, Decision::NoEvidence).await;
    for (decision, wanted) in [
        ("certified", Decision::Accept),
        ("insufficient", Decision::Accept),
        ("refused", Decision::Reject),
    ] {
        let certificate = serde_json::json!({
            "parser": "mine", "decision": decision, "score": 0.5, "refused_by": ["flip"],
        });
        let column = serde_json::json!({"certificate": certificate});
        for column in [column.clone(), column.to_string().into()] {
            case.candidate.instance.set("atlas", column);
            validator_contract(&gate, &case.candidate, wanted).await;
        }
    }
    let mut usual = Gate::usual();
    usual.insert(0, "certificate");
    assert_eq!(usual, Gate::names());
}

/// One folder per gate, and the folder's name is the gate's.
#[test]
fn every_gate_has_a_folder_of_its_name() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gates");
    let mut folders: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut gates = Gate::names();
    gates.sort_unstable();
    assert_eq!(folders, gates);
}

/// A test that finds the nonce and writes an end marker of its own: what it hides does not count.
#[tokio::test]
async fn markers_that_stand_twice_resolve_nothing() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let mut case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    let forged = "printf 'ok tests/new.sh\\nok tests/old.sh\\ndone\\n'\nprintf '\\n>>>>> atlas %s end 0\\n' \"$NONCE\"\nexit 1\n";
    case.candidate.environment.plan.test_cmd = forged.to_owned();
    let verdict = GoldPatch::new(case.evaluator.clone())
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap();
    assert_eq!(verdict.decision, Decision::Reject);
    let codes: Vec<&str> = verdict.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["tampered"], "{:?}", verdict.findings);
    let consistency = atlas_oracle::OracleConsistency::new(
        case.oracle.clone(),
        atlas_oracle::ConsistencyOptions::default(),
    );
    validator_contract(&consistency, &case.candidate, Decision::Reject).await;
}
