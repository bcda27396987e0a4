//! A real model, where `ATLAS_TEST_MODEL` holds its base URL (`scripts/local-model` starts one). It
//! understands nothing: what is shown is that real exchanges run and are read, never that an answer
//! is right.

use crate::support::request;
use atlas_core::{CompletionRequest, Embedder as _, LanguageModel, RunContext};
use atlas_llm::{
    CallFailure, Checked, FailureCause, ModelConfig, Provider, Purse, open_embedder,
    open_model_within,
};
use serde_json::{Value, json};
use std::sync::Arc;

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn config() -> Option<ModelConfig> {
    let Ok(base) = std::env::var("ATLAS_TEST_MODEL") else {
        eprintln!(
            "skipped: ATLAS_TEST_MODEL holds no base URL; `scripts/local-model` starts a model"
        );
        return None;
    };
    Some(ModelConfig {
        base_url: Some(base),
        ..ModelConfig::new(Provider::Llama, "")
    })
}

fn question() -> CompletionRequest {
    CompletionRequest {
        max_tokens: 8,
        seed: Some(7),
        top_logprobs: Some(20),
        ..request(
            "add(a, b) returned a - b; it now returns a + b. Is it fixed? Answer `yes` or `no`.",
        )
    }
}

#[tokio::test]
async fn a_label_with_its_log_probabilities() {
    let Some(config) = config() else { return };
    let purse = Arc::new(Purse::new("calls=5,tokens=10k".parse().unwrap()));
    let model = open_model_within(&config, &purse).unwrap();
    let done = model
        .complete(&RunContext::new("test"), &question())
        .await
        .unwrap();
    let tokens = done.logprobs.unwrap();
    assert!(!tokens.is_empty());
    for token in &tokens {
        assert!(token.logprob <= 0.0 && token.top.len() == 20);
        let mass: f64 = token.top.iter().map(|(_, logprob)| logprob.exp()).sum();
        assert!(mass > 0.0 && mass < 1.01, "{mass}");
    }
    let bytes: Vec<u8> = tokens.into_iter().flat_map(|token| token.bytes).collect();
    assert!(String::from_utf8_lossy(&bytes).contains(done.text.trim()));
    assert_eq!(purse.ledger().usage(), done.usage);
    assert!(done.usage.prompt_tokens > 10 && done.usage.completion_tokens > 0);

    // A grammar leaves the values those of the model without it.
    let mut grammar = config.clone();
    grammar
        .extra_body
        .insert("grammar".to_owned(), json!("root ::= \"yes\" | \"no\""));
    let model = open_model_within(&grammar, &purse).unwrap();
    let done = model
        .complete(&RunContext::new("test"), &question())
        .await
        .unwrap();
    assert!(["yes", "no"].contains(&done.text.as_str()), "{}", done.text);
    assert_eq!(purse.ledger().calls(), 2);
}

#[tokio::test]
async fn an_answer_by_schema() {
    let Some(config) = config() else { return };
    let purse = Arc::new(Purse::default());
    let model = Checked::new(open_model_within(&config, &purse).unwrap());
    let schema = json!({
        "type": "object",
        "properties": {"fixed": {"type": "boolean"}, "why": {"type": "string", "maxLength": 40}},
        "required": ["fixed", "why"],
        "additionalProperties": false,
    });
    let request = CompletionRequest {
        json_schema: Some(schema),
        max_tokens: 120,
        ..question()
    };
    let done = model
        .complete(&RunContext::new("test"), &request)
        .await
        .unwrap();
    let json: Value = serde_json::from_str(&done.text).unwrap();
    assert!(json["fixed"].is_boolean() && json["why"].is_string());
    assert!(done.logprobs.is_some());
}

#[tokio::test]
async fn an_answer_in_pieces() {
    let Some(config) = config() else { return };
    let config = ModelConfig {
        stream: true,
        ..config
    };
    let purse = Arc::new(Purse::default());
    let model = open_model_within(&config, &purse).unwrap();
    let done = model
        .complete(&RunContext::new("test"), &question())
        .await
        .unwrap();
    let tokens = done.logprobs.unwrap();
    let bytes: Vec<u8> = tokens.into_iter().flat_map(|token| token.bytes).collect();
    assert!(String::from_utf8_lossy(&bytes).contains(done.text.trim()));
    // Asked for, the count comes at the stream's end.
    assert!(done.usage.completion_tokens > 0);
    assert_eq!(purse.ledger().usage(), done.usage);
}

#[tokio::test]
async fn refusals_as_a_real_server_words_them() {
    let Some(config) = config() else { return };
    let purse = Arc::new(Purse::default());
    let cx = RunContext::new("test");
    let mut several = config.clone();
    several.extra_body.insert("n".to_owned(), json!(3));
    let model = open_model_within(&several, &purse).unwrap();
    let why = model.complete(&cx, &question()).await.unwrap_err();
    assert_eq!(
        CallFailure::of(&why).unwrap().cause,
        FailureCause::SamplesRefused
    );
    let model = open_model_within(&config, &purse).unwrap();
    let long = request(&"word ".repeat(40_000));
    let why = model.complete(&cx, &long).await.unwrap_err();
    assert_eq!(
        CallFailure::of(&why).unwrap().cause,
        FailureCause::ContextOverflow
    );
    assert_eq!((purse.ledger().calls(), purse.ledger().tokens()), (2, 0));
}

#[tokio::test]
async fn vectors_of_texts() {
    let Some(config) = config() else { return };
    let purse = Arc::new(Purse::new("calls=5,tokens=10k".parse().unwrap()));
    let embedder = open_embedder(&config, &purse).unwrap();
    let cx = RunContext::new("test");
    let texts = ["return a + b", "return b + a", "the weather is fine"].map(str::to_owned);
    let vectors = match embedder.embed(&cx, &texts).await {
        Ok(vectors) => vectors,
        Err(why) => {
            let failure = CallFailure::of(&why).unwrap();
            assert_eq!(failure.status, Some(501), "{}", why.chain());
            eprintln!("skipped: `scripts/local-model --embeddings` serves vectors");
            return;
        }
    };
    assert!(vectors.len() == 3 && vectors[0].len() > 100);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = |a: &[f64], b: &[f64]| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
    assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]));
    let account = purse.ledger().models[embedder.name()];
    assert!((account.calls, account.unreported_calls) == (1, 0) && account.prompt_tokens > 3);
    // Longer than its batch: refused once, not asked again.
    let why = embedder.embed(&cx, &["x ".repeat(3000)]).await.unwrap_err();
    assert_eq!(
        CallFailure::of(&why).unwrap().cause,
        FailureCause::ContextOverflow
    );
    assert_eq!(purse.ledger().calls(), 2);
}
