//! Sandboxes that stay open, on every engine that is here.

use crate::docker::dockerfile;
use crate::engines::Engine;
use crate::local::{MODES, engine, left_in};
use crate::support::{built, job, plan, repository, wait_until};
use atlas_core::{ErrorKind, RunContext, Sandbox, Step};
use atlas_docker::{Bubblewrap, DockerBuilder, DockerSandbox, LocalBuilder, LocalSandbox};

#[tokio::test(flavor = "multi_thread")]
async fn local_ones_keep_the_contract() {
    for mode in MODES {
        let folder = tempfile::tempdir().unwrap();
        let Some(engine) = engine(folder.path(), mode).await else {
            continue;
        };
        let builder = LocalBuilder::new(engine.clone());
        let (environment, ..) = built(&builder, &repository(folder.path()), &plan(&[]), "").await;
        let sandbox = LocalSandbox::new(engine);
        let forks = mode == Bubblewrap::Require;
        atlas_core::testing::session_contract(&sandbox, &environment, "src/old.txt", forks).await;
        assert_eq!(left_in(folder.path()), Vec::<std::ffi::OsString>::new());
        let cx = RunContext::new("dropped");
        let session = sandbox.open(&cx, &environment, &job("dropped", "")).await;
        drop(session.unwrap());
        wait_until("its folder goes", || left_in(folder.path()).is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn containers_keep_the_contract() {
    for engine in Engine::all("session").await {
        let folder = tempfile::tempdir().unwrap();
        let builder = DockerBuilder::new(engine.connection.clone());
        let dockerfile = dockerfile(&engine.label);
        let repository = repository(folder.path());
        let (environment, ..) = built(&builder, &repository, &plan(&[]), &dockerfile).await;
        let sandbox = DockerSandbox::new(engine.connection.clone());
        let cx = RunContext::new("sessions");
        let opening = job("session", "");
        if engine.is_podman() {
            let refused = sandbox.open(&cx, &environment, &opening).await;
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
            continue;
        }
        atlas_core::testing::session_contract(&sandbox, &environment, "src/old.txt", true).await;
        assert_eq!(engine.containers(), Vec::<String>::new());

        // Nobody closes these: the container of one, and the other's with the image that it was made of.
        let mut first = sandbox.open(&cx, &environment, &opening).await.unwrap();
        let fork = first.fork(&cx).await.unwrap();
        assert_eq!(engine.containers().len(), 2);
        drop((first, fork));
        wait_until("the containers go", || engine.containers().is_empty());
        let forks = || engine.docker(&["images", "-aq", "--filter", "label=atlas.fork"]);
        wait_until("the image goes", || forks().is_empty());

        // A container that somebody removes ends its session.
        let mut lost = sandbox.open(&cx, &environment, &opening).await.unwrap();
        let name = engine.containers().remove(0);
        engine.docker(&["rm", "-f", &name]);
        let answer = lost.step(&cx, &Step::new("true")).await.unwrap();
        assert!(answer.is_over, "{answer:?}");
        lost.close().await.unwrap();
    }
}
