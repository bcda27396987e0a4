//! Candidate files into the store: what is new, what changed, what is gone.

use super::{Store, now};
use crate::evaluate::InputFault;
use crate::run::candidate::rank;
use atlas_core::{Error, InstanceId, RunContext, SourcedPullRequest};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// So many lines are one transaction.
const LINES: usize = 5_000;
/// So many faults are told one by one.
const FAULTS: usize = 20;

/// What candidate files held, against what the store knew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Whether the files were those of the last time, so that none was read.
    pub unchanged: bool,
    /// Candidates that were not known.
    pub new: u64,
    /// Candidates whose line differs: all their steps are done anew.
    pub changed: u64,
    /// Candidates whose line is known.
    pub known: u64,
    /// Candidates that stand in no file any more: their open steps are dropped and their rows leave the dataset; what was
    /// done stays, in case they come back.
    pub withdrawn: u64,
    /// Further lines of candidates that an earlier line has told of: the first one counts.
    pub repeated: u64,
    /// Lines that are no candidates.
    pub faulty: u64,
    /// The first of them.
    pub faults: Vec<InputFault>,
}

impl ImportReport {
    fn fault(&mut self, file: &Path, number: usize, message: String) {
        self.faulty += 1;
        if self.faults.len() < FAULTS {
            self.faults.push(InputFault {
                file: file.display().to_string(),
                line: Some(number),
                field: None,
                message,
            });
        }
    }
}

/// Numbers that were seen, a bit each.
#[derive(Debug, Default)]
struct NumberSet(Vec<u64>);

impl NumberSet {
    /// Adds one; whether it is new.
    fn add(&mut self, number: i64) -> bool {
        let number = usize::try_from(number).unwrap_or_default();
        let (at, bit) = (number / 64, 1_u64 << (number % 64));
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        let new = self.0[at] & bit == 0;
        self.0[at] |= bit;
        new
    }

    fn has(&self, number: i64) -> bool {
        let number = usize::try_from(number).unwrap_or_default();
        let word = self.0.get(number / 64).copied().unwrap_or_default();
        word & (1 << (number % 64)) != 0
    }
}

/// A line with what it is known by.
struct Line<'a> {
    bytes: &'a [u8],
    hash: [u8; 16],
    file: &'a Path,
    number: usize,
}

fn hash(bytes: &[u8]) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&Sha256::digest(bytes)[..16]);
    short
}

fn parsed(bytes: &[u8]) -> Result<(SourcedPullRequest, InstanceId), String> {
    let request: SourcedPullRequest = serde_json::from_slice(bytes).map_err(|why| {
        format!(
            "no candidate: {}",
            crate::near::with_nearest(&why.to_string())
        )
    })?;
    let id = request
        .instance_name()
        .parse()
        .map_err(|why| format!("`repo` gives no name for an instance: {why}"))?;
    Ok((request, id))
}

/// Size, time and place of each file: the same where nothing was written.
fn state_of(files: &[PathBuf]) -> Result<String, Error> {
    let mut text = String::from("order 1");
    for file in files {
        let about = std::fs::metadata(file).map_err(|why| Error::io("read", file, why))?;
        let (seconds, nanos) = (about.mtime(), about.mtime_nsec());
        let (size, inode) = (about.len(), about.ino());
        let _ = write!(
            text,
            "\n{size} {seconds}.{nanos} {inode} {}",
            file.display()
        );
    }
    Ok(text)
}

/// Calls `take` with pieces of up to [`LINES`] lines. A last line that does not end is left for another time: somebody may
/// be writing it.
fn pieces(
    cx: &RunContext,
    file: &Path,
    mut take: impl FnMut(&[Line]) -> Result<(), Error>,
) -> Result<(), Error> {
    let fail = |why| Error::io("read candidates", file, why);
    let mut reader = BufReader::with_capacity(1 << 20, File::open(file).map_err(fail)?);
    let mut number = 0;
    loop {
        cx.check("read candidates")?;
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        while ends.len() < LINES && text.len() < 64 << 20 {
            reader.read_until(b'\n', &mut text).map_err(fail)?;
            if text.len() == ends.last().copied().unwrap_or_default() || !text.ends_with(b"\n") {
                break;
            }
            ends.push(text.len());
        }
        if ends.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in ends {
            number += 1;
            let bytes = text[start..end].trim_ascii();
            start = end;
            if !bytes.is_empty() {
                lines.push(Line {
                    bytes,
                    hash: hash(bytes),
                    file,
                    number,
                });
            }
        }
        take(&lines)?;
    }
}

