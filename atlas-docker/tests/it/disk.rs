//! The engine's disk: a budget, and what happens when it is full.

use crate::docker::dockerfile;
use crate::engines::Engine;
use crate::support::{built, job, plan, repository, run};
use atlas_core::{ErrorKind, ExitState};
use atlas_docker::{DockerBuilder, DockerEngine, DockerOptions, DockerSandbox};
use std::time::{Duration, SystemTime};

/// Notes that these images were last used hours ago, the first one longest.
fn age(uses: &std::path::Path, ids: &[&str]) {
    for (hours, id) in (1_u64..).zip(ids) {
        let name = id.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let file = std::fs::File::create(uses.join(name)).unwrap();
        let then = SystemTime::now() - Duration::from_secs(3600 * (10 - hours));
        file.set_modified(then).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_images_unused_for_longest_make_room() {
    for engine in Engine::all("room").await {
        let folder = tempfile::tempdir().unwrap();
        let uses = tempfile::tempdir().unwrap();
        // Only images with the label of this test count: no other is this test's to remove.
        let options = DockerOptions {
            uses: Some(uses.path().to_owned()),
            ..engine.options()
        };
        let roomy = DockerEngine::connect(options.clone()).await.unwrap();
        let builder = DockerBuilder::new(roomy.clone());
        let repository = repository(folder.path());
        let mut made = Vec::new();
        // A layer that another image has as well would not count.
        let label = &engine.label;
        for number in 0..3 {
            let text = format!(
                "{}RUN : {label}; head -c 3000000 /dev/urandom > /tmp/{number}\n",
                dockerfile(label)
            );
            let (environment, ..) = built(&builder, &repository, &plan(&[]), &text).await;
            made.push(environment);
        }
        let ids: Vec<_> = made.iter().map(|m| m.lock.image_id.as_str()).collect();
        let before = roomy.disk_use().await.unwrap();
        assert_eq!(before.images, 3);
        assert!(
            (9_000_000..14_000_000).contains(&before.bytes),
            "{before:?}"
        );
        // The second one is the oldest by its use, the first one is in use.
        age(uses.path(), &[ids[1], ids[0], ids[2]]);
        let listed = roomy.images().await.unwrap();
        let order: Vec<_> = listed.iter().map(|image| image.id.as_str()).collect();
        assert_eq!(order, [ids[1], ids[0], ids[2]]);
        for image in &listed {
            let own = 3_000_000..4_500_000;
            assert!(own.contains(&image.own_bytes), "{image:?}");
        }
        let file = folder.path().join("image.tar");
        let bytes = roomy.export(&listed[0].name, &file).await.unwrap();
        assert_eq!(file.metadata().unwrap().len(), bytes);
        let mut archive = tar::Archive::new(std::fs::File::open(&file).unwrap());
        let mut entries = archive.entries().unwrap();
        assert!(entries.any(|entry| entry.unwrap().path().unwrap().ends_with("manifest.json")));
        let unknown = roomy.export("atlas/none:here", &file).await;
        assert_eq!(unknown.unwrap_err().kind(), ErrorKind::NotFound);

        let sandbox = DockerSandbox::new(roomy.clone());
        let tight = DockerOptions {
            // What the three have alone; layers that they share count or not by what else is there.
            disk_budget: Some(3 * 3_000_000 - 1),
            ..options.clone()
        };
        let tight = DockerEngine::connect(tight).await.unwrap();
        let left = tight.make_room().await.unwrap();
        assert_eq!(left.evicted.len(), 1, "{left:?}");
        let again = run(&sandbox, &made[0], &job("there", "true")).await;
        assert_eq!(again.exit, ExitState::Exited { code: 0 });

        // The run was a use: the third one goes now, and the first one stays whatever is asked.
        let none = DockerOptions {
            disk_budget: Some(0),
            ..options.clone()
        };
        let none = DockerEngine::connect(none).await.unwrap();
        let left = none.make_room().await.unwrap();
        assert_eq!((left.evicted.len(), left.images), (1, 1), "{left:?}");
        let gone = sandbox_error(&sandbox, &made[2]).await;
        assert_eq!(gone.kind(), ErrorKind::NotFound);
        assert!(gone.chain().contains("builds it again"), "{}", gone.chain());

        let greedy = DockerOptions {
            min_free: u64::MAX,
            ..options
        };
        let greedy = DockerEngine::connect(greedy).await.unwrap();
        let refused = greedy
            .make_room()
            .await
            .expect_err("that much is never free");
        assert_eq!(refused.kind(), ErrorKind::EngineFailed);
        let words = refused.chain();
        assert!(
            words.contains("engine.min_free") && words.contains("prune"),
            "{words}"
        );

        let day = Duration::from_secs(86_400);
        let left = roomy.remove_unused(day).await.unwrap();
        assert_eq!((left.evicted.len(), left.images), (0, 1), "{left:?}");
        age(uses.path(), &[ids[0]]);
        let left = roomy.remove_unused(day / 24).await.unwrap();
        assert_eq!((left.evicted.len(), left.images), (1, 0), "{left:?}");
    }
}

async fn sandbox_error(
    sandbox: &DockerSandbox,
    environment: &atlas_core::Environment,
) -> atlas_core::Error {
    use atlas_core::Sandbox;
    let cx = atlas_core::RunContext::new("engine-tests");
    sandbox
        .run(&cx, environment, &job("gone", "true"))
        .await
        .expect_err("no image")
}
