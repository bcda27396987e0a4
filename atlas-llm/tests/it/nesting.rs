//! Models as their users nest them.

use crate::support::request;
use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, FinishReason, LanguageModel, RunContext,
    TokenLogprob, Usage,
};
use atlas_llm::{Budget, Limits, Recorded, Remembered, Replay, Rule, Scripted};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn colours() -> Scripted {
    Scripted::new([Rule::text("sky", "blue"), Rule::text("grass", "green")])
}

#[tokio::test]
async fn a_recording_answers_what_was_asked_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exchanges.jsonl");
    let cx = RunContext::new("test");
    let recorded = Recorded::new(colours(), &path).unwrap();
    recorded.complete(&cx, &request("the sky?")).await.unwrap();
    recorded
        .complete(&cx, &request("the grass?"))
        .await
        .unwrap();
    let replay = Replay::read(&path).unwrap();
    assert_eq!(replay.name(), "scripted");
    let answer = replay.complete(&cx, &request("the grass?")).await.unwrap();
    assert_eq!(answer.text, "green");
    let missed = replay
        .complete(&cx, &request("the sea?"))
        .await
        .unwrap_err();
    assert_eq!(missed.kind(), ErrorKind::Model);
    assert!(
        missed.chain().contains("recorded `ky?`"),
        "{}",
        missed.chain()
    );
    let other = CompletionRequest {
        max_tokens: 11,
        ..request("the sky?")
    };
    let missed = replay.complete(&cx, &other).await.unwrap_err();
    assert!(
        missed.chain().contains("other settings"),
        "{}",
        missed.chain()
    );
}

#[tokio::test]
async fn a_recording_that_was_changed_by_hand_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exchanges.jsonl");
    let recorded = Recorded::new(colours(), &path).unwrap();
    let cx = RunContext::new("test");
    recorded.complete(&cx, &request("the sky?")).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    for (wrong, what) in [
        (text.replace("sky?", "sea?"), "line 1"),
        (format!("{text}{{\n"), "line 2"),
        (String::new(), "no exchange"),
    ] {
        std::fs::write(&path, wrong).unwrap();
        let why = Replay::read(&path).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(why.chain().contains(what), "{}", why.chain());
    }
}

#[tokio::test]
async fn a_budget_ends_before_it_is_overdrawn() {
    let cx = RunContext::new("test");
    for (limits, what) in [
        (
            Limits {
                calls: Some(1),
                tokens: Some(1000),
                ..Limits::none()
            },
            "1 calls",
        ),
        (
            Limits {
                calls: Some(9),
                tokens: Some(9),
                ..Limits::none()
            },
            "9 tokens",
        ),
    ] {
        let model = Budget::new(colours(), limits);
        let first = model.complete(&cx, &request("the sky?")).await;
        let over = match first {
            Ok(_) => model
                .complete(&cx, &request("the grass?"))
                .await
                .unwrap_err(),
            Err(why) => why,
        };
        assert_eq!(over.kind(), ErrorKind::BudgetExceeded);
        assert!(over.chain().contains(what), "{}", over.chain());
        assert!(Some(model.spent().0) <= limits.calls);
    }
}

#[tokio::test]
async fn a_question_that_no_rule_expects_is_refused() {
    let cx = RunContext::new("test");
    let model = colours();
    let why = model.complete(&cx, &request("the sea?")).await.unwrap_err();
    assert!(why.chain().contains("the sea?"), "{}", why.chain());
    assert_eq!(model.unused().len(), 2);
}

#[tokio::test]
async fn what_is_remembered_is_asked_and_paid_once() {
    let limits = Limits {
        calls: Some(3),
        ..Limits::default()
    };
    let model = Remembered::new(Budget::new(colours(), limits));
    let cx = RunContext::new("test");
    let sky = request("the sky?");
    // A question that fails is asked again: the script has no answer to this one.
    model.complete(&cx, &request("the sea?")).await.unwrap_err();
    let first = model.complete(&cx, &sky).await.unwrap();
    assert_eq!(model.complete(&cx, &sky).await.unwrap(), first);
    let warm = CompletionRequest {
        temperature: 1.0,
        ..sky
    };
    // The script answers once, so a sample goes through and finds nothing; then the budget is used up.
    let why = model.complete(&cx, &warm).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Model, "{}", why.chain());
    let why = model.complete(&cx, &warm).await.unwrap_err();
    assert_eq!(why.kind(), ErrorKind::BudgetExceeded, "{}", why.chain());
}

/// Says how often it was asked, after a while, with tokens that are no text.
#[derive(Debug, Default)]
struct Counting(AtomicU32);

#[async_trait]
impl LanguageModel for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    async fn complete(
        &self,
        _: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let at = self.0.fetch_add(1, Ordering::SeqCst);
        let logprob = -f64::from(at + 1).ln();
        Ok(Completion {
            text: format!("{at}: {}", request.messages[0].content),
            finish: FinishReason::Stop,
            usage: Usage::default(),
            model: "counting".to_owned(),
            logprobs: Some(vec![TokenLogprob {
                bytes: vec![0xff, b'"'],
                logprob,
                top: vec![(vec![0xc3], logprob / 3.0)],
            }]),
            avg_logprob: Some(logprob / 7.0),
        })
    }
}

/// Of many questions each has its own answer, to the last bit, whoever asks first, and whoever of them gives up.
#[tokio::test]
async fn many_answers_come_back_as_they_were() {
    let model = Remembered::new(Counting::default());
    let cx = RunContext::new("test");
    let questions: Vec<CompletionRequest> = (0..40).map(|at| request(&at.to_string())).collect();
    let mut first = Vec::new();
    for question in &questions {
        // Polled once; on a machine that stands still meanwhile it may be answered, which does no harm.
        tokio::select! {
            biased;
            _ = model.complete(&cx, question) => {}
            () = std::future::ready(()) => {}
        }
        let (one, two) = tokio::join!(model.complete(&cx, question), model.complete(&cx, question));
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(one, two);
        first.push(one);
    }
    for (question, first) in questions.iter().zip(&first).rev() {
        assert_eq!(&model.complete(&cx, question).await.unwrap(), first);
    }
    assert!(first[7].text.ends_with(": 7") && first[7].logprobs != first[8].logprobs);
}
