//! OpenAI's chat completions, as its own servers and many others speak them.

use super::dialect::Call;
use super::draft::{Draft, count, text};
use crate::Provider;
use atlas_core::TokenLogprob;
use serde_json::{Map, Value, json};

/// The most alternatives that any server gives.
pub(super) const MOST_ALTERNATIVES: u8 = 20;

/// What a token is held to be worth whose probability is 0: the value that servers write for it,
/// because JSON has no infinity.
const NEVER: f64 = -9999.0;

pub(super) fn body(call: &Call<'_>) -> Value {
    let request = call.request;
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    if !call.model.is_empty() {
        put("model", json!(call.model));
    }
    put("messages", json!(request.messages));
    // OpenAI's newer models refuse the older name, and most other servers do not know the newer.
    let most = if call.provider == Provider::OpenAi {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    put(most, json!(request.max_tokens));
    put("temperature", json!(request.temperature));
    if let Some(seed) = request.seed {
        put("seed", json!(seed));
    }
    if let Some(top) = request.top_logprobs {
        put("logprobs", json!(true));
        put("top_logprobs", json!(top.min(MOST_ALTERNATIVES)));
    }
    if let Some(schema) = &request.json_schema {
        let format = json!({
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": is_strict(schema), "schema": schema},
        });
        put("response_format", format);
    }
    if call.stream {
        put("stream", json!(true));
        put("stream_options", json!({"include_usage": true}));
    }
    if call.provider == Provider::Llama {
        put("cache_prompt", json!(false));
    }
    Value::Object(body)
}

/// Whether a schema keeps the rules of OpenAI's strict mode, which refuses others: every object
/// is closed, and all its properties are required.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let closed = match fields.get("properties").and_then(Value::as_object) {
                None => true,
                Some(properties) => {
                    let required = fields.get("required").and_then(Value::as_array);
                    fields.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(|name| {
                            required.is_some_and(|all| all.iter().any(|other| other == name))
                        })
                }
            };
            closed && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

pub(super) fn read(event: &Value, draft: &mut Draft) {
    if let Some(model) = text(event, "model") {
        draft.model = Some(model.to_owned());
    }
    if let Some(usage) = event.get("usage") {
        draft.prompt_tokens = count(usage, "prompt_tokens").or(draft.prompt_tokens);
        draft.completion_tokens = count(usage, "completion_tokens").or(draft.completion_tokens);
        // The second is DeepSeek's word.
        draft.cached_tokens = usage
            .get("prompt_tokens_details")
            .and_then(|details| count(details, "cached_tokens"))
            .or_else(|| count(usage, "prompt_cache_hit_tokens"))
            .or(draft.cached_tokens);
        draft.reasoning_tokens = usage
            .get("completion_tokens_details")
            .and_then(|details| count(details, "reasoning_tokens"))
            .or(draft.reasoning_tokens);
    }
    // Of several samples, which only an `extra_body` asks for, the first is the answer.
    let first = |choice: &&Value| count(choice, "index").unwrap_or(0) == 0;
    let choices = event.get("choices").and_then(Value::as_array);
    let Some(choice) = choices.into_iter().flatten().find(first) else {
        return;
    };
    let message = choice.get("message").or_else(|| choice.get("delta"));
    if let Some(message) = message {
        draft.seen = true;
        match message.get("content") {
            Some(Value::String(content)) => draft.text.push_str(content),
            Some(Value::Array(parts)) => {
                for part in parts {
                    draft.text.push_str(text(part, "text").unwrap_or_default());
                }
            }
            _ => {}
        }
        if let Some(words) = text(message, "refusal") {
            draft.declined.get_or_insert_default().push_str(words);
        }
    } else if let Some(content) = choice.get("text").and_then(Value::as_str) {
        draft.seen = true;
        draft.text.push_str(content);
    }
    if let Some(word) = text(choice, "finish_reason") {
        draft.finish = Some(word.to_owned());
    }
    if let Some(logprobs) = choice.get("logprobs") {
        read_tokens(logprobs, draft);
    }
}

fn read_tokens(logprobs: &Value, draft: &mut Draft) {
    if let Some(content) = logprobs.get("content").and_then(Value::as_array) {
        read_token_list(content, draft);
        return;
    }
    // The older completions API, which some servers use for chats too.
    let Some(tokens) = logprobs.get("tokens").and_then(Value::as_array) else {
        return;
    };
    let values = logprobs.get("token_logprobs").and_then(Value::as_array);
    for (at, piece) in tokens.iter().enumerate() {
        let value = values.and_then(|values| values.get(at)?.as_f64());
        let (Some(piece), Some(logprob)) = (piece.as_str(), value) else {
            draft.tokens_broken = true;
            continue;
        };
        let top = logprobs
            .get("top_logprobs")
            .and_then(|all| all.get(at)?.as_object())
            .into_iter()
            .flatten()
            .filter_map(|(piece, value)| Some((piece.clone().into_bytes(), value.as_f64()?)))
            .collect();
        draft.tokens.get_or_insert_default().push(TokenLogprob {
            bytes: piece.as_bytes().to_vec(),
            logprob,
            top,
        });
    }
}

/// Tokens, each with its alternatives.
pub(super) fn read_token_list(content: &[Value], draft: &mut Draft) {
    for entry in content {
        match token(entry) {
            Some((bytes, logprob)) => {
                let top = ["top_logprobs", "top_probs"]
                    .iter()
                    .find_map(|key| entry.get(key)?.as_array())
                    .into_iter()
                    .flatten()
                    .filter_map(token)
                    .collect();
                draft.tokens.get_or_insert_default().push(TokenLogprob {
                    bytes,
                    logprob,
                    top,
                });
            }
            None => draft.tokens_broken = true,
        }
    }
}

/// A token's bytes and log-probability. llama.cpp writes `prob` where it was asked for values after
/// its samplers.
fn token(entry: &Value) -> Option<(Vec<u8>, f64)> {
    let logprob = match entry.get("logprob").and_then(Value::as_f64) {
        Some(logprob) => logprob,
        None => match entry.get("prob").and_then(Value::as_f64)? {
            prob if prob > 0.0 => prob.ln(),
            _ => NEVER,
        },
    };
    let bytes = entry
        .get("bytes")
        .and_then(Value::as_array)
        .and_then(|bytes| {
            bytes
                .iter()
                .map(|byte| u8::try_from(byte.as_u64()?).ok())
                .collect::<Option<Vec<u8>>>()
        });
    let bytes = match bytes {
        Some(bytes) => bytes,
        None => entry.get("token")?.as_str()?.as_bytes().to_vec(),
    };
    Some((bytes, logprob))
}
