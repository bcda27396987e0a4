//! Synthesis on the smallest engine there can be: the checkout itself, commands run by bash.

use crate::analysis::repository;
use async_trait::async_trait;
use atlas_core::{
    BuildFailure, EnvSynthesizer, Environment, EnvironmentLock, EnvironmentPlan, Error, ErrorKind,
    Evidence, ExitState, ImageRef, Isolation, Job, JobResult, LostReason, ParsedLogBuilder,
    Repository, ResourceUsage, RunContext, RunOutcome, Sandbox, SandboxInfo, SynthesisOutcome,
    TestStatus,
};
use atlas_docker::{
    AnalysisOptions, BuildOutcome, Builder, FixedPlan, SymbolicSynthesizer, Trial, TrialRun,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

/// Builds in place and runs in place.
#[derive(Debug)]
struct InPlace;

fn bash(script: &str, folder: &Path) -> Output {
    Command::new("bash")
        .args(["-c", script])
        .current_dir(folder)
        .output()
        .unwrap()
}

#[async_trait]
impl Builder for InPlace {
    fn engine(&self) -> &'static str {
        "local"
    }

    async fn build(
        &self,
        cx: &RunContext,
        repository: &Repository,
        plan: &EnvironmentPlan,
        _dockerfile: &str,
    ) -> Result<BuildOutcome, Error> {
        cx.check("build")?;
        for command in &plan.paper_build() {
            let done = bash(command, &repository.checkout);
            if !done.status.success() {
                return Ok(BuildOutcome::Failed(BuildFailure {
                    step: command.clone(),
                    exit_code: done.status.code().map(i64::from),
                    stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
                    stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
                }));
            }
        }
        let path = repository.checkout.clone();
        Ok(BuildOutcome::Built {
            image: ImageRef::Local { path },
            plan: plan.clone(),
            lock: EnvironmentLock::default(),
            seconds: 0.0,
            log: Vec::new(),
        })
    }

    async fn discard(&self, _image: &ImageRef) -> Result<(), Error> {
        Ok(())
    }
}

#[async_trait]
impl Sandbox for InPlace {
    fn info(&self) -> SandboxInfo {
        SandboxInfo::default()
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        cx.check("run")?;
        let ImageRef::Local { path } = &environment.image else {
            return Err(Error::new(ErrorKind::InvalidInput, "run", "no folder"));
        };
        let done = bash(&job.script, path);
        let code = i64::from(done.status.code().unwrap_or(-1));
        Ok(JobResult {
            exit: ExitState::Exited { code },
            output_total: done.stdout.len() as u64,
            output: done.stdout,
            files: BTreeMap::new(),
            seconds: 0.0,
            overhead_seconds: 0.0,
            usage: ResourceUsage::default(),
            isolation: Isolation::default(),
        })
    }
}

fn rust_like(build: &str) -> FixedPlan {
    FixedPlan {
        plan: EnvironmentPlan {
            language: "rust".to_owned(),
            base_image: "rust:1.95-slim-bookworm".to_owned(),
            build: vec![build.to_owned()],
            test_cmd: "cargo test".to_owned(),
            log_parser_name: "cargo".to_owned(),
            ..EnvironmentPlan::default()
        },
        builder: Arc::new(InPlace),
        sandbox: Arc::new(InPlace),
        trial: None,
    }
}

#[tokio::test]
async fn a_fixed_plan_keeps_the_contract() {
    let good = tempfile::tempdir().unwrap();
    let broken = tempfile::tempdir().unwrap();
    fs::write(good.path().join("ready"), "").unwrap();
    atlas_core::testing::env_synthesizer_contract(
        &rust_like("test -e ready"),
        &repository(good.path()),
        &repository(broken.path()),
    )
    .await;
}

#[tokio::test]
async fn a_failing_step_is_a_verdict_with_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = rust_like("echo out; echo no such library >&2; exit 9")
        .synthesize(&RunContext::new("test"), &repository(folder.path()))
        .await
        .unwrap();
    let SynthesisOutcome::NotBuildable {
        reason,
        attempts,
        dockerfile,
        evidence,
        ..
    } = outcome
    else {
        panic!("built");
    };
    assert!(
        reason.starts_with("the build failed with exit code 9 at `echo out"),
        "{reason}"
    );
    let failure = attempts[0].failure.as_ref().unwrap();
    assert_eq!((failure.exit_code, &*failure.stdout), (Some(9), "out\n"));
    assert_eq!(evidence[0].text, "no such library");
    assert!(dockerfile.unwrap().contains("RUN echo out"));
}

