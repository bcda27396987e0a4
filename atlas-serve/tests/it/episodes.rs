use crate::client::{Held, options, start};
use crate::host::State;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn an_episode_goes_from_a_reset_to_a_reward() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    let reset = server
        .post("/episodes", json!({"instance_id": "calc__calc-1"}))
        .await
        .ok();
    let told = &reset["observation"];
    assert_eq!(told["problem_statement"], "solve calc__calc-1");
    assert_eq!(told["working_directory"], "/testbed");
    assert_eq!(told["hints"], json!(null), "nobody asked for them");
    assert_eq!(told["limits"]["steps"], 500);
    assert!(told["may_run"].as_str().unwrap().contains("no network"));
    let held = Held::of(&reset);
    let step = server.step(&held, "echo fix").await.ok();
    assert_eq!(step["output"], "fix\n");
    assert_eq!(
        (&step["ended"], &step["exit_code"]),
        (&json!("exited"), &json!(0))
    );
    assert_eq!(
        (&step["is_truncated"], &step["output_total"]),
        (&json!(true), &json!(8))
    );
    assert_eq!(step["steps_left"], 499);
    assert_eq!(server.state_of(&held).await.ok()["state"], "open");
    let result = server.submit(&held).await.ok();
    assert_eq!(result["reward"], 1.0);
    assert_eq!(result["cause"], "2 of 2 pass");
    assert_eq!(result["FAIL_TO_PASS"], json!({"passed": 2, "total": 2}));
    assert_eq!(result["verdict"]["patch"], "fix\n");
    let known = server.state_of(&held).await.ok();
    assert_eq!(
        (&known["state"], &known["result"]),
        (&json!("graded"), &result)
    );
    server.step(&held, "echo more").await.refused(410, "ended");
    assert_eq!(State::get(&state.open), 0, "its session is given up");
    // Ending what was submitted takes nothing back.
    assert_eq!(server.end(&held).await.ok()["state"], "graded");
}

#[tokio::test]
async fn hints_and_the_kind_of_reward_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let asked = json!({"instance_id": "calc__calc-1", "hints": true, "reward": "fail_to_pass"});
    let reset = server.post("/episodes", asked).await.ok();
    assert_eq!(reset["observation"]["hints"], "look at sign");
    let held = Held::of(&reset);
    server.step(&held, "echo half").await.ok();
    let result = server.submit(&held).await.ok();
    assert_eq!(
        (&result["reward"], &result["resolved"]),
        (&json!(0.5), &json!(false))
    );
    let plain = server.reset("calc__calc-1").await;
    server.step(&plain, "echo half").await.ok();
    assert_eq!(server.submit(&plain).await.ok()["reward"], 0.0);
    // A critic's word, where there is a critic.
    let asked = json!({"instance_id": "calc__calc-1", "reward": "critic"});
    let said = server.post("/episodes", asked.clone()).await;
    assert!(said.refused(422, "invalid_input").contains("critic"));
    server.state.has_critic.store(true, Ordering::SeqCst);
    let held = Held::of(&server.post("/episodes", asked).await.ok());
    let result = server.submit(&held).await.ok();
    assert_eq!(
        (&result["reward"], &result["kind"], &result["resolved"]),
        (&json!(0.25), &json!("critic"), &json!(false))
    );
}

#[tokio::test]
async fn a_fork_goes_its_own_way() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    server.step(&held, "echo one").await.ok();
    let fork = server.on(&held, "fork", json!({})).await.ok();
    assert_eq!(fork["from"], "fork");
    let fork = Held::of(&fork);
    assert_ne!((&fork.id, &fork.token), (&held.id, &held.token));
    server.step(&fork, "echo fix").await.ok();
    let lost = server.submit(&held).await.ok();
    assert_eq!(lost["verdict"]["patch"], "one\n");
    let won = server.submit(&fork).await.ok();
    assert_eq!(won["verdict"]["patch"], "one\nfix\n");
    assert_eq!(
        (&lost["reward"], &won["reward"]),
        (&json!(0.0), &json!(1.0))
    );
    assert_eq!(State::get(&state.open), 0);
}

