//! Answers that arrive in pieces, whole and cut.

use crate::support::{Act, head, raw, request, served};
use atlas_core::{Completion, Error, FinishReason, LanguageModel, RunContext};
use atlas_llm::{CallFailure, FailureCause, Limits, ModelConfig, Purse, open_model_within};
use std::sync::Arc;

async fn ask(config: ModelConfig) -> (Result<Completion, Error>, Arc<Purse>) {
    let purse = Arc::new(Purse::new(Limits::none()));
    let model = open_model_within(&config, &purse).unwrap();
    let answer = model
        .complete(&RunContext::new("test"), &request("hello"))
        .await;
    (answer, purse)
}

fn streaming(base: &str) -> ModelConfig {
    let mut config = ModelConfig {
        stream: true,
        ..served(base)
    };
    config.retry.retries = 0;
    config
}

fn event(text: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
    )
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn a_whole_stream_is_an_answer() {
    let stream = head("text/event-stream");
    for (rest, usage) in [
        (
            format!("{}{}{END}{USAGE}{DONE}", event("fi"), event("ne")),
            (5, 2),
        ),
        // Without its end mark, without usage, with a comment between.
        (
            format!("{}: ping\n\n{}{END}", event("fi"), event("ne")),
            (0, 0),
        ),
        (
            format!("{}{}{}", event("fi"), event("ne"), END.trim_end()),
            (0, 0),
        ),
    ] {
        let (base, _) = raw(vec![Act::Send(format!("{stream}{rest}"))]).await;
        let (answer, purse) = ask(streaming(&base)).await;
        let done = answer.unwrap();
        assert_eq!(
            (done.text.as_str(), done.finish),
            ("fine", FinishReason::Stop)
        );
        assert_eq!(
            (done.usage.prompt_tokens, done.usage.completion_tokens),
            usage
        );
        assert_eq!(purse.ledger().usage(), done.usage);
    }
}

#[tokio::test]
async fn a_cut_stream_is_an_error_that_says_what_came() {
    let stream = head("text/event-stream");
    for (rest, cause, words) in [
        (
            format!("{}{}", event("fi"), event("n")),
            FailureCause::CutStream,
            "received 3 characters: `fin`",
        ),
        (
            format!("{}data: {{\"choices\":[{{\"ind", event("fi")),
            FailureCause::CutStream,
            "received 2 characters: `fi`",
        ),
        (
            String::new(),
            FailureCause::CutStream,
            "nothing of the answer",
        ),
        (
            format!("{}data: {{nonsense\n\n", event("fi")),
            FailureCause::Unreadable,
            "received 2 characters",
        ),
        (
            format!(
                "{}data: {{\"error\":{{\"code\":503,\"message\":\"worker died\"}}}}\n\n",
                event("fi")
            ),
            FailureCause::Unavailable,
            "worker died; received 2 characters",
        ),
    ] {
        let (base, _) = raw(vec![Act::Send(format!("{stream}{rest}"))]).await;
        let (answer, purse) = ask(streaming(&base)).await;
        let why = answer.unwrap_err();
        let failure = CallFailure::of(&why).unwrap();
        assert_eq!(failure.cause, cause, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
        assert_eq!(purse.ledger().models["m"].failed_calls, 1);
        assert_eq!(purse.ledger().usage(), atlas_core::Usage::default());
    }
}

#[tokio::test]
async fn a_cut_stream_that_told_its_usage_is_paid_for_to_the_token() {
    let chunked =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let body = format!("{USAGE}{}", event("fi"));
    let cut = format!("{chunked}{:x}\r\n{body}\r\n", body.len());
    let (base, _) = raw(vec![Act::Send(cut)]).await;
    let (answer, purse) = ask(streaming(&base)).await;
    let why = answer.unwrap_err();
    let failure = CallFailure::of(&why).unwrap();
    assert_eq!(failure.cause, FailureCause::CutStream);
    let account = purse.ledger().models["m"];
    assert_eq!((account.prompt_tokens, account.completion_tokens), (5, 2));
    assert_eq!(account.unreported_calls, 0);
}

#[tokio::test]
async fn a_cut_stream_is_asked_again() {
    let stream = head("text/event-stream");
    let (base, _) = raw(vec![
        Act::Send(format!("{stream}{}", event("fi"))),
        Act::Send(format!("{stream}{}{END}{USAGE}{DONE}", event("fine"))),
    ])
    .await;
    let mut config = streaming(&base);
    config.retry.retries = 1;
    let (answer, purse) = ask(config).await;
    assert_eq!(answer.unwrap().text, "fine");
    let account = purse.ledger().models["m"];
    assert_eq!((account.calls, account.failed_calls), (2, 1));
    assert_eq!((account.prompt_tokens, account.completion_tokens), (5, 2));
}

#[tokio::test]
async fn a_stream_that_stalls_ends_with_the_time_limit() {
    let stalled = format!("{}{}", head("text/event-stream"), event("fi"));
    let (base, _) = raw(vec![Act::Stall(stalled)]).await;
    let mut config = streaming(&base);
    config.timeout = 0.4;
    let (answer, _) = ask(config).await;
    let why = answer.unwrap_err();
    let failure = CallFailure::of(&why).unwrap();
    assert_eq!(failure.cause, FailureCause::TimedOut);
    assert!(failure.message.contains("`fi`"), "{failure}");
}

#[tokio::test]
async fn a_connection_that_is_lost_behind_the_end_cuts_nothing() {
    let whole = format!("{}{}{END}", head("text/event-stream"), event("fine"));
    let (base, _) = raw(vec![Act::Stall(whole)]).await;
    let mut config = streaming(&base);
    config.timeout = 0.4;
    let (answer, purse) = ask(config).await;
    let done = answer.unwrap();
    assert_eq!(
        (done.text.as_str(), done.finish),
        ("fine", FinishReason::Stop)
    );
    assert_eq!(purse.ledger().models["m"].unreported_calls, 1);
}

#[tokio::test]
async fn a_server_without_streams_may_answer_whole() {
    let body = crate::support::answer("fine", 7, 3);
    let (base, _) = raw(vec![Act::Send(format!(
        "{}{body}",
        head("application/json")
    ))])
    .await;
    let (answer, _) = ask(streaming(&base)).await;
    assert_eq!(answer.unwrap().text, "fine");
}
