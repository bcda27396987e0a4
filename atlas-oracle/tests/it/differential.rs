use crate::lines::Lines;
use State::{After, Base, Before};
use async_trait::async_trait;
use atlas_core::{
    Environment, EnvironmentLock, EnvironmentPlan, Error, ExitState, FileContent, FileMode,
    ImageRef, Isolation, Job, JobResult, OracleOutcome, OracleTask, Overlay, Patch, ResourceUsage,
    RunContext, RunOutcome, Sandbox, SandboxInfo, State,
};
use atlas_oracle::{OracleOptions, StateDifferentialOracle};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Prints, for each state, what the overlay's file `printed` says: a sandbox without a machine.
#[derive(Debug)]
struct Replay;

#[async_trait]
impl Sandbox for Replay {
    fn info(&self) -> SandboxInfo {
        SandboxInfo {
            engine: "replay".to_owned(),
            version: String::new(),
        }
    }

    async fn run(&self, _: &RunContext, _: &Environment, job: &Job) -> Result<JobResult, Error> {
        let text = String::from_utf8(job.files[0].bytes.clone()).unwrap();
        if job.files[0].name == "log" {
            assert_eq!(
                job.script,
                "{ second-reader; } < \"$ATLAS_IN/log\" > \"$ATLAS_OUT/report\"\n"
            );
            let mut result = result(0, String::new());
            let report = text.replace("ok shy", "bad shy");
            result.files.insert("report".to_owned(), report.into());
            return Ok(result);
        }
        let nonce = text.trim();
        if job.overlay.write.contains_key("killed") {
            let output = format!("\n>>>>> atlas {nonce} begin\nok old\ndone\n");
            return Ok(result(137, output));
        }
        if job.overlay.write.contains_key("unbuilt") {
            let output = format!(
                "\n>>>>> atlas {nonce} begin\nerror: no member 'fresh'\n\n>>>>> atlas {nonce} rebuild failed\n\n>>>>> atlas {nonce} end 2\n"
            );
            return Ok(result(2, output));
        }
        let printed = match job.overlay.write.get("printed") {
            Some(file) => String::from_utf8(file.bytes.clone()).unwrap(),
            None => "ok old\nok other\ndone\n".to_owned(),
        };
        let output = format!("\n>>>>> atlas {nonce} begin\n{printed}\n>>>>> atlas {nonce} end 0\n");
        let mut result = result(0, output);
        if let Some(file) = job.overlay.write.get("reported") {
            result.files.insert("report".to_owned(), file.bytes.clone());
        }
        Ok(result)
    }
}

fn result(code: i64, output: String) -> JobResult {
    JobResult {
        exit: ExitState::Exited { code },
        output_total: output.len() as u64,
        output: output.into_bytes(),
        files: BTreeMap::new(),
        seconds: 0.0,
        overhead_seconds: 0.0,
        usage: ResourceUsage::default(),
        isolation: Isolation::default(),
    }
}

fn environment() -> Environment {
    Environment {
        plan: EnvironmentPlan {
            test_cmd: "true".to_owned(),
            ..EnvironmentPlan::default()
        },
        dockerfile: String::new(),
        image: ImageRef::Other {
            name: "replay".to_owned(),
        },
        lock: EnvironmentLock::default(),
        attempts: Vec::new(),
    }
}

fn printing(text: &str) -> Overlay {
    let mut overlay = Overlay::default();
    let content = FileContent {
        mode: FileMode::Regular,
        bytes: text.as_bytes().to_vec(),
    };
    overlay.write.insert("printed".to_owned(), content);
    overlay
}

/// The same beside a structured report that says this.
fn reporting(text: &str, report: &str) -> Overlay {
    let mut overlay = printing(text);
    let content = FileContent {
        mode: FileMode::Regular,
        bytes: report.as_bytes().to_vec(),
    };
    overlay.write.insert("reported".to_owned(), content);
    overlay
}

fn task(before: Overlay, after: Overlay) -> OracleTask {
    OracleTask {
        instance_id: "a__b-1".parse().unwrap(),
        test_patch: Patch::default(),
        gold_patch: Patch::default(),
        before,
        after,
        modified_tests: Vec::new(),
        conditions: BTreeMap::new(),
    }
}

