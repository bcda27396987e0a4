//! Gemini's `generateContent`.

use super::dialect::Call;
use super::draft::{Draft, count, text};
use atlas_core::{Role, TokenLogprob};
use serde_json::{Map, Value, json};

pub(super) fn body(call: &Call<'_>) -> Value {
    let request = call.request;
    let mut body = Map::new();
    let system: Vec<Value> = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
        .map(|message| json!({"text": message.content}))
        .collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": system}));
    }
    let contents: Vec<Value> = request
        .messages
        .iter()
        .filter(|message| message.role != Role::System)
        .map(|message| {
            let role = if message.role == Role::Assistant {
                "model"
            } else {
                "user"
            };
            json!({"role": role, "parts": [{"text": message.content}]})
        })
        .collect();
    body.insert("contents".to_owned(), json!(contents));
    let mut settings = Map::new();
    let mut put = |key: &str, value: Value| drop(settings.insert(key.to_owned(), value));
    put("maxOutputTokens", json!(request.max_tokens));
    put("temperature", json!(request.temperature));
    if let Some(seed) = request.seed {
        // Its seed has 31 bits.
        put("seed", json!(seed & 0x7fff_ffff));
    }
    if let Some(top) = request.top_logprobs {
        put("responseLogprobs", json!(true));
        if top > 0 {
            put("logprobs", json!(top.min(20)));
        }
    }
    if let Some(schema) = &request.json_schema {
        put("responseMimeType", json!("application/json"));
        put("responseJsonSchema", schema.clone());
    }
    body.insert("generationConfig".to_owned(), Value::Object(settings));
    Value::Object(body)
}

pub(super) fn read(event: &Value, draft: &mut Draft) {
    if let Some(model) = text(event, "modelVersion") {
        draft.model = Some(model.to_owned());
    }
    // Counts are of the whole answer up to now; thoughts are paid for as what is written.
    if let Some(usage) = event.get("usageMetadata") {
        draft.prompt_tokens = count(usage, "promptTokenCount").or(draft.prompt_tokens);
        draft.cached_tokens = count(usage, "cachedContentTokenCount").or(draft.cached_tokens);
        let written = count(usage, "candidatesTokenCount");
        let thoughts = count(usage, "thoughtsTokenCount");
        draft.reasoning_tokens = thoughts.or(draft.reasoning_tokens);
        if written.is_some() || thoughts.is_some() {
            draft.completion_tokens =
                Some(written.unwrap_or_default() + thoughts.unwrap_or_default());
        }
    }
    if let Some(reason) = event
        .get("promptFeedback")
        .and_then(|feedback| text(feedback, "blockReason"))
    {
        draft.declined = Some(format!("the prompt was blocked: {reason}"));
    }
    let Some(candidate) = event.get("candidates").and_then(|all| all.get(0)) else {
        return;
    };
    draft.seen = true;
    let parts = candidate
        .pointer("/content/parts")
        .and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        if part.get("thought") != Some(&Value::Bool(true)) {
            draft.text.push_str(text(part, "text").unwrap_or_default());
        }
    }
    if let Some(word) = text(candidate, "finishReason") {
        draft.finish = Some(word.to_owned());
    }
    draft.avg_logprob = candidate
        .get("avgLogprobs")
        .and_then(Value::as_f64)
        .or(draft.avg_logprob);
    if let Some(result) = candidate.get("logprobsResult") {
        read_tokens(result, draft);
    }
}

fn read_tokens(result: &Value, draft: &mut Draft) {
    let Some(chosen) = result.get("chosenCandidates").and_then(Value::as_array) else {
        return;
    };
    let tops = result.get("topCandidates").and_then(Value::as_array);
    for (at, entry) in chosen.iter().enumerate() {
        let Some((bytes, logprob)) = token(entry) else {
            draft.tokens_broken = true;
            continue;
        };
        let top = tops
            .and_then(|tops| tops.get(at)?.get("candidates")?.as_array())
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
}

fn token(entry: &Value) -> Option<(Vec<u8>, f64)> {
    // An end token has no text, and then no field.
    let text = entry
        .get("token")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Some((
        text.as_bytes().to_vec(),
        entry.get("logProbability")?.as_f64()?,
    ))
}
