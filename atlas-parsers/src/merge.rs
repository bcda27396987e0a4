//! A log of several runners, each section read by its own parser.

use crate::detect::{Detector, Hints, Section};
use crate::inner;
use crate::registry::{Parsers, UnknownParser};
use atlas_core::{
    LogParser, LogParserExt, LogReader, ParsedLog, ParsedLogBuilder, RunOutcome, WholeLog,
};
use std::sync::Arc;

/// A reader that gives each section of a log to its parser and merges what they read.
///
/// The sections come from a [`Detection`](crate::Detection) of the same log; the log is read a second
/// time, piece by piece.
pub struct SectionReader {
    id: String,
    /// Sections that are still to come, the next one last.
    rest: Vec<(Section, Arc<dyn LogParser>)>,
    open: Option<(Section, Box<dyn LogReader>)>,
    offset: u64,
    read: Vec<(u64, ParsedLog)>,
}

impl std::fmt::Debug for SectionReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SectionReader")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl SectionReader {
    /// A reader of a log with these sections.
    ///
    /// # Errors
    /// A section of a parser that is not in the set.
    pub fn new(parsers: &Parsers, id: &str, sections: &[Section]) -> Result<Self, UnknownParser> {
        let mut rest = Vec::with_capacity(sections.len());
        for section in sections.iter().rev() {
            rest.push((section.clone(), parsers.get(&section.parser)?));
        }
        Ok(Self {
            id: id.to_owned(),
            rest,
            open: None,
            offset: 0,
            read: Vec::new(),
        })
    }

    fn close(&mut self) {
        if let Some((section, reader)) = self.open.take() {
            self.read.push((section.first_line, reader.finish()));
        }
    }
}

impl LogReader for SectionReader {
    fn feed(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            if self.open.is_none() {
                let Some((section, parser)) = self.rest.pop() else {
                    return;
                };
                self.open = Some((section, parser.start()));
            }
            let Some((section, reader)) = &mut self.open else {
                return;
            };
            if self.rest.is_empty() {
                // The last section has whatever there is.
                reader.feed(bytes);
                return;
            }
            let left = usize::try_from(section.end.saturating_sub(self.offset));
            let (now, later) = bytes.split_at(bytes.len().min(left.unwrap_or(usize::MAX)));
            reader.feed(now);
            self.offset += now.len() as u64;
            if self.offset >= section.end {
                self.close();
            }
            bytes = later;
        }
    }

    fn finish(mut self: Box<Self>) -> ParsedLog {
        self.close();
        merge(&self.id, self.read)
    }
}

/// One log out of several that stand below each other, each with the number of its first line.
fn merge(id: &str, logs: Vec<(u64, ParsedLog)>) -> ParsedLog {
    let mut merged = ParsedLogBuilder::new(id);
    let mut consistent = Some(true);
    let mut outcomes = Vec::with_capacity(logs.len());
    for (first_line, log) in logs {
        let before = first_line.saturating_sub(1);
        let lines = usize::try_from(before).unwrap_or(usize::MAX);
        consistent = match (consistent, log.consistent) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        outcomes.push(log.outcome);
        if let Some(totals) = log.totals {
            merged.add_totals(totals);
        }
        for mut lost in log.modules_not_loaded {
            for proof in &mut lost.lines {
                proof.line = proof.line.map(|line| line.saturating_add(lines));
            }
            merged.lose(&lost.module, lost.reason, lost.lines);
        }
        for name in log.in_flight {
            merged.still_running(name);
        }
        for warning in log.warnings {
            merged.warn(
                warning.line.map(|line| line.saturating_add(before)),
                format!("{}: {}", log.parser, warning.text),
            );
        }
        merged.append(log.results);
    }
    // The worst end is that of the whole; a section without a run says nothing against another.
    let outcome = [
        RunOutcome::Crashed,
        RunOutcome::TimedOut,
        RunOutcome::Truncated,
        RunOutcome::Completed,
        RunOutcome::BuildFailed,
    ]
    .into_iter()
    .find(|outcome| outcomes.contains(outcome))
    .unwrap_or_default();
    let mut log = merged.finish(outcome);
    log.consistent = consistent.filter(|_| !outcomes.is_empty());
    log
}

/// The parser of a log with several runners, named as `jest+mocha`: finds the sections of these runners
/// and reads each with its own parser. A driver and a runner inside it, `ctest+unity`, share their
/// lines instead. Keeps the log in memory.
#[derive(Debug)]
pub(crate) struct Several {
    id: String,
    parsers: Parsers,
}

impl Several {
    /// The parser of this name, if each part of it is a parser's.
    pub(crate) fn named(id: &str, parsers: &Parsers) -> Option<Self> {
        let parts: Vec<&str> = id.split('+').collect();
        (parts.len() > 1 && parts.iter().all(|part| parsers.get(part).is_ok())).then(|| Self {
            id: id.to_owned(),
            parsers: parsers.clone(),
        })
    }

    fn read(&self, log: &[u8]) -> ParsedLog {
        let parts: Vec<&str> = self.id.split('+').collect();
        let mut detector = Detector::only(&parts);
        detector.feed(log);
        let found = detector.finish(&Hints::default());
        if !found.sections.is_empty()
            && let Ok(mut reader) = SectionReader::new(&self.parsers, &self.id, &found.sections)
        {
            reader.feed(log);
            return Box::new(reader).finish();
        }
        // Of a driver with its programs' lines, or of a run that came to no program.
        let outer = |id: &str| id == parts[0] || id.starts_with(&format!("{}+", parts[0]));
        if found.parser.as_deref().is_none_or(outer)
            && let [outer, inside @ ..] = &parts[..]
            && let Some(driver) = inner::driver(outer, inside)
            && let Ok(outer) = self.parsers.get(outer)
        {
            let named = |id: &&'static str| Some((*id, self.parsers.get(id).ok()?));
            let inside = driver.about().contains.iter();
            let inside: Vec<_> = inside
                .filter(|id| parts.contains(*id))
                .filter_map(named)
                .collect();
            return inner::read(&self.id, driver, &outer, &inside, log);
        }
        // Only one of them left marks; without any, the first is asked.
        let one = found.parser.as_deref().unwrap_or(parts[0]);
        let mut read = self
            .parsers
            .get(one)
            .map(|parser| parser.parse(log))
            .unwrap_or_default();
        read.parser.clone_from(&self.id);
        read
    }
}

impl LogParser for Several {
    fn id(&self) -> &str {
        &self.id
    }

    fn start(&self) -> Box<dyn LogReader> {
        let parser = Self {
            id: self.id.clone(),
            parsers: self.parsers.clone(),
        };
        Box::new(WholeLog::new(move |log| parser.read(log)))
    }
}
