//! What stands between a runner and its parser: a CI system that puts a time in front of each line, a tool
//! that puts the name of a job or a service there, a terminal on which lines were written over.
//!
//! Decided once for a log, by its beginning, and on evidence: `decide.rs` says which. A log without such a
//! form passes untouched. In one that has it, lines are changed one by one: those that have nothing in
//! front stay as they are, so a log may have stretches of both. Lines of different jobs or services are
//! read apart. Evidence names the lines of the log as it is.

mod decide;
mod frame;
mod screen;

use crate::merge;
use atlas_core::{LogParser, LogReader, ParsedLog, RunOutcome};
use decide::Form;
use frame::{Kind, untagged};
use screen::Screen;
use std::borrow::Cow;
use std::sync::Arc;

/// So much of a log is looked at to know its form, in bytes.
const HEAD: usize = 256 << 10;

/// The most bytes of a line that are kept, as [`atlas_core::ByLine`] keeps them.
const MAX_LINE: usize = 4 << 20;

/// The most jobs or services that are read apart; the lines of further ones are the last one's.
const CHANNELS: usize = 256;

/// Where a line stands in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    /// Its number, from 1.
    pub(crate) line: u64,
    /// Where it begins and where the next one does, in bytes.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Takes a log as its runner printed it.
pub(crate) trait Take {
    /// The next bytes of a log that needs nothing; pieces may be cut anywhere.
    fn plain(&mut self, bytes: &[u8]);
    /// A line of another log, without its end; with `more`, what goes on the channel's line before.
    fn line(&mut self, channel: usize, text: &[u8], at: At, more: bool);
    /// The last line had an end.
    fn ended(&mut self, channel: usize);
}

/// Takes off what stands in front of the lines of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    /// The beginning, while the form is not known.
    head: Vec<u8>,
    form: Option<Form>,
    /// The begin of a line that is not whole yet, and its length so far.
    partial: Vec<u8>,
    partial_len: u64,
    at: At,
    /// The names of jobs or services, each with its screen; the first is nobody's.
    channels: Vec<(Vec<u8>, Screen)>,
}

impl Front {
    pub(crate) fn feed(&mut self, bytes: &[u8], take: &mut impl Take) {
        let mut bytes = bytes;
        if self.form.is_none() {
            if self.head.is_empty() && bytes.len() >= HEAD {
                self.form = Some(Form::of(&bytes[..HEAD], false));
            } else {
                let (now, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
                self.head.extend_from_slice(now);
                if self.head.len() < HEAD {
                    return;
                }
                let head = std::mem::take(&mut self.head);
                self.form = Some(Form::of(&head, false));
                self.known(&head, take);
                bytes = rest;
            }
        }
        self.known(bytes, take);
    }

    pub(crate) fn finish(&mut self, take: &mut impl Take) {
        if self.form.is_none() {
            let head = std::mem::take(&mut self.head);
            self.form = Some(Form::of(&head, true));
            self.known(&head, take);
        }
        if self.partial_len > 0 {
            let line = std::mem::take(&mut self.partial);
            self.line(&line, self.partial_len, false, take);
        }
        for (channel, (_, screen)) in self.channels.iter_mut().enumerate() {
            screen.finish(&mut |text, at| {
                take.line(channel, text.as_bytes(), at, false);
                take.ended(channel);
            });
        }
    }

    /// Takes a log's consistency away where nothing tells which of its lines are a runner's and which a test's.
    pub(crate) fn doubt(&self, log: &mut ParsedLog) {
        if self.form.is_some_and(|form| form.is_mixed) {
            log.consistent = log.consistent.map(|_| false);
        }
    }

    /// The name of a channel; nobody's has none.
    pub(crate) fn name(&self, channel: usize) -> &[u8] {
        self.channels
            .get(channel)
            .map_or(b"", |(name, _)| name.as_slice())
    }

    fn known(&mut self, bytes: &[u8], take: &mut impl Take) {
        if self
            .form
            .is_some_and(|form| form.kind.is_none() && !form.is_drawn)
        {
            take.plain(bytes);
            return;
        }
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            rest = &after[1..];
            if self.partial_len == 0 {
                self.line(line, line.len() as u64 + 1, true, take);
            } else {
                self.keep(line);
                let whole = std::mem::take(&mut self.partial);
                let len = std::mem::take(&mut self.partial_len);
                self.line(&whole, len + 1, true, take);
            }
        }
        self.keep(rest);
    }

    fn keep(&mut self, part: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.partial.len());
        self.partial
            .extend_from_slice(&part[..part.len().min(room)]);
        self.partial_len += part.len() as u64;
    }

    fn line(&mut self, line: &[u8], len: u64, ended: bool, take: &mut impl Take) {
        let Form { kind, is_drawn, .. } = self.form.unwrap_or_default();
        self.at = At {
            line: self.at.line + 1,
            start: self.at.end,
            end: self.at.end + len,
        };
        let (mut channel, mut text, mut more) = (&b""[..], Cow::Borrowed(line), false);
        if let Some(framed) = kind.and_then(|kind| kind.read(line)) {
            text = untagged(framed.text);
            more = framed.goes_on;
            if kind.is_some_and(Kind::has_channels) {
                channel = framed.channel;
            }
        }
        let channel = self.channel(channel);
        if is_drawn {
            let screen = &mut self.channels[channel].1;
            screen.line(&text, self.at, ended, &mut |text, at| {
                take.line(channel, text.as_bytes(), at, false);
                take.ended(channel);
            });
            return;
        }
        take.line(channel, &text, self.at, more);
        if ended {
            take.ended(channel);
        }
    }

    fn channel(&mut self, name: &[u8]) -> usize {
        if self.channels.is_empty() {
            self.channels.push(<(Vec<u8>, Screen)>::default());
        }
        let known = self.channels.iter().position(|known| known.0 == name);
        known.unwrap_or_else(|| {
            if self.channels.len() < CHANNELS {
                self.channels.push((name.to_vec(), Screen::default()));
            }
            self.channels.len() - 1
        })
    }
}

