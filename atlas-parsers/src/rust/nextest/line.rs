//! The lines that nextest prints of itself, in every layout since 0.9.0.

use crate::edges::behind_any;
use atlas_core::{TestStatus, Totals};
use memchr::{memchr, memmem};

/// What the word in the first twelve columns says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The test has ended.
    Ended(TestStatus),
    /// An attempt has ended: which, how, and whether it is known to be the last.
    Attempt(u32, TestStatus, Last),
    /// Passed in the end, but the profile minds: `FLKY-FL 2/2`.
    FlakyFailed,
    /// Begins, for the first time or again.
    Start,
    /// Runs for long, is being ended, or waits for its next attempt.
    Running,
}

/// Whether an attempt is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Unknown,
    No,
}

/// `        PASS [   0.024s] ( 1/15) lib_a tests::works`
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusLine<'a> {
    pub(super) word: Word,
    /// Which round of a stress run.
    pub(super) round: u64,
    /// How many tests have ended with this one; absent in older versions and in lines that end none.
    pub(super) counter: Option<u64>,
    /// Of how many.
    pub(super) of: Option<u64>,
    /// The counter's place is filled with dashes: the line ends no test.
    pub(super) padded: bool,
    pub(super) binary: &'a str,
    pub(super) test: &'a str,
}

fn status(word: &str) -> Option<TestStatus> {
    Some(match word {
        "PASS" | "LEAK" | "SLOW" | "SLOW + LEAK" | "SLOW+TMPASS" | "TIMEOUT-PASS" | "TMPASS" => {
            TestStatus::Passed
        }
        "FAIL" | "FAIL + LEAK" | "FL+LK" | "TIMEOUT" | "TMT" | "ABORT" => TestStatus::Failed,
        // It could not be executed, or left handles open where that is an error.
        "XFAIL" | "LEAK-FAIL" | "LKFAIL" => TestStatus::Error,
        _ => {
            let signal = behind_any(word, &["SIG", "ABORT SIG "])?.trim_start();
            let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
            (!signal.is_empty() && signal.bytes().all(plain)).then_some(TestStatus::Failed)?
        }
    })
}

/// `2/3`
fn fraction(text: &str) -> Option<(u64, u64)> {
    let (number, of) = text.split_once('/')?;
    Some((number.trim_start().parse().ok()?, of.parse().ok()?))
}

fn attempt(text: &str) -> Option<Word> {
    let (number, word) = text.split_once(' ')?;
    let number = number.parse().ok()?;
    Some(match word {
        "START" => Word::Start,
        "SLOW" | "TRMNTG" => Word::Running,
        _ => {
            // A signal stands without `SIG` here: `TRY 2 SEGV`.
            let signal = || {
                let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
                (word.len() > 1 && word.len() < 10 && word.bytes().all(plain))
                    .then_some(TestStatus::Failed)
            };
            let ended = status(word).or_else(signal)?;
            Word::Attempt(number, ended, Last::Unknown)
        }
    })
}

fn word(text: &str) -> Option<Word> {
    if let Some(ended) = status(text) {
        return Some(Word::Ended(ended));
    }
    if let Some(text) = text.strip_prefix("TRY ") {
        return attempt(text);
    }
    if let Some(text) = text.strip_prefix("FLAKY ") {
        return fraction(text).map(|_| Word::Ended(TestStatus::Passed));
    }
    if let Some(text) = text.strip_prefix("FLKY-FL ") {
        return fraction(text).map(|_| Word::FlakyFailed);
    }
    if let Some(text) = text.strip_prefix("RETRY ") {
        return fraction(text).map(|_| Word::Start);
    }
    if let Some(text) = text.strip_suffix(" RETRY") {
        // Before 0.9.9 the attempt that failed.
        let (number, _) = fraction(text)?;
        let number = u32::try_from(number).ok()?;
        return Some(Word::Attempt(number, TestStatus::Failed, Last::No));
    }
    match text {
        "START" => Some(Word::Start),
        "SKIP" => Some(Word::Ended(TestStatus::Skipped)),
        "TERMINATING" => Some(Word::Running),
        _ => None,
    }
}

