//! Pulls from registries that are busy, from mirrors and of images put in the place of others.

use crate::engines::Engine;
use crate::support::{built, plan, repository};
use atlas_core::{EnvironmentPlan, ErrorKind, RunContext};
use atlas_docker::{Builder, DockerBuilder, DockerEngine, DockerOptions};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const DOCKERFILE: &str = "ARG BASE\nFROM ${BASE}\nADD repo.tar /testbed/\n";

/// A registry that offers one small image under every name.
struct Registry {
    address: String,
    state: Arc<State>,
}

struct State {
    /// Requests for the image, refused ones included.
    asked: AtomicUsize,
    /// How many of them are still refused, with which status.
    refuse: AtomicUsize,
    status: &'static str,
    config: Vec<u8>,
    layer: Vec<u8>,
    manifest: Vec<u8>,
}

fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl Registry {
    fn start(refuse: usize, status: &'static str) -> Self {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        // Another one each time: an engine would keep the layer.
        let text = format!("{:?}", std::time::SystemTime::now());
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, "hello", text.as_bytes())
            .unwrap();
        let layer = tar.into_inner().unwrap();
        let config = serde_json::json!({
            "architecture": "amd64", "os": "linux", "config": {},
            "rootfs": {"type": "layers", "diff_ids": [digest(&layer)]},
            "history": [{"created": "2020-01-01T00:00:00Z", "created_by": "test"}],
        });
        let config = serde_json::to_vec(&config).unwrap();
        let part = |kind: &str, bytes: &[u8]| {
            serde_json::json!({
                "mediaType": format!("application/vnd.docker.{kind}"),
                "size": bytes.len(), "digest": digest(bytes),
            })
        };
        let manifest = serde_json::json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": part("container.image.v1+json", &config),
            "layers": [part("image.rootfs.diff.tar", &layer)],
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(State {
            asked: AtomicUsize::new(0),
            refuse: AtomicUsize::new(refuse),
            status,
            config,
            layer,
            manifest: serde_json::to_vec(&manifest).unwrap(),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || state.answer(&stream));
            }
        });
        Self { address, state }
    }

    fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }

    /// What Podman has to know of it: that it speaks plain HTTP.
    fn settings(&self) -> String {
        format!(
            "[[registry]]\nlocation = \"{}\"\ninsecure = true\n",
            self.address
        )
    }
}

impl State {
    fn answer(&self, mut stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        let _ = reader.read_line(&mut first);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
            line.clear();
        }
        let mut words = first.split_whitespace();
        let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let (mut status, mut kind) = ("200 OK", "application/octet-stream");
        let mut body: &[u8] = b"{}";
        let refusal = br#"{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}"#;
        if path.contains("/manifests/") {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let refused = self
                .refuse
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
            if refused.is_ok() {
                (status, kind, body) = (self.status, "application/json", refusal);
            } else {
                kind = "application/vnd.docker.distribution.manifest.v2+json";
                body = &self.manifest;
            }
        } else if path.contains("/blobs/") {
            body = if path.ends_with(&digest(&self.config)) {
                &self.config
            } else {
                &self.layer
            };
        }
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nRetry-After: 0\r\n\
             Docker-Content-Digest: {}\r\nDocker-Distribution-Api-Version: registry/2.0\r\n\
             Connection: close\r\n\r\n",
            body.len(),
            digest(body)
        );
        let _ = stream.write_all(head.as_bytes());
        if method != "HEAD" {
            let _ = stream.write_all(body);
        }
    }
}

async fn builder(engine: &Engine, change: impl FnOnce(&mut DockerOptions)) -> DockerBuilder {
    let mut options = DockerOptions {
        pull: true,
        pull_pause: Duration::from_millis(50),
        ..engine.options()
    };
    change(&mut options);
    DockerBuilder::new(DockerEngine::connect(options).await.unwrap())
}

fn based_on(image: &str) -> EnvironmentPlan {
    EnvironmentPlan {
        base_image: image.to_owned(),
        ..plan(&[])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_turns_away_is_asked_again() {
    let registry = Registry::start(2, "429 Too Many Requests");
    for engine in Engine::all_with("busy", &registry.settings()).await {
        let before = registry.asked();
        let folder = tempfile::tempdir().unwrap();
        let image = format!("{}/some/base:1.0", registry.address);
        let builder = builder(&engine, |_| {}).await;
        let dockerfile = format!("# {}\n{DOCKERFILE}", engine.label);
        let (environment, ..) = built(
            &builder,
            &repository(folder.path()),
            &based_on(&image),
            &dockerfile,
        )
        .await;
        assert_eq!(environment.plan.base_image, image);
        assert_eq!(environment.plan.drift, Vec::<String>::new());
        assert_eq!(
            environment.lock.base_image_id,
            digest(&registry.state.manifest)
        );
        assert!(environment.lock.image_bytes.is_some_and(|bytes| bytes > 0));
        assert!(registry.asked() > before);
        engine.docker(&["rmi", "-f", &image]);
        registry.state.refuse.store(2, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_never_gives_is_named_and_not_the_repository_s_fault() {
    for status in ["429 Too Many Requests", "503 Service Unavailable"] {
        let registry = Registry::start(usize::MAX, status);
        // Podman itself asks a busy registry again for minutes: Docker shows what Atlas does.
        let Some(engine) = Engine::docker_only("never").await else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let image = format!("{}/some/base:1.0", registry.address);
        let builder = builder(&engine, |options| options.pull_attempts = 3).await;
        let cx = RunContext::new("engine-tests");
        let refused = builder
            .build(
                &cx,
                &repository(folder.path()),
                &based_on(&image),
                DOCKERFILE,
            )
            .await
            .expect_err("nothing to build on");
        assert_eq!(refused.kind(), ErrorKind::ImageMissing);
        let words = refused.chain();
        assert!(
            words.contains(&image) && words.contains("3 times"),
            "{words}"
        );
        assert!(registry.asked() >= 3, "{}", registry.asked());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mirrors_and_overrides_give_the_image() {
    let registry = Registry::start(0, "");
    for engine in Engine::all_with("mirror", &registry.settings()).await {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository(folder.path());
        let dockerfile = format!("# {}\n{DOCKERFILE}", engine.label);
        let wanted = format!("atlas-test-{}/base:1.0", std::process::id());
        let mirror = format!("{}/hub", registry.address);
        let mirrored = builder(&engine, |options| {
            options.mirrors = BTreeMap::from([("docker.io".to_owned(), vec![mirror.clone()])]);
        })
        .await;
        let (environment, ..) =
            built(&mirrored, &repository, &based_on(&wanted), &dockerfile).await;
        assert_eq!(environment.plan.base_image, wanted);
        assert_eq!(environment.plan.drift, Vec::<String>::new());

        let other = format!("{}/other", registry.address);
        let replaced = builder(&engine, |options| {
            options.base_images = BTreeMap::from([("some-language".to_owned(), other.clone())]);
        })
        .await;
        let plan = based_on("some-language:3.1");
        let (environment, ..) = built(&replaced, &repository, &plan, &dockerfile).await;
        assert_eq!(environment.plan.base_image, format!("{other}:3.1"));
        assert!(environment.plan.drift[0].contains("configured"));
        let pulled = format!("{mirror}/{wanted}");
        engine.docker(&["rmi", "-f", &pulled, &format!("{other}:3.1")]);
    }
}
