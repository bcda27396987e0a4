//! Which of the candidates a run takes up.

use crate::store::replace_if_changed;
use atlas_core::{Error, ErrorKind, RunContext, SourcedPullRequest};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What was taken of files of candidates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TakenCandidates {
    /// The file with those that were taken.
    pub file: PathBuf,
    /// Most new ones of a repository at a time; absent where all are taken.
    pub per_repo: Option<NonZeroUsize>,
    /// Lines that the files hold.
    pub offered: u64,
    /// Lines that were taken.
    pub taken: u64,
    /// Whether the file was written: it was not as it should be.
    pub written: bool,
}

/// A candidate's name, short.
type Name = [u8; 16];

/// The newest of a repository: when it was merged, its number and name, and the line that tells of it.
type Newest = BinaryHeap<Reverse<(String, u64, Name, u64)>>;

/// Takes candidates into one file, in the order of the files: all, or with `per_repo` of each repository the newest so
/// many by the time of their merge.
///
/// What was taken once stays, as long as a line tells of it: when newer ones come, they are taken beside the older, so that
/// a dataset grows and loses nothing. A larger number takes older ones, too; a smaller one gives none back. The file is
/// left alone where it holds just that already. Lines that are no candidates are taken, for whoever reads them to tell.
/// Memory holds a few words for each candidate that is taken, none for the others.
///
/// # Errors
/// Files that cannot be read or written.
///
/// # Cancellation
/// Raising `cx.cancel` ends it; `out` is as it was.
pub fn take_candidates(
    cx: &RunContext,
    files: &[PathBuf],
    per_repo: Option<NonZeroUsize>,
    out: &Path,
) -> Result<TakenCandidates, Error> {
    let chosen = per_repo
        .map(|most| choose(cx, files, most, out))
        .transpose()?;
    let (mut offered, mut taken) = (0, 0);
    let written = replace_if_changed(out, |writer| {
        lines(cx, files, |at, line| {
            offered += 1;
            if chosen.as_ref().is_some_and(|chosen| !chosen.contains(&at)) {
                return Ok(());
            }
            taken += 1;
            let both = writer
                .write_all(line)
                .and_then(|()| writer.write_all(b"\n"));
            both.map_err(|why| Error::io("write", out, why))
        })
    })?;
    Ok(TakenCandidates {
        file: out.to_owned(),
        per_repo,
        offered,
        taken,
        written,
    })
}

/// The numbers of the lines that are taken.
fn choose(
    cx: &RunContext,
    files: &[PathBuf],
    most: NonZeroUsize,
    out: &Path,
) -> Result<HashSet<u64>, Error> {
    let mut before: HashSet<Name> = HashSet::new();
    if out.exists() {
        lines(cx, &[out.to_owned()], |_, line| {
            before.extend(read(line).map(|request| name(&request)));
            Ok(())
        })?;
    }
    let mut chosen = HashSet::new();
    let mut newest: BTreeMap<String, Newest> = BTreeMap::new();
    lines(cx, files, |at, line| {
        let Some(request) = read(line) else {
            chosen.insert(at);
            return Ok(());
        };
        let name = name(&request);
        if before.contains(&name) {
            chosen.insert(at);
        }
        let merged = request.merged_at.unwrap_or_default();
        let heap = newest.entry(request.repo).or_default();
        // Of several lines with one name the first counts.
        if heap.iter().any(|Reverse((_, _, known, _))| *known == name) {
            return Ok(());
        }
        heap.push(Reverse((merged, request.number.unwrap_or(0), name, at)));
        if heap.len() > most.get() {
            heap.pop();
        }
        Ok(())
    })?;
    let kept = newest.into_values().flatten();
    chosen.extend(kept.map(|Reverse((_, _, _, at))| at));
    Ok(chosen)
}

fn read(line: &[u8]) -> Option<SourcedPullRequest> {
    serde_json::from_slice(line).ok()
}

fn name(request: &SourcedPullRequest) -> Name {
    let mut short = Name::default();
    short.copy_from_slice(&Sha256::digest(request.instance_name().as_bytes())[..16]);
    short
}

/// Calls `take` with each line that is not empty, numbered over all files. A last line without an end is left for another
/// time: somebody may be writing it.
fn lines(
    cx: &RunContext,
    files: &[PathBuf],
    mut take: impl FnMut(u64, &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut at = 0;
    let mut line = Vec::new();
    for file in files {
        let fail = |why| Error::io("read candidates", file, why);
        let mut reader = BufReader::with_capacity(1 << 20, File::open(file).map_err(fail)?);
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(fail)?;
            if !line.ends_with(b"\n") {
                break;
            }
            at += 1;
            if at % 1024 == 0 {
                cx.check("take candidates")?;
            }
            let text = line.trim_ascii();
            if !text.is_empty() {
                take(at, text)?;
            }
        }
    }
    Ok(())
}

/// The same without holding up whoever else is at work in the runtime.
///
/// # Errors
/// As [`take_candidates`].
///
/// # Cancellation
/// As [`take_candidates`].
pub(crate) async fn take_aside(
    cx: &RunContext,
    files: Vec<PathBuf>,
    per_repo: Option<NonZeroUsize>,
    out: PathBuf,
) -> Result<TakenCandidates, Error> {
    let cx = cx.clone();
    let work = move || take_candidates(&cx, &files, per_repo, &out);
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, "take candidates", "").with_source(why))?
}
