//! The lines of pytest's terminal reporter, each by itself.
//!
//! Nothing here knows where in the output a line stands; that is the business of the session.

use crate::edges::{before_any, begin_of, end_of, is_number};
use atlas_core::{TestStatus, Totals};
use memchr::{memchr, memchr_iter, memmem, memrchr};

/// The word a line gives to a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The result of the test, or of one phase of it.
    Result(TestStatus),
    /// The result of a subtest inside it.
    Sub(TestStatus),
    /// It failed and runs again.
    Rerun,
}

/// Every word, a longer one before the one that it ends with.
const WORDS: [(&[u8], Word); 13] = [
    (b"SUBPASSED", Word::Sub(TestStatus::Passed)),
    (b"SUBFAILED", Word::Sub(TestStatus::Failed)),
    (b"SUBSKIPPED", Word::Sub(TestStatus::Skipped)),
    (b"SUBPASS", Word::Sub(TestStatus::Passed)),
    (b"SUBFAIL", Word::Sub(TestStatus::Failed)),
    (b"SUBSKIP", Word::Sub(TestStatus::Skipped)),
    (b"PASSED", Word::Result(TestStatus::Passed)),
    (b"FAILED", Word::Result(TestStatus::Failed)),
    (b"SKIPPED", Word::Result(TestStatus::Skipped)),
    (b"ERROR", Word::Result(TestStatus::Error)),
    (b"XFAIL", Word::Result(TestStatus::Xfail)),
    (b"XPASS", Word::Result(TestStatus::Xpass)),
    (b"RERUN", Word::Rerun),
];

/// How many places of a line are tried where an id may end, so that no line costs more than its
/// length.
const TRIES: usize = 64;

fn word_at_end(text: &[u8]) -> Option<(&[u8], Word)> {
    // All words end in one of these letters: most lines are dismissed here.
    if !matches!(text.last()?, b'D' | b'R' | b'L' | b'S' | b'N' | b'P') {
        return None;
    }
    end_of(text, &WORDS)
}

fn word_at_start(text: &[u8]) -> Option<(&[u8], Word)> {
    if !text.first()?.is_ascii_uppercase() {
        return None;
    }
    begin_of(text, &WORDS)
}

