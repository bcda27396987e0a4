//! What a model is asked.

use super::{Form, SynthRequest};
use crate::rules::RuleSet;
use crate::text::{clean, lossy};
use atlas_core::{ChatMessage, CompletionRequest, Role};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const RULES: &str = include_str!("prompts/rules.v1.md");
const SCRIPT: &str = include_str!("prompts/script.v1.md");

/// The most bytes of a log's beginning, end and middle that are shown.
const HEAD: usize = 6_000;
const TAIL: usize = 4_000;
const MIDDLE: usize = 3_000;
/// The most logs that are shown.
const LOGS: usize = 3;

impl Form {
    /// The instructions' name and version.
    pub fn prompt_version(self) -> &'static str {
        match self {
            Self::Rules => "rules.v1",
            Self::Script => "script.v1",
        }
    }

    /// The instructions.
    pub fn prompt(self) -> &'static str {
        match self {
            Self::Rules => RULES,
            Self::Script => SCRIPT,
        }
    }
}

/// The request; the same question gives the same bytes, so that answers can be replayed.
pub(super) fn request(
    form: Form,
    asked: &SynthRequest<'_>,
    before: Option<&(String, Vec<String>)>,
    tokens: u32,
) -> CompletionRequest {
    let message = |role, content: String| ChatMessage { role, content };
    let mut messages = vec![
        message(Role::System, form.prompt().to_owned()),
        message(Role::User, question(form, asked)),
    ];
    if let Some((answer, problems)) = before {
        messages.push(message(Role::Assistant, answer.clone()));
        let mut text = "This does not do:\n".to_owned();
        for problem in problems {
            let _ = writeln!(text, "- {problem}");
        }
        text.push_str("Answer again with the whole JSON object.");
        messages.push(message(Role::User, text));
    }
    CompletionRequest {
        messages,
        max_tokens: tokens,
        temperature: 0.0,
        seed: Some(0),
        top_logprobs: None,
        json_schema: Some(schema(form)),
    }
}

fn schema(form: Form) -> Value {
    match form {
        Form::Rules => json!({
            "type": "object",
            "properties": {
                "form": {"type": "string", "enum": ["rules", "cannot"]},
                "why": {"type": "string"},
                "rules": RuleSet::json_schema(),
            },
            "required": ["form"],
            "additionalProperties": false,
        }),
        Form::Script => json!({
            "type": "object",
            "properties": {"code": {"type": "string"}},
            "required": ["code"],
            "additionalProperties": false,
        }),
    }
}

fn question(form: Form, asked: &SynthRequest<'_>) -> String {
    let what = match form {
        Form::Rules => "a rule set",
        Form::Script => "a parser in Python",
    };
    let mut text = format!("Write {what} with the id `{}`", asked.id);
    if let Some(command) = asked.command {
        let _ = write!(text, " for the output of `{command}`");
    }
    text.push_str(".\n");
    if let Some(count) = asked.tests_in_sources {
        let _ = writeln!(text, "The sources have about {count} tests.");
    }
    for log in asked.logs.iter().take(LOGS) {
        let _ = write!(text, "\nLog `{}`", log.name);
        if let Some(code) = log.exit_code {
            let _ = write!(text, ", the command ended with {code}");
        }
        text.push_str(":\n---\n");
        text.push_str(&excerpt(log.bytes));
        text.push_str("\n---\n");
    }
    text
}

/// A log's beginning and end, and of what is between them each kind of line once.
pub(super) fn excerpt(log: &[u8]) -> String {
    let text: Vec<String> = log
        .split(|byte| *byte == b'\n')
        .map(|line| {
            let line = clean(line);
            lossy(&line).trim_end().chars().take(300).collect()
        })
        .collect();
    let whole = text.join("\n");
    if whole.len() <= HEAD + TAIL + MIDDLE {
        return whole.trim_end().to_owned();
    }
    let (mut head, mut used) = (0, 0);
    while head < text.len() && used + text[head].len() < HEAD {
        used += text[head].len() + 1;
        head += 1;
    }
    let (mut tail, mut used) = (text.len(), 0);
    while tail > head && used + text[tail - 1].len() < TAIL {
        used += text[tail - 1].len() + 1;
        tail -= 1;
    }
    // Lines of one kind differ in their letters only.
    let kind = |line: &str| -> String {
        let mut kind = String::new();
        for c in line.chars().take(120) {
            let c = match c {
                c if c.is_lowercase() => 'a',
                c if c.is_ascii_digit() => '0',
                c => c,
            };
            if !kind.ends_with(c) {
                kind.push(c);
            }
        }
        kind
    };
    let mut seen: BTreeSet<String> = text[..head].iter().map(|line| kind(line)).collect();
    let mut middle = Vec::new();
    let mut used = 0;
    for line in &text[head..tail] {
        if used + line.len() < MIDDLE && seen.insert(kind(line)) {
            used += line.len() + 1;
            middle.push(line.as_str());
        }
    }
    format!(
        "{}\n… {} lines, of them these kinds:\n{}\n… the end:\n{}",
        text[..head].join("\n"),
        tail - head,
        middle.join("\n"),
        text[tail..].join("\n").trim_end()
    )
}