/// What stands between the brackets behind the word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Time,
    Blank,
    /// `[> 60.000s]`: still running.
    Over,
}

fn bracket(text: &str) -> Option<Bracket> {
    if text.trim_ascii().is_empty() {
        return (text.len() >= 9).then_some(Bracket::Blank);
    }
    let (over, time) = match text.strip_prefix('>') {
        Some(time) => (true, time),
        None => (false, text),
    };
    let time = time.trim_start().strip_suffix('s')?;
    let number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    (!time.is_empty() && time.bytes().all(number)).then_some(if over {
        Bracket::Over
    } else {
        Bracket::Time
    })
}

/// The words in the first twelve columns and what follows, if the line has that shape.
fn columns(line: &[u8]) -> Option<(&str, &str)> {
    match line.first()? {
        b' ' | b'A'..=b'Z' => {}
        byte if byte.is_ascii_digit() => {}
        _ => return None,
    }
    let open = memchr(b'[', &line[..line.len().min(26)])?;
    let head = line[..open].strip_suffix(b" ")?;
    let word = head.trim_ascii_start();
    // Right-aligned; a longer one has no blank before it. An old `START` has no brackets, and the
    // only `[` would be in a name.
    let aligned = head.len() == 12 || head.len() > 12 && word.len() == head.len();
    if word.is_empty() || !aligned {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    Some((text.get(..open)?.trim(), text.get(open + 1..)?))
}

/// Before 0.9.95: `       START             lib_a tests::works`.
fn old_start(line: &[u8]) -> Option<StatusLine<'_>> {
    let rest = line.strip_prefix(b"       START             ")?;
    let (binary, test) = instance(std::str::from_utf8(rest).ok()?)?;
    Some(StatusLine {
        word: Word::Start,
        round: 0,
        counter: None,
        of: None,
        padded: false,
        binary,
        test,
    })
}

/// `lib_a tests::works`; older versions align the binaries to the right.
fn instance(text: &str) -> Option<(&str, &str)> {
    let (binary, name) = text.trim_start_matches(' ').split_once(' ')?;
    let fits = !binary.is_empty() && !binary.contains(['(', ')', '[', ']', '`', '\'', '"']);
    (fits && !name.trim().is_empty()).then_some((binary, name))
}

/// Reads a line about one test.
pub(super) fn status_line(line: &[u8]) -> Option<StatusLine<'_>> {
    let Some((head, rest)) = columns(line) else {
        return old_start(line);
    };
    let mut word = word(head)?;
    let (inside, mut rest) = rest.split_once("] ")?;
    match (bracket(inside)?, word) {
        (Bracket::Over, Word::Ended(TestStatus::Passed)) if head == "SLOW" => word = Word::Running,
        (Bracket::Time, Word::Ended(TestStatus::Skipped)) => return None,
        (Bracket::Over, Word::Running)
        | (Bracket::Blank, Word::Start | Word::Ended(TestStatus::Skipped))
        | (Bracket::Time, Word::Ended(_) | Word::Attempt(..) | Word::FlakyFailed) => {}
        _ => return None,
    }
    let mut round = 0;
    if let Some(text) = rest.strip_prefix('[') {
        let (number, behind) = text.split_once("] ")?;
        let number = number.split('/').next().unwrap_or(number);
        round = number.trim().parse().ok()?;
        rest = behind;
    }
    let (mut counter, mut of, mut padded) = (None, None, false);
    if let Some(text) = rest.strip_prefix('(') {
        let (number, behind) = text.split_once(") ")?;
        padded = number.chars().all(|c| c == '─' || c == '-');
        if !padded {
            let (number, all) = fraction(number)?;
            (counter, of) = (Some(number), Some(all));
        }
        rest = behind;
    }
    let (binary, test) = instance(rest)?;
    Some(StatusLine {
        word,
        round,
        counter,
        of,
        padded,
        binary,
        test,
    })
}

