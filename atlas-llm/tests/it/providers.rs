//! Anthropic and Gemini, and what each provider is and is not sent.

use crate::support::{answer, request, served};
use atlas_core::{
    ChatMessage, Completion, CompletionRequest, Error, FinishReason, LanguageModel, Role,
    RunContext,
};
use atlas_llm::{
    CallFailure, FailureCause, Limits, ModelConfig, Provider, Purse, open_model_within,
};
use serde_json::{Value, json};
use std::sync::Arc;
use wiremock::matchers::{method, path, query_param};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// A variable that every test run has: its value stands for a key.
const KEY: &str = "CARGO_MANIFEST_DIR";

fn full() -> CompletionRequest {
    let say = |role, content: &str| ChatMessage {
        role,
        content: content.to_owned(),
    };
    CompletionRequest {
        messages: vec![
            say(Role::System, "You judge."),
            say(Role::User, "One?"),
            say(Role::Assistant, "Two."),
            say(Role::User, "Three?"),
        ],
        max_tokens: 10,
        temperature: 0.5,
        seed: Some(u64::from(u32::MAX)),
        top_logprobs: Some(200),
        json_schema: Some(json!({"type": "object"})),
    }
}

async fn ask(
    config: ModelConfig,
    response: ResponseTemplate,
    question: &CompletionRequest,
) -> (Result<Completion, Error>, Request, Arc<Purse>) {
    let server = MockServer::start().await;
    Mock::given(wiremock::matchers::any())
        .respond_with(response)
        .mount(&server)
        .await;
    let suffix = config.base_url.clone().unwrap_or_default();
    let config = ModelConfig {
        base_url: Some(format!("{}{suffix}", server.uri())),
        ..config
    };
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(&config, &purse).unwrap();
    let done = model.complete(&RunContext::new("test"), question).await;
    let sent = server.received_requests().await.unwrap().remove(0);
    (done, sent, purse)
}

fn of(provider: Provider) -> ModelConfig {
    ModelConfig {
        provider,
        key_env: Some(KEY.to_owned()),
        base_url: None,
        ..served("")
    }
}

fn json(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

fn header<'a>(sent: &'a Request, name: &str) -> &'a str {
    sent.headers
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn openai_and_servers_like_it_are_sent_what_each_takes() {
    let body = answer("{}", 1, 1);
    let key = std::env::var(KEY).unwrap();
    let (_, sent, _) = ask(of(Provider::OpenAi), json(&body), &full()).await;
    assert_eq!(sent.url.path(), "/chat/completions");
    assert_eq!(header(&sent, "authorization"), format!("Bearer {key}"));
    let sent: Value = sent.body_json().unwrap();
    assert_eq!(sent["max_completion_tokens"], 10);
    assert!(sent.get("max_tokens").is_none() && sent.get("cache_prompt").is_none());
    assert_eq!(
        (&sent["logprobs"], &sent["top_logprobs"]),
        (&json!(true), &json!(20))
    );
    assert_eq!(
        sent["messages"][0],
        json!({"role": "system", "content": "You judge."})
    );
    assert_eq!(
        sent["response_format"]["json_schema"]["schema"],
        json!({"type": "object"})
    );

    let config = ModelConfig {
        omit: vec!["temperature".to_owned(), "response_format".to_owned()],
        extra_body: json!({"top_k": 1}).as_object().unwrap().clone(),
        key_env: None,
        ..of(Provider::Llama)
    };
    let (_, sent, _) = ask(config, json(&body), &full()).await;
    assert_eq!(header(&sent, "authorization"), "");
    let sent: Value = sent.body_json().unwrap();
    assert_eq!(
        (&sent["max_tokens"], &sent["top_k"]),
        (&json!(10), &json!(1))
    );
    assert_eq!(sent["cache_prompt"], false);
    assert!(sent.get("temperature").is_none() && sent.get("response_format").is_none());

    // What was not asked for is not sent.
    let plain = CompletionRequest {
        seed: None,
        ..request("hello")
    };
    let (_, sent, _) = ask(of(Provider::Compatible), json(&body), &plain).await;
    let sent: Value = sent.body_json().unwrap();
    for absent in [
        "logprobs",
        "top_logprobs",
        "seed",
        "cache_prompt",
        "response_format",
        "stream",
        "n",
    ] {
        assert!(sent.get(absent).is_none(), "{absent}");
    }
}

