//! One pace for all who ask an endpoint, over HTTP.

use crate::support::{answer, request, served};
use atlas_core::{LanguageModel, RunContext};
use atlas_llm::{ModelConfig, open_embedder, open_model};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

/// A server that gives these responses first, and the times at which it was asked.
async fn server(first: Vec<ResponseTemplate>) -> (MockServer, Arc<Mutex<Vec<Instant>>>) {
    let server = MockServer::start().await;
    let asked: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let (times, first) = (Arc::clone(&asked), Mutex::new(first.into_iter()));
    let respond = move |_: &wiremock::Request| {
        times.lock().unwrap().push(Instant::now());
        let fine = || ResponseTemplate::new(200).set_body_json(answer("fine", 7, 3));
        first.lock().unwrap().next().unwrap_or_else(fine)
    };
    let mock = Mock::given(method("POST")).respond_with(respond);
    mock.mount(&server).await;
    (server, asked)
}

async fn ask(model: Arc<dyn LanguageModel>) {
    let cx = RunContext::new("test");
    let done = model.complete(&cx, &request("hello")).await;
    assert_eq!(done.unwrap().text, "fine");
}

fn between(asked: &Mutex<Vec<Instant>>) -> Vec<Duration> {
    let asked = asked.lock().unwrap();
    let pairs = asked.windows(2).map(|pair| pair[1] - pair[0]);
    pairs.collect()
}

#[tokio::test]
async fn a_wait_holds_every_model_of_the_endpoint_and_no_other() {
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "1");
    let (server, asked) = server(vec![busy]).await;
    let config = served(&format!("{}/v1", server.uri()));
    let (one, other) = (open_model(&config).unwrap(), open_model(&config).unwrap());
    let first = tokio::spawn(ask(Arc::clone(&one)));
    while asked.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    // The refusal has to arrive before the others ask: one that cannot be answered twice shows that it has.
    while format!("{one:?}").contains("held: None") {
        tokio::task::yield_now().await;
    }
    let elsewhere = ModelConfig {
        model: "other".to_owned(),
        ..config.clone()
    };
    ask(open_model(&elsewhere).unwrap()).await;
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..15 {
        all.spawn(ask(Arc::clone(&other)));
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
    first.await.unwrap();
    let times = asked.lock().unwrap().clone();
    assert_eq!(times.len(), 18);
    // The other model's call is the only one in the second of waiting.
    let early = times[1..]
        .iter()
        .filter(|at| **at - times[0] < Duration::from_secs(1));
    assert_eq!(early.count(), 1);
}

#[tokio::test]
async fn what_headers_say_is_left_is_kept_to() {
    let none_left = ResponseTemplate::new(200)
        .insert_header("x-ratelimit-remaining-requests", "0")
        .insert_header("x-ratelimit-reset-requests", "700ms")
        .set_body_json(answer("fine", 7, 3));
    let few_tokens = ResponseTemplate::new(200)
        .insert_header("x-ratelimit-remaining-tokens", "5")
        .insert_header("x-ratelimit-reset-tokens", "0.6s")
        .set_body_json(answer("fine", 7, 3));
    let (server, asked) = server(vec![none_left, few_tokens]).await;
    let model = open_model(&served(&format!("{}/v1", server.uri()))).unwrap();
    for _ in 0..3 {
        ask(Arc::clone(&model)).await;
    }
    let waits = between(&asked);
    assert!(waits[0] >= Duration::from_millis(690), "{waits:?}");
    assert!(waits[1] >= Duration::from_millis(590), "{waits:?}");
}

#[tokio::test]
async fn an_embedder_keeps_the_pace_too() {
    let vectors = || {
        let body =
            json!({"data": [{"index": 0, "embedding": [1.0]}], "usage": {"prompt_tokens": 1}});
        ResponseTemplate::new(200).set_body_json(body)
    };
    let none_left = vectors()
        .insert_header("x-ratelimit-remaining-requests", "-1")
        .insert_header("x-ratelimit-reset-requests", "0m0.5s");
    let (server, asked) = server(vec![none_left, vectors()]).await;
    let config = served(&format!("{}/v1", server.uri()));
    let embedder = open_embedder(&config, &Arc::default()).unwrap();
    let cx = RunContext::new("test");
    for text in ["a", "b"] {
        embedder.embed(&cx, &[text.to_owned()]).await.unwrap();
    }
    let waits = between(&asked);
    assert!(waits[0] >= Duration::from_millis(490), "{waits:?}");
}
