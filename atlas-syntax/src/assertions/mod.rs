//! Tests made to fail on purpose, by their syntax.
//!
//! A log parser is worth what it sees of real failures. Here a failing statement is written into
//! each test of a file, in front of its first assertion, so that exactly those tests must turn red.
//! The assertions themselves stay: taking them out would leave unused variables, which some
//! compilers refuse, and code that cannot be reached is hidden from compilers that refuse that.

mod find;
mod rewrite;
mod statement;

pub use rewrite::{rewrite_test, text_of_test};

use crate::{Language, parse};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use tree_sitter::{Node, Tree};

/// A test into which a failure was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectedFailure {
    /// The test's name in its source: a function's name, a title, `Suite.Name` of a macro.
    pub name: String,
    /// The line of its head, from 1, in the source as it was.
    pub line: usize,
    /// What was written.
    pub statement: String,
    /// Whether it stands in front of an assertion; otherwise it is the test's first statement.
    pub before_assertion: bool,
}

/// A test that was left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedTest {
    /// Its name.
    pub name: String,
    /// The line of its head, from 1.
    pub line: usize,
    /// Its last line.
    pub last_line: usize,
    /// Why.
    pub why: String,
    /// Whether it runs and is meant to pass, so that somebody who reads it could make it fail; false
    /// for tests that are skipped or expected to fail.
    pub could_fail: bool,
}

/// A source whose tests fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectedSource {
    /// The changed source.
    pub source: Vec<u8>,
    /// The tests that fail now, in the order of the source.
    pub injected: Vec<InjectedFailure>,
    /// Tests that were found and left: expected failures, skipped tests, unknown assertions.
    pub skipped: Vec<SkippedTest>,
}

/// One place where something is written.
struct Edit {
    at: usize,
    text: String,
    /// And behind that place.
    closing: Option<(usize, String)>,
}

/// Writes a failure into every test of a source, or into those that touch some lines (from 1), such
/// as the lines that a patch adds.
///
/// Known are the usual test functions of each language: `test_*` and pytest classes; `it` and
/// `test` calls; methods with `@Test`, `[Fact]` and the like; `func Test…(t *testing.T)`; `#[test]`;
/// `test*` methods and Pest; minitest and `RSpec`; `GoogleTest`, Catch2, doctest, Boost.Test, Check,
/// and C functions named `test…` whose assertion macros tell their framework. A change after which
/// the source would parse worse is not made.
///
/// ```
/// use atlas_syntax::{Language, inject_failures};
/// let source = b"def test_sum():\n    total = 1 + 1\n    assert total == 2\n";
/// let made = inject_failures(Language::Python, source, None);
/// let text = String::from_utf8(made.source)?;
/// assert_eq!(text, "def test_sum():\n    total = 1 + 1\n    assert False, \"injected failure\"\n    \
///                   assert total == 2\n");
/// assert_eq!(made.injected[0].name, "test_sum");
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
pub fn inject_failures(
    language: Language,
    source: &[u8],
    only: Option<&[RangeInclusive<usize>]>,
) -> InjectedSource {
    let mut made = InjectedSource {
        source: source.to_vec(),
        ..InjectedSource::default()
    };
    let Some(tree) = parse(language, source) else {
        return made;
    };
    let mut tests = find::tests(language, &tree, source);
    tests.sort_by_key(|test| std::cmp::Reverse(test.at));
    let mut faults = faults(&tree);
    for test in tests {
        let touched = only.is_none_or(|only| {
            only.iter()
                .any(|lines| *lines.start() <= test.lines.1 && test.lines.0 <= *lines.end())
        });
        if !touched {
            continue;
        }
        let mut skip = |why: String| {
            made.skipped.push(SkippedTest {
                name: test.name.clone(),
                line: test.lines.0,
                last_line: test.lines.1,
                could_fail: !find::NEVER_PASSES.contains(&why.as_str()),
                why,
            });
        };
        let planned = match test.plan {
            Ok(planned) => planned,
            Err(why) => {
                skip(why);
                continue;
            }
        };
        let mut changed = made.source.clone();
        if let Some((at, text)) = &planned.edit.closing {
            changed.splice(at..at, text.bytes());
        }
        let at = planned.edit.at;
        changed.splice(at..at, planned.edit.text.bytes());
        // Written from the end on, earlier places stay where they are.
        let after = parse(language, &changed).map_or(usize::MAX, |tree| self::faults(&tree));
        if after > faults {
            skip("the source would no longer parse".to_owned());
            continue;
        }
        faults = after;
        made.source = changed;
        made.injected.push(InjectedFailure {
            name: test.name,
            line: test.lines.0,
            statement: planned.statement,
            before_assertion: planned.before_assertion,
        });
    }
    made.injected.reverse();
    made.skipped.reverse();
    made
}

/// How many tests a source declares, skipped ones too; a test with parameters is one. Known are those
/// of [`inject_failures`].
///
/// ```
/// use atlas_syntax::{Language, count_tests};
/// assert_eq!(count_tests(Language::Go, b"func TestSum(t *testing.T) { t.Skip() }\nfunc sum() {}\n"), 1);
/// ```
pub fn count_tests(language: Language, source: &[u8]) -> usize {
    parse(language, source).map_or(0, |tree| find::tests(language, &tree, source).len())
}

/// How many places of a tree did not parse.
fn faults(tree: &Tree) -> usize {
    if !tree.root_node().has_error() {
        return 0;
    }
    let mut count = 0;
    each(tree.root_node(), &mut |node| {
        count += usize::from(node.is_error() || node.is_missing());
        node.has_error()
    });
    count
}

/// Visits a tree from the top; below a node only where the visitor says so. No recursion: sources of
/// others may be deep.
fn each<'t>(root: Node<'t>, visit: &mut dyn FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The source of a node; what is no UTF-8 is replaced.
fn text(node: Node<'_>, source: &[u8]) -> String {
    let bytes = source.get(node.byte_range()).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}