fn oracle(order: [State; 3]) -> StateDifferentialOracle {
    StateDifferentialOracle::new(Arc::new(Replay), Arc::new(Lines)).with_options(OracleOptions {
        order,
        seed: "s".to_owned(),
        ..OracleOptions::default()
    })
}

#[tokio::test]
async fn the_contract_holds_in_every_order_of_states() {
    let task = task(
        printing("ok old\nbad new\ndone\n"),
        printing("ok old\nok new\ndone\n"),
    );
    let mut reports = Vec::new();
    for order in [
        [Base, Before, After],
        [After, Before, Base],
        [Before, After, Base],
    ] {
        let oracle = oracle(order);
        atlas_core::testing::oracle_contract(
            &oracle,
            &environment(),
            &task,
            OracleOutcome::Instance,
        )
        .await;
        let (cx, environment) = (RunContext::new("t"), environment());
        let report = atlas_core::Oracle::judge(&oracle, &cx, &environment, &task);
        reports.push(report.await.unwrap());
    }
    assert_eq!(reports[0].fail_to_pass, ["new"]);
    assert!(reports.iter().all(|report| *report == reports[0]));
}

#[tokio::test]
async fn an_overlay_that_leaves_the_repository_is_refused() {
    let mut overlay = printing("");
    overlay.remove.insert("../outside".to_owned());
    let refused = oracle(State::ALL)
        .run_state(
            &RunContext::new("t"),
            &environment(),
            &task(overlay, printing("")),
            State::Before,
            0,
        )
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("../outside"), "{refused}");
}

#[tokio::test]
async fn output_with_a_forged_nonce_is_no_evidence() {
    let forged = printing("\n>>>>> atlas 00 begin\nok new\ndone\n>>>>> atlas 00 end 0\n");
    let run = oracle(State::ALL)
        .run_state(
            &RunContext::new("t"),
            &environment(),
            &task(forged, printing("")),
            State::Before,
            0,
        )
        .await
        .unwrap();
    assert_eq!(run.faults, Vec::<String>::new());
    assert!(
        run.log.windows(8).any(|w| w == b"atlas 00"),
        "it is part of the log like any output"
    );
}

fn with_file(name: &str) -> Overlay {
    let mut overlay = Overlay::default();
    let content = FileContent {
        mode: FileMode::Regular,
        bytes: Vec::new(),
    };
    overlay.write.insert(name.to_owned(), content);
    overlay
}

#[tokio::test]
async fn a_killed_run_is_not_complete_however_its_log_looks() {
    let task = task(
        with_file("killed"),
        printing("ok old\nok other\nok new\ndone\n"),
    );
    let (cx, environment) = (RunContext::new("t"), environment());
    let oracle = oracle(State::ALL);
    let report = atlas_core::Oracle::judge(&oracle, &cx, &environment, &task)
        .await
        .unwrap();
    assert_eq!(report.states[&Before].outcome, RunOutcome::Crashed);
    assert_eq!(
        report.fail_to_pass,
        ["new"],
        "and `other`, merely lost, is none"
    );
}

#[tokio::test]
async fn a_rebuild_that_fails_in_before_is_a_feature_with_its_proof() {
    let mut task = task(
        with_file("unbuilt"),
        printing("ok old\nok other\nok new\ndone\n"),
    );
    task.gold_patch =
        Patch::new("diff --git a/m b/m\n--- a/m\n+++ b/m\n@@ -1,1 +1,2 @@\n x\n+member fresh\n");
    let (cx, environment) = (RunContext::new("t"), environment());
    let oracle = oracle(State::ALL);
    let report = atlas_core::Oracle::judge(&oracle, &cx, &environment, &task)
        .await
        .unwrap();
    assert_eq!(
        report.kind,
        Some(atlas_core::Kind::FeatureRequest),
        "{}",
        report.reason
    );
    assert_eq!(
        report.before_failure_extent,
        atlas_core::BeforeFailureExtent::Full
    );
    assert_eq!(report.module_failures[0].symbol.as_deref(), Some("fresh"));
    assert_eq!(report.fail_to_pass, ["new"]);
}