#[tokio::test]
async fn the_lock_lists_what_the_environment_holds() {
    let folder = tempfile::tempdir().unwrap();
    let lock = "version = 4\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n";
    fs::write(folder.path().join("Cargo.lock"), lock).unwrap();
    let outcome = rust_like("true")
        .synthesize(&RunContext::new("test"), &repository(folder.path()))
        .await
        .unwrap();
    let SynthesisOutcome::Ready { environment } = outcome else {
        panic!("not built");
    };
    assert_eq!(environment.lock.dependencies, ["a 1.0.0", "b 2.0.0"]);
    assert!(environment.lock.tools.contains_key("rustc"));
    assert!(
        environment.lock.tools["bash"].contains("bash"),
        "{:?}",
        environment.lock.tools
    );
}

#[tokio::test]
async fn analysis_without_a_plan_is_a_verdict_and_a_bad_fixed_plan_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let cx = RunContext::new("test");
    let symbolic = SymbolicSynthesizer {
        builder: Arc::new(InPlace),
        sandbox: Arc::new(InPlace),
        options: AnalysisOptions::default(),
    };
    let outcome = symbolic
        .synthesize(&cx, &repository(folder.path()))
        .await
        .unwrap();
    assert!(matches!(
        outcome,
        SynthesisOutcome::NotBuildable {
            dockerfile: None,
            ..
        }
    ));
    let mut fixed = rust_like("true");
    "cobol".clone_into(&mut fixed.plan.language);
    let why = fixed
        .synthesize(&cx, &repository(folder.path()))
        .await
        .unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
    assert!(why.chain().contains("cobol"), "{}", why.chain());
}

/// A trial run of this log.
#[derive(Debug)]
struct Recorded(&'static str);

#[async_trait]
impl TrialRun for Recorded {
    async fn run(&self, _: &RunContext, _: &Environment) -> Result<Trial, Error> {
        let mut log = ParsedLogBuilder::new("cargo");
        for line in self.0.lines() {
            if let Some(name) = line.strip_prefix("ok ") {
                log.record(name, name, name, TestStatus::Passed);
            }
            if let Some(name) = line.strip_prefix("lost ") {
                let proof = vec![Evidence::at("log", 1, "linker `cc` not found")];
                log.lose(name, LostReason::BuildFailed, proof);
            }
        }
        Ok(Trial {
            log: self.0.as_bytes().to_vec(),
            parsed: log.finish(RunOutcome::Completed),
            exit: ExitState::Exited { code: 101 },
            plan: None,
        })
    }
}

#[tokio::test]
async fn a_fixed_plan_in_which_no_test_can_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let made = async |log| {
        let plan = FixedPlan {
            trial: Some(Arc::new(Recorded(log))),
            ..rust_like("true")
        };
        plan.synthesize(&RunContext::new("test"), &repository(folder.path()))
            .await
            .unwrap()
    };
    let SynthesisOutcome::Ready { environment } = made("ok a\nok b\nlost c").await else {
        panic!("refused");
    };
    let note = "`c` does not load in Base: linker `cc` not found";
    let drift = &environment.plan.drift;
    assert!(drift.iter().any(|line| line == note), "{drift:?}");

    for log in ["", "ok a\nlost b\nerror: linker `cc` not found"] {
        let SynthesisOutcome::NotBuildable {
            reason,
            attempts,
            evidence,
            ..
        } = made(log).await
        else {
            panic!("accepted: {log}");
        };
        let failure = attempts[0].failure.as_ref().unwrap();
        assert_eq!((&*failure.step, failure.exit_code), ("tests", Some(101)));
        if log.is_empty() {
            assert_eq!(reason, "no test was seen to run");
        } else {
            assert!(reason.contains("do not load"), "{reason}");
            assert!(
                evidence[0].text.ends_with("linker `cc` not found"),
                "{evidence:?}"
            );
        }
    }
}
