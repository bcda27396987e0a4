//! Clients that hang up before they are answered.

use crate::client::{Held, options, start};
use crate::host::State;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn answers_wait_for_clients_that_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    state.begin_time.store(300, Ordering::SeqCst);
    let reset = json!({"instance_id": "calc__calc-1", "request_id": "r"});
    server.vanish("/episodes", "", reset.clone()).await;
    let held = Held::of(&server.post("/episodes", reset).await.ok());
    assert_eq!(State::get(&state.begun), 1);

    let step = json!({"command": "sleep 300", "request_id": "s"});
    let path = format!("/episodes/{}/step", held.id);
    server.vanish(&path, &held.token, step.clone()).await;
    assert_eq!(server.on(&held, "step", step).await.ok()["output"], "slept");
    assert_eq!(State::get(&state.steps), 1);

    state.grade_time.store(300, Ordering::SeqCst);
    server.step(&held, "echo fix").await.ok();
    let path = format!("/episodes/{}/submit", held.id);
    server.vanish(&path, &held.token, json!({})).await;
    assert_eq!(server.submit(&held).await.ok()["reward"], 1.0);
    assert_eq!(State::get(&state.grades), 1);
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_ends_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    let path = format!("/episodes/{}/step", held.id);
    let step = json!({"command": "sleep 60000", "seconds": 1});
    server.vanish(&path, &held.token, step).await;
    server.step(&held, "echo fix").await.refused(409, "busy");
    tokio::time::sleep(Duration::from_millis(1200)).await;
    server.step(&held, "echo fix").await.ok();
}

#[tokio::test]
async fn clients_that_never_come_back_cost_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    state.begin_time.store(200, Ordering::SeqCst);
    let mut asked = options(folder.path());
    (asked.episodes, asked.idle_time) = (4, Duration::from_millis(300));
    let server = start(&state, asked).await;
    let gone = json!({"instance_id": "calc__calc-1"});
    for _ in 0..3 {
        server.vanish("/episodes", "", gone.clone()).await;
    }
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(State::get(&state.begun), 3);
    assert_eq!(State::get(&state.open), 0);
    for _ in 0..4 {
        server.reset("calc__calc-1").await;
    }
}