impl Store {
    /// Brings the store up to what the files say; `stages` are their names in order.
    ///
    /// # Errors
    /// A file or the store cannot be read or written. Lines that are no candidates are told in the report.
    ///
    /// # Cancellation
    /// What was read until then is in the store, and the next call reads from the start.
    pub(in crate::run) fn import(
        &self,
        cx: &RunContext,
        files: &[PathBuf],
        stages: &[&str],
    ) -> Result<ImportReport, Error> {
        let state = state_of(files)?;
        let mut report = ImportReport::default();
        if self.note("sources")? == Some(state.clone()) {
            report.unchanged = true;
            return Ok(report);
        }
        let mut seen = NumberSet::default();
        for file in files {
            pieces(cx, file, |lines| {
                self.change(|at| {
                    for line in lines {
                        take_line(at, line, stages, (&mut seen, &mut report))?;
                    }
                    Ok(())
                })
            })?;
        }
        self.withdraw(&seen, &mut report)?;
        if report.faulty == 0 {
            // Faults are told each time.
            self.set_note("sources", &state)?;
        }
        Ok(report)
    }

    /// What [`import`](Self::import) would find; nothing is written. Withdrawn candidates are not looked for.
    ///
    /// # Errors
    /// As there.
    pub(in crate::run) fn compare(
        &self,
        cx: &RunContext,
        files: &[PathBuf],
    ) -> Result<ImportReport, Error> {
        let mut report = ImportReport::default();
        if self.note("sources")? == Some(state_of(files)?) {
            report.unchanged = true;
            return Ok(report);
        }
        let mut seen = NumberSet::default();
        let mut new: HashSet<[u8; 16]> = HashSet::new();
        for file in files {
            pieces(cx, file, |lines| {
                self.look(|at| {
                    for line in lines {
                        compare_line(at, line, (&mut seen, &mut new), &mut report)?;
                    }
                    Ok(())
                })
            })?;
        }
        Ok(report)
    }

    fn withdraw(&self, seen: &NumberSet, report: &mut ImportReport) -> Result<(), Error> {
        report.withdrawn += self.change(|at| {
            let gone: Vec<i64> = at
                .prepare("SELECT id FROM candidate WHERE withdrawn = 0")?
                .query_map([], |row| row.get(0))?
                .filter(|id| id.as_ref().map_or(true, |id| !seen.has(*id)))
                .collect::<rusqlite::Result<_>>()?;
            for id in &gone {
                at.prepare_cached("UPDATE candidate SET withdrawn = 1 WHERE id = ?1")?
                    .execute([id])?;
                at.prepare_cached("DELETE FROM step WHERE candidate = ?1 AND state = 'pending'")?
                    .execute([id])?;
            }
            Ok(gone.len() as u64)
        })?;
        Ok(())
    }
}

