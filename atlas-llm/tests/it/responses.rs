//! OpenAI's Responses API, by bodies in its public shape.

use crate::support::{request, served};
use atlas_core::{Completion, CompletionRequest, Error, FinishReason, LanguageModel, RunContext};
use atlas_llm::{
    Api, CallFailure, FailureCause, Limits, ModelConfig, Provider, Purse, open_model,
    open_model_within,
};
use serde_json::{Value, json};
use std::sync::Arc;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{
        "type": "output_text", "text": text, "annotations": [],
        "logprobs": [{"token": text, "bytes": text.as_bytes(), "logprob": -0.1, "top_logprobs": [
            {"token": text, "bytes": text.as_bytes(), "logprob": -0.1},
            {"token": "no", "bytes": [110, 111], "logprob": -2.5}]}],
    }]})
}

fn response(status: &str, output: &Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_760_000_000, "status": status, "error": null,
        "incomplete_details": null, "model": "served", "output": output, "store": false,
        "usage": {"input_tokens": 70, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 30,
                  "output_tokens_details": {"reasoning_tokens": 25}, "total_tokens": 100},
    })
}

async fn ask(
    template: ResponseTemplate,
    stream: bool,
    request: &CompletionRequest,
) -> (Result<Completion, Error>, Value, Arc<Purse>) {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/responses"))
        .respond_with(template)
        .mount(&server)
        .await;
    let mut config = ModelConfig {
        api: Api::Responses,
        stream,
        ..served(&format!("{}/v1", server.uri()))
    };
    config.retry.retries = 0;
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(&config, &purse).unwrap();
    let done = model.complete(&RunContext::new("test"), request).await;
    let sent = server.received_requests().await.unwrap();
    (done, sent[0].body_json().unwrap(), purse)
}

fn failure(done: Result<Completion, Error>) -> CallFailure {
    CallFailure::of(&done.unwrap_err()).unwrap().clone()
}

#[tokio::test]
async fn a_question_and_its_answer_have_the_shape_of_the_api() {
    let schema = json!({"type": "object", "properties": {"fixed": {"type": "boolean"}},
                        "required": ["fixed"], "additionalProperties": false});
    let question = CompletionRequest {
        top_logprobs: Some(5),
        json_schema: Some(schema.clone()),
        ..request("hello")
    };
    let output = json!([{"type": "reasoning", "id": "rs_1", "summary": []}, message("yes")]);
    let template = ResponseTemplate::new(200).set_body_json(response("completed", &output));
    let (done, sent, purse) = ask(template, false, &question).await;
    let expected = json!({
        "model": "m", "input": [{"role": "user", "content": "hello"}], "max_output_tokens": 10,
        "temperature": 0.0, "include": ["message.output_text.logprobs"], "top_logprobs": 5,
        "text": {"format": {"type": "json_schema", "name": "answer", "strict": true, "schema": schema}},
        "store": false,
    });
    assert_eq!(sent, expected);
    let done = done.unwrap();
    assert_eq!((done.text.as_str(), done.model.as_str()), ("yes", "served"));
    assert_eq!(done.finish, FinishReason::Stop);
    let tokens = done.logprobs.unwrap();
    assert_eq!((tokens.len(), tokens[0].top.len()), (1, 2));
    assert_eq!(tokens[0].top[1].0, b"no");
    // Reasoning is among what is written.
    let account = purse.ledger().models["m"];
    assert_eq!((account.prompt_tokens, account.completion_tokens), (70, 30));
    assert_eq!((account.cached_tokens, account.reasoning_tokens), (64, 25));
}

