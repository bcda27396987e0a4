//! Every way in which a server fails: what the caller gets, and what the ledger holds.

use crate::support::{Act, answer, head, raw, request, served};
use atlas_core::{CompletionRequest, Error, LanguageModel, RunContext, Usage};
use atlas_llm::{
    CallFailure, FailureCause, Limits, ModelConfig, Purse, RetryPolicy, open_model_within,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wiremock::matchers::{body_partial_json, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// What the call came to, and what was paid for it.
struct Seen {
    answer: Result<atlas_core::Completion, Error>,
    purse: Arc<Purse>,
    took: Duration,
}

impl Seen {
    fn failure(&self) -> CallFailure {
        let why = self.answer.as_ref().unwrap_err();
        assert_eq!(why.kind(), atlas_core::ErrorKind::Model, "{}", why.chain());
        CallFailure::of(why).expect("a call failed").clone()
    }

    /// Calls, failed calls, tokens read and written as reported, calls that reported nothing.
    fn ledger(&self) -> (u64, u64, u64, u64, u64) {
        let ledger = self.purse.ledger();
        let account = ledger.models["m"];
        (
            account.calls,
            account.failed_calls,
            account.prompt_tokens,
            account.completion_tokens,
            account.unreported_calls,
        )
    }
}

async fn ask_as(config: &ModelConfig, request: &CompletionRequest) -> Seen {
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(config, &purse).unwrap();
    let started = Instant::now();
    let answer = model.complete(&RunContext::new("test"), request).await;
    Seen {
        answer,
        purse,
        took: started.elapsed(),
    }
}

/// A server that answers with these one after the other, the last one for ever.
async fn server(responses: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    let last = responses.len() - 1;
    for (at, response) in responses.into_iter().enumerate() {
        let mock = Mock::given(method("POST"))
            .and(path("/v1/chat/completions"))
            .respond_with(response)
            .with_priority(u8::try_from(at + 1).unwrap());
        let mock = if at < last {
            mock.up_to_n_times(1)
        } else {
            mock
        };
        mock.mount(&server).await;
    }
    server
}

async fn ask(responses: Vec<ResponseTemplate>) -> (Seen, usize) {
    let server = server(responses).await;
    let seen = ask_as(&served(&format!("{}/v1", server.uri())), &request("hello")).await;
    let requests = server.received_requests().await.unwrap().len();
    (seen, requests)
}

fn ok() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(answer("fine", 7, 3))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "callers write `json!` in place"
)]
fn error(status: u16, error: Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({ "error": error }))
}

#[tokio::test]
async fn what_passes_is_asked_again_and_each_try_counts() {
    let busy = || error(429, json!({"message": "slow down"}));
    for (first, tries) in [
        (vec![busy()], 2),
        (vec![busy(), busy(), busy(), busy()], 5),
        (vec![ResponseTemplate::new(500)], 2),
        (
            vec![ResponseTemplate::new(502).set_body_string("<html>")],
            2,
        ),
        (
            vec![error(503, json!({"code": 503, "message": "Loading model"}))],
            2,
        ),
        (vec![error(529, json!({"type": "overloaded_error"}))], 2),
        // A gateway that reports a fault with a good status.
        (
            vec![
                ResponseTemplate::new(200)
                    .set_body_json(json!({"error": {"code": 502, "message": "upstream"}})),
            ],
            2,
        ),
    ] {
        let (seen, requests) = ask(first.into_iter().chain([ok()]).collect()).await;
        let done = seen.answer.as_ref().unwrap();
        assert_eq!(
            (done.text.as_str(), done.model.as_str()),
            ("fine", "served")
        );
        assert_eq!(requests, tries);
        let tries = u64::try_from(tries).unwrap();
        assert_eq!(seen.ledger(), (tries, tries - 1, 7, 3, 0));
    }
}

#[tokio::test]
async fn a_failed_call_that_reports_its_usage_is_paid_for() {
    let usage = json!({"error": {"message": "died"}, "usage": {"prompt_tokens": 40, "completion_tokens": 2}});
    let (seen, _) = ask(vec![ResponseTemplate::new(500).set_body_json(usage), ok()]).await;
    assert_eq!(seen.ledger(), (2, 1, 47, 5, 0));
    let expected = Usage {
        prompt_tokens: 47,
        completion_tokens: 5,
        ..Usage::default()
    };
    assert_eq!(seen.answer.unwrap().usage, expected);
}

