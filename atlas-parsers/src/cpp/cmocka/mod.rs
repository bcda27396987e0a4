//! cmocka: standard output, TAP, subunit and XML, one group or several.
//!
//! The standard lines look like those of `GoogleTest`, without a suite in the name and without a
//! time; `test(s)` in the lines around them is cmocka's alone.

mod standard;
mod xml;

use crate::cpp::build::number;
use crate::cpp::subunit::Subunit;
use crate::edges::behind_any;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::tally::Tally;
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus,
};
use memchr::memmem;
use standard::Standard;
use xml::Xml;

/// cmocka.
pub(crate) static CMOCKA: Shipped = Shipped::new(
    "cmocka",
    &About {
        languages: &["c"],
        // Its variable names it where the program's name does not.
        commands: &[
            &["CMOCKA_MESSAGE_OUTPUT=STDOUT"],
            &["CMOCKA_MESSAGE_OUTPUT=TAP"],
            &["CMOCKA_MESSAGE_OUTPUT=SUBUNIT"],
            &["CMOCKA_MESSAGE_OUTPUT=XML"],
        ],
        // Its own XML and TAP.
        contains: &["junit", "tap"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "cmocka 0.3 to 2.0: STDOUT, TAP, SUBUNIT and XML on the console",
            "the group of a test, but for XML and TAP; a status that a test forges for itself \
             when it is the worse one",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["[", "= "], "<", "*", ""),
    Look(["#", " "], "", "*", ""),
    Look(["t", "e"], "", "*", "st: "),
    Look(["*", "*"], "*", "!", ": Failure!"),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'[' if line.starts_with(b"[==========] ")
            && (line.ends_with(b" test(s).") || line.ends_with(b" test(s) run.")) =>
        {
            Place::Within.certain("a `[==========] test(s)` line")
        }
        b'[' if line.starts_with(b"[  PASSED  ] ") && line.ends_with(b" test(s).") => {
            Place::End.certain("a `[  PASSED  ] test(s)` line")
        }
        b' ' if Xml::suite(line).is_some() => Place::Within.certain("a `<testsuite` of cmocka"),
        b'#' if line.starts_with(b"# ok - ") || line.starts_with(b"# not ok - ") => {
            Place::End.certain("a `# ok - group` line")
        }
        b't' if line.starts_with(b"test: ") => Place::Within.hint("a `test: name` line"),
        _ if line.ends_with(b": error: Failure!") => {
            Place::Within.certain("cmocka's `error: Failure!`")
        }
        _ => None,
    }
}

/// TAP: results of a group wait for its end, which names it.
#[derive(Clone, Default)]
struct Tap {
    planned: Option<u64>,
    results: Vec<(String, TestStatus)>,
    tally: Tally,
}

impl Tap {
    /// `1..3` begins a group, `# ok - group` ends it.
    fn line(&mut self, line: &[u8]) {
        // Version 1.0 indents its lines and ends without a `#`.
        let line = line.strip_prefix(b"\t").unwrap_or(line);
        if let Some((planned, b"")) = line.strip_prefix(b"1..").and_then(number) {
            // Inside a group a test printed it.
            if self.results.is_empty() {
                self.planned = Some(planned);
            }
            return;
        }
        let Some(planned) = self.planned else {
            return;
        };
        let group = behind_any(line, &[b"# ok - ", b"# not ok - ", b"ok - ", b"not ok - "]);
        if let Some(group) = group {
            // The setup of a group that does not run has no number either.
            if self.results.len() as u64 == planned || self.results.is_empty() {
                self.end(&String::from_utf8_lossy(group));
            }
            return;
        }
        let next = self.results.len() as u64 + 1;
        if let Some((place, name, status)) = tap_result(line, next) {
            if place == next && place <= planned {
                self.results.push((name, status));
            } else if place.checked_add(1) == Some(next)
                && let Some(last) = self.results.last_mut()
            {
                // The same number again: the first of the two was printed by the test.
                *last = (name, status);
            }
        }
    }

    fn end(&mut self, group: &str) {
        self.planned = None;
        for (name, status) in std::mem::take(&mut self.results) {
            self.tally.add(group, &name, status);
        }
    }
}

/// The forms of output, told apart by what begins a run in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Standard,
    Tap,
    Subunit,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    form: Option<Form>,
    standard: Standard,
    subunit: Subunit,
    tap: Tap,
    xml: Xml,
    xml_tally: Tally,
}

