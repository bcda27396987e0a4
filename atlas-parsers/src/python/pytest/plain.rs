//! The lines that nearly every line of a run is, read at once.
//!
//! What is read here, [`grammar`](super::grammar) reads alike, and slower; what is not, it may read. `file`
//! is the file of the line before, which is most often that of the next: afterwards it is the one that
//! begins the id.

use super::grammar::{Progress, file_len};
use crate::text::has_blank;
use atlas_core::TestStatus;
use memchr::{memchr, memchr_iter, memrchr};

/// A line that gives a result to the test it names, and says how far the run is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain<'a> {
    pub(super) id: &'a [u8],
    pub(super) status: TestStatus,
    pub(super) progress: Progress,
    /// As [`is_open`](super::grammar::is_open) sees it: blanks and a parenthesis may be a reason.
    pub(super) open: bool,
}

/// Reads a line of a verbose run: an id without blanks outside its parameters, a word, and a
/// percentage.
pub(super) fn result<'a>(line: &'a [u8], file: &mut Vec<u8>) -> Option<Plain<'a>> {
    let (id, percent) = line.split_last_chunk::<6>()?;
    let progress = match percent {
        b"[100%]" => Progress::Done,
        [b'[', b' ', tens, ones, b'%', b']']
            if ones.is_ascii_digit() && (tens.is_ascii_digit() || *tens == b' ') =>
        {
            Progress::Some
        }
        _ => return None,
    };
    let blank = memchr(b' ', id)?;
    let (id, status, open) = if let Some(status) = word_and_blanks(&id[blank..]) {
        let id = &id[..blank];
        file_of(id, file)?;
        (id, status, false)
    } else {
        let (len, status) = word_behind_blanks(id)?;
        let id = &id[..len];
        if !has_blanks_inside(id, file_of(id, file)?) {
            return None;
        }
        (id, status, memchr(b'(', id).is_some())
    };
    Some(Plain {
        id,
        status,
        progress,
        open,
    })
}

/// The status that a text gives that is a blank, the word and blanks.
fn word_and_blanks(text: &[u8]) -> Option<TestStatus> {
    let (status, rest) = match text.get(1)? {
        b'P' => (TestStatus::Passed, text.strip_prefix(b" PASSED ")?),
        b'F' => (TestStatus::Failed, text.strip_prefix(b" FAILED ")?),
        b'S' => (TestStatus::Skipped, text.strip_prefix(b" SKIPPED ")?),
        b'E' => (TestStatus::Error, text.strip_prefix(b" ERROR ")?),
        _ => return None,
    };
    rest.iter().all(|byte| *byte == b' ').then_some(status)
}

/// The word in front of the blanks that end a text, and where the blank before it stands.
fn word_behind_blanks(text: &[u8]) -> Option<(usize, TestStatus)> {
    let end = text.iter().rposition(|byte| *byte != b' ')? + 1;
    let at = memrchr(b' ', &text[..end])?;
    Some((at, word_and_blanks(&text[at..])?))
}

/// Where the file ends that begins an id.
fn file_of(id: &[u8], file: &mut Vec<u8>) -> Option<usize> {
    let name = id.strip_prefix(&file[..]).filter(|_| !file.is_empty());
    if !name.is_some_and(|name| name.starts_with(b"::")) {
        let end = file_len(id)?;
        file.clear();
        file.extend_from_slice(&id[..end]);
    }
    Some(file.len())
}

/// Whether the blanks of an id, which nothing follows, are all in its parameters, and none is part of
/// what means something elsewhere: a message, an origin, a subtest, a death.
fn has_blanks_inside(id: &[u8], file: usize) -> bool {
    let Some(first) = memchr(b' ', id) else {
        return false;
    };
    let has_open = first > file && memchr(b'[', &id[file..first]).is_some();
    let means = |at: usize| match id.get(at + 1) {
        Some(b'-') => id[at + 1..].starts_with(b"- "),
        Some(b'<') => id[at + 1..].starts_with(b"<- "),
        Some(b'S') => id[at + 1..].starts_with(b"SUB"),
        Some(b'P') => id[..at].ends_with(b"Fatal"),
        _ => false,
    };
    has_open && id.ends_with(b"]") && !memchr_iter(b' ', &id[first..]).any(|at| means(first + at))
}

/// The id of a line of the summary for a test that passed.
pub(super) fn pass<'a>(line: &'a [u8], file: &mut Vec<u8>) -> Option<&'a [u8]> {
    let id = line.strip_prefix(b"PASSED ")?;
    if id.last()?.is_ascii_whitespace() {
        return None;
    }
    let end = file_of(id, file)?;
    (!has_blank(id) || has_blanks_inside(id, end)).then_some(id)
}

/// The id of a line that only names a test, as workers print it: `a.py::test_x `.
pub(super) fn start<'a>(line: &'a [u8], file: &mut Vec<u8>) -> Option<&'a [u8]> {
    let id = line.strip_suffix(b" ")?;
    if has_blank(id) {
        return None;
    }
    file_of(id, file)?;
    Some(id)
}

