//! The lines that cargo and libtest print of themselves.

use crate::edges::{before_any, behind_any};
use crate::text::has_blank;
use atlas_core::{TestStatus, Totals};

/// What stands after `test name ... `.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Status(TestStatus),
    /// A measured benchmark, which is no test but fills a place in the count.
    Measured,
}

/// Reads an outcome that fills the rest of a line.
pub(super) fn outcome(text: &str) -> Option<Outcome> {
    let text = text.trim_end();
    // `--report-time` appends `<0.012s>`.
    let text = match text.rsplit_once(" <") {
        Some((head, time)) if time.ends_with("s>") => head,
        _ => text,
    };
    let text = text.strip_suffix(" (time limit exceeded)").unwrap_or(text);
    match text {
        "ok" => Some(Outcome::Status(TestStatus::Passed)),
        "FAILED" => Some(Outcome::Status(TestStatus::Failed)),
        "ignored" => Some(Outcome::Status(TestStatus::Skipped)),
        _ if text.starts_with("ignored, ") => Some(Outcome::Status(TestStatus::Skipped)),
        _ if text.starts_with("bench: ") && text.contains(" ns/iter") => Some(Outcome::Measured),
        _ => None,
    }
}

/// The outcome at the end of a line that begins with a test's own output.
pub(super) fn trailing_outcome(line: &[u8]) -> Option<TestStatus> {
    let line = line.trim_ascii_end();
    if line.ends_with(b"ok") {
        Some(TestStatus::Passed)
    } else if line.ends_with(b"FAILED") {
        Some(TestStatus::Failed)
    } else if line == b"ignored" {
        Some(TestStatus::Skipped)
    } else {
        None
    }
}

/// The outcome at the beginning of a line that goes on with another thread's output.
pub(super) fn leading_outcome(line: &[u8]) -> Option<TestStatus> {
    if line.starts_with(b"ok") {
        Some(TestStatus::Passed)
    } else if line.starts_with(b"FAILED") {
        Some(TestStatus::Failed)
    } else if line.starts_with(b"ignored") {
        Some(TestStatus::Skipped)
    } else {
        None
    }
}

/// A test's path and the remark that libtest prints behind it, blank and dash included.
pub(super) fn remark(name: &str) -> (&str, &'static str) {
    [" - should panic", " - compile fail", " - compile"]
        .into_iter()
        .find_map(|remark| Some((name.strip_suffix(remark)?, remark)))
        .unwrap_or((name, ""))
}

/// Whether a text can be a test's id: a path without blanks, or a doc test `file - item (line N)`.
pub(super) fn is_name(name: &str) -> bool {
    let (name, _) = remark(name);
    !name.is_empty()
        && !is_file(name)
        && (!name.contains(' ') || name.contains("(line ") && name.ends_with(')'))
}

/// The name in `test NAME ... ok`, which nearly every line of a run is; none with a blank in it.
pub(super) fn plain_pass(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... ok")?;
    (!name.is_empty() && !has_blank(name.as_bytes()) && !is_file(name)).then_some(name)
}

/// `tests/ui/wrong.rs`: what trybuild says of a file stands among the tests of its run, and harnesses
/// that imitate libtest may name tests so.
#[inline]
fn is_file(name: &str) -> bool {
    name.as_bytes().ends_with(b".rs") && memchr::memchr2(b'/', b'\\', name.as_bytes()).is_some()
}

/// Splits `test NAME ... REST`.
pub(super) fn test_line(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line
        .strip_prefix("test ")?
        .split_once(" ... ")
        .or_else(|| {
            // A line that was cut or trimmed right after the dots.
            Some((line.strip_prefix("test ")?.strip_suffix(" ...")?, ""))
        })?;
    is_name(name).then_some((name, rest))
}

/// `test some words ... ok`, `test a/file.rs ... ok`, as harnesses that imitate libtest print it.
pub(super) fn spaced_test(line: &[u8]) -> Option<(&str, TestStatus)> {
    let rest = line.strip_prefix(b"test ")?;
    let (name, rest) = std::str::from_utf8(rest).ok()?.rsplit_once(" ... ")?;
    match outcome(rest)? {
        Outcome::Status(status) if !name.trim().is_empty() && !is_name(name) => {
            Some((name, status))
        }
        _ => None,
    }
}

/// `running 17 tests`
pub(super) fn running(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    before_any(rest, &[" tests", " test"])?.parse().ok()
}