/// What a line of nextest other than a status line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// ` Nextest run ID …`
    RunId,
    /// `    Starting 15 tests across 1 binary`
    Starting(u64),
    /// Twelve dashes.
    Bar,
    /// `  stdout ───`: what follows is indented by four blanks.
    Indented,
    /// `--- STDOUT: … ---`, or `── stdout ──`: what follows is not indented.
    Raw,
    /// `  Cancelling due to …`, with the reason.
    Cancel(String),
    /// `     Summary [   0.409s] …` with what it counts, if it counts tests.
    Summary(Option<Counts>),
    /// One round of a stress run has ended.
    Round(Counts),
    /// `           - test configured to fail if flaky`
    FlakyFails,
    /// `        SETUP FAIL [ …] …`
    SetupFailed,
    /// Another line of nextest.
    Other,
}

/// What a summary counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) totals: Totals,
    /// Tests that ended.
    pub(super) run: u64,
}

/// `15 tests run: 9 passed (1 slow), 6 failed, 1 timed out, 2 skipped`
fn counts(text: &str) -> Option<Counts> {
    let (run, parts) = text.split_once(" run: ")?;
    let (number, what) = run.split_once(' ')?;
    if !matches!(what, "tests" | "test" | "benchmarks" | "benchmark") {
        return None;
    }
    let run: u64 = number.split('/').next()?.parse().ok()?;
    let mut totals = Totals {
        total: Some(run),
        failed: Some(0),
        errors: Some(0),
        ..Totals::default()
    };
    let more = |field: &mut Option<u64>, number: u64| {
        *field = Some(field.unwrap_or(0).saturating_add(number));
    };
    let mut rest = parts;
    while !rest.is_empty() {
        let end = rest.find([',', '(']).unwrap_or(rest.len());
        let (number, what) = rest.get(..end)?.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match what.trim() {
            "passed" => totals.passed = Some(number),
            "failed" | "timed out" => more(&mut totals.failed, number),
            "exec failed" => more(&mut totals.errors, number),
            "skipped" => totals.skipped = Some(number),
            _ => return None,
        }
        rest = rest.get(end..)?;
        if let Some(inside) = rest.strip_prefix('(') {
            let (inside, behind) = inside.split_once(')')?;
            if let Some(leaky) = inside.strip_suffix(" due to being leaky") {
                let leaky: u64 = leaky.parse().ok()?;
                totals.failed = totals.failed.map(|failed| failed.saturating_sub(leaky));
                more(&mut totals.errors, leaky);
            }
            rest = behind;
        }
        rest = rest.trim_start_matches([',', ' ']);
    }
    totals.passed?;
    Some(Counts { totals, run })
}

/// Whether a text is made of dashes, at least so many.
fn dashes(text: &[u8], least: usize) -> bool {
    let drawn = text.len().is_multiple_of(3)
        && text.len() >= 3 * least
        && text.chunks(3).all(|dash| dash == "─".as_bytes());
    drawn || text.len() >= least && text.iter().all(|byte| *byte == b'-')
}

/// Splits `  stdout ───` and `── stdout ──`.
fn header(line: &[u8]) -> Option<Mark> {
    const NAMES: [&[u8]; 4] = [b"stdout", b"stderr", b"output", b"execfail"];
    let named = |text: &[u8]| {
        NAMES.iter().any(|name| {
            text.strip_prefix(*name)
                .and_then(|rest| rest.strip_prefix(b" "))
                .is_some_and(|rest| dashes(rest, 1))
        })
    };
    if let Some(text) = line.strip_prefix(b"  ") {
        return named(text).then_some(Mark::Indented);
    }
    let text = line.strip_prefix(b"--- ");
    if let Some(text) = text
        && line.ends_with(b" ---")
    {
        let upper = [&b"STDOUT:"[..], b"STDERR:", b"OUTPUT:", b"EXECFAIL:"];
        let text = match text.strip_prefix(b"TRY ") {
            Some(rest) => &rest[memchr(b' ', rest)? + 1..],
            None => text,
        };
        return upper
            .iter()
            .any(|name| text.starts_with(name))
            .then_some(Mark::Raw);
    }
    let (bar, rest) = line.split_at(memchr(b' ', line)?);
    (dashes(bar, 1) && named(&rest[1..])).then_some(Mark::Raw)
}

