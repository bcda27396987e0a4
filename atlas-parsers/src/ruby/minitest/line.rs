//! minitest's own lines.

use crate::edges::behind_any;
use atlas_core::TestStatus;

/// An entry of the list of failures.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) status: TestStatus,
}

/// `11 runs, 7 assertions, 3 failures, 1 errors, 2 skips`; before version 5, `tests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) runs: u64,
    pub(super) failures: u64,
    pub(super) errors: u64,
    pub(super) skips: u64,
}

impl Summary {
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        if line.len() > 200 || !line.contains(&b',') {
            return None;
        }
        let text = std::str::from_utf8(line).ok()?.trim();
        let mut counts = [0_u64; 5];
        let mut parts = text.split(", ");
        for (at, words) in [
            &["runs", "tests"][..],
            &["assertions"],
            &["failures"],
            &["errors"],
            &["skips"],
        ]
        .iter()
        .enumerate()
        {
            let (count, word) = parts.next()?.split_once(' ')?;
            if !words.contains(&word) {
                return None;
            }
            counts[at] = count.parse().ok()?;
        }
        parts.next().is_none().then_some(Self {
            runs: counts[0],
            failures: counts[2],
            errors: counts[3],
            skips: counts[4],
        })
    }

    /// A line's summary and what stands behind it without a line end; of any other line all.
    pub(super) fn glued(line: &[u8]) -> (&[u8], &[u8]) {
        const LAST: &[u8] = b" skips";
        memchr::memmem::find(line, LAST)
            .filter(|_| line.first().is_some_and(u8::is_ascii_digit))
            .and_then(|at| line.split_at_checked(at + LAST.len()))
            .filter(|(summary, _)| Self::read(summary).is_some())
            .unwrap_or((line, b""))
    }
}

/// What stands behind a line that the runner prints behind its counts, where a run that a test prints
/// has no line end; of any other line all.
pub(super) fn behind_advice(line: &[u8]) -> &[u8] {
    const ADVICE: &[u8] = b"You have skipped tests. Run with --verbose for details.";
    line.strip_prefix(ADVICE).unwrap_or(line)
}

/// What a run begins with.
pub(super) fn is_start(line: &[u8]) -> bool {
    match line.first() {
        Some(b'#') => {
            matches!(line, b"# Running:" | b"# Running tests:")
                || line.starts_with(b"# Running tests with run options ")
        }
        Some(b'R') => line.starts_with(b"Run options: "),
        Some(b'S') => line.starts_with(b"Started with run options "),
        _ => false,
    }
}

/// Whether the options have `-v` or `--verbose`.
pub(super) fn is_verbose(options: &[u8]) -> bool {
    options.split(|b| *b == b' ').any(|option| {
        option == b"--verbose"
            || option.len() < 4 && option.first() == Some(&b'-') && option.ends_with(b"v")
    })
}

/// `Finished in 0.065266s, …`, `Finished tests in 0.1s, …`.
pub(super) fn is_finished(line: &[u8]) -> bool {
    let rest = behind_any(line, &[b"Finished in ", b"Finished tests in "]);
    let Some(rest) = rest else {
        return false;
    };
    let digits = rest
        .iter()
        .take_while(|b| b.is_ascii_digit() || **b == b'.')
        .count();
    digits > 0
        && rest.get(digits) == Some(&b's')
        && (rest.len() == digits + 1 || rest[digits + 1] == b',')
}

/// `0.00 s = F` at the end: where it begins, and what it says.
pub(super) fn result(line: &[u8]) -> Option<(usize, TestStatus)> {
    let line = line.trim_ascii_end();
    let (code, rest) = line.split_last()?;
    let status = match code {
        b'.' => TestStatus::Passed,
        b'F' => TestStatus::Failed,
        b'E' => TestStatus::Error,
        b'S' => TestStatus::Skipped,
        _ => return None,
    };
    // minitest-reporters has no unit: `Class#test 0.00 = .`
    let rest = rest.strip_suffix(b" = ")?;
    let rest = rest.strip_suffix(b" s").unwrap_or(rest);
    let part = rest.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let rest = &rest[..rest.len() - part];
    let rest = rest.strip_suffix(b".")?;
    let whole = rest.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    (part == 2 && whole > 0).then(|| (rest.len() - whole, status))
}

