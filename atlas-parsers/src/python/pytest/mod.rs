//! pytest, 4 to 9, in every verbosity, with the plugins that change its lines (xdist, subtests,
//! rerunfailures).
//!
//! A session has three parts: progress while tests run, reports (ERRORS, FAILURES, captured
//! output), and the short summary with the final line. Results are read from the first part, where
//! it names tests, and from the summary; a report is never a source of results, because tests print
//! there what they like, whole pytest sessions included. A report's end cannot be seen, so a summary
//! counts only until another one follows, and a final line only if it agrees with the progress.
//!
//! Ids are node ids as printed, without ` <- file` and without labels of subtests; a failed subtest
//! fails its test. Summary lines `SKIPPED [2] a.py:7` name places and give no ids, but for those of
//! `--no-fold-skipped`.

mod grammar;
mod plain;
mod reports;
mod session;
mod sugar;

use crate::nested::Nested;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::{clean, uncoloured};
use atlas_core::{Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome};
use grammar::{Progress, Word};
use memchr::memmem;
use session::{Begin, Session};
use std::sync::LazyLock;
use sugar::Sugar;

/// The parser.
pub(crate) static PYTEST: Shipped = Shipped::new(
    "pytest",
    &About {
        languages: &["python"],
        aliases: &[
            "pytest_v2",
            "pytest_options",
            "astroid",
            "astropy",
            "flask",
            "marshmallow",
            "matplotlib",
            "pvlib",
            "pydicom",
            "pylint",
            "pyvista",
            "requests",
            "scikit",
            "seaborn",
            "sphinx",
            "sqlfluff",
            "xarray",
        ],
        commands: &[&["pytest"], &["py.test"]],
        ..About::new(
            "pytest 4.6 to 9: default, -q, -v, -rA, xdist, live log, subtests, reruns, doctests, \
             every `console_output_style`, the pytest-sugar plugin",
            "passing tests without -v or -rA; in a skip summary, which test \
             it was; with -s, which lines are output where they look like results",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["=", "*"], "", "=", ""), Look(["T", "e"], "", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    if sugar::begins(line) {
        return Place::Start.certain("pytest-sugar's `Test session starts`");
    }
    if line.first() != Some(&b'=') || line.last() != Some(&b'=') {
        return None;
    }
    let start = line.iter().position(|byte| *byte != b'=')?;
    let end = line.iter().rposition(|byte| *byte != b'=')?;
    let title = line[start..=end].trim_ascii();
    let has = |part: &[u8]| memmem::find(title, part).is_some();
    if title == b"test session starts" {
        return Place::Start.certain("pytest's `test session starts`");
    }
    if title == b"short test summary info" {
        return Place::Within.certain("pytest's `short test summary info`");
    }
    if title == b"rerun test summary info" {
        return Place::Within.certain("pytest-rerunfailures' `rerun test summary info`");
    }
    let timed = has(b" in ") && (title.ends_with(b"s") || title.ends_with(b")"));
    let counted = [
        &b" passed"[..],
        b" failed",
        b" skipped",
        b" error",
        b"no tests ran",
    ]
    .iter()
    .any(|word| has(word));
    (timed && counted).then_some(Mark::certain(Place::End, "pytest's last line"))
}

/// Where in a session the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Before a session, or after one that has ended.
    #[default]
    Outside,
    /// Tests run.
    Running,
    /// Reports and summary.
    Report,
}

#[derive(Clone, Default)]
struct State {
    line: u64,
    phase: Phase,
    session: Option<Session>,
    nested: Nested<Option<Session>>,
    /// A session of the pytest-sugar plugin; then there is no other.
    sugar: Option<Box<Sugar>>,
    /// A conftest that could not be imported, while its traceback is printed.
    conftest: Option<Conftest>,
    builder: ParsedLogBuilder,
    ran: bool,
    any_completed: bool,
    /// A reason why nothing could run, outside any session.
    refused: bool,
    /// How a session ended that did not end well; the first counts.
    broken: Option<RunOutcome>,
    incomparable: bool,
    inconsistent: bool,
    consistent: bool,
    fatal: bool,
    /// The file of the last plain line.
    file: Vec<u8>,
    /// Room for a line without its escapes.
    room: String,
}

#[derive(Clone)]
struct Conftest {
    path: String,
    lines: Vec<Evidence>,
}

/// What Python's fault handler says first.
static FATAL_ERROR: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(b"Fatal Python error: "));

