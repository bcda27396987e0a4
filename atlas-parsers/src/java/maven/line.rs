//! One line of Maven or Surefire, taken apart.

use crate::edges::behind_any;
use atlas_core::TestStatus;
use memchr::memmem;

/// What stands in front of a message: `[INFO] `, a time stamp and `[INFO] `, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged<'a> {
    /// The message without its level.
    pub(super) text: &'a [u8],
    /// Whether a level stood in front.
    pub(super) level: bool,
    /// Whether that level was `[ERROR]`.
    pub(super) error: bool,
}

const LEVELS: [&[u8]; 5] = [b"[INFO]", b"[ERROR]", b"[WARNING]", b"[DEBUG]", b"[WARN]"];

/// Splits the level off. A time stamp or a thread may stand before it.
#[inline]
pub(super) fn logged(line: &[u8]) -> Logged<'_> {
    match line.strip_prefix(b"[INFO] ") {
        Some(text) => Logged {
            text,
            level: true,
            error: false,
        },
        None => logged_otherwise(line),
    }
}

fn logged_otherwise(line: &[u8]) -> Logged<'_> {
    let bare = Logged {
        text: line,
        level: false,
        error: false,
    };
    let Some(first) = line.first() else {
        return bare;
    };
    if *first == b'['
        && let Some(found) = level(line)
    {
        return found;
    }
    if first.is_ascii_digit() || *first == b'[' {
        // A time, a date, `[main]`: nothing longer than that.
        let head = &line[..line.len().min(64)];
        if let Some(at) = memmem::find(head, b" [").map(|at| at + 1)
            && is_stamp(&head[..at])
        {
            if let Some(found) = level(&line[at..]) {
                return found;
            }
            // A thread between the two.
            if let Some(next) = memmem::find(&head[at..], b"] [")
                && let Some(found) = level(&line[at + next + 2..])
            {
                return found;
            }
        }
    }
    bare
}

fn is_stamp(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit)
        && text.iter().all(|byte| {
            byte.is_ascii_digit()
                || matches!(
                    byte,
                    b':' | b'.' | b',' | b'-' | b'+' | b'/' | b' ' | b'T' | b'Z'
                )
        })
        || text.starts_with(b"[main]")
}

fn level(line: &[u8]) -> Option<Logged<'_>> {
    let name = LEVELS.iter().find(|name| line.starts_with(name))?;
    let rest = &line[name.len()..];
    let text = match rest.first() {
        None => rest,
        Some(b' ') => &rest[1..],
        Some(_) => return None,
    };
    Some(Logged {
        text,
        level: true,
        error: name.starts_with(b"[E"),
    })
}

/// Counts of a class or of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) run: u64,
    pub(super) failures: u64,
    pub(super) errors: u64,
    pub(super) skipped: u64,
    pub(super) flakes: u64,
}

impl Counts {
    pub(super) fn failing(self) -> u64 {
        self.failures.saturating_add(self.errors)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.run = self.run.saturating_add(other.run);
        self.failures = self.failures.saturating_add(other.failures);
        self.errors = self.errors.saturating_add(other.errors);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.flakes = self.flakes.saturating_add(other.flakes);
    }
}

/// A `Tests run:` line.
#[derive(Debug)]
pub(super) struct TotalsLine<'a> {
    pub(super) counts: Counts,
    /// Whether it is a class's: it says how long it took.
    pub(super) timed: bool,
    /// The class, which Surefire before 2.13 does not name.
    pub(super) class: Option<&'a str>,
}

