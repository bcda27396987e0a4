//! Hint contamination control (paper 001, appendix F.3, step 2).

use super::{Attempt, TrajectoryGate, finding, proof, verdict};
use crate::Step;
use async_trait::async_trait;
use atlas_core::{Error, Evidence, RunContext, Severity, Verdict};
use regex::Regex;
use std::sync::LazyLock;

/// Words that speak of a hint. In code the word is mostly another's: parts of names (`get_type_hints`) are not
/// it, nor are type hints and what is usual beside it.
static HINT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bhint(?:s|ed|ing)?\b").expect("the pattern is tested"));

/// Before the word: what makes it a term of programming.
static TERM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:\b(?:type|typing|return|annotation|size|resource|compiler|optimi[sz]er|query|index|tool)[ -]?|[.$@:>-])\z")
        .expect("the pattern is tested")
});

/// How git, pip, Django and others begin a line of advice of their own.
static ADVICE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)^\W*hint: ").expect("the pattern is tested"));

/// The least letters and digits of a hint's line that is looked for as a whole.
const LEAST: usize = 12;

/// What a gate looks for: words that speak of hints, the hint's own lines, and words of the user.
#[derive(Clone, Debug, Default)]
pub struct HintTerms {
    lines: Vec<String>,
    more: Vec<String>,
}

impl HintTerms {
    /// Terms for one hint. Its lines count as a whole, white space aside; names in it do not, for a solution
    /// has to write them. `more` are further words, in any case of letters.
    pub fn new(hint: &str, more: &[String]) -> Self {
        let lines = hint.lines().map(squeeze);
        Self {
            lines: lines
                .filter(|line| line.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST)
                .collect(),
            more: more.iter().map(|word| word.to_lowercase()).collect(),
        }
    }

    /// The first line of a text that has a term.
    pub fn find<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.find_where(text, |_| true)
    }

    /// The same; words that speak of hints count only in lines of which `may_speak` says so.
    fn find_where<'a>(&self, text: &'a str, may_speak: impl Fn(&str) -> bool) -> Option<&'a str> {
        text.lines()
            .find(|line| self.is_told(line) || may_speak(line) && speaks(line))
    }

    /// A text without the lines that repeat one of the hint.
    pub(crate) fn without_lines(&self, text: &str) -> String {
        let rest: Vec<&str> = text.lines().filter(|line| !self.repeats(line)).collect();
        rest.join("\n")
    }

    /// Whether a line holds one of the hint.
    pub(crate) fn repeats(&self, line: &str) -> bool {
        let squeezed = squeeze(line);
        self.lines
            .iter()
            .any(|told| squeezed.contains(told.as_str()))
    }

    /// Whether a line holds one of the hint, or a word of the user.
    fn is_told(&self, line: &str) -> bool {
        let lower = line.to_lowercase();
        self.repeats(line) || self.more.iter().any(|word| lower.contains(word.as_str()))
    }

    /// The first line of a step's thoughts that has a term.
    pub fn in_thought(&self, step: &Step) -> Option<String> {
        let reasoning = step.reasoning_content.as_deref().unwrap_or_default();
        let message = step.message.text();
        self.find(&message)
            .or_else(|| self.find(reasoning))
            .map(str::to_owned)
    }
}

/// Whether a line speaks of a hint.
pub(crate) fn speaks(line: &str) -> bool {
    HINT.find_iter(line).any(|word| {
        // `hint=`, `hint(` and `hint.text` are names of code; a sentence may end with the word.
        let mut next = line[word.end()..].chars();
        let is_name = match (next.next(), next.next()) {
            (Some('=' | '(' | '['), _) => true,
            (Some('.'), Some(after)) => after.is_alphanumeric(),
            _ => false,
        };
        !is_name && !TERM.is_match(&line[..word.start()])
    })
}

pub(crate) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Refuses attempts whose actions or observations speak of the hint; where only thoughts do, they are to be
/// rewritten ([`Decision::Repair`](atlas_core::Decision::Repair)).
#[derive(Clone, Debug, Default)]
pub struct HintWords {
    /// Words that count beside the usual ones. Default: none.
    pub words: Vec<String>,
}

impl HintWords {
    /// The gate's name.
    pub const ID: &str = "hint_words";
}

#[async_trait]
impl TrajectoryGate for HintWords {
    fn id(&self) -> &str {
        Self::ID
    }

    async fn check(&self, _: &RunContext, attempt: &Attempt) -> Result<Verdict, Error> {
        let terms = HintTerms::new(&attempt.hint, &self.words);
        let (mut actions, mut observations, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
        for step in attempt.trajectory.agent_steps() {
            for call in step.calls() {
                let mut texts = Vec::new();
                strings(&call.arguments, &mut texts);
                let hit = texts.iter().find_map(|text| terms.find(text));
                actions.extend(hit.map(|line| proof(step, "action", line)));
            }
            for seen in step.observed() {
                let hit = terms.find_where(&seen, |line| !ADVICE.is_match(line));
                observations.extend(hit.map(|line| proof(step, "observation", line)));
            }
            thoughts.extend(
                terms
                    .in_thought(step)
                    .map(|line| proof(step, "thought", &line)),
            );
        }
        let mut findings = Vec::new();
        let mut add = |code: &str, severity, what: &str, evidence: Vec<Evidence>| {
            if !evidence.is_empty() {
                let message = format!("{what} that speak of the hint: {}", evidence.len());
                findings.push(finding(code, severity, message, evidence));
            }
        };
        add("hint_in_action", Severity::Fatal, "actions", actions);
        add(
            "hint_in_observation",
            Severity::Fatal,
            "observations",
            observations,
        );
        add("hint_in_thought", Severity::Warning, "thoughts", thoughts);
        Ok(verdict(Self::ID, findings))
    }
}

/// The texts in a call's arguments, at any depth: as JSON their line ends would be escaped.
fn strings<'a>(value: &'a serde_json::Value, into: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::String(text) => into.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        serde_json::Value::Object(map) => map.values().for_each(|item| strings(item, into)),
        _ => {}
    }
}
