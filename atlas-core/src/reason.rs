//! Why something was rejected, for people: a few lines, with those of the log that explain it.

use crate::{Evidence, ParsedLog};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose fault a rejection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The pull request, or how its changes part into tests and solution.
    PullRequest,
    /// The environment that was made for it.
    Environment,
    /// The repository, whatever the pull request changes.
    Repository,
    /// Atlas does not know something that it would have to know.
    Atlas,
    /// Either the pull request's own test or the environment; the log names no side.
    Unknown,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::PullRequest => "the pull request",
            Self::Environment => "the environment",
            Self::Repository => "the repository",
            Self::Atlas => "Atlas",
            Self::Unknown => "not known: the pull request's own test, or the environment",
        })
    }
}

/// Why something was rejected: what failed, the lines that explain it, whose fault it is and what to try.
/// Printed it has at most [`Reason::LINES`] lines of at most [`Reason::WIDTH`] characters.
///
/// ```
/// use atlas_core::{Evidence, Fault, Reason};
/// let reason = Reason {
///     what: "the build failed".to_owned(),
///     lines: vec![Evidence::at("build log", 7, "fatal error: a.h: No such file")],
///     fault: Fault::Environment,
///     advice: "name the package in a plan of your own".to_owned(),
/// };
/// assert_eq!(
///     reason.to_string(),
///     "the build failed\n  build log:7: fatal error: a.h: No such file\nfault: the environment\n\
///      try: name the package in a plan of your own"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What failed, one sentence.
    pub what: String,
    /// The lines that explain it, the first of which are printed.
    pub lines: Vec<Evidence>,
    /// Whose fault it is.
    pub fault: Fault,
    /// What to try, one sentence.
    pub advice: String,
}

impl Reason {
    /// The most lines of a printed reason.
    pub const LINES: usize = 10;
    /// The most characters of a line.
    pub const WIDTH: usize = 200;
    /// The most lines of a log in it.
    const PROOF: usize = 5;
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", one_line(&self.what, Self::WIDTH))?;
        for line in self.lines.iter().take(Self::PROOF) {
            let place = line
                .line
                .map_or_else(|| line.source.clone(), |at| format!("{}:{at}", line.source));
            writeln!(
                f,
                "{}",
                one_line(&format!("  {place}: {}", line.text.trim()), Self::WIDTH)
            )?;
        }
        writeln!(f, "fault: {}", self.fault)?;
        write!(
            f,
            "{}",
            one_line(&format!("try: {}", self.advice), Self::WIDTH)
        )
    }
}

/// The first line of a text that says something, of at most so many characters, without control characters.
/// Blanks in front stay.
///
/// ```
/// assert_eq!(atlas_core::one_line("RUN apt-get update &&\\\n  x", 12), "RUN apt-get…");
/// assert_eq!(atlas_core::one_line("\u{1b}[1;31mno\u{1b}[0m [x]", 12), "no [x]");
/// ```
pub fn one_line(text: &str, width: usize) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let line = text[indent..].trim().lines().next().unwrap_or_default();
    let room = width.saturating_sub(indent);
    // Control characters would colour or move what is printed around them; what is behind them says how.
    let mut is_inside = false;
    let mut before = ' ';
    let mut chars = line.chars().filter(|c| {
        let begins = before == '\u{1b}' && *c == '[';
        let ends = is_inside && ('@'..='~').contains(c);
        let is_shown = !begins && !is_inside && !c.is_control();
        is_inside = begins || is_inside && !ends;
        before = *c;
        is_shown
    });
    let kept: String = chars.by_ref().take(room).collect();
    let blank = " ".repeat(indent);
    if chars.next().is_none() {
        return format!("{blank}{}", kept.trim_end());
    }
    let kept: String = kept.chars().take(room.saturating_sub(1)).collect();
    format!("{blank}{}…", kept.trim_end())
}

/// Words of errors, in small letters, and how much each tells.
const WORDS: &[(&str, u8)] = &[
    ("error", 2),
    ("fatal", 3),
    ("cannot", 2),
    ("can't", 2),
    ("could not", 2),
    ("couldn't", 2),
    ("not found", 3),
    ("no such", 3),
    ("undefined", 2),
    ("unresolved", 2),
    ("missing", 2),
    ("no module", 3),
    ("no rule to", 3),
    ("getaddrinfo", 3),
    ("could not resolve", 3),
    ("name resolution", 3),
    ("does not exist", 3),
    ("unable to", 2),
    ("exception", 1),
    ("panic", 2),
    ("denied", 2),
    ("failed to", 2),
    ("failed", 1),
    ("failure", 1),
    ("unreachable", 3),
    ("more recent version", 3),
    ("killed", 2),
    ("aborted", 1),
    ("timed out", 2),
    ("no space", 3),
    ("unsupported", 2),
    ("not supported", 3),
    ("incompatible", 2),
    ("required", 1),
    ("requires", 2),
    ("invalid", 1),
    ("refused", 2),
    ("conflict", 2),
    ("segmentation", 3),
];