/// A file as the front of a node id: no column, an extension, and blanks only in a Python file.
fn is_file(text: &[u8]) -> bool {
    let Some(first) = text.first() else {
        return false;
    };
    if !(first.is_ascii_alphanumeric()
        || matches!(first, b'.' | b'/' | b'_' | b'~')
        || *first > 127)
    {
        return false;
    }
    // Without a way out of the loop, 16 bytes are compared at once; `C:` may begin a path.
    let (mut blank, mut strange) = (0, 0);
    for byte in text {
        blank |= u8::from(*byte == b' ');
        strange |= u8::from(byte.is_ascii_control());
    }
    let drive = text.get(1) == Some(&b':');
    let rest = text.get(if drive { 2 } else { 1 }..).unwrap_or_default();
    for byte in rest {
        strange |= u8::from(*byte == b':');
    }
    let (blank, strange) = (blank != 0, strange != 0);
    if strange {
        return false;
    }
    if blank {
        // `FAILED a.py` is a word and a file, and `a.py .Fb.py` are letters in front of output.
        let letters = memmem::find(text, b".py ").is_some();
        let word = word_at_start(text).is_some_and(|(rest, _)| rest.starts_with(b" "));
        if word || letters || !text.ends_with(b".py") {
            return false;
        }
    }
    let base = memrchr(b'/', text).map_or(text, |at| &text[at + 1..]);
    memrchr(b'.', base).is_some_and(|dot| {
        let extension = &base[dot + 1..];
        (1..=10).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// Where the file of a node id at the start of the text ends. Plugins name the root itself: `.::project`.
pub(super) fn file_len(text: &[u8]) -> Option<usize> {
    if text.starts_with(b".::") {
        return Some(1);
    }
    let end = memchr_iter(b':', text).find(|at| text.get(at + 1) == Some(&b':'))?;
    is_file(&text[..end]).then_some(end)
}

/// The file part of a node id; the whole of it where it has no `::`.
pub(super) fn module_of(id: &str) -> &str {
    let end = memchr_iter(b':', id.as_bytes()).find(|at| id.as_bytes().get(at + 1) == Some(&b':'));
    end.map_or(id, |end| &id[..end])
}

/// Whether a node id may end here: its parameters, if it has any, are closed.
fn is_closed(id: &[u8]) -> bool {
    let name = memmem::find(id, b"::").map_or(id, |at| &id[at + 2..]);
    memchr(b'[', name).is_none() || name.ends_with(b"]")
}

/// The text without ` <- base.py` at its end, which names the file that an inherited test came from.
fn without_origin(text: &[u8]) -> &[u8] {
    let mut end = text.len();
    while let Some(at) = memrchr(b'<', &text[..end]) {
        if at > 0 && text[at - 1] == b' ' && text[at..].starts_with(b"<- ") {
            let is_origin = is_file(&text[at + 3..]);
            return if is_origin { &text[..at - 1] } else { text };
        }
        end = at;
    }
    text
}

/// The node id at the start of the text, and whether something stood behind it.
///
/// Names of Python tests have no blanks outside their parameters; what follows one is output of the
/// test, or the label of a subtest.
pub(super) fn cut_id(text: &[u8], sub: bool) -> (&[u8], bool) {
    let text = without_origin(text);
    let Some(file) = file_len(text) else {
        return (text, false);
    };
    if !text[..file].ends_with(b".py") {
        return (text, false);
    }
    let name = &text[file..];
    let Some(blank) = memchr(b' ', name) else {
        return (text, false);
    };
    let end = match memchr(b'[', name) {
        Some(open) if open < blank => {
            let label = if sub {
                memmem::find(name, b"] [").or_else(|| memmem::find(name, b"] ("))
            } else {
                None
            };
            label
                .or_else(|| memrchr(b']', name))
                .map_or(name.len(), |close| close + 1)
        }
        _ => blank,
    };
    (&text[..file + end], end < name.len())
}

/// How far a run is, as the end of a line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    /// Nothing is said.
    #[default]
    None,
    /// A duration: nothing of how far the run is.
    Timed,
    /// On the way.
    Some,
    /// `[100%]`, or `[89/89]`.
    Done,
}

fn progress_text(text: &[u8]) -> Progress {
    let text = text.trim_ascii_start();
    if let Some(percent) = text.strip_suffix(b"%") {
        return match percent {
            b"100" => Progress::Done,
            _ if is_number(percent) => Progress::Some,
            _ => Progress::None,
        };
    }
    match memchr(b'/', text).map(|at| (&text[..at], &text[at + 1..])) {
        Some((done, all)) if is_number(done) && is_number(all) => {
            if done == all {
                Progress::Done
            } else {
                Progress::Some
            }
        }
        _ => Progress::None,
    }
}

/// Takes ` [ 50%]` from the end of a line, and the blanks before it.
pub(super) fn split_progress(line: &[u8]) -> (&[u8], Progress) {
    let trimmed = line.trim_ascii_end();
    let found = trimmed.strip_suffix(b"]").and_then(|inner| {
        let open = memrchr(b'[', inner)?;
        let progress = progress_text(&inner[open + 1..]);
        (progress != Progress::None && (open == 0 || inner[open - 1] == b' '))
            .then_some((&inner[..open], progress))
    });
    if let Some((rest, progress)) = found {
        return (rest.trim_ascii_end(), progress);
    }
    match split_duration(trimmed) {
        Some(rest) => (rest, Progress::Timed),
        None => (line, Progress::None),
    }
}

/// Takes a duration from the end of a line that has a result, as pytest 9 prints it with
/// `console_output_style=times`: `a.py::test_x PASSED   1.908ms`.
fn split_duration(line: &[u8]) -> Option<&[u8]> {
    if !matches!(line.last()?, b's' | b'm') {
        return None;
    }
    let at = memrchr(b' ', line)?;
    let last = &line[at + 1..];
    let number = before_any(last, &[b"us", b"ms", b"s"]);
    let fraction = number.and_then(|number| {
        let dot = memchr(b'.', number)?;
        (is_number(&number[..dot]) && is_number(&number[dot + 1..])).then_some(())
    });
    let rest = if fraction.is_some() {
        &line[..at]
    } else {
        // `1m 12s`, `2h 3m`
        let small = before_any(last, &[b"s", b"m"])?;
        let before = memrchr(b' ', &line[..at])?;
        let large = &line[before + 1..at];
        let large = match last.last() {
            Some(b's') => large.strip_suffix(b"m")?,
            _ => large.strip_suffix(b"h")?,
        };
        (is_number(small) && is_number(large)).then_some(())?;
        &line[..before]
    };
    let rest = rest.trim_ascii_end();
    let result = file_len(rest).is_some()
        && (word_at_end(rest).is_some() || matches!(rest.last(), Some(b')' | b']')));
    let alone = word_at_start(rest).is_some_and(|(after, _)| after.is_empty());
    (result || alone || letters(rest).is_some()).then_some(rest)
}

/// The word at the end of a line that progress was taken from, before a reason in parentheses.
fn word_before_reason(rest: &[u8]) -> Option<(&[u8], Word)> {
    if let Some(found) = word_at_end(rest) {
        return Some(found);
    }
    let mut first = None;
    for at in memmem::find_iter(rest, b" (").take(TRIES) {
        if let Some((left, word)) = word_at_end(&rest[..at]) {
            if is_closed(left.strip_suffix(b" ").unwrap_or(left)) {
                return Some((left, word));
            }
            first = first.or(Some((left, word)));
        }
    }
    first
}

/// A line that begins with a node id and gives it a word: `a.py::test_x PASSED   [ 50%]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verbose<'a> {
    pub(super) id: &'a [u8],
    pub(super) word: Word,
}

/// Whether a reason in parentheses goes on in the next line, as long ones do with `-vv`.
pub(super) fn is_open(rest: &[u8]) -> bool {
    memchr(b'(', rest).is_some() && !rest.ends_with(b")")
}

/// Reads `id WORD`, `id WORD (reason)`, `id SUBPASSED[label] (i=0)` and `id [label] (i=0) SUBPASS`;
/// `rest` is the line without its progress.
pub(super) fn verbose(rest: &[u8]) -> Option<Verbose<'_>> {
    file_len(rest)?;
    for at in memmem::find_iter(rest, b" SUB").take(TRIES) {
        if let Some((after, word @ Word::Sub(_))) = word_at_start(&rest[at + 1..])
            && matches!(after.first(), Some(b'[' | b'('))
            && is_closed(&rest[..at])
        {
            return Some(Verbose {
                id: cut_id(&rest[..at], true).0,
                word,
            });
        }
    }
    let (left, word) = word_before_reason(rest)?;
    let sub = matches!(word, Word::Sub(_));
    match left.strip_suffix(b" ") {
        Some(left) => Some(Verbose {
            id: cut_id(left, sub).0,
            word,
        }),
        // Output of the test without a line end: the word sticks to it, not to the id.
        None => match cut_id(left, sub) {
            (id, true) => Some(Verbose { id, word }),
            _ => None,
        },
    }
}

