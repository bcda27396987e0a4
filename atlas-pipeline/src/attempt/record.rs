//! What is kept of one attempt.

use crate::evaluate::{EvalOutcome, EvalVerdict};
use crate::store::{replace, write_atomically};
use atlas_core::{Error, ErrorKind, Isolation, Verdict};
use atlas_oracle::{Cause, Resolution};
use atlas_trajectory::{AgentInfo, AgentUsage, Executed, ForbiddenRead};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One attempt: `record.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// 1.
    pub schema_version: u32,
    /// Hash of everything that decides the attempt: row, agent, budget, hint.
    pub key: String,
    /// The instance.
    pub instance_id: String,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// The name under which it is graded.
    pub model_name_or_path: String,
    /// Who attempted.
    pub agent: AgentInfo,
    /// Whether a hint was given.
    pub hinted: bool,
    /// How it ended: the agent's own words, `budget_steps` (`tokens`, `seconds`, `money`), `session_over`,
    /// `exit_code_1`.
    pub exit_status: String,
    /// Commands that ran in the sandbox.
    pub steps: u64,
    /// What the agent told of its model's use.
    pub usage: AgentUsage,
    /// Wall time, in seconds.
    pub seconds: f64,
    /// How its commands were kept apart.
    pub isolation: Isolation,
    /// What it reached for that is hidden from it.
    pub forbidden: Vec<ForbiddenRead>,
    /// What quality gates say of its trajectory: `final_submit`, and `hint_words` where a hint was given.
    pub gates: Vec<Verdict>,
    /// The evaluator's verdict; absent until it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<AttemptVerdict>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// What the evaluator says of an attempt's patch, in short: the whole stands in the harness's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptVerdict {
    /// How far the evaluation came.
    pub outcome: EvalOutcome,
    /// Whether the instance is resolved.
    pub resolved: bool,
    /// The field's word.
    pub resolution: Resolution,
    /// Tests of FAIL_TO_PASS that pass, of how many.
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: (usize, usize),
    /// Tests of PASS_TO_PASS that pass, of how many.
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: (usize, usize),
    /// Why it is not resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The same in words.
    pub reasons: Vec<String>,
    /// SHA-256 of the patch.
    pub patch_sha256: String,
}

impl AttemptVerdict {
    pub(super) fn of(verdict: &EvalVerdict) -> Self {
        let count = |graded: &atlas_oracle::Graded| {
            let passed = graded.success.len();
            (passed, passed + graded.failure.len())
        };
        Self {
            outcome: verdict.outcome,
            resolved: verdict.resolved,
            resolution: verdict.resolution,
            fail_to_pass: count(&verdict.fail_to_pass),
            pass_to_pass: count(&verdict.pass_to_pass),
            cause: verdict.cause,
            reasons: verdict.reasons.clone(),
            patch_sha256: verdict.patch_sha256.clone(),
        }
    }
}

impl AttemptRecord {
    pub(super) fn new(id: &str, attempt: u32, agent: AgentInfo, key: String) -> Self {
        Self {
            schema_version: 1,
            key,
            instance_id: id.to_owned(),
            attempt,
            model_name_or_path: String::new(),
            agent,
            hinted: false,
            exit_status: String::new(),
            steps: 0,
            usage: AgentUsage::default(),
            seconds: 0.0,
            isolation: Isolation::default(),
            forbidden: Vec::new(),
            gates: Vec::new(),
            verdict: None,
            notes: Vec::new(),
        }
    }

    /// Of an attempt that could not be made.
    pub(super) fn without(mut self, why: String) -> Self {
        "not_made".clone_into(&mut self.exit_status);
        self.notes.push(why);
        self
    }

    /// Whether the instance is resolved.
    pub fn is_resolved(&self) -> bool {
        self.verdict
            .as_ref()
            .is_some_and(|verdict| verdict.resolved)
    }

    /// Whether anything is known of the agent.
    pub fn is_evidence(&self) -> bool {
        let verdict = self.verdict.as_ref();
        verdict.is_some_and(|verdict| verdict.outcome != EvalOutcome::NoEvidence)
    }
}

/// The folder of one attempt.
#[derive(Clone, Debug)]
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new(out: &Path, id: &str, number: u32) -> Self {
        let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
        Self(out.join("attempts").join(id).join(number.to_string()))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    pub(super) fn record(&self) -> PathBuf {
        self.0.join("record.json")
    }

    pub(super) fn patch(&self) -> PathBuf {
        self.0.join("patch.diff")
    }

    pub(super) fn trajectory(&self) -> PathBuf {
        self.0.join("trajectory.json")
    }

    /// Makes the folder, without what an attempt that was broken off left in it.
    pub(super) fn clear(&self) -> Result<(), Error> {
        match std::fs::remove_dir_all(&self.0) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &self.0, why));
            }
            _ => {}
        }
        std::fs::create_dir_all(&self.0).map_err(|why| Error::io("make", &self.0, why))
    }

    pub(super) fn write_commands(&self, commands: &[Executed]) -> Result<(), Error> {
        let mut text = String::new();
        for command in commands {
            let line = serde_json::to_string(command).map_err(|why| {
                Error::new(ErrorKind::Internal, "write", "a command").with_source(why)
            })?;
            text.push_str(&line);
            text.push('\n');
        }
        write_atomically(&self.0.join("commands.jsonl"), text.as_bytes())
    }
}

/// Writes one line for each attempt that has one.
pub(super) fn write_lines(
    path: &Path,
    records: &[AttemptRecord],
    line: impl Fn(&AttemptRecord) -> Result<Option<String>, Error>,
) -> Result<(), Error> {
    replace(path, |file| {
        for record in records {
            if let Some(line) = line(record)? {
                file.write_all(line.as_bytes())
                    .and_then(|()| file.write_all(b"\n"))
                    .map_err(|why| Error::io("write", path, why))?;
            }
        }
        Ok(())
    })
}
