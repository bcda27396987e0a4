//! Vectors of texts over HTTP: batches, retries, the purse, recordings, servers that misbehave.

use crate::support::served;
use atlas_core::{Embedder, Error, ErrorKind, RunContext};
use atlas_llm::{CallFailure, FailureCause, Limits, ModelConfig, Provider, Purse, open_embedder};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// A vector that tells its text: length, first byte, and a 1.
fn vector(text: &str) -> Vec<f64> {
    let first = text.bytes().next().unwrap_or_default();
    vec![
        f64::from(u32::try_from(text.len()).unwrap()),
        f64::from(first),
        1.0,
    ]
}

/// Answers in the reverse order, as the API allows.
fn answer(request: &Request) -> ResponseTemplate {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["encoding_format"], "float");
    assert_eq!(body["model"], "m");
    let texts = body["input"].as_array().unwrap();
    let data = texts.iter().enumerate().rev().map(|(at, text)| {
        json!({"object": "embedding", "index": at, "embedding": vector(text.as_str().unwrap())})
    });
    ResponseTemplate::new(200).set_body_json(json!({
        "object": "list", "model": "served", "data": data.collect::<Vec<_>>(),
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    }))
}

async fn server(responses: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    for response in responses {
        Mock::given(method("POST"))
            .and(path("/v1/embeddings"))
            .respond_with(response)
            .up_to_n_times(1)
            .mount(&server)
            .await;
    }
    Mock::given(method("POST"))
        .and(path("/v1/embeddings"))
        .respond_with(answer)
        .mount(&server)
        .await;
    server
}

fn config(server: &MockServer) -> ModelConfig {
    served(&format!("{}/v1", server.uri()))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

async fn embed(
    config: &ModelConfig,
    limits: Limits,
    asked: &[String],
) -> (Result<Vec<Vec<f64>>, Error>, Arc<Purse>) {
    let purse = Arc::new(Purse::new(limits));
    let embedder = open_embedder(config, &purse).unwrap();
    let found = embedder.embed(&RunContext::new("test"), asked).await;
    (found, purse)
}

fn cause(found: Result<Vec<Vec<f64>>, Error>) -> FailureCause {
    let why = found.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Model, "{}", why.chain());
    CallFailure::of(&why).expect("a call failed").cause
}

#[tokio::test]
async fn texts_go_out_in_batches_and_once() {
    let server = server(Vec::new()).await;
    let purse = Arc::new(Purse::new(Limits::none()));
    let embedder = open_embedder(&config(&server), &purse).unwrap();
    assert_eq!(embedder.name(), "m");
    let cx = RunContext::new("test");
    let many: Vec<String> = (0..70)
        .map(|at| format!("{}{at}", "x".repeat(at)))
        .collect();
    let mut asked = many.clone();
    asked.extend(texts(&["x0", "0", "0"]));
    let found = embedder.embed(&cx, &asked).await.unwrap();
    let expected: Vec<Vec<f64>> = asked.iter().map(|text| vector(text)).collect();
    assert_eq!(found, expected);
    // 71 different texts, at most 32 in a request.
    let sizes = |requests: Vec<Request>| -> Vec<usize> {
        let bodies = requests.iter().map(|request| &request.body);
        let bodies = bodies.map(|body| serde_json::from_slice::<Value>(body).unwrap());
        bodies
            .map(|body| body["input"].as_array().unwrap().len())
            .collect()
    };
    assert_eq!(
        sizes(server.received_requests().await.unwrap()),
        [32, 32, 7]
    );
    // What is known is not asked again, and no text at all is asked for nothing.
    assert_eq!(embedder.embed(&cx, &asked).await.unwrap(), expected);
    assert!(embedder.embed(&cx, &[]).await.unwrap().is_empty());
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
    let account = purse.ledger().models["m"];
    assert_eq!(
        (account.calls, account.failed_calls, account.prompt_tokens),
        (3, 0, 21)
    );
    assert_eq!(
        account.completion_tokens + account.estimated_prompt_tokens,
        0
    );

    // A long text goes alone.
    let long = texts(&[&"a".repeat(200 << 10), &"b".repeat(200 << 10), "c"]);
    embedder.embed(&cx, &long).await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert_eq!(sizes(requests)[3..], [1, 2]);
}

#[tokio::test]
async fn what_fails_for_a_passing_reason_is_asked_again() {
    let busy = |status: u16| ResponseTemplate::new(status).set_body_json(json!({"error": "busy"}));
    let server = server(vec![busy(429).insert_header("retry-after", "0"), busy(503)]).await;
    let (found, purse) = embed(&config(&server), Limits::none(), &texts(&["a"])).await;
    assert_eq!(found.unwrap(), [vector("a")]);
    let account = purse.ledger().models["m"];
    assert_eq!(
        (account.calls, account.failed_calls, account.prompt_tokens),
        (3, 2, 7)
    );
}

