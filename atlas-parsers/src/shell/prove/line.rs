//! Lines of the harness itself.

use crate::common::tap::line::number;

/// `t/a.t ...... ok`: the line that names a test file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) file: &'a [u8],
    /// File and dots: the same for all files of a run.
    pub(super) width: usize,
    pub(super) end: Option<End<'a>>,
}

/// How a file came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End<'a> {
    Ok,
    Skipped,
    /// `Dubious, test returned 255`: not its last line.
    Dubious,
    /// `Failed 3/5 subtests`: how many there should have been.
    Failed(u64),
    /// `All 1 subtests passed`, though the process failed.
    AllPassed,
    /// `No subtests run`.
    Nothing,
    /// Its count so far, written over by what comes next.
    Progress(&'a [u8]),
}

/// Reads the line that names a file. Names with blanks are believed if they end like a script.
pub(super) fn header(line: &[u8]) -> Option<Header<'_>> {
    let line = stamp(line).map_or(line, <[u8]>::trim_ascii_start);
    if line.first().is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    let at = memchr::memmem::find(line, b" ..")?;
    let file = &line[..at];
    let after = &line[at + 1..];
    let dots = after.iter().take_while(|byte| **byte == b'.').count();
    let rest = &after[dots..];
    if rest.first().is_some_and(|next| *next != b' ') {
        return None;
    }
    let script = file.ends_with(b".t") || !file.iter().any(u8::is_ascii_whitespace);
    if !script || file.starts_with(b"#") {
        return None;
    }
    let rest = rest.trim_ascii();
    let end = if rest.is_empty() {
        None
    } else {
        Some(end(rest).or_else(|| progress(rest))?)
    };
    Some(Header {
        file,
        width: file.len() + dots,
        end,
    })
}

/// `1/18`, `3/?`.
fn progress(text: &[u8]) -> Option<End<'_>> {
    let at = memchr::memchr(b'/', text)?;
    number(&text[..at])?;
    let of = &text[at + 1..];
    (of == b"?" || number(of).is_some()).then_some(End::Progress(text))
}

/// Reads the line that tells how a file came out.
pub(super) fn end(line: &[u8]) -> Option<End<'_>> {
    match line.first()? {
        b'o' => ok(line).then_some(End::Ok),
        b's' => line.starts_with(b"skipped: ").then_some(End::Skipped),
        b'D' => line
            .starts_with(b"Dubious, test returned ")
            .then_some(End::Dubious),
        b'F' => {
            let rest = line.strip_prefix(b"Failed ")?;
            let rest = rest.trim_ascii_end().strip_suffix(b" subtests")?;
            let at = memchr::memchr(b'/', rest)?;
            // More points than planned are a negative number of failures.
            number(rest[..at].strip_prefix(b"-").unwrap_or(&rest[..at]))?;
            Some(End::Failed(number(&rest[at + 1..])?))
        }
        b'A' => {
            let rest = line.strip_prefix(b"All ")?;
            let rest = rest.trim_ascii_end().strip_suffix(b" subtests passed")?;
            number(rest).map(|_| End::AllPassed)
        }
        b'N' => (line.trim_ascii_end() == b"No subtests run").then_some(End::Nothing),
        _ => None,
    }
}

/// `ok`, or `ok` with the time that it took.
fn ok(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"ok") else {
        return false;
    };
    let time = rest.trim_ascii();
    if time.is_empty() {
        return true;
    }
    // The number is padded to eight places.
    let digits = time.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let padded = rest.starts_with(b"  ") || digits >= 8 || time.starts_with(b"<1 s");
    let unit = &time[digits..];
    padded && (unit.starts_with(b" ms") || unit.starts_with(b" s") || time.starts_with(b"<1 s"))
}

/// What follows `[20:54:19]`.
pub(super) fn stamp(line: &[u8]) -> Option<&[u8]> {
    if line.first() != Some(&b'[') {
        return None;
    }
    let clock = line.get(1..10)?;
    let fits = clock.iter().enumerate().all(|(at, byte)| match at {
        2 | 5 => *byte == b':',
        8 => *byte == b']',
        _ => byte.is_ascii_digit(),
    });
    fits.then(|| &line[10..])
}

/// `Files=7, Tests=25, 20 wallclock secs …`.
pub(super) fn files(line: &[u8]) -> Option<(u64, u64)> {
    let rest = line.strip_prefix(b"Files=")?;
    let comma = memchr::memchr(b',', rest)?;
    let files = number(&rest[..comma])?;
    let rest = rest[comma + 1..].strip_prefix(b" Tests=")?;
    let comma = memchr::memchr(b',', rest)?;
    let tests = number(&rest[..comma])?;
    Some((files, tests))
}

/// `t/a.t  (Wstat: 256 (exited 1) Tests: 3 Failed: 1)`: the file, and whether it failed.
pub(super) fn summary(line: &[u8]) -> Option<(&[u8], bool)> {
    if line.first().is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    let at = memchr::memmem::rfind(line, b"(Wstat: ")?;
    let facts = &line[at + b"(Wstat: ".len()..];
    let failed = memchr::memmem::find(facts, b"Failed: ")?;
    let failures = facts[failed + b"Failed: ".len()..].strip_suffix(b")")?;
    let clean = number(failures)? == 0 && facts.starts_with(b"0 ");
    Some((line[..at].trim_ascii_end(), !clean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_a_file_dots_and_nothing_but_a_result() {
        let read = |line: &'static str| header(line.as_bytes());
        let plain = read("t/a.t .... ok").expect("a header");
        assert_eq!((plain.file, plain.width), (&b"t/a.t"[..], 9));
        assert_eq!(plain.end, Some(End::Ok));
        let timed = read("[20:54:19] t/a.t .. ok     1509 ms ( 0.00 usr)").expect("a header");
        assert_eq!((timed.file, timed.end), (&b"t/a.t"[..], Some(End::Ok)));
        assert_eq!(read("t/a.t .. ").expect("a header").end, None);
        assert!(read("Checking whether all is well ... ok").is_none());
        assert!(read("t/a.t .. okay").is_none());
        assert!(read("t/a.t ..ok").is_none());
        assert!(read("t/my test.t .. 1/? ").is_some());
    }

    #[test]
    fn a_time_is_padded() {
        assert!(ok(b"ok"));
        assert!(ok(b"ok      509 ms ( 0.00 usr  0.00 sys)"));
        assert!(ok(b"ok       <1 s"));
        assert!(!ok(b"ok 509 ms"));
        assert!(!ok(b"ok 1 - a"));
    }
}
