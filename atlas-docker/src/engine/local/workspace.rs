//! The folder, the lock and the control groups of something that runs.

use super::cgroup::Groups;
use super::files;
use super::launch::make_folders;
use super::store::Store;
use super::walls::Real;
use crate::engine::owner::Owner;
use atlas_core::{Error, Limits, RunContext};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of one job. It goes with the job; dropped early, a thread removes it, and failing
/// that the next sweep.
#[derive(Debug)]
pub(super) struct Workspace {
    name: String,
    folder: PathBuf,
    groups: Option<Groups>,
    /// The environment that the job works in, and the lock on it.
    swapped: Option<(Store, File)>,
    /// Held as long as this process lives; absent once cleaned.
    lock: Option<File>,
}

impl Workspace {
    pub(super) fn make(root: &Path, limits: &Limits) -> Result<Self, Error> {
        let jobs = root.join("jobs");
        loop {
            let name = Owner::current().unique_name();
            let folder = jobs.join(&name);
            let path = folder.with_extension("lock");
            let lock = File::options()
                .write(true)
                .create_new(true)
                .open(&path)
                .map_err(|why| Error::io("make", &path, why))?;
            // A sweep may have looked between the two calls; then it has taken this name.
            let held = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            if !held || !path.exists() {
                continue;
            }
            let workspace = Self {
                groups: Groups::make(&name, limits),
                name,
                folder,
                swapped: None,
                lock: Some(lock),
            };
            make_folders(&[
                &workspace.folder.join("in"),
                &workspace.folder.join("out"),
                &workspace.folder.join("tmp"),
            ])?;
            return Ok(workspace);
        }
    }

    fn real(&self, base: &Path, tools: PathBuf, env: PathBuf) -> Real {
        Real {
            repo: base.join("testbed"),
            env,
            cache: base.join("cache"),
            home: base.join("home"),
            tools,
            input: self.folder.join("in"),
            output: self.folder.join("out"),
            temporary: self.folder.join("tmp"),
            env_writable: false,
        }
    }

    /// Unique on this machine; marks its processes.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its control groups, where there are any.
    pub(super) fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    /// Copies what the job may write; the rest is shared and unwritable.
    pub(super) async fn copy(&self, store: &Store) -> Result<Real, Error> {
        let live = store.live();
        let copied = ["testbed", "cache", "home"]
            .map(|part| (live.join(part), self.folder.join(part)))
            .map(async |(from, to)| files::copy_tree(&from, &to).await);
        futures_util::future::try_join_all(copied).await?;
        Ok(self.real(&self.folder, live.join("tools"), live.join("env")))
    }

    /// Copies the folders of another job as they are now; what that one shares is shared.
    pub(super) async fn copy_of(&self, other: &Real) -> Result<Real, Error> {
        let copied = [
            (&other.repo, "testbed"),
            (&other.cache, "cache"),
            (&other.home, "home"),
            (&other.temporary, "tmp"),
        ]
        .map(async |(from, part)| files::copy_tree(from, &self.folder.join(part)).await);
        futures_util::future::try_join_all(copied).await?;
        Ok(self.real(&self.folder, other.tools.clone(), other.env.clone()))
    }

    /// Puts a copy in the place of the environment until the job is over, which is after `wall` at most.
    pub(super) async fn swap(
        &mut self,
        cx: &RunContext,
        store: &Store,
        wall: Duration,
    ) -> Result<Real, Error> {
        let lock = store.lock_live(cx, wall).await?;
        let (live, pristine) = (store.live(), store.pristine());
        fs::rename(&live, &pristine).map_err(|why| Error::io("move", &live, why))?;
        self.swapped = Some((store.clone(), lock));
        files::copy_tree(&pristine, &live).await?;
        Ok(self.real(&live, live.join("tools"), live.join("env")))
    }

    pub(super) fn clean(mut self) -> Result<(), Error> {
        self.clean_up()
    }

    fn clean_up(&mut self) -> Result<(), Error> {
        super::process::end_marked(&self.name);
        drop(self.groups.take());
        if let Some((store, lock)) = self.swapped.take() {
            store.restore()?;
            drop(lock);
        }
        files::remove_tree(&self.folder)?;
        let lock = self.folder.with_extension("lock");
        fs::remove_file(&lock).map_err(|why| Error::io("remove", &lock, why))?;
        self.lock = None;
        Ok(())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.lock.is_none() {
            return;
        }
        let mut left = Self {
            name: std::mem::take(&mut self.name),
            folder: std::mem::take(&mut self.folder),
            groups: self.groups.take(),
            swapped: self.swapped.take(),
            lock: self.lock.take(),
        };
        let work = move || {
            if let Err(why) = left.clean_up() {
                tracing::debug!(cause = %why.chain(), "job folder left to the next sweep");
                // Dropping it again would start this thread again.
                left.lock = None;
            }
        };
        let _ = std::thread::Builder::new()
            .name("atlas-reaper".to_owned())
            .spawn(work);
    }
}
