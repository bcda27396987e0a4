//! What requests and answers are made of.

use crate::{Grade, Passed, RewardKind};
use atlas_core::Isolation;
use serde::{Deserialize, Serialize};

/// `POST /episodes`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {
    /// The instance.
    pub instance_id: String,
    /// Whether the row's hints are told. Default: no.
    #[serde(default)]
    pub hints: bool,
    /// What the reward is made of. Default: the server's.
    #[serde(default)]
    pub reward: Option<RewardKind>,
    /// A name for this request, at most 128 bytes: asked again by it, the answer is the same. Nobody else must be
    /// able to guess it.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// `POST /episodes/{episode}/step`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRequest {
    /// Text for bash.
    pub command: String,
    /// Wall time in seconds. Default: the server's.
    #[serde(default)]
    pub seconds: Option<u64>,
    /// As in [`ResetRequest`], within the episode.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// `POST /episodes/{episode}/submit` and `/fork`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedRequest {
    /// As in [`ResetRequest`], within the episode. A submission needs none: there is one in an episode.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// The answer to a reset and to a fork.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResetAnswer {
    /// The episode's name.
    pub episode: String,
    /// What each request on it must bring as bearer token.
    pub token: String,
    /// What the agent is told.
    pub observation: Observation,
    /// What the reward is made of.
    pub reward: RewardKind,
    /// Whether the session waited ready, was made for it, or is a fork.
    pub from: String,
}

/// What an agent is told at the beginning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observation {
    /// The instance.
    pub instance_id: String,
    /// `owner/name`.
    pub repo: String,
    /// The commit that the files are of.
    pub base_commit: String,
    /// What is asked for.
    pub problem_statement: String,
    /// The row's hints, where the reset asked for them and there are some.
    pub hints: Option<String>,
    /// Where commands start.
    pub working_directory: String,
    /// How commands are kept apart.
    pub isolation: Isolation,
    /// What may be run, in a sentence for an agent.
    pub may_run: String,
    /// What is allowed.
    pub limits: LimitsTold,
}

/// What is allowed in an episode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LimitsTold {
    /// Wall time of the episode, in seconds.
    pub episode_seconds: u64,
    /// Seconds without a request after which it is ended.
    pub idle_seconds: u64,
    /// Commands.
    pub steps: u32,
    /// Seconds of a command that names none.
    pub step_seconds: u64,
    /// Most seconds that a command may name.
    pub step_seconds_most: u64,
    /// Bytes of a command's output that are told.
    pub output_bytes: u64,
}

/// The answer to a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepAnswer {
    /// Standard output and standard error as one text; bytes that are no UTF-8 are replaced.
    pub output: String,
    /// Bytes that the command printed, those that are not told included.
    pub output_total: u64,
    /// Whether there were more than are told.
    pub is_truncated: bool,
    /// How it ended: `exited`, `timed_out`, `out_of_memory`.
    pub ended: String,
    /// The exit code, where it ended by itself.
    pub exit_code: Option<i64>,
    /// Wall time of the command.
    pub seconds: f64,
    /// The session took no more commands after this one: it can be submitted or ended.
    pub is_over: bool,
    /// Commands that are left.
    pub steps_left: u32,
    /// Seconds that are left of the episode.
    pub seconds_left: u64,
}

/// The answer to a submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubmitAnswer {
    /// From 0 to 1; null where nothing could be found out.
    pub reward: Option<f64>,
    /// What it is made of.
    pub kind: RewardKind,
    /// Why, in a sentence.
    pub cause: String,
    /// Whether the patch solves the instance; null where nothing could be found out.
    pub resolved: Option<bool>,
    /// The tests that define the task.
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: Passed,
    /// The tests that guard the rest.
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: Passed,
    /// The whole verdict, as `atlas eval` writes it.
    pub verdict: serde_json::Value,
}

impl SubmitAnswer {
    pub(crate) fn new(kind: RewardKind, grade: Grade) -> Self {
        Self {
            reward: kind.of(&grade),
            kind,
            cause: grade.cause,
            resolved: grade.resolved,
            fail_to_pass: grade.fail_to_pass,
            pass_to_pass: grade.pass_to_pass,
            verdict: grade.verdict,
        }
    }
}

/// The answer to `GET` and `DELETE` of an episode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StateAnswer {
    /// The episode's name.
    pub episode: String,
    /// The instance.
    pub instance_id: String,
    /// `open`, `submitted` (its verdict is on its way), `graded`, `ended` (without a submission).
    pub state: String,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What the submission brought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<SubmitAnswer>,
}

/// The answer to whatever could not be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorAnswer {
    /// What.
    pub error: ErrorTold,
}

/// Why something could not be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorTold {
    /// A stable word, for programs.
    pub kind: String,
    /// A sentence, for people.
    pub message: String,
}
