//! The pretty formatter: each title is announced with a count, then written over by its result.

use crate::common::tap::line::number;
use crate::text::clean;
use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use memchr::memmem;

/// The cursor goes to the line start: what follows writes over what stood there.
const HOME: &[u8] = b"\x1b[1G";
/// The line is cleared behind the title.
const CLEAR: &[u8] = b"\x1b[K";
/// A file's name comes in blue.
const FILE: &[u8] = b"\x1b[34;1m";

#[derive(Clone, Debug)]
struct Announced {
    name: Vec<u8>,
    /// The title did not fit.
    cut: bool,
    index: u64,
    timed: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pretty {
    announced: Option<Announced>,
    file: String,
    count: u64,
    /// The last index that has a result.
    last: u64,
    failed: u64,
    skipped: u64,
    any: bool,
    totals: Option<Totals>,
}

/// Index, count, and whether times are shown.
type Count = (u64, u64, bool);

/// A result as its text tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark<'a> {
    status: TestStatus,
    text: &'a [u8],
}

fn mark(text: &[u8]) -> Option<Mark<'_>> {
    let body = text.strip_prefix(b" ")?;
    let (status, text) = match body.first()? {
        b'-' => (TestStatus::Skipped, body.strip_prefix(b"- ")?),
        0xe2 => match body.strip_prefix("✓ ".as_bytes()) {
            Some(text) => (TestStatus::Passed, text),
            None => (TestStatus::Failed, body.strip_prefix("✗ ".as_bytes())?),
        },
        _ => return None,
    };
    Some(Mark { status, text })
}

/// Reads ` 3/14`, ` 3/14 in 5 sec` at the start; what a test printed may follow.
fn counter(text: &[u8]) -> Option<Count> {
    let digits = |text: &[u8]| text.iter().take_while(|c| c.is_ascii_digit()).count();
    let text = text.trim_ascii_start();
    let slash = digits(text);
    let after = text[slash..].strip_prefix(b"/")?;
    let end = digits(after);
    let time = after[end..].strip_prefix(b" in ");
    let timed = time.is_some_and(|time| {
        let end = digits(time);
        end > 0 && time[end..].starts_with(b" sec")
    });
    Some((number(&text[..slash])?, number(&after[..end])?, timed))
}

