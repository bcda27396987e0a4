//! Spans of steps for a collector.

use crate::support::{BASE, FIX, Place, git};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

#[tokio::test(flavor = "multi_thread")]
async fn each_step_is_a_span_with_its_candidate_stage_and_outcome() {
    let collector = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/traces"))
        .respond_with(ResponseTemplate::new(200))
        .mount(&collector)
        .await;
    let place = Place::new();
    let repo = place.repository("one", &[BASE, FIX, &[("README.md", "words\n")]]);
    let commit = |name: &str| git(&repo, &["rev-parse", name]);
    let lines = [(1, "HEAD~2", "HEAD~1"), (2, "HEAD~1", "HEAD")].map(|(number, base, head)| {
        let line = serde_json::json!({
            "repo": "me/one", "clone": repo, "source": "clone", "number": number,
            "base": commit(base), "head": commit(head),
        });
        format!("{line}\n")
    });
    std::fs::write(place.path("candidates.jsonl"), lines.concat()).unwrap();
    let text =
        "[run]\nengine = \"local\"\ncandidates = [\"candidates.jsonl\"]\nmin_free = \"1 MiB\"\n";
    std::fs::write(place.path("atlas.toml"), text).unwrap();
    let run = |address: String| {
        let mut command = place.atlas(&["run", "--until", "prepare"]);
        command
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", address)
            .env("NO_PROXY", "127.0.0.1");
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let done = run(collector.uri()).await.unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let asked = collector.received_requests().await.unwrap();
    let sent: Vec<u8> = asked
        .iter()
        .flat_map(|request| request.body.clone())
        .collect();
    // Texts stand in Protobuf as they are.
    let holds = |text: &str| sent.windows(text.len()).any(|at| at == text.as_bytes());
    for text in [
        "atlas",
        "step",
        "instance_id",
        "me__one-1",
        "me__one-2",
        "stage",
        "prepare",
        "outcome",
        "ready",
        "reject_nothing_to_test",
    ] {
        assert!(holds(text), "{text}");
    }
    assert!(!holds("me__one-3"));
    assert_eq!(asked[0].headers["content-type"], "application/x-protobuf");
    // A collector that is away holds up nothing.
    let away = run("http://127.0.0.1:9".to_owned()).await.unwrap();
    assert!(
        away.status.success(),
        "{}",
        String::from_utf8_lossy(&away.stderr)
    );
    // A word that is no address is refused before any work.
    let wrong = run("no address".to_owned()).await.unwrap();
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        !wrong.status.success() && said.contains("OTEL_EXPORTER_OTLP_ENDPOINT"),
        "{said}"
    );
}