/// The word of a line that only ends a test whose id was printed before; the second value is
/// whether the word begins the line, as it does unless output stands before it.
pub(super) fn word_alone(rest: &[u8]) -> Option<(Word, bool)> {
    if let Some((after, word)) = word_at_start(rest)
        && (after.is_empty() || (after.starts_with(b" (") && after.ends_with(b")")))
    {
        return Some((word, true));
    }
    word_at_end(rest).map(|(_, word)| (word, false))
}

/// A line of a worker: `[gw0] [ 50%] PASSED a.py::test_x `.
pub(super) fn worker(line: &[u8]) -> Option<(Verbose<'_>, Progress)> {
    let rest = line.strip_prefix(b"[gw")?;
    let close = memchr(b']', rest)?;
    if close == 0 || !rest[..close].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut rest = rest[close + 1..].trim_ascii_start();
    let mut progress = Progress::None;
    if rest.first() == Some(&b'[') {
        let close = memchr(b']', rest)?;
        progress = progress_text(&rest[1..close]);
        rest = rest[close + 1..].trim_ascii_start();
    } else if rest.first().is_some_and(u8::is_ascii_digit) {
        // `console_output_style=times`: the word follows the duration.
        let end = memmem::find(rest, b"s ").or_else(|| memmem::find(rest, b"m "))?;
        rest = rest[end + 2..].trim_ascii_start();
        progress = Progress::Timed;
    }
    let (after, word) = word_at_start(rest)?;
    let id = match word {
        Word::Sub(_) => id_behind_label(after)?,
        _ => after.strip_prefix(b" ")?,
    };
    let id = id.strip_suffix(b" ").unwrap_or(id);
    file_len(id)?;
    let id = without_origin(id);
    Some((Verbose { id, word }, progress))
}