#[tokio::test]
async fn what_never_passes_ends_with_the_servers_words() {
    for (response, cause, words) in [
        (
            error(429, json!({"message": "slow down"})),
            FailureCause::RateLimited,
            "HTTP 429: slow down",
        ),
        (
            error(503, json!({"message": "Loading model"})),
            FailureCause::Unavailable,
            "HTTP 503: Loading model",
        ),
        (
            ResponseTemplate::new(500),
            FailureCause::Server,
            "HTTP 500: no word of explanation",
        ),
    ] {
        let (seen, requests) = ask(vec![response]).await;
        let failure = seen.failure();
        assert_eq!(failure.cause, cause);
        assert!(failure.to_string().contains(words), "{failure}");
        assert!(failure.message.contains("try 5"), "{failure}");
        assert_eq!(requests, 5);
        assert_eq!(seen.ledger(), (5, 5, 0, 0, 0));
    }
}

#[tokio::test]
async fn a_wait_that_the_server_asks_for_is_kept() {
    let busy = |name: &'static str, value: &'static str| {
        ResponseTemplate::new(429)
            .insert_header("date", "Fri, 06 Nov 2026 10:00:00 GMT")
            .insert_header(name, value)
    };
    for (response, least) in [
        (busy("retry-after", "1"), 1000),
        (busy("retry-after", "Fri, 06 Nov 2026 10:00:01 GMT"), 1000),
        (busy("retry-after-ms", "300"), 300),
        (busy("retry-after", "Fri, 06 Nov 2026 09:00:00 GMT"), 0),
        (busy("retry-after", "soon"), 0),
        (
            error(429, json!({"details": [{"retryDelay": "0.4s"}]})),
            400,
        ),
    ] {
        let (seen, requests) = ask(vec![response, ok()]).await;
        assert_eq!(requests, 2);
        assert!(seen.took >= Duration::from_millis(least), "{:?}", seen.took);
        // No wait is an hour, whatever the machine's load.
        assert!(seen.took < Duration::from_secs(60), "{:?}", seen.took);
    }
}

#[tokio::test]
async fn a_wait_has_a_cap_and_all_tries_an_end() {
    let busy = || ResponseTemplate::new(429).insert_header("retry-after", "3600");
    let server = server(vec![busy(), ok()]).await;
    let mut config = served(&format!("{}/v1", server.uri()));
    config.retry.longest_retry_after = 0.2;
    let seen = ask_as(&config, &request("hello")).await;
    assert_eq!(seen.answer.as_ref().unwrap().text, "fine");
    assert!(seen.took >= Duration::from_millis(200), "{:?}", seen.took);

    let server = self::server(vec![busy()]).await;
    let mut config = served(&format!("{}/v1", server.uri()));
    config.retry.total = 5.0;
    // It is held for two minutes, and the address may be another test's next.
    config.model = "held".to_owned();
    let seen = ask_as(&config, &request("hello")).await;
    let failure = seen.failure();
    assert_eq!(failure.cause, FailureCause::RateLimited);
    assert!(failure.message.contains("beyond the 5 s"), "{failure}");
    assert!(seen.took < Duration::from_secs(60), "{:?}", seen.took);
}

