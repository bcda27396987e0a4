//! The folder of one prepared environment.

use super::files::remove_tree;
use atlas_core::{EnvironmentLock, EnvironmentPlan, Error, ErrorKind, RunContext};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The folder `<root>/env/<key>`.
///
/// `live/` is what scripts see. A job without walls works in it, at the very paths that installed
/// things remember, while the untouched original stands aside as `pristine/`.
#[derive(Clone, Debug)]
pub(super) struct Store {
    pub(super) folder: PathBuf,
}

/// What is written when an environment is finished: its presence is the proof that it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) schema_version: u32,
    /// Whether it was built behind bubblewrap, where its paths differ.
    pub(super) walled: bool,
    pub(super) plan: EnvironmentPlan,
    pub(super) lock: EnvironmentLock,
    pub(super) bins: Vec<PathBuf>,
    pub(super) shared: Vec<PathBuf>,
}

impl Store {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn live(&self) -> PathBuf {
        self.folder.join("live")
    }

    pub(super) fn pristine(&self) -> PathBuf {
        self.folder.join("pristine")
    }

    fn marker(&self) -> PathBuf {
        self.folder.join("finished.json")
    }

    /// What was finished here, if it was.
    pub(super) fn finished(&self) -> Result<Option<Finished>, Error> {
        let marker = self.marker();
        match fs::read(&marker) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|why| {
                Error::new(
                    ErrorKind::InvalidInput,
                    "read",
                    format!("`{}`: remove its folder to build again", marker.display()),
                )
                .with_source(why)
            }),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(Error::io("read", &marker, why)),
        }
    }

    /// Writes the marker whole or not at all.
    pub(super) fn finish(&self, finished: &Finished) -> Result<(), Error> {
        let marker = self.marker();
        let failed = |why| Error::io("write", &marker, why);
        let bytes = serde_json::to_vec_pretty(finished).map_err(|why| {
            Error::new(ErrorKind::Internal, "write", "an environment's marker").with_source(why)
        })?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(failed)?;
        file.write_all(&bytes).map_err(failed)?;
        file.persist(&marker).map_err(|why| failed(why.error))?;
        Ok(())
    }

    /// The lock against building the same twice.
    pub(super) async fn lock_build(&self, cx: &RunContext) -> Result<File, Error> {
        lock(&self.folder.with_extension("lock"), cx).await
    }

    /// The lock of the one job that may work in `live/`, for so long at most; undoes what a killed one left.
    ///
    /// # Errors
    /// Another holds it and its time is over: a session that nobody closed.
    pub(super) async fn lock_live(&self, cx: &RunContext, wall: Duration) -> Result<File, Error> {
        let path = self.folder.join("live.lock");
        let held = lock(&path, cx).await?;
        let end = SystemTime::now().duration_since(UNIX_EPOCH);
        let end = end.unwrap_or_default().saturating_add(wall).as_secs();
        fs::write(&path, end.to_string()).map_err(|why| Error::io("write", &path, why))?;
        let store = self.clone();
        super::blocking("restore", move || store.restore()).await?;
        Ok(held)
    }

    /// Puts the original back.
    pub(super) fn restore(&self) -> Result<(), Error> {
        let (live, pristine) = (self.live(), self.pristine());
        if pristine.exists() {
            remove_tree(&live)?;
            fs::rename(&pristine, &live).map_err(|why| Error::io("restore", &live, why))?;
        }
        Ok(())
    }
}

/// Whether the one that holds a lock should have let go of it two minutes ago, by what it wrote.
fn is_over(path: &Path) -> bool {
    const LATE: Duration = Duration::from_secs(120);
    let end = fs::read_to_string(path).ok();
    let end = end.and_then(|end| end.trim().parse().ok());
    let end = end.and_then(|end| UNIX_EPOCH.checked_add(Duration::from_secs(end)));
    end.is_some_and(|end| SystemTime::now() - LATE > end)
}

/// Waits for a lock file; the lock ends with the returned file or with the process.
async fn lock(path: &Path, cx: &RunContext) -> Result<File, Error> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|why| Error::io("open", path, why))?;
    let mut late = 0;
    loop {
        cx.check("wait for an environment that is in use")?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(why) if why == rustix::io::Errno::WOULDBLOCK => {
                // Who has just got it may not have written yet.
                late = if is_over(path) { late + 1 } else { 0 };
                if late > 100 {
                    return Err(Error::new(
                        ErrorKind::InvalidInput,
                        "wait for an environment that is in use",
                        "a session holds it beyond its limit, and without bubblewrap there is room for one: close it",
                    ));
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(why) => return Err(Error::io("lock", path, why.into())),
        }
    }
}