#[tokio::test]
async fn what_is_no_whole_answer_is_told_apart() {
    let mut cut = response("incomplete", &json!([{"type": "reasoning", "summary": []}]));
    cut["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let template = ResponseTemplate::new(200).set_body_json(cut);
    let done = ask(template, false, &request("hello")).await.0.unwrap();
    assert_eq!(
        (done.text.as_str(), done.finish),
        ("", FinishReason::Length)
    );

    let refused =
        json!([{"type": "message", "content": [{"type": "refusal", "refusal": "I will not"}]}]);
    let mut failed = response("failed", &json!([]));
    failed["error"] = json!({"code": "server_error", "message": "it died"});
    for (body, cause, words) in [
        (
            response("completed", &refused),
            FailureCause::Declined,
            "I will not",
        ),
        (failed, FailureCause::Server, "it died"),
        (
            response("completed", &json!([])),
            FailureCause::Unreadable,
            "no answer",
        ),
    ] {
        let template = ResponseTemplate::new(200).set_body_json(body);
        let failure = failure(ask(template, false, &request("hello")).await.0);
        assert_eq!(failure.cause, cause, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
    }
}

fn events(events: &[Value]) -> ResponseTemplate {
    let lines = events.iter().map(|event| {
        let kind = event["type"].as_str().unwrap();
        format!("event: {kind}\ndata: {event}\n\n")
    });
    ResponseTemplate::new(200).set_body_raw(lines.collect::<String>(), "text/event-stream")
}

#[tokio::test]
async fn a_stream_ends_with_the_whole_response() {
    let begun =
        json!({"type": "response.created", "response": response("in_progress", &json!([]))});
    let piece = |text: &str| json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": text});
    let whole = response("completed", &json!([message("yes")]));
    let end = json!({"type": "response.completed", "response": whole});
    let all = [begun.clone(), piece("y"), piece("es"), end];
    let (done, sent, purse) = ask(events(&all), true, &request("hello")).await;
    let done = done.unwrap();
    assert_eq!(
        (done.text.as_str(), done.finish),
        ("yes", FinishReason::Stop)
    );
    assert_eq!(done.logprobs.unwrap().len(), 1);
    assert_eq!(sent["stream"], true);
    assert_eq!(purse.ledger().models["m"].completion_tokens, 30);

    let cut = events(&[begun.clone(), piece("y")]);
    let cut = failure(ask(cut, true, &request("hello")).await.0);
    assert_eq!(cut.cause, FailureCause::CutStream);
    assert!(cut.message.contains("`y`"), "{cut}");

    let mut failed = response("failed", &json!([]));
    failed["error"] = json!({"code": "server_error", "message": "it died"});
    for last in [
        json!({"type": "response.failed", "response": failed}),
        json!({"type": "error", "code": "server_error", "message": "it died", "param": null}),
    ] {
        let failure = failure(
            ask(events(&[begun.clone(), last]), true, &request("hello"))
                .await
                .0,
        );
        assert!(failure.message.contains("it died"), "{failure}");
        assert_ne!(failure.cause, FailureCause::CutStream);
    }
}

#[tokio::test]
async fn a_refused_field_is_left_out_and_others_have_no_responses() {
    let server = MockServer::start().await;
    let error = json!({"error": {"message": "Unsupported parameter: 'temperature' is not supported with this model.",
                                 "type": "invalid_request_error", "param": "temperature", "code": null}});
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(400).set_body_json(error))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    let whole = response("completed", &json!([message("yes")]));
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200).set_body_json(whole))
        .mount(&server)
        .await;
    let mut config = ModelConfig {
        api: Api::Responses,
        ..served(&format!("{}/v1", server.uri()))
    };
    let model = open_model(&config).unwrap();
    let done = model
        .complete(&RunContext::new("test"), &request("hello"))
        .await;
    assert_eq!(done.unwrap().text, "yes");
    let sent = server.received_requests().await.unwrap();
    let second: Value = sent[1].body_json().unwrap();
    assert_eq!((sent.len(), second.get("temperature")), (2, None));
    assert_eq!(config.answer_settings()["api"], "responses");
    config.provider = Provider::Gemini;
    config.key_env = Some("CARGO_MANIFEST_DIR".to_owned());
    let why = open_model(&config).unwrap_err();
    assert!(
        why.chain().contains("`gemini` has no responses"),
        "{}",
        why.chain()
    );
}
