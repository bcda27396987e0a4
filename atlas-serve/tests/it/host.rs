//! A host without an engine. What counts for the tests is counted, and what may go wrong can be made to.

use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, ExitState, Isolation, RunContext, Step, StepResult};
use atlas_serve::{EpisodeHost, Grade, HostedEpisode, Passed, RewardKind, Submission, Task};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Counters and faults, shared with the test.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) begun: AtomicU32,
    pub(crate) open: AtomicU32,
    pub(crate) most_open: AtomicU32,
    pub(crate) steps: AtomicU32,
    pub(crate) grades: AtomicU32,
    /// Whether a critic's word may be a reward.
    pub(crate) has_critic: AtomicBool,
    /// So many of the next verdicts find nothing out.
    pub(crate) no_evidence: AtomicU32,
    /// So many of the next verdicts fail.
    pub(crate) grade_errors: AtomicU32,
    /// So many of the next patches cannot be read.
    pub(crate) patch_errors: AtomicU32,
    /// Milliseconds of a verdict.
    pub(crate) grade_time: AtomicU64,
    /// Milliseconds of a beginning.
    pub(crate) begin_time: AtomicU64,
    /// All sessions have been killed from outside.
    pub(crate) killed: AtomicBool,
}

impl State {
    pub(crate) fn get(count: &AtomicU32) -> u32 {
        count.load(Ordering::SeqCst)
    }
}

fn one_less(count: &AtomicU32) -> bool {
    let less = |left: u32| left.checked_sub(1);
    count
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
        .is_ok()
}

#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) state: Arc<State>,
    instances: Vec<String>,
}

impl Memory {
    pub(crate) fn new(state: &Arc<State>) -> Arc<Self> {
        Arc::new(Self {
            state: Arc::clone(state),
            instances: ["calc__calc-1", "calc__calc-2", "web__web-7"]
                .map(str::to_owned)
                .to_vec(),
        })
    }

    fn session(&self, text: String) -> Box<dyn HostedEpisode> {
        let open = self.state.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.state.most_open.fetch_max(open, Ordering::SeqCst);
        Box::new(Session {
            state: Arc::clone(&self.state),
            text,
        })
    }
}

#[async_trait]
impl EpisodeHost for Memory {
    fn instances(&self) -> &[String] {
        &self.instances
    }

    fn knows(&self, reward: RewardKind) -> bool {
        reward != RewardKind::Critic || self.state.has_critic.load(Ordering::SeqCst)
    }

    fn task(&self, instance_id: &str) -> Option<Task> {
        let known = self.instances.iter().any(|known| known == instance_id);
        known.then(|| Task {
            repo: "calc/calc".to_owned(),
            base_commit: "0".repeat(40),
            problem_statement: format!("solve {instance_id}"),
            hints: Some("look at sign".to_owned()),
        })
    }

    async fn begin(&self, _: &RunContext, id: &str) -> Result<Box<dyn HostedEpisode>, Error> {
        let time = self.state.begin_time.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(time)).await;
        if id == "web__web-7" {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "prepare",
                "has no image",
            ));
        }
        self.state.begun.fetch_add(1, Ordering::SeqCst);
        Ok(self.session(String::new()))
    }

    /// Resolved is what holds `fix`; half of `FAIL_TO_PASS` is what holds `half`.
    async fn grade(&self, _: &RunContext, submission: Submission<'_>) -> Result<Grade, Error> {
        let time = self.state.grade_time.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(time)).await;
        self.state.grades.fetch_add(1, Ordering::SeqCst);
        if one_less(&self.state.grade_errors) {
            let id = submission.episode;
            return Err(Error::new(ErrorKind::EngineUnreachable, "grade", id));
        }
        if one_less(&self.state.no_evidence) {
            return Ok(Grade {
                resolved: None,
                fail_to_pass: Passed::default(),
                pass_to_pass: Passed::default(),
                cause: "the suite did not start".to_owned(),
                score: None,
                verdict: serde_json::json!({}),
            });
        }
        let resolved = submission.patch.contains("fix");
        let passed = if resolved {
            2
        } else {
            usize::from(submission.patch.contains("half"))
        };
        Ok(Grade {
            resolved: Some(resolved),
            fail_to_pass: Passed { passed, total: 2 },
            pass_to_pass: Passed {
                passed: 5,
                total: 5,
            },
            cause: format!("{passed} of 2 pass"),
            score: (submission.reward == RewardKind::Critic).then_some(0.25),
            verdict: serde_json::json!({"patch": submission.patch}),
        })
    }
}

/// A text to which `echo` adds lines.
#[derive(Debug)]
struct Session {
    state: Arc<State>,
    text: String,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.state.open.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl HostedEpisode for Session {
    fn isolation(&self) -> Isolation {
        Isolation {
            kind: "process".to_owned(),
            network_off: true,
            ..Isolation::default()
        }
    }

    fn working_directory(&self) -> String {
        "/testbed".to_owned()
    }

    async fn step(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error> {
        let is_over = self.state.killed.load(Ordering::SeqCst);
        let mut exit = ExitState::Exited { code: 0 };
        let mut output = String::new();
        if step.command != ":" {
            self.state.steps.fetch_add(1, Ordering::SeqCst);
        }
        if let Some(line) = step.command.strip_prefix("echo ") {
            self.text.push_str(line);
            self.text.push('\n');
            output = format!("{line}\n");
        } else if let Some(millis) = step.command.strip_prefix("sleep ") {
            let wanted = Duration::from_millis(millis.parse().expect("milliseconds"));
            let most = Duration::from_secs(step.seconds);
            if wanted > most {
                exit = ExitState::TimedOut;
            }
            tokio::select! {
                () = tokio::time::sleep(wanted.min(most)) => {}
                () = cx.cancel.cancelled() => {
                    return Err(Error::new(ErrorKind::Cancelled, "step", ""));
                }
            }
            output.push_str("slept");
        } else if step.command == "big" {
            output = "x".repeat(usize::try_from(step.output_bytes).expect("small"));
        } else if step.command == "fail" {
            return Err(Error::new(
                ErrorKind::EngineFailed,
                "exec",
                "in a container",
            ));
        }
        Ok(StepResult {
            exit,
            output_total: output.len() as u64 * 2,
            output: output.into_bytes(),
            seconds: 0.25,
            is_over,
        })
    }

    async fn patch(&mut self, _: &RunContext) -> Result<String, Error> {
        if one_less(&self.state.patch_errors) {
            return Err(Error::new(ErrorKind::EngineFailed, "read", "a container"));
        }
        Ok(self.text.clone())
    }

    async fn fork(&mut self, _: &RunContext) -> Result<Box<dyn HostedEpisode>, Error> {
        let host = Memory {
            state: Arc::clone(&self.state),
            instances: Vec::new(),
        };
        Ok(host.session(self.text.clone()))
    }

    async fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}