/// Where the first line of a session begins, behind what stands in front of it without a line end.
fn start_behind(line: &[u8]) -> Option<usize> {
    const TITLE: &[u8] = b"= test session starts =";
    if line.last() != Some(&b'=') {
        return None;
    }
    let title = memmem::find(line, TITLE)?;
    let rule = line[..title].iter().rev().take_while(|byte| **byte == b'=');
    let at = title - rule.count();
    State::is_start(&line[at..]).then_some(at)
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let mut room = std::mem::take(&mut self.room);
        if self.sugar.is_none()
            && let Some(text) = uncoloured(line, &mut room)
        {
            self.text_line(text);
        } else if !self.is_of_sugar(line) {
            self.cleaned(&clean(line));
        }
        self.room = room;
    }

    fn clean_line(&mut self, line: &[u8]) {
        if !self.is_of_sugar(line) {
            self.cleaned(line);
        }
    }

    fn text_line(&mut self, line: &str) {
        if self.sugar.is_none()
            && let Some(session) = self.session.as_mut()
        {
            let file = &mut self.file;
            let is_taken = match self.phase {
                Phase::Running => session.plain_line(line, file),
                Phase::Report => session.plain_summary(line, file, self.line + 1),
                Phase::Outside => false,
            };
            if is_taken {
                self.line += 1;
                return;
            }
        }
        self.clean_line(line.as_bytes());
    }

    fn finish(mut self) -> ParsedLog {
        self.end_conftest();
        self.end_session();
        let outcome = if let Some(broken) = self.broken {
            broken
        } else if self.fatal && !self.any_completed {
            RunOutcome::Crashed
        } else if self.ran && self.any_completed {
            RunOutcome::Completed
        } else if self.refused {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        if self.inconsistent {
            self.builder.set_consistent(false);
        } else if self.consistent && !self.incomparable {
            self.builder.set_consistent(true);
        }
        let incomparable = !self.inconsistent && (self.incomparable || !self.consistent);
        let mut log = self.builder.finish(outcome);
        if incomparable {
            log.consistent = None;
        }
        log
    }
}

impl State {
    /// Counts a line, and hands it to a session of pytest-sugar, which needs what was drawn over.
    fn is_of_sugar(&mut self, line: &[u8]) -> bool {
        self.line += 1;
        if let Some(sugar) = &mut self.sugar {
            if !sugar.line(line, self.line) {
                return true;
            }
            self.end_session();
        }
        false
    }

    fn cleaned(&mut self, line: &[u8]) {
        let Some(&first) = line.first() else {
            return;
        };
        if self.phase == Phase::Running
            && let Some(at) = start_behind(line)
        {
            // A test has printed a session, or this one died and another command's begins.
            if at > 0 {
                self.cleaned(&line[..at]);
            }
            self.nested.begin(&mut self.session);
            self.session = Some(Session::new(Begin::Title));
            return;
        }
        if !self.nested.is_inside() {
            self.place(line, first);
            return;
        }
        // A test may print no line end behind a session.
        let last = line.iter().rposition(|byte| *byte == b'=');
        let glued = last.filter(|at| grammar::final_line(&line[..=*at]).is_some());
        let (line, rest) = line.split_at(glued.map_or(line.len(), |at| at + 1));
        self.place(line, first);
        if self.phase == Phase::Outside && self.session.as_ref().is_some_and(Session::has_end) {
            self.nested.end(&mut self.session);
            self.phase = Phase::Running;
            if let Some(&first) = rest.first() {
                self.running(rest, first);
            }
        }
    }

    fn place(&mut self, line: &[u8], first: u8) {
        match self.phase {
            Phase::Outside => self.outside(line, first),
            Phase::Running => self.running(line, first),
            Phase::Report => self.report(line, first),
        }
    }

    fn proof(&self, line: &[u8]) -> Evidence {
        Evidence::at(
            "log",
            usize::try_from(self.line).unwrap_or(usize::MAX),
            text(line),
        )
    }

    /// A new session begins; the one before it is final.
    fn begin(&mut self, phase: Phase, begin: Begin) -> &mut Session {
        self.end_conftest();
        self.end_session();
        self.phase = phase;
        self.session.insert(Session::new(begin))
    }

    fn end_session(&mut self) {
        self.phase = Phase::Outside;
        if self.session.as_ref().is_some_and(Session::has_end) && !self.nested.is_inside() {
            self.nested.end(&mut self.session);
        }
        let sessions = self.nested.finish(&mut self.session);
        if let Some(sugar) = self.sugar.take() {
            let end = sugar.end(&mut self.builder);
            self.ended(&end);
            return;
        }
        for session in sessions.into_iter().flatten() {
            let end = session.end(&mut self.builder);
            self.ended(&end);
        }
    }

    fn ended(&mut self, end: &session::Ending) {
        self.ran |= end.ran;
        match end.outcome {
            RunOutcome::Completed => self.any_completed = true,
            RunOutcome::BuildFailed => self.refused = true,
            RunOutcome::NothingRan => {}
            broken => self.broken = self.broken.or(Some(broken)),
        }
        match end.consistent {
            Some(true) => self.consistent = true,
            Some(false) => self.inconsistent = true,
            None => self.incomparable |= end.ran,
        }
    }