/// The candidate with this very line.
fn known(at: &Connection, hash: &[u8; 16]) -> rusqlite::Result<Option<(i64, bool)>> {
    at.prepare_cached("SELECT id, withdrawn FROM candidate WHERE hash = ?1")?
        .query_row([&hash[..]], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// The candidate of this name.
fn named(at: &Connection, id: &InstanceId) -> rusqlite::Result<Option<i64>> {
    at.prepare_cached("SELECT id FROM candidate WHERE name = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()
}

fn compare_line(
    at: &Connection,
    line: &Line,
    (seen, new): (&mut NumberSet, &mut HashSet<[u8; 16]>),
    report: &mut ImportReport,
) -> rusqlite::Result<()> {
    if let Some((candidate, _)) = known(at, &line.hash)? {
        let first = seen.add(candidate);
        *if first {
            &mut report.known
        } else {
            &mut report.repeated
        } += 1;
        return Ok(());
    }
    match parsed(line.bytes) {
        Err(why) => report.fault(line.file, line.number, why),
        Ok((_, id)) => {
            let (first, count) = match named(at, &id)? {
                Some(candidate) => (seen.add(candidate), &mut report.changed),
                None => (new.insert(hash(id.as_str().as_bytes())), &mut report.new),
            };
            *if first { count } else { &mut report.repeated } += 1;
        }
    }
    Ok(())
}

fn take_line(
    at: &Transaction,
    line: &Line,
    stages: &[&str],
    (seen, report): (&mut NumberSet, &mut ImportReport),
) -> rusqlite::Result<()> {
    if let Some((candidate, withdrawn)) = known(at, &line.hash)? {
        if !seen.add(candidate) {
            report.repeated += 1;
            return Ok(());
        }
        report.known += 1;
        if withdrawn {
            at.execute(
                "UPDATE candidate SET withdrawn = 0 WHERE id = ?1",
                [candidate],
            )?;
            go_on(at, candidate, stages)?;
        }
        return Ok(());
    }
    let (request, id) = match parsed(line.bytes) {
        Ok(read) => read,
        Err(why) => {
            report.fault(line.file, line.number, why);
            return Ok(());
        }
    };
    let candidate = named(at, &id)?;
    if candidate.is_some_and(|known| !seen.add(known)) {
        report.repeated += 1;
        return Ok(());
    }
    let repository = repository(at, &request.repo)?;
    let rank = rank(&request, &id);
    let candidate = if let Some(candidate) = candidate {
        report.changed += 1;
        at.prepare_cached(
            "UPDATE candidate SET repository = ?2, hash = ?3, rank = ?4, withdrawn = 0, reclaimed = 0 WHERE id = ?1",
        )?
        .execute(params![candidate, repository, &line.hash[..], rank])?;
        // A running step notices when it ends.
        at.prepare_cached("DELETE FROM step WHERE candidate = ?1 AND state <> 'running'")?
            .execute([candidate])?;
        at.prepare_cached("INSERT INTO event (candidate, stage, at, what, text) VALUES (?1, '', ?2, 'changed', ?3)")?
            .execute(params![candidate, now(), "its line differs: all steps are done anew"])?;
        candidate
    } else {
        report.new += 1;
        at.prepare_cached(
            "INSERT INTO candidate (name, repository, hash, rank) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![id.as_str(), repository, &line.hash[..], rank])?;
        let candidate = at.last_insert_rowid();
        seen.add(candidate);
        candidate
    };
    at.prepare_cached("INSERT OR REPLACE INTO line VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            candidate,
            std::str::from_utf8(line.bytes).unwrap_or_default(),
            line.file.display().to_string(),
            line.number
        ])?;
    go_on(at, candidate, stages)
}

fn repository(at: &Connection, name: &str) -> rusqlite::Result<i64> {
    let known = at
        .prepare_cached("SELECT id FROM repository WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    at.execute("INSERT INTO repository (name) VALUES (?1)", [name])?;
    Ok(at.last_insert_rowid())
}

/// Puts the first stage that a candidate has not passed into the queue, if it has no step and nothing of it runs.
pub(super) fn go_on(at: &Connection, candidate: i64, stages: &[&str]) -> rusqlite::Result<()> {
    let mut known =
        at.prepare_cached("SELECT stage, state, passed FROM step WHERE candidate = ?1")?;
    let known: Vec<(String, String, bool)> = known
        .query_map([candidate], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    if known.iter().any(|(_, state, _)| state == "running") {
        return Ok(());
    }
    for stage in stages {
        match known.iter().find(|(of, ..)| of == stage) {
            Some((_, state, true)) if state == "done" => {}
            Some(_) => return Ok(()),
            None => {
                at.prepare_cached(
                    "INSERT INTO step (candidate, stage, state, repository, rank)
                     SELECT id, ?2, 'pending', repository, rank FROM candidate WHERE id = ?1",
                )?
                .execute(params![candidate, stage])?;
                return Ok(());
            }
        }
    }
    Ok(())
}
