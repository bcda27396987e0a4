//! What environments of one repository share.

use super::{Fixture, line};
use async_trait::async_trait;
use atlas_core::{Error, RunContext};
use atlas_pipeline::{
    RepositoryImages, RunCandidate, Stage, StepEnvironment, StepOutcome, run_status,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Makes an environment of a layer that all of a repository have, and one of its own; the second candidate has the image of the
/// first.
#[derive(Debug)]
struct Layered;

#[async_trait]
impl Stage for Layered {
    fn id(&self) -> &'static str {
        "make"
    }

    fn version(&self) -> u32 {
        1
    }

    fn one_per_repository(&self) -> bool {
        true
    }

    async fn run(&self, _: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let number = candidate.request.number.unwrap();
        let own = number.max(2);
        if number == 1 {
            tokio::time::sleep(Duration::from_millis(120)).await;
        }
        Ok(StepOutcome {
            passed: false,
            outcome: "reject".to_owned(),
            environment: Some(StepEnvironment {
                image: format!("image {own}"),
                layers: BTreeMap::from([("common".to_owned(), 1000), (format!("own {own}"), own)]),
                build_seconds: 0.05,
            }),
            ..StepOutcome::default()
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn layers_of_one_repository_count_once() {
    let place = Fixture::new();
    let mut lines: Vec<String> = (1..=4).map(|number| line("a/a", number, "")).collect();
    lines.push(line("b/b", 19, ""));
    place.candidates(&lines);
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(Layered), Arc::new(place.stage("accept"))];
    let report = place.go(&place.options(), &stages).await;
    let found: Vec<&RepositoryImages> = report.status.repositories.iter().collect();
    assert_eq!(found.len(), 2);
    let one = found[1];
    // The larger one first: b/b has 1019 bytes, a/a 1000 + 2 + 3 + 4.
    assert_eq!((found[0].repo.as_str(), found[0].bytes), ("b/b", 1019));
    assert_eq!((found[0].later, found[0].later_seconds), (0, None));
    assert_eq!(one.repo, "a/a");
    assert_eq!((one.images, one.layers, one.bytes), (3, 4, 1009));
    assert_eq!(
        (one.shared_layers, one.shared_bytes, one.unshared_bytes),
        (1, 1000, 3009)
    );
    assert!(one.first_seconds >= 0.12, "{one:?}");
    assert_eq!(one.later, 3);
    assert!(one.later_seconds.unwrap() < one.first_seconds);
    assert!((one.later_build_seconds.unwrap() - 0.05).abs() < 1e-9);
    assert_eq!(
        (
            report.status.image_bytes,
            report.status.repositories_with_images
        ),
        (2028, 2)
    );
    let whole: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.run().join("report.json")).unwrap()).unwrap();
    assert_eq!(whole["repositories"].as_array().unwrap().len(), 2);
    assert_eq!(
        run_status(&place.run()).unwrap().repositories,
        report.status.repositories
    );
}