/// A whole line whose escapes were taken out: `   title 1/14 ✓ title`.
pub(super) fn result(line: &[u8]) -> Option<(&[u8], Count, Mark<'_>)> {
    let line_start = line.strip_prefix(b"   ")?;
    for at in memchr::memchr_iter(b'/', line_start) {
        let digits = line_start[..at]
            .iter()
            .rev()
            .take_while(|c| c.is_ascii_digit())
            .count();
        let count = line_start[at + 1..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .count();
        if digits == 0 || count == 0 {
            continue;
        }
        let mut end = at + 1 + count;
        let after = &line_start[end..];
        if let Some(time) = after.strip_prefix(b" in ") {
            let digits = time.iter().take_while(|c| c.is_ascii_digit()).count();
            if digits > 0 && time[digits..].starts_with(b" sec") {
                end += b" in ".len() + digits + b" sec".len();
            }
        }
        if let (Some(counted), Some(mark)) = (
            counter(&line_start[at - digits..end]),
            mark(&line_start[end..]),
        ) {
            return Some((line_start[..at - digits].trim_ascii_end(), counted, mark));
        }
    }
    None
}

impl Pretty {
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Reads a line as it was printed. Returns whether it was one of this formatter's.
    pub(super) fn line(&mut self, raw: &[u8], log: &mut ParsedLogBuilder) -> bool {
        if memchr::memchr(0x1b, raw).is_some() {
            return self.escaped(raw, log);
        }
        if raw.starts_with(b"   ") {
            if let Some((title, counted, mark)) = result(raw) {
                self.announce(title, counted);
                self.result(mark, log);
                return true;
            }
        } else if self.any && raw.first().is_some_and(u8::is_ascii_digit) {
            return self.summary(raw);
        }
        false
    }

    fn escaped(&mut self, raw: &[u8], log: &mut ParsedLogBuilder) -> bool {
        let mut known = false;
        let mut from = None;
        for at in memmem::find_iter(raw, HOME) {
            if let Some(from) = from {
                known |= self.piece(&raw[from..at], log);
            }
            from = Some(at + HOME.len());
        }
        if let Some(from) = from {
            known |= self.piece(&raw[from..], log);
        } else if let Some(at) = memmem::find(raw, FILE) {
            self.file.clear();
            self.file
                .push_str(String::from_utf8_lossy(&clean(&raw[at..])).trim());
            return true;
        } else if self.any {
            let line = clean(raw);
            known = line.first().is_some_and(u8::is_ascii_digit) && self.summary(&line);
        }
        known
    }

    /// What is written from one line start to the next: an announcement or a result.
    fn piece(&mut self, piece: &[u8], log: &mut ParsedLogBuilder) -> bool {
        if let Some(title) = piece.strip_prefix(b"   ")
            && let Some(end) = memmem::find(title, CLEAR)
            && let Some(counted) = counter(&clean(&title[end..]))
        {
            self.announce(&title[..end], counted);
            return true;
        }
        let text = clean(piece);
        let Some(mark) = mark(&text) else {
            return false;
        };
        self.result(mark, log);
        true
    }

    fn announce(&mut self, title: &[u8], (index, count, timed): Count) {
        self.any = true;
        self.count = count;
        let cut = title.strip_suffix(b"...");
        self.announced = Some(Announced {
            name: cut.unwrap_or(title).to_vec(),
            cut: cut.is_some(),
            index,
            timed,
        });
    }

    fn result(&mut self, mark: Mark<'_>, log: &mut ParsedLogBuilder) {
        let text = mark.text.trim_ascii_end();
        let Some(announced) = &self.announced else {
            if mark.status == TestStatus::Failed && super::title::special(text) {
                self.any = true;
                self.record(text, mark.status, log);
            }
            return;
        };
        let name = announced.name.trim_ascii_end();
        let fits = text.starts_with(name) || name.starts_with(text) && !text.is_empty();
        if !fits || announced.index <= self.last {
            if mark.status == TestStatus::Failed && super::title::special(text) {
                self.record(text, mark.status, log);
            }
            return;
        }
        let mut whole = name;
        if announced.cut {
            whole = text;
            if announced.timed
                && text.last() == Some(&b']')
                && let Some(at) = memmem::rfind(text, b" [")
            {
                whole = &text[..at];
            }
            if mark.status == TestStatus::Skipped
                && let Some(at) = memmem::find(whole, b" (skipped")
            {
                whole = &whole[..at];
            }
        }
        let whole = whole.to_vec();
        self.last = announced.index;
        self.announced = None;
        self.record(&whole, mark.status, log);
    }

    fn record(&mut self, name: &[u8], status: TestStatus, log: &mut ParsedLogBuilder) {
        self.failed += u64::from(status == TestStatus::Failed);
        self.skipped += u64::from(status == TestStatus::Skipped);
        let name = String::from_utf8_lossy(name.trim_ascii());
        log.record_in(&self.file, " > ", &name, status);
    }

    /// `14 tests, 3 failures, 2 skipped, 1 timed out, 1 not run in 5 seconds`.
    fn summary(&mut self, line: &[u8]) -> bool {
        let mut totals = Totals::default();
        for (at, part) in line.split(|byte| *byte == b',').enumerate() {
            let part = part.trim_ascii();
            let digits = part.iter().take_while(|c| c.is_ascii_digit()).count();
            let Some(n) = number(&part[..digits]) else {
                return false;
            };
            let words = part[digits..].trim_ascii_start();
            let words = memmem::find(words, b" in ").map_or(words, |at| &words[..at]);
            let sum = match (at, words) {
                (0, b"test" | b"tests") => &mut totals.total,
                (1.., b"failure" | b"failures" | b"timed out") => &mut totals.failed,
                (1.., b"skipped") => &mut totals.skipped,
                (1.., b"not run") => continue,
                _ => return false,
            };
            *sum = Some(sum.unwrap_or(0).saturating_add(n));
        }
        if totals.total != Some(self.count) || totals.failed.is_none() {
            return false;
        }
        self.totals = Some(totals);
        true
    }

    pub(super) fn finish(self, mut log: ParsedLogBuilder) -> ParsedLog {
        let Some(totals) = self.totals else {
            if let Some(open) = self.announced {
                log.still_running(String::from_utf8_lossy(&open.name).trim().to_owned());
            }
            return log.finish(RunOutcome::Truncated);
        };
        log.add_totals(totals);
        log.set_consistent(
            totals.failed == Some(self.failed) && totals.skipped.unwrap_or(0) == self.skipped,
        );
        let outcome = if log.recorded() == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        log.finish(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_escapes_has_title_count_and_mark() {
        let (title, counted, mark) = result("   a/2 b  3/14 ✓ a/2 b".as_bytes()).unwrap();
        assert_eq!((title, counted), (&b"a/2 b"[..], (3, 14, false)));
        assert_eq!(mark.status, TestStatus::Passed);
        assert!(result("   ✓ fake".as_bytes()).is_none());
        assert!(result(b"   a 3/14 - b").is_some());
    }
}
