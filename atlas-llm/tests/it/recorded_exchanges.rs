//! Twelve exchanges with a real server (`tests/exchanges/`), read through HTTP: each holds a trap.

use crate::support::served;
use atlas_core::{
    ChatMessage, Completion, CompletionRequest, ErrorKind, FinishReason, LanguageModel, RunContext,
};
use atlas_llm::{CallFailure, Checked, FailureCause, HttpModel, ModelConfig, Provider};
use serde_json::Value;
use std::collections::BTreeSet;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

struct Recorded {
    server: MockServer,
    file: Value,
}

impl Recorded {
    /// A server that gives the response of a recorded exchange.
    async fn serve(name: &str) -> Self {
        let file = std::fs::read_to_string(format!("tests/exchanges/{name}.json")).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        let response = &file["response"];
        let status = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
        let kind = response["content_type"].as_str().unwrap();
        let body = match response["text"].as_str() {
            Some(text) => text.to_owned(),
            None => response["json"].to_string(),
        };
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .and(path("/v1/chat/completions"))
            .respond_with(ResponseTemplate::new(status).set_body_raw(body, kind))
            .mount(&server)
            .await;
        Self { server, file }
    }

    /// The recorded question, as Atlas asks it; what it cannot say is an `extra_body`.
    fn question(&self) -> (ModelConfig, CompletionRequest) {
        let body = &self.file["request"]["body"];
        let messages: Vec<ChatMessage> = serde_json::from_value(body["messages"].clone()).unwrap();
        let top = body["top_logprobs"]
            .as_u64()
            .map(|top| u8::try_from(top).unwrap());
        let logprobs = body["logprobs"].as_bool().unwrap_or(false);
        let request = CompletionRequest {
            messages,
            max_tokens: u32::try_from(body["max_tokens"].as_u64().unwrap()).unwrap(),
            temperature: body["temperature"].as_f64().unwrap_or(0.0),
            seed: body["seed"].as_u64(),
            top_logprobs: top.or(logprobs.then_some(0)),
            json_schema: body["response_format"]["json_schema"]
                .get("schema")
                .cloned(),
        };
        let mut config = ModelConfig {
            stream: body["stream"].as_bool().unwrap_or(false),
            provider: Provider::Llama,
            ..served(&format!("{}/v1", self.server.uri()))
        };
        for field in ["grammar", "post_sampling_probs", "samplers", "n"] {
            if let Some(value) = body.get(field) {
                config.extra_body.insert(field.to_owned(), value.clone());
            }
        }
        (config, request)
    }

    async fn ask(&self) -> Result<Completion, atlas_core::Error> {
        let (config, request) = self.question();
        let model = HttpModel::open(&config).unwrap();
        let answer = model.complete(&RunContext::new("test"), &request).await;
        // What was sent is what was recorded, field by field, but for the cache.
        let sent = self.server.received_requests().await.unwrap().remove(0);
        let sent: Value = sent.body_json().unwrap();
        assert_eq!(sent["cache_prompt"], false);
        for (field, value) in self.file["request"]["body"].as_object().unwrap() {
            match value.as_f64() {
                Some(number) => assert_eq!(sent[field].as_f64(), Some(number), "{field}"),
                None if field == "response_format" => assert!(sent[field].is_object()),
                None => assert_eq!(&sent[field], value, "{field}"),
            }
        }
        answer
    }

    /// The response's own words, to compare with.
    fn choice(&self) -> &Value {
        &self.file["response"]["json"]["choices"][0]
    }
}

/// The bytes of all tokens.
fn bytes(answer: &Completion) -> Vec<u8> {
    let tokens = answer.logprobs.as_ref().unwrap();
    tokens
        .iter()
        .flat_map(|token| token.bytes.clone())
        .collect()
}

#[test]
fn all_of_them_are_read() {
    let files: BTreeSet<String> = std::fs::read_dir("tests/exchanges")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let tested: BTreeSet<String> = [
        "logprobs_only",
        "n3_rejected",
        "r1_free_text_disobeys",
        "r1_grammar_post_sampling_0",
        "r1_grammar_post_sampling_1",
        "r1_grammar_raw_logprobs_0",
        "r1_grammar_raw_logprobs_1",
        "review_json_schema",
        "review_json_schema_truncated",
        "stream_logprobs",
        "too_long_context",
        "top_logprobs_absent",
    ]
    .iter()
    .map(|name| format!("{name}.json"))
    .collect();
    assert_eq!(files, tested);
}

#[tokio::test]
async fn text_usage_and_every_token_come_as_they_were_sent() {
    for name in [
        "logprobs_only",
        "r1_free_text_disobeys",
        "r1_grammar_raw_logprobs_0",
        "r1_grammar_raw_logprobs_1",
        "review_json_schema",
        "review_json_schema_truncated",
    ] {
        let recorded = Recorded::serve(name).await;
        let answer = recorded.ask().await.unwrap();
        let choice = recorded.choice();
        assert_eq!(choice["message"]["content"], answer.text);
        let usage = &recorded.file["response"]["json"]["usage"];
        assert_eq!(usage["prompt_tokens"], answer.usage.prompt_tokens);
        assert_eq!(usage["completion_tokens"], answer.usage.completion_tokens);
        let tokens = answer.logprobs.as_ref().unwrap();
        let sent = choice["logprobs"]["content"].as_array().unwrap();
        assert_eq!(tokens.len(), sent.len(), "{name}");
        for (token, sent) in tokens.iter().zip(sent) {
            assert_eq!(sent["bytes"], serde_json::json!(token.bytes));
            assert_eq!(
                sent["logprob"].as_f64().unwrap().to_bits(),
                token.logprob.to_bits()
            );
            let top = sent["top_logprobs"].as_array().unwrap();
            assert_eq!(top.len(), token.top.len());
            for (alternative, sent) in token.top.iter().zip(top) {
                assert_eq!(sent["bytes"], serde_json::json!(alternative.0));
                assert_eq!(
                    sent["logprob"].as_f64().unwrap().to_bits(),
                    alternative.1.to_bits()
                );
            }
        }
    }
}

