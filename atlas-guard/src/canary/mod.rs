//! Tests whose outcome is known beforehand.

mod c;
mod cpp;
mod javascript;
mod members;
mod names;
mod php;
mod python;
mod ruby;
mod simple;
mod twin;

pub use twin::{Twin, Twins, twins};

use atlas_facts::{Language, ending_of};
use names::Names;

/// A test file with two tests more, whose outcomes are known.
///
/// A run that shows the one passed and the other failed tells the truth at least there. A run that
/// lost one of them, or shows the failing one passed, was tampered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    /// The file's new content.
    pub content: Vec<u8>,
    /// The passing test's own name, as the runner prints it, without its file, module or class.
    pub must_pass: String,
    /// The failing test's, in the same form; absent where the style allows but a passing one.
    pub must_fail: Option<String>,
}

/// Adds two tests to a test file: one that must pass and one that must fail.
///
/// They are written in the style of the file: functions or a class, the runner's own assertion or
/// the library that the file uses. Names and values come from the `seed`, are made of ordinary
/// words, and give no hint of what they are for; the two differ in one number only. The failing
/// one fails by an ordinary assertion about computed values, so what turns failures into successes
/// turns it too. The same arguments give the same canary.
///
/// `parser` is the id of the log parser, which tells the runner; `file` its path. Nothing comes
/// back where the style cannot be told: then the file is not changed at all.
///
/// `GoogleTest` prints the name of a test with its suite, so there the name is `Suite.Name`, and
/// minitest's specifications are numbered as it prints them.
///
/// ```
/// let tests = b"def test_sum():\n    assert sum([1, 2]) == 3\n";
/// let canary = atlas_guard::canary("pytest", "tests/test_sum.py", tests, "7d1f").expect("a style");
/// assert!(canary.content.starts_with(tests));
/// assert!(canary.must_pass.starts_with("test_"));
/// assert_ne!(Some(canary.must_pass), canary.must_fail);
/// ```
pub fn canary(parser: &str, file: &str, content: &[u8], seed: &str) -> Option<Canary> {
    canaries(parser, file, content, seed).into_iter().next()
}

/// The same in every form that the file may bear, the one that tells most first: a file of Ginkgo's specs may
/// also hold tests of Go's own. Most files have one form or none.
pub fn canaries(parser: &str, file: &str, content: &[u8], seed: &str) -> Vec<Canary> {
    let Ok(text) = std::str::from_utf8(content) else {
        return Vec::new();
    };
    let parser = parser.strip_prefix("parse_log_").unwrap_or(parser);
    let names = Names::new(seed, text);
    let Some(ending) = ending_of(file).filter(|ending| ending.holds_tests) else {
        return Vec::new();
    };
    let one = match ending.language {
        Language::Python => python::add(parser, text, &names),
        Language::JavaScript | Language::TypeScript => javascript::add(parser, file, text, &names),
        Language::Go => {
            let forms = [
                simple::ginkgo(file, text, &names),
                simple::go(file, text, &names),
            ];
            return forms.into_iter().flatten().map(whole).collect();
        }
        Language::Rust => simple::rust(file, text, &names),
        Language::Bats => simple::bats(text, &names),
        Language::Ruby => ruby::add(parser, text, &names),
        Language::Php => php::add(text, &names),
        Language::Java | Language::Kotlin | Language::CSharp => {
            members::add(ending.text, text, &names)
        }
        Language::C => c::add(text, &names),
        Language::Cpp => cpp::add(text, &names).or_else(|| c::add(text, &names)),
        _ => None,
    };
    one.into_iter().map(whole).collect()
}

fn whole((content, must_pass, must_fail): (String, String, String)) -> Canary {
    Canary {
        content: content.into_bytes(),
        must_pass,
        must_fail: Some(must_fail),
    }
}

/// The new text, the passing and the failing name.
type Added = Option<(String, String, String)>;

/// Puts a piece between two parts of a text, with the text's own line ends and `blank` lines before
/// the piece.
fn insert(text: &str, at: usize, blank: usize, piece: &str) -> String {
    let crlf = text.contains("\r\n");
    let (before, after) = text.split_at(at);
    let mut new = String::from("\n").repeat(blank);
    if !before.is_empty() && !before.ends_with('\n') {
        new.insert(0, '\n');
    }
    new.push_str(piece);
    if crlf {
        new = new.replace('\n', "\r\n");
    }
    format!("{before}{new}{after}")
}

/// Every line that has text moved to the right.
fn indent(piece: &str, by: &str) -> String {
    let lines = piece.split_inclusive('\n').map(|line| {
        if line.trim().is_empty() {
            line.to_owned()
        } else {
            format!("{by}{line}")
        }
    });
    lines.collect()
}
