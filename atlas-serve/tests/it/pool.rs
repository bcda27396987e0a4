use crate::client::{Running, options, start};
use crate::host::State;
use atlas_serve::ServeOptions;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

async fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..500 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} never came");
}

fn warm(folder: &Path, ready: usize, in_all: usize) -> ServeOptions {
    let mut asked = options(folder);
    (asked.ready, asked.ready_in_all) = (ready, in_all);
    asked
}

async fn from(server: &Running, instance: &str) -> String {
    let reset = server
        .post("/episodes", json!({"instance_id": instance}))
        .await
        .ok();
    reset["from"].as_str().expect("a word").to_owned()
}

#[tokio::test]
async fn sessions_wait_ready() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = warm(folder.path(), 2, 3);
    asked.warm = vec!["calc__calc-1".to_owned()];
    let server = start(&state, asked).await;
    wait_for("two sessions", || State::get(&state.open) == 2).await;
    state.begin_time.store(500, Ordering::SeqCst);
    assert_eq!(from(&server, "calc__calc-1").await, "ready");
    assert_eq!(from(&server, "calc__calc-1").await, "ready");
    assert_eq!(
        from(&server, "calc__calc-1").await,
        "new",
        "so soon there is none"
    );
    state.begin_time.store(0, Ordering::SeqCst);
    // Three episodes and two that wait; the other instance's take the places of all.
    wait_for("two more", || State::get(&state.open) == 5).await;
    assert_eq!(from(&server, "calc__calc-2").await, "new");
    wait_for("one each, and one", || State::get(&state.open) == 7).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(
        State::get(&state.open),
        7,
        "four episodes and three that wait"
    );
    assert_eq!(from(&server, "calc__calc-2").await, "ready");
}

#[tokio::test]
async fn a_session_that_was_killed_while_it_waited_is_not_given() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = warm(folder.path(), 1, 1);
    asked.warm = vec!["calc__calc-1".to_owned()];
    let server = start(&state, asked).await;
    wait_for("a session", || State::get(&state.open) == 1).await;
    state.killed.store(true, Ordering::SeqCst);
    assert_eq!(from(&server, "calc__calc-1").await, "new");
}

#[tokio::test]
async fn sessions_do_not_wait_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = warm(folder.path(), 1, 1);
    asked.warm = vec!["calc__calc-1".to_owned()];
    asked.ready_time = Duration::from_millis(50);
    let _server = start(&state, asked).await;
    wait_for("a second one", || State::get(&state.begun) >= 2).await;
    wait_for("the first one's end", || State::get(&state.open) <= 1).await;
}

#[tokio::test]
async fn an_instance_that_has_no_environment_is_not_tried_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = warm(folder.path(), 1, 4);
    asked.warm = vec!["web__web-7".to_owned(), "calc__calc-1".to_owned()];
    let server = start(&state, asked).await;
    wait_for("the other one's", || State::get(&state.open) == 1).await;
    assert_eq!(from(&server, "calc__calc-1").await, "ready");
}