#[tokio::test]
async fn ending_an_episode_stops_the_command_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    let (step, ended) = tokio::join!(server.step(&held, "sleep 60000"), async {
        while State::get(&state.steps) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        server.end(&held).await
    });
    step.refused(410, "ended");
    let ended = ended.ok();
    assert_eq!(ended["state"], "ended");
    assert_eq!(ended["cause"], "the client ended it");
    assert_eq!(State::get(&state.open), 0);
    assert_eq!(server.end(&held).await.ok(), ended, "ended twice is ended");
    let why = server.submit(&held).await.refused(410, "ended");
    assert!(why.contains("the client ended it"), "{why}");
}

#[tokio::test]
async fn what_the_engine_could_not_do_is_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let server = start(&state, options(folder.path())).await;
    // Nothing found out once is asked again by itself.
    let held = server.reset("calc__calc-1").await;
    server.step(&held, "echo fix").await.ok();
    state.no_evidence.store(1, Ordering::SeqCst);
    assert_eq!(server.submit(&held).await.ok()["reward"], 1.0);
    assert_eq!(State::get(&state.grades), 2);
    // An engine that stays away is an error, and the submission stays.
    let held = server.reset("calc__calc-1").await;
    server.step(&held, "echo fix").await.ok();
    state.grade_errors.store(3, Ordering::SeqCst);
    let away = server.submit(&held).await;
    assert_eq!(away.retry_after.as_deref(), Some("2"));
    away.refused(503, "engine_unreachable");
    assert_eq!(server.state_of(&held).await.ok()["state"], "submitted");
    assert_eq!(server.submit(&held).await.ok()["reward"], 1.0);
    // A command that could not be run says that nobody knows.
    let held = server.reset("calc__calc-1").await;
    let why = server
        .step(&held, "fail")
        .await
        .refused(502, "session_failed");
    assert!(
        why.contains("may have run or not: exec in a container"),
        "{why}"
    );
    // A patch that cannot be read is tried again, and then there is none.
    state.patch_errors.store(3, Ordering::SeqCst);
    server.submit(&held).await.refused(503, "engine_failed");
    server.submit(&held).await.refused(503, "engine_failed");
    let why = server.submit(&held).await.refused(410, "ended");
    assert!(
        why.contains("no patch could be read: read a container"),
        "{why}"
    );
    assert_eq!(State::get(&state.open), 0);
}

#[tokio::test]
async fn nothing_found_out_is_a_result_without_a_reward() {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(State::default());
    let mut asked = options(folder.path());
    asked.grade_attempts = 2;
    let server = start(&state, asked).await;
    let held = server.reset("calc__calc-1").await;
    state.no_evidence.store(2, Ordering::SeqCst);
    let result = server.submit(&held).await.ok();
    assert_eq!(
        (&result["reward"], &result["resolved"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(result["cause"], "the suite did not start");
    assert_eq!(server.submit(&held).await.ok(), result, "and stays one");
    assert_eq!(State::get(&state.grades), 2);
}

#[tokio::test]
async fn what_happens_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    server.step(&held, "echo fix").await.ok();
    server.submit(&held).await.ok();
    server.reset("calc__calc-1").await;
    server
        .post("/episodes", json!({"instance_id": "nothing"}))
        .await;
    let text = server
        .ask(hyper::Method::GET, "/metrics", "", None)
        .await
        .text;
    for line in [
        "atlas_serve_episodes_open 1",
        "atlas_serve_submissions_grading 0",
        "atlas_serve_episodes_begun_total{what=\"new\"} 2",
        "atlas_serve_episodes_ended_total{what=\"graded\"} 1",
        "atlas_serve_verdicts_total{what=\"resolved\"} 1",
        "atlas_serve_requests_refused_total{what=\"unknown_instance\"} 1",
        "atlas_serve_step_seconds_count 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
}
