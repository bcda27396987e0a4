//! What hosts have told so far, on disk.
//!
//! Two files of pull requests, one a line, and a state with what is known of each host. `sourced` is what first readings
//! told; it is only added to. `changes` is what later readings told; when they are complete, both become a new `sourced`
//! ([`merge`](super::merge)), so that it is at any moment what hosts had to tell at one.
//!
//! A page becomes part of a file and of the state in one step: the state is replaced by one that holds the page itself and how
//! long the file was before it; then the page is added to the file. Whoever comes back after a death cuts the file to that
//! length and adds the page again. So no page is asked for twice, none is lost, and none stands there twice.

use crate::store::{lock, read_json};
use crate::write_atomically;
use atlas_core::{Error, ErrorKind, RepositoryFacts, SkippedPullRequest, SourcedPage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Pull requests that could not be told of and are kept by name, for each host.
const SKIPPED_EXAMPLES: usize = 10;

/// Of the state's form.
const SCHEMA_VERSION: u32 = 2;

/// What one host has told so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostProgress {
    /// Where a first reading goes on; absent before its first page and after its last.
    pub cursor: Option<String>,
    /// Whether it was read to its end.
    pub done: bool,
    /// Pages that were read, those of later readings too.
    pub pages: u64,
    /// Requests that they took.
    pub requests: u64,
    /// Pull requests that it tells of.
    pub told: u64,
    /// Pull requests of which nothing could be made.
    pub skipped: u64,
    /// The first of them, ten at most.
    pub skipped_examples: Vec<SkippedPullRequest>,
    /// How far it was read, in its own words; absent where it cannot tell what comes later.
    pub mark: Option<String>,
}

impl HostProgress {
    pub(super) fn skip(&mut self, skipped: Vec<SkippedPullRequest>) {
        for one in skipped {
            let known = |known: &SkippedPullRequest| known.name == one.name;
            if let Some(known) = self.skipped_examples.iter_mut().find(|one| known(one)) {
                *known = one;
                continue;
            }
            self.skipped += 1;
            if self.skipped_examples.len() < SKIPPED_EXAMPLES {
                self.skipped_examples.push(one);
            }
        }
    }
}

/// Bytes of one file, first and behind the last.
pub(super) type Span = (u64, u64);

/// A later reading of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Round {
    /// Why all is read again; absent where only changes are asked for.
    pub(super) anew: Option<String>,
    /// Where to go on; absent before the first page.
    pub(super) cursor: Option<String>,
    /// Whether the last page was read.
    pub(super) done: bool,
    /// The mark for the next reading.
    pub(super) mark: Option<String>,
    /// How many merged pull requests the host says it has.
    pub(super) total: Option<u64>,
    /// What is known of the repository now.
    pub(super) repository: Option<RepositoryFacts>,
    pub(super) newest_first: bool,
    /// Its pull requests in `changes`.
    pub(super) lines: Vec<Span>,
    pub(super) told: u64,
    pub(super) skipped: Vec<SkippedPullRequest>,
}

/// What is kept of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct HostState {
    pub(super) progress: HostProgress,
    /// Its pull requests in `sourced`.
    pub(super) lines: Vec<Span>,
    /// The facts that its lines bear, where they are the same in all.
    pub(super) repository: Option<RepositoryFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) round: Option<Round>,
}

/// The end of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Tail {
    /// Bytes of the file before the last page.
    pub(super) length: u64,
    /// The last page, as it stands in the file.
    pub(super) page: String,
}

/// What hosts have told so far by the state beside a file of pull requests; nothing is opened for writing or mended. Empty
/// where there is none.
pub(crate) fn progress_so_far(path: &Path) -> BTreeMap<String, HostProgress> {
    #[derive(Deserialize)]
    struct StateFile {
        hosts: BTreeMap<String, HostProgress>,
    }
    let told = read_json::<StateFile>(&path.with_extension("state.json"));
    told.map(|told| told.hosts).unwrap_or_default()
}