/// Reads `Tests run: 9, Failures: 2, Errors: 2, Skipped: 2, Time elapsed: 1 s <<< FAILURE! - in C`.
pub(super) fn totals(text: &[u8]) -> Option<TotalsLine<'_>> {
    let rest = text.strip_prefix(b"Tests run:")?;
    let (run, rest) = number(rest)?;
    let (failures, rest) = number(rest.strip_prefix(b", Failures:")?)?;
    let (errors, rest) = number(rest.strip_prefix(b", Errors:")?)?;
    let (skipped, rest) = match rest.strip_prefix(b", Skipped:") {
        Some(rest) => number(rest)?,
        None => (0, rest),
    };
    let (flakes, rest) = match rest.strip_prefix(b", Flakes:") {
        Some(rest) => number(rest)?,
        None => (0, rest),
    };
    let rest = std::str::from_utf8(rest).ok()?;
    let counts = Counts {
        run,
        failures,
        errors,
        skipped,
        flakes,
    };
    let Some(rest) = rest.strip_prefix(", Time elapsed: ") else {
        return rest.trim().is_empty().then_some(TotalsLine {
            counts,
            timed: false,
            class: None,
        });
    };
    let rest = after_time(rest)?;
    let rest = rest.strip_prefix(" <<< FAILURE!").unwrap_or(rest);
    let rest = rest.strip_prefix(" <<< ERROR!").unwrap_or(rest);
    let class = match rest.trim_end() {
        "" => None,
        rest => {
            let named = behind_any(rest, &[" -- in ", " - in "])?;
            Some(named)
        }
    };
    Some(TotalsLine {
        counts,
        timed: true,
        class,
    })
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut rest = text.strip_prefix(b" ")?;
    if !rest.first()?.is_ascii_digit() {
        return None;
    }
    let mut number = 0_u64;
    while let [digit @ b'0'..=b'9', behind @ ..] = rest {
        number = number
            .checked_mul(10)?
            .checked_add(u64::from(digit - b'0'))?;
        rest = behind;
    }
    Some((number, rest))
}

/// What follows `0.07 s`, `0.07 sec` or `(unknown)`.
fn after_time(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("(unknown)") {
        return Some(rest);
    }
    let end = text
        .bytes()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b','))?;
    if end == 0 {
        return None;
    }
    let rest = &text[end..];
    behind_any(rest, &[" sec", " s"])
}

/// A line that names one test.
#[derive(Debug)]
pub(super) struct MethodLine<'a> {
    /// As printed: `method(Class)`, `Class.method`, `method` or `Class`.
    pub(super) name: &'a str,
    pub(super) status: TestStatus,
    /// Surefire 3's ` -- `, before which the class always stands.
    pub(super) full: bool,
}

/// Reads `method(Class)  Time elapsed: 0.1 s  <<< ERROR!`, ` -- Time elapsed` or `name skipped`.
pub(super) fn method(text: &[u8]) -> Option<MethodLine<'_>> {
    // `s`, `sec`, `(unknown)`, `FAILURE!`, `skipped`: most lines end otherwise.
    if !matches!(
        text.trim_ascii_end().last()?,
        b's' | b'c' | b')' | b'!' | b'd' | 0x0b | 0x80..
    ) {
        return None;
    }
    if let Some(at) = memmem::rfind(text, b"Time elapsed: ") {
        let tail = std::str::from_utf8(&text[at + b"Time elapsed: ".len()..]).ok()?;
        let status = match after_time(tail)?.trim() {
            "" => TestStatus::Passed,
            "<<< FAILURE!" => TestStatus::Failed,
            "<<< ERROR!" => TestStatus::Error,
            _ => return None,
        };
        let head = std::str::from_utf8(&text[..at]).ok()?;
        let (name, full) = match head.strip_suffix(" -- ") {
            Some(name) => (name, true),
            None => (head.strip_suffix("  ")?, false),
        };
        return is_name(name).then_some(MethodLine { name, status, full });
    }
    let name = text.strip_suffix(b" skipped")?;
    let name = std::str::from_utf8(name).ok()?;
    is_name(name).then_some(MethodLine {
        name,
        status: TestStatus::Skipped,
        full: false,
    })
}

/// How many brackets the text opens and does not close; below nothing if it closes more.
pub(super) fn open_brackets(text: &[u8]) -> i64 {
    text.iter()
        .map(|byte| match byte {
            b'(' | b'[' | b'{' => 1,
            b')' | b']' | b'}' => -1,
            _ => 0,
        })
        .sum()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with([' ', '\t'])
}

/// Whether this can be the name of a class: `com.example.Outer$Inner`.
pub(super) fn is_class(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '$' | '_'))
}