/// Which line of a log each line of a changed one was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// From this line on, this many were left out before.
    steps: Vec<(u64, i64)>,
    count: u64,
}

impl Lines {
    /// Of a stretch that begins at this line.
    pub(crate) fn from(first: u64) -> Self {
        Self {
            steps: vec![(1, first.cast_signed() - 1)],
            count: 0,
        }
    }

    fn push(&mut self, line: u64) {
        self.count += 1;
        let shift = line.cast_signed() - self.count.cast_signed();
        if self.steps.last().map_or(0, |step| step.1) != shift {
            self.steps.push((self.count, shift));
        }
    }

    /// The line in the log.
    pub(crate) fn original(&self, line: u64) -> u64 {
        let after = self.steps.partition_point(|step| step.0 <= line);
        let shift = after.checked_sub(1).map_or(0, |at| self.steps[at].1);
        line.saturating_add_signed(shift)
    }

    /// Makes the lines of a reading those of the log.
    pub(crate) fn place(&self, log: &mut ParsedLog) {
        for lost in &mut log.modules_not_loaded {
            for proof in &mut lost.lines {
                let line = proof.line.and_then(|line| u64::try_from(line).ok());
                let line = line.map(|line| self.original(line));
                proof.line = line.and_then(|line| usize::try_from(line).ok());
            }
        }
        for warning in &mut log.warnings {
            warning.line = warning.line.map(|line| self.original(line));
        }
    }
}

/// Lines on their way to a reader.
pub(crate) struct Feeding {
    reader: Box<dyn LogReader>,
    lines: Lines,
    /// What the reader has not been given yet.
    out: Vec<u8>,
    /// The last line had an end, which is given when it is known that nothing goes on it.
    ended: bool,
}

impl Feeding {
    /// So much is given at once, in bytes.
    const PIECE: usize = 32 << 10;

    pub(crate) fn new(reader: Box<dyn LogReader>) -> Self {
        Self {
            reader,
            lines: Lines::default(),
            out: Vec::new(),
            ended: true,
        }
    }

    pub(crate) fn line(&mut self, text: &[u8], at: At, more: bool) {
        if self.lines.count == 0 || self.ended && !more {
            if self.lines.count > 0 {
                self.out.push(b'\n');
            }
            self.lines.push(at.line);
        }
        self.ended = false;
        self.out.extend_from_slice(text);
        if self.out.len() >= Self::PIECE {
            self.reader.feed(&self.out);
            self.out.clear();
        }
    }

    pub(crate) fn ended(&mut self) {
        self.ended = true;
    }

    pub(crate) fn finish(mut self) -> ParsedLog {
        if self.ended && self.lines.count > 0 {
            self.out.push(b'\n');
        }
        self.reader.feed(&self.out);
        let mut log = self.reader.finish();
        self.lines.place(&mut log);
        log
    }
}

/// A parser that is given logs as its runner printed them.
#[derive(Debug)]
pub(crate) struct Fronted(pub(crate) Arc<dyn LogParser>);

impl LogParser for Fronted {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(FrontReader {
            front: Front::default(),
            log: Readers {
                parser: Arc::clone(&self.0),
                plain: None,
                channels: Vec::new(),
            },
        })
    }
}

struct FrontReader {
    front: Front,
    log: Readers,
}

struct Readers {
    parser: Arc<dyn LogParser>,
    plain: Option<Box<dyn LogReader>>,
    channels: Vec<Option<Feeding>>,
}

impl Take for Readers {
    fn plain(&mut self, bytes: &[u8]) {
        let reader = self.plain.get_or_insert_with(|| self.parser.start());
        reader.feed(bytes);
    }

    fn line(&mut self, channel: usize, text: &[u8], at: At, more: bool) {
        if self.channels.len() <= channel {
            self.channels.resize_with(channel + 1, || None);
        }
        let feeding =
            self.channels[channel].get_or_insert_with(|| Feeding::new(self.parser.start()));
        feeding.line(text, at, more);
    }

    fn ended(&mut self, channel: usize) {
        if let Some(Some(feeding)) = self.channels.get_mut(channel) {
            feeding.ended();
        }
    }
}

impl LogReader for FrontReader {
    fn feed(&mut self, bytes: &[u8]) {
        self.front.feed(bytes, &mut self.log);
    }

    fn finish(mut self: Box<Self>) -> ParsedLog {
        self.front.finish(&mut self.log);
        if let Some(reader) = self.log.plain {
            let mut log = reader.finish();
            self.front.doubt(&mut log);
            return log;
        }
        let channels = self.log.channels.into_iter().flatten();
        let mut logs: Vec<ParsedLog> = channels.map(Feeding::finish).collect();
        // A job without tests says nothing of the others.
        if logs.iter().any(|log| !says_nothing(log)) {
            logs.retain(|log| !says_nothing(log));
        } else {
            logs.truncate(1);
        }
        match logs.len() {
            0 => self.log.parser.start().finish(),
            1 => logs.swap_remove(0),
            _ => merge::merge(self.log.parser.id(), logs),
        }
    }
}

fn says_nothing(log: &ParsedLog) -> bool {
    log.outcome == RunOutcome::NothingRan
        && log.is_empty()
        && log.modules_not_loaded.is_empty()
        && log.in_flight.is_empty()
}
