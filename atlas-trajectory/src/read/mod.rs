//! Readers of what agents write, told apart by content.

mod claude;
mod codex;
mod mini;
mod openhands;
mod sweagent;
mod value;

use crate::{Content, Source, Trajectory};
use serde_json::Value;
use std::io::{self, BufRead, Read};

/// A recording that cannot be read: where, and what was found.
#[derive(Debug, thiserror::Error)]
#[error("{}{}{message}", at_line(*.line), in_field(.field))]
pub struct ReadError {
    /// The line, from 1, where the recording has one entry a line or is no JSON.
    pub line: Option<usize>,
    /// The field, as in `steps[2].source`; empty for the whole.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

fn at_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("line {line}: "))
}

fn in_field(field: &str) -> String {
    if field.is_empty() {
        String::new()
    } else {
        format!("`{field}`: ")
    }
}

impl ReadError {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            line: None,
            field: field.into(),
            message: message.into(),
        }
    }

    fn on(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }
}

/// Who wrote a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recorder {
    /// Anybody who writes ATIF: one document, or one a line.
    Atif,
    /// SWE-agent's `.traj`.
    SweAgent,
    /// mini-swe-agent's `.traj.json`.
    MiniSweAgent,
    /// `OpenHands`: a list of events, or rows of `output.jsonl` with a `history`.
    OpenHands,
    /// Claude Code: a session's lines, or those of `--output-format stream-json`.
    ClaudeCode,
    /// Codex: a session's lines.
    Codex,
}

impl Recorder {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Atif,
        Self::SweAgent,
        Self::MiniSweAgent,
        Self::OpenHands,
        Self::ClaudeCode,
        Self::Codex,
    ];

    /// The agent's name in ATIF; `atif` for those who write it themselves.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Atif => "atif",
            Self::SweAgent => "swe-agent",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::OpenHands => "openhands",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// Who wrote a document, or a first line; `None` for what nobody here writes.
    fn of(value: &Value) -> Option<Self> {
        let Value::Object(map) = value else {
            let events = value.as_array()?;
            let first = events.first()?;
            // Early versions of mini-swe-agent wrote their messages and nothing else.
            let is_message = first.get("role").is_some_and(Value::is_string);
            return is_message
                .then_some(Self::MiniSweAgent)
                .or_else(|| is_event(first).then_some(Self::OpenHands));
        };
        let text = |name: &str| map.get(name).and_then(Value::as_str);
        let list = |name: &str| map.get(name).is_some_and(Value::is_array);
        if text("schema_version").is_some_and(|version| version.starts_with("ATIF-")) {
            Some(Self::Atif)
        } else if list("trajectory") {
            Some(Self::SweAgent)
        } else if list("messages")
            && (map.contains_key("info") || map.contains_key("trajectory_format"))
        {
            Some(Self::MiniSweAgent)
        } else if list("history") {
            Some(Self::OpenHands)
        } else if text("type") == Some("session_meta") {
            Some(Self::Codex)
        } else if text("type").is_some()
            && (map.contains_key("sessionId")
                || map.contains_key("session_id")
                || matches!(text("type"), Some("summary" | "file-history-snapshot")))
        {
            Some(Self::ClaudeCode)
        } else if is_event(value) {
            Some(Self::OpenHands)
        } else {
            None
        }
    }

    fn is_session(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex)
    }
}

fn is_event(value: &Value) -> bool {
    value.get("action").is_some_and(Value::is_string)
        || value.get("observation").is_some_and(Value::is_string)
}

/// The trajectories of one recording, one after the other.
///
/// A file with one trajectory a line is held line by line, a session's lines are read one by one into
/// its trajectory; a document is held whole. After an error in a line the next one is read.
#[derive(Debug)]
pub struct Trajectories<R> {
    input: R,
    line: usize,
    done: bool,
}