#[tokio::test]
async fn anthropic_is_never_asked_for_what_it_ignores() {
    let body = json!({
        "type": "message", "model": "claude-x", "stop_reason": "end_turn",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "{\"a\""}, {"type": "text", "text": ": 1}"}],
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 20, "output_tokens": 4},
    });
    let (done, sent, purse) = ask(of(Provider::Anthropic), json(&body), &full()).await;
    let done = done.unwrap();
    assert_eq!(
        (done.text.as_str(), done.model.as_str()),
        ("{\"a\": 1}", "claude-x")
    );
    assert_eq!(
        (done.finish, done.logprobs, done.avg_logprob),
        (FinishReason::Stop, None, None)
    );
    // What came out of a cache was read too.
    assert_eq!(
        (done.usage.prompt_tokens, done.usage.completion_tokens),
        (33, 4)
    );
    assert_eq!(purse.ledger().tokens(), 37);
    assert_eq!(sent.url.path(), "/v1/messages");
    assert_eq!(header(&sent, "x-api-key"), std::env::var(KEY).unwrap());
    assert_eq!(header(&sent, "anthropic-version"), "2023-06-01");
    let sent: Value = sent.body_json().unwrap();
    let expected = json!({
        "model": "m", "max_tokens": 10, "temperature": 0.5, "system": "You judge.",
        "messages": [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "Two."}, {"role": "user", "content": "Three?"}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    });
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn anthropic_streams_and_refuses_in_its_own_way() {
    let stream = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"fi\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"ne\"}}\n\n",
    );
    let end = concat!(
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":9}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    let config = || {
        let mut config = ModelConfig {
            stream: true,
            ..of(Provider::Anthropic)
        };
        config.retry.retries = 0;
        config
    };
    let sse = |text: String| ResponseTemplate::new(200).set_body_raw(text, "text/event-stream");
    let (done, _, _) = ask(config(), sse(format!("{stream}{end}")), &request("hello")).await;
    let done = done.unwrap();
    assert_eq!(
        (done.text.as_str(), done.finish),
        ("fine", FinishReason::Length)
    );
    assert_eq!(
        (done.usage.prompt_tokens, done.usage.completion_tokens),
        (7, 9)
    );

    let (done, _, purse) = ask(config(), sse(stream.to_owned()), &request("hello")).await;
    let why = done.unwrap_err();
    let failure = CallFailure::of(&why).unwrap();
    assert_eq!(failure.cause, FailureCause::CutStream);
    assert!(failure.message.contains("`fine`"), "{failure}");
    assert_eq!(purse.ledger().tokens(), 8);

    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let (done, _, _) = ask(
        config(),
        sse(format!("{stream}{overloaded}")),
        &request("hello"),
    )
    .await;
    let why = done.unwrap_err();
    assert_eq!(
        CallFailure::of(&why).unwrap().cause,
        FailureCause::Unavailable
    );

    let refusal = json!({"content": [], "stop_reason": "refusal", "usage": {"input_tokens": 5, "output_tokens": 0}});
    let (done, _, purse) = ask(of(Provider::Anthropic), json(&refusal), &request("hello")).await;
    assert_eq!(
        CallFailure::of(&done.unwrap_err()).unwrap().cause,
        FailureCause::Declined
    );
    assert_eq!(purse.ledger().tokens(), 5);
}

