//! Recordings of conversations about what programs print, which never print the same twice.

use atlas_core::{ChatMessage, CompletionRequest, ErrorKind, LanguageModel, Role, RunContext};
use atlas_llm::{Recorded, Replay, Rule, Scripted};
use std::sync::Arc;

fn asked(text: &str) -> CompletionRequest {
    CompletionRequest {
        messages: vec![ChatMessage {
            role: Role::User,
            content: text.to_owned(),
        }],
        max_tokens: 8,
        temperature: 0.0,
        seed: Some(0),
        top_logprobs: None,
        json_schema: None,
    }
}

async fn answer(model: &impl LanguageModel, text: &str) -> Result<String, ErrorKind> {
    let cx = RunContext::new("test");
    let answer = model.complete(&cx, &asked(text)).await;
    answer.map(|answer| answer.text).map_err(|why| why.kind())
}

fn scripted(answers: &[&str]) -> Arc<Scripted> {
    Arc::new(Scripted::new(
        answers.iter().map(|text| Rule::text("", *text)),
    ))
}

#[tokio::test]
async fn questions_that_differ_in_numbers_alone_are_answered_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.jsonl");
    let model = Recorded::new(scripted(&["one", "two", "three"]), &file).unwrap();
    for text in [
        "ran in 0.12s at /job-a81f",
        "ran in 3s at /job-9",
        "it broke",
    ] {
        answer(&model, text).await.unwrap();
    }
    let strict = Replay::read(&file).unwrap();
    assert_eq!(
        answer(&strict, "ran in 7s at /job-77").await,
        Err(ErrorKind::Model)
    );
    let replay = Replay::read(&file).unwrap().ignoring_numbers();
    // Seconds with a point are two words: only the first question is like these.
    assert_eq!(
        answer(&replay, "ran in 9.99s at /job-4").await.unwrap(),
        "one"
    );
    assert_eq!(answer(&replay, "ran in 4s at /job-1").await.unwrap(), "two");
    assert_eq!(answer(&replay, "ran in 5s at /job-2").await.unwrap(), "two");
    assert_eq!(answer(&replay, "it broke").await.unwrap(), "three");
    assert_eq!(answer(&replay, "it burst").await, Err(ErrorKind::Model));
    // Of questions that are alike each answers once, whatever was asked word for word before.
    let file = folder.path().join("alike.jsonl");
    let model = Recorded::new(scripted(&["one", "two"]), &file).unwrap();
    for text in ["took 1s", "took 2s"] {
        answer(&model, text).await.unwrap();
    }
    let replay = Replay::read(&file).unwrap().ignoring_numbers();
    assert_eq!(answer(&replay, "took 1s").await.unwrap(), "one");
    assert_eq!(answer(&replay, "took 8s").await.unwrap(), "two");
}

#[tokio::test]
async fn a_run_that_was_stopped_is_not_charged_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("below/model.jsonl");
    let first = Recorded::resuming(scripted(&["one"]), &file).unwrap();
    assert!(!file.exists(), "nobody was asked");
    assert_eq!(answer(&first, "a").await.unwrap(), "one");
    let inner = scripted(&["two"]);
    let second = Recorded::resuming(Arc::clone(&inner), &file).unwrap();
    assert_eq!(answer(&second, "a").await.unwrap(), "one");
    assert_eq!(inner.unused().len(), 1);
    assert_eq!(answer(&second, "b").await.unwrap(), "two");
    let lines = |file| std::fs::read_to_string(file).unwrap().lines().count();
    assert_eq!(lines(&file), 2);
    // Another model's answers are not this one's.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("scripted", "another")).unwrap();
    let third = Recorded::resuming(scripted(&["three"]), &file).unwrap();
    assert_eq!(answer(&third, "a").await.unwrap(), "three");
    assert_eq!(lines(&file), 1);
}