    fn end_conftest(&mut self) {
        if let Some(conftest) = self.conftest.take() {
            self.refused = true;
            self.builder
                .lose(&conftest.path, LostReason::LoadFailed, conftest.lines);
        }
    }

    fn is_start(line: &[u8]) -> bool {
        grammar::titled(line, b'=') == Some(b"test session starts")
    }

    fn outside(&mut self, line: &[u8], first: u8) {
        if self.conftest.is_some() && self.conftest_line(line, first) {
            return;
        }
        match first {
            b'=' => {
                if Self::is_start(line) {
                    self.begin(Phase::Running, Begin::Title);
                    return;
                }
                let section = grammar::titled(line, b'=').and_then(reports::Section::of);
                let closed = self.session.as_ref().is_some_and(Session::has_end);
                if section.is_some() {
                    if closed {
                        // The final line was one that a test had printed: the report goes on.
                        self.phase = Phase::Report;
                    } else if self.session.is_none() {
                        self.begin(Phase::Report, Begin::Quiet);
                    } else {
                        self.phase = Phase::Report;
                    }
                    self.report(line, first);
                } else if closed && grammar::final_line(line).is_some() {
                    self.phase = Phase::Report;
                    self.report(line, first);
                }
                return;
            }
            b'I' | b'E' | b'F' if self.refusal(line) => {
                return;
            }
            b'T' if sugar::begins(line) => {
                self.end_conftest();
                self.end_session();
                self.sugar = Some(Box::default());
                return;
            }
            b'_' => {
                let closed = self.session.as_ref().is_some_and(Session::has_end);
                if closed && grammar::titled(line, b'_').is_some() {
                    self.phase = Phase::Report;
                    self.report(line, first);
                }
                return;
            }
            b'0'..=b'9' | b'n' => {
                // The quiet form of the final line ends only a session that letters began.
                if let (Some(session), Some(end)) =
                    (self.session.as_mut(), grammar::final_line(line))
                    && !session.has_end()
                    && session.agrees(&end) == Some(true)
                {
                    session.finish(end);
                }
                return;
            }
            _ => {}
        }
        self.quiet_start(line);
    }

    /// Without a header, a session begins with its first line of progress.
    fn quiet_start(&mut self, line: &[u8]) {
        let (rest, progress) = grammar::split_progress(line);
        if progress == Progress::None {
            let letters = grammar::letters(rest).filter(|(_, file)| !file);
            let open = self.session.as_ref().is_none_or(|s| !s.has_end());
            match letters {
                // Letters without a percentage may be anyone's: they count only if pytest's own
                // lines follow.
                Some((tally, _)) if open => {
                    let session = self
                        .session
                        .get_or_insert_with(|| Session::new(Begin::Letters));
                    session.count_letters(tally, progress);
                }
                _ => {
                    if self.session.as_ref().is_some_and(Session::is_maybe) {
                        self.session = None;
                    }
                }
            }
            return;
        }
        if let Some((tally, false)) = grammar::letters(rest) {
            self.begin(Phase::Running, Begin::Quiet)
                .count_letters(tally, progress);
        } else if self.session.is_none() && grammar::verbose(rest).is_some() {
            self.begin(Phase::Running, Begin::Quiet);
            self.running(line, line[0]);
        }
    }

    /// Lines by which pytest says that it cannot begin. Returns whether this is one.
    fn refusal(&mut self, line: &[u8]) -> bool {
        if let Some(rest) = line.strip_prefix(b"ImportError while loading conftest '") {
            let path = memchr::memrchr(b'\'', rest).map_or(rest, |end| &rest[..end]);
            self.end_conftest();
            self.conftest = Some(Conftest {
                path: text(path),
                lines: vec![self.proof(line)],
            });
            return true;
        }
        if let Some(rest) = line.strip_prefix(b"ERROR: ") {
            for head in [
                &b"file or directory not found: "[..],
                b"not found: ",
                b"found no collectors for ",
                b"module or package not found: ",
            ] {
                if let Some(what) = rest.strip_prefix(head) {
                    let proof = self.proof(line);
                    self.refused = true;
                    self.builder
                        .lose(&text(what), LostReason::LoadFailed, vec![proof]);
                    return true;
                }
            }
            if rest.starts_with(b"usage: ") {
                self.refused = true;
                self.builder.warn(Some(self.line), text(line));
                return true;
            }
        }
        if line.starts_with(b"Fatal Python error: ") {
            match &mut self.session {
                Some(session) if !session.has_end() => session.fatal(b""),
                _ => self.fatal = true,
            }
            self.builder.warn(Some(self.line), text(line));
            return true;
        }
        false
    }

