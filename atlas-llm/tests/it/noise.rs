//! Random answers in the right form.

use crate::support::request;
use atlas_core::{CompletionRequest, FinishReason, LanguageModel, RunContext};
use atlas_llm::{Checked, Noise};
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn say(seed: u64, request: &CompletionRequest) -> atlas_core::Completion {
    let cx = RunContext::new("test");
    // Checked, but never asked again: the first answer must be right.
    let model = Checked::new(Noise::new(seed)).asking_again(0);
    model.complete(&cx, request).await.unwrap()
}

#[tokio::test]
async fn labels_are_those_that_the_chat_names() {
    for (text, labels) in [
        (
            "A bug.\nYour output must be a single word: `success` or `failure`.",
            vec!["success", "failure"],
        ),
        (
            "Answer \"PASS\" or \"FAIL\".\n\ndef f(): pass",
            vec!["PASS", "FAIL"],
        ),
        ("Reply with yes or no.", vec!["yes", "no"]),
        (
            "Reply with one of low, medium, or high. Don't explain.",
            vec!["low", "medium", "high"],
        ),
    ] {
        let mut seen = BTreeSet::new();
        for seed in 0..40 {
            let request = CompletionRequest {
                top_logprobs: Some(5),
                ..request(text)
            };
            let answer = say(seed, &request).await;
            let tokens = answer.logprobs.unwrap();
            assert_eq!(tokens.len(), 1);
            assert_eq!(tokens[0].bytes, answer.text.as_bytes());
            let mass: f64 = tokens[0].top.iter().map(|(_, logprob)| logprob.exp()).sum();
            assert!(mass > 0.9 && mass <= 1.0, "{mass}");
            assert!(
                tokens[0]
                    .top
                    .iter()
                    .any(|(bytes, _)| *bytes == tokens[0].bytes)
            );
            seen.insert(answer.text);
        }
        let labels: BTreeSet<String> = labels.into_iter().map(str::to_owned).collect();
        assert_eq!(seen, labels, "{text}");
    }
}

#[tokio::test]
async fn schemas_are_followed() {
    for schema in [
        json!({"type": "object", "properties": {
            "fixed": {"type": "boolean"},
            "score": {"type": "integer", "minimum": 0, "maximum": 3},
            "share": {"type": "number", "minimum": 0, "maximum": 1},
            "why": {"type": "string", "maxLength": 12},
            "class": {"enum": ["bug", "feature", null]},
            "quotes": {"type": "array", "minItems": 1, "maxItems": 4, "items": {"type": "string", "minLength": 90}},
            "rest": {"type": ["string", "null"]},
        }, "required": ["fixed", "score", "share", "why", "class", "quotes"], "additionalProperties": false}),
        json!({"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/point"},
               "$defs": {"point": {"type": "object", "properties": {"x": {"type": "integer", "exclusiveMinimum": 4}}, "required": ["x"]}}}),
        json!({"anyOf": [{"const": "none"}, {"type": "integer"}]}),
        json!({"allOf": [{"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]},
                         {"properties": {"b": {"type": "boolean"}}, "required": ["b"]}]}),
        json!({"type": "object", "properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}, "required": ["n"]}),
        json!({}),
    ] {
        for seed in 0..50 {
            let request = CompletionRequest {
                json_schema: Some(schema.clone()),
                top_logprobs: Some(4),
                max_tokens: 2000,
                ..request("Judge.")
            };
            let answer = say(seed, &request).await;
            let tokens = answer.logprobs.unwrap();
            let bytes: Vec<u8> = tokens
                .iter()
                .flat_map(|token| token.bytes.clone())
                .collect();
            assert_eq!(bytes, answer.text.as_bytes());
            assert!(serde_json::from_str::<Value>(&answer.text).is_ok());
            for token in tokens {
                let mass: f64 = token.top.iter().map(|(_, logprob)| logprob.exp()).sum();
                assert!(token.logprob <= 0.0 && mass <= 1.0 + 1e-9, "{mass}");
            }
        }
    }
}

#[tokio::test]
async fn the_same_question_and_seed_have_the_same_answer() {
    let one = request("Answer `a` or `b`.");
    let answers: BTreeSet<String> = [say(5, &one).await, say(5, &one).await]
        .iter()
        .map(|answer| serde_json::to_string(answer).unwrap())
        .collect();
    assert_eq!(answers.len(), 1);
    // Samples differ by their seed.
    let mut samples = BTreeSet::new();
    for seed in 0..20 {
        let sample = CompletionRequest {
            seed: Some(seed),
            ..one.clone()
        };
        samples.insert(say(5, &sample).await.text);
    }
    assert_eq!(samples.len(), 2);
}

#[tokio::test]
async fn a_limit_on_tokens_cuts_the_answer() {
    let short = CompletionRequest {
        max_tokens: 2,
        ..request("Tell me.")
    };
    let answer = say(1, &short).await;
    assert_eq!(
        (answer.finish, answer.usage.completion_tokens),
        (FinishReason::Length, 2)
    );
    assert_eq!(answer.logprobs, None);
}
