//! Which runner printed a log.
//!
//! The log's own marks decide where they cannot be another runner's; then the command, then the
//! language, and neither of them more than likely. Nothing is guessed: `unknown` is an answer.

use crate::registry::BUILTIN;
use crate::runner::{About, Mark};
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

/// A runner with one of its marks.
type Found = (&'static str, Mark);

/// Tells which of the shipped parsers reads this log.
///
/// ```
/// use atlas_parsers::{Hints, detect};
/// let log = b"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n";
/// assert_eq!(detect(log, &Hints::default()).parser.as_deref(), Some("gotest"));
/// assert_eq!(detect(b"all is well", &Hints::default()).parser, None);
/// ```
pub fn detect(log: &[u8], hints: &Hints<'_>) -> Detection {
    let mut found: Vec<Found> = Vec::new();
    let head = &log[..log.len().min(WINDOW)];
    let tail = &log[log.len().saturating_sub(WINDOW).max(head.len())..];
    for part in [head, tail] {
        let mut before = Vec::new();
        for line in part.split(|byte| *byte == b'\n') {
            let line = clean(line.strip_suffix(b"\r").unwrap_or(line));
            for runner in BUILTIN {
                if let Some(mark) = runner.mark(&line, &before)
                    && !found.contains(&(runner.id(), mark))
                {
                    found.push((runner.id(), mark));
                }
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
    found: &[Found],
    by_command: Option<(&'static str, String)>,
    by_language: Option<&'static str>,
) -> Detection {
    let mut proven: Vec<&str> = Vec::new();
    for (parser, mark) in found {
        if mark.certain && !proven.contains(parser) {
            proven.push(parser);
        }
    }
    let reasons_of = |parser: &str| -> Vec<String> {
        let own = found.iter().filter(|found| found.0 == parser);
        own.map(|(_, mark)| format!("the log has {}", mark.what))
            .collect()
    };
    let agreed = |parser: &str| by_command.as_ref().is_some_and(|(by, _)| *by == parser);
    let drivers: Vec<&str> = proven
        .iter()
        .copied()
        .filter(|parser| {
            let inside = about(parser).map_or(&[][..], |about| about.contains);
            proven.iter().all(|p| p == parser || inside.contains(p))
        })
        .collect();
    if let [driver] = drivers[..] {
        proven = vec![driver];
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
            if let (Some(_), Some((_, word))) = (settled, &by_command) {
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

/// The runner that a command names, and the words that name it.
fn command(command: &str) -> Option<(&'static str, String)> {
    // `/usr/bin/pytest` is pytest, and `--test-reporter=junit` is not `junit`.
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\''))
        .filter(|word| !word.is_empty())
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .collect();
    let mut named: Option<(&str, &[&str])> = None;
    for runner in BUILTIN {
        for sought in runner.about().commands {
            if !names(&words, sought) {
                continue;
            }
            if named.is_some_and(|(known, _)| known != runner.id()) {
                return None; // two runners
            }
            named = Some((runner.id(), *sought));
        }
    }
    named.map(|(id, words)| (id, words.join(" ")))
}

/// Whether the words stand there in order, with nothing but flags between them.
fn names(words: &[&str], sought: &[&str]) -> bool {
    let Some((first, rest)) = sought.split_first() else {
        return false;
    };
    words.iter().enumerate().any(|(at, word)| {
        let mut after = words[at + 1..].iter();
        word == first
            && rest.iter().all(|next| {
                // `cargo +nightly test`, `node --no-warnings --test`
                after
                    .by_ref()
                    .find(|word| word == &next || !word.starts_with(['-', '+']))
                    == Some(next)
            })
    })
}

fn about(id: &str) -> Option<&'static About> {
    BUILTIN
        .iter()
        .find(|runner| runner.id() == id)
        .map(|runner| runner.about())
}

/// The runner of a language that has a usual one.
fn language(language: &str) -> Option<&'static str> {
    let language = language.to_ascii_lowercase();
    BUILTIN
        .iter()
        .find(|runner| runner.about().usual_for.contains(&language.as_str()))
        .map(|runner| runner.id())
}
