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
    /// Takes the next line where it needs no cleaning and is UTF-8, as nearly all are. The default
    /// is [`clean_line`](Self::clean_line).
    fn text_line(&mut self, line: &str) {
        self.clean_line(line.as_bytes());
    }
    /// Ends the log.
    fn finish(self) -> ParsedLog;
}

/// The most bytes of one line that are kept.
const MAX_LINE: usize = 4 << 20;

/// The first byte of a byte order mark.
const MARK: u8 = 0xef;

/// About so many bytes are looked through at once for what needs cleaning and for what is no text;
/// they stay in the cache.
const AHEAD: usize = 16 << 10;

fn emit(state: &mut impl LineState, line: &[u8]) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    state.line(&line[..line.len().min(MAX_LINE)]);
}

/// Feeds the whole lines of a text to a state, up to one that begins with the byte `until`. Returns
/// what was not taken.
///
/// ```
/// struct Count(usize);
/// impl atlas_core::LineState for Count {
///     fn line(&mut self, _: &[u8]) {
///         self.0 += 1;
///     }
///     fn finish(self) -> atlas_core::ParsedLog {
///         unreachable!("this one only counts")
///     }
/// }
/// let mut count = Count(0);
/// assert_eq!(atlas_core::feed_lines(&mut count, b"a\nb\n{\nc", Some(b'{')), b"{\nc");
/// assert_eq!(count.0, 2);
/// ```
pub fn feed_lines<'a>(state: &mut impl LineState, bytes: &'a [u8], until: Option<u8>) -> &'a [u8] {
    let mut rest = bytes;
    loop {
        let (mut near, mut far) = rest.split_at(rest.len().min(AHEAD));
        let stop = until.and_then(|until| {
            memchr::memchr_iter(until, near).find(|at| *at == 0 || near[at - 1] == b'\n')
        });
        if let Some(stop) = stop {
            (near, far) = (&near[..stop], &[]);
        }
        let end = memchr::memrchr(b'\n', near)
            .or_else(|| memchr::memchr(b'\n', far).map(|at| near.len() + at));
        let Some(end) = end else {
            return rest;
        };
        let (lines, after) = rest.split_at(end + 1);
        feed_whole(state, lines);
        rest = after;
    }
}

/// Feeds whole lines that fit into the cache, or one that does not.
fn feed_whole(state: &mut impl LineState, lines: &[u8]) {
    let mut start = 0;
    if lines.len() <= MAX_LINE
        && memchr::memchr3(0x1b, b'\r', MARK, lines).is_none()
        && let Ok(text) = simdutf8::basic::from_utf8(lines)
    {
        for end in memchr::memchr_iter(b'\n', lines) {
            state.text_line(&text[start..end]);
            start = end + 1;
        }
        return;
    }
    let mut next = memchr::memchr2(0x1b, b'\r', lines);
    for end in memchr::memchr_iter(b'\n', lines) {
        let line = &lines[start..end];
        if next.is_some_and(|at| at < start) {
            next = memchr::memchr2(0x1b, b'\r', &lines[start..]).map(|at| start + at);
        }
        let clean = next.is_none_or(|at| at > end);
        if clean && line.first() != Some(&MARK) && line.len() <= MAX_LINE {
            state.clean_line(line);
        } else {
            emit(state, line);
        }
        start = end + 1;
    }
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
    pub const MAX_LINE: usize = MAX_LINE;

    /// A reader over this state.
    pub fn new(state: S) -> Self {
        Self {
            state,
            partial: Vec::new(),
        }
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
            emit(&mut self.state, &line);
            rest = &rest[end + 1..];
        }
        let tail = feed_lines(&mut self.state, rest, None);
        self.keep(tail);
    }

    fn finish(mut self: Box<Self>) -> ParsedLog {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            emit(&mut self.state, &line);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParsedLogBuilder, RunOutcome};

    /// Keeps every line, and holds to it what was promised of it.
    #[derive(Default)]
    struct Seen(Vec<Vec<u8>>);

    impl LineState for Seen {
        fn line(&mut self, line: &[u8]) {
            self.0.push(line.to_vec());
        }
        fn clean_line(&mut self, line: &[u8]) {
            assert!(!line.contains(&0x1b) && !line.contains(&b'\r') && !line.starts_with(&[MARK]));
            self.line(line);
        }
        fn finish(self) -> ParsedLog {
            ParsedLogBuilder::new("seen").finish(RunOutcome::NothingRan)
        }
    }

    #[test]
    fn every_line_comes_once_whatever_stands_beside_it() {
        let strange: [&[u8]; 6] = [
            b"\x1b[32mgreen\x1b[0m",
            b"10%\r20%",
            b"windows\r",
            b"\xef\xbb\xbfmark",
            b"\xff no text",
            "✓ text, \u{ff01}".as_bytes(),
        ];
        let endless = vec![b'x'; 3 * AHEAD];
        // One such line in the middle of plain ones, at each piece's begin, middle and end.
        for line in strange {
            for nth in [0, 1, 700, 1350, 1351, 1352, 3999] {
                let mut lines: Vec<Vec<u8>> = (0..4000)
                    .map(|number| format!("line {number:06}").into_bytes())
                    .collect();
                lines[nth] = line.to_vec();
                lines[2500].clone_from(&endless);
                lines[17].clear();
                let log = lines.join(&b'\n');
                let mut seen = Seen::default();
                let rest = feed_lines(&mut seen, &log, None);
                seen.line(rest);
                for line in &mut lines[..3999] {
                    if line.last() == Some(&b'\r') {
                        line.pop();
                    }
                }
                assert_eq!(seen.0, lines, "{nth}");
            }
        }
    }

    #[test]
    fn a_line_with_the_byte_in_front_ends_it() {
        let log = [b"a {\n".repeat(AHEAD / 3), b"{\nb\n".to_vec()].concat();
        let mut seen = Seen::default();
        assert_eq!(feed_lines(&mut seen, &log, Some(b'{')), b"{\nb\n");
        assert_eq!(seen.0.len(), AHEAD / 3);
        assert_eq!(feed_lines(&mut seen, b"{", Some(b'{')), b"{");
    }
}