/// `test result: ok. 9 passed; 6 failed; 2 ignored; 0 measured; 0 filtered out; …`, with the
/// number of tests that it accounts for.
pub(super) fn summary(line: &str) -> Option<(Totals, u64)> {
    let rest = line.strip_prefix("test result: ")?;
    let rest = behind_any(rest, &["ok. ", "FAILED. "])?;
    let mut totals = Totals::default();
    let mut all = 0;
    let mut left = Some(rest);
    while let Some(text) = left {
        let mut ends = memchr::memchr_iter(b';', text.as_bytes());
        let end = ends.find(|at| text.as_bytes().get(at + 1) == Some(&b' '));
        let part = &text[..end.unwrap_or(text.len())];
        left = end.map(|end| &text[end + 2..]);
        let Some(blank) = part.bytes().position(|byte| byte == b' ') else {
            continue;
        };
        let Ok(number) = part[..blank].parse::<u64>() else {
            continue;
        };
        match &part[blank + 1..] {
            "passed" => totals.passed = Some(number),
            "failed" => totals.failed = Some(number),
            "ignored" => totals.skipped = Some(number),
            "measured" => {}
            _ => continue,
        }
        all = number.saturating_add(all);
    }
    totals.passed.and(totals.failed)?;
    Some((totals, all))
}

/// A binary that cargo announces before it runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binary {
    /// `lib_a`, `integration`, `Doc-tests lib_a`.
    pub(super) name: String,
    /// What tells two binaries of one name apart: the file name with its hash.
    pub(super) file: String,
}

/// `     Running unittests src/lib.rs (target/debug/deps/lib_a-32b0e9ab456ab632)`
pub(super) fn binary(line: &str) -> Option<Binary> {
    let text = line.trim_start();
    if text.len() == line.len() {
        return None;
    }
    if let Some(name) = text.strip_prefix("Doc-tests ") {
        return (!name.contains(' ')).then(|| Binary {
            name: format!("Doc-tests {name}"),
            file: text.to_owned(),
        });
    }
    let rest = text.strip_prefix("Running ")?;
    let path = match memchr::memrchr(b'(', rest.as_bytes()) {
        Some(open) => rest[open + 1..].strip_suffix(')')?,
        None => rest, // cargo before 1.56 prints the path alone
    };
    let path = path.trim_matches('`');
    let path = &path[..memchr::memchr(b' ', path.as_bytes()).unwrap_or(path.len())];
    let folder = memchr::memrchr2(b'/', b'\\', path.as_bytes())?;
    let file = &path[folder + 1..];
    let file = file.strip_suffix(".exe").unwrap_or(file);
    let dash = memchr::memrchr(b'-', file.as_bytes());
    let name = match dash.map(|dash| (&file[..dash], &file[dash + 1..])) {
        Some((stem, hash))
            if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            stem
        }
        _ => file,
    };
    (!name.is_empty()).then(|| Binary {
        name: name.to_owned(),
        file: file.to_owned(),
    })
}

/// `error: test failed, to rerun pass` with the arguments that choose the binary.
#[derive(Debug)]
pub(super) struct Rerun {
    /// The binary's name; absent where cargo does not say which crate `--lib` means.
    pub(super) target: Option<String>,
}

/// Reads the line that cargo prints behind a failed binary.
pub(super) fn rerun(line: &str) -> Option<Rerun> {
    let at = line
        .find("error: test failed, to rerun pass ")
        .or_else(|| line.find("error: doctest failed, to rerun pass "))?;
    let (_, arguments) = line[at..].split_once("pass ")?;
    let arguments = arguments.trim().trim_matches(['`', '\'']);
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let after = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).copied()
    };
    let package = after("-p").map(|package| {
        let package = package.rsplit(['/', '#']).next().unwrap_or(package);
        package.split('@').next().unwrap_or(package)
    });
    let target = if words.contains(&"--doc") {
        package.map(|package| format!("Doc-tests {}", crate_name(package)))
    } else {
        ["--test", "--bin", "--example", "--bench"]
            .iter()
            .find_map(|flag| after(flag))
            .or(package)
            .map(crate_name)
    };
    Some(Rerun { target })
}

/// A package's or target's name as rustc has it.
pub(super) fn crate_name(name: &str) -> String {
    name.replace('-', "_")
}

/// `error: could not compile `smallvec` (test "macro") due to 2 previous errors`: the binary's name.
pub(super) fn not_compiled(line: &str) -> Option<String> {
    let rest = line.strip_prefix("error: could not compile `")?;
    let (package, rest) = rest.split_once('`')?;
    let target = rest
        .strip_prefix(" (")
        .and_then(|rest| rest.split_once('"'))
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(target, _)| target);
    Some(crate_name(target.unwrap_or(package)))
}
