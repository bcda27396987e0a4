//! Who is taken when, and what becomes of errors.

use super::{Fixture, broken, line};
use atlas_core::{ErrorKind, RunContext};
use atlas_pipeline::{QuietRun, RunOptions, Stage, run_candidates, run_status, why};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn candidates_of_one_repository_go_one_after_the_other_the_oldest_first() {
    let place = Fixture::new();
    let mut lines: Vec<String> = (0..5).rev().map(|number| line("a/a", number, "")).collect();
    lines.extend((5..10).map(|number| line("b/b", number, "")));
    place.candidates(&lines);
    let mut make = place.stage("make");
    (make.alone, make.parallel, make.pause) = (true, 4, Duration::from_millis(20));
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(make), Arc::new(place.stage("accept"))];
    let options = RunOptions {
        parallel: 8,
        ..place.options()
    };
    let begun = Instant::now();
    place.go(&options, &stages).await;
    for repo in ["a__a", "b__b"] {
        let order: Vec<String> = place
            .order("make")
            .into_iter()
            .filter(|id| id.starts_with(repo))
            .collect();
        assert!(order.is_sorted(), "{order:?}");
    }
    assert!(
        begun.elapsed() >= Duration::from_millis(100),
        "five of one repository, one by one"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runners_share_the_work_and_do_no_step_twice() {
    let lines: Vec<String> = (0..24)
        .map(|number| line(&format!("r/{number}"), number, ""))
        .collect();
    let mut took = Vec::new();
    let mut datasets = Vec::new();
    for runners in [1, 2] {
        let place = Fixture::new();
        place.candidates(&lines);
        let mut slow = place.stage("make");
        slow.pause = Duration::from_millis(200);
        let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(slow), Arc::new(place.stage("accept"))];
        let begun = Instant::now();
        let runs = (0..runners).map(|_| place.go_owned(stages.clone()));
        futures_util::future::join_all(runs).await;
        took.push(begun.elapsed());
        datasets.push(place.dataset());
        assert_eq!(place.counts().len(), 48);
        assert!(place.counts().values().all(|count| *count == 1));
        let status = run_status(&place.run()).unwrap();
        assert_eq!(status.stages[1].passed, 24);
    }
    assert_eq!(datasets[0], datasets[1]);
    assert!(took[1] < took[0].mul_f64(0.75), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_machine_are_tried_again_and_others_wait_to_be_asked_for() {
    let place = Fixture::new();
    place.candidates(&[line("a/a", 1, ""), line("b/b", 2, ""), line("c/c", 3, "")]);
    let mut make = place.stage("make");
    make.fails = Some(|candidate, _| match candidate.request.number {
        Some(1) => Some(broken(ErrorKind::Io)),
        Some(2) => Some(broken(ErrorKind::NotFound)),
        _ => None,
    });
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(make), Arc::new(place.stage("accept"))];
    let report = place.go(&place.options(), &stages).await;
    let errors = &report.status.stages[0].errors;
    assert_eq!((errors["io"], errors["not_found"]), (1, 1));
    let tried = |id: &str| {
        place
            .order("error")
            .iter()
            .filter(|known| *known == id)
            .count()
    };
    assert_eq!((tried("a__a-1"), tried("b__b-2")), (3, 1));
    let story = why(&place.run(), "b__b-2").unwrap();
    assert_eq!(story.steps[0].outcome, "not_found");
    assert!(
        story.next.contains("--retry not_found --only b__b-2"),
        "{}",
        story.next
    );

    place.go(&place.options(), &place.stages()).await;
    assert_eq!(
        place.dataset().lines().count(),
        1,
        "nobody asked for the failed ones"
    );
    let options = RunOptions {
        retry: vec!["not_found".to_owned()],
        ..place.options()
    };
    let report = place.go(&options, &place.stages()).await;
    assert_eq!((report.retried, report.status.dataset_rows), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_stays_away_ends_the_run_and_loses_nothing() {
    let place = Fixture::new();
    let lines: Vec<String> = (0..9).map(|number| line("a/a", number, "")).collect();
    place.candidates(&lines);
    let mut make = place.stage("make");
    make.fails = Some(|_, _| Some(broken(ErrorKind::EngineUnreachable)));
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(make), Arc::new(place.stage("accept"))];
    let cx = RunContext::new("test");
    let ended = run_candidates(&cx, &place.options(), &stages, Arc::new(QuietRun)).await;
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::EngineUnreachable);
    let status = run_status(&place.run()).unwrap();
    assert_eq!((status.stages[0].pending, status.stages[0].failed), (9, 0));
    let report = place.go(&place.options(), &place.stages()).await;
    assert_eq!(report.status.dataset_rows, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_step_is_that_step_s_error() {
    let place = Fixture::new();
    place.candidates(&[line("a/a", 1, ""), line("b/b", 2, "")]);
    let mut make = place.stage("make");
    make.fails = Some(|candidate, _| {
        assert_ne!(candidate.request.number, Some(1), "a defect");
        None
    });
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(make), Arc::new(place.stage("accept"))];
    let report = place.go(&place.options(), &stages).await;
    assert_eq!(report.status.stages[0].errors["internal"], 1);
    assert_eq!(report.status.dataset_rows, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_can_be_chosen() {
    let place = Fixture::new();
    let mut lines: Vec<String> = (0..4).map(|number| line("a/a", number, "")).collect();
    lines.extend((4..8).map(|number| line("b/b", number, "")));
    place.candidates(&lines);
    let only = |pattern: &str| RunOptions {
        only: vec![pattern.to_owned()],
        ..place.options()
    };
    let until = RunOptions {
        until: Some("make".to_owned()),
        limit: Some(1),
        ..only("b__b-*")
    };
    let report = place.go(&until, &place.stages()).await;
    assert_eq!(place.order("make"), ["b__b-4"]);
    assert_eq!(
        (report.status.stages[1].pending, report.status.dataset_rows),
        (1, 0)
    );
    place.go(&only("b__b-*"), &place.stages()).await;
    assert_eq!(place.dataset().lines().count(), 4);
    assert!(place.order("make").iter().all(|id| id.starts_with("b__b")));

    let cx = RunContext::new("test");
    for (options, words) in [
        (only("b__c-4"), ["b__c-4", "did you mean `b__b-4`"]),
        (
            RunOptions {
                until: Some("acept".to_owned()),
                ..place.options()
            },
            ["acept", "did you mean `accept`"],
        ),
        (
            RunOptions {
                retry: vec!["oi".to_owned()],
                ..place.options()
            },
            ["oi", "did you mean `io`"],
        ),
        (
            RunOptions {
                candidates: Vec::new(),
                ..place.options()
            },
            ["candidates", "[run]"],
        ),
    ] {
        let ended = run_candidates(&cx, &options, &place.stages(), Arc::new(QuietRun)).await;
        let said = ended.unwrap_err().chain();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    assert!(
        why(&place.run(), "b__b-44")
            .unwrap_err()
            .chain()
            .contains("did you mean")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_of_no_is_the_end_and_is_told() {
    let place = Fixture::new();
    place.candidates(&[line("a/a", 1, ""), line("b/b", 2, "")]);
    let mut make = place.stage("make");
    make.rejects = Some("a/a");
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(make), Arc::new(place.stage("accept"))];
    let report = place.go(&place.options(), &stages).await;
    assert_eq!(
        (
            report.status.stages[0].passed,
            report.status.stages[0].rejected
        ),
        (1, 1)
    );
    assert_eq!(report.status.stages[0].outcomes["reject"], 1);
    let story = why(&place.run(), "a__a-1").unwrap();
    assert_eq!(story.steps.len(), 1);
    assert_eq!(story.steps[0].reason, "its repository is not wanted");
    assert_eq!(story.steps[0].attempts, 1);
}