/// How near to the end of a log its explanation is looked for.
const NEAR: usize = 400;
/// How many of the last lines are taken where none tells of an error.
const LAST: usize = 3;
/// The longest line that is looked at.
const LONGEST: usize = 2000;

/// The lines of a log that explain best why it failed, at most so many, in their order: of each module
/// that was lost the line that says most; without one, lines near the end with words of errors; without such,
/// the last ones. A line that names a test which passes is no proof of a failure, nor is a command that a
/// shell echoes. `source` is the log's name.
pub fn telling_lines(
    source: &str,
    log: &str,
    parsed: Option<&ParsedLog>,
    most: usize,
) -> Vec<Evidence> {
    let is_proof = |text: &str| {
        let tests = parsed.into_iter().flat_map(|parsed| &parsed.results);
        let passing = tests.filter(|test| test.status.is_passing());
        !passing
            .map(|test| test.name)
            .any(|name| name.len() > 3 && text.contains(name))
    };
    let take = |lines: &mut dyn Iterator<Item = Evidence>| {
        let mut found: Vec<Evidence> = Vec::new();
        for line in lines {
            if found.len() == most {
                break;
            }
            let is_new = found.iter().all(|known| !is_alike(&known.text, &line.text));
            if is_new && is_proof(&line.text) {
                found.push(line);
            }
        }
        found.sort_by_key(|line| line.line);
        found
    };
    let not_loaded = parsed
        .into_iter()
        .flat_map(|parsed| &parsed.modules_not_loaded);
    let found = take(&mut not_loaded.filter_map(|module| {
        let lines = module.lines.iter().rev();
        let best = lines.max_by_key(|line| telling(&line.text))?;
        (telling(&best.text) > 0).then(|| Evidence {
            source: source.to_owned(),
            line: best.line,
            text: best.text.trim().to_owned(),
        })
    }));
    if !found.is_empty() {
        return found;
    }
    let lines: Vec<(usize, &str)> = log
        .lines()
        .map(str::trim)
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && line.len() <= LONGEST)
        .collect();
    let near = &lines[lines.len().saturating_sub(NEAR)..];
    let evidence = |(at, text): &(usize, &str)| Evidence::at(source, at + 1, *text);
    let mut errors: Vec<&(usize, &str)> =
        near.iter().filter(|(_, text)| telling(text) > 0).collect();
    // The last of those that say most.
    errors.sort_by_key(|(at, text)| std::cmp::Reverse((telling(text), *at)));
    let found = take(&mut errors.into_iter().map(evidence));
    if !found.is_empty() {
        return found;
    }
    let last = near
        .iter()
        .rev()
        .filter(|(_, text)| !is_command(text) && !is_passing(text) && !is_chatter(text));
    take(
        &mut last
            .map(evidence)
            .filter(|line| is_proof(&line.text))
            .take(LAST),
    )
}

/// How much a line tells of an error: nothing (0), that there is one (1), or more.
///
/// ```
/// assert!(atlas_core::telling("fatal error: a.h: No such file") > atlas_core::telling("FAIL x [setup failed]"));
/// assert!(atlas_core::telling("npm error getaddrinfo ENOTFOUND r.example") > atlas_core::telling("npm error code ENOTFOUND"));
/// assert_eq!(atlas_core::telling("ok 1 - an error is raised"), 0);
/// assert_eq!(atlas_core::telling("CC obj/error_private.o"), 0);
/// assert_eq!(atlas_core::telling("##teamcity[testFinished name='testErrors']"), 0);
/// ```
pub fn telling(line: &str) -> u8 {
    if is_command(line) || is_passing(line) {
        return 0;
    }
    let small = line.to_lowercase();
    // `0 errors`, `no failures`
    let counts_none = [
        "0 error",
        "0 fail",
        "no error",
        "no fail",
        "errors: 0",
        "failures: 0",
    ];
    if counts_none.iter().any(|none| small.contains(none)) {
        return 0;
    }
    // What npm advises whatever the cause.
    let advice = [
        "a complete log of this run",
        "behind a proxy",
        "related to network connectivity",
    ];
    if advice.iter().any(|advice| small.contains(advice)) {
        return 1;
    }
    // `make: *** [check] Error 2`: something below it failed and said why.
    if small.contains("because of errors") || small.contains("***") && small.contains("] error ") {
        return 1;
    }
    // `error_private.o` and `error.rs` are names.
    let is_word = |rest: &str| {
        let mut rest = rest.chars();
        match rest.next() {
            Some('_' | '/') => false,
            Some('.') => !rest.next().is_some_and(|c| c.is_ascii_alphanumeric()),
            _ => true,
        }
    };
    let says = |word: &str| {
        let mut found = small.match_indices(word);
        found.any(|(at, _)| is_word(&small[at + word.len()..]))
    };
    let words = WORDS.iter().filter(|(word, _)| says(word));
    words.map(|(_, much)| *much).max().unwrap_or(0)
}