impl State {
    /// What this line begins. Whatever begins later, in another form, was printed by a test.
    fn begins(line: &[u8]) -> Option<Form> {
        match line.first()? {
            b'[' if line.starts_with(b"[==========] ") && line.ends_with(b" test(s).")
                || line.starts_with(b"[ RUN      ] ") =>
            {
                Some(Form::Standard)
            }
            b'1' | b'\t' => {
                let line = line.strip_prefix(b"\t").unwrap_or(line);
                let (_, rest) = line.strip_prefix(b"1..").and_then(number)?;
                rest.is_empty().then_some(Form::Tap)
            }
            b't' if line.starts_with(b"test: ") => Some(Form::Subunit),
            _ => None,
        }
    }
}

/// `ok 1 - name`, `not ok 2 # SKIP name`, `not ok 3 - name Could not run test: why`.
fn tap_result(line: &[u8], next: u64) -> Option<(u64, String, TestStatus)> {
    let (rest, passed) = if let Some(rest) = line.strip_prefix(b"ok ") {
        (rest, true)
    } else if let Some(rest) = line.strip_prefix(b"not ok ") {
        (rest, false)
    } else {
        // A test may print without a newline before its result.
        memmem::find(line, b"ok ")?;
        let mark = format!("ok {next} ");
        let at = memmem::rfind(line, mark.as_bytes())?;
        let (before, rest) = line.split_at_checked(at)?;
        (rest.get(3..)?, !before.ends_with(b"not "))
    };
    let (place, rest) = number(rest)?;
    let (name, status) = if let Some(name) = rest.strip_prefix(b" # SKIP ") {
        (name, TestStatus::Skipped)
    } else {
        let name = rest.strip_prefix(b" - ")?;
        let end = memmem::find(name, b" Could not run test: ").filter(|_| !passed);
        let name = end.and_then(|end| name.get(..end)).unwrap_or(name);
        let status = if passed {
            TestStatus::Passed
        } else {
            TestStatus::Failed
        };
        (name, status)
    };
    let name = String::from_utf8_lossy(name).into_owned();
    Some((place, name, status))
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        if self.xml.group.is_some() {
            if let Some((name, status)) = self.xml.line(line) {
                let group = self.xml.group.as_deref().unwrap_or_default();
                self.xml_tally.add(group, &name, status);
            }
            return;
        }
        if line.starts_with(b"  <testsuite name=\"")
            && let Some((group, totals)) = Xml::suite(line)
        {
            if totals.total == Some(0) && totals.failed > Some(0) {
                let proof = String::from_utf8_lossy(line).into_owned();
                let proof = vec![Evidence::at("log", self.line, proof)];
                self.log.lose(&group, LostReason::LoadFailed, proof);
            } else {
                self.xml_tally.add_totals(totals);
            }
            self.xml.group = Some(group);
            return;
        }
        if self.form.is_none() {
            self.form = Self::begins(line);
        }
        match self.form {
            Some(Form::Standard) if memchr::memchr(b'[', line).is_some() => {
                self.standard.line(line, self.line);
            }
            Some(Form::Tap) => self.tap.line(line),
            Some(Form::Subunit) => self.subunit.line(line, TestStatus::Failed),
            _ => {}
        }
    }

    fn finish(mut self) -> ParsedLog {
        let stopped = self.standard.nest.stop() || self.subunit.nest.stop();
        let cut = stopped || self.standard.open > 0 || self.tap.planned.is_some();
        self.tap.end("");
        let (tally, cut, ended) = if self.xml.ended || self.xml.group.is_some() {
            (self.xml_tally, self.xml.group.is_some(), self.xml.ended)
        } else {
            let mut tally = self.standard.nest.tally;
            let ended = self.standard.ended || self.form.is_some_and(|form| form != Form::Standard);
            tally.append(self.tap.tally);
            tally.append(self.subunit.nest.tally);
            for (group, lines) in self.standard.lost {
                self.log.lose(&group, LostReason::LoadFailed, lines);
            }
            (tally, cut, ended)
        };
        let outcome = if cut {
            RunOutcome::Truncated
        } else if ended && !tally.is_empty() {
            RunOutcome::Completed
        } else {
            RunOutcome::NothingRan
        };
        tally.record(&mut self.log);
        self.log.finish(outcome)
    }
}
