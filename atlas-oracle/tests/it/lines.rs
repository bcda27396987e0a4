//! A runner of these tests and its parser.

use atlas_core::{
    ByLine, LineState, LogParser, LogReader, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus,
};

/// `ok NAME` and `bad NAME`, closed by `done`.
#[derive(Debug)]
pub(crate) struct Lines;

#[derive(Clone)]
struct Reading(ParsedLogBuilder, bool);

impl LineState for Reading {
    fn line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        match line.split_once(' ') {
            Some(("ok", id)) => self.0.record("", id, id, TestStatus::Passed),
            Some(("bad", id)) => self.0.record("", id, id, TestStatus::Failed),
            _ => self.1 |= line == "done",
        }
    }

    fn finish(self) -> ParsedLog {
        let outcome = match (self.1, self.0.recorded()) {
            (true, _) => RunOutcome::Completed,
            (false, 0) => RunOutcome::NothingRan,
            (false, _) => RunOutcome::Truncated,
        };
        self.0.finish(outcome)
    }
}

impl LogParser for Lines {
    fn id(&self) -> &'static str {
        "lines"
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(ByLine::new(Reading(ParsedLogBuilder::new("lines"), false)))
    }
}
