//! Where in a log a message of the run may be, for those who ask why it failed.

use atlas_core::{Evidence, ParsedLog, RunOutcome};
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The most lines that belong to one failing test.
const BLOCK: usize = 200;
/// The end of a run that broke off.
const END: usize = 40;

/// Runners whose tests print amid their own messages, and the form of these.
const FORMS: &[(&str, &str)] = &[
    ("pytest", r"^E\s|^(?:FAILED|ERROR) "),
    ("gotest", r"^\s+\S+\.go:\d+: |^panic: "),
];

static KNOWN: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let form = |form| Regex::new(form).expect("a form of the table compiles");
    FORMS.iter().map(|(id, text)| (*id, form(text))).collect()
});

/// Heads of what a test printed, which runners put below its message.
static PRINTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:captured (?:std|log|out|err)|(?:std(?:out|err)|console\.\w+)\b)")
        .expect("the pattern is tested")
});

/// The lines of a log where a message about its failure may be, in their order: those that the parser keeps
/// of modules which were lost, those below the heading of a failing test, and all lines of a run that names
/// no test, or the last ones of one that broke off. What a passing test prints, or any test between its messages,
/// is none.
///
/// ```
/// use atlas_parsers::{Hints, Parsers, message_lines};
/// use atlas_core::LogParserExt as _;
/// let log = "=== RUN   TestA\ndisk full\n    a_test.go:7: want 3\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx\t0.01s\n";
/// let parsed = Parsers::builtin().get("gotest").unwrap().parse(log.as_bytes());
/// let found = message_lines(log, &parsed);
/// assert_eq!(found[0].text, "a_test.go:7: want 3");
/// ```
pub fn message_lines(log: &str, parsed: &ParsedLog) -> Vec<Evidence> {
    let lines: Vec<&str> = log.lines().collect();
    let mut kept: Vec<usize> = Vec::new();
    if parsed.results.is_empty() {
        kept.extend(0..lines.len());
    } else if !matches!(parsed.outcome, RunOutcome::Completed) {
        kept.extend(lines.len().saturating_sub(END)..lines.len());
    }
    let lost = parsed
        .modules_not_loaded
        .iter()
        .flat_map(|lost| &lost.lines);
    kept.extend(lost.filter_map(|line| line.line?.checked_sub(1)));
    blocks(&lines, parsed, &mut kept);
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter()
        .filter_map(|at| Some(Evidence::at("log", at + 1, lines.get(at)?.trim())))
        .filter(|line| !line.text.is_empty())
        .collect()
}

/// The last part of a name: what a heading repeats of it.
fn leaf(name: &str) -> &str {
    let mut leaf = name;
    for between in ["::", " > ", " › "] {
        leaf = leaf.rsplit(between).next().unwrap_or(leaf);
    }
    leaf.trim()
}

/// Names by their longest word, each with whether its test fails.
struct Index<'a>(HashMap<&'a str, Vec<(&'a str, bool)>>);

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

impl<'a> Index<'a> {
    fn of(parsed: &'a ParsedLog) -> Self {
        let mut index: HashMap<&str, Vec<(&str, bool)>> = HashMap::new();
        for test in &parsed.results {
            let leaf = leaf(test.name);
            // unittest: `test_sum (mod.Case)`.
            let leaf = leaf.split(" (").next().unwrap_or(leaf);
            if let Some(word) = words(leaf).max_by_key(|word| word.len()) {
                let known = index.entry(word).or_default();
                if known.len() < 64 {
                    known.push((leaf, test.status.is_failing()));
                }
            }
        }
        Self(index)
    }

    /// Whether a line names a test, and whether one that fails.
    fn named(&self, line: &str) -> Option<bool> {
        let known = words(line).filter_map(|word| self.0.get(word)).flatten();
        let named = known.filter(|(leaf, _)| line.contains(leaf));
        named
            .map(|(_, fails)| *fails)
            .reduce(|one, other| one || other)
    }
}

/// The lines below headings of failing tests.
fn blocks(lines: &[&str], parsed: &ParsedLog, kept: &mut Vec<usize>) {
    const LONGEST: usize = 4096;
    let index = Index::of(parsed);
    let form = KNOWN.iter().find(|(id, _)| *id == parsed.parser);
    let mut left = 0;
    for (at, line) in lines.iter().enumerate() {
        if line.len() > LONGEST {
            continue;
        }
        match index.named(line) {
            // Below the line that a test begins stands what it prints.
            Some(true) if form.is_none() && is_begin(line) => left = 0,
            Some(true) => left = BLOCK,
            Some(false) => left = 0,
            None if PRINTED.is_match(line) => left = 0,
            None => {}
        }
        let is_message = form.is_none_or(|(_, form)| form.is_match(line));
        if left > 0 && is_message {
            kept.push(at);
        }
        left = left.saturating_sub(1);
    }
}

/// `=== RUN TestA`, `test a ...`: a test begins.
fn is_begin(line: &str) -> bool {
    let line = line.trim();
    ["RUN", "[ RUN", "# Subtest", "Starting", "begin"]
        .iter()
        .any(|word| line.trim_start_matches(['=', ' ']).starts_with(word))
        || line.ends_with("...")
}
