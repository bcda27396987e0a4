//! Which of an agent's commands ran tests, and how they ended.

use super::Trajectory;
use atlas_core::{LogParser, LogParserExt, ParsedLog, RunOutcome, TestStatus};
use atlas_facts::{Does, does};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Scripts that repositories run their tests by.
const SCRIPTS: &[&str] = &[
    "run-tests.sh",
    "run_tests",
    "run_tests.py",
    "run_tests.sh",
    "runtests",
    "runtests.py",
    "runtests.sh",
    "test.sh",
];

static TEST_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^--?test$|^:?(?:[\w.-]+:)*(?:unit[-_]?|integration[-_]?|e2e[-_]?|run[-_]?)?(?:tests?|check|verify|nextest|spec|rspec|pytest|phpunit)(?:[:_-][\w:.-]*)?$")
        .expect("the pattern is tested")
});

static TEST_FILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^(?:test[\w.-]*|[\w.-]*tests?|[\w.-]*[_.]spec)\.(?:py|php|rb|pl|t|js|mjs|cjs|ts|sh)$",
    )
    .expect("the pattern is tested")
});

static HEREDOC: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"<<-?\s*["']?(\w+)["']?"#).expect("the pattern is tested"));

/// What a runner says of a whole run that failed.
static FAILED_RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?i:\b[1-9]\d* (?:tests? )?(?:failed|failures?|failing|errors?|errored|broken)\b)|(?i:\b(?:failures?|errors?|failed)\s*[:=]\s*[1-9])|^\s*FAILED \(|^FAIL\s*$|\bBUILD FAIL(?:URE|ED)\b|test result: FAILED|^error: (?:doc)?test failed|^error: [1-9]\d* targets? failed|^\s*Tests? (?:Run )?[Ff]ailed\b|: command not found\s*$|\bcould not compile\b",
    )
    .expect("the pattern is tested")
});

/// What it says of one that went well.
static PASSED_RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?i:\b[1-9]\d* (?:tests? )?(?:passed|passing|passes)\b)|^OK\b|\bBUILD SUCCESS|test result: ok|100% tests passed|\bFailures: 0, Errors: 0|^\s*Passed!",
    )
    .expect("the pattern is tested")
});

/// A test or a file that failed.
static FAILED_TEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^\s*FAILED\b|^\s*--- FAIL\b|^\s*FAIL(?:\s+\S*[./]|:)|^not ok \d+(?:[^#\n]|#\d)*$",
    )
    .expect("the pattern is tested")
});

/// One that passed.
static PASSED_TEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^ok\s|^PASS(?:ED)?\b").expect("the pattern is tested"));

/// Failures that were expected: `OK (expected failures=1)`.
static EXPECTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)expected failures\s*=\s*\d+").expect("the pattern is tested")
});

/// How a test command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandOutcome {
    /// With nothing wrong.
    Passed,
    /// With a test that failed, or without having come to the tests.
    Failed,
    /// Nothing tells.
    Unknown,
}

/// One test command of a trajectory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestCommand {
    /// The step, from 1.
    pub step: usize,
    /// The command.
    pub command: String,
    /// How it ended.
    pub outcome: CommandOutcome,
    /// What tells so.
    pub proof: String,
}

/// The commands of a trajectory that ran tests, in order.
///
/// A step counts whose action has a command that runs tests, or calls one of the tools named in
/// `tools`. How it ended is told by a failure that the log parser reads, if one is given; by the exit code, if the test
/// command is the action's last one; by a parser that reads a whole run; by the last summary of a common runner in
/// the output; by its single tests. What comes first in this list decides.
pub fn test_commands(
    trajectory: &Trajectory,
    tools: &[String],
    parser: Option<&dyn LogParser>,
) -> Vec<TestCommand> {
    let mut found = Vec::new();
    for (at, step) in trajectory.steps.iter().enumerate() {
        let commands = commands(&step.action);
        let is_test = |command: &Vec<String>| runs_tests(command, tools);
        let Some(last) = commands.iter().rposition(is_test) else {
            continue;
        };
        let code = step.exit_code.filter(|_| last + 1 == commands.len());
        let (outcome, proof) = outcome(&step.observation, code, parser);
        found.push(TestCommand {
            step: at + 1,
            command: step.action.trim().to_owned(),
            outcome,
            proof,
        });
    }
    found
}

