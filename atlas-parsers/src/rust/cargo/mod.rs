//! `cargo test` with libtest: library, binary, integration and doc tests.
//!
//! libtest prints `running N tests`, then one result per test, then `test result:`; cargo names
//! the binary before it, or, with `-q`, only behind a failed one. So a section's results wait
//! until its binary is known.
//!
//! With one thread `test name ... ` is printed before the test runs and its outcome after, and
//! with `--nocapture` the test's own output comes between, on the same lines. Such an outcome is
//! believed when the very next line is the runner's again. Results that stand behind other text
//! are taken only as far as the section's count lacks them, and the list of failures that ends a
//! section overrules any `ok`.
//!
//! cargo writes to standard error and libtest to standard output. Where somebody reads the two apart and joins them,
//! as Docker's `exec` does, a line of cargo may overtake the end of a section, or come behind the begin of the section
//! that it announces. Each stream keeps its own order, so only the next section, or the end of all, shows that one died.
//!
//! A test may print the end of its own section: results of that section behind it, and its totals once more,
//! take it back.
//!
//! A target with `harness = false` has a `main` of its own and prints what it likes: nothing but its end tells, which cargo
//! reports if it failed. Such a program is one test, by its target's name (see [`announced`]).
//!
//! The terse format names only failures. Benchmarks that were measured are no tests. Two binaries
//! of one name (two packages with `tests/it.rs`) are told apart as `it` and `it#2`, in the order
//! cargo runs them. nextest has its own format.
//!
//! The SWE-bench id is the name as the console has it, with libtest's remark behind it, ` - should
//! panic`; the qualified id is binary and path, without.

mod announced;
pub(super) mod build;
mod line;
mod section;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::{clean, lossy, uncoloured};
use announced::Announced;
use atlas_core::{Evidence, LineState, LostReason, Names, ParsedLog, ParsedLogBuilder, RunOutcome};
use build::Build;
use line::Binary;
use section::{Room, Section};

