//! What a killed server owes.

use crate::client::{options, start};
use crate::host::{Memory, State};
use atlas_core::RunContext;
use atlas_serve::Server;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn a_killed_server_goes_on_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    let graded = server.reset("calc__calc-1").await;
    server.step(&graded, "echo fix").await.ok();
    let result = server.submit(&graded).await.ok();
    let open = server.reset("calc__calc-1").await;
    server.step(&open, "echo fix").await.ok();
    let under_way = server.reset("calc__calc-2").await;
    server.step(&under_way, "echo fix again").await.ok();
    state.grade_time.store(60_000, Ordering::SeqCst);
    let path = format!("/episodes/{}/submit", under_way.id);
    server.vanish(&path, &under_way.token, json!({})).await;
    assert_eq!(server.state_of(&under_way).await.ok()["state"], "submitted");
    drop(server);

    state.grade_time.store(0, Ordering::SeqCst);
    let server = start(&state, options(folder.path())).await;
    assert_eq!(server.submit(&graded).await.ok(), result);
    let why = server.step(&open, "echo").await.refused(410, "ended");
    assert!(why.contains("the server was restarted"), "{why}");
    server.submit(&open).await.refused(410, "ended");
    let late = server.submit(&under_way).await.ok();
    assert_eq!(late["reward"], 1.0);
    assert_eq!(late["verdict"]["patch"], "fix again\n");
    assert_eq!(
        State::get(&state.grades),
        2,
        "the first one was not graded again"
    );
}

#[tokio::test]
async fn what_is_owed_is_graded_though_nobody_asks() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    server.step(&held, "echo fix").await.ok();
    state.grade_time.store(60_000, Ordering::SeqCst);
    let path = format!("/episodes/{}/submit", held.id);
    server.vanish(&path, &held.token, json!({})).await;
    drop(server);
    state.grade_time.store(0, Ordering::SeqCst);
    let server = start(&state, options(folder.path())).await;
    while server.state_of(&held).await.ok()["state"] != "graded" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(State::get(&state.grades), 1);
}

#[tokio::test]
async fn a_folder_has_one_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let cx = RunContext::new("test");
    let host = Memory::new(&server.state);
    let second = Server::open(&cx, host, options(folder.path())).await;
    let why = second.unwrap_err().chain();
    assert!(why.contains("another server uses it"), "{why}");
}

#[tokio::test]
async fn old_episodes_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    server.submit(&held).await.ok();
    drop(server);
    let mut asked = options(folder.path());
    asked.keep_time = Duration::ZERO;
    tokio::time::sleep(Duration::from_millis(5)).await;
    let server = start(&Arc::default(), asked).await;
    server.submit(&held).await.refused(404, "unknown_episode");
}
