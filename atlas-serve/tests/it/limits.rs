use crate::client::{options, start};
use crate::host::State;
use hyper::Method;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn more_episodes_than_allowed_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = options(folder.path());
    asked.episodes = 2;
    let server = start(&state, asked).await;
    let one = server.reset("calc__calc-1").await;
    let other = server.reset("calc__calc-2").await;
    let full = server
        .post("/episodes", json!({"instance_id": "calc__calc-1"}))
        .await;
    assert_eq!(full.retry_after.as_deref(), Some("1"));
    let why = full.refused(429, "full");
    assert!(why.contains("2 episodes"), "{why}");
    // A fork takes a place, too; one that was turned away may be asked again by the same name.
    let fork = json!({"request_id": "f"});
    server
        .on(&one, "fork", fork.clone())
        .await
        .refused(429, "full");
    server.end(&other).await.ok();
    server.on(&one, "fork", fork).await.ok();
    assert_eq!(State::get(&state.most_open), 2);
}

#[tokio::test]
async fn verdicts_that_are_owed_hold_resets_back() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    state.grade_time.store(300, Ordering::SeqCst);
    let mut asked = options(folder.path());
    (asked.waiting, asked.graders) = (1, 1);
    let server = start(&state, asked).await;
    let (one, other) = (
        server.reset("calc__calc-1").await,
        server.reset("calc__calc-1").await,
    );
    let (first, second, full) = tokio::join!(server.submit(&one), server.submit(&other), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server
            .post("/episodes", json!({"instance_id": "calc__calc-1"}))
            .await
    });
    full.refused(429, "full");
    // Nobody who is in is turned away.
    assert_eq!(first.ok()["reward"], 0.0);
    assert_eq!(second.ok()["reward"], 0.0);
    server.reset("calc__calc-1").await;
}

#[tokio::test]
async fn one_request_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    let (slow, busy) = tokio::join!(server.step(&held, "sleep 300"), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        (
            server.step(&held, "echo fix").await,
            server.submit(&held).await,
        )
    });
    slow.ok();
    assert_eq!(busy.0.retry_after.as_deref(), Some("1"));
    busy.0.refused(409, "busy");
    busy.1.refused(409, "busy");
    server.step(&held, "echo fix").await.ok();
}

#[tokio::test]
async fn limits_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = options(folder.path());
    (asked.steps, asked.step_seconds_most) = (2, 5);
    let server = start(&Arc::default(), asked).await;
    let held = server.reset("calc__calc-1").await;
    let long = json!({"command": "echo", "seconds": 6});
    let why = server
        .on(&held, "step", long)
        .await
        .refused(422, "invalid_input");
    assert_eq!(why, "`seconds` is 6: from 1 to 5 may be named");
    let late = json!({"command": "sleep 1500", "seconds": 1});
    let late = server.on(&held, "step", late).await.ok();
    assert_eq!(
        (&late["ended"], &late["exit_code"]),
        (&json!("timed_out"), &json!(null))
    );
    server.step(&held, "echo fix").await.ok();
    server
        .step(&held, "echo more")
        .await
        .refused(409, "steps_used_up");
    assert_eq!(server.submit(&held).await.ok()["reward"], 1.0);
}

#[tokio::test]
async fn what_is_no_request_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let unknown = json!({"instance_id": "calc__calc-1", "hint": true});
    let why = server
        .post("/episodes", unknown)
        .await
        .refused(422, "invalid_input");
    assert!(
        why.contains("unknown field `hint`, expected one of"),
        "{why}"
    );
    let near = server
        .post("/episodes", json!({"instance_id": "calc_calc-1"}))
        .await;
    let why = near.refused(404, "unknown_instance");
    assert!(why.ends_with("did you mean `calc__calc-1`?"), "{why}");
    let reward = json!({"instance_id": "calc__calc-1", "reward": "love"});
    let why = server
        .post("/episodes", reward)
        .await
        .refused(422, "invalid_input");
    assert!(why.contains("resolved"), "{why}");
    let held = server.reset("calc__calc-1").await;
    let big = json!({"command": "x".repeat(5 << 20)});
    server
        .on(&held, "step", big)
        .await
        .refused(413, "invalid_input");
    server
        .ask(Method::GET, "/episode", "", None)
        .await
        .refused(404, "unknown_path");
    server
        .ask(Method::GET, "/episodes", "", None)
        .await
        .refused(405, "unknown_method");
    // Without a type of content it is no JSON: so a form of a stranger's page cannot ask.
    let plain = server.ask(Method::POST, "/episodes", "", None).await;
    plain.refused(415, "invalid_input");
    let all = server.ask(Method::GET, "/instances", "", None).await.ok();
    assert_eq!(
        all["instances"],
        json!(["calc__calc-1", "calc__calc-2", "web__web-7"])
    );
}

#[tokio::test]
async fn episodes_that_nobody_asks_for_end() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = options(folder.path());
    asked.idle_time = Duration::from_millis(400);
    let server = start(&state, asked).await;
    let idle = server.reset("calc__calc-1").await;
    // A command that takes longer is not idle.
    let busy = server.reset("calc__calc-1").await;
    server.step(&busy, "sleep 700").await.ok();
    let why = server.step(&idle, "echo").await.refused(410, "ended");
    assert!(why.contains("nobody asked for it in 0.4 seconds"), "{why}");
    server.step(&busy, "echo fix").await.ok();
    assert_eq!(server.submit(&busy).await.ok()["reward"], 1.0);
    assert_eq!(State::get(&state.open), 0);
}

#[tokio::test]
async fn episodes_end_when_their_time_is_up() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = options(folder.path());
    (asked.episode_time, asked.idle_time) = (Duration::from_secs(1), Duration::from_secs(2));
    let server = start(&state, asked).await;
    let held = server.reset("calc__calc-1").await;
    // No command outlives its episode.
    let late = server.step(&held, "sleep 9000").await;
    assert!(late.status == 200 || late.status == 410, "{late:?}");
    tokio::time::sleep(Duration::from_millis(700)).await;
    let why = server.step(&held, "echo").await.refused(410, "ended");
    assert!(why.contains("its 1 seconds were over"), "{why}");
    assert_eq!(State::get(&state.open), 0);
}