fn outcome(
    output: &str,
    code: Option<i64>,
    parser: Option<&dyn LogParser>,
) -> (CommandOutcome, String) {
    let log = parser.map(|parser| parser.parse(output.as_bytes()));
    if let Some(log) = &log {
        let bad = log
            .results
            .iter()
            .find(|one| matches!(one.status, TestStatus::Failed | TestStatus::Error));
        if let Some(bad) = bad {
            let proof = format!("{} {:?}", bad.qualified, bad.status);
            return (CommandOutcome::Failed, proof);
        }
        if matches!(
            log.outcome,
            RunOutcome::BuildFailed | RunOutcome::Crashed | RunOutcome::TimedOut
        ) {
            return (CommandOutcome::Failed, format!("{:?}", log.outcome));
        }
    }
    match code {
        Some(0) => return (CommandOutcome::Passed, "exit code 0".to_owned()),
        Some(code) => return (CommandOutcome::Failed, format!("exit code {code}")),
        None => {}
    }
    let is_whole = |log: &ParsedLog| log.outcome == RunOutcome::Completed && !log.is_empty();
    if let Some(log) = log.filter(is_whole) {
        let proof = format!("{} tests, none failed", log.results.len());
        return (CommandOutcome::Passed, proof);
    }
    printed(output)
}

/// What the output says by itself: the last summary, since what tests print stands before it; without one its tests.
fn printed(output: &str) -> (CommandOutcome, String) {
    let mut last = None;
    for line in output.lines() {
        let told = EXPECTED.replace_all(line, "");
        if FAILED_RUN.is_match(&told) {
            last = Some((CommandOutcome::Failed, line));
        } else if PASSED_RUN.is_match(&told) {
            last = Some((CommandOutcome::Passed, line));
        }
    }
    let one = |pattern: &Regex| output.lines().find(|line| pattern.is_match(line));
    let tests = || {
        let failed = one(&FAILED_TEST).map(|line| (CommandOutcome::Failed, line));
        failed.or_else(|| Some((CommandOutcome::Passed, one(&PASSED_TEST)?)))
    };
    match last.or_else(tests) {
        Some((outcome, line)) => (outcome, line.trim().chars().take(160).collect()),
        None => (CommandOutcome::Unknown, String::new()),
    }
}

/// Whether a command's words run tests: behind variables and programs that only call another one, a
/// runner, a build tool that is told to test, or a test file that is run.
fn runs_tests(words: &[String], tools: &[String]) -> bool {
    if words.first().is_some_and(|word| tools.contains(word)) {
        return true;
    }
    let mut is_interpreted = false;
    for (at, word) in words.iter().enumerate() {
        let name = word.rsplit('/').next().unwrap_or(word);
        if does(name, Does::Tests) || SCRIPTS.contains(&name) || word.ends_with("bin/test") {
            return true;
        }
        if does(name, Does::Builds) && words[at + 1..].iter().any(|word| TEST_WORD.is_match(word)) {
            return true;
        }
        if (name != word || is_interpreted) && TEST_FILE.is_match(name) {
            return true;
        }
        if at > 0 && words[at - 1].ends_with('c') && word.contains(' ') {
            // `bash -c "..."`, `-lc`: the shell's text is commands again.
            return commands(word).iter().any(|words| runs_tests(words, tools));
        }
        let interprets = does(name, Does::Interprets);
        is_interpreted |= interprets;
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        });
        // Options of these programs, and durations and other numbers behind them.
        let is_option = word.starts_with('-')
            || word
                .chars()
                .all(|c| c.is_ascii_digit() || "smh.".contains(c));
        if !(is_assignment || is_option || does(name, Does::Starts) || interprets) {
            return false;
        }
    }
    false
}

/// The single commands of an action as words: cut at `;`, `&&`, `||`, `|`, `&` and line ends outside
/// of quotes. What a here-document holds is no command.
fn commands(action: &str) -> Vec<Vec<String>> {
    let mut plain = String::new();
    let mut ends_at: Option<String> = None;
    for line in action.lines() {
        if let Some(end) = &ends_at {
            if line.trim() == end {
                ends_at = None;
            }
            continue;
        }
        if let Some(found) = HEREDOC.captures(line) {
            ends_at = Some(found[1].to_owned());
        }
        plain.push_str(line);
        plain.push('\n');
    }
    let mut commands = vec![Vec::new()];
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut letters = plain.chars().peekable();
    let end_word = |word: &mut String, commands: &mut Vec<Vec<String>>| {
        if !word.is_empty()
            && let Some(last) = commands.last_mut()
        {
            last.push(std::mem::take(word));
        }
    };
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') => match letters.next() {
                // A line that goes on.
                Some('\n') | None => {}
                Some(c) => word.push(c),
            },
            (None, ';' | '|' | '&' | '\n' | '(' | ')') => {
                let is_redirection =
                    c == '&' && (word.ends_with('>') || letters.peek() == Some(&'>'));
                if is_redirection {
                    word.push(c);
                } else {
                    end_word(&mut word, &mut commands);
                    commands.push(Vec::new());
                }
            }
            (None, c) if c.is_whitespace() => end_word(&mut word, &mut commands),
            (Some(_) | None, c) => word.push(c),
        }
    }
    end_word(&mut word, &mut commands);
    commands.retain(|words| !words.is_empty());
    commands
}
