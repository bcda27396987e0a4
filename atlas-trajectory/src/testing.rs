//! What every [`Agent`] must do, yours included. Behind the feature `testing`; panics with a sentence.

use crate::{Agent, AgentShell, AgentTask, AttemptBudget, attempt};
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, ExitState, RunContext, Step, StepResult};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counts commands; each prints nothing and ends well.
#[derive(Debug, Default)]
struct Quiet(Arc<AtomicU64>);

#[async_trait]
impl AgentShell for Quiet {
    async fn run(&mut self, _: &RunContext, _: &Step) -> Result<StepResult, Error> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(StepResult {
            exit: ExitState::Exited { code: 0 },
            output: Vec::new(),
            output_total: 0,
            seconds: 0.0,
            is_over: false,
        })
    }
}

/// Checks an [`Agent`] that is willing to work: one that runs at least two commands whatever they print.
/// `folder` is an empty one for its files.
///
/// # Panics
/// When the contract is broken.
pub async fn agent_contract(agent: &dyn Agent, folder: &Path) {
    let info = agent.info();
    assert!(!info.name.is_empty(), "an agent has a name");
    assert_eq!(agent.info(), info, "and keeps it");
    assert_eq!(agent.settings(), agent.settings(), "settings do not change");
    let cx = RunContext::new("conformance");
    let task = |name: &str| {
        let out = folder.join(name);
        std::fs::create_dir_all(&out).unwrap_or_else(|why| panic!("{why}"));
        AgentTask {
            instance_id: "owner__name-1".to_owned(),
            attempt: 1,
            statement: "Nothing works".to_owned(),
            folder: "/testbed".to_owned(),
            out,
        }
    };
    let run = async |name: &str, budget: AttemptBudget| {
        let mut shell = Quiet::default();
        let done = attempt(&cx, agent, &task(name), &mut shell, &budget).await;
        let done = done.unwrap_or_else(|why| panic!("{}", why.chain()));
        (done, shell.0.load(Ordering::Relaxed))
    };
    let budget = AttemptBudget {
        steps: 30,
        seconds: 120,
        ..AttemptBudget::default()
    };
    let ((one, ran), (other, _)) = tokio::join!(run("one", budget.clone()), run("other", budget));
    assert!(ran >= 2, "it works through its room: {one:?}");
    assert_eq!(one.commands.len() as u64, ran, "every command is counted");
    assert_eq!(
        one.commands.len(),
        other.commands.len(),
        "attempts share nothing"
    );
    assert!(
        one.trajectory.agent_steps().count() > 0,
        "what it does is told"
    );

    let least = AttemptBudget {
        steps: 1,
        seconds: 120,
        ..AttemptBudget::default()
    };
    let begun = Instant::now();
    let (stopped, ran) = run("stopped", least).await;
    assert_eq!(ran, 1, "a spent budget runs nothing");
    assert_eq!(stopped.exit_status, "budget_steps");
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "and it ends soon"
    );

    let cancelled = RunContext::new("conformance");
    cancelled.cancel.cancel();
    let mut shell = Quiet::default();
    let task = task("cancelled");
    let budget = AttemptBudget::default();
    let done = attempt(&cancelled, agent, &task, &mut shell, &budget).await;
    assert_eq!(
        done.map_err(|why| why.kind()).err(),
        Some(ErrorKind::Cancelled),
        "a raised signal ends it"
    );
}
