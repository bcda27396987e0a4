//! Which runner printed a log.
//!
//! The log's own marks decide where they cannot be another runner's; then the command, then the
//! language, and neither of them more than likely. Nothing is guessed: `unknown` is an answer.

use crate::text::clean;
use serde::Serialize;

/// What is known of a log besides its text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// The command that printed it: `go test ./...`.
    pub command: Option<&'a str>,
    /// The repository's main language, in lower case: `go`.
    pub language: Option<&'a str>,
}

/// How sure a detection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Nothing tells.
    Unknown,
    /// Something speaks for it and nothing against it.
    Likely,
    /// The log bears marks that no other known runner prints.
    Certain,
}

/// The parser that fits a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detection {
    /// The parser's id; `None` where nothing tells.
    pub parser: Option<String>,
    /// [`Certain`](Certainty::Certain) by the log's own marks, [`Likely`](Certainty::Likely) by
    /// weaker marks, the command or the language.
    pub confidence: Certainty,
    /// Why, one sentence each.
    pub reasons: Vec<String>,
}

/// How much of a log's beginning and of its end is looked at: 256 KiB each.
const WINDOW: usize = 256 << 10;

/// Runners that build on one of ours and print its marks among their own.
const UNREAD: &[&str] = &["django", "nextest"];

/// A mark of a runner: it proves the runner alone (2) or hints at it (1).
type Mark = (&'static str, u8, &'static str);

/// Tells which of the shipped parsers reads this log.
///
/// ```
/// use atlas_parsers::{Hints, detect};
/// let log = b"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n";
/// assert_eq!(detect(log, &Hints::default()).parser.as_deref(), Some("gotest"));
/// assert_eq!(detect(b"all is well", &Hints::default()).parser, None);
/// ```
pub fn detect(log: &[u8], hints: &Hints<'_>) -> Detection {
    let mut found: Vec<Mark> = Vec::new();
    let head = &log[..log.len().min(WINDOW)];
    let tail = &log[log.len().saturating_sub(WINDOW).max(head.len())..];
    for part in [head, tail] {
        let mut before = Vec::new();
        for line in part.split(|byte| *byte == b'\n') {
            let line = clean(line.strip_suffix(b"\r").unwrap_or(line));
            if let Some(mark) = mark(&line, &before)
                && !found.contains(&mark)
            {
                found.push(mark);
            }
            if !line.is_empty() {
                before.clear();
                before.extend_from_slice(&line);
            }
        }
    }
    let by_command = hints.command.and_then(command);
    decide(&found, by_command, hints.language.and_then(language))
}

fn decide(
    found: &[Mark],
    by_command: Option<(&'static str, &'static str)>,
    by_language: Option<&'static str>,
) -> Detection {
    let mut proven: Vec<&str> = Vec::new();
    for (parser, weight, _) in found {
        if *weight == 2 && !proven.contains(parser) {
            proven.push(parser);
        }
    }
    let reasons_of = |parser: &str| -> Vec<String> {
        let own = found.iter().filter(|mark| mark.0 == parser);
        own.map(|mark| format!("the log has {}", mark.2)).collect()
    };
    let agreed = |parser: &str| by_command.is_some_and(|(by, _)| by == parser);
    if let Some(other) = proven.iter().find(|parser| UNREAD.contains(parser)) {
        return Detection {
            parser: None,
            confidence: Certainty::Unknown,
            reasons: reasons_of(other),
        };
    }
    match proven[..] {
        [parser] => {
            return Detection {
                parser: Some(parser.to_owned()),
                confidence: Certainty::Certain,
                reasons: reasons_of(parser),
            };
        }
        [] => {}
        _ => {
            // Two runners in one log: the command can settle it, and nothing else.
            let settled = proven.iter().copied().find(|parser| agreed(parser));
            let mut reasons = vec![format!("marks of several runners: {}", proven.join(", "))];
            if let (Some(_), Some((_, word))) = (settled, by_command) {
                reasons.push(format!("the command is `{word}`"));
            }
            return Detection {
                parser: settled.map(str::to_owned),
                confidence: match settled {
                    Some(_) => Certainty::Likely,
                    None => Certainty::Unknown,
                },
                reasons,
            };
        }
    }
    if let Some((parser, word)) = by_command {
        let mut reasons = reasons_of(parser);
        reasons.push(format!("the command is `{word}`"));
        return Detection {
            parser: Some(parser.to_owned()),
            confidence: Certainty::Likely,
            reasons,
        };
    }
    let mut hinted: Vec<&str> = found.iter().map(|mark| mark.0).collect();
    hinted.dedup();
    if let [parser] = hinted[..] {
        return Detection {
            parser: Some(parser.to_owned()),
            confidence: Certainty::Likely,
            reasons: reasons_of(parser),
        };
    }
    if let (Some(parser), []) = (by_language, &hinted[..]) {
        return Detection {
            parser: Some(parser.to_owned()),
            confidence: Certainty::Likely,
            reasons: vec![format!("the language has one usual runner, {parser}")],
        };
    }
    Detection {
        parser: None,
        confidence: Certainty::Unknown,
        reasons: vec!["no mark of a known runner".to_owned()],
    }
}