#[tokio::test]
async fn a_refusal_is_not_asked_again_and_names_its_cause() {
    let recorded = |name: &str| -> ResponseTemplate {
        let file = std::fs::read_to_string(format!("tests/exchanges/{name}.json")).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        ResponseTemplate::new(400).set_body_json(&file["response"]["json"])
    };
    for (response, cause, words) in [
        (
            recorded("too_long_context"),
            FailureCause::ContextOverflow,
            "6031 tokens",
        ),
        (
            error(
                400,
                json!({"code": "context_length_exceeded", "message": "This model's maximum context length is 8 tokens"}),
            ),
            FailureCause::ContextOverflow,
            "maximum context length",
        ),
        (
            error(
                400,
                json!({"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}),
            ),
            FailureCause::ContextOverflow,
            "prompt is too long",
        ),
        (
            recorded("n3_rejected"),
            FailureCause::SamplesRefused,
            "Field 'n'",
        ),
        (
            error(
                400,
                json!({"code": "unsupported_parameter", "param": "logit_bias", "message": "Unsupported parameter"}),
            ),
            FailureCause::ParameterRefused,
            "Unsupported parameter",
        ),
        (
            error(401, json!({"message": "Incorrect key"})),
            FailureCause::Unauthorised,
            "Incorrect key",
        ),
        (
            error(404, json!("no such model")),
            FailureCause::NotFound,
            "no such model",
        ),
        (
            error(
                429,
                json!({"code": "insufficient_quota", "message": "You exceeded your quota"}),
            ),
            FailureCause::QuotaSpent,
            "quota",
        ),
        (
            ResponseTemplate::new(422)
                .set_body_json(json!({"detail": [{"loc": ["body"], "msg": "bad"}]})),
            FailureCause::Refused,
            "\"msg\":\"bad\"",
        ),
        (
            ResponseTemplate::new(302).insert_header("location", "http://127.0.0.1:9/"),
            FailureCause::Refused,
            "HTTP 302",
        ),
    ] {
        let (seen, requests) = ask(vec![response]).await;
        let failure = seen.failure();
        assert_eq!(failure.cause, cause, "{failure}");
        assert!(failure.to_string().contains(words), "{failure}");
        assert_eq!(requests, 1, "{failure}");
        assert_eq!(seen.ledger(), (1, 1, 0, 0, 0));
    }
}

/// What a server refuses is left out or named otherwise, once and for all calls of this model.
#[tokio::test]
async fn a_refused_field_is_learned_from() {
    let refuse = |param: &str, message: &str| {
        error(
            400,
            json!({"code": "unsupported_value", "param": param, "message": message}),
        )
    };
    let server = server(vec![
        refuse("temperature", "Only the default (1) value is supported"),
        refuse(
            "",
            "Unsupported parameter: 'max_tokens' is not supported with this model",
        ),
        ok(),
    ])
    .await;
    let model = atlas_llm::open_model(&served(&format!("{}/v1", server.uri()))).unwrap();
    for _ in 0..2 {
        let answer = model
            .complete(&RunContext::new("test"), &request("hello"))
            .await;
        assert_eq!(answer.unwrap().text, "fine");
    }
    let bodies: Vec<Value> = server
        .received_requests()
        .await
        .unwrap()
        .iter()
        .map(|request| request.body_json().unwrap())
        .collect();
    assert_eq!(bodies.len(), 4);
    assert!(bodies[0]["temperature"].is_number() && bodies[0]["max_tokens"].is_number());
    assert!(bodies[1].get("temperature").is_none() && bodies[1]["max_tokens"].is_number());
    for body in &bodies[2..] {
        assert!(body.get("temperature").is_none() && body.get("max_tokens").is_none());
        assert_eq!(body["max_completion_tokens"], bodies[0]["max_tokens"]);
    }

    // Under both names refused, there is no third.
    let server = self::server(vec![
        refuse("max_tokens", "no"),
        refuse("max_completion_tokens", "no"),
        ok(),
    ])
    .await;
    let seen = ask_as(&served(&format!("{}/v1", server.uri())), &request("hello")).await;
    assert_eq!(seen.answer.unwrap().text, "fine");
    let last = server.received_requests().await.unwrap().pop().unwrap();
    let last: Value = last.body_json().unwrap();
    assert!(last.get("max_tokens").is_none() && last.get("max_completion_tokens").is_none());

    // Many at once, and a server that refuses whoever sends it.
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(|request: &wiremock::Request| {
            let body: Value = request.body_json().unwrap();
            match body.get("seed") {
                Some(_) => error(
                    400,
                    json!({"param": "seed", "message": "unknown parameter"}),
                ),
                None => ok(),
            }
        })
        .mount(&server)
        .await;
    let model = atlas_llm::open_model(&served(&format!("{}/v1", server.uri()))).unwrap();
    let mut asked = request("hello");
    asked.seed = Some(7);
    let cx = RunContext::new("test");
    let all = tokio::join!(
        model.complete(&cx, &asked),
        model.complete(&cx, &asked),
        model.complete(&cx, &asked)
    );
    for answer in [all.0, all.1, all.2] {
        assert_eq!(answer.unwrap().text, "fine");
    }
}

/// What a model thinks before it answers is no part of the answer, and its tokens are none of the answer's.
#[tokio::test]
async fn thoughts_are_no_answer() {
    for (said, expected) in [
        ("<think>so it is</think>\n\nyes", "yes"),
        ("\n<think>a\nb</think>yes <think>", "yes <think>"),
        (
            "the server put the first mark into the prompt</think>yes",
            "yes",
        ),
        ("<think>cut off in the middle", ""),
        ("{\"a\": \"</think>\"}", "{\"a\": \"</think>\"}"),
        ("yes, <think> is a mark", "yes, <think> is a mark"),
    ] {
        let body = ResponseTemplate::new(200).set_body_json(answer(said, 7, 3));
        let (seen, _) = ask(vec![body]).await;
        assert_eq!(seen.answer.unwrap().text, expected, "{said}");
    }
    for (tokens, left) in [
        (&["<think>", "so", "</think>", "\n", "y", "es"][..], Some(2)),
        // One stands across: where the answer begins is not known.
        (&["<think>", "so", "</think>\ny", "es"], None),
    ] {
        let text = tokens.concat();
        let list: Vec<Value> = tokens
            .iter()
            .map(|token| json!({"token": token, "bytes": token.as_bytes(), "logprob": -0.5, "top_logprobs": []}))
            .collect();
        let mut body = answer(&text, 7, 3);
        body["choices"][0]["logprobs"] = json!({"content": list});
        let (seen, _) = ask(vec![ResponseTemplate::new(200).set_body_json(body)]).await;
        let found = seen.answer.unwrap();
        assert_eq!(found.text, "yes");
        assert_eq!(found.logprobs.map(|tokens| tokens.len()), left);
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_an_error_that_shows_it() {
    for (body, words) in [
        ("{\"choices\": [{\"mess", "no JSON"),
        ("<html>proxy</html>", "<html>proxy</html>"),
        ("", "0 bytes"),
        ("[1, 2]", "holds no answer"),
        ("{\"choices\": []}", "holds no answer"),
        ("{\"choices\": [{\"index\": 0}]}", "holds no answer"),
        ("{\"choices\": 7, \"usage\": \"none\"}", "holds no answer"),
    ] {
        let (seen, requests) = ask(vec![ResponseTemplate::new(200).set_body_string(body)]).await;
        let failure = seen.failure();
        assert_eq!(failure.cause, FailureCause::Unreadable, "{body}");
        assert!(failure.to_string().contains(words), "{body}: {failure}");
        assert_eq!(requests, 1);
        // It may have cost something: that is on the ledger, apart from what was reported.
        assert_eq!(seen.ledger(), (1, 1, 0, 0, 1));
    }
    let paid = r#"{"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 0}}"#;
    let (seen, _) = ask(vec![ResponseTemplate::new(200).set_body_string(paid)]).await;
    assert_eq!(seen.failure().cause, FailureCause::Unreadable);
    assert_eq!(seen.ledger(), (1, 1, 11, 0, 0));
}

#[tokio::test]
async fn a_model_that_declines_is_an_error_that_is_paid_for() {
    let body = json!({
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"content": null, "refusal": "I cannot help with that"}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4},
    });
    let (seen, requests) = ask(vec![ResponseTemplate::new(200).set_body_json(body)]).await;
    let failure = seen.failure();
    assert_eq!(failure.cause, FailureCause::Declined);
    assert!(failure.message.contains("I cannot help"), "{failure}");
    assert_eq!((requests, seen.ledger()), (1, (1, 1, 9, 4, 0)));
}

#[tokio::test]
async fn odd_answers_are_read_as_far_as_they_go() {
    for (choice, text, finish) in [
        (
            json!({"message": {"content": null}, "finish_reason": "length"}),
            "",
            "\"length\"",
        ),
        (
            json!({"message": {"content": "a"}, "finish_reason": "eos"}),
            "a",
            "\"stop\"",
        ),
        (
            json!({"message": {"content": "a"}, "finish_reason": null}),
            "a",
            "{\"other\":\"absent\"}",
        ),
        (
            json!({"message": {"content": "a"}, "finish_reason": "abort"}),
            "a",
            "{\"other\":\"abort\"}",
        ),
        (
            json!({"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "finish_reason": "stop"}),
            "ab",
            "\"stop\"",
        ),
        (
            json!({"text": "a", "finish_reason": "stop"}),
            "a",
            "\"stop\"",
        ),
    ] {
        let (seen, _) = ask(vec![
            ResponseTemplate::new(200).set_body_json(json!({"choices": [choice]})),
        ])
        .await;
        // No usage: counted by estimate, the answer is whole.
        assert_eq!(seen.ledger(), (1, 0, 0, 0, 1));
        let done = seen.answer.unwrap();
        assert_eq!(done.text, text);
        assert_eq!(serde_json::to_string(&done.finish).unwrap(), finish);
        assert_eq!(done.usage, Usage::default());
        assert_eq!(done.model, "m");
    }
}

#[tokio::test]
async fn a_lost_connection_is_tried_again() {
    let whole = format!("{}{}", head("application/json"), answer("fine", 7, 3));
    let cut = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"choices\"";
    for first in [
        Act::Reset,
        Act::Send(cut.to_owned()),
        Act::Send(String::new()),
    ] {
        let (base, count) = raw(vec![first.clone(), Act::Send(whole.clone())]).await;
        let seen = ask_as(&served(&base), &request("hello")).await;
        assert_eq!(seen.answer.as_ref().unwrap().text, "fine", "{first:?}");
        assert_eq!(count.load(Ordering::SeqCst), 2);
        assert_eq!(seen.ledger(), (2, 1, 7, 3, 1));
    }
    let (base, count) = raw(vec![Act::Reset]).await;
    let seen = ask_as(&served(&base), &request("hello")).await;
    assert_eq!(seen.failure().cause, FailureCause::Reset);
    assert_eq!(
        (count.load(Ordering::SeqCst), seen.ledger()),
        (5, (5, 5, 0, 0, 5))
    );
}

#[tokio::test]
async fn nobody_at_the_address_costs_nothing() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let seen = ask_as(&served(&format!("http://{address}/v1")), &request("hello")).await;
    assert_eq!(seen.failure().cause, FailureCause::Connect);
    assert_eq!(seen.ledger(), (5, 5, 0, 0, 0));
    assert_eq!(seen.purse.ledger().tokens(), 0);
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_given_up() {
    let slow = ok().set_delay(Duration::from_secs(30));
    let server = server(vec![slow]).await;
    let mut config = served(&format!("{}/v1", server.uri()));
    config.timeout = 0.3;
    config.retry.retries = 1;
    let seen = ask_as(&config, &request("hello")).await;
    assert_eq!(seen.failure().cause, FailureCause::TimedOut);
    assert_eq!(seen.ledger(), (2, 2, 0, 0, 2));
    assert!(seen.took < Duration::from_secs(25));

    // All tries together.
    config.timeout = 20.0;
    config.retry = RetryPolicy {
        total: 0.5,
        ..config.retry
    };
    let seen = ask_as(&config, &request("hello")).await;
    assert_eq!(seen.failure().cause, FailureCause::TimedOut);
    assert!(seen.took < Duration::from_secs(25));
    assert_eq!(seen.ledger(), (1, 1, 0, 0, 1));
}

#[tokio::test]
async fn whoever_cancels_does_not_wait() {
    let server = server(vec![ok().set_delay(Duration::from_secs(30))]).await;
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(&served(&format!("{}/v1", server.uri())), &purse).unwrap();
    let cx = RunContext::new("test");
    let stop = cx.cancel.clone();
    let started = Instant::now();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.cancel();
    });
    let why = model.complete(&cx, &request("hello")).await.unwrap_err();
    assert_eq!(why.kind(), atlas_core::ErrorKind::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(25));
    assert_eq!(purse.ledger().models["m"].unreported_calls, 1);
}

#[tokio::test]
async fn refused_log_probabilities_are_asked_for_once() {
    let server = MockServer::start().await;
    Mock::given(body_partial_json(json!({"logprobs": true})))
        .respond_with(error(
            400,
            json!({"code": "unsupported_parameter", "param": "logprobs", "message": "'logprobs' is not supported with this model"}),
        ))
        .expect(1)
        .with_priority(1)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .respond_with(ok())
        .expect(2)
        .mount(&server)
        .await;
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(&served(&format!("{}/v1", server.uri())), &purse).unwrap();
    let request = CompletionRequest {
        top_logprobs: Some(5),
        ..request("hello")
    };
    for _ in 0..2 {
        let done = model
            .complete(&RunContext::new("test"), &request)
            .await
            .unwrap();
        assert_eq!((done.text.as_str(), done.logprobs), ("fine", None));
    }
    assert_eq!(purse.ledger().calls(), 3);
}

#[tokio::test]
async fn fewer_alternatives_are_better_than_none() {
    let server = MockServer::start().await;
    let asks = |top: u8| Mock::given(body_partial_json(json!({"top_logprobs": top})));
    asks(20)
        .respond_with(error(
            400,
            json!("Requested sample logprobs of 20, which is greater than max allowed: 5"),
        ))
        .expect(1)
        .mount(&server)
        .await;
    asks(5).respond_with(ok()).expect(2).mount(&server).await;
    let model = atlas_llm::open_model(&served(&format!("{}/v1", server.uri()))).unwrap();
    let request = CompletionRequest {
        top_logprobs: Some(20),
        ..request("hello")
    };
    for _ in 0..2 {
        let done = model.complete(&RunContext::new("test"), &request).await;
        assert_eq!(done.unwrap().text, "fine");
    }
}

#[tokio::test]
async fn log_probabilities_are_read_from_the_answer_alone() {
    let with = |logprobs: Value| {
        let mut body = answer("ab", 7, 3);
        body["choices"][0]["logprobs"] = logprobs;
        ResponseTemplate::new(200).set_body_json(body)
    };
    let token = |bytes: &[u8], logprob: f64, top: &[(&str, f64)]| atlas_core::TokenLogprob {
        bytes: bytes.to_vec(),
        logprob,
        top: top
            .iter()
            .map(|(text, value)| (text.as_bytes().to_vec(), *value))
            .collect(),
    };
    for (logprobs, expected) in [
        (json!(null), None),
        (json!({"content": null}), None),
        (json!({"content": []}), None),
        // Not asked for here, and fine all the same.
        (
            json!({"content": [{"token": "ab", "logprob": -0.5, "top_logprobs": [{"token": "ab", "logprob": -0.5}, {"token": "x", "logprob": -2.0}]}]}),
            Some(vec![token(b"ab", -0.5, &[("ab", -0.5), ("x", -2.0)])]),
        ),
        // No alternatives; bytes before text, half a letter each.
        (
            json!({"content": [{"token": "\u{fffd}", "bytes": [0xc3], "logprob": -1.0}, {"token": "\u{fffd}", "bytes": [0xa9], "logprob": 0}]}),
            Some(vec![token(&[0xc3], -1.0, &[]), token(&[0xa9], 0.0, &[])]),
        ),
        // One without a value: none are believed.
        (
            json!({"content": [{"token": "a", "logprob": null}, {"token": "b", "logprob": -1.0}]}),
            None,
        ),
        // After the samplers, as probabilities.
        (
            json!({"content": [{"token": "ab", "prob": 1.0, "top_probs": [{"token": "ab", "prob": 1.0}, {"token": "x", "prob": 0.0}]}]}),
            Some(vec![token(b"ab", 0.0, &[("ab", 0.0), ("x", -9999.0)])]),
        ),
        // The older form.
        (
            json!({"tokens": ["a", "b"], "token_logprobs": [-0.1, -0.2], "top_logprobs": [{"a": -0.1, "c": -3.0}, null]}),
            Some(vec![
                token(b"a", -0.1, &[("a", -0.1), ("c", -3.0)]),
                token(b"b", -0.2, &[]),
            ]),
        ),
    ] {
        let shown = logprobs.to_string();
        let (seen, _) = ask(vec![with(logprobs)]).await;
        assert_eq!(seen.answer.unwrap().logprobs, expected, "{shown}");
    }
}
