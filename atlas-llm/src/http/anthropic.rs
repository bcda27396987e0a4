//! Anthropic's messages. There are no log-probabilities, no seed and no second sample: they are
//! never asked for.

use super::dialect::Call;
use super::draft::{Draft, count, text};
use atlas_core::Role;
use serde_json::{Map, Value, json};

/// The version of the API, a required header.
pub(super) const VERSION: &str = "2023-06-01";

pub(super) fn body(call: &Call<'_>) -> Value {
    let request = call.request;
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    put("model", json!(call.model));
    put("max_tokens", json!(request.max_tokens));
    put("temperature", json!(request.temperature));
    let system: Vec<&str> = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
        .map(|message| message.content.as_str())
        .collect();
    if !system.is_empty() {
        put("system", json!(system.join("\n\n")));
    }
    let chat: Vec<Value> = request
        .messages
        .iter()
        .filter(|message| message.role != Role::System)
        .map(|message| json!({"role": message.role, "content": message.content}))
        .collect();
    put("messages", json!(chat));
    if let Some(schema) = &request.json_schema {
        let format = json!({"format": {"type": "json_schema", "schema": schema}});
        put("output_config", format);
    }
    if call.stream {
        put("stream", json!(true));
    }
    Value::Object(body)
}

pub(super) fn read(event: &Value, draft: &mut Draft) {
    match event.get("type").and_then(Value::as_str) {
        Some("message_start") => {
            if let Some(message) = event.get("message") {
                read_message(message, draft);
            }
        }
        Some("content_block_delta") => {
            if let Some(piece) = event.get("delta").and_then(|delta| text(delta, "text")) {
                draft.text.push_str(piece);
            }
        }
        Some("message_delta") => {
            if let Some(delta) = event.get("delta") {
                read_stop(delta, draft);
            }
            read_usage(event, draft);
        }
        Some("message_stop") => draft.over = true,
        _ => read_message(event, draft),
    }
}

fn read_message(message: &Value, draft: &mut Draft) {
    let Some(content) = message.get("content").and_then(Value::as_array) else {
        return;
    };
    draft.seen = true;
    // Blocks of other kinds (thinking, tools) are no part of the answer.
    for block in content {
        if text(block, "type").is_none_or(|kind| kind == "text") {
            draft.text.push_str(text(block, "text").unwrap_or_default());
        }
    }
    if let Some(model) = text(message, "model") {
        draft.model = Some(model.to_owned());
    }
    read_stop(message, draft);
    read_usage(message, draft);
}

fn read_stop(holder: &Value, draft: &mut Draft) {
    let Some(word) = text(holder, "stop_reason") else {
        return;
    };
    if word == "refusal" {
        draft.declined = Some("stop_reason is `refusal`".to_owned());
    }
    draft.finish = Some(word.to_owned());
}

/// Counts are of the whole message up to now. What was read from or written to the cache stands
/// apart from `input_tokens` and was read all the same.
fn read_usage(holder: &Value, draft: &mut Draft) {
    let Some(usage) = holder.get("usage") else {
        return;
    };
    if let Some(input) = count(usage, "input_tokens") {
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
            .iter()
            .filter_map(|key| count(usage, key))
            .sum::<u64>();
        draft.prompt_tokens = Some(input + cached);
        draft.cached_tokens = count(usage, "cache_read_input_tokens").or(draft.cached_tokens);
    }
    draft.completion_tokens = count(usage, "output_tokens").or(draft.completion_tokens);
}
