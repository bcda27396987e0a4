//! Mocha: its console reporters and its machine formats.
//!
//! The spec reporter prints a tree as it goes: a suite's title two blanks deeper than its parent,
//! a test's result two blanks deeper than its suite. The output of tests comes between them, unchanged. How
//! results and totals that a test prints are distinguished from Mocha's own is described in `run.rs`, and for
//! titles of suites in `tree.rs`.
//!
//! An id joins suites and test by ` > `. list and TAP print suites and test in one text, which is
//! the id there; json and json-stream print the suites in one text, which is cut where it goes on
//! behind that of another suite, and xunit likewise. dot, min, nyan, progress and landing name failures only.

mod failures;
mod json;
mod line;
mod machine;
mod run;
mod tree;

use crate::javascript::junit::Reports;
use crate::javascript::load::Load;
use crate::runner::{About, Look, Mark, Place, Runner};
use crate::text::clean;
use atlas_core::{
    LineState, LogParser, LogReader, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, Totals,
    finish_unended,
};
use machine::Told;
use run::{Ended, Run};

/// Mocha.
#[derive(Debug)]
pub(crate) struct Mocha;

impl LogParser for Mocha {
    fn id(&self) -> &'static str {
        "mocha"
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(Reader::default())
    }
}

impl Runner for Mocha {
    fn looks(&self) -> &'static [Look] {
        &[
            Look(["[{", "\""], "", "*", ""),
            Look(["<", "t"], "0-9\"", "*", ""),
        ]
    }

    fn about(&self) -> &'static About {
        const ABOUT: About = About {
            languages: &["javascript", "typescript"],
            aliases: &[
                "mocha_v2",
                "cypress",
                "highlightjs",
                "prismjs",
                "eslint",
                "p5js",
            ],
            commands: &[&["mocha"], &["_mocha"], &["cypress", "run"]],
            contains: &["junit"],
            ..About::new(
                "the spec, list, dot, min, nyan, progress, landing, tap, json, json-stream, \
                 xunit and markdown reporters of Mocha 1 to 11",
                "passing tests of dot, min, nyan, progress and landing; pending tests of \
                 json-stream; all but passing tests of markdown; where suites end and a title \
                 begins in list and tap; suites of json and xunit that \
                 hold nothing but suites; whether `(12ms)` belongs to a title without colours",
            )
        };
        &ABOUT
    }

    fn mark(&self, line: &[u8], before: &[u8]) -> Option<Mark> {
        match line.first()? {
            b' ' if line::passing(line).is_some() => {
                Some(Mark::certain(Place::End, "a `N passing (time)` line"))
            }
            b' ' if line.starts_with(b"    \"suites\": ") && before == b"  \"stats\": {" => {
                Some(Mark::certain(Place::Within, "a Mocha JSON report"))
            }
            b'[' if line.starts_with(b"[\"start\",{\"total\":") => {
                Some(Mark::certain(Place::Start, "a json-stream `start` event"))
            }
            b'<' if line.starts_with(XML) => {
                Some(Mark::certain(Place::Start, "a report named `Mocha Tests`"))
            }
            b'{' if line.starts_with(b"{\"stats\":{\"suites\":") => {
                Some(Mark::certain(Place::Within, "a Mocha JSON report"))
            }
            _ => None,
        }
    }
}

/// How a report of the xunit reporter begins.
const XML: &[u8] = b"<testsuite name=\"Mocha Tests\"";

/// The files in which Mocha loads test files.
const LOADERS: &[&str] = &[
    "mocha/lib/nodejs/esm-utils",
    "mocha/lib/mocha.js",
    "mocha/lib/cli/",
    "mocha/bin/",
];

/// The longest line that is read as text; JSON documents know no lines.
const MAX_LINE: usize = 4 << 20;

/// Reads lines, and JSON documents of any length beside them.
#[derive(Default)]
struct Reader {
    state: State,
    partial: Vec<u8>,
}

impl Reader {
    fn emit(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.state.line(&line[..line.len().min(MAX_LINE)]);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.partial.len());
        self.partial
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl LogReader for Reader {
    fn feed(&mut self, bytes: &[u8]) {
        self.state.scanner.feed(bytes);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let piece = &bytes[start..end];
            start = end + 1;
            if self.partial.is_empty() {
                self.emit(piece);
            } else {
                self.keep(piece);
                let line = std::mem::take(&mut self.partial);
                self.emit(&line);
            }
        }
        self.keep(&bytes[start..]);
    }

    fn finish(mut self: Box<Self>) -> ParsedLog {
        self.state.scanner.finish();
        if self.partial.is_empty() {
            return self.state.finish();
        }
        finish_unended(&self.state, &self.partial)
    }
}

#[derive(Clone)]
struct State {
    log: ParsedLogBuilder,
    scanner: json::Scanner,
    line: usize,
    run: Run,
    ended: Vec<Ended>,
    stream: machine::Stream,
    tap: machine::Tap,
    markdown: machine::Markdown,
    xml: Reports,
    load: Load,
}

