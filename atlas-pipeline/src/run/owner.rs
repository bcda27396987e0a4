//! Who works on a step: what lets every start tell the steps of a dead process from another's live work.

use atlas_core::Error;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One runner. Its folder holds a lock as long as it lives, however it ends and whichever namespace it is in, and
/// beside it what its steps need for themselves.
#[derive(Debug)]
pub(super) struct Owner {
    name: String,
    folder: PathBuf,
    _lock: File,
}

fn owners(run: &Path) -> PathBuf {
    run.join("owners")
}

impl Owner {
    /// A new owner of steps in a run's folder.
    pub(super) fn new(run: &Path) -> Result<Self, Error> {
        let owners = owners(run);
        let fail = |why| Error::io("make", &owners, why);
        std::fs::create_dir_all(&owners).map_err(fail)?;
        loop {
            let made = tempfile::Builder::new()
                .prefix(&format!("{}-", std::process::id()))
                .tempdir_in(&owners)
                .map_err(fail)?;
            let Ok(lock) = File::create_new(made.path().join("lock")) else {
                continue;
            };
            // Between making and locking, another process may have taken it for a dead one's.
            let held = flock(&lock, FlockOperation::NonBlockingLockExclusive);
            if held.is_err() || lock.metadata().map_err(fail)?.nlink() == 0 {
                continue;
            }
            let folder = made.keep();
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            return Ok(Self {
                name: name.into_owned(),
                folder,
                _lock: lock,
            });
        }
    }

    /// Its name: the process id and something that no other has.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A folder for one step, new and empty.
    pub(super) fn scratch(&self) -> Result<tempfile::TempDir, Error> {
        tempfile::tempdir_in(&self.folder).map_err(|why| Error::io("make", &self.folder, why))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // What stays is removed by the next start.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether an owner has ended. One whose lock cannot be looked at lives.
pub(super) fn is_dead(run: &Path, name: &str) -> bool {
    match File::open(owners(run).join(name).join("lock")) {
        Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(why) => why.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Removes the folders of owners that have ended. Their steps must have been taken from them before.
pub(super) fn sweep(run: &Path) {
    let Ok(entries) = std::fs::read_dir(owners(run)) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(lock) = File::open(entry.path().join("lock")) else {
            // Killed before it had a lock; one that is being made is younger.
            let made = entry.metadata().and_then(|about| about.modified()).ok();
            let age = made
                .and_then(|made| made.elapsed().ok())
                .unwrap_or_default();
            if age > Duration::from_secs(60) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
            continue;
        };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Owner, is_dead, sweep};

    #[test]
    fn who_holds_its_lock_lives() {
        let run = tempfile::tempdir().unwrap();
        let one = Owner::new(run.path()).unwrap();
        let other = Owner::new(run.path()).unwrap();
        let gone = other.name().to_owned();
        assert!(!is_dead(run.path(), one.name()) && !is_dead(run.path(), &gone));
        // As a killed process leaves it: the folder without a lock.
        let folder = other.folder.clone();
        drop(other);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("lock"), "").unwrap();
        assert!(is_dead(run.path(), &gone));
        sweep(run.path());
        assert!(!folder.exists());
        assert!(!is_dead(run.path(), one.name()));
    }
}
