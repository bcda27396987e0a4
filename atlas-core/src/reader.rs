//! Building blocks for log readers.

use crate::{LogReader, ParsedLog};

/// A parser's state machine, fed one line at a time.
pub trait LineState: Send {
    /// Takes the next line, without its line end (`\n` or `\r\n`). The last line may be cut off.
    fn line(&mut self, line: &[u8]);
    /// Takes the next line where it is known to need no cleaning: no escape, no carriage return and
    /// no byte order mark is in it. The default is [`line`](Self::line).
    fn clean_line(&mut self, line: &[u8]) {
        self.line(line);
    }
    /// Ends the log.
    fn finish(self) -> ParsedLog;
}

/// Cuts a stream into lines and feeds them to a [`LineState`].
///
/// A line longer than [`MAX_LINE`](Self::MAX_LINE) is cut there and the rest of it dropped, so
/// that memory stays bounded on any input.
#[derive(Debug)]
pub struct ByLine<S> {
    state: S,
    partial: Vec<u8>,
}

impl<S: LineState> ByLine<S> {
    /// The most bytes of one line that are kept: 4 MiB.
    pub const MAX_LINE: usize = 4 << 20;

    /// So many bytes are looked through at once for what needs cleaning; they stay in the cache.
    const AHEAD: usize = 16 << 10;

    /// A reader over this state.
    pub fn new(state: S) -> Self {
        Self {
            state,
            partial: Vec::new(),
        }
    }

    fn emit(state: &mut S, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        state.line(&line[..line.len().min(Self::MAX_LINE)]);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = Self::MAX_LINE.saturating_sub(self.partial.len());
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl<S: LineState> LogReader for ByLine<S> {
    fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if !self.partial.is_empty() {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.keep(rest);
                return;
            };
            self.keep(&rest[..end]);
            let line = std::mem::take(&mut self.partial);
            Self::emit(&mut self.state, &line);
            rest = &rest[end + 1..];
        }
        let mut start = 0;
        // Nothing that needs cleaning stands from the line's start to here.
        let mut clear = 0;
        for end in memchr::memchr_iter(b'\n', rest) {
            let line = &rest[start..end];
            if end > clear {
                clear = clear.max(start);
                let until = rest.len().min(end.max(clear + Self::AHEAD));
                let strange = memchr::memchr2(0x1b, b'\r', &rest[clear..until]);
                clear = strange.map_or(until, |at| clear + at);
            }
            if end <= clear && line.first() != Some(&0xef) && line.len() <= Self::MAX_LINE {
                self.state.clean_line(line);
            } else {
                Self::emit(&mut self.state, line);
            }
            start = end + 1;
        }
        let tail = &rest[start..];
        self.keep(tail);
    }

    fn finish(mut self: Box<Self>) -> ParsedLog {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            Self::emit(&mut self.state, &line);
        }
        self.state.finish()
    }
}

/// Keeps the whole log and hands it to a function at the end: for formats that have no lines, such
/// as XML or one big JSON document. Memory is the size of the log.
#[derive(Debug)]
pub struct WholeLog<F> {
    log: Vec<u8>,
    parse: F,
}

impl<F: FnOnce(&[u8]) -> ParsedLog + Send> WholeLog<F> {
    /// A reader that calls `parse` once.
    pub fn new(parse: F) -> Self {
        Self {
            log: Vec::new(),
            parse,
        }
    }
}

impl<F: FnOnce(&[u8]) -> ParsedLog + Send> LogReader for WholeLog<F> {
    fn feed(&mut self, bytes: &[u8]) {
        self.log.extend_from_slice(bytes);
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        (self.parse)(&self.log)
    }
}