/// `cargo test`.
pub(crate) static CARGO: Shipped = Shipped::new(
    "cargo",
    &About {
        languages: &["rust"],
        aliases: &["libtest", "cargo_test"],
        commands: &[&["cargo", "test"]],
        usual_for: &["rust"],
        without_report: "stable cargo can be asked for no report of the tests",
        ..About::new(
            "`cargo test`: unit, integration and documentation tests, quiet too, interleaved output",
            "passing tests of a quiet run; why a test was ignored where it gave no reason",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["e", "*"], "R", "*", ""),
    Look(["t", "e"], "", "*", "ult: "),
    Look(["r", "u"], "", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    match line.first()? {
        b't' if line.starts_with(b"test result: ") && has(b" filtered out") => {
            Place::Within.certain("a `test result:` line")
        }
        b'e' if line.starts_with(b"error: could not compile `") => {
            Place::End.hint("cargo's `could not compile`")
        }
        b'e' if has(b"test failed, to rerun pass ") => {
            Place::Within.certain("cargo's `to rerun pass`")
        }
        b' ' if line.starts_with(b"     Running ") && has(b"/deps/") => {
            Place::Within.certain("cargo's `Running`")
        }
        b'r' if line.starts_with(b"running ")
            && (line.ends_with(b" tests") || line.ends_with(b" test")) =>
        {
            Place::Within.hint("a `running N tests` line")
        }
        _ => None,
    }
}

/// A section inside of another: a test prints it, or the other one's process died.
#[derive(Clone)]
struct Inner {
    section: Section,
    /// The section around it as it was in front of it.
    around: Section,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    announced: Announced,
    last_was_announcement: bool,
    /// How many sections have ended without a name: announcements that are still to come.
    unnamed: usize,
    /// A line of cargo that stands behind an unended section, and how many results that had then.
    doubt: Option<(u64, Evidence)>,
    /// Every binary seen by its file, and its number among those of its name.
    files: Names,
    numbers: Vec<u32>,
    /// The names of the binaries, and how many bear each.
    binaries: Names,
    bearers: Vec<u32>,
    /// The name of the last one that was new.
    last_binary: String,
    section: Option<Section>,
    /// Sections that began inside of it and have not ended, the last one the innermost.
    inner: Vec<Inner>,
    /// Those that have ended: a test printed them, if the section ends.
    printed: Vec<Section>,
    /// How many results were copied for `inner`.
    copied: u64,
    /// A section that has ended and whose binary may still be named.
    ended: Option<Section>,
    /// Room for the next section.
    room: Room,
    /// Room for a line without its colours.
    text: String,
    build: Build,
    sections: u64,
    runs: Runs,
}

impl State {
    /// The module of a binary: its name, numbered where another binary bears the same.
    fn module(&mut self, binary: &Binary) -> String {
        // The file's name holds the binary's.
        let (file, new) = self.files.add(&binary.file);
        if new {
            let (name, new) = self.binaries.add(&binary.name);
            if new {
                self.bearers.push(0);
            }
            self.bearers[name] += 1;
            self.numbers.push(self.bearers[name]);
            self.last_binary.clone_from(&binary.name);
        }
        numbered(&binary.name, self.numbers[file])
    }

    fn begin(&mut self, tests: u64) {
        self.flush();
        self.sections += 1;
        let binary = self.announced.next();
        let module = match &binary {
            Some(binary) => Some(self.module(binary)),
            // Edition 2024 runs a crate's doc tests in two parts under one announcement.
            None => Some(&self.last_binary)
                .filter(|last| last.starts_with("Doc-tests "))
                .cloned(),
        };
        self.section = Some(Section::new(module, tests, std::mem::take(&mut self.room)));
    }

    fn here(&self, text: &str) -> Evidence {
        Evidence::at("log", self.line, text.to_owned())
    }

    /// A line of cargo came while a section runs: it may have died, or what is left of it is still to come.
    fn doubted(&mut self, text: &str) {
        let Some(section) = &self.section else {
            return;
        };
        let count = section.count();
        if self.doubt.as_ref().is_none_or(|(then, _)| *then != count) {
            self.doubt = Some((count, self.here(text)));
        }
    }

    /// The section that runs did not come to its end.
    fn interrupted(&mut self, proof: Evidence) {
        let Some(mut section) = self.section.take() else {
            return;
        };
        self.inner.clear();
        self.printed.clear();
        self.doubt = None;
        self.runs.worst(RunOutcome::Crashed);
        section.proof.push(proof);
        section.crashed = true;
        section.settle();
        self.ended = Some(section);
    }

    /// Records the section that has ended.
    fn flush(&mut self) {
        let Some(mut section) = self.ended.take() else {
            return;
        };
        section.take_late();
        self.unnamed += usize::from(section.module.is_none());
        let module = section.module.clone().unwrap_or_default();
        let mut each = None;
        match section.plain_results() {
            Some(results) => self.log.record_all(&module, "::", results),
            None => each = Some(section.results()),
        }
        for (name, remark, status) in each.into_iter().flatten() {
            if remark.is_empty() {
                self.log.record_in(&module, "::", name, status);
                continue;
            }
            // The SWE-bench id is what the console has, the qualified id is the test's own path.
            let qualified = if module.is_empty() {
                name.to_owned()
            } else {
                format!("{module}::{name}")
            };
            let printed = format!("{name}{remark}");
            self.log.record(&module, &qualified, &printed, status);
        }
        if let Some(totals) = section.totals {
            self.log.add_totals(totals);
            // The terse format may name none of the tests that it counts.
            if totals.passed.unwrap_or(0).max(totals.failed.unwrap_or(0)) > 0 {
                self.runs.worst(RunOutcome::Completed);
            }
            let agrees = section.agrees(totals);
            self.runs.agree(agrees);
            if !agrees {
                let text = format!(
                    "the results of `{module}` do not add up to its totals: output of its tests may \
                     have been read as results"
                );
                self.log.warn(Some(self.line as u64), text);
            }
        }
        if section.crashed {
            for name in &section.in_flight {
                self.log.still_running(name.clone());
            }
            let proof = std::mem::take(&mut section.proof);
            self.log.lose(&module, LostReason::Crashed, proof);
        }
        self.room = section.room();
    }

    /// A line of any kind, cleaned.
    fn any_line(&mut self, line: &[u8]) {
        self.line += 1;
        let announcement = self.last_was_announcement;
        if !line.is_empty() {
            self.last_was_announcement = false;
        }
        let quotes = self.section.as_ref().is_some_and(Section::quotes);
        if may_be_cargo(line) && !quotes {
            self.last_was_announcement = announcement;
            if self.cargo_line(&lossy(line)) {
                return;
            }
            self.last_was_announcement = false;
        }
        let begins = if line.starts_with(b"running ") {
            std::str::from_utf8(line).ok().and_then(line::running)
        } else {
            None
        };
        if self.section.is_some() {
            self.section_line(line, begins);
            return;
        }
        if let Some(tests) = begins {
            self.begin(tests);
            return;
        }
        if let Some(ended) = &mut self.ended {
            ended.late_line(line);
        }
        self.announced.line(line);
        self.build.line(line, self.line);
    }

    /// A line inside a section, which may have others in what its tests print.
    fn section_line(&mut self, line: &[u8], begins: Option<u64>) {
        /// So many results are copied at most, so that the time stays linear.
        const MOST: u64 = 1 << 22;
        let Some(section) = &mut self.section else {
            return;
        };
        if let Some(tests) = begins
            && self.inner.is_empty()
            && let Some((_, proof)) = self.doubt.take_if(|(then, _)| *then == section.count())
        {
            self.interrupted(proof);
            self.begin(tests);
            return;
        }
        if let Some(inner) = self.inner.last_mut() {
            inner.section.line(line, self.line);
            if inner.section.totals.is_some() {
                // What came since its begin is its own.
                if let Some(inner) = self.inner.pop() {
                    let around = self.inner.last_mut().map(|inner| &mut inner.section);
                    *around.unwrap_or(section) = inner.around;
                    self.printed.push(inner.section);
                }
                return;
            }
        }
        if let Some(tests) = begins.filter(|tests| *tests > 0 && self.copied < MOST) {
            let around = self.inner.last().map_or(&*section, |inner| &inner.section);
            let around = around.clone();
            self.copied += around.count() + 64;
            self.inner.push(Inner {
                section: Section::new(None, tests, Room::default()),
                around,
            });
        }
        section.line(line, self.line);
        if section.totals.is_some() {
            self.inner.clear();
            self.printed.clear();
            self.doubt = None;
            self.ended = self.section.take();
        }
    }

    /// No more sections of what has been announced so far will come.
    fn settle_announced(&mut self) {
        if let Some(binary) = self.announced.settle()
            && let Some(mut section) = self.ended.take()
        {
            section.module = Some(self.module(&binary));
            self.ended = Some(section);
        }
    }

    /// Gives an announcement that comes behind its own section's begin to that section.
    fn named_late(&mut self, binary: &Binary) -> bool {
        if self
            .section
            .as_ref()
            .is_none_or(|section| section.module.is_some())
        {
            return false;
        }
        let module = self.module(binary);
        if self.unnamed > 0 {
            self.unnamed -= 1;
        } else if let Some(section) = &mut self.section {
            section.module = Some(module);
        }
        true
    }

    /// Lines of cargo itself. Returns whether this was one.
    fn cargo_line(&mut self, text: &str) -> bool {
        if let Some(binary) = line::binary(text) {
            if self.named_late(&binary) {
                return true;
            }
            self.doubted(text);
            if !self.last_was_announcement {
                self.settle_announced();
            }
            self.flush();
            self.announced.add(binary, self.section.is_some());
            self.last_was_announcement = true;
            return true;
        }
        if let Some(rerun) = line::rerun(text) {
            self.doubted(text);
            if self.section.is_none() && !self.ended.as_ref().is_some_and(Section::has_failed) {
                self.announced.fail(rerun.target.as_deref());
                self.last_was_announcement = false;
            }
            if let Some(section) = self.section.as_mut().or(self.ended.as_mut())
                && section.module.is_none()
                && let Some(name) = rerun.target
            {
                section.module = Some(name);
            }
            if !self.ended.as_ref().is_some_and(|section| section.crashed) {
                self.flush();
            }
            return true;
        }
        if text
            .trim_start()
            .starts_with("process didn't exit successfully: ")
        {
            let doubted = self.doubt.take().map(|(_, proof)| proof);
            self.interrupted(doubted.unwrap_or_else(|| self.here(text)));
            let evidence = self.here(text.trim());
            if let Some(section) = &mut self.ended
                && section.crashed
            {
                section.proof.push(evidence);
            } else if self.section.is_none()
                && text.contains("(signal: ")
                && let Some(binary) = self.announced.died()
            {
                // It died before libtest began.
                self.runs.worst(RunOutcome::Crashed);
                let module = self.module(&binary);
                self.log.lose(&module, LostReason::Crashed, vec![evidence]);
            }
            return true;
        }
        false
    }
}

fn numbered(name: &str, number: u32) -> String {
    if number == 1 {
        name.to_owned()
    } else {
        format!("{name}#{number}")
    }
}

/// Whether a line can be one of cargo's, by its first bytes or by cargo's words behind a test's
/// unfinished line.
fn may_be_cargo(line: &[u8]) -> bool {
    match line.first() {
        Some(b' ') => {
            let text = line.trim_ascii_start();
            text.starts_with(b"Running ")
                || text.starts_with(b"Doc-tests ")
                || text.starts_with(b"process didn't ")
        }
        // Its arguments stand in quotes.
        Some(_) if matches!(line.trim_ascii_end().last(), Some(b'`' | b'\'')) => {
            memchr::memmem::find(line, b"test failed, to rerun pass ").is_some()
        }
        _ => false,
    }
}

impl LineState for State {
    fn text_line(&mut self, line: &str) {
        if let Some(section) = &mut self.section
            && self.inner.is_empty()
            && section.plain_line(line)
        {
            self.line += 1;
            self.last_was_announcement = false;
        } else {
            self.any_line(line.as_bytes());
        }
    }

    fn clean_line(&mut self, line: &[u8]) {
        match std::str::from_utf8(line) {
            Ok(text) => self.text_line(text),
            Err(_) => self.line(line),
        }
    }

    fn line(&mut self, line: &[u8]) {
        let mut text = std::mem::take(&mut self.text);
        match uncoloured(line, &mut text) {
            Some(text) => self.text_line(text),
            None => self.any_line(&clean(line)),
        }
        self.text = text;
    }

    fn finish(mut self) -> ParsedLog {
        if let Some((_, proof)) = self.doubt.take() {
            self.interrupted(proof);
        }
        if let Some(mut section) = self.section.take() {
            self.runs.worst(RunOutcome::Truncated);
            section.settle();
            for name in &section.in_flight {
                self.log.still_running(name.clone());
            }
            self.ended = Some(section);
        }
        if self.printed.is_empty() {
            self.settle_announced();
        }
        self.flush();
        for mut section in std::mem::take(&mut self.printed) {
            // The one around them died without a word: they may be other binaries'.
            let binary = self.announced.next();
            section.module = binary.map(|binary| self.module(&binary));
            self.ended = Some(section);
            self.flush();
        }
        // Where sections are left without a name, the announcements are in no order that shows who had none.
        let mut programs = std::mem::take(&mut self.announced.programs);
        programs.retain(|_| self.unnamed == 0);
        for (program, status) in programs {
            let name = self.module(&program);
            self.log.record(&name, &name, &name, status);
        }
        let failed = self.build.failed();
        let built_nothing = self.build.stopped() && self.sections == 0;
        for (module, proof) in failed {
            self.log.lose(&module, LostReason::BuildFailed, proof);
        }
        if self.log.recorded() > 0 {
            self.runs.worst(RunOutcome::Completed);
        }
        self.runs.finish(self.log, built_nothing)
    }
}
