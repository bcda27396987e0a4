//! Codex: a session's lines. `response_item`s are the chat; `event_msg` repeats it for people and has the tokens.

use super::claude::sum;
use super::value::{arguments, number, object, some_text, text};
use super::{ReadError, content};
use crate::{Content, Metrics, Source, Step, Trajectory};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Session {
    found: Trajectory,
    /// Whether the last step is a turn of the model that may still grow.
    open: bool,
    calls: BTreeMap<String, usize>,
}

impl Session {
    pub(super) fn new() -> Self {
        Self {
            found: Trajectory::new("codex"),
            open: false,
            calls: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, line: &Value) -> Result<(), ReadError> {
        object(line, "")?;
        let payload = line.get("payload").unwrap_or(&Value::Null);
        match text(line, "type") {
            "session_meta" if self.found.session_id.is_none() => {
                self.found.session_id = some_text(payload, "id");
                if let Some(version) = some_text(payload, "cli_version") {
                    self.found.agent.version = version;
                }
            }
            "turn_context" if self.found.agent.model_name.is_none() => {
                self.found.agent.model_name = some_text(payload, "model");
            }
            "response_item" => {
                object(payload, "payload")?;
                return self.item(payload, some_text(line, "timestamp"));
            }
            "event_msg" => self.event(payload),
            _ => {}
        }
        Ok(())
    }

    fn turn(&mut self, timestamp: Option<String>) -> usize {
        if !self.open {
            let mut step = Step::new(Source::Agent, "");
            step.timestamp = timestamp;
            self.found.push(step);
            self.open = true;
        }
        self.found.steps.len() - 1
    }

    fn item(&mut self, item: &Value, timestamp: Option<String>) -> Result<(), ReadError> {
        match text(item, "type") {
            "message" => {
                let said = said(item.get("content").unwrap_or(&Value::Null));
                let source = match text(item, "role") {
                    "assistant" => {
                        let place = self.turn(timestamp);
                        let step = &mut self.found.steps[place];
                        let before = step.message.text();
                        let line_end = if before.is_empty() { "" } else { "\n" };
                        step.message = Content::Text(format!("{before}{line_end}{said}"));
                        return Ok(());
                    }
                    "system" | "developer" => Source::System,
                    _ => Source::User,
                };
                self.open = false;
                let mut step = Step::new(source, said);
                step.timestamp = timestamp;
                self.found.push(step);
            }
            "reasoning" => {
                let place = self.turn(timestamp);
                let thought = said(item.get("summary").unwrap_or(&Value::Null));
                if !thought.is_empty() {
                    let reasoning = self.found.steps[place]
                        .reasoning_content
                        .get_or_insert_default();
                    reasoning.push_str(&thought);
                }
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let place = self.turn(timestamp);
                let id = text(item, "call_id").to_owned();
                let (name, given) = match text(item, "type") {
                    "function_call" => {
                        let given = item.get("arguments").unwrap_or(&Value::Null);
                        (text(item, "name"), arguments(given))
                    }
                    "custom_tool_call" => {
                        (text(item, "name"), json!({ "input": text(item, "input") }))
                    }
                    _ => ("shell", item.get("action").cloned().unwrap_or(Value::Null)),
                };
                self.found.steps[place].call(&id, name, given);
                self.calls.insert(id, place);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = text(item, "call_id");
                let Some(place) = self.calls.get(id) else {
                    let why = format!("an output of `{id}`, which no call before has");
                    return Err(ReadError::new("payload.call_id", why));
                };
                let seen = content(item.get("output").unwrap_or(&Value::Null));
                self.found.steps[*place].observe(Some(id), seen);
                self.open = false;
            }
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self, event: &Value) {
        match text(event, "type") {
            "token_count" => {
                let last = event.pointer("/info/last_token_usage");
                let step = self
                    .found
                    .steps
                    .iter_mut()
                    .rev()
                    .find(|step| step.source == Source::Agent);
                if let (Some(usage), Some(step)) = (last, step) {
                    step.metrics = Some(Metrics {
                        prompt_tokens: number(usage, "input_tokens"),
                        completion_tokens: number(usage, "output_tokens"),
                        cached_tokens: number(usage, "cached_input_tokens"),
                        ..Metrics::default()
                    });
                }
                self.open = false;
            }
            kind @ ("task_complete" | "turn_aborted") => {
                self.open = false;
                self.found
                    .extra
                    .insert("exit_status".to_owned(), kind.into());
            }
            "task_started" => {
                self.found.extra.shift_remove("exit_status");
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Trajectory {
        sum(&mut self.found);
        self.found
    }
}

/// The texts of parts of any type.
fn said(value: &Value) -> String {
    match value {
        Value::Array(parts) => Content::Parts(parts.clone()).text(),
        other => content(other).text(),
    }
}