/// Reads a line of nextest that is about no single test.
pub(super) fn mark(line: &[u8]) -> Option<Mark> {
    match line.first()? {
        b' ' | b'-' | 0xe2 | b'w' => {}
        _ => return None,
    }
    if dashes(line, 12) {
        return Some(Mark::Bar);
    }
    if let Some(header) = header(line) {
        return Some(header);
    }
    if line.starts_with(b"warning: ") {
        return memmem::find(line, b" not run").map(|_| Mark::Other);
    }
    let at = memchr(b' ', line.trim_ascii_start())? + (line.len() - line.trim_ascii_start().len());
    let verb = line[..at].trim_ascii_start();
    let rest = &line[at + 1..];
    let aligned = at == 12;
    match verb {
        b"Nextest" if aligned || rest.starts_with(b"run ID ") => rest
            .starts_with(b"run ID ")
            .then_some(Mark::RunId)
            .filter(|_| at == 8),
        b"Starting" if aligned => {
            let text = std::str::from_utf8(rest).ok()?;
            let (number, rest) = text.split_once(' ')?;
            ["tests", "test", "benchmarks", "benchmark"]
                .iter()
                .any(|what| {
                    rest.strip_prefix(what)
                        .is_some_and(|rest| rest.starts_with(" across "))
                })
                .then_some(())?;
            Some(Mark::Starting(number.parse().ok()?))
        }
        b"Cancelling" | b"Canceling" | b"Killing" if aligned => {
            let text = String::from_utf8_lossy(rest);
            let reason = text.strip_prefix("due to ")?;
            let reason = reason.split(':').next().unwrap_or(reason);
            Some(Mark::Cancel(reason.trim().to_owned()))
        }
        b"Summary" if aligned => {
            let text = std::str::from_utf8(rest).ok()?.strip_prefix('[')?;
            let (time, text) = text.split_once("] ")?;
            (bracket(time)? == Bracket::Time).then_some(())?;
            match counts(text) {
                Some(counts) => Some(Mark::Summary(Some(counts))),
                None => memmem::find(rest, b" stress run iteration").map(|_| Mark::Summary(None)),
            }
        }
        b"Stress" => {
            let text = std::str::from_utf8(rest).ok()?.strip_prefix("test ")?;
            let (_, text) = text.split_once("iteration ")?;
            match text.split_once(": ").and_then(|(_, text)| counts(text)) {
                Some(counts) => Some(Mark::Round(counts)),
                None => Some(Mark::Other),
            }
        }
        b"SETUP" => {
            const FINE: [&[u8]; 4] = [b"[", b"PASS ", b"LEAK ", b"SLOW "];
            memchr(b'[', rest)?;
            let fine = FINE.iter().any(|word| rest.starts_with(word));
            Some(if fine { Mark::Other } else { Mark::SetupFailed })
        }
        b"-" if aligned => Some(if rest.starts_with(b"test configured to fail if flaky") {
            Mark::FlakyFails
        } else {
            Mark::Other
        }),
        b"Pausing" | b"Continuing" | b"Note" if aligned => Some(Mark::Other),
        b"DELAY" => memmem::find(rest, b" by ").map(|_| Mark::Other),
        b"command:" => line
            .starts_with(b"             command: ")
            .then_some(Mark::Other),
        _ => None,
    }
}
