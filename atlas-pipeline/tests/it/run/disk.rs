//! A disk that fills.

use super::{Fixture, Heard, line};
use async_trait::async_trait;
use atlas_core::{Error, RunContext};
use atlas_pipeline::{RunCandidate, RunOptions, Stage, StepOutcome, run_candidates};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A file system of its own with so many MiB; gone afterwards.
struct Small(PathBuf);

impl Small {
    /// None where this user may not mount.
    fn mount(at: &Path, mib: u32) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"])
            .arg(at)
            .output()
            .ok()?;
        done.status.success().then(|| Self(at.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Leaves a large file, and gives it back when asked.
#[derive(Debug)]
struct Large {
    bytes: usize,
    places: PathBuf,
    given: Arc<AtomicUsize>,
    done: Arc<Mutex<Vec<(&'static str, String)>>>,
}

#[async_trait]
impl Stage for Large {
    fn id(&self) -> &'static str {
        "make"
    }

    fn version(&self) -> u32 {
        1
    }

    async fn run(&self, _: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let file = self.places.join(candidate.id.as_str());
        atlas_pipeline::write_atomically(&file, &vec![1; self.bytes])?;
        self.done
            .lock()
            .unwrap()
            .push(("make", candidate.id.to_string()));
        Ok(StepOutcome {
            passed: true,
            outcome: "ready".to_owned(),
            ..StepOutcome::default()
        })
    }

    async fn reclaim(&self, _: &RunContext, candidate: &RunCandidate) -> Result<(), Error> {
        self.given.fetch_add(1, Ordering::SeqCst);
        let _ = std::fs::remove_file(self.places.join(candidate.id.as_str()));
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_waited_for_and_nothing_is_lost() {
    let place = Fixture::new();
    let Some(small) = Small::mount(&place.run(), 96) else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    let lines: Vec<String> = (0..6).map(|number| line("a/a", number, "")).collect();
    place.candidates(&lines);
    let files = place.run().join("files");
    std::fs::create_dir(&files).unwrap();
    // Room for some of the six, until this is gone.
    let ballast = place.run().join("ballast");
    std::fs::write(&ballast, vec![0; 60 << 20]).unwrap();
    let large = Large {
        bytes: 8 << 20,
        places: files,
        given: Arc::default(),
        done: Arc::clone(&place.done),
    };
    let given = Arc::clone(&large.given);
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(large), Arc::new(place.stage("accept"))];
    let heard = Arc::new(Heard::default());
    let waiting = Arc::clone(&heard);
    let freed = tokio::spawn(async move {
        while !waiting.0.lock().unwrap().contains(&"put back".to_owned()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        std::fs::remove_file(&ballast).unwrap();
    });
    let cx = RunContext::new("test");
    // One try at most: a full disk takes none.
    let options = RunOptions {
        attempts: 1,
        ..place.options()
    };
    let report = run_candidates(&cx, &options, &stages, Arc::clone(&heard) as _)
        .await
        .unwrap();
    freed.await.unwrap();
    assert_eq!(
        (report.status.dataset_rows, report.status.stages[0].failed),
        (6, 0)
    );
    assert!(
        place.counts().values().all(|count| *count == 1),
        "{:?}",
        place.counts()
    );
    assert_eq!(
        given.load(Ordering::SeqCst),
        0,
        "the repository had something to do"
    );
    let heard = heard.0.lock().unwrap().clone();
    assert!(
        heard.contains(&"held".to_owned()) && heard.contains(&"resumed".to_owned()),
        "{heard:?}"
    );
    drop(small);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_finished_is_given_back_below_the_limit() {
    let place = Fixture::new();
    let Some(small) = Small::mount(&place.run(), 160) else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    let lines: Vec<String> = (0..8)
        .map(|number| line(&format!("r/{number}"), number, ""))
        .collect();
    place.candidates(&lines);
    let files = place.run().join("files");
    std::fs::create_dir(&files).unwrap();
    let large = Large {
        bytes: 24 << 20,
        places: files,
        given: Arc::default(),
        done: Arc::clone(&place.done),
    };
    let given = Arc::clone(&large.given);
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(large), Arc::new(place.stage("accept"))];
    let options = RunOptions {
        min_free: 64 << 20,
        ..place.options()
    };
    let report = place.go(&options, &stages).await;
    assert_eq!(
        (report.status.dataset_rows, report.status.stages[0].failed),
        (8, 0)
    );
    let given = given.load(Ordering::SeqCst);
    assert!(
        (3..8).contains(&given),
        "only as many as were needed: {given}"
    );
    drop(small);
}