/// The names in front of a result: `A#test_x = ` and, of tests at the same time, more of them.
/// `open` says that the result comes in another line.
pub(super) fn names(head: &str, open: bool) -> Vec<&str> {
    /// One line cannot announce more tests at once than threads would run.
    const MAX_NAMES: usize = 64;
    let mut names = Vec::new();
    let mut rest = head;
    if is_name(rest.trim_end()) && !rest.contains(" = ") {
        // minitest-reporters puts a blank only, and what the test prints follows it.
        return vec![if open {
            first_words(rest)
        } else {
            rest.trim_end()
        }];
    }
    while names.len() < MAX_NAMES {
        let mut from = 0;
        let found = loop {
            let Some(at) = rest[from..].find(" = ").map(|at| from + at) else {
                break None;
            };
            // A title may hold ` = ` itself, or end with ` =`: the name ends where another begins, or the head does.
            if rest[at + 2..].starts_with(" = ") {
                from = at + 2;
                continue;
            }
            let after = &rest[at + 3..];
            if after.is_empty() || starts_name(after) || !after.contains(" = ") {
                break Some(at);
            }
            from = at + 3;
        };
        let Some(at) = found else {
            break;
        };
        if !is_name(&rest[..at]) || is_output(&rest[..at]) {
            break;
        }
        names.push(&rest[..at]);
        rest = &rest[at + 3..];
    }
    names
}

/// Whether a line is a name whose result follows.
pub(super) fn is_open(line: &[u8]) -> bool {
    line.ends_with(b" = ") && !names(&String::from_utf8_lossy(line), true).is_empty()
}

/// A name without what a test printed behind it: only those of specs, `A b#test_0001_does it`, have
/// blanks.
fn first_words(text: &str) -> &str {
    let (class, method) = split(text).unwrap_or(("", text));
    let number = method.strip_prefix("test_").and_then(|rest| rest.get(..5));
    let spec = number.is_some_and(|number| {
        number.ends_with('_') && number[..4].bytes().all(|b| b.is_ascii_digit())
    });
    match method.find(' ') {
        Some(blank) if !spec => &text[..class.len() + 1 + blank],
        _ => text.trim_end(),
    }
}

/// The class and the method of a name. A spec's class is what its blocks describe, `#size` among it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let mut ends = text.match_indices('#').map(|(at, _)| at);
    ends.find(|at| is_method(&text[at + 1..]))
        .map(|at| (&text[..at], &text[at + 1..]))
}

/// `TestCalc#test_unicode_é`, `Spec style::nested ctx#test_0001_deep: x`.
fn is_name(text: &str) -> bool {
    split(text).is_some_and(|(class, _)| {
        !class.is_empty() && !class.starts_with(char::is_whitespace) && class.len() < 1000
    })
}

/// Whether a name goes on with a result: one that does not end its line is a test's output.
fn is_output(name: &str) -> bool {
    name.rsplit_once(" = ").is_some_and(|(_, time)| {
        time.strip_suffix(" s").is_some_and(|time| {
            time.bytes().all(|b| b.is_ascii_digit() || b == b'.') && time.contains('.')
        })
    })
}

fn is_method(method: &str) -> bool {
    method.starts_with("test") || method.starts_with("bench_")
}

fn starts_name(text: &str) -> bool {
    text.find(" = ").is_some_and(|end| is_name(&text[..end]))
}

/// `  1) Failure:`.
pub(super) fn label(line: &[u8]) -> Option<(u64, TestStatus)> {
    let text = line.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 || digits > 9 {
        return None;
    }
    let rest = text[digits..].strip_prefix(b") ")?;
    let number = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    Some((number, bare_label(rest)?))
}

/// `Failure:`, `Error:`, `Skipped:`.
pub(super) fn bare_label(line: &[u8]) -> Option<TestStatus> {
    Some(match line {
        b"Failure:" => TestStatus::Failed,
        b"Error:" => TestStatus::Error,
        b"Skipped:" => TestStatus::Skipped,
        _ => return None,
    })
}

/// The id in `Class#test [file:1]:`, `Class#test:`, or, before version 5, `test(Class) [file:1]:`.
pub(super) fn location(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    let text = text.strip_suffix(':').unwrap_or(text);
    let name = match text
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once(" ["))
    {
        Some((name, place)) if place.contains(':') => name,
        _ => text,
    };
    if is_name(name) {
        return Some(name.to_owned());
    }
    let (method, class) = name.strip_suffix(')')?.rsplit_once('(')?;
    let named = !class.is_empty() && class.starts_with(|c: char| c.is_ascii_uppercase());
    (named && is_method(method)).then(|| format!("{class}#{method}"))
}

/// An error of Ruby that ends a process, `t.rb:1: … (LoadError)`, or a signal.
pub(super) fn death(line: &[u8]) -> Option<String> {
    let load = line.ends_with(b"(LoadError)")
        || line.ends_with(b"(SyntaxError)")
        || line.ends_with(b"(NameError)")
        || line.ends_with(b"(RuntimeError)")
        || line.ends_with(b"(NoMethodError)")
        || line.ends_with(b"(ArgumentError)");
    let place = line.first().is_some_and(|b| !b.is_ascii_whitespace())
        && (memchr::memmem::find(line, b": ").is_some()
            && memchr::memmem::find(line, b".rb:").is_some()
            || line.starts_with(b"<internal:"));
    let signal = memchr::memmem::find(line, b": [BUG] ").is_some();
    (load && place || signal)
        .then(|| String::from_utf8_lossy(&line[..line.len().min(2000)]).into_owned())
}