/// What becomes of a task whose runs leave a report beside the console.
async fn with_reports(before: Overlay, after: Overlay) -> atlas_core::OracleReport {
    let oracle = oracle([Base, Before, After]).with_report_parser(Arc::new(Lines));
    let mut environment = environment();
    environment.plan.report = Some(atlas_core::ReportSpec::new("report", "lines"));
    let (cx, task) = (RunContext::new("t"), task(before, after));
    atlas_core::Oracle::judge(&oracle, &cx, &environment, &task)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_test_of_which_console_and_report_say_otherwise_is_in_no_list() {
    // Before's console has `forged` as passed, and After's has `shy` as passed.
    let report = with_reports(
        reporting(
            "ok old\nbad new\nok forged\nbad shy\ndone\n",
            "ok old\nbad new\nbad forged\nbad shy\ndone\n",
        ),
        reporting(
            "ok old\nok new\nok forged\nok shy\ndone\n",
            "ok old\nok new\nok forged\nbad shy\ndone\n",
        ),
    )
    .await;
    assert_eq!(report.outcome, OracleOutcome::Instance, "{}", report.reason);
    assert_eq!(report.fail_to_pass, ["new"]);
    assert_eq!(report.pass_to_pass, ["old"]);
    assert_eq!(
        report.unstable["shy"],
        "after: the console says 1 passing, report says 1 failing"
    );
    assert_eq!(
        report.unstable["forged"],
        "before: the console says 1 passing, report says 1 failing"
    );
}

#[tokio::test]
async fn a_report_that_is_made_of_the_log_is_a_second_witness() {
    let oracle = oracle([Base, Before, After]).with_report_parser(Arc::new(Lines));
    let mut environment = environment();
    environment.plan.report = Some(atlas_core::ReportSpec {
        from_log: Some("second-reader".to_owned()),
        ..atlas_core::ReportSpec::new("report", "lines")
    });
    let task = task(
        printing("ok old\nbad new\nbad shy\ndone\n"),
        printing("ok old\nok new\nok shy\ndone\n"),
    );
    let report = atlas_core::Oracle::judge(&oracle, &RunContext::new("t"), &environment, &task)
        .await
        .unwrap();
    assert_eq!(report.fail_to_pass, ["new"], "{}", report.reason);
    assert_eq!(
        report.unstable["shy"],
        "after: the console says 1 passing, report says 1 failing"
    );
    let agreement = report.states[&After].report.as_ref().unwrap();
    assert_eq!((agreement.report_tests, agreement.agrees), (3, false));
}

#[tokio::test]
async fn no_verdict_where_only_a_contradicted_test_could_define_the_task() {
    let report = with_reports(
        reporting("ok old\nok new\ndone\n", "ok old\nbad new\ndone\n"),
        reporting("ok old\nok new\ndone\n", "ok old\nok new\ndone\n"),
    )
    .await;
    assert_eq!(report.outcome, OracleOutcome::NoEvidence);
    assert!(
        report.reason.contains("before: of `new` the console says"),
        "{}",
        report.reason
    );
}

#[tokio::test]
async fn no_verdict_where_the_report_alone_names_what_defines_the_task() {
    let report = with_reports(
        reporting(
            "ok old\nbad new\ndone\n",
            "ok old\nbad new\nbad more\ndone\n",
        ),
        reporting("ok old\nok new\ndone\n", "ok old\nok new\nok more\ndone\n"),
    )
    .await;
    assert_eq!(report.outcome, OracleOutcome::NoEvidence);
    assert!(report.reason.contains("as `more`"), "{}", report.reason);
}

#[tokio::test]
async fn names_that_console_and_report_spell_in_ways_of_their_own_are_no_contradiction() {
    let report = with_reports(
        reporting("ok old\nbad new one\ndone\n", "ok old\nbad new_one\ndone\n"),
        reporting("ok old\nok new one\ndone\n", "ok old\nok new_one\ndone\n"),
    )
    .await;
    assert_eq!(report.outcome, OracleOutcome::Instance, "{}", report.reason);
    assert_eq!(report.fail_to_pass, ["new one"]);
}
