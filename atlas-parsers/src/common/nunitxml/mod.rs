//! The XML reports of `NUnit` 2 and 3 and of xUnit.net.
//!
//! A test's name is its full name, as the consoles of these runners print it; the qualified id has
//! the assembly in front.

use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::xml::{Documents, Reader, Sink, Tag};
use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use memchr::memmem;

/// The parser.
pub(crate) static NUNITXML: Shipped = Shipped::new(
    "nunitxml",
    &About {
        languages: &["csharp", "fsharp", "visual basic"],
        aliases: &["nunit_xml", "nunit2_xml", "nunit3_xml", "xunitnet_xml"],
        ..About::new(
            "<test-results> of NUnit 2, <test-run> of NUnit 3, <assemblies> of xUnit.net, one or \
             many, with any text around them",
            "tests of an assembly that did not load",
        )
    },
    mark,
    || Box::new(Reader::<Reports>::default()),
)
.looking(&[Look(["<", "*"], "<", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    let line = line.trim_ascii_start();
    if line.first() != Some(&b'<') {
        return None;
    }
    let line = prolog(line);
    // Attributes may stand on lines of their own.
    let is = |name: &[u8]| {
        let rest = line
            .strip_prefix(b"<")
            .and_then(|line| line.strip_prefix(name));
        rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
    };
    let has = |part: &[u8]| memmem::find(line, part).is_some();
    let assembly = line.starts_with(b"<assembl")
        && (has(b"=\"xUnit.net") || has(b" test-framework=\"") || has(b" run-date=\""));
    if is(b"test-run") || is(b"test-results") || assembly {
        return Place::Start.certain("the root of an NUnit or xUnit report");
    }
    if is(b"test-case") && has(b" name=\"") || is(b"test-suite") && has(b" type=\"") {
        return Place::Within.certain("a `<test-case` or `<test-suite`");
    }
    let ends: [&[u8]; 4] = [
        b"</test-run>",
        b"</test-results>",
        b"</test-suite>",
        b"</assemblies>",
    ];
    ends.contains(&line)
        .then_some(Mark::close("the end of an NUnit or xUnit report"))
}

#[derive(Debug, Default)]
struct Reports {
    log: ParsedLogBuilder,
    root: Option<&'static str>,
    assembly: String,
    /// Suites that are open.
    suites: u64,
    /// Cases of the document.
    cases: u64,
    /// The case that is open: class, name, status as far as it is known.
    case: Option<(String, String, TestStatus)>,
    declared: Totals,
    begun: u64,
    broken: u64,
    disagrees: bool,
    any: bool,
}

/// A line without the `<?xml …?>` in front of an element.
fn prolog(line: &[u8]) -> &[u8] {
    let end = memmem::find(line, b"?>").filter(|_| line.starts_with(b"<?xml"));
    end.map_or(line, |at| line[at + 2..].trim_ascii_start())
}

/// The last part of a path of either kind.
fn file(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The class of a full name: what stands before the last dot outside arguments.
fn class(name: &str) -> &str {
    let end = name.find(['(', '<', '"']).unwrap_or(name.len());
    name[..end].rfind('.').map_or("", |dot| &name[..dot])
}

/// The status of an `NUnit` case.
fn nunit(tag: &Tag<'_>) -> TestStatus {
    let attribute = |name: &str| tag.attribute(name);
    match attribute("result").as_deref() {
        Some("Passed" | "Success" | "Warning") => TestStatus::Passed,
        Some("Failed") => match attribute("label").as_deref() {
            Some("Error" | "Invalid" | "Cancelled") => TestStatus::Error,
            _ => TestStatus::Failed,
        },
        Some("Failure") => TestStatus::Failed,
        Some("Error" | "NotRunnable" | "Cancelled") => TestStatus::Error,
        Some(_) => TestStatus::Skipped,
        // NUnit before 2.5 says it in two words.
        None if attribute("executed").is_some_and(|yes| yes.eq_ignore_ascii_case("false")) => {
            TestStatus::Skipped
        }
        None if attribute("success").is_some_and(|yes| yes.eq_ignore_ascii_case("false")) => {
            TestStatus::Failed
        }
        None => TestStatus::Passed,
    }
}

impl Sink for Reports {
    const ROOTS: &'static [&'static str] = &[
        "test-run",
        "test-results",
        "assemblies",
        "assembly",
        "test-suite",
    ];

    fn inside(&self) -> bool {
        self.root.is_some()
    }

    fn open(&mut self, tag: &Tag<'_>) {
        let root = Self::ROOTS
            .iter()
            .find(|root| root.as_bytes() == tag.name)
            .copied();
        if let Some(root) = root {
            let nested = root == "assembly" && self.root == Some("assemblies");
            if root == "test-suite" {
                self.suite(tag);
                return;
            }
            if !nested {
                if self.root.is_some() {
                    self.cut(tag.line);
                }
                self.root = Some(root);
            }
            self.declare(root, tag);
            return;
        }
        match tag.name {
            b"test-case" => {
                let name = tag
                    .attribute("fullname")
                    .or_else(|| tag.attribute("name"))
                    .unwrap_or_default();
                let module = tag.attribute("classname");
                let module = module.as_deref().unwrap_or_else(|| class(&name));
                let module = module.to_owned();
                self.begin(module, name.into_owned(), nunit(tag));
            }
            b"test" if matches!(self.root, Some("assemblies" | "assembly")) => {
                let status = match tag.attribute("result").as_deref() {
                    Some("Pass") => TestStatus::Passed,
                    Some("Fail") => TestStatus::Failed,
                    _ => TestStatus::Skipped,
                };
                let name = tag.attribute("name").unwrap_or_default();
                let module = tag.attribute("type").unwrap_or_default();
                self.begin(module.into_owned(), name.into_owned(), status);
            }
            // Some writers of the oldest form say it in no other way.
            b"failure" => {
                if let Some((_, _, status @ TestStatus::Passed)) = &mut self.case {
                    *status = TestStatus::Failed;
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if matches!(name, b"test-case" | b"test") {
            self.record();
        }
        if name == b"test-suite" {
            self.suites = self.suites.saturating_sub(1);
            if self.suites > 0 {
                return;
            }
        }
        if self.root.is_some_and(|root| root.as_bytes() == name) {
            self.end();
        }
    }

    fn cut(&mut self, line: u64) {
        self.end();
        self.broken += 1;
        self.disagrees = true;
        self.log.warn(Some(line), "the document stops here");
    }
}

impl Reports {
    /// A suite, which may be a root: a report of one assembly.
    fn suite(&mut self, tag: &Tag<'_>) {
        if self.root.is_none() {
            self.root = Some("test-suite");
            self.suites = 0;
            self.declare("test-suite", tag);
        }
        self.suites = self.suites.saturating_add(1);
        if tag.attribute("type").as_deref() == Some("Assembly") {
            let name = tag.attribute("name").unwrap_or_default();
            self.assembly.clear();
            self.assembly.push_str(file(&name));
        }
    }

    /// Takes what a root declares.
    fn declare(&mut self, root: &str, tag: &Tag<'_>) {
        let number = |name: &str| tag.number(name);
        let mut totals = Totals {
            total: number("total"),
            passed: number("passed"),
            failed: number("failed"),
            skipped: number("skipped"),
            ..Totals::default()
        };
        match root {
            "test-results" => {
                let path = tag.attribute("name").unwrap_or_default();
                self.assembly.clear();
                self.assembly.push_str(file(&path));
                // Here the total is that of the tests that ran.
                totals.total = totals
                    .total
                    .map(|ran| ran.saturating_add(number("not-run").unwrap_or(0)));
                totals.failed = number("failures");
                totals.errors = number("errors");
                totals.skipped = None;
            }
            "assembly" => {
                let path = tag.attribute("name").unwrap_or_default();
                self.assembly.clear();
                self.assembly.push_str(file(&path));
                if number("errors").is_some_and(|errors| errors > 0) {
                    self.log
                        .warn(Some(tag.line), "the assembly had errors outside its tests");
                }
            }
            "assemblies" => return,
            _ => {}
        }
        self.declared.add(totals);
    }

    fn begin(&mut self, module: String, name: String, status: TestStatus) {
        self.record();
        self.case = Some((module, name, status));
    }

    /// Records the case that is open.
    fn record(&mut self) {
        let Some((module, name, status)) = self.case.take() else {
            return;
        };
        self.cases += 1;
        if name.trim().is_empty() {
            self.log.warn(None, "a test case without a name");
            return;
        }
        if self.assembly.is_empty() {
            self.log.record(&module, &name, &name, status);
        } else {
            let qualified = [self.assembly.as_str(), &name].join("::");
            self.log.record(&module, &qualified, &name, status);
        }
    }

    fn end(&mut self) {
        self.record();
        // A lone `<assembly>` may be anything else's.
        self.begun +=
            u64::from(!matches!(self.root, Some("assembly" | "test-suite")) || self.cases > 0);
        self.root = None;
        self.suites = 0;
        self.assembly.clear();
        let cases = std::mem::take(&mut self.cases);
        let declared = std::mem::take(&mut self.declared);
        if declared != Totals::default() {
            self.any = true;
            self.disagrees |= declared.total.is_some_and(|total| total != cases);
            self.log.add_totals(declared);
        }
    }
}

impl Documents for Reports {
    fn finish(mut self) -> ParsedLog {
        if self.any || self.broken > 0 {
            self.log.set_consistent(!self.disagrees);
        }
        let outcome = if self.begun == 0 {
            RunOutcome::NothingRan
        } else if self.broken > 0 {
            RunOutcome::Truncated
        } else if self.log.recorded() == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        self.log.finish(outcome)
    }
}