#[tokio::test]
async fn gemini_gives_tokens_or_their_mean() {
    let candidate = |more: Value| {
        let mut candidate = json!({
            "content": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "yes"}]},
            "finishReason": "STOP", "avgLogprobs": -0.25,
        });
        candidate
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({
            "candidates": [candidate], "modelVersion": "gemini-x-001",
            "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 1, "thoughtsTokenCount": 30, "totalTokenCount": 39},
        })
    };
    let (done, sent, _) = ask(of(Provider::Gemini), json(&candidate(json!({}))), &full()).await;
    let done = done.unwrap();
    assert_eq!(
        (done.text.as_str(), done.model.as_str()),
        ("yes", "gemini-x-001")
    );
    assert_eq!((done.logprobs, done.avg_logprob), (None, Some(-0.25)));
    assert_eq!(
        (done.usage.prompt_tokens, done.usage.completion_tokens),
        (8, 31)
    );
    assert_eq!(done.usage.reasoning_tokens, 30);
    assert_eq!(sent.url.path(), "/v1beta/models/m:generateContent");
    assert_eq!(sent.url.query(), None);
    assert_eq!(header(&sent, "x-goog-api-key"), std::env::var(KEY).unwrap());
    let sent: Value = sent.body_json().unwrap();
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "You judge."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "One?"}]},
            {"role": "model", "parts": [{"text": "Two."}]},
            {"role": "user", "parts": [{"text": "Three?"}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 10, "temperature": 0.5, "seed": 0x7fff_ffff, "responseLogprobs": true, "logprobs": 20,
            "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"},
        },
    });
    assert_eq!(sent, expected);

    let result = json!({"logprobsResult": {
        "chosenCandidates": [{"token": "yes", "tokenId": 3, "logProbability": -0.25}],
        "topCandidates": [{"candidates": [{"token": "yes", "logProbability": -0.25}, {"token": "no", "logProbability": -1.6}]}],
    }});
    let (done, _, _) = ask(of(Provider::Gemini), json(&candidate(result)), &full()).await;
    let done = done.unwrap();
    let tokens = done.logprobs.unwrap();
    assert_eq!(
        (tokens[0].bytes.as_slice(), tokens[0].top.len()),
        (&b"yes"[..], 2)
    );
    // The mean is kept where it is all that came.
    assert_eq!(done.avg_logprob, None);
}

#[tokio::test]
async fn gemini_blocks_refuses_and_streams_in_its_own_way() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 8}});
    let (done, _, purse) = ask(of(Provider::Gemini), json(&blocked), &request("hello")).await;
    let why = done.unwrap_err();
    assert_eq!(CallFailure::of(&why).unwrap().cause, FailureCause::Declined);
    assert!(why.chain().contains("SAFETY"), "{}", why.chain());
    assert_eq!(purse.ledger().tokens(), 8);

    for (message, cause) in [
        (
            "API key not valid. Please pass a valid API key.",
            FailureCause::Unauthorised,
        ),
        (
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            FailureCause::ContextOverflow,
        ),
    ] {
        let body =
            json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
        let response = ResponseTemplate::new(400).set_body_json(body);
        let (done, _, _) = ask(of(Provider::Gemini), response, &request("hello")).await;
        assert_eq!(CallFailure::of(&done.unwrap_err()).unwrap().cause, cause);
    }

    let stream = concat!(
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"fi\"}]}}],\"usageMetadata\":{\"promptTokenCount\":8}}\r\n\r\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ne\"}]},\"finishReason\":\"MAX_TOKENS\"}],\"usageMetadata\":{\"promptTokenCount\":8,\"candidatesTokenCount\":2}}\r\n\r\n",
    );
    let config = ModelConfig {
        stream: true,
        base_url: Some("/v1".to_owned()),
        ..of(Provider::Gemini)
    };
    let response = ResponseTemplate::new(200).set_body_raw(stream, "text/event-stream");
    let (done, sent, _) = ask(config, response, &request("hello")).await;
    let done = done.unwrap();
    assert_eq!(
        (done.text.as_str(), done.finish),
        ("fine", FinishReason::Length)
    );
    assert_eq!(
        (done.usage.prompt_tokens, done.usage.completion_tokens),
        (8, 2)
    );
    assert_eq!(sent.url.path(), "/v1/models/m:streamGenerateContent");
    assert_eq!(sent.url.query(), Some("alt=sse"));
}