impl Tail {
    /// Cuts a file to what is known of it and adds the last page.
    fn mend(&self, path: &Path) -> Result<File, Error> {
        let fail = |why| Error::io("write", path, why);
        let mut file = File::options()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(path)
            .map_err(fail)?;
        if file.metadata().map_err(fail)?.len() < self.length {
            let place = format!(
                "`{}`: it is shorter than its state says; remove both to begin anew",
                path.display()
            );
            return Err(Error::new(ErrorKind::InvalidInput, "go on with", place));
        }
        file.set_len(self.length).map_err(fail)?;
        file.seek(SeekFrom::End(0)).map_err(fail)?;
        file.write_all(self.page.as_bytes()).map_err(fail)?;
        Ok(file)
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    schema_version: u32,
    pub(super) hosts: BTreeMap<String, HostState>,
    pub(super) sourced: Tail,
    pub(super) changes: Tail,
    /// Whether a new `sourced` stands beside the old one and takes its place.
    pub(super) replaced: bool,
}

/// The files, held by one process.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) path: PathBuf,
    pub(super) state: State,
    sourced: File,
    changes: File,
    _lock: File,
}

impl Journal {
    /// Opens or makes them, and mends what a death left.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let lock = lock(&path.with_extension("lock"))?;
        let mut state = State::read(path)?;
        if state.replaced {
            replace(path)?;
            state.replaced = false;
            state.write(path)?;
        }
        Ok(Self {
            sourced: state.sourced.mend(path)?,
            changes: state.changes.mend(&changes_file(path))?,
            path: path.to_owned(),
            state,
            _lock: lock,
        })
    }

    /// What is known of a host.
    pub(super) fn host(&self, name: &str) -> HostState {
        self.state.hosts.get(name).cloned().unwrap_or_default()
    }

    /// Makes a page of a first reading durable.
    pub(super) fn add(&mut self, host: &str, page: SourcedPage) -> Result<(), Error> {
        let lines = lines(&page)?;
        let state = self.state.hosts.entry(host.to_owned()).or_default();
        let tail = &mut self.state.sourced;
        let start = tail.length + tail.page.len() as u64;
        let is_first = state.progress.pages == 0;
        extend(&mut state.lines, (start, start + lines.len() as u64));
        let progress = &mut state.progress;
        progress.done = page.next.is_none();
        progress.mark = page.mark.or(progress.mark.take());
        progress.cursor = page.next;
        progress.pages += 1;
        progress.requests += page.requests;
        progress.told += page.pull_requests.len() as u64;
        progress.skip(page.skipped);
        if is_first {
            state.repository = page.repository;
        } else if state.repository != page.repository {
            state.repository = None;
        }
        let file = &mut self.sourced;
        tail.length = start;
        tail.page = lines;
        file.sync_data()
            .map_err(|why| Error::io("write", &self.path, why))?;
        self.state.write(&self.path)?;
        file.write_all(self.state.sourced.page.as_bytes())
            .map_err(|why| Error::io("write", &self.path, why))
    }

    /// Begins a reading of all of a host in the place of what it told. What was read of a round before is not used.
    pub(super) fn begin_anew(
        &mut self,
        host: &str,
        why: String,
        requests: u64,
    ) -> Result<(), Error> {
        let state = self.state.hosts.entry(host.to_owned()).or_default();
        // A first reading that did not come to its end is not gone on with.
        state.progress.done = true;
        state.progress.cursor = None;
        state.progress.requests += requests;
        state.round = Some(Round {
            anew: Some(why),
            ..Round::default()
        });
        self.state.write(&self.path)
    }

    /// Makes a page of a later reading durable.
    pub(super) fn add_change(&mut self, host: &str, page: SourcedPage) -> Result<(), Error> {
        let lines = lines(&page)?;
        let state = self.state.hosts.entry(host.to_owned()).or_default();
        let tail = &mut self.state.changes;
        let start = tail.length + tail.page.len() as u64;
        state.progress.pages += 1;
        state.progress.requests += page.requests;
        let round = state.round.get_or_insert_default();
        extend(&mut round.lines, (start, start + lines.len() as u64));
        round.done = page.next.is_none();
        round.cursor = page.next;
        round.mark = page.mark.or(round.mark.take());
        round.total = page.total.or(round.total);
        round.repository = page.repository.or(round.repository.take());
        round.newest_first |= page.newest_first;
        round.told += page.pull_requests.len() as u64;
        round.skipped.extend(page.skipped);
        let file = &mut self.changes;
        tail.length = start;
        tail.page = lines;
        file.sync_data()
            .map_err(|why| Error::io("write", &self.path, why))?;
        self.state.write(&self.path)?;
        file.write_all(self.state.changes.page.as_bytes())
            .map_err(|why| Error::io("write", &self.path, why))
    }

    /// Forgets later readings that are part of `sourced` now.
    pub(super) fn clear_changes(&mut self) -> Result<(), Error> {
        self.state.changes = Tail::default();
        self.state.write(&self.path)?;
        self.changes = self.state.changes.mend(&changes_file(&self.path))?;
        Ok(())
    }

    /// Takes the file that was made beside the old one, as the state has it.
    pub(super) fn take_merged(&mut self) -> Result<(), Error> {
        let merged = merged_file(&self.path);
        File::open(&merged)
            .and_then(|file| file.sync_data())
            .map_err(|why| Error::io("write", &merged, why))?;
        self.state.replaced = true;
        self.state.changes = Tail::default();
        self.state.write(&self.path)?;
        replace(&self.path)?;
        self.sourced = self.state.sourced.mend(&self.path)?;
        self.changes = self.state.changes.mend(&changes_file(&self.path))?;
        self.state.replaced = false;
        self.state.write(&self.path)
    }
}