impl<R: BufRead> Trajectories<R> {
    /// Reads from the start of a recording. Who wrote it is told by its content.
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: 0,
            done: false,
        }
    }

    /// The next line that is not empty, as bytes.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        loop {
            let mut line = Vec::new();
            let read = self.input.read_until(b'\n', &mut line);
            if read.map_err(|why| unreadable(&why))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }

    fn read(&mut self) -> Result<Option<Trajectory>, ReadError> {
        let Some(line) = self.next_line()? else {
            self.done = true;
            return if self.line == 0 {
                Err(ReadError::new("", "the recording is empty"))
            } else {
                Ok(None)
            };
        };
        let first = self.line;
        let value = match serde_json::from_slice::<Value>(&line) {
            Ok(value) => value,
            // A document over several lines.
            Err(why) if first == 1 && why.is_eof() => {
                self.done = true;
                let rest = line.as_slice().chain(&mut self.input);
                serde_json::from_reader(rest).map_err(|why| no_json(&why, 0))?
            }
            Err(why) => return Err(no_json(&why, first - 1)),
        };
        let Some(recorder) = Recorder::of(&value) else {
            return Err(nobodys(&value).on(first));
        };
        if recorder.is_session() {
            self.done = true;
            return self.session(recorder, &value).map(Some);
        }
        if recorder == Recorder::OpenHands && is_event(&value) {
            self.done = true;
            let mut events = vec![value];
            while let Some(line) = self.next_line()? {
                events.push(self.entry(&line)?);
            }
            return openhands::events(&events).map(Some);
        }
        let found = match recorder {
            Recorder::SweAgent => sweagent::read(&value),
            Recorder::MiniSweAgent => mini::read(&value),
            Recorder::OpenHands => openhands::read(&value),
            _ => atif(value),
        };
        found.map(Some).map_err(|why| why.on(first))
    }

    fn entry(&self, line: &[u8]) -> Result<Value, ReadError> {
        serde_json::from_slice(line).map_err(|why| no_json(&why, self.line - 1))
    }

    fn session(&mut self, recorder: Recorder, first: &Value) -> Result<Trajectory, ReadError> {
        let mut claude = claude::Session::new();
        let mut codex = codex::Session::new();
        let mut add = |value: &Value, line: usize| {
            match recorder {
                Recorder::Codex => codex.add(value),
                _ => claude.add(value),
            }
            .map_err(|why| why.on(line))
        };
        add(first, self.line)?;
        while let Some(line) = self.next_line()? {
            let value = self.entry(&line)?;
            add(&value, self.line)?;
        }
        Ok(match recorder {
            Recorder::Codex => codex.finish(),
            _ => claude.finish(),
        })
    }
}

impl<R: BufRead> Iterator for Trajectories<R> {
    type Item = Result<Trajectory, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        self.read().transpose()
    }
}

fn unreadable(why: &io::Error) -> ReadError {
    ReadError::new("", format!("cannot be read: {why}"))
}

fn no_json(why: &serde_json::Error, before: usize) -> ReadError {
    ReadError::new("", format!("no JSON: {why}")).on(before + why.line().max(1))
}

fn nobodys(value: &Value) -> ReadError {
    let found = match value {
        Value::Object(map) => {
            let names: Vec<_> = map.keys().take(8).map(|name| format!("`{name}`")).collect();
            format!("an object with {}", names.join(", "))
        }
        Value::Array(_) => "a list that begins with neither an event nor a message".to_owned(),
        _ => "neither an object nor a list".to_owned(),
    };
    ReadError::new(
        "",
        format!(
            "{found} is no recording that is known here; read are ATIF (`schema_version`), SWE-agent (`trajectory`), \
             mini-swe-agent (`messages`, `info`), OpenHands (`history`, or events with `action` and `observation`), \
             sessions of Claude Code (`sessionId`) and Codex (`session_meta` first)"
        ),
    )
}

/// Reads ATIF and holds it to what the format promises.
fn atif(value: Value) -> Result<Trajectory, ReadError> {
    let found: Trajectory = serde_path_to_error::deserialize(value)
        .map_err(|why| ReadError::new(why.path().to_string(), why.inner().to_string()))?;
    for (at, step) in found.steps.iter().enumerate() {
        let wrong = |field: &str, message: String| {
            Err(ReadError::new(format!("steps[{at}].{field}"), message))
        };
        if step.step_id != at as u64 + 1 {
            return wrong(
                "step_id",
                format!(
                    "is {}; steps are numbered from 1 without gaps, so it should be {}",
                    step.step_id,
                    at + 1
                ),
            );
        }
        if step.source != Source::Agent
            && (step.tool_calls.is_some() || step.reasoning_content.is_some())
        {
            return wrong(
                "source",
                "only steps of `agent` have tool calls and reasoning".to_owned(),
            );
        }
        for result in step.observation.iter().flat_map(|seen| &seen.results) {
            if let Some(id) = &result.source_call_id
                && !step.calls().iter().any(|call| call.tool_call_id == *id)
            {
                return wrong(
                    "observation",
                    format!("`source_call_id` names `{id}`, which is no call of this step"),
                );
            }
        }
    }
    Ok(found)
}

/// A content as it was written: a text, parts, or nothing.
fn content(value: &Value) -> Content {
    match value {
        Value::String(text) => Content::Text(text.clone()),
        Value::Array(parts)
            if parts
                .iter()
                .all(|part| part.get("type") == Some(&"text".into())) =>
        {
            Content::Text(Content::Parts(parts.clone()).text())
        }
        Value::Array(parts) => Content::Parts(parts.clone()),
        Value::Null => Content::default(),
        other => Content::Text(other.to_string()),
    }
}
