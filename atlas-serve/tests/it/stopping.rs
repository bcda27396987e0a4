use crate::client::{options, start};
use crate::host::State;
use hyper::Method;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn a_server_that_is_told_to_stop_keeps_its_word() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    state.grade_time.store(700, Ordering::SeqCst);
    let mut asked = options(folder.path());
    asked.drain_time = Duration::from_millis(400);
    (asked.ready, asked.warm) = (1, vec!["calc__calc-1".to_owned()]);
    let mut server = start(&state, asked.clone()).await;
    let submitted = server.reset("calc__calc-1").await;
    server.step(&submitted, "echo fix").await.ok();
    let late = server.reset("calc__calc-1").await;
    let idle = server.reset("calc__calc-1").await;
    let (early, late_result, during) = tokio::join!(
        server.submit(&submitted),
        async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            // In the time that is left an episode goes on and is submitted.
            server.step(&late, "echo fix").await.ok();
            server.submit(&late).await
        },
        async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            server.stop();
            tokio::time::sleep(Duration::from_millis(50)).await;
            let reset = server
                .post("/episodes", json!({"instance_id": "calc__calc-1"}))
                .await;
            let fork = server.on(&idle, "fork", json!({})).await;
            let health = server.ask(Method::GET, "/health", "", None).await;
            (reset, fork, health)
        }
    );
    assert_eq!(early.ok()["reward"], 1.0);
    assert_eq!(late_result.ok()["reward"], 1.0);
    assert_eq!(during.0.retry_after.as_deref(), Some("30"));
    during.0.refused(503, "stopping");
    during.1.refused(503, "stopping");
    during.2.refused(503, "stopping");
    server.ended().await;
    assert_eq!(State::get(&state.open), 0, "nothing is left");
    drop(server);
    let server = start(&state, options(folder.path())).await;
    let why = server.submit(&idle).await.refused(410, "ended");
    assert!(why.contains("the server was stopped"), "{why}");
    assert_eq!(server.submit(&late).await.ok()["reward"], 1.0);
}

#[tokio::test]
async fn a_reset_under_way_does_not_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    state.begin_time.store(300, Ordering::SeqCst);
    let mut asked = options(folder.path());
    asked.drain_time = Duration::ZERO;
    let mut server = start(&state, asked).await;
    let body = json!({"instance_id": "calc__calc-1"});
    server.vanish("/episodes", "", body).await;
    server.stop();
    server.ended().await;
    assert_eq!(State::get(&state.begun), 1);
    assert_eq!(State::get(&state.open), 0);
}
