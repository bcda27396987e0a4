//! Finding a parser by its name.

use atlas_core::{ByLine, LineState, LogParser, LogParserExt, LogReader, ParsedLog};
use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus};
use atlas_parsers::Parsers;

/// A parser of a user: every line is a passed test of module `0`.
#[derive(Debug)]
struct Lines(&'static str, TestStatus);

#[derive(Clone)]
struct State(ParsedLogBuilder, TestStatus);

impl LogParser for Lines {
    fn id(&self) -> &str {
        self.0
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(ByLine::new(State(ParsedLogBuilder::new(self.0), self.1)))
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let id = String::from_utf8_lossy(line);
        self.0.record("0", &id, &id, self.1);
    }

    fn finish(self) -> ParsedLog {
        self.0.finish(RunOutcome::Completed)
    }
}

#[test]
fn the_original_names_are_understood() {
    let parsers = Parsers::builtin().with(Lines("lines", TestStatus::Passed));
    assert_eq!(parsers.get("lines").unwrap().id(), "lines");
    assert_eq!(parsers.get("parse_log_lines").unwrap().id(), "lines");
    for id in parsers.ids() {
        assert_eq!(parsers.get(&format!("parse_log_{id}")).unwrap().id(), id);
    }
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
    let parsers = Parsers::builtin().with(Lines("lines", TestStatus::Passed));
    let why = parsers.get("parse_log_linez").unwrap_err();
    assert_eq!(why.id, "parse_log_linez");
    assert_eq!(why.known, parsers.ids().collect::<Vec<_>>());
    let text = why.to_string();
    assert!(
        text.contains("`parse_log_linez`") && text.contains("lines"),
        "{text}"
    );
}

#[test]
fn a_parser_of_the_same_name_replaces() {
    let parsers = Parsers::builtin()
        .with(Lines("lines", TestStatus::Passed))
        .with(Lines("lines", TestStatus::Failed));
    assert_eq!(parsers.ids().filter(|id| *id == "lines").count(), 1);
    let log = parsers.get("lines").unwrap().parse(b"a\n");
    assert_eq!(log.tests()["a"], TestStatus::Failed);
}
