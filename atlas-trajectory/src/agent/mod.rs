//! Agents that attempt tasks (paper 001, section 3.5).

mod audit;
mod bridge;
mod budget;
mod process;
mod room;

pub use audit::{Forbidden, ForbiddenRead, HiddenFacts, forbidden_reads};
pub use bridge::{answer_request, shell_client};
pub use budget::{AgentUsage, AttemptBudget, BudgetKind};
pub use process::{MiniSweAgent, ProcessAgent};
pub use room::{AgentShell, Executed, Room, RoomAnswer};

use crate::{AgentInfo, FinalMetrics, Source, Step, Trajectory};
use async_trait::async_trait;
use atlas_core::{Error, RunContext};
use serde_json::json;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What an agent is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTask {
    /// The instance.
    pub instance_id: String,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// The problem statement, with a hint where one is given.
    pub statement: String,
    /// The repository's folder in the sandbox.
    pub folder: String,
    /// A folder of this machine that is the attempt's own: for logs and recordings. It is there, and empty.
    pub out: PathBuf,
}

/// How an agent ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentEnd {
    /// In the agent's own words, as `Submitted`; empty where it says nothing.
    pub exit_status: String,
    /// Its own recording, where it leaves one; else what it told its [`Room`] counts.
    pub recording: Option<Trajectory>,
    /// Remarks for people: why it failed, what of a recording cannot be read.
    pub notes: Vec<String>,
}

/// Something that attempts tasks: a scaffold with a model behind it, a script.
///
/// # Contract
/// - It touches the repository through its [`Room`] alone.
/// - What happens is told as it happens: commands by [`Room::run`], and thoughts by [`Room::tell`], a stream of
///   ATIF steps, unless it leaves a recording.
/// - After [`RoomAnswer::Stopped`] it ends soon, and on its own.
/// - Two attempts share nothing; several go on at once.
///
/// # Cancellation
/// Raising `cx.cancel` or dropping the future ends everything that the attempt started.
#[async_trait]
pub trait Agent: fmt::Debug + Send + Sync {
    /// Who it is.
    fn info(&self) -> AgentInfo;

    /// What else decides what it does, for a fingerprint: its configuration. Default: nothing.
    fn settings(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Attempts a task.
    ///
    /// # Errors
    /// What makes any attempt senseless: a program that is not there, settings that are wrong. An attempt that
    /// fails is no error.
    async fn attempt(
        &self,
        cx: &RunContext,
        task: &AgentTask,
        room: &Room<'_>,
    ) -> Result<AgentEnd, Error>;
}

macro_rules! forward_agent {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<A: Agent + ?Sized> Agent for $ty {
            fn info(&self) -> AgentInfo { (**self).info() }
            fn settings(&self) -> serde_json::Value { (**self).settings() }
            async fn attempt(
                &self,
                cx: &RunContext,
                task: &AgentTask,
                room: &Room<'_>,
            ) -> Result<AgentEnd, Error> {
                (**self).attempt(cx, task, room).await
            }
        }
    )+};
}
forward_agent!(&A, Box<A>, Arc<A>);

/// One attempt, done.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempted {
    /// The agent's own recording, else the steps that it told, else its commands. In `extra` are the instance
    /// and how it ended.
    pub trajectory: Trajectory,
    /// Every command that ran, as the room saw it, whatever the agent says of it.
    pub commands: Vec<Executed>,
    /// `budget_steps` and the like where a budget ended it, `session_over` where the sandbox did, else the
    /// agent's own words.
    pub exit_status: String,
    /// What it spent, as far as it was told.
    pub usage: AgentUsage,
    /// Wall time, in seconds.
    pub seconds: f64,
    /// Remarks.
    pub notes: Vec<String>,
}

/// How long an agent may take to end once a budget is spent.
const GRACE: Duration = Duration::from_secs(20);

/// Has an agent attempt a task, within a budget.
///
/// # Errors
/// Those of the agent and of the shell.
///
/// # Cancellation
/// As of [`Agent::attempt`].
pub async fn attempt(
    cx: &RunContext,
    agent: &dyn Agent,
    task: &AgentTask,
    shell: &mut dyn AgentShell,
    budget: &AttemptBudget,
) -> Result<Attempted, Error> {
    let begun = Instant::now();
    let room = Room::new(shell, budget.clone());
    let within = Duration::from_secs(budget.seconds) + GRACE;
    let ended = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => {
            let of = task.instance_id.clone();
            return Err(Error::new(atlas_core::ErrorKind::Cancelled, "attempt", of));
        }
        ended = tokio::time::timeout(within, agent.attempt(cx, task, &room)) => ended,
    };
    let seconds = begun.elapsed().as_secs_f64();
    let (end, is_late) = match ended {
        Ok(end) => (end?, false),
        Err(_) => (AgentEnd::default(), true),
    };
    let seen = room.into_seen();
    if let Some(why) = seen.fault {
        return Err(why);
    }
    let exit_status = match seen.stopped {
        Some(kind) => format!("budget_{kind}"),
        None if is_late => format!("budget_{}", BudgetKind::Seconds),
        None if seen.is_over => "session_over".to_owned(),
        None => end.exit_status,
    };
    let mut trajectory = end.recording.unwrap_or_else(|| {
        let mut made = Trajectory {
            agent: agent.info(),
            ..Trajectory::new("")
        };
        made.push(Step::new(Source::User, task.statement.clone()));
        let steps = if seen.told.is_empty() {
            seen.commands.iter().enumerate().map(as_step).collect()
        } else {
            seen.told
        };
        for step in steps {
            made.push(step);
        }
        made
    });
    let extra = &mut trajectory.extra;
    extra.insert("instance_id".to_owned(), json!(task.instance_id));
    extra.insert("attempt".to_owned(), json!(task.attempt));
    extra.insert("exit_status".to_owned(), json!(exit_status));
    if seen.usage != AgentUsage::default() {
        // What a recording tells itself stands.
        let sums = trajectory
            .final_metrics
            .get_or_insert_with(FinalMetrics::default);
        sums.total_prompt_tokens
            .get_or_insert(seen.usage.prompt_tokens);
        sums.total_completion_tokens
            .get_or_insert(seen.usage.completion_tokens);
        sums.total_cost_usd.get_or_insert(seen.usage.cost_usd);
    }
    Ok(Attempted {
        trajectory,
        commands: seen.commands,
        exit_status,
        usage: seen.usage,
        seconds,
        notes: end.notes,
    })
}

/// A command as a step of an agent that says nothing.
fn as_step((at, executed): (usize, &Executed)) -> Step {
    let mut step = Step::new(Source::Agent, "");
    let id = format!("call_{}", at + 1);
    step.call(&id, "bash", json!({ "command": executed.command }));
    let output = crate::Content::Text(executed.output.clone());
    step.observe(Some(&id), output);
    step.extra
        .insert("exit_code".to_owned(), json!(executed.exit_code));
    step
}