    /// A line of the traceback below a conftest that could not be imported. Returns whether it is.
    fn conftest_line(&mut self, line: &[u8], first: u8) -> bool {
        let proof = self.proof(line);
        let Some(conftest) = &mut self.conftest else {
            return false;
        };
        if first == b'E' && line.starts_with(b"E  ") {
            conftest.lines.push(proof);
            return true;
        }
        // `tests/conftest.py:1: in <module>` is the same file, relative to where pytest ran.
        if line.ends_with(b": in <module>") {
            if let Some(at) = memchr::memchr(b':', line) {
                let relative = text(&line[..at]);
                if conftest.path.ends_with(&format!("/{relative}")) {
                    conftest.path = relative;
                }
            }
            return true;
        }
        if first == b'=' {
            self.end_conftest();
            return false;
        }
        true
    }

    fn running(&mut self, line: &[u8], first: u8) {
        if let Some(session) = self.session.as_mut()
            && session.plain_result(line, &mut self.file)
        {
            return;
        }
        if matches!(first, b'I' | b'E' | b'F') && self.refusal(line) {
            return;
        }
        let Some(session) = self.session.as_mut() else {
            return;
        };
        match first {
            b'=' => {
                if let Some(end) = grammar::final_line(line) {
                    // What disagrees with the progress so far may be output; tests then go on.
                    if session.agrees_if_settled(&end) != Some(false) {
                        session.settle();
                        self.phase = Phase::Outside;
                    }
                    session.finish(end);
                    return;
                }
                if let Some(title) = grammar::titled(line, b'=')
                    && reports::Section::of(title).is_some()
                {
                    session.settle();
                    self.phase = Phase::Report;
                    self.report(line, first);
                    return;
                }
            }
            b'!' => {
                if let Some(title) = grammar::titled(line, b'!') {
                    session.stopped(&text(title));
                    return;
                }
            }
            b'I' if line.starts_with(b"INTERNALERROR> ") => {
                session.internal_error();
                return;
            }
            b'+' if grammar::titled(line, b'+') == Some(b"Timeout") => {
                session.timed_out();
                return;
            }
            b'[' => {
                if let Some((result, progress)) = grammar::worker(line) {
                    session.worker_result(&result, progress);
                    return;
                }
            }
            b'0'..=b'9' | b'n' if session.is_quiet() => {
                if let Some(end) = grammar::final_line(line) {
                    session.settle();
                    session.finish(end);
                    self.phase = Phase::Outside;
                    return;
                }
            }
            _ => {}
        }
        let Some(session) = self.session.as_mut() else {
            return;
        };
        if let Some(at) = FATAL_ERROR.find(line) {
            session.fatal(&line[..at]);
            self.builder.warn(Some(self.line), text(&line[at..]));
            return;
        }
        let (rest, progress) = grammar::split_progress(line);
        if grammar::file_len(line).is_some() {
            if let Some(result) = grammar::verbose(rest) {
                session.result(&result, progress, grammar::is_open(rest));
                return;
            }
            let named = if progress == Progress::None {
                rest
            } else {
                line
            };
            if session.started(named) {
                return;
            }
        }
        if let Some((tally, file)) = grammar::letters(rest)
            && session.letters_fit(file, progress)
        {
            session.count_letters(tally, progress);
            return;
        }
        if session.has_pending()
            && let Some((word, whole)) = grammar::word_alone(rest)
        {
            session.pending_word(word, whole, progress);
            return;
        }
        if let Some(collected) = grammar::collected(line) {
            session.collected(collected);
            return;
        }
        if line.ends_with(b" items]") || line.ends_with(b" item]") {
            session.distributed();
        }
    }

    fn report(&mut self, line: &[u8], first: u8) {
        let number = self.line;
        let Some(session) = self.session.as_mut() else {
            self.phase = Phase::Outside;
            return;
        };
        match first {
            b'=' => {
                if let Some(end) = grammar::final_line(line) {
                    if session.offer_end(end) {
                        self.phase = Phase::Outside;
                    }
                } else if let Some(title) = grammar::titled(line, b'=')
                    && let Some(section) = reports::Section::of(title)
                {
                    session.section(section, number);
                }
            }
            b'0'..=b'9' | b'n' if session.is_quiet() => {
                if let Some(end) = grammar::final_line(line) {
                    if session.offer_end(end) {
                        self.phase = Phase::Outside;
                    }
                } else {
                    session.report_line(line, number);
                }
            }
            b'!' => match grammar::titled(line, b'!') {
                Some(title) => session.stopped(&text(title)),
                None => session.report_line(line, number),
            },
            b'P' if session.plain_pass(line, &mut self.file, number) => {}
            _ => session.report_line(line, number),
        }
    }
}

/// The status that a word gives to its test, if it gives one.
fn status_of(word: Word) -> Option<atlas_core::TestStatus> {
    match word {
        Word::Result(status) => Some(status),
        Word::Sub(_) | Word::Rerun => None,
    }
}
