//! What hosts have told so far, on disk.
//!
//! Two files: the pull requests, one a line, only ever added to, and a state with the cursor of each host. A page becomes
//! part of both in one step: the state is replaced by one that holds the page itself and how long the file was before it;
//! then the page is added to the file. Whoever comes back after a death cuts the file to that length and adds the page
//! again. So no page is asked for twice, none is lost, and none stands there twice.

use crate::store::{lock, read_json};
use crate::write_atomically;
use atlas_core::{Error, ErrorKind, SkippedPullRequest, SourcedPage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Pull requests that could not be told of and are kept by name, for each host.
const SKIPPED_EXAMPLES: usize = 10;

/// What one host has told so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostProgress {
    /// Where to go on; absent before the first page.
    pub cursor: Option<String>,
    /// Whether the last page was read.
    pub done: bool,
    /// Pages that were read.
    pub pages: u64,
    /// Requests that they took.
    pub requests: u64,
    /// Pull requests that were told of.
    pub told: u64,
    /// Pull requests of which nothing could be made.
    pub skipped: u64,
    /// The first of them, ten at most.
    pub skipped_examples: Vec<SkippedPullRequest>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    schema_version: u32,
    hosts: BTreeMap<String, HostProgress>,
    /// Bytes of the file before the last page.
    length: u64,
    /// The last page, as it stands in the file.
    page: String,
}

/// What hosts have told so far by the state beside a file of pull requests; nothing is opened for writing or mended. Empty
/// where there is none.
pub(crate) fn progress_so_far(path: &Path) -> BTreeMap<String, HostProgress> {
    #[derive(Deserialize)]
    struct Told {
        hosts: BTreeMap<String, HostProgress>,
    }
    let told = read_json::<Told>(&path.with_extension("state.json"));
    told.map(|told| told.hosts).unwrap_or_default()
}

/// The two files, held by one process.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    state_path: PathBuf,
    file: File,
    state: State,
    _lock: File,
}

impl Journal {
    /// Opens or makes them, and mends what a death left.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let fail = |why| Error::io("write", path, why);
        let state_path = path.with_extension("state.json");
        let lock = lock(&path.with_extension("lock"))?;
        let mut file = File::options()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(path)
            .map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        let state = match std::fs::read(&state_path) {
            Err(why) if why.kind() == std::io::ErrorKind::NotFound && length == 0 => State {
                schema_version: 1,
                hosts: BTreeMap::new(),
                length: 0,
                page: String::new(),
            },
            Err(why) => return Err(Error::io("read", &state_path, why)),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|why| {
                let place = format!("`{}`", state_path.display());
                Error::new(ErrorKind::InvalidInput, "read", place).with_source(why)
            })?,
        };
        if length < state.length {
            let place = format!(
                "`{}`: it is shorter than `{}` says; remove both to begin anew",
                path.display(),
                state_path.display()
            );
            return Err(Error::new(ErrorKind::InvalidInput, "go on with", place));
        }
        file.set_len(state.length).map_err(fail)?;
        file.seek(SeekFrom::End(0)).map_err(fail)?;
        file.write_all(state.page.as_bytes()).map_err(fail)?;
        Ok(Self {
            path: path.to_owned(),
            state_path,
            file,
            state,
            _lock: lock,
        })
    }

    /// What a host has told so far.
    pub(super) fn progress(&self, host: &str) -> HostProgress {
        self.state.hosts.get(host).cloned().unwrap_or_default()
    }

    /// Makes a page durable.
    pub(super) fn add(&mut self, host: &str, page: SourcedPage) -> Result<(), Error> {
        let fail = |why| Error::io("write", &self.path, why);
        let mut lines = String::new();
        for pull_request in &page.pull_requests {
            lines.push_str(&serde_json::to_string(pull_request).map_err(internal)?);
            lines.push('\n');
        }
        self.file.sync_data().map_err(fail)?;
        self.state.length += self.state.page.len() as u64;
        self.state.page = lines;
        let progress = self.state.hosts.entry(host.to_owned()).or_default();
        progress.done = page.next.is_none();
        progress.cursor = page.next;
        progress.pages += 1;
        progress.requests += page.requests;
        progress.told += page.pull_requests.len() as u64;
        progress.skipped += page.skipped.len() as u64;
        let room = SKIPPED_EXAMPLES.saturating_sub(progress.skipped_examples.len());
        progress
            .skipped_examples
            .extend(page.skipped.into_iter().take(room));
        let state = serde_json::to_vec(&self.state).map_err(internal)?;
        write_atomically(&self.state_path, &state)?;
        self.file
            .write_all(self.state.page.as_bytes())
            .map_err(fail)
    }
}

fn internal(why: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "write candidates", "").with_source(why)
}
