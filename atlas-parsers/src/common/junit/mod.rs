//! JUnit XML: the report that pytest, Surefire, Gradle, node:test, jest-junit, gotestsum and many
//! others write.
//!
//! The log may hold several documents and any text around them. A document begins at `<testsuites`
//! or `<testsuite`; one that stops in the middle, or is no XML from some place on, keeps what stood
//! before.
//!
//! A test's name is `classname::name`, or `name` where it has no class. The qualified id puts the
//! file in front, or, where cases name no file, the path of suites that is not already in the
//! class. A case with several verdicts has the worst of them; one named twice is recorded twice.
//! A case that stands for a file, module or package that did not load is no test.

mod document;

use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::xml;
use document::Reports;
use memchr::memmem;

/// The parser.
pub(crate) static JUNIT: Shipped = Shipped::new(
    "junit",
    &About {
        aliases: &["junit_xml", "xunit_xml"],
        ..About::new(
            "JUnit XML documents of any writer, one or many, with any text around them",
            "unexpected passes, which most writers count as passed; duplicates that the writer merged; what \
             the writer leaves out, such as time limits in Meson's report",
        )
    },
    mark,
    || Box::new(Reader::default()),
)
.looking(&[
    Look(["<", "*"], "<", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    let line = line.trim_ascii_start();
    if line.first() != Some(&b'<') {
        return None;
    }
    let has = |part: &[u8]| memmem::find(line, part).is_some();
    // Other formats have a `<testsuites>` too, but no cases in it.
    if line.starts_with(b"<testcase ") || line.starts_with(b"<test") && has(b"<testcase ") {
        return Place::Within.certain("a `<testcase` element");
    }
    if line.starts_with(b"<testsuite") || line.starts_with(b"<?xml") && has(b"<testsuite") {
        return Some(if has(b"<testcase ") {
            Mark::certain(Place::Within, "a `<testcase` element")
        } else {
            Mark::hint(Place::Start, "a `<testsuite` element")
        });
    }
    // What tests printed may stand between the last case and this.
    let ended = line.starts_with(b"</testsuite") || line.ends_with(b"</testsuites>");
    ended.then_some(Mark::close("a `</testsuite>`"))
}

/// Reads the documents of a log.
pub(crate) type Reader = xml::Reader<Reports>;
