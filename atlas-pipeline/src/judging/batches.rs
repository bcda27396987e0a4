//! A run whose questions go to the server in batches, before it is made.

use super::ModelSession;
use atlas_core::{Error, RunContext};
use atlas_llm::BatchTally;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder for a run whose results are worth nothing: it knows what the real results hold, and leaves them as they
/// are.
#[derive(Debug)]
pub struct RehearsalFolder(TempDir);

impl RehearsalFolder {
    /// A folder with a copy of the results, if there are some, and of their settings.
    ///
    /// # Errors
    /// It cannot be made, or the results not be read.
    pub fn of(results: Option<&Path>) -> Result<Self, Error> {
        let fail = |why| Error::io("make a folder in", &std::env::temp_dir(), why);
        let folder = Self(tempfile::tempdir().map_err(fail)?);
        for behind in ["", ".settings.json"] {
            let with = |path: &Path| {
                let mut name = path.as_os_str().to_owned();
                name.push(behind);
                PathBuf::from(name)
            };
            if let Some(from) = results.map(with).filter(|from| from.exists()) {
                let to = with(&folder.out());
                std::fs::copy(&from, to).map_err(|why| Error::io("read", &from, why))?;
            }
        }
        Ok(folder)
    }

    /// The file of results.
    pub fn out(&self) -> PathBuf {
        self.0.path().join("results.jsonl")
    }
}

/// Asks in batches what a run would ask, and waits until all answers are kept, so that the run itself finds them;
/// nothing where the session has no [`SessionOptions::batch_poll`](super::SessionOptions::batch_poll). `rehearse` is
/// the run with a session and a file of results of its own, once for each round: corrections, and questions that
/// follow from an answer, are of later rounds. What a budget does not allow, and what a server could not answer in a
/// batch, is left to the run.
///
/// # Errors
/// As [`Batches::ask`](atlas_llm::Batches::ask); those of `rehearse`.
///
/// # Cancellation
/// The batches go on at the server; the next call collects them.
pub(crate) async fn in_batches<F, R>(
    cx: &RunContext,
    session: &ModelSession,
    out: &Path,
    rehearse: F,
) -> Result<BatchTally, Error>
where
    F: Fn(ModelSession, PathBuf) -> R,
    R: Future<Output = Result<(), Error>>,
{
    let Some(batches) = session.batches() else {
        return Ok(BatchTally::default());
    };
    let mut tally = batches.resume(cx).await?;
    loop {
        let (round, folder) = (batches.round(), RehearsalFolder::of(Some(out))?);
        rehearse(session.standing_in(round.model()), folder.out()).await?;
        let asked = batches.ask(cx, &round).await?;
        if asked.questions == 0 {
            return Ok(tally);
        }
        tally.add(asked);
    }
}
