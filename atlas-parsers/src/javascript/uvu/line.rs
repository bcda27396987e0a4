//! The lines that uvu prints.

use crate::edges::{before_any, is_decimal, is_number};

/// A line of the page that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Total,
    Passed,
    Skipped,
}

/// `  Total:     10`
pub(super) fn count(line: &[u8], count: Count) -> Option<u64> {
    let word: &[u8] = match count {
        Count::Total => b"  Total:     ",
        Count::Passed => b"  Passed:    ",
        Count::Skipped => b"  Skipped:   ",
    };
    number(line.strip_prefix(word)?)
}

/// `  Duration:  14.40ms`
pub(super) fn duration(line: &[u8]) -> Option<()> {
    let time = line.strip_prefix(b"  Duration:  ")?.strip_suffix(b"ms")?;
    is_decimal(time).then_some(())
}

/// ` title • ✘   (1 / 2)`, or its end where a test broke the line: how many passed, and of how many.
pub(super) fn suite(line: &[u8]) -> Option<(u64, u64)> {
    let head = line.strip_suffix(b")")?;
    let open = memchr::memrchr(b'(', head)?;
    let counts = &head[open + 1..];
    let slash = memchr::memchr(b'/', counts)?;
    let passed = number(counts[..slash].strip_suffix(b" ")?)?;
    let all = number(counts[slash + 1..].strip_prefix(b" ")?)?;
    let marks = head[..open].strip_suffix(b"  ")?;
    let marked = before_any(marks, &["• ".as_bytes(), "✘ ".as_bytes()]).is_some();
    // A hook ended the suite before its first test.
    let bare =
        passed == 0 && (marks.is_empty() || marks.starts_with(b" ") && marks.ends_with(b" "));
    (passed <= all && (marked || bare)).then_some((passed, all))
}

/// `   FAIL  suite  "title"`, or without a suite.
pub(super) fn failure(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"   FAIL  ")?;
    if let Some(title) = rest.strip_prefix(b"\"") {
        return Some((&[], title.strip_suffix(b"\"").unwrap_or(title)));
    }
    let at = memchr::memmem::find(rest, b"  \"")?;
    let title = &rest[at + 3..];
    Some((&rest[..at], title.strip_suffix(b"\"").unwrap_or(title)))
}

/// A path, alone on its line.
pub(super) fn is_file(line: &[u8]) -> bool {
    const ENDS: [&[u8]; 8] = [
        b".js", b".ts", b".jsx", b".tsx", b".mjs", b".cjs", b".mts", b".cts",
    ];
    before_any(line, &ENDS).is_some_and(|name| !name.is_empty() && !name.contains(&b' '))
}

fn number(digits: &[u8]) -> Option<u64> {
    if !is_number(digits) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_ends_with_a_mark_and_its_counts() {
        let read = |line: &str| suite(line.as_bytes());
        assert_eq!(read(" math  • ✘   (1 / 2)"), Some((1, 2)));
        assert_eq!(read("said• •   (2 / 2)"), Some((2, 2)));
        assert_eq!(read(" before    (0 / 2)"), Some((0, 2)));
        assert_eq!(read("  (0 / 0)"), Some((0, 0)));
        assert_eq!(read("step  (1 / 2)"), None);
        assert_eq!(read("•   (3 / 2)"), None);
    }

    #[test]
    fn a_failure_has_suite_and_title() {
        let read = |line: &'static str| failure(line.as_bytes());
        assert_eq!(
            read("   FAIL  a b  \"says \"x\"\""),
            Some((&b"a b"[..], &b"says \"x\""[..]))
        );
        assert_eq!(read("   FAIL  \"x\""), Some((&b""[..], &b"x"[..])));
        assert_eq!(read("    FAIL  \"x\""), None);
    }
}