/// What a line says of its runner.
fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'=' => section_line(line),
        b'{' if line.starts_with(b"{\"Time\":\"") && has(line, b"\"Action\":\"") => {
            Some(("gotest", 2, "events of `go test -json`"))
        }
        b'{' if line.starts_with(b"{\"numFailedTestSuites\":") => {
            Some(("jest", 1, "a Jest-shaped JSON report"))
        }
        b'o' if line.starts_with(b"ok  \t") => Some(("gotest", 2, "an `ok  \\tpackage` line")),
        b'F' if line.starts_with(b"FAIL\t") => Some(("gotest", 2, "a `FAIL\\tpackage` line")),
        b'?' if line.starts_with(b"?   \t") => Some(("gotest", 2, "a `[no test files]` line")),
        b't' if line.starts_with(b"test result: ") && has(line, b" filtered out") => {
            Some(("cargo", 2, "a `test result:` line"))
        }
        b'e' if line.starts_with(b"error: could not compile `") => {
            Some(("cargo", 1, "cargo's `could not compile`"))
        }
        b'e' if has(line, b"test failed, to rerun pass ") => {
            Some(("cargo", 2, "cargo's `to rerun pass`"))
        }
        b'C' if line.starts_with(b"Creating test database for alias ") => {
            Some(("django", 2, "Django's test database"))
        }
        b'S' if line.starts_with(b"System check identified ") => {
            Some(("django", 2, "Django's system check"))
        }
        b'T' if line.starts_with(b"Testing against Django") => {
            Some(("django", 2, "Django's own test runner"))
        }
        b' ' if line.starts_with(b" Nextest run ID ")
            || line.starts_with(b"    Starting ") && has(line, b" across ") =>
        {
            Some(("nextest", 2, "nextest's first line"))
        }
        b'T' if line.starts_with(b"Tests: ")
            && line.ends_with(b" total")
            && before.starts_with(b"Test Suites: ") =>
        {
            Some(("jest", 2, "a `Test Suites:` and `Tests:` summary"))
        }
        b'#' if line.starts_with(b"# suites ") && before.starts_with(b"# tests ") => {
            Some(("nodetest", 2, "`# tests`, `# suites`"))
        }
        b'#' if line.starts_with(b"# cancelled ") && before.starts_with(b"# fail ") => {
            Some(("nodetest", 2, "`# fail`, `# cancelled`"))
        }
        0xe2 if line.starts_with("ℹ cancelled ".as_bytes())
            && before.starts_with("ℹ fail ".as_bytes()) =>
        {
            Some(("nodetest", 2, "`ℹ fail`, `ℹ cancelled`"))
        }
        b'R' if line.starts_with(b"Ran ") && has(line, b" test") && has(line, b" in ") => before
            .iter()
            .all(|byte| *byte == b'-')
            .then_some(("unittest", 2, "unittest's `Ran N tests in`")),
        b'<' if line.starts_with(b"<testsuite") => Some(("junit", 2, "a `<testsuite` element")),
        b'<' if line.starts_with(b"<?xml") && has(line, b"<testsuite") => {
            Some(("junit", 2, "a `<testsuite` element"))
        }
        b' ' if line.starts_with(b"     Running ") && has(line, b"/deps/") => {
            Some(("cargo", 2, "cargo's `Running`"))
        }
        b'r' if line.starts_with(b"running ")
            && (line.ends_with(b" tests") || line.ends_with(b" test")) =>
        {
            Some(("cargo", 1, "a `running N tests` line"))
        }
        b'P' | b'F' if line.starts_with(b"PASS ") || line.starts_with(b"FAIL ") => {
            let path = line[5..].trim_ascii();
            [&b".js"[..], b".ts", b".jsx", b".tsx", b".mjs", b".cjs"]
                .iter()
                .any(|end| path.ends_with(end))
                .then_some(("jest", 1, "a `PASS file` or `FAIL file` line"))
        }
        _ => None,
    }
}