/// Reads a line of a worker: `[gw0] [ 50%] PASSED a.py::test_x `.
pub(super) fn worker<'a>(line: &'a [u8], file: &mut Vec<u8>) -> Option<Plain<'a>> {
    let rest = line.strip_prefix(b"[gw")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = rest[digits..].strip_prefix(b"] [")?;
    let (percent, rest) = rest.split_at_checked(5)?;
    let progress = match percent {
        b"100%]" => Progress::Done,
        [b' ', tens, ones, b'%', b']']
            if ones.is_ascii_digit() && (tens.is_ascii_digit() || *tens == b' ') =>
        {
            Progress::Some
        }
        _ => return None,
    };
    let (status, id) = match rest.get(1)? {
        b'P' => (TestStatus::Passed, rest.strip_prefix(b" PASSED ")?),
        b'F' => (TestStatus::Failed, rest.strip_prefix(b" FAILED ")?),
        b'S' => (TestStatus::Skipped, rest.strip_prefix(b" SKIPPED ")?),
        _ => return None,
    };
    let id = id.strip_suffix(b" ").unwrap_or(id);
    if digits == 0 || has_blank(id) {
        return None;
    }
    file_of(id, file)?;
    Some(Plain {
        id,
        status,
        progress,
        open: false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::grammar::{self, Summary, Word};
    use super::*;

    /// Ids, and what is none.
    const IDS: [&str; 30] = [
        "a.py::test_x",
        "a.py::TestA::test_x[1]",
        "a.py::test_x[a b]",
        "a.py::test_x[a b] more",
        "a.py::test_x[a b] [c]",
        "a.py::test_x [a]",
        "a.py::test_x[a - b]",
        "a.py::test_x[ -None- (x) ]",
        "a.py::test_x[a <- b.py]",
        "a.py::test_x <- b.py",
        "a.py::test_x[a SUBPASSED(b)]",
        "a.py::test_x SUBPASS",
        "a.py::test_x[Fatal Python error: x]",
        "a.py::test_x[a PASSED b]",
        "a.py::test_x[(a b)]",
        "a.py::test_x[a (b]",
        "a.py::test_x[(]",
        "a b.py::test_x[a b]",
        "a[b.py::test_x y]",
        "a.txt::a.txt",
        "a.txt::a b]",
        "a.py",
        "C:/a.py::test_x[a b]",
        "a.py:::x",
        "FAILED a.py::test_x",
        "a.py::test_x  PASSED",
        "a.py::test_x\t",
        "a.py::\u{e4}[\u{fc} \u{f6}]",
        "::x",
        " ",
    ];

    #[test]
    fn results_are_read_as_slowly() {
        let mut read = 0;
        for id in IDS {
            for word in ["PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "SUBPASSED"] {
                for tail in [" [  5%]", "   [100%]", " [ 5%] ", "[ 12%]", " [ x%]", ""] {
                    for between in [" ", "  ", "", "x "] {
                        let line = format!("{id}{between}{word}{tail}");
                        let Some(found) = result(line.as_bytes(), &mut Vec::new()) else {
                            continue;
                        };
                        read += 1;
                        let (rest, progress) = grammar::split_progress(line.as_bytes());
                        let slow = grammar::verbose(rest).expect("a result");
                        let fast = (found.id, Word::Result(found.status), found.progress);
                        assert_eq!(fast, (slow.id, slow.word, progress), "{line}");
                        if has_blank(found.id) {
                            assert_eq!(found.open, grammar::is_open(rest), "{line}");
                        }
                    }
                }
            }
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn workers_are_read_as_slowly() {
        let mut read = 0;
        for id in IDS {
            for head in [
                "[gw0] [ 50%] ",
                "[gw12] [100%] ",
                "[gw] [  1%] ",
                "[gw1] [50%] ",
                "[gw1] ",
            ] {
                for word in ["PASSED ", "FAILED ", "SKIPPED ", "ERROR ", "PASSED"] {
                    for tail in ["", " ", "  "] {
                        let line = format!("{head}{word}{id}{tail}");
                        let Some(found) = worker(line.as_bytes(), &mut Vec::new()) else {
                            continue;
                        };
                        read += 1;
                        let (slow, progress) = grammar::worker(line.as_bytes()).expect("a result");
                        let fast = (found.id, Word::Result(found.status), found.progress);
                        assert_eq!(fast, (slow.id, slow.word, progress), "{line}");
                    }
                }
            }
        }
        assert!(read > 40, "{read}");
    }

    #[test]
    fn summaries_and_names_are_read_as_slowly() {
        let (mut passes, mut starts) = (0, 0);
        for id in IDS {
            for tail in ["", " ", " - why", "\t"] {
                let line = format!("PASSED {id}{tail}");
                if let Some(found) = pass(line.as_bytes(), &mut Vec::new()) {
                    passes += 1;
                    let Some(Summary::Test(status, rest)) = grammar::summary(line.as_bytes())
                    else {
                        panic!("{line}");
                    };
                    // Whatever is known, for all of the line is the id.
                    for known in [true, false] {
                        assert_eq!(found, grammar::split_message(rest, |_| known), "{line}");
                    }
                    assert!(grammar::is_id(found, status), "{line}");
                }
                let line = format!("{id}{tail}");
                if let Some(found) = start(line.as_bytes(), &mut Vec::new()) {
                    starts += 1;
                    assert_eq!(
                        grammar::split_progress(line.as_bytes()),
                        (line.as_bytes(), Progress::None)
                    );
                    assert_eq!(grammar::verbose(line.as_bytes()), None, "{line}");
                    assert_eq!(grammar::cut_id(found, false), (found, false), "{line}");
                }
            }
        }
        assert!(passes > 8 && starts > 4, "{passes} {starts}");
    }

    #[test]
    fn the_file_before_is_only_a_guess() {
        let mut file = Vec::new();
        for (line, expected) in [
            ("PASSED a/b.py::x", "a/b.py"),
            ("PASSED a/b.py::y", "a/b.py"),
            ("PASSED a/b.pyx::y", "a/b.pyx"),
            ("PASSED a/b.py::y", "a/b.py"),
        ] {
            assert!(pass(line.as_bytes(), &mut file).is_some());
            assert_eq!(file, expected.as_bytes());
        }
        assert!(pass(b"PASSED a/b.py", &mut file).is_none());
    }
}
