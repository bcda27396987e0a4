//! Runners that print one JSON document among their other output.

use atlas_core::{ByLine, LineState, LogReader, ParsedLog, RunOutcome};

/// Reads the lines, and keeps the report from where it begins.
pub(super) struct WithReport<S> {
    lines: ByLine<S>,
    /// Where the report begins in a piece of the log, if it does.
    begins: fn(&[u8]) -> Option<usize>,
    parse: fn(&[u8]) -> Option<ParsedLog>,
    /// The end of what was read, as long as no report has begun; the report, once it has.
    kept: Vec<u8>,
    begun: bool,
}

/// How much of the log may stand between the two ends of what tells a report's beginning.
const OVERLAP: usize = 256;

impl<S: LineState> WithReport<S> {
    pub(super) fn new(
        state: S,
        begins: fn(&[u8]) -> Option<usize>,
        parse: fn(&[u8]) -> Option<ParsedLog>,
    ) -> Self {
        Self {
            lines: ByLine::new(state),
            begins,
            parse,
            kept: Vec::new(),
            begun: false,
        }
    }
}

impl<S: LineState + Clone> LogReader for WithReport<S> {
    fn feed(&mut self, bytes: &[u8]) {
        self.lines.feed(bytes);
        self.kept.extend_from_slice(bytes);
        if self.begun {
            return;
        }
        if let Some(at) = (self.begins)(&self.kept) {
            self.begun = true;
            self.kept.drain(..at);
        } else {
            let old = self.kept.len().saturating_sub(OVERLAP);
            self.kept.drain(..old);
        }
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        let report = self.begun.then(|| (self.parse)(&self.kept)).flatten();
        let lines = Box::new(self.lines).finish();
        let Some(mut report) = report else {
            return lines;
        };
        // Both count the same run. Where they differ, a test printed one of the two.
        let told = report.totals.unwrap_or_default();
        let agrees = match lines.totals {
            Some(counted) => (counted.total, counted.failed) == (told.total, told.failed),
            None => lines.outcome != RunOutcome::Truncated,
        };
        if !agrees {
            report.consistent = Some(false);
        }
        report
    }
}

/// The documents in the text that begin where `begins` says and read as a `T`.
pub(super) fn documents<T: serde::de::DeserializeOwned>(
    text: &[u8],
    begins: fn(&[u8]) -> Option<usize>,
) -> Vec<T> {
    /// Places that begin like a document and are none; more of them are not tried.
    const MAX_FALSE: usize = 16;
    let (mut rest, mut found, mut wrong) = (text, Vec::new(), 0);
    while let Some(at) = begins(rest) {
        rest = &rest[at..];
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<T>();
        match stream.next() {
            Some(Ok(document)) => {
                found.push(document);
                let end = stream.byte_offset().max(1);
                rest = &rest[end.min(rest.len())..];
            }
            _ if wrong == MAX_FALSE => break,
            _ => {
                wrong += 1;
                rest = &rest[1..];
            }
        }
    }
    found
}
