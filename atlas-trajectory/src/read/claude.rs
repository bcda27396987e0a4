//! Claude Code: a line a message; parts of one answer of the model share its `message.id`.

use super::value::{keep, number, object, some_text, text};
use super::{ReadError, content};
use crate::{Content, FinalMetrics, Metrics, Source, Step, Trajectory};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Session {
    found: Trajectory,
    /// The answer whose parts are being gathered.
    answer: Option<String>,
    /// Where the step of a call is.
    calls: BTreeMap<String, usize>,
}

impl Session {
    pub(super) fn new() -> Self {
        Self {
            found: Trajectory::new("claude-code"),
            answer: None,
            calls: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, line: &Value) -> Result<(), ReadError> {
        object(line, "")?;
        // Of agents that the agent started only what they bring back is the agent's.
        if line.get("isSidechain") == Some(&Value::Bool(true))
            || line.get("isMeta") == Some(&Value::Bool(true))
        {
            return Ok(());
        }
        if self.found.session_id.is_none() {
            self.found.session_id =
                some_text(line, "sessionId").or_else(|| some_text(line, "session_id"));
        }
        if let Some(version) = some_text(line, "version") {
            self.found.agent.version = version;
        }
        match text(line, "type") {
            "user" => self.user(line),
            "assistant" => self.assistant(line),
            "result" => {
                self.result(line);
                Ok(())
            }
            // Summaries, snapshots, hooks and what later versions add are no steps.
            _ => Ok(()),
        }
    }

    fn user(&mut self, line: &Value) -> Result<(), ReadError> {
        let message = line.get("message").unwrap_or(&Value::Null);
        object(message, "message")?;
        let said = message.get("content").unwrap_or(&Value::Null);
        let parts = said.as_array().map(Vec::as_slice).unwrap_or_default();
        let (results, rest): (Vec<&Value>, Vec<&Value>) = parts
            .iter()
            .partition(|part| text(part, "type") == "tool_result");
        for result in results {
            let id = text(result, "tool_use_id");
            let Some(place) = self.calls.get(id) else {
                let why = format!("a result of `{id}`, which no call before has");
                return Err(ReadError::new("message.content", why));
            };
            let seen = content(result.get("content").unwrap_or(&Value::Null));
            let step = &mut self.found.steps[*place];
            step.observe(Some(id), seen);
            if result.get("is_error") == Some(&Value::Bool(true)) {
                step.extra.insert("is_error".to_owned(), true.into());
            }
        }
        let told = if parts.is_empty() {
            content(said)
        } else {
            content(&Value::Array(rest.into_iter().cloned().collect()))
        };
        if !told.text().is_empty() {
            self.answer = None;
            let mut step = Step::new(Source::User, "");
            step.message = told;
            step.timestamp = some_text(line, "timestamp");
            self.found.push(step);
        }
        Ok(())
    }

    fn assistant(&mut self, line: &Value) -> Result<(), ReadError> {
        let message = line.get("message").unwrap_or(&Value::Null);
        object(message, "message")?;
        let model = some_text(message, "model").filter(|model| model != "<synthetic>");
        self.found.agent.model_name = self.found.agent.model_name.take().or(model);
        let id = some_text(message, "id");
        if id.is_none() || id != self.answer {
            let mut step = Step::new(Source::Agent, "");
            step.timestamp = some_text(line, "timestamp");
            self.found.push(step);
            self.answer = id;
        }
        let place = self.found.steps.len() - 1;
        let step = &mut self.found.steps[place];
        let whole = [serde_json::json!({"type": "text", "text": text(message, "content")})];
        let parts = message.get("content").and_then(Value::as_array);
        for part in parts.map_or(&whole[..], Vec::as_slice) {
            match text(part, "type") {
                "text" => append(&mut step.message, text(part, "text")),
                "thinking" => {
                    let thought = step.reasoning_content.get_or_insert_default();
                    thought.push_str(text(part, "thinking"));
                }
                "tool_use" => {
                    let empty = Value::Object(Map::new());
                    let id = text(part, "id");
                    step.call(
                        id,
                        text(part, "name"),
                        part.get("input").unwrap_or(&empty).clone(),
                    );
                    self.calls.insert(id.to_owned(), place);
                }
                _ => {}
            }
        }
        keep(message, &["stop_reason"], &mut step.extra);
        // Each line of an answer repeats its usage, the last one is the answer's.
        if let Some(usage) = message.get("usage") {
            let cached = number(usage, "cache_read_input_tokens");
            let written = number(usage, "cache_creation_input_tokens").unwrap_or(0);
            let fresh = number(usage, "input_tokens");
            step.metrics = Some(Metrics {
                prompt_tokens: fresh.map(|fresh| fresh + written + cached.unwrap_or(0)),
                completion_tokens: number(usage, "output_tokens"),
                cached_tokens: cached,
                ..Metrics::default()
            });
        }
        Ok(())
    }

    fn result(&mut self, line: &Value) {
        keep(
            line,
            &["subtype", "num_turns", "duration_ms"],
            &mut self.found.extra,
        );
        if let Some(cost) = line.get("total_cost_usd").and_then(Value::as_f64) {
            self.found
                .final_metrics
                .get_or_insert_default()
                .total_cost_usd = Some(cost);
        }
    }

    pub(super) fn finish(mut self) -> Trajectory {
        sum(&mut self.found);
        self.found
    }
}

fn append(message: &mut Content, more: &str) {
    if let Content::Text(text) = message {
        if !text.is_empty() && !more.is_empty() {
            text.push('\n');
        }
        text.push_str(more);
    }
}

/// The tokens of all turns.
pub(super) fn sum(found: &mut Trajectory) {
    let total = |of: fn(&Metrics) -> Option<u64>| {
        let mut seen = found
            .steps
            .iter()
            .filter_map(|step| of(step.metrics.as_ref()?))
            .peekable();
        seen.peek().is_some().then(|| seen.sum::<u64>())
    };
    let sums = FinalMetrics {
        total_prompt_tokens: total(|metrics| metrics.prompt_tokens),
        total_completion_tokens: total(|metrics| metrics.completion_tokens),
        total_cached_tokens: total(|metrics| metrics.cached_tokens),
        total_cost_usd: found
            .final_metrics
            .as_ref()
            .and_then(|all| all.total_cost_usd),
        total_steps: Some(found.steps.len() as u64),
        ..FinalMetrics::default()
    };
    found.final_metrics = Some(sums);
}