/// Lines that begin with `=`: pytest's rulers and Go's announcements.
fn section_line(line: &[u8]) -> Option<Mark> {
    if line.starts_with(b"=== RUN   ") {
        return Some(("gotest", 2, "a `=== RUN` line"));
    }
    if !line.ends_with(b"=") {
        return None;
    }
    let title = line.trim_ascii();
    let start = title.iter().position(|byte| *byte != b'=')?;
    let end = title.iter().rposition(|byte| *byte != b'=')?;
    let title = title[start..=end].trim_ascii();
    if title == b"test session starts" {
        return Some(("pytest", 2, "pytest's `test session starts`"));
    }
    if title == b"short test summary info" {
        return Some(("pytest", 2, "pytest's `short test summary info`"));
    }
    let timed = has(title, b" in ") && (title.ends_with(b"s") || title.ends_with(b")"));
    let counted = [
        &b" passed"[..],
        b" failed",
        b" skipped",
        b" error",
        b"no tests ran",
    ]
    .iter()
    .any(|word| has(title, word));
    (timed && counted).then_some(("pytest", 2, "pytest's last line"))
}

fn has(line: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(line, part).is_some()
}

/// The runner that a command names, and the words that name it.
fn command(command: &str) -> Option<(&'static str, &'static str)> {
    const WORDS: &[(&[&str], &str, &str)] = &[
        (&["go", "test"], "gotest", "go test"),
        (&["gotestsum"], "gotest", "gotestsum"),
        (&["cargo", "nextest"], "", "cargo nextest"),
        (&["cargo", "test"], "cargo", "cargo test"),
        (&["pytest"], "pytest", "pytest"),
        (&["py.test"], "pytest", "py.test"),
        (&["-m", "unittest"], "unittest", "unittest"),
        (&["jest"], "jest", "jest"),
        (&["node", "--test"], "nodetest", "node --test"),
    ];
    // `/usr/bin/pytest` is pytest, and `--test-reporter=junit` is not `junit`.
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\''))
        .filter(|word| !word.is_empty())
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .collect();
    let mut named = None;
    for (sought, parser, label) in WORDS {
        let hit = match sought {
            [one] => words.contains(one),
            [first, second] => {
                // Flags may stand between: `cargo +nightly test`, `node --no-warnings --test`.
                words
                    .iter()
                    .position(|word| word == first)
                    .is_some_and(|at| {
                        let rest = &words[at + 1..];
                        let next = rest.iter().position(|word| word == second);
                        next.is_some_and(|next| {
                            rest[..next].iter().all(|word| word.starts_with(['-', '+']))
                        })
                    })
            }
            _ => false,
        };
        if hit {
            if parser.is_empty() || named.is_some_and(|(known, _)| known != *parser) {
                return None; // a runner without a parser here, or two runners
            }
            named = Some((*parser, *label));
        }
    }
    named
}

/// The runner of a language that has a usual one.
fn language(language: &str) -> Option<&'static str> {
    match language.to_ascii_lowercase().as_str() {
        "go" => Some("gotest"),
        "rust" => Some("cargo"),
        _ => None, // Python and JavaScript have several
    }
}
