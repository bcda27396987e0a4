//! Messages as `OpenAI`'s API has them.

use super::ExportForm;
use super::turns::{Speaker, Turn};
use crate::ToolCall;
use serde_json::{Map, Value, json};

/// A message of either form.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) role: &'static str,
    pub(super) step_id: u64,
    pub(super) content: String,
    pub(super) reasoning: String,
    /// In `OpenAI`'s form.
    pub(super) calls: Vec<Value>,
    pub(super) answers: Option<String>,
    pub(super) train: bool,
}

impl Message {
    /// What a model reads or writes of it.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}{}", self.reasoning, self.content);
        for call in &self.calls {
            text.push_str(&call["function"].to_string());
        }
        text
    }

    /// With every key, so that all rows of a file have one schema.
    pub(super) fn value(&self, form: ExportForm, train: bool, tokens: Option<usize>) -> Value {
        let mut map = Map::new();
        let mut set = |name: &str, value: Value| map.insert(name.to_owned(), value);
        set("role", json!(self.role));
        set("content", json!(self.content));
        if form == ExportForm::Chat {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            set("reasoning_content", json!(some(&self.reasoning)));
            let calls = (!self.calls.is_empty()).then_some(&self.calls);
            set("tool_calls", json!(calls));
            set("tool_call_id", json!(self.answers));
        }
        set("train", json!(train));
        if let Some(tokens) = tokens {
            set("tokens", json!(tokens));
        }
        Value::Object(map)
    }
}

pub(super) fn messages(turns: Vec<Turn>) -> Vec<Message> {
    let message = |turn: Turn| Message {
        role: match turn.speaker {
            Speaker::System => "system",
            Speaker::User => "user",
            Speaker::Agent => "assistant",
            Speaker::Tool => "tool",
        },
        step_id: turn.step_id,
        content: turn.text,
        reasoning: turn.reasoning,
        calls: turn.calls.iter().map(call).collect(),
        answers: turn.answers,
        train: turn.train,
    };
    turns.into_iter().map(message).collect()
}

/// The arguments are a text, as the API has them: as objects, their keys would have to agree over all rows of a table.
fn call(call: &ToolCall) -> Value {
    json!({"id": call.tool_call_id, "type": "function", "function": {
        "name": call.function_name,
        "arguments": call.arguments.to_string(),
    }})
}