impl Default for State {
    fn default() -> Self {
        Self {
            log: ParsedLogBuilder::new("mocha"),
            scanner: json::Scanner::default(),
            line: 0,
            run: Run::new(),
            ended: Vec::new(),
            stream: machine::Stream::default(),
            tap: machine::Tap::default(),
            markdown: machine::Markdown::default(),
            xml: Reports::default(),
            load: Load::new("mocha", LOADERS),
        }
    }
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.line += 1;
        if self.xml.line(raw, XML) {
            return;
        }
        let line = clean(raw);
        let idle = self.run.is_idle();
        self.run.line(&line, raw, &mut self.ended);
        match (idle, self.run.is_idle()) {
            (true, false) => self.load.forget(),
            (false, true) => self.load.settle(),
            _ => {}
        }
        self.stream.line(&line);
        self.tap.line(&line);
        self.markdown.line(&line);
        self.load.line(&line, self.line);
    }

    fn finish(mut self) -> ParsedLog {
        let scanner = std::mem::take(&mut self.scanner);
        let mut runs = std::mem::take(&mut self.ended);
        std::mem::replace(&mut self.run, Run::new()).finish(&mut runs);
        let mut formats: Vec<Told> = scanner.documents;
        if formats.is_empty() {
            let told = [self.stream.told, self.tap.told, self.markdown.told];
            let proven = runs.iter().any(|run| run.proven);
            // TAP may also be what a test prints.
            let counts = |told: &Told| told.ended && !proven || told.begun && runs.is_empty();
            formats.extend(told.into_iter().find(counts));
            let xml = self.xml.finish();
            let reads = |_: &_| formats.is_empty() && !proven;
            let report = xml.filter(reads).map(|cases| Told::of_cases(&cases));
            formats.extend(report);
        }
        if !formats.is_empty() {
            // Of a page that the tree above it does not prove, the tests are to blame.
            runs.retain(|run| run.proven);
        }
        let mut totals = Totals::default();
        let mut agrees = true;
        let mut truncated = false;
        for run in runs {
            totals.add(run.totals);
            agrees &= run.agrees;
            truncated |= run.truncated;
            for (path, status) in run.results {
                let id = path.join(" > ");
                self.log.record("", &id, &id, status);
            }
        }
        for told in formats {
            totals.add(told.totals);
            agrees &= told.agrees();
            truncated |= !told.ended;
            told.record(&mut self.log);
        }
        if scanner.unended && self.log.recorded() == 0 {
            truncated = true;
        }
        let lost = self.load.finish();
        let unloaded = !lost.is_empty();
        for (module, proof) in lost {
            self.log.lose(&module, LostReason::LoadFailed, proof);
        }
        if totals != Totals::default() && !truncated {
            self.log.add_totals(totals);
            self.log.set_consistent(agrees);
        }
        let count = |n: Option<u64>| n.unwrap_or(0);
        let ran = [totals.passed, totals.failed, totals.skipped]
            .into_iter()
            .any(|declared| count(declared) > 0);
        let outcome = if truncated {
            RunOutcome::Truncated
        } else if self.log.recorded() > 0 || ran {
            RunOutcome::Completed
        } else if unloaded {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        self.log.finish(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::{LogParserExt, TestStatus};

    #[test]
    fn a_document_of_one_line_may_be_longer_than_any_line() {
        let noise = "x".repeat(6 << 20);
        let log = format!(
            "before\n{{\"stats\":{{\"tests\":2,\"passes\":1,\"failures\":1,\"pending\":0}},\
             \"failures\":[{{\"fullTitle\":\"a b\",\"err\":{{\"message\":\"{noise}\"}}}}],\
             \"passes\":[{{\"fullTitle\":\"a c\",\"file\":\"t.js\"}}]}}\nafter\n"
        );
        let log = Mocha.parse(log.as_bytes());
        assert_eq!(log.tests()["a b"], TestStatus::Failed);
        assert_eq!(log.qualified()["t.js > a c"], TestStatus::Passed);
        assert_eq!(log.consistent, Some(true));
    }

    /// The page fits what stands above it when the test prints it.
    #[test]
    fn a_printed_page_that_fits_so_far_hides_no_test() {
        let begin = "\n\n  A\n    ✔ one\n  1 passing (2ms)\n    ✔ three\n    1) two\n\n\n";
        let end = "  1 failing\n\n  1) A\n       two:\n     Error: x\n\n\n";
        let log = Mocha.parse(format!("{begin}  2 passing (2ms)\n{end}").as_bytes());
        assert_eq!(log.consistent, Some(true));
        assert_eq!(log.tests()["A > one"], TestStatus::Passed);
        assert_eq!(log.tests()["A > three"], TestStatus::Passed);
        assert_eq!(log.tests()["A > two"], TestStatus::Failed);
        assert_eq!(log.tests().len(), 3);
        // With counts that fit nothing, the reading does not agree.
        let log = Mocha.parse(format!("{begin}  7 passing (2ms)\n{end}").as_bytes());
        assert_eq!(log.consistent, Some(false));
        // A run that names no test that passes, behind another one.
        let other =
            "\n\n  A\n    ✔ one\n\n\n  1 passing (2ms)\n\n\n\n  ..\n\n  2 passing (2ms)\n\n";
        let log = Mocha.parse(other.as_bytes());
        assert_eq!(log.consistent, Some(true));
        assert_eq!(log.tests().len(), 1);
    }

    #[test]
    fn prose_and_lists_are_no_run() {
        let log = "Steps\n\n\n  First\n    - do this\n    1) do that\n  ✔ done\n";
        assert!(Mocha.parse(log.as_bytes()).is_empty());
    }
}
