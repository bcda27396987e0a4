//! A log of several runners, each section read by its own parser.

use crate::detect::{Hints, Marks, Section};
use crate::front::{At, Feeding, Front, Lines, Take};
use crate::inner;
use crate::registry::{Parsers, UnknownParser};
use crate::runs::Runs;
use atlas_core::{LogParser, LogParserExt, LogReader, ParsedLog, ParsedLogBuilder, WholeLog};
use std::sync::Arc;

/// A reader that gives each section of a log to its parser and merges what they read.
///
/// The sections come from a [`Detection`](crate::Detection) of the same log; the log is read a second
/// time, piece by piece.
pub struct SectionReader {
    id: String,
    front: Front,
    log: Sections,
}

struct Sections {
    /// Sections that are still to come, the next one last.
    rest: Vec<(Section, Arc<dyn LogParser>)>,
    open: Option<(Section, Open)>,
    offset: u64,
    read: Vec<ParsedLog>,
}

/// A section that is being read: as it is in the log, or line by line.
enum Open {
    Plain(Box<dyn LogReader>),
    Lines(Feeding),
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
            rest.push((section.clone(), parsers.bare(&section.parser)?));
        }
        Ok(Self {
            id: id.to_owned(),
            front: Front::default(),
            log: Sections {
                rest,
                open: None,
                offset: 0,
                read: Vec::new(),
            },
        })
    }
}

impl Sections {
    /// The section at this place: the next one where the open one ends.
    fn at(
        &mut self,
        offset: u64,
        open: fn(Box<dyn LogReader>) -> Open,
    ) -> Option<&mut (Section, Open)> {
        let ended = |(section, _): &(Section, Open)| offset >= section.end;
        if !self.rest.is_empty() && self.open.as_ref().is_none_or(ended) {
            self.close();
            let (section, parser) = self.rest.pop()?;
            self.open = Some((section, open(parser.start())));
        }
        self.open.as_mut()
    }

    fn close(&mut self) {
        match self.open.take() {
            Some((section, Open::Plain(reader))) => {
                let mut log = reader.finish();
                Lines::from(section.first_line).place(&mut log);
                self.read.push(log);
            }
            Some((_, Open::Lines(feeding))) => self.read.push(feeding.finish()),
            None => {}
        }
    }
}

impl Take for Sections {
    fn plain(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let offset = self.offset;
            let is_last = self.rest.is_empty();
            let Some((section, Open::Plain(reader))) = self.at(offset, Open::Plain) else {
                return;
            };
            // The last section has whatever there is.
            let left = usize::try_from(section.end.saturating_sub(offset));
            let left = left.ok().filter(|_| !is_last).unwrap_or(bytes.len());
            let (now, later) = bytes.split_at(bytes.len().min(left));
            reader.feed(now);
            self.offset += now.len() as u64;
            bytes = later;
        }
    }

    fn line(&mut self, _: usize, text: &[u8], at: At, more: bool) {
        let open = |reader| Open::Lines(Feeding::new(reader));
        if let Some((_, Open::Lines(feeding))) = self.at(at.start, open) {
            feeding.line(text, at, more);
        }
    }

    fn ended(&mut self, _: usize) {
        if let Some((_, Open::Lines(feeding))) = &mut self.open {
            feeding.ended();
        }
    }
}

impl LogReader for SectionReader {
    fn feed(&mut self, bytes: &[u8]) {
        self.front.feed(bytes, &mut self.log);
    }

    fn finish(mut self: Box<Self>) -> ParsedLog {
        self.front.finish(&mut self.log);
        self.log.close();
        let mut log = merge(&self.id, self.log.read);
        self.front.doubt(&mut log);
        log
    }
}

/// One log out of several.
pub(crate) fn merge(id: &str, logs: Vec<ParsedLog>) -> ParsedLog {
    let mut merged = ParsedLogBuilder::new(id);
    let mut consistent = Some(true);
    let mut runs = Runs::default();
    for log in logs {
        consistent = match (consistent, log.consistent) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        // The worst end is that of the whole; a section without a run says nothing against another.
        runs.worst(log.outcome);
        if let Some(totals) = log.totals {
            merged.add_totals(totals);
        }
        for lost in log.modules_not_loaded {
            merged.lose(&lost.module, lost.reason, lost.lines);
        }
        for name in log.in_flight {
            merged.still_running(name);
        }
        for warning in log.warnings {
            merged.warn(warning.line, format!("{}: {}", log.parser, warning.text));
        }
        merged.append(log.results);
    }
    let mut log = merged.finish(runs.outcome.unwrap_or_default());
    log.consistent = consistent.filter(|_| runs.outcome.is_some());
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
        (parts.len() > 1 && parts.iter().all(|part| parsers.bare(part).is_ok())).then(|| Self {
            id: id.to_owned(),
            parsers: parsers.clone(),
        })
    }

    fn read(&self, log: &[u8]) -> ParsedLog {
        let parts: Vec<&str> = self.id.split('+').collect();
        let mut detector = Marks::only(&parts);
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
            && let Ok(outer) = self.parsers.bare(outer)
        {
            let named = |id: &&'static str| Some((*id, self.parsers.bare(id).ok()?));
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
            .bare(one)
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
