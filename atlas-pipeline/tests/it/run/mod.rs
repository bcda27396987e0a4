//! `atlas run`: with stages made here for what the scheduler does, and the real command on small repositories.

mod command;
mod disk;
mod docker;
mod living;
mod pipeline;
mod queue;
mod sharing;
mod taking;

use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_pipeline::{
    QuietRun, RunCandidate, RunConfig, RunEvent, RunListener, RunOptions, RunReport, Stage,
    StepOutcome, run_candidates,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One line of a file of candidates.
fn line(repo: &str, number: u64, title: &str) -> String {
    let line = serde_json::json!({
        "repo": repo, "clone": "/nowhere", "source": "clone", "number": number, "title": title,
        "base": "0".repeat(40), "head": "1".repeat(40),
        "merged_at": format!("2024-01-01T00:{:02}:{:02}Z", number / 60, number % 60),
    });
    format!("{line}\n")
}

/// A folder with candidates, and what stages did in it.
struct Fixture {
    folder: tempfile::TempDir,
    done: Arc<Mutex<Vec<(&'static str, String)>>>,
}

impl Fixture {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            done: Arc::default(),
        }
    }

    /// Writes the file of candidates.
    fn candidates(&self, lines: &[String]) {
        std::fs::write(self.file(), lines.concat()).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("candidates.jsonl")
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn options(&self) -> RunOptions {
        RunOptions {
            folder: self.run(),
            candidates: vec![self.file()],
            min_free: 0,
            min_memory: 0,
            retry_pause: Duration::from_millis(10),
            ..RunOptions::of(&RunConfig::default())
        }
    }

    fn stage(&self, id: &'static str) -> Made {
        Made {
            id,
            version: 1,
            parallel: 1,
            alone: false,
            pause: Duration::ZERO,
            rejects: None,
            fails: None,
            done: Arc::clone(&self.done),
        }
    }

    /// `make`, then `accept`.
    fn stages(&self) -> Vec<Arc<dyn Stage>> {
        vec![Arc::new(self.stage("make")), Arc::new(self.stage("accept"))]
    }

    async fn go(&self, options: &RunOptions, stages: &[Arc<dyn Stage>]) -> RunReport {
        let cx = RunContext::new("test");
        run_candidates(&cx, options, stages, Arc::new(QuietRun))
            .await
            .unwrap()
    }

    /// The same with stages of its own, for several at once.
    async fn go_owned(&self, stages: Vec<Arc<dyn Stage>>) -> RunReport {
        self.go(&self.options(), &stages).await
    }

    fn dataset(&self) -> String {
        std::fs::read_to_string(self.run().join("dataset.jsonl")).unwrap()
    }

    /// How often each step was done.
    fn counts(&self) -> BTreeMap<(&'static str, String), usize> {
        let mut counts = BTreeMap::new();
        for step in self.done.lock().unwrap().iter() {
            *counts.entry(step.clone()).or_default() += 1;
        }
        counts
    }

    /// The candidates of a stage in the order in which they were done.
    fn order(&self, stage: &str) -> Vec<String> {
        let done = self.done.lock().unwrap();
        done.iter()
            .filter(|(of, _)| *of == stage)
            .map(|(_, id)| id.clone())
            .collect()
    }
}

/// What a stage made here says of a candidate: whether it fails, by how many errors there were.
type Fails = fn(&RunCandidate, usize) -> Option<Error>;

/// A stage whose steps write a file that depends on the candidate alone.
#[derive(Debug)]
struct Made {
    id: &'static str,
    version: u32,
    parallel: usize,
    alone: bool,
    pause: Duration,
    /// Rejects candidates of this repository.
    rejects: Option<&'static str>,
    fails: Option<Fails>,
    done: Arc<Mutex<Vec<(&'static str, String)>>>,
}

#[async_trait]
impl Stage for Made {
    fn id(&self) -> &'static str {
        self.id
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn parallel(&self) -> usize {
        self.parallel
    }

    fn one_per_repository(&self) -> bool {
        self.alone
    }

    async fn run(&self, cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        tokio::select! {
            () = tokio::time::sleep(self.pause) => {}
            () = cx.cancel.cancelled() => cx.check("sleep")?,
        }
        let before = self.done.lock().unwrap().len();
        if let Some(why) = self.fails.and_then(|fails| fails(candidate, before)) {
            self.done
                .lock()
                .unwrap()
                .push(("error", candidate.id.to_string()));
            return Err(why);
        }
        let row = serde_json::json!({
            "instance_id": candidate.id, "title": candidate.request.title, "version": self.version,
        });
        std::fs::create_dir_all(&candidate.artefacts).unwrap();
        write(&candidate.artefacts.join("row.json"), &format!("{row}\n"))?;
        self.done
            .lock()
            .unwrap()
            .push((self.id, candidate.id.to_string()));
        let passed = self.rejects != Some(candidate.request.repo.as_str());
        Ok(StepOutcome {
            passed,
            outcome: if passed { "ready" } else { "reject" }.to_owned(),
            reason: if passed {
                ""
            } else {
                "its repository is not wanted"
            }
            .to_owned(),
            bytes: 10,
            ..StepOutcome::default()
        })
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    atlas_pipeline::write_atomically(path, text.as_bytes())
}

fn broken(kind: ErrorKind) -> Error {
    Error::new(kind, "do a step", "which fails here")
}

/// Remembers events by a word each.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<String>>);

impl RunListener for Heard {
    fn hear(&self, event: &RunEvent<'_>) {
        let word = match event {
            RunEvent::Held { .. } => "held",
            RunEvent::Resumed => "resumed",
            RunEvent::Ended {
                outcome: "put back",
                ..
            } => "put back",
            RunEvent::Reclaimed { .. } => "reclaimed",
            _ => return,
        };
        self.0.lock().unwrap().push(word.to_owned());
    }
}