#[tokio::test]
async fn alternatives_that_nobody_asked_for_are_kept() {
    let answer = Recorded::serve("logprobs_only").await.ask().await.unwrap();
    assert!(
        answer
            .logprobs
            .unwrap()
            .iter()
            .all(|token| token.top.len() == 20)
    );
    assert_eq!(answer.finish, FinishReason::Length);
}

#[tokio::test]
async fn log_probabilities_that_were_not_sent_are_absent() {
    let recorded = Recorded::serve("top_logprobs_absent").await;
    let answer = recorded.ask().await.unwrap();
    assert_eq!((answer.logprobs, answer.avg_logprob), (None, None));
    assert_eq!(answer.text, "No, the bug");
    // Capability is read from the response: asking makes none appear.
    let (config, request) = recorded.question();
    let request = CompletionRequest {
        top_logprobs: Some(20),
        ..request
    };
    let model = HttpModel::open(&config).unwrap();
    let answer = model
        .complete(&RunContext::new("test"), &request)
        .await
        .unwrap();
    assert_eq!(answer.logprobs, None);
}

#[tokio::test]
async fn values_after_the_samplers_are_read_under_their_other_names() {
    for (name, first, emitted) in [
        (
            "r1_grammar_post_sampling_0",
            0.374_023_795_127_868_65_f64,
            "f",
        ),
        ("r1_grammar_post_sampling_1", 0.448_282_033_205_032_35, "f"),
    ] {
        let answer = Recorded::serve(name).await.ask().await.unwrap();
        assert_eq!(answer.text, "failure");
        let tokens = answer.logprobs.as_ref().unwrap();
        assert_eq!(tokens[0].bytes, emitted.as_bytes());
        assert!((tokens[0].top[0].1 - first.ln()).abs() < 1e-12);
        let mass: f64 = tokens[0].top.iter().map(|(_, logprob)| logprob.exp()).sum();
        assert!((mass - 1.0).abs() < 0.01, "{mass}");
        assert_eq!(bytes(&answer), b"failure");
    }
    // The likeliest first token is the whole word `success`; the word that was written is split.
    let answer = Recorded::serve("r1_grammar_post_sampling_0")
        .await
        .ask()
        .await
        .unwrap();
    assert_eq!(answer.logprobs.unwrap()[0].top[0].0, b"success");
}

#[tokio::test]
async fn fence_and_end_tokens_are_delivered_as_returned() {
    let answer = Recorded::serve("review_json_schema")
        .await
        .ask()
        .await
        .unwrap();
    assert!(answer.text.starts_with('{'));
    let tokens = answer.logprobs.as_ref().unwrap();
    assert_eq!(
        (tokens[0].bytes.as_slice(), tokens[1].bytes.as_slice()),
        (&b"```"[..], &b"json"[..])
    );
    assert!(tokens.last().unwrap().bytes.is_empty());
    // Where the text stands among the tokens' bytes is for the reader of scores to find.
    let all = bytes(&answer);
    assert_ne!(all, answer.text.as_bytes());
    assert!(String::from_utf8(all).unwrap().contains(&answer.text));
}

#[tokio::test]
async fn a_schema_answer_is_checked_and_a_cut_one_refused() {
    let recorded = Recorded::serve("review_json_schema").await;
    let (config, request) = recorded.question();
    let model = Checked::new(HttpModel::open(&config).unwrap());
    let answer = model
        .complete(&RunContext::new("test"), &request)
        .await
        .unwrap();
    let json: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(json["is_bug_fixed"], true);

    let recorded = Recorded::serve("review_json_schema_truncated").await;
    let (config, request) = recorded.question();
    let model = Checked::new(HttpModel::open(&config).unwrap());
    let why = model
        .complete(&RunContext::new("test"), &request)
        .await
        .unwrap_err();
    assert!(
        why.chain().contains("cut off after 14 tokens"),
        "{}",
        why.chain()
    );
    // Asked again it would be cut at the same place.
    assert_eq!(recorded.server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_model_that_does_not_keep_to_the_form_is_no_error_of_transport() {
    let answer = Recorded::serve("r1_free_text_disobeys")
        .await
        .ask()
        .await
        .unwrap();
    assert_eq!(answer.text, "The agent will fail if the Foo");
    assert_eq!(answer.finish, FinishReason::Length);
}

#[tokio::test]
async fn a_stream_is_put_together() {
    let answer = Recorded::serve("stream_logprobs")
        .await
        .ask()
        .await
        .unwrap();
    assert_eq!(answer.text.as_bytes(), bytes(&answer));
    assert_eq!(answer.finish, FinishReason::Length);
    let tokens = answer.logprobs.unwrap();
    assert_eq!(tokens.len(), 6);
    assert!(tokens.iter().all(|token| token.top.len() == 2));
}

#[tokio::test]
async fn refusals_name_their_cause() {
    for (name, cause, words) in [
        ("n3_rejected", FailureCause::SamplesRefused, "Field 'n'"),
        (
            "too_long_context",
            FailureCause::ContextOverflow,
            "4096 tokens",
        ),
    ] {
        let why = Recorded::serve(name).await.ask().await.unwrap_err();
        assert_eq!(why.kind(), ErrorKind::Model);
        let failure = CallFailure::of(&why).unwrap();
        assert_eq!((failure.cause, failure.status), (cause, Some(400)));
        assert!(failure.message.contains(words), "{failure}");
    }
}