/// The node id behind a subtest's label: `[two words] (i=1) a.py::test_x`.
fn id_behind_label(text: &[u8]) -> Option<&[u8]> {
    memmem::find_iter(text, b"::").take(TRIES).find_map(|at| {
        let start = memrchr(b' ', &text[..at])? + 1;
        is_file(&text[start..at]).then_some(&text[start..])
    })
}

/// Letters of the short progress display, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) errors: u64,
    pub(super) skipped: u64,
    pub(super) xfailed: u64,
    pub(super) xpassed: u64,
}

impl Tally {
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.errors += other.errors;
        self.skipped += other.skipped;
        self.xfailed += other.xfailed;
        self.xpassed += other.xpassed;
    }

    pub(super) fn count(&mut self, status: TestStatus) {
        *match status {
            TestStatus::Passed => &mut self.passed,
            TestStatus::Failed => &mut self.failed,
            TestStatus::Error => &mut self.errors,
            TestStatus::Skipped => &mut self.skipped,
            TestStatus::Xfail => &mut self.xfailed,
            TestStatus::Xpass => &mut self.xpassed,
        } += 1;
    }
}

/// A line of letters, one a test: `tests/test_a.py ..F.s` or its continuation `...x`. The second
/// value is whether a file stands before the letters.
pub(super) fn letters(rest: &[u8]) -> Option<(Tally, bool)> {
    let (file, letters) = match memrchr(b' ', rest) {
        Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
        None => (None, rest),
    };
    if letters.is_empty() || file.is_some_and(|file| !is_file(file) && file != b".") {
        return None;
    }
    let mut tally = Tally::default();
    for letter in letters {
        match letter {
            b'.' => tally.passed += 1,
            b'F' => tally.failed += 1,
            b'E' => tally.errors += 1,
            b's' => tally.skipped += 1,
            b'x' | b'y' => tally.xfailed += 1,
            b'X' => tally.xpassed += 1,
            // A rerun, and subtests: a `u` failed, or with `-q` of pytest 9 passed.
            b'R' | b',' | b'-' | b'u' => {}
            _ => return None,
        }
    }
    Some((tally, file.is_some()))
}

/// The title of a line such as `=== title ===` drawn with this character.
pub(super) fn titled(line: &[u8], rule: u8) -> Option<&[u8]> {
    if line.first() != Some(&rule) {
        return None;
    }
    let line = line.trim_ascii_end();
    let start = line.iter().position(|b| *b != rule)?;
    let end = line.iter().rposition(|b| *b != rule)? + 1;
    if end == line.len() {
        return None;
    }
    line[start..end].strip_prefix(b" ")?.strip_suffix(b" ")
}

/// The last line of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Final {
    pub(super) totals: Totals,
    /// `no tests ran`, or a listing of tests that ran none.
    pub(super) nothing_ran: bool,
}

/// Reads `3 failed, 2 passed in 0.12s`, with or without the rules around it.
pub(super) fn final_line(line: &[u8]) -> Option<Final> {
    let text = match line.first()? {
        b'=' => titled(line, b'=')?,
        b'0'..=b'9' | b'n' => line.trim_ascii_end(),
        _ => return None,
    };
    let at = memmem::rfind(text, b" in ")?;
    let (counts, time) = (&text[..at], &text[at + 4..]);
    let number = time
        .iter()
        .take_while(|b| b.is_ascii_digit() || **b == b'.')
        .count();
    if number == 0 || !(time[number..].starts_with(b"s") || time[number..].starts_with(b" seconds"))
    {
        return None;
    }
    let counts = std::str::from_utf8(counts).ok()?;
    let mut end = Final::default();
    if counts.starts_with("no tests ") {
        end.nothing_ran = true;
        return Some(end);
    }
    for count in counts.split(", ") {
        let (number, label) = count.split_once(' ')?;
        if label.contains("collected") {
            end.nothing_ran = true;
            continue;
        }
        let number: u64 = number.parse().ok()?;
        let totals = &mut end.totals;
        let field = match label {
            "passed" => &mut totals.passed,
            "failed" => &mut totals.failed,
            "error" | "errors" => &mut totals.errors,
            "skipped" => &mut totals.skipped,
            "xfailed" => &mut totals.xfailed,
            "xpassed" => &mut totals.xpassed,
            _ if label.bytes().all(|b| b.is_ascii_alphabetic() || b == b' ') => continue,
            _ => return None,
        };
        *field = Some(field.unwrap_or(0).saturating_add(number));
    }
    if end.totals == Totals::default() && !end.nothing_ran {
        // `5 deselected in 0.1s`: a run, of nothing.
        end.nothing_ran = counts.contains("deselected");
        return end.nothing_ran.then_some(end);
    }
    Some(end)
}

