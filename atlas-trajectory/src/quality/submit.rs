//! Structural validity (paper 001, appendix F.3, step 1).

use super::{Attempt, TrajectoryGate, finding, proof, verdict};
use crate::{Step, ToolCall, Trajectory};
use async_trait::async_trait;
use atlas_core::{Decision, Error, Evidence, Finding, RunContext, Severity, Verdict};
use regex::Regex;
use std::sync::LazyLock;

/// Refuses attempts that do not end with a final submit: an agent that ran out of steps, money or time may
/// leave a patch that passes, but shows nobody how work is ended.
///
/// A submit is the last call of the agent's last step: the command `submit`, the line that mini-swe-agent
/// wants to see (`echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`), or one of the tools `submit`, `finish`,
/// `mark_task_complete`. Claude Code and Codex have none: they end with an answer that calls no tool and that
/// they marked as the end. Where an exit status is recorded it must tell of a submission, too: SWE-agent
/// submits by itself what an agent leaves, as `submitted (exit_cost)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FinalSubmit;

/// `submit` as a command of its own, or mini-swe-agent's line printed by one.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)\A\s*submit(?:\s+-\S+)*\s*\z|(?:^|&&|;)\s*(?:echo|printf)\s+["']?COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\b"#,
    )
    .expect("the pattern is tested")
});

const TOOLS: [&str; 3] = ["submit", "finish", "mark_task_complete"];

impl FinalSubmit {
    /// The gate's name.
    pub const ID: &str = "final_submit";
}

fn is_submit(call: &ToolCall) -> bool {
    TOOLS.contains(&call.function_name.as_str())
        || call
            .command()
            .is_some_and(|command| COMMAND.is_match(command))
}

fn ends_by_answer(trajectory: &Trajectory, step: &Step) -> bool {
    let marked = match trajectory.agent.name.as_str() {
        "claude-code" => step.extra.get("stop_reason") == Some(&"end_turn".into()),
        "codex" => trajectory.extra.get("exit_status") == Some(&"task_complete".into()),
        _ => false,
    };
    marked && step.calls().is_empty() && !step.message.text().trim().is_empty()
}

fn look(trajectory: &Trajectory) -> Option<Finding> {
    let fatal = |code, message: String, evidence| {
        Some(finding(code, Severity::Fatal, message, vec![evidence]))
    };
    let Some(last) = trajectory.agent_steps().next_back() else {
        let none = Evidence::of(
            "steps",
            format!("{} steps, none of the agent", trajectory.steps.len()),
        );
        return fatal("no_steps", "the agent did nothing".to_owned(), none);
    };
    let is_submitted =
        last.calls().last().is_some_and(is_submit) || ends_by_answer(trajectory, last);
    if !is_submitted {
        let (part, text) = match last.calls().last() {
            Some(call) => ("action", call.text()),
            None => ("thought", last.message.text()),
        };
        let message = "the agent's last step is no final submit".to_owned();
        return fatal("no_final_submit", message, proof(last, part, &text));
    }
    let status = trajectory
        .extra
        .get("exit_status")
        .and_then(|status| status.as_str());
    match status {
        Some(status)
            if !["submitted", "task_complete"].contains(&status.to_lowercase().as_str()) =>
        {
            fatal(
                "exit_status",
                "the run did not end because the agent submitted".to_owned(),
                Evidence::of("exit_status", status),
            )
        }
        _ => None,
    }
}

#[async_trait]
impl TrajectoryGate for FinalSubmit {
    fn id(&self) -> &str {
        Self::ID
    }

    async fn check(&self, _: &RunContext, attempt: &Attempt) -> Result<Verdict, Error> {
        let found = verdict(Self::ID, look(&attempt.trajectory).into_iter().collect());
        debug_assert!(matches!(
            found.decision,
            Decision::Accept | Decision::Reject
        ));
        Ok(found)
    }
}
