//! `go test`: plain, `-v` and `-json`.
//!
//! The console names the package only after its tests, in `ok  \tpkg` or `FAIL\tpkg`, so results
//! wait in a section until that line. With `-v` every test is announced by `=== RUN`, and a
//! result counts only for an announced name; without it only failures are printed, top-level
//! ones at the line start and subtests under their parent. A run in which failures are printed and no
//! announced test ends is one without it, whose tests print what looks like an announcement. Where output without a newline stands
//! in front of a result, the result is looked for inside the line.
//!
//! Specs of Ginkgo, where their suite names them, have the id of the test that runs them in front:
//! `TestApi > Users are listed`. That test keeps its own result.
//!
//! Benchmarks are not tests. Passing tests are not named without `-v`, so a plain run yields only
//! failures.

mod event;
mod ginkgo;
mod line;
mod section;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus,
};
use event::Event;
use line::{CompilerBlocks, Finders, PackageLine, PackageVerdict};
use section::{Earlier, Section};
use std::collections::BTreeMap;

/// `go test`, text or `-json`, told apart by the log itself.
pub(crate) static GOTEST: Shipped = Shipped::new(
    "gotest",
    &About {
        languages: &["go"],
        aliases: &["go"],
        commands: &[&["go", "test"]],
        usual_for: &["go"],
        ..About::new(
            "`go test` plain, -v and -json",
            "passing tests without -v; the package of a run that dies before its last line",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["={oF?", "=\"kA "], "", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'=' if line.starts_with(b"=== RUN   ") => Place::Within.certain("a `=== RUN` line"),
        b'{' if line.starts_with(b"{\"Time\":\"")
            && memchr::memmem::find(line, b"\"Action\":\"").is_some() =>
        {
            Place::Within.certain("events of `go test -json`")
        }
        b'o' if line.starts_with(b"ok  \t") => Place::Within.certain("an `ok  \\tpackage` line"),
        b'F' if line.starts_with(b"FAIL\t") => Place::Within.certain("a `FAIL\\tpackage` line"),
        b'?' if line.starts_with(b"?   \t") => Place::Within.certain("a `[no test files]` line"),
        _ => None,
    }
}

/// One package's events of `-json`.
///
/// The events carry the whole text, and that is read rather than the results that test2json
/// made of it: before Go 1.20 it took a test's own `--- FAIL: x` for a result, and missed results
/// behind unfinished lines. A report without the text is read by its results.
#[derive(Clone, Default)]
struct Stream {
    text: Section,
    events: Section,
    partial: String,
}

impl Stream {
    fn section(mut self) -> Section {
        if !self.text.verbose() && self.text.unannounced.is_empty() {
            self.events.bare_fail |= self.text.bare_fail || self.events.has_results();
            self.events.timed_out |= self.text.timed_out;
            self.events.death = self.text.death;
            return self.events;
        }
        self.text
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Unknown,
    Text,
    Json,
}

/// A run as it is read.
#[derive(Clone, Default)]
pub(in crate::go) struct State {
    log: ParsedLogBuilder,
    line: usize,
    mode: Mode,
    finders: Finders,
    section: Section,
    /// Room for the next section.
    spare: Section,
    json: BTreeMap<String, Stream>,
    compiler: CompilerBlocks,
    earlier: Earlier,
    /// Failures of such tests behind their section's end, until a package fails.
    strays: Vec<String>,
    /// Packages that could not be built, with the line that says so.
    unbuilt: Vec<(String, Evidence)>,
    ran: bool,
    crashed: bool,
    timed_out: bool,
}

impl State {
    fn evidence(&self, text: &[u8]) -> Evidence {
        Evidence::at("log", self.line, String::from_utf8_lossy(text).into_owned())
    }

    /// What nearly every line of a verbose run is: a test begins, or ends. Returns whether it was;
    /// what is taken here, [`console_line`](Self::console_line) takes alike, and slower.
    fn plain_line(&mut self, text: &str) -> bool {
        let line = text.as_bytes();
        let taken = match line.first() {
            Some(b'=') if !self.compiler.is_open() => match line::announced(text) {
                Some(name) => {
                    self.section.start(name);
                    true
                }
                None => false,
            },
            Some(b'-' | b' ') if self.section.open > 0 => {
                self.section.ends_next(line)
                    || line::plain_result(line)
                        .is_some_and(|(name, status)| self.section.end(name, status))
            }
            // Says nothing that the package's end does not.
            Some(b'P') if line == b"PASS" && !self.compiler.is_open() => return true,
            _ => false,
        };
        if taken {
            self.mode = Mode::Text;
        }
        taken
    }

    fn console_line(&mut self, line: &[u8]) {
        if let Some(package) = PackageLine::read(line) {
            self.compiler.close();
            if package.verdict == PackageVerdict::NoTests && self.section.begun() {
                // gotestsum prints it when it comes, which may be amid another package's tests.
                return;
            }
            if package.verdict != PackageVerdict::Ok || self.section.open == 0 {
                self.package_end(&package, line);
                return;
            }
        }
        // A test that prints such lines is no build.
        if self.section.open == 0 && self.compiler.take(line, self.line) {
            return;
        }
        if self.section_line(line) {
            self.mode = Mode::Text;
        }
    }

    /// A line of the package that runs. Returns whether it was the runner's.
    fn section_line(&mut self, line: &[u8]) -> bool {
        // `-test.v=test2json` marks the runner's own lines with this control character.
        let line = line.strip_prefix(b"\x16").unwrap_or(line);
        if let Some((name, status)) = line::plain_result(line)
            && self.section.end(name, status)
        {
            return true;
        }
        if let Some(name) = self.finders.started(line, &self.section.started) {
            self.section.start(name);
            return true;
        }
        if let Some(result) = self.finders.result(line) {
            let name = result.name;
            if result.at_start && !result.indent.is_multiple_of(4) {
                return false;
            }
            let is_known = self.section.end(name, result.status);
            if !is_known
                && result.status == TestStatus::Failed
                && self.earlier.contains(name, &self.log)
            {
                self.section.strays.push(name.to_owned());
            }
            let unannounced = !is_known
                && result.status == TestStatus::Failed
                && self.unannounced_failure(&result);
            return is_known || unannounced && !self.section.verbose();
        }
        self.section.spec_line(line);
        if line.ends_with(b"FAIL") && self.section.open == 0 {
            self.section.bare_fail = true;
        } else if matches!(line.first(), Some(b'p' | b'f' | b'*' | b'e' | b's')) {
            self.death(line);
        }
        false
    }

    fn unannounced_failure(&mut self, result: &line::ResultLine<'_>) -> bool {
        let section = &mut self.section;
        let depth = if result.at_start {
            result.indent / 4
        } else {
            0
        };
        section.parents.truncate(depth);
        let belongs = match section.parents.last() {
            Some(parent) if depth > 0 => {
                section.parents.len() == depth
                    && result
                        .name
                        .strip_prefix(parent.as_str())
                        .is_some_and(|rest| rest.starts_with('/'))
            }
            _ => depth == 0 && line::is_top_level(result.name),
        };
        if belongs {
            section.parents.push(result.name.to_owned());
            section.unannounced.push(result.name.to_owned());
        }
        belongs
    }

    fn death(&mut self, line: &[u8]) {
        let evidence = line::is_death(line).then(|| self.evidence(line));
        if let Some(evidence) = evidence {
            self.section.timed_out |= line::is_timeout(line);
            if self.section.death.len() < 8 {
                self.section.death.push(evidence);
            }
        }
    }

    fn package_end(&mut self, package: &PackageLine<'_>, line: &[u8]) {
        let spare = std::mem::take(&mut self.spare);
        let section = std::mem::replace(&mut self.section, spare);
        self.mode = Mode::Unknown;
        let mut section = section;
        self.strays.append(&mut section.strays);
        match package.verdict {
            PackageVerdict::NotBuilt => {
                let evidence = self.evidence(line);
                self.unbuilt.push((package.name.to_owned(), evidence));
            }
            PackageVerdict::Failed => {
                let evidence = self.evidence(line);
                self.ran = true;
                // A test that prints its package's end takes the results behind it out of their
                // section. The go command itself says at last that the package failed.
                for name in std::mem::take(&mut self.strays) {
                    self.log
                        .record_in(package.name, "::", &name, TestStatus::Failed);
                }
                self.close(package.name, section, Some(evidence));
            }
            PackageVerdict::Ok => {
                self.ran |= package.had_tests;
                // A package with a failure is not `ok`: something else printed that line.
                section.unannounced.clear();
                self.close(package.name, section, None);
            }
            PackageVerdict::NoTests => {}
        }
    }

    /// Ends a package's section. `failed` is its `FAIL` line.
    fn close(&mut self, package: &str, section: Section, failed: Option<Evidence>) {
        if let Some(evidence) = failed
            && (!section.bare_fail || section.timed_out)
        {
            let mut proof = section.death.clone();
            proof.push(evidence);
            let reason = if section.timed_out {
                self.timed_out = true;
                LostReason::TimedOut
            } else {
                self.crashed = true;
                LostReason::Crashed
            };
            self.log.lose(package, reason, proof);
        }
        self.record(package, section);
    }

    fn record(&mut self, package: &str, section: Section) {
        if !section.is_plain() {
            for name in section.in_flight().filter(|n| !n.starts_with("Benchmark")) {
                self.log.still_running(name);
            }
        }
        section.record(package, &mut self.log, &mut self.earlier);
        if section.is_plain() {
            for name in &section.unannounced {
                self.log.record_in(package, "::", name, TestStatus::Failed);
            }
        }
        self.spare = section.emptied();
    }

    fn json_event(&mut self, event: &Event<'_>) {
        self.mode = Mode::Json;
        let action = event.action.as_ref();
        if let Some(import) = &event.import_path {
            if let Some(output) = &event.output {
                let import = import.split(' ').next().unwrap_or_default();
                self.compiler.add(import, output, self.line);
            }
            return;
        }
        let Some(package) = event.package.as_deref() else {
            return;
        };
        if !self.json.contains_key(package) {
            self.json.insert(package.to_owned(), Stream::default());
        }
        let Some(stream) = self.json.get_mut(package) else {
            return;
        };
        match (action, event.test.as_deref()) {
            ("run", Some(test)) => stream.events.start(test),
            ("pass" | "fail" | "skip", Some(test)) => {
                let status = match action {
                    "pass" => TestStatus::Passed,
                    "fail" => TestStatus::Failed,
                    _ => TestStatus::Skipped,
                };
                stream.events.end(test, status);
            }
            ("output", _) => {
                let output = event.output.as_deref().unwrap_or_default();
                stream.partial.push_str(output);
                if output.ends_with('\n') {
                    let line = std::mem::take(&mut stream.partial);
                    self.json_output(package, line.trim_end_matches('\n'));
                }
            }
            ("pass" | "fail" | "skip", None) => {
                let stream = self.json.remove(package).unwrap_or_default();
                self.json_end(package, stream, event);
            }
            _ => {}
        }
    }

    /// A line of one package's own output, put together from its events.
    fn json_output(&mut self, package: &str, output: &str) {
        let line = output.as_bytes();
        if let Some(found) = PackageLine::read(line) {
            if found.verdict == PackageVerdict::NotBuilt {
                let evidence = self.evidence(line);
                self.unbuilt.push((found.name.to_owned(), evidence));
            }
            return;
        }
        let Some(stream) = self.json.get_mut(package) else {
            return;
        };
        let own = std::mem::replace(&mut self.section, std::mem::take(&mut stream.text));
        self.section_line(&clean(line));
        let section = std::mem::replace(&mut self.section, own);
        if let Some(stream) = self.json.get_mut(package) {
            stream.text = section;
        }
    }

    fn json_end(&mut self, package: &str, stream: Stream, event: &Event<'_>) {
        let section = stream.section();
        let unbuilt = self.unbuilt.iter().any(|(name, _)| name == package);
        let text = format!("FAIL\t{package}");
        let evidence = self.evidence(text.as_bytes());
        if event.failed_build.is_some() && !unbuilt {
            self.unbuilt.push((package.to_owned(), evidence));
        } else if !unbuilt {
            let failed = event.action == "fail";
            self.ran |= failed || section.verbose();
            self.close(package, section, failed.then_some(evidence));
        }
    }
}

impl LineState for State {
    fn text_line(&mut self, line: &str) {
        if self.mode != Mode::Json && self.plain_line(line) {
            self.line += 1;
        } else {
            self.line(line.as_bytes());
        }
    }

    fn clean_line(&mut self, line: &[u8]) {
        match std::str::from_utf8(line) {
            Ok(text) => self.text_line(text),
            Err(_) => self.line(line),
        }
    }

    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        if line.starts_with(b"{\"")
            && self.mode != Mode::Text
            && let Some(event) = Event::read(line)
        {
            self.json_event(&event);
            return;
        }
        let line = &*clean(line);
        if self.mode == Mode::Json {
            // What stands between the events is the build's standard error.
            if let Some(package) = PackageLine::read(line) {
                if package.verdict == PackageVerdict::NotBuilt {
                    let evidence = self.evidence(line);
                    self.unbuilt.push((package.name.to_owned(), evidence));
                }
            } else {
                self.compiler.take(line, self.line);
            }
        } else {
            self.console_line(line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        let mut truncated = false;
        let section = std::mem::take(&mut self.section);
        if section.verbose() || !section.unannounced.is_empty() {
            truncated = true;
            self.record("", section);
        }
        for (package, stream) in std::mem::take(&mut self.json) {
            truncated = true;
            self.record(&package, stream.section());
        }
        let unbuilt = std::mem::take(&mut self.unbuilt);
        for (package, evidence) in &unbuilt {
            let mut proof = self.compiler.of(package);
            proof.push(evidence.clone());
            self.log.lose(package, LostReason::BuildFailed, proof);
        }
        let outcome = if self.timed_out {
            RunOutcome::TimedOut
        } else if self.crashed {
            RunOutcome::Crashed
        } else if truncated {
            RunOutcome::Truncated
        } else if self.log.recorded() > 0 || self.ran {
            RunOutcome::Completed
        } else if !unbuilt.is_empty() {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        self.log.finish(outcome)
    }
}
