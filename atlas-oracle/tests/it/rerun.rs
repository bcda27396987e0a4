//! Several runs in one sandbox, with bash itself in the place of an engine.

use crate::lines::Lines;
use async_trait::async_trait;
use atlas_core::{
    Environment, EnvironmentLock, EnvironmentPlan, Error, ExitState, ImageRef, InstanceId,
    Isolation, Job, JobResult, Overlay, ResourceUsage, RunContext, Sandbox, SandboxInfo, State,
};
use atlas_oracle::{Rerun, Said, StateDifferentialOracle, StateRun, Variation};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

#[derive(Debug)]
struct Bash;

#[async_trait]
impl Sandbox for Bash {
    fn info(&self) -> SandboxInfo {
        SandboxInfo {
            engine: "bash".to_owned(),
            version: String::new(),
        }
    }

    async fn run(&self, _: &RunContext, _: &Environment, job: &Job) -> Result<JobResult, Error> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["in", "out", "repo"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        for file in &job.files {
            std::fs::write(folder.path().join("in").join(&file.name), &file.bytes).unwrap();
        }
        let done = Command::new("bash")
            .args(["-c", &job.script])
            .env("ATLAS_IN", folder.path().join("in"))
            .env("ATLAS_OUT", folder.path().join("out"))
            .env("ATLAS_REPO", folder.path().join("repo"))
            .output()
            .unwrap();
        Ok(JobResult {
            exit: ExitState::Exited {
                code: i64::from(done.status.code().unwrap_or(137)),
            },
            output_total: done.stdout.len() as u64,
            output: done.stdout,
            files: BTreeMap::new(),
            seconds: 3.0,
            overhead_seconds: 0.0,
            usage: ResourceUsage::default(),
            isolation: Isolation::default(),
        })
    }
}

async fn runs(rebuild: &[&str], commands: &[(&str, &str)]) -> Vec<StateRun> {
    let environment = Environment {
        plan: EnvironmentPlan {
            test_cmd: "false".to_owned(),
            rebuild: rebuild.iter().map(|step| (*step).to_owned()).collect(),
            ..EnvironmentPlan::default()
        },
        dockerfile: String::new(),
        image: ImageRef::Other {
            name: "bash".to_owned(),
        },
        lock: EnvironmentLock::default(),
        attempts: Vec::new(),
    };
    let reruns = commands.iter().map(|(prelude, test_cmd)| Rerun {
        test_cmd: (*test_cmd).to_owned(),
        prelude: (*prelude).to_owned(),
    });
    let variation = Variation::reruns(reruns.collect(), Vec::new(), 0);
    let id: InstanceId = "me__calc-1".parse().unwrap();
    let oracle = StateDifferentialOracle::new(Arc::new(Bash), Arc::new(Lines));
    let cx = RunContext::new("test");
    let files = (&id, &Overlay::default());
    let again = oracle.rerun(&cx, &environment, files, "after", &variation);
    again.await.unwrap()
}

fn said(state: State, run: &StateRun) -> Said {
    Said::of(state, run, run.parsed.tests().get("old").copied())
}

#[tokio::test]
async fn each_run_has_a_log_of_its_own_and_the_state_is_rebuilt_once() {
    let report = "touch \"$ATLAS_OUT/report\"; echo ok old; echo done";
    let last = "[ ! -e \"$ATLAS_OUT/report\" ] && [ \"$WORD\" = other ] && echo bad old; echo done; exit 3";
    let commands = [
        ("", report),
        ("", "[ $(wc -l <built) = 1 ] && echo ok old; echo done"),
        ("export WORD=other", last),
    ];
    let runs = runs(&["echo built >>built"], &commands).await;
    let of_each: Vec<Said> = runs.iter().map(|run| said(State::After, run)).collect();
    assert_eq!(of_each, [Said::Agrees, Said::Agrees, Said::Contradicts]);
    assert!(
        runs.iter()
            .all(|run| run.faults.is_empty() && run.tampering.is_empty())
    );
    assert_eq!(runs[2].summary.exit, ExitState::Exited { code: 3 });
    assert!((runs[0].summary.seconds - 1.0).abs() < 1e-9);
}

#[tokio::test]
async fn a_rebuild_that_fails_fails_in_each_run() {
    let runs = runs(
        &["echo no; exit 2"],
        &[("", "echo ok old"), ("", "echo ok old")],
    )
    .await;
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run.parsed.modules_not_loaded.len(), 1);
        assert_eq!(said(State::Before, &run), Said::Agrees);
    }
}

#[tokio::test]
async fn what_did_not_begin_is_no_run() {
    let runs = runs(
        &[],
        &[
            ("", "echo ok old; echo done"),
            ("", "kill -9 $$; sleep 1"),
            ("", "echo ok old"),
        ],
    )
    .await;
    assert_eq!(
        runs.len(),
        2,
        "the shell that would begin the third is gone"
    );
    assert_eq!(said(State::After, &runs[0]), Said::Agrees);
    assert_eq!(said(State::After, &runs[1]), Said::Nothing);
}