#[tokio::test]
async fn a_gemini_model_without_log_probabilities_is_asked_without() {
    let server = MockServer::start().await;
    let refused = json!({"error": {"code": 400, "message": "Logprobs is not enabled for models/m", "status": "INVALID_ARGUMENT"}});
    Mock::given(wiremock::matchers::body_partial_json(
        json!({"generationConfig": {"responseLogprobs": true}}),
    ))
    .respond_with(ResponseTemplate::new(400).set_body_json(refused))
    .with_priority(1)
    .expect(1)
    .mount(&server)
    .await;
    let fine =
        json!({"candidates": [{"content": {"parts": [{"text": "yes"}]}, "finishReason": "STOP"}]});
    Mock::given(wiremock::matchers::any())
        .respond_with(json(&fine))
        .mount(&server)
        .await;
    let config = ModelConfig {
        base_url: Some(server.uri()),
        ..of(Provider::Gemini)
    };
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(&config, &purse).unwrap();
    let done = model
        .complete(&RunContext::new("test"), &full())
        .await
        .unwrap();
    assert_eq!(
        (done.text.as_str(), done.logprobs, done.avg_logprob),
        ("yes", None, None)
    );
}

/// The shape of Azure: the version in the query, the key in a header of its own, and none of OpenAI's.
#[tokio::test]
async fn a_query_and_headers_go_with_every_request() {
    // A variable that every test has.
    let value = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let server = MockServer::start().await;
    let echo = answer(&format!("you are {value}"), 7, 3);
    Mock::given(method("POST"))
        .and(path("/openai/deployments/gpt-x/chat/completions"))
        .and(query_param("api-version", "2024-10-21"))
        .and(wiremock::matchers::header("api-key", value.as_str()))
        .and(wiremock::matchers::header("x-team", "tests"))
        .respond_with(ResponseTemplate::new(200).set_body_json(echo))
        .mount(&server)
        .await;
    let table = format!(
        r#"
        provider = "openai"
        model = "gpt-x"
        base_url = "{}/openai/deployments/gpt-x?api-version=2024-10-21"
        headers = {{ api-key = "env:CARGO_MANIFEST_DIR", X-Team = "tests" }}
        "#,
        server.uri()
    );
    let config: ModelConfig = toml::from_str(&table).unwrap();
    let model = atlas_llm::open_model(&config).unwrap();
    let done = model
        .complete(&RunContext::new("test"), &request("hello"))
        .await
        .unwrap();
    assert_eq!(done.text, "you are [key]");
    assert!(!format!("{model:?} {config:?}").contains(&value));
    let sent = server.received_requests().await.unwrap();
    assert_eq!(sent[0].url.query(), Some("api-version=2024-10-21"));
    assert!(!sent[0].headers.contains_key("authorization"));
    // A query of the API's own stays in front.
    let gemini = ModelConfig {
        provider: Provider::Gemini,
        key_env: None,
        headers: std::collections::BTreeMap::from([(
            "x-goog-api-key".to_owned(),
            "env:CARGO_MANIFEST_DIR".to_owned(),
        )])
        .try_into()
        .unwrap(),
        base_url: Some(format!("{}?team=a", server.uri())),
        stream: true,
        ..ModelConfig::new(Provider::Gemini, "g")
    };
    let model = atlas_llm::open_model(&gemini).unwrap();
    let _refused = model
        .complete(&RunContext::new("test"), &request("hello"))
        .await;
    let sent = server.received_requests().await.unwrap();
    assert_eq!(sent[1].url.query(), Some("alt=sse&team=a"));
}
