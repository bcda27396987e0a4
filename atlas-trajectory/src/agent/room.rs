//! What an agent is given to work with.

use super::{AgentUsage, AttemptBudget, BudgetKind};
use crate::Step;
use async_trait::async_trait;
use atlas_core::{Error, ExitState, RunContext, StepResult};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most characters of a command's output that are kept for the record.
const KEPT: usize = 64 << 10;

/// Runs commands where the instance is.
#[async_trait]
pub trait AgentShell: fmt::Debug + Send {
    /// Runs one command.
    ///
    /// # Errors
    /// What is no doing of the command.
    ///
    /// # Cancellation
    /// As [`Session::step`](atlas_core::Session::step).
    async fn run(&mut self, cx: &RunContext, step: &atlas_core::Step) -> Result<StepResult, Error>;
}

#[async_trait]
impl AgentShell for Box<dyn atlas_core::Session> {
    async fn run(&mut self, cx: &RunContext, step: &atlas_core::Step) -> Result<StepResult, Error> {
        self.step(cx, step).await
    }
}

/// A command that ran in an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// The command.
    pub command: String,
    /// Its exit code; absent if a limit ended it.
    pub exit_code: Option<i64>,
    /// What it printed, of a long output the beginning and the end; bytes that are no UTF-8 are replaced.
    pub output: String,
    /// Bytes that it printed.
    pub output_bytes: u64,
    /// Wall time, in seconds.
    pub seconds: f64,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum RoomAnswer {
    /// It ran.
    Ran(StepResult),
    /// It did not: this budget is spent. The agent is to end.
    Stopped(BudgetKind),
}

/// A task's sandbox as its agent sees it, with the attempt's budget.
pub struct Room<'a> {
    shell: tokio::sync::Mutex<&'a mut dyn AgentShell>,
    budget: AttemptBudget,
    begun: Instant,
    state: Mutex<RoomRecord>,
}

/// What a room saw.
#[derive(Debug, Default)]
pub(super) struct RoomRecord {
    pub(super) commands: Vec<Executed>,
    pub(super) told: Vec<Step>,
    pub(super) usage: AgentUsage,
    pub(super) stopped: Option<BudgetKind>,
    pub(super) is_over: bool,
    /// What went wrong with the sandbox, which says nothing of the agent.
    pub(super) fault: Option<Error>,
    begun: u64,
}

impl fmt::Debug for Room<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Room({:?}, {:?})", self.budget, self.state)
    }
}

impl<'a> Room<'a> {
    /// A room over a shell. Its time begins now.
    pub fn new(shell: &'a mut dyn AgentShell, budget: AttemptBudget) -> Self {
        Self {
            shell: tokio::sync::Mutex::new(shell),
            budget,
            begun: Instant::now(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, RoomRecord> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_seen(self) -> RoomRecord {
        self.state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What the attempt may spend.
    pub fn budget(&self) -> &AttemptBudget {
        &self.budget
    }

    /// Seconds that are left.
    pub fn left(&self) -> Duration {
        Duration::from_secs(self.budget.seconds).saturating_sub(self.begun.elapsed())
    }

    /// The budget that is spent, if one is.
    pub fn stopped(&self) -> Option<BudgetKind> {
        let mut state = self.state();
        if state.stopped.is_none() && self.left().is_zero() {
            state.stopped = Some(BudgetKind::Seconds);
        }
        state.stopped
    }

    /// Whether nothing was asked of it yet.
    pub fn is_untouched(&self) -> bool {
        let state = self.state();
        state.begun == 0 && state.told.is_empty() && state.usage == AgentUsage::default()
    }

    /// Whether the sandbox has ended.
    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Runs one command in the sandbox, after those before it. Each starts in the repository's folder. Without
    /// `seconds`, and beyond the budget's, the budget's count.
    ///
    /// # Errors
    /// What is no doing of the command.
    ///
    /// # Cancellation
    /// As [`AgentShell::run`].
    pub async fn run(
        &self,
        cx: &RunContext,
        command: &str,
        seconds: Option<u64>,
    ) -> Result<RoomAnswer, Error> {
        let mut shell = self.shell.lock().await;
        if let Some(stopped) = self.begin() {
            return Ok(RoomAnswer::Stopped(stopped));
        }
        let most = self.budget.command_seconds;
        let left = self.left().as_secs().max(1);
        let step = atlas_core::Step {
            command: command.to_owned(),
            seconds: seconds.unwrap_or(most).clamp(1, most.max(1)).min(left),
            output_bytes: self.budget.output_bytes,
        };
        let result = match shell.run(cx, &step).await {
            Ok(result) => result,
            Err(why) => {
                let said = Error::new(why.kind(), "run a command of", "an agent");
                self.state().fault = Some(why);
                return Err(said);
            }
        };
        let mut state = self.state();
        state.is_over |= result.is_over;
        state.commands.push(Executed {
            command: command.to_owned(),
            exit_code: match result.exit {
                ExitState::Exited { code } => Some(code),
                ExitState::TimedOut | ExitState::OutOfMemory => None,
            },
            output: shortened(&result.output),
            output_bytes: result.output_total,
            seconds: result.seconds,
        });
        Ok(RoomAnswer::Ran(result))
    }

    /// Counts a command, unless a budget is spent.
    fn begin(&self) -> Option<BudgetKind> {
        if let Some(stopped) = self.stopped() {
            return Some(stopped);
        }
        let mut state = self.state();
        if state.begun >= self.budget.steps {
            state.stopped = Some(BudgetKind::Steps);
        } else {
            state.begun += 1;
        }
        state.stopped
    }

    /// Adds a step to the attempt's trajectory.
    pub fn tell(&self, step: Step) {
        self.state().told.push(step);
    }

    /// Counts what a call of the model cost, and says which budget is spent, if one is.
    pub fn spend(&self, more: AgentUsage) -> Option<BudgetKind> {
        let mut state = self.state();
        state.usage.add(more);
        if state.stopped.is_none() {
            let tokens = self.budget.tokens;
            if tokens.is_some_and(|most| state.usage.tokens() > most) {
                state.stopped = Some(BudgetKind::Tokens);
            } else if let Some(most) = self.budget.cost_usd
                && state.usage.cost_usd > most
            {
                state.stopped = Some(BudgetKind::Money);
            }
        }
        state.stopped
    }
}

/// A text of bounded length, of a long one the beginning and the end.
fn shortened(output: &[u8]) -> String {
    if output.len() <= KEPT {
        return String::from_utf8_lossy(output).into_owned();
    }
    let (head, tail) = (&output[..KEPT / 2], &output[output.len() - KEPT / 2..]);
    format!(
        "{}\n[{} bytes left out]\n{}",
        String::from_utf8_lossy(head),
        output.len() - KEPT,
        String::from_utf8_lossy(tail)
    )
}