#[tokio::test]
async fn a_refusal_is_not() {
    for (status, body, expected) in [
        (
            501,
            json!({"error": {"message": "This server does not support embeddings. Start it with `--embeddings`"}}),
            FailureCause::Refused,
        ),
        (
            401,
            json!({"error": {"message": "who are you"}}),
            FailureCause::Unauthorised,
        ),
        (
            400,
            json!({"error": {"message": "maximum context length is 512 tokens", "type": "invalid_request_error"}}),
            FailureCause::ContextOverflow,
        ),
        (
            404,
            json!({"error": "no such model"}),
            FailureCause::NotFound,
        ),
    ] {
        let server = server(vec![ResponseTemplate::new(status).set_body_json(body)]).await;
        let (found, purse) = embed(&config(&server), Limits::none(), &texts(&["a"])).await;
        assert_eq!(cause(found), expected);
        assert_eq!(purse.ledger().calls(), 1);
    }
}

#[tokio::test]
async fn answers_that_are_none() {
    let one = |embedding: Value| json!({"data": [{"index": 0, "embedding": embedding}]});
    for body in [
        json!({"data": []}),
        json!({"object": "list"}),
        one(json!("AAAAAA==")),
        one(json!([])),
        one(json!([1.0, null])),
        json!({"data": [{"index": 5, "embedding": [1.0]}]}),
        json!({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]}),
    ] {
        let shown = body.to_string();
        let server = server(vec![ResponseTemplate::new(200).set_body_json(body)]).await;
        let (found, purse) = embed(&config(&server), Limits::none(), &texts(&["a"])).await;
        assert_eq!(cause(found), FailureCause::Unreadable, "{shown}");
        // Nothing was reported, and something was probably spent.
        assert_eq!(purse.ledger().models["m"].unreported_calls, 1);
    }
    let differing = json!({"data": [
        {"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]},
    ]});
    let server = server(vec![ResponseTemplate::new(200).set_body_json(differing)]).await;
    let (found, _) = embed(&config(&server), Limits::none(), &texts(&["a", "b"])).await;
    assert_eq!(cause(found), FailureCause::Unreadable);
}

#[tokio::test]
async fn the_purse_is_asked_first() {
    let server = server(Vec::new()).await;
    let limits: Limits = "calls=1".parse().unwrap();
    let many: Vec<String> = (0..40).map(|at| at.to_string()).collect();
    let (found, purse) = embed(&config(&server), limits, &many).await;
    assert_eq!(found.unwrap_err().kind(), ErrorKind::BudgetExceeded);
    assert_eq!(purse.ledger().calls(), 1);
    let limits: Limits = "money=1".parse().unwrap();
    let purse = Arc::new(Purse::new(limits));
    let why = open_embedder(&config(&server), &purse).unwrap_err();
    assert!(why.chain().contains("`price`"), "{}", why.chain());
}

#[tokio::test]
async fn what_was_recorded_is_replayed() {
    let server = server(Vec::new()).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.jsonl");
    let recorded = ModelConfig {
        record: Some(file.clone()),
        ..config(&server)
    };
    let asked = texts(&["a", "bb", "a"]);
    let (found, _) = embed(&recorded, Limits::none(), &asked).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
    let replay = format!("replay:{}", file.display());
    let purse = Arc::new(Purse::new(Limits::none()));
    let replayed = open_embedder(replay.as_str(), &purse).unwrap();
    let cx = RunContext::new("test");
    assert_eq!(replayed.name(), "m");
    assert_eq!(replayed.embed(&cx, &asked).await.unwrap(), found.unwrap());
    let why = replayed.embed(&cx, &texts(&["ccc"])).await.unwrap_err();
    assert!(
        why.chain().contains("3 characters, `ccc`"),
        "{}",
        why.chain()
    );
    assert_eq!(purse.ledger().calls(), 0);
    std::fs::write(&file, "{}\n").unwrap();
    let why = open_embedder(replay.as_str(), &purse).unwrap_err();
    assert!(why.chain().contains("line 1"), "{}", why.chain());
}

#[tokio::test]
async fn names_and_providers() {
    let purse = Arc::new(Purse::new(Limits::none()));
    let open = |text: &str| open_embedder(text, &purse);
    let name = |text: &str| open(text).unwrap().name().to_owned();
    assert_eq!(name("http://127.0.0.1:9/v1#code-embed"), "code-embed");
    assert_eq!(
        name("llama:http://127.0.0.1:9/v1"),
        "embeddings-127.0.0.1:9"
    );
    for text in ["noise:1", "scripted:nowhere"] {
        let why = open(text).unwrap_err();
        assert!(
            why.chain().contains("has no embeddings here"),
            "{}",
            why.chain()
        );
    }
    let config = ModelConfig::new(Provider::Anthropic, "x");
    assert!(open_embedder(&config, &purse).is_err());
    let mut config = served("http://127.0.0.1:9/v1");
    config.extra_body.insert("input".to_owned(), json!([]));
    assert!(open_embedder(&config, &purse).is_err());
}

#[tokio::test]
async fn a_raised_flag_ends_a_call() {
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_secs(30));
    let server = server(vec![slow]).await;
    let purse = Arc::new(Purse::new(Limits::none()));
    let embedder = open_embedder(&config(&server), &purse).unwrap();
    let cx = RunContext::new("test");
    let cancel = cx.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    let started = Instant::now();
    let why = embedder.embed(&cx, &texts(&["a"])).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(10));
}