/// A command that a shell or a builder echoes.
fn is_command(line: &str) -> bool {
    line.starts_with(['+', '$'])
        || ["RUN ", "Step ", "set -"]
            .iter()
            .any(|start| line.starts_with(start))
}

/// What package managers say whether anything fails or not.
fn is_chatter(line: &str) -> bool {
    [
        "debconf: ",
        "Reading package lists",
        "Building dependency tree",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

/// A line in the form of a test that passed.
fn is_passing(line: &str) -> bool {
    const WORDS: [&str; 8] = ["ok", "PASS", "PASSED", "Passed", "passed", "pass", "✓", "✔"];
    if let Some(message) = line.trim_start().strip_prefix("##teamcity[") {
        return !message.starts_with("testFailed");
    }
    let mut words = line
        .split(|c: char| c.is_whitespace() || matches!(c, ':' | '[' | ']' | '.'))
        .filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let last = words.next_back().unwrap_or_default();
    WORDS.contains(&first) || WORDS.contains(&last)
}

/// Whether two lines say the same of other places: numbers and paths apart.
fn is_alike(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> String {
        text.split_whitespace()
            .filter(|word| !word.contains('/'))
            .flat_map(str::chars)
            .filter(|c| !c.is_ascii_digit())
            .collect()
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LostReason, ParsedLogBuilder, RunOutcome, TestStatus};

    fn texts(lines: &[Evidence]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    /// Forty modules do not load, five tests pass: the tests are no proof.
    #[test]
    fn a_passing_test_proves_no_failure() {
        let mut log = ParsedLogBuilder::new("x");
        for name in ["error is raised", "not found is 404", "cannot be empty"] {
            log.record("m", name, name, TestStatus::Passed);
        }
        for at in 0..40 {
            let text = format!("LoadError: cannot load such file -- rack{at} (/gems/{at}.rb)");
            let lines = vec![
                Evidence::at("log", at + 1, format!("loading test/{at}.rb")),
                Evidence::at("log", at + 2, text),
            ];
            log.lose(&format!("test/{at}.rb"), LostReason::LoadFailed, lines);
        }
        let parsed = log.finish(RunOutcome::Completed);
        let end =
            "ok 1 - error is raised\nnot found is 404 ... ok\ncannot be empty\n3 runs, 0 errors\n";
        let found = telling_lines("base.log", end, Some(&parsed), 5);
        assert_eq!(
            texts(&found),
            ["LoadError: cannot load such file -- rack0 (/gems/0.rb)"]
        );
        let mut log = ParsedLogBuilder::new("x");
        log.record(
            "m",
            "cannot be empty",
            "cannot be empty",
            TestStatus::Passed,
        );
        let parsed = log.finish(RunOutcome::Completed);
        let found = telling_lines("base.log", &format!("{end}bye\n"), Some(&parsed), 5);
        assert_eq!(texts(&found), ["3 runs, 0 errors", "bye"]);
    }

    #[test]
    fn words_of_errors_near_the_end_go_before_the_command() {
        let log = "+ make error=1 && ./configure --fail\nchecking for cc... cc\n\
                   a.c:3:10: fatal error: zlib.h: No such file or directory\nmake: *** [a.o] Error 1\n\
                   b.c:4:10: fatal error: zlib.h: No such file or directory\n";
        let found = telling_lines("build log", log, None, 2);
        assert_eq!(
            texts(&found),
            [
                "a.c:3:10: fatal error: zlib.h: No such file or directory",
                "b.c:4:10: fatal error: zlib.h: No such file or directory"
            ]
        );
    }

    /// What make says of its targets afterwards is no explanation.
    #[test]
    fn the_first_cause_goes_before_what_follows_from_it() {
        let log = "make[2]: *** No rule to make target 'lib/a.la', needed by 'b.la'.\n\
                   make[2]: Target 'check-am' not remade because of errors.\n\
                   make[1]: *** [Makefile:1191: check-recursive] Error 1\n";
        let found = telling_lines("test log", log, None, 1);
        assert_eq!(found[0].line, Some(1), "{found:?}");
    }

    #[test]
    fn a_reason_is_short_whatever_it_is_made_of() {
        let long = format!("\u{1b}[31m{}\nand more", "x".repeat(5000));
        let reason = Reason {
            what: long.clone(),
            lines: vec![Evidence::at(&long, 3, &long); 50],
            fault: Fault::Atlas,
            advice: long,
        };
        let text = reason.to_string();
        assert_eq!(text.lines().count(), 8);
        assert!(text.lines().count() <= Reason::LINES);
        assert!(
            text.lines()
                .all(|line| line.chars().count() <= Reason::WIDTH)
        );
        assert!(!text.contains('\u{1b}'));
    }
}