/// What `collected 5 items / 2 errors / 1 skipped` says beside the number of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Collected {
    pub(super) errors: u64,
    pub(super) skipped: u64,
}

/// Reads the end of collection.
pub(super) fn collected(line: &[u8]) -> Option<Collected> {
    let at = memmem::find(line, b"collected ")?;
    let before = &line[..at];
    if !(before.is_empty() || before.starts_with(b"collecting")) {
        return None;
    }
    let text = std::str::from_utf8(&line[at + 10..]).ok()?;
    let mut parts = text.trim_end().split(" / ");
    let (number, items) = parts.next()?.split_once(' ')?;
    number.parse::<u64>().ok()?;
    items.starts_with("item").then_some(())?;
    let mut collected = Collected::default();
    for part in parts {
        match part.split_once(' ') {
            Some((n, "error" | "errors")) => collected.errors = n.parse().unwrap_or(0),
            Some((n, "skipped")) => collected.skipped = n.parse().unwrap_or(0),
            _ => {}
        }
    }
    Some(collected)
}

/// A line of the short test summary.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Summary<'a> {
    /// A word and what follows it: a node id, perhaps with ` - message`.
    Test(TestStatus, &'a [u8]),
    /// A subtest that did not pass: its test, perhaps with a message.
    Sub(TestStatus, &'a [u8]),
    /// Skipped tests are named by their location, which is no id; so are reruns no results.
    Group(Word),
}

/// Reads a line of the short test summary.
pub(super) fn summary(line: &[u8]) -> Option<Summary<'_>> {
    if let Some((after, word)) = word_at_start(line) {
        return match word {
            // With `--no-fold-skipped` each is named.
            Word::Result(TestStatus::Skipped)
                if after.strip_prefix(b" ").and_then(file_len).is_none() =>
            {
                after.starts_with(b" ").then_some(Summary::Group(word))
            }
            Word::Rerun => after.starts_with(b" ").then_some(Summary::Group(word)),
            Word::Result(status) => after
                .strip_prefix(b" ")
                .filter(|rest| !rest.is_empty() && rest[0] != b' ')
                .map(|rest| Summary::Test(status, rest)),
            Word::Sub(status) => id_behind_label(after).map(|rest| Summary::Sub(status, rest)),
        };
    }
    if !matches!(line.first()?, b'[' | b'(') {
        return None;
    }
    memmem::find_iter(line, b" SUB").take(TRIES).find_map(|at| {
        let (after, word) = word_at_start(&line[at + 1..])?;
        let Word::Sub(status) = word else { return None };
        let rest = after.strip_prefix(b" ")?;
        file_len(rest).map(|_| Summary::Sub(status, rest))
    })
}

/// The node id of a summary line, which a message may follow.
///
/// Both the parameters and the message may hold ` - `, so an id that is `known` from elsewhere is
/// preferred, the longest first; else it ends at the first ` - ` outside open parameters.
pub(super) fn split_message(rest: &[u8], known: impl Fn(&[u8]) -> bool) -> &[u8] {
    let rest = rest.trim_ascii_end();
    let mut closed = None;
    let mut longest = known(rest).then_some(rest);
    for at in memmem::find_iter(rest, b" - ").take(TRIES) {
        let id = &rest[..at];
        if longest.is_none_or(|known| known.len() < at) && known(id) {
            longest = Some(id);
        }
        if closed.is_none() && is_closed(id) {
            closed = Some(id);
        }
    }
    if let Some(known) = longest {
        return known;
    }
    match closed {
        Some(id) if file_len(id).is_none() => id,
        other => cut_id(other.unwrap_or(rest), false).0,
    }
}

/// Whether a summary line with this word may name this id.
pub(super) fn is_id(id: &[u8], status: TestStatus) -> bool {
    file_len(id).is_some()
        || is_file(id)
        // A package that could not be collected is named by its folder.
        || (status == TestStatus::Error && memchr(b'/', id).is_some() && memchr(b' ', id).is_none())
}
