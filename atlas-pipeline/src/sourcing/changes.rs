//! What a later reading of a host told, beside what was told before.

use super::journal::{HostState, Round, Span, changes_file};
use atlas_core::{Error, ErrorKind, SkippedPullRequest};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

/// Where a pull request has its place among those of a host that tells the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order {
    created_at: Option<String>,
    number: Option<u64>,
}

/// What of a line is looked at.
#[derive(Deserialize)]
struct Known {
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    number: Option<u64>,
}

impl Order {
    /// Of a line.
    pub(super) fn of(line: &[u8], path: &Path) -> Result<Self, Error> {
        let known: Known = serde_json::from_slice(line).map_err(|why| {
            let place = format!("`{}`", path.display());
            Error::new(ErrorKind::InvalidInput, "read the candidate in", place).with_source(why)
        })?;
        Ok(Self {
            created_at: known.created_at,
            number: known.number,
        })
    }

    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }
}

/// Reads the lines of spans of a file, each with its end, one after the other.
pub(super) fn each_line(
    path: &Path,
    spans: &[Span],
    mut take: impl FnMut(&[u8], Span) -> Result<(), Error>,
) -> Result<(), Error> {
    let fail = |why| Error::io("read", path, why);
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(fail)?);
    let mut line = Vec::new();
    for (start, end) in spans {
        reader.seek(SeekFrom::Start(*start)).map_err(fail)?;
        let mut at = *start;
        while at < *end {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(fail)? as u64;
            if read == 0 {
                let place = format!("`{}`: it is shorter than its state says", path.display());
                return Err(Error::new(ErrorKind::InvalidInput, "go on with", place));
            }
            take(&line, (at, at + read))?;
            at += read;
        }
    }
    Ok(())
}

/// The changes of a round that is not of all. Memory holds what changed by number and place.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Number -> where the pull request stands, as it came last.
    pub(super) lines: BTreeMap<u64, Span>,
    /// Those that were not told of before, in their order.
    pub(super) new: BTreeMap<Order, Span>,
    /// Numbers of which nothing can be made any more.
    pub(super) skipped: BTreeSet<u64>,
    /// How many of them were told of before.
    pub(super) dropped: u64,
}

impl Changes {
    /// Of a round, beside the lines of `sourced`.
    pub(super) fn of(sourced: &Path, state: &HostState, round: &Round) -> Result<Self, Error> {
        let mut found = Self::default();
        let changes = changes_file(sourced);
        each_line(&changes, &round.lines, |line, span| {
            let order = Order::of(line, &changes)?;
            if let Some(number) = order.number {
                found.lines.insert(number, span);
                found.new.insert(order, span);
            }
            Ok(())
        })?;
        found.skipped = round.skipped.iter().filter_map(number).collect();
        found
            .skipped
            .retain(|number| !found.lines.contains_key(number));
        if found.lines.is_empty() && found.skipped.is_empty() {
            return Ok(found);
        }
        each_line(sourced, &state.lines, |line, _| {
            let order = Order::of(line, sourced)?;
            found.new.remove(&order);
            let is_skipped = |number| found.skipped.contains(&number);
            found.dropped += u64::from(order.number.is_some_and(is_skipped));
            Ok(())
        })?;
        Ok(found)
    }

    /// How many pull requests are told of with these changes, those of which nothing can be made too.
    pub(super) fn known(&self, state: &HostState, round: &Round) -> u64 {
        let progress = &state.progress;
        let names: BTreeSet<&str> = progress
            .skipped_examples
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        let again = round.skipped.iter();
        let again = again.filter(|one| names.contains(one.name.as_str()));
        let told_now = progress.skipped_examples.iter().filter_map(number);
        let told_now = told_now.filter(|number| self.lines.contains_key(number));
        let skipped = progress.skipped + round.skipped.len() as u64;
        let skipped = skipped - again.count() as u64 - told_now.count() as u64;
        progress.told + self.new.len() as u64 - self.dropped + skipped
    }
}

/// The number in the name of what was skipped: `owner/name#12`, `group/project!12`.
pub(super) fn number(skipped: &SkippedPullRequest) -> Option<u64> {
    let (_, number) = skipped.name.rsplit_once(['#', '!'])?;
    number.parse().ok()
}
