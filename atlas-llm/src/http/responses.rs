//! OpenAI's responses. There is no seed: none is sent, and nothing is stored.

use super::dialect::Call;
use super::draft::{Draft, count, text};
use super::openai::{MOST_ALTERNATIVES, is_strict, read_token_list};
use serde_json::{Map, Value, json};

pub(super) fn body(call: &Call<'_>) -> Value {
    let request = call.request;
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    if !call.model.is_empty() {
        put("model", json!(call.model));
    }
    put("input", json!(request.messages));
    put("max_output_tokens", json!(request.max_tokens));
    put("temperature", json!(request.temperature));
    if let Some(top) = request.top_logprobs {
        put("include", json!(["message.output_text.logprobs"]));
        put("top_logprobs", json!(top.min(MOST_ALTERNATIVES)));
    }
    if let Some(schema) = &request.json_schema {
        let format = json!({
            "type": "json_schema", "name": "answer", "strict": is_strict(schema), "schema": schema,
        });
        put("text", json!({ "format": format }));
    }
    put("store", json!(false));
    if call.stream {
        put("stream", json!(true));
    }
    Value::Object(body)
}

/// A whole response, or one event of a stream, whose last one holds the response again.
pub(super) fn read(event: &Value, draft: &mut Draft) {
    if let Some(response) = event.get("response") {
        if response.get("status").and_then(Value::as_str) != Some("in_progress") {
            draft.text.clear();
            draft.tokens = None;
            draft.tokens_broken = false;
            draft.declined = None;
            read_whole(response, draft);
            draft.over = draft.finish.is_some();
        }
        return;
    }
    match text(event, "type") {
        Some("response.output_text.delta") => {
            draft.seen = true;
            draft
                .text
                .push_str(text(event, "delta").unwrap_or_default());
        }
        Some(kind) if kind.starts_with("response.") => {}
        _ => read_whole(event, draft),
    }
}

fn read_whole(response: &Value, draft: &mut Draft) {
    if let Some(model) = text(response, "model") {
        draft.model = Some(model.to_owned());
    }
    // What the model reasoned is paid for as what is written, and stands among `output_tokens`.
    if let Some(usage) = response.get("usage") {
        draft.prompt_tokens = count(usage, "input_tokens").or(draft.prompt_tokens);
        draft.completion_tokens = count(usage, "output_tokens").or(draft.completion_tokens);
        let details = usage.get("input_tokens_details");
        draft.cached_tokens = details
            .and_then(|details| count(details, "cached_tokens"))
            .or(draft.cached_tokens);
        draft.reasoning_tokens = usage
            .get("output_tokens_details")
            .and_then(|details| count(details, "reasoning_tokens"))
            .or(draft.reasoning_tokens);
    }
    draft.finish = match text(response, "status") {
        Some("completed") => Some("stop".to_owned()),
        Some("queued" | "in_progress") | None => None,
        // `max_output_tokens`, `content_filter`.
        Some(status) => Some(
            response
                .get("incomplete_details")
                .and_then(|details| text(details, "reason"))
                .unwrap_or(status)
                .to_owned(),
        ),
    };
    let output = response.get("output").and_then(Value::as_array);
    for item in output.into_iter().flatten() {
        // Items of other kinds (reasoning, calls of tools) are no part of the answer.
        if text(item, "type").is_some_and(|kind| kind != "message") {
            continue;
        }
        let parts = item.get("content").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            draft.seen = true;
            draft.text.push_str(text(part, "text").unwrap_or_default());
            if let Some(words) = text(part, "refusal") {
                draft.declined.get_or_insert_default().push_str(words);
            }
            if let Some(tokens) = part.get("logprobs").and_then(Value::as_array) {
                read_token_list(tokens, draft);
            }
        }
    }
    // Cut off while it was still reasoning: an answer, and an empty one.
    draft.seen |= text(response, "status") == Some("incomplete");
}