/// What every form of the state has.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

impl State {
    fn read(path: &Path) -> Result<Self, Error> {
        let file = state_file(path);
        let wrong = |what: &str| {
            let place = format!("`{}`{what}", file.display());
            Error::new(ErrorKind::InvalidInput, "go on with", place)
        };
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                if std::fs::metadata(path).is_ok_and(|meta| meta.len() > 0) {
                    let place = format!(
                        "`{}`: it has no state `{}` beside it; remove it to begin anew",
                        path.display(),
                        file.display()
                    );
                    return Err(Error::new(ErrorKind::InvalidInput, "go on with", place));
                }
                return Ok(Self {
                    schema_version: SCHEMA_VERSION,
                    hosts: BTreeMap::new(),
                    sourced: Tail::default(),
                    changes: Tail::default(),
                    replaced: false,
                });
            }
            Err(why) => return Err(Error::io("read", &file, why)),
        };
        let version: Version =
            serde_json::from_slice(&bytes).map_err(|why| wrong("").with_source(why))?;
        if version.schema_version != SCHEMA_VERSION {
            let what = format!(
                ": its form is {}, this Atlas has {SCHEMA_VERSION}; remove it and `{}` to begin anew",
                version.schema_version,
                path.display()
            );
            return Err(wrong(&what));
        }
        serde_json::from_slice(&bytes).map_err(|why| wrong("").with_source(why))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Error> {
        let state = serde_json::to_vec(self).map_err(internal)?;
        write_atomically(&state_file(path), &state)
    }
}

fn state_file(path: &Path) -> PathBuf {
    path.with_extension("state.json")
}

/// Where later readings stand until they are merged.
pub(super) fn changes_file(path: &Path) -> PathBuf {
    path.with_extension("changes.jsonl")
}

/// The file that takes the place of `sourced`.
pub(super) fn merged_file(path: &Path) -> PathBuf {
    path.with_extension("merged.jsonl")
}

/// Puts the merged file in its place; done already where there is none.
fn replace(path: &Path) -> Result<(), Error> {
    match std::fs::rename(merged_file(path), path) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("write", path, why))
        }
        _ => Ok(()),
    }
}

fn lines(page: &SourcedPage) -> Result<String, Error> {
    let mut lines = String::new();
    for pull_request in &page.pull_requests {
        lines.push_str(&serde_json::to_string(pull_request).map_err(internal)?);
        lines.push('\n');
    }
    Ok(lines)
}

/// Adds a span, to the last one where it goes on from it.
fn extend(spans: &mut Vec<Span>, span: Span) {
    match spans.last_mut() {
        _ if span.0 == span.1 => {}
        Some(last) if last.1 == span.0 => last.1 = span.1,
        _ => spans.push(span),
    }
}

pub(super) fn internal(why: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "write candidates", "").with_source(why)
}