/// The class of a stack frame `at com.example.Outer$Inner.method(File.java:3)` if the frame is in
/// `method`, or in a lambda of it, of a class inside `outer`.
pub(super) fn inner_class<'a>(frame: &'a [u8], outer: &str, method: &str) -> Option<&'a str> {
    let frame = std::str::from_utf8(frame)
        .ok()?
        .trim_start()
        .strip_prefix("at ")?;
    let called = frame.split('(').next()?;
    // `app//`, `java.base@17/`
    let called = called.rsplit('/').next()?;
    let (class, name) = called.rsplit_once('.')?;
    let same = name == method
        || name
            .strip_prefix("lambda$")
            .and_then(|rest| rest.strip_prefix(method))
            .is_some_and(|rest| rest.starts_with('$'));
    (same && class.strip_prefix(outer)?.starts_with('$')).then_some(class)
}

/// The artifact in `--- maven-surefire-plugin:3.2.5:test (default-test) @ artifact ---`.
pub(super) fn goal(text: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(text.strip_prefix(b"--- ")?).ok()?;
    let text = text
        .strip_suffix(" ---")
        .or_else(|| text.trim_end().strip_suffix(" ---"))?;
    let at = memchr::memrchr_iter(b'@', text.as_bytes())
        .find(|at| text[..*at].ends_with(' ') && text[at + 1..].starts_with(' '))?;
    let (goal, artifact) = (&text[..at - 1], &text[at + 2..]);
    let plugin = goal.split(' ').next()?;
    (plugin.contains(':') && !artifact.contains(' ')).then_some((plugin, artifact))
}

/// The artifact in `---------< com.example:artifact >---------`.
pub(super) fn header(text: &[u8]) -> Option<&str> {
    if !text.starts_with(b"--") {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let inner = text.trim_end().trim_matches('-');
    let inner = inner.strip_prefix("< ")?.strip_suffix(" >")?;
    let (_, artifact) = inner.split_once(':')?;
    (!artifact.contains(' ')).then_some(artifact)
}

/// The project and the complaint in
/// `Failed to execute goal g:plugin:1:goal (id) on project artifact: complaint`.
pub(super) struct Refusal<'a> {
    pub(super) goal: &'a str,
    pub(super) project: &'a str,
    pub(super) why: &'a str,
}

pub(super) fn refusal(text: &[u8]) -> Option<Refusal<'_>> {
    let rest = text.strip_prefix(b"Failed to execute goal ")?;
    let rest = std::str::from_utf8(rest).ok()?;
    let (goal, rest) = match rest.strip_prefix("on project ") {
        Some(rest) => ("", rest),
        None => rest.split_once(" on project ")?,
    };
    let (project, why) = rest.split_once(':')?;
    Some(Refusal { goal, project, why })
}

/// A word without the quotes around it.
fn unquoted(word: &str) -> &str {
    const QUOTES: [u8; 2] = *b"'\"";
    let is_quote = |byte: Option<&u8>| byte.is_some_and(|byte| QUOTES.contains(byte));
    let bytes = word.as_bytes();
    if is_quote(bytes.first()) || is_quote(bytes.last()) {
        word.trim_matches(['\'', '"'])
    } else {
        word
    }
}

/// The test of `+ mvn … -Dtest=CalcTest#adds …`, as a shell that traces its commands prints it.
pub(super) fn traced(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"+")?;
    let rest = std::str::from_utf8(rest).ok()?;
    let mut rest = rest.trim_start_matches('+').strip_prefix(' ')?;
    let mut is_maven = false;
    loop {
        let end = memchr::memchr(b' ', rest.as_bytes());
        let word = &rest[..end.unwrap_or(rest.len())];
        if is_maven {
            if let Some(value) = unquoted(word).strip_prefix("-Dtest=") {
                let value = unquoted(value);
                let several = |byte| matches!(byte, b',' | b'*' | b'?' | b'!' | b'+' | b'%');
                return (!value.is_empty() && !value.bytes().any(several)).then_some(value);
            }
        } else {
            let name = memchr::memrchr(b'/', word.as_bytes()).map_or(0, |at| at + 1);
            is_maven = matches!(&word[name..], "mvn" | "mvnw" | "mvnd");
        }
        rest = &rest[end? + 1..];
    }
}
