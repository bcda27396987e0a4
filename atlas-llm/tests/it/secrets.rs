//! A key that is looked for in everything that comes out.

use crate::support::{Act, answer, head, raw, request, served};
use atlas_core::{LanguageModel, RunContext};
use atlas_llm::{Limits, ModelConfig, Provider, Purse, open_model_within};
use serde_json::json;
use std::process::Command;
use std::sync::Arc;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

const VARIABLE: &str = "ATLAS_TEST_SECRET";
const KEY: &str = "sk-test-5Zk1Qw9LmT";

/// Runs the test below in a process of its own, with the key in its environment and every line that
/// any crate logs on its output.
#[test]
fn the_key_is_in_nothing_that_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "secrets::everything_that_comes_out",
            "--ignored",
            "--nocapture",
        ])
        .env(VARIABLE, KEY)
        .env("ATLAS_TEST_FOLDER", folder.path())
        .output()
        .unwrap();
    let mut all = String::from_utf8_lossy(&output.stdout).into_owned();
    all.push_str(&String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{all}");
    assert!(all.contains("1 passed"), "{all}");
    for expected in [
        "TRACE",
        "DEBUG",
        "hyper_util",
        "chain: ",
        "debug: ",
        "config: ",
        "model: ",
    ] {
        assert!(all.contains(expected), "no `{expected}` in {all}");
    }
    let recording = std::fs::read_to_string(folder.path().join("exchanges.jsonl")).unwrap();
    assert!(recording.contains("[key]"), "{recording}");
    all.push_str(&recording);
    for shape in [KEY.to_owned(), base64(KEY), bytes(KEY)] {
        assert!(!all.contains(&shape), "{shape} in {all}");
    }
}

fn bytes(text: &str) -> String {
    let numbers: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
    numbers.join(", ")
}

fn base64(text: &str) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text.as_bytes()
        .chunks_exact(3)
        .flat_map(|three| {
            let all = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            [18, 12, 6, 0].map(|shift| char::from(letters[(all >> shift & 63) as usize]))
        })
        .collect()
}

#[tokio::test]
#[ignore = "the other test starts it as a process of its own and searches all that it prints for the key"]
async fn everything_that_comes_out() {
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(std::io::stderr)
        .init();
    let folder = std::env::var("ATLAS_TEST_FOLDER").unwrap();
    // Servers that send the key back wherever they can.
    let echo = |status: u16| {
        ResponseTemplate::new(status)
            .insert_header("x-echo", KEY)
            .set_body_json(
                json!({"error": {"message": format!("the key {KEY} is wrong"), "code": "x"}}),
            )
    };
    let broken = ResponseTemplate::new(200).set_body_string(format!("<html>Bearer {KEY}</html>"));
    let stream = head("text/event-stream");
    let piece =
        json!({"choices": [{"index": 0, "delta": {"content": format!("your key is {KEY}")}}]});
    let (cut, _) = raw(vec![Act::Send(format!("{stream}data: {piece}\n\n"))]).await;
    let (reset, _) = raw(vec![Act::Reset]).await;
    let mut bases = vec![
        cut,
        reset,
        "http://127.0.0.1:9/v1".to_owned(),
        "https://127.0.0.1:9/v1".to_owned(),
    ];
    let mut servers = Vec::new();
    for response in [
        echo(400),
        echo(401),
        echo(404),
        echo(429),
        echo(500),
        broken,
        ResponseTemplate::new(200).set_body_json(answer(&format!("your key is {KEY}"), 1, 1)),
    ] {
        let server = MockServer::start().await;
        Mock::given(any())
            .respond_with(response)
            .mount(&server)
            .await;
        bases.push(format!("{}/v1", server.uri()));
        servers.push(server);
    }
    for base in &bases {
        for provider in [Provider::Compatible, Provider::Anthropic, Provider::Gemini] {
            let mut config = ModelConfig {
                provider,
                key_env: Some(VARIABLE.to_owned()),
                record: Some(format!("{folder}/exchanges.jsonl").into()),
                ..served(base)
            };
            config.retry.retries = 1;
            eprintln!("config: {config:?}");
            let purse = Arc::new(Purse::new(Limits::none()));
            let model = open_model_within(&config, &purse).unwrap();
            eprintln!("model: {model:?}");
            match model
                .complete(&RunContext::new("test"), &request("hello"))
                .await
            {
                Ok(done) => eprintln!("answer: {done:?}"),
                Err(why) => {
                    eprintln!("chain: {}", why.chain());
                    eprintln!("debug: {why:?}");
                }
            }
        }
    }
    // The key was really sent.
    let sent = servers[0].received_requests().await.unwrap();
    for (at, header) in ["authorization", "x-api-key", "x-goog-api-key"]
        .iter()
        .enumerate()
    {
        assert!(sent[at].headers[*header].to_str().unwrap().contains(KEY));
        assert!(!sent[at].url.as_str().contains(KEY));
    }
}
