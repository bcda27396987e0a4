use crate::client::{Held, options, start};
use crate::host::Memory;
use atlas_core::RunContext;
use atlas_serve::{Secret, Server};
use hyper::Method;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn a_wrong_token_and_an_episode_that_never_was_look_alike() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    let held = server.reset("calc__calc-1").await;
    let other = server.reset("calc__calc-1").await;
    let nobody = Held {
        id: "A".repeat(held.id.len()),
        token: held.token.clone(),
    };
    let unknown = server.step(&nobody, "echo").await;
    for token in ["", "nonsense", other.token.as_str(), &held.token[1..]] {
        let wrong = Held {
            id: held.id.clone(),
            token: token.to_owned(),
        };
        assert_eq!(server.step(&wrong, "echo").await, unknown, "{token}");
        assert_eq!(server.submit(&wrong).await, unknown, "{token}");
        assert_eq!(server.state_of(&wrong).await, unknown, "{token}");
        assert_eq!(server.end(&wrong).await, unknown, "{token}");
        assert_eq!(
            server.on(&wrong, "fork", json!({})).await,
            unknown,
            "{token}"
        );
    }
    unknown.refused(404, "unknown_episode");
    // Also after its end.
    server.submit(&held).await.ok();
    let late = Held {
        token: other.token,
        ..held
    };
    server.submit(&late).await.refused(404, "unknown_episode");
}

#[tokio::test]
async fn resets_need_the_bearer_token_where_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = options(folder.path());
    asked.bearer = Some(Secret::new("opensesame"));
    assert!(!format!("{asked:?}").contains("sesame"));
    let server = start(&Arc::default(), asked).await;
    let body = Some(json!({"instance_id": "calc__calc-1"}));
    for token in ["", "opensesam", "opensesame2"] {
        let answer = server
            .ask(Method::POST, "/episodes", token, body.clone())
            .await;
        answer.refused(401, "unauthorized");
        let answer = server.ask(Method::GET, "/instances", token, None).await;
        answer.refused(401, "unauthorized");
    }
    let answer = server
        .ask(Method::POST, "/episodes", "opensesame", body)
        .await;
    let held = Held::of(&answer.ok());
    server.step(&held, "echo fix").await.ok();
}

#[tokio::test]
async fn others_are_listened_to_only_when_that_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = options(folder.path());
    asked.listen = "0.0.0.0:0".parse().unwrap();
    let cx = RunContext::new("test");
    for (allow, bearer) in [(false, None), (true, None), (false, Some(Secret::new("x")))] {
        (asked.allow_remote, asked.bearer) = (allow, bearer);
        let opened = Server::open(&cx, Memory::new(&Arc::default()), asked.clone()).await;
        let why = opened.unwrap_err().chain();
        assert!(why.contains("others reach it"), "{why}");
    }
    (asked.allow_remote, asked.bearer) = (true, Some(Secret::new("x")));
    let server = start(&Arc::default(), asked).await;
    let answer = server
        .ask_as(Method::GET, "/health", "", None, "atlas.example")
        .await;
    assert_eq!(answer.ok()["status"], "ok");
}

#[tokio::test]
async fn a_page_of_a_stranger_does_not_get_through() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&Arc::default(), options(folder.path())).await;
    for host in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
    ] {
        let answer = server
            .ask_as(Method::GET, "/instances", "", None, host)
            .await;
        answer.refused(403, "foreign_host");
    }
    for host in ["127.0.0.1:8080", "localhost:1", "[::1]:9", "localhost"] {
        server
            .ask_as(Method::GET, "/instances", "", None, host)
            .await
            .ok();
    }
}
