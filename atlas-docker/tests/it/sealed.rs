//! Environments of all languages: sealed, without rights and without secrets.

use crate::engines::Engine;
use crate::support::{WHO, job, run, text};
use atlas_core::{
    EnvSynthesizer, EnvironmentPlan, Evidence, Repository, RunContext, SynthesisOutcome,
};
use atlas_docker::{DockerBuilder, DockerSandbox, FixedPlan, languages};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A base image for each language; where it is not there, that language is left out.
fn base_image(language: &str) -> &'static str {
    match language {
        "python" => "python:3.11-slim-bookworm",
        "javascript" | "typescript" => "node:20-bookworm-slim",
        "go" => "golang:1.23-bookworm",
        "rust" => "rust:1.95-slim-bookworm",
        "java" => "maven:3-eclipse-temurin-17",
        "ruby" => "ruby:3.1-slim-bookworm",
        "php" => "php:8.2-cli-bookworm",
        "c" | "cpp" => "gcc:12-bookworm",
        _ => "none",
    }
}

fn repository(folder: &Path) -> Repository {
    let checkout = folder.join("checkout");
    let script = "mkdir checkout && cd checkout && git init -q && \
        printf '[project]\\nname = \"my-thing\"\\nversion = \"1.2\"\\n' > pyproject.toml && \
        git add . && git -c user.name=A -c user.email=a@b.c commit -q -m base && git rev-parse HEAD";
    let made = Command::new("bash")
        .args(["-c", script])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    Repository {
        name: "atlas-tests/sealed".to_owned(),
        checkout,
        base: String::from_utf8(made.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap(),
        base_date: "2024-01-01T00:00:00Z".to_owned(),
        head_manifests: BTreeMap::new(),
        head_tests: BTreeMap::new(),
        touched: Vec::new(),
    }
}

async fn make(
    engine: &Engine,
    language: &str,
    build: &str,
    repository: &Repository,
) -> Result<SynthesisOutcome, atlas_core::Error> {
    let synthesizer = FixedPlan {
        plan: EnvironmentPlan {
            language: language.to_owned(),
            base_image: base_image(language).to_owned(),
            build: vec![build.to_owned()],
            test_cmd: "true".to_owned(),
            log_parser_name: "tap".to_owned(),
            ..EnvironmentPlan::default()
        },
        builder: Arc::new(DockerBuilder::new(engine.connection.clone())),
        sandbox: Arc::new(DockerSandbox::new(engine.connection.clone())),
        trial: None,
    };
    let cx = RunContext::new("engine-tests");
    synthesizer.synthesize(&cx, repository).await
}

#[tokio::test(flavor = "multi_thread")]
async fn images_of_all_languages_are_sealed_and_without_rights_or_secrets() {
    let Some(engine) = Engine::docker_only("plain").await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let repository = repository(folder.path());
    let sandbox = DockerSandbox::new(engine.connection.clone());
    for language in languages() {
        let base = base_image(language);
        // For an image that is not there the command prints a blank line or an empty list.
        let known = engine.docker(&["image", "inspect", "-f", "{{.Id}}", base]);
        if !known.iter().any(|line| line.starts_with("sha256:")) {
            println!("skipped for {language}: {base} is not here");
            continue;
        }
        let made = make(&engine, language, "true", &repository).await;
        let environment = match made.unwrap_or_else(|why| panic!("{language}: {}", why.chain())) {
            SynthesisOutcome::Ready { environment } => *environment,
            failed @ SynthesisOutcome::NotBuildable { .. } => panic!("{language}: {failed:?}"),
        };
        let id = environment.lock.image_id.clone();
        let user = engine.docker(&["image", "inspect", "-f", "{{.Config.User}}", &id]);
        assert_eq!(user, ["atlas"], "{language}");
        let seen = text(&run(&sandbox, &environment, &job("who", WHO)).await);
        for line in [
            "1000",
            "CapEff:\t0000000000000000",
            "CapBnd:\t0000000000000000",
            "NoNewPrivs:\t1",
        ] {
            assert!(seen.lines().any(|seen| seen == line), "{language}: {seen}");
        }
        let own = "test -w . && test -w \"$ATLAS_CACHE\" && git -C . status --short && echo fine";
        let seen = text(&run(&sandbox, &environment, &job("own", own)).await);
        assert_eq!(seen, "fine\n", "{language}");

        let history = engine
            .docker(&["history", "--no-trunc", "--format", "{{.CreatedBy}}", &id])
            .join("\n");
        let config = engine.docker(&["image", "inspect", &id]).join("\n");
        for (name, value) in std::env::vars() {
            let secret = ["TOKEN", "SECRET", "PASSWORD", "KEY"];
            if secret.iter().any(|word| name.contains(word)) && value.len() >= 8 {
                assert!(
                    !history.contains(&value) && !config.contains(&value),
                    "{name}"
                );
            }
        }
        let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "no-such-name".to_owned());
        assert!(!history.contains(&host) && !history.contains(folder.path().to_str().unwrap()));
        println!(
            "{language}: {} bytes",
            environment.lock.image_bytes.unwrap()
        );
    }
}

/// Why an environment that is built with this command is refused, and the proof.
async fn refused(
    engine: &Engine,
    command: &str,
    repository: &Repository,
) -> (String, Vec<Evidence>) {
    match make(engine, "python", command, repository).await.unwrap() {
        SynthesisOutcome::NotBuildable {
            reason, evidence, ..
        } => (reason, evidence),
        ready @ SynthesisOutcome::Ready { .. } => panic!("{ready:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_build_brings_from_after_the_base_is_refused_by_name() {
    for engine in Engine::all("leaks").await {
        if let Some(service) = engine.podman() {
            service.needs(base_image("python"));
        }
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        let fetched = "echo 1234567890123456789012345678901234567890 > .git/FETCH_HEAD";
        let (reason, evidence) = refused(&engine, fetched, &repository).await;
        assert!(reason.contains("does not reach"), "{reason}");
        assert!(
            evidence.iter().any(|line| line.text.contains("FETCH_HEAD")
                && line
                    .text
                    .contains("1234567890123456789012345678901234567890")),
            "{evidence:?}"
        );

        let installed = "d=$ATLAS_ENV/lib/site-packages/my_thing-9.1.dist-info; mkdir -p $d; \
                         printf 'Name: my-thing\\nVersion: 9.1\\n' > $d/METADATA";
        let (reason, evidence) = refused(&engine, installed, &repository).await;
        assert!(reason.contains("after the base commit"), "{reason}");
        assert!(
            evidence[0].source.ends_with("my_thing-9.1.dist-info"),
            "{evidence:?}"
        );
        assert!(evidence[0].text.contains("my-thing 9.1"), "{evidence:?}");
    }
}
