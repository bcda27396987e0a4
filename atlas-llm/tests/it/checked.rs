//! Answers that must follow a schema, from servers that do not care.

use crate::support::{answer, request, served};
use atlas_core::{CompletionRequest, ErrorKind, LanguageModel, RunContext};
use atlas_llm::{CallFailure, Checked, FailureCause, Limits, Purse, open_model_within};
use serde_json::{Value, json};
use std::sync::Arc;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

fn question() -> CompletionRequest {
    CompletionRequest {
        json_schema: Some(json!({
            "type": "object",
            "properties": {"fixed": {"type": "boolean"}, "why": {"type": "string", "maxLength": 20}},
            "required": ["fixed", "why"],
            "additionalProperties": false,
        })),
        ..request("Is it fixed?")
    }
}

/// Asks a server that gives these texts one after the other, each for 10 and 5 tokens.
async fn ask(
    texts: &[&str],
    request: &CompletionRequest,
) -> (
    Result<atlas_core::Completion, atlas_core::Error>,
    Arc<Purse>,
    Vec<Value>,
) {
    let server = MockServer::start().await;
    for (at, text) in texts.iter().enumerate() {
        Mock::given(method("POST"))
            .respond_with(ResponseTemplate::new(200).set_body_json(answer(text, 10, 5)))
            .up_to_n_times(1)
            .with_priority(u8::try_from(at + 1).unwrap())
            .mount(&server)
            .await;
    }
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(&served(&format!("{}/v1", server.uri())), &purse).unwrap();
    let answer = Checked::new(model)
        .complete(&RunContext::new("test"), request)
        .await;
    let requests = server.received_requests().await.unwrap();
    let bodies = requests
        .iter()
        .map(|request| request.body_json().unwrap())
        .collect();
    (answer, purse, bodies)
}

#[tokio::test]
async fn json_is_taken_out_of_its_wrapping() {
    let json = r#"{"fixed": true, "why": "it adds"}"#;
    for text in [
        json.to_owned(),
        format!("\n {json}\n"),
        format!("```json\n{json}\n```"),
        format!("```\n{json}```"),
        format!("Here you are:\n```json\n{json}\n```\nAnything else?"),
    ] {
        let (answer, purse, bodies) = ask(&[&text], &question()).await;
        assert_eq!(answer.unwrap().text, json);
        assert_eq!((bodies.len(), purse.ledger().tokens()), (1, 15));
        assert_eq!(bodies[0]["response_format"]["json_schema"]["strict"], true);
    }
}

#[tokio::test]
async fn a_broken_answer_is_asked_for_again_with_what_is_wrong() {
    let good = r#"{"fixed": false, "why": "no"}"#;
    let (answer, purse, bodies) = ask(
        &[
            "It is fixed.",
            r#"{"fixed": "yes", "why": "it adds"}"#,
            good,
        ],
        &question(),
    )
    .await;
    let done = answer.unwrap();
    assert_eq!(done.text, good);
    // Every ask is paid for, and the answer says so.
    assert_eq!(
        (done.usage.prompt_tokens, done.usage.completion_tokens),
        (30, 15)
    );
    assert_eq!((purse.ledger().calls(), purse.ledger().tokens()), (3, 45));
    let messages = bodies[2]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 5);
    assert_eq!(messages[1]["content"], "It is fixed.");
    assert!(messages[2]["content"].as_str().unwrap().contains("no JSON"));
    assert!(
        messages[4]["content"]
            .as_str()
            .unwrap()
            .contains("`/fixed`")
    );
}

#[tokio::test]
async fn an_answer_that_stays_broken_is_an_error_that_names_the_field() {
    let broken = r#"{"fixed": true, "why": "far longer than it may be"}"#;
    let (answer, purse, bodies) = ask(&[broken; 4], &question()).await;
    let why = answer.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Model);
    let failure = CallFailure::of(&why).unwrap();
    assert_eq!(failure.cause, FailureCause::SchemaBroken);
    assert!(failure.message.contains("`/why`"), "{failure}");
    assert_eq!((bodies.len(), purse.ledger().tokens()), (3, 45));
    assert_eq!(failure.usage.unwrap().prompt_tokens, 30);
}

#[tokio::test]
async fn a_question_without_schema_passes_through() {
    let (answer, _, bodies) = ask(&["```\nanything\n```"], &request("hello")).await;
    assert_eq!(answer.unwrap().text, "```\nanything\n```");
    assert!(bodies[0].get("response_format").is_none());
}

#[tokio::test]
async fn a_schema_that_is_none_or_lies_elsewhere_is_refused_before_the_call() {
    for schema in [
        json!({"type": "banana"}),
        json!({"$ref": "http://127.0.0.1:9/schema.json"}),
        json!({"$ref": "file:///etc/hostname"}),
    ] {
        let request = CompletionRequest {
            json_schema: Some(schema),
            ..question()
        };
        let (answer, _, bodies) = ask(&["{}"], &request).await;
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert!(bodies.is_empty());
    }
}

#[tokio::test]
async fn a_schema_with_optional_fields_is_not_called_strict() {
    let request = CompletionRequest {
        json_schema: Some(json!({"type": "object", "properties": {"a": {"type": "integer"}}})),
        ..question()
    };
    let (answer, _, bodies) = ask(&["{}"], &request).await;
    assert_eq!(answer.unwrap().text, "{}");
    assert_eq!(bodies[0]["response_format"]["json_schema"]["strict"], false);
}
