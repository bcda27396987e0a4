//! Requests that are asked again.

use crate::client::{Held, options, start};
use crate::host::State;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn a_reset_asked_again_is_the_same_episode() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    state.begin_time.store(200, Ordering::SeqCst);
    let server = start(&state, options(folder.path())).await;
    let asked = json!({"instance_id": "calc__calc-1", "request_id": "r-1"});
    let (one, other) = tokio::join!(
        server.post("/episodes", asked.clone()),
        server.post("/episodes", asked.clone())
    );
    let one = one.ok();
    assert_eq!(one, other.ok());
    assert_eq!(one, server.post("/episodes", asked).await.ok());
    assert_eq!(State::get(&state.begun), 1);
    let other = json!({"instance_id": "calc__calc-2", "request_id": "r-1"});
    let why = server
        .post("/episodes", other)
        .await
        .refused(422, "invalid_input");
    assert!(why.contains("request_id"), "{why}");
    // A reset that failed may be asked anew, and one without a name is a new one each time.
    let failing = json!({"instance_id": "web__web-7", "request_id": "r-2"});
    for _ in 0..2 {
        let failed = server.post("/episodes", failing.clone()).await;
        let why = failed.refused(422, "invalid_input");
        assert!(why.contains("has no image"), "{why}");
    }
    assert_ne!(server.reset("calc__calc-1").await.id, one["episode"]);
}

#[tokio::test]
async fn a_step_asked_again_is_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    let asked = json!({"command": "sleep 200", "request_id": "s-1"});
    let (one, other) = tokio::join!(
        server.on(&held, "step", asked.clone()),
        server.on(&held, "step", asked.clone())
    );
    let one = one.ok();
    assert_eq!(one, other.ok());
    server.step(&held, "echo fix").await.ok();
    assert_eq!(one, server.on(&held, "step", asked).await.ok());
    assert_eq!(State::get(&state.steps), 2);
    let other = json!({"command": "sleep 201", "request_id": "s-1"});
    let why = server
        .on(&held, "step", other)
        .await
        .refused(422, "invalid_input");
    assert!(why.contains("name of another request"), "{why}");
    let long = json!({"command": "echo", "request_id": "x".repeat(129)});
    server
        .on(&held, "step", long)
        .await
        .refused(422, "invalid_input");
    // What the engine could not do is not tried again by asking again, for it may have been done.
    let failing = json!({"command": "fail", "request_id": "s-2"});
    for _ in 0..2 {
        let failed = server.on(&held, "step", failing.clone()).await;
        failed.refused(502, "session_failed");
    }
    assert_eq!(State::get(&state.steps), 3);
    let result = server.submit(&held).await.ok();
    assert_eq!(result["verdict"]["patch"], "fix\n");
}

#[tokio::test]
async fn answers_are_kept_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = options(folder.path());
    asked.output_bytes = 1 << 20;
    let state = Arc::new(State::default());
    let server = start(&state, asked).await;
    let held = server.reset("calc__calc-1").await;
    let big = |name: u32| json!({"command": "big", "request_id": name.to_string()});
    for name in 0..6 {
        server.on(&held, "step", big(name)).await.ok();
    }
    server.on(&held, "step", big(5)).await.ok();
    server
        .on(&held, "step", big(0))
        .await
        .refused(410, "forgotten");
    assert_eq!(State::get(&state.steps), 6);
}

#[tokio::test]
async fn a_submission_is_graded_once() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    state.grade_time.store(200, Ordering::SeqCst);
    let server = start(&state, options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    server.step(&held, "echo fix").await.ok();
    let named = json!({"request_id": "last"});
    let (one, other, named) = tokio::join!(
        server.submit(&held),
        server.submit(&held),
        server.on(&held, "submit", named)
    );
    let one = one.ok();
    assert_eq!(one["reward"], 1.0);
    assert_eq!(one, other.ok());
    assert_eq!(one, named.ok());
    assert_eq!(one, server.submit(&held).await.ok());
    assert_eq!(State::get(&state.grades), 1);
}

#[tokio::test]
async fn a_fork_asked_again_is_the_same_fork() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    let asked = json!({"request_id": "f-1"});
    let one = server.on(&held, "fork", asked.clone()).await.ok();
    assert_eq!(one, server.on(&held, "fork", asked.clone()).await.ok());
    assert_eq!(State::get(&state.open), 2);
    // The name of a fork is no name for a step.
    let step = json!({"command": "echo", "request_id": "f-1"});
    server
        .on(&held, "step", step)
        .await
        .refused(422, "invalid_input");
    server.end(&Held::of(&one)).await.ok();
    assert_eq!(State::get(&state.open), 1);
}
