//! Building blocks for log readers.

use crate::{LogReader, LostModule, ParsedLog, TestResult};
use std::collections::BTreeSet;

/// A parser's state machine, fed one line at a time.
pub trait LineState: Send {
    /// Takes the next line, without its line end (`\n` or `\r\n`). Of a last line without an end the
    /// reader takes no name that may go on: [`finish_unended`].
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
    /// What may stand behind a result, on the same line, and change its status. Of a last line without
    /// an end, a result that one of these would change is not taken. None by default.
    fn endings(&self) -> &'static [&'static str] {
        &[]
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

/// What an unended line may go on with: more of a word, more of a number, another word.
const ONWARDS: [(&str, &str); 3] = [("", "zq7Xzq"), ("", "7040907"), (" ", "zq7Xzq")];

/// Ends a log whose last line has no end: it was written without one, or the log was cut in it.
///
/// Which of the two cannot be seen, but what comes of it can be tried. Where the line names a test
/// that is called otherwise if the line goes on, that name may be the begin of a longer one, and is
/// none of the results. A line whose names stand in front of something else, such as a status or a
/// duration, is read as any other.
///
/// ```
/// use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, finish_unended};
/// #[derive(Clone)]
/// struct Words(ParsedLogBuilder);
/// impl LineState for Words {
///     fn line(&mut self, line: &[u8]) {
///         let line = String::from_utf8_lossy(line);
///         let name = line.strip_prefix("ok ").or_else(|| line.strip_suffix(": ok"));
///         if let Some(name) = name {
///             self.0.record("", name, name, TestStatus::Passed);
///         }
///     }
///     fn finish(self) -> ParsedLog {
///         self.0.finish(RunOutcome::Completed)
///     }
/// }
/// let words = Words(ParsedLogBuilder::new("words"));
/// assert_eq!(finish_unended(&words, b"TestNew: ok").results.len(), 1);
/// assert_eq!(finish_unended(&words, b"ok TestNe").results.len(), 0);
/// ```
pub fn finish_unended<S: LineState + Clone>(state: &S, line: &[u8]) -> ParsedLog {
    let line = without_open_escape(line);
    let read = |line: &[u8]| {
        let mut state = state.clone();
        emit(&mut state, line);
        state.finish()
    };
    let mut log = read(line);
    let line = &line[..line.len().min(MAX_LINE - 16)];
    for (blank, onwards) in ONWARDS {
        let longer = read(&[line, blank.as_bytes(), onwards.as_bytes()].concat());
        let begins = Begins::of(&longer, onwards);
        if begins.any_in(&log) {
            begins.take_out(&mut log, &state.clone().finish());
            break;
        }
    }
    for ending in state.endings() {
        let longer = read(&[line, ending.as_bytes()].concat());
        let changed = Begins::changed(&log, &longer);
        if changed.any_in(&log) {
            changed.take_out(&mut log, &state.clone().finish());
            break;
        }
    }
    log
}

/// What the names of a log begin with where they hold what a line went on with.
#[derive(Default)]
struct Begins {
    names: BTreeSet<String>,
    /// What stands in front of a number that a test has in place of a name.
    numbered: BTreeSet<String>,
}

impl Begins {
    fn of(longer: &ParsedLog, onwards: &str) -> Self {
        let mut begins = Self::default();
        for result in &longer.results {
            begins.note(result.qualified, onwards);
            begins.note(result.name, onwards);
        }
        for lost in &longer.modules_not_loaded {
            begins.note(&lost.module, onwards);
            begins.note(lost.reported_as.as_deref().unwrap_or(""), onwards);
        }
        begins
    }

    /// The tests whose status another ending of the line changes.
    fn changed(log: &ParsedLog, longer: &ParsedLog) -> Self {
        let changed = longer.results.iter().filter(|result| {
            let known = log.results.get(result.qualified);
            known.is_some_and(|known| known.status != result.status)
        });
        Self {
            names: changed.map(|result| result.qualified.to_owned()).collect(),
            numbered: BTreeSet::new(),
        }
    }

    fn note(&mut self, name: &str, onwards: &str) {
        if let Some((front, rest)) = name.split_once(onwards) {
            self.names.insert(format!("{}{rest}", front.trim_end()));
            self.numbered.insert(front.to_owned());
        }
    }

    fn has(&self, name: &str) -> bool {
        let front = name.trim_end_matches(|char: char| char.is_ascii_digit());
        self.names.contains(name.trim_end()) || front != name && self.numbered.contains(front)
    }

    fn has_result(&self, result: &TestResult<'_>) -> bool {
        self.has(result.qualified) || self.has(result.name)
    }

    fn has_module(&self, lost: &LostModule) -> bool {
        self.has(&lost.module) || lost.reported_as.as_deref().is_some_and(|id| self.has(id))
    }

    fn any_in(&self, log: &ParsedLog) -> bool {
        !self.names.is_empty()
            && (log.results.iter().any(|result| self.has_result(&result))
                || log
                    .modules_not_loaded
                    .iter()
                    .any(|lost| self.has_module(lost)))
    }

    /// Takes such names out of a log, as far as they are not in what was read before the line.
    fn take_out(&self, log: &mut ParsedLog, before: &ParsedLog) {
        let all = std::mem::take(&mut log.results);
        for mut result in &all {
            if self.has_result(&result) {
                let Some(known) = before.results.get(result.qualified) else {
                    continue;
                };
                result = known;
            }
            log.results.merge(result);
        }
        log.modules_not_loaded.retain(|lost| {
            !self.has_module(lost)
                || before
                    .modules_not_loaded
                    .iter()
                    .any(|known| known.module == lost.module)
        });
        if log.consistent == Some(true) {
            log.consistent = before.consistent;
        }
    }
}

/// The line without an escape sequence at its end that is not whole.
fn without_open_escape(line: &[u8]) -> &[u8] {
    let Some(at) = memchr::memrchr(0x1b, line) else {
        return line;
    };
    let open = match &line[at + 1..] {
        [] => true,
        [b'[', parameters @ ..] => parameters.iter().all(|byte| (0x20..0x40).contains(byte)),
        _ => false,
    };
    if open { &line[..at] } else { line }
}

/// Cuts a stream into lines and feeds them to a [`LineState`].
///
/// A line longer than [`MAX_LINE`](Self::MAX_LINE) is cut there and the rest of it dropped, so
/// that memory stays bounded on any input.
#[derive(Clone, Debug)]
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

impl<S: LineState + Clone> LogReader for ByLine<S> {
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

    fn finish(self: Box<Self>) -> ParsedLog {
        if self.partial.is_empty() {
            return self.state.finish();
        }
        finish_unended(&self.state, &self.partial)
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
