//! What another call of the same run does.

use super::{Fixture, line};
use atlas_core::RunContext;
use atlas_pipeline::{RunEnd, RunOptions, Stage, estimate_run, run_status};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn three() -> Vec<String> {
    vec![
        line("b/b", 2, "two"),
        line("a/a", 1, "one"),
        line("a/a", 3, "three"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_new_is_nothing_done() {
    let place = Fixture::new();
    place.candidates(&three());
    let report = place.go(&place.options(), &place.stages()).await;
    assert_eq!((report.import.new, report.status.dataset_rows), (3, 3));
    let dataset = place.dataset();
    let ids: Vec<&str> = dataset.lines().map(|row| &row[16..22]).collect();
    assert_eq!(ids, ["a__a-1", "a__a-3", "b__b-2"]);
    assert!(place.counts().values().all(|count| *count == 1));

    let written = std::fs::metadata(place.run().join("dataset.jsonl"))
        .unwrap()
        .modified()
        .unwrap();
    let again = place.go(&place.options(), &place.stages()).await;
    assert!(again.import.unchanged && again.work.is_empty());
    assert_eq!(place.counts().len(), 6);
    let now = std::fs::metadata(place.run().join("dataset.jsonl"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(written, now, "the dataset is not written again");
    assert_eq!(
        std::fs::read_dir(place.run().join("owners"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_line_is_done_anew_and_one_that_went_leaves_the_dataset() {
    let place = Fixture::new();
    place.candidates(&three());
    place.go(&place.options(), &place.stages()).await;
    let whole = place.dataset();

    let mut lines = three();
    lines[0] = line("b/b", 2, "another title");
    lines.push(line("c/c", 4, "four"));
    place.candidates(&lines);
    let report = place.go(&place.options(), &place.stages()).await;
    assert_eq!(
        (
            report.import.new,
            report.import.changed,
            report.import.known
        ),
        (1, 1, 2)
    );
    assert!(place.dataset().contains("another title"));
    assert_eq!(place.counts()[&("make", "b__b-2".to_owned())], 2);
    assert_eq!(place.counts()[&("make", "a__a-1".to_owned())], 1);

    place.candidates(&lines[1..2]);
    let report = place.go(&place.options(), &place.stages()).await;
    assert_eq!((report.import.withdrawn, report.status.candidates), (3, 1));
    assert_eq!(place.dataset().lines().count(), 1);

    // What comes back as it was is there at once; what comes back otherwise is done anew.
    place.candidates(&three());
    let report = place.go(&place.options(), &place.stages()).await;
    assert_eq!((report.import.known, report.import.changed), (2, 1));
    assert_eq!(place.counts()[&("make", "a__a-3".to_owned())], 1);
    assert_eq!(place.dataset(), whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_being_written_waits_and_a_broken_one_is_told() {
    let place = Fixture::new();
    let second = line("b/b", 2, "two");
    let half = second[..second.len() / 2].to_owned();
    place.candidates(&[
        line("a/a", 1, "one"),
        line("a/a", 1, "again"),
        "{\"repo\": 1}\n".to_owned(),
        half,
    ]);
    let report = place.go(&place.options(), &place.stages()).await;
    assert_eq!(
        (
            report.import.new,
            report.import.repeated,
            report.import.faulty
        ),
        (1, 1, 1)
    );
    let fault = &report.import.faults[0];
    assert_eq!(fault.line, Some(3));
    place.candidates(&[line("a/a", 1, "one"), second]);
    let report = place.go(&place.options(), &place.stages()).await;
    assert_eq!((report.import.new, report.import.known), (1, 1));
    assert_eq!(report.status.dataset_rows, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_of_a_stage_is_said_and_done_anew_where_asked() {
    let place = Fixture::new();
    place.candidates(&three());
    place.go(&place.options(), &place.stages()).await;
    let mut newer = place.stage("make");
    newer.version = 2;
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(newer), Arc::new(place.stage("accept"))];
    let report = place.go(&place.options(), &stages).await;
    // What stands on the result of a stale step is stale with it.
    assert_eq!((report.stale["make"], report.stale["accept"]), (3, 3));
    assert_eq!(place.counts().values().sum::<usize>(), 6);

    let config = atlas_pipeline::RunConfig::default();
    let estimate =
        estimate_run(&RunContext::new("test"), &config, &place.options(), &stages).unwrap();
    assert_eq!(estimate.stages[0].stale, 3);
    assert!(estimate.import.unchanged);
    assert_eq!(estimate.seconds, Some(0.0));

    let options = RunOptions {
        stale: true,
        ..place.options()
    };
    let report = place.go(&options, &stages).await;
    assert_eq!((report.renewed, report.stale.len()), (3, 0));
    assert_eq!(place.counts().values().sum::<usize>(), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_further_stage_is_done_for_what_had_passed_those_before() {
    let place = Fixture::new();
    place.candidates(&three());
    place.go(&place.options(), &place.stages()).await;
    let stages: Vec<Arc<dyn Stage>> = vec![
        Arc::new(place.stage("make")),
        Arc::new(place.stage("curate")),
        Arc::new(place.stage("accept")),
    ];
    let options = RunOptions {
        stale: true,
        ..place.options()
    };
    place.go(&options, &stages).await;
    let counts = place.counts();
    let of = |stage: &'static str| counts[&(stage, "a__a-1".to_owned())];
    assert_eq!((of("make"), of("curate"), of("accept")), (1, 1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_holds_over_all_continuations() {
    let place = Fixture::new();
    let lines: Vec<String> = (0..12).map(|number| line("a/a", number, "")).collect();
    place.candidates(&lines);
    let mut slow = place.stage("make");
    slow.pause = Duration::from_millis(50);
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(slow), Arc::new(place.stage("accept"))];
    let options = RunOptions {
        seconds: Some(0.2),
        ..place.options()
    };
    let report = place.go(&options, &stages).await;
    assert_eq!(report.ended, RunEnd::Budget);
    let made = place.order("make").len();
    // Each takes at least a quarter of it, on a busy machine more.
    assert!((1..=6).contains(&made), "{made}");
    assert_eq!(place.go(&options, &stages).await.ended, RunEnd::Budget);
    assert_eq!(
        place.order("make").len(),
        made,
        "what was spent is remembered"
    );
    let rest = place.go(&place.options(), &stages).await;
    assert_eq!((rest.ended, rest.status.dataset_rows), (RunEnd::Done, 12));
    assert!(place.counts().values().all(|count| *count == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_run_puts_its_steps_back() {
    let place = Fixture::new();
    place.candidates(&three());
    let mut slow = place.stage("make");
    slow.pause = Duration::from_secs(60);
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(slow), Arc::new(place.stage("accept"))];
    let cx = RunContext::new("test");
    let (cancel, begun) = (cx.cancel.clone(), Instant::now());
    let folder = place.run();
    tokio::spawn(async move {
        while !run_status(&folder).is_ok_and(|status| status.running.len() == 1) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    });
    let ended = atlas_pipeline::run_candidates(
        &cx,
        &place.options(),
        &stages,
        Arc::new(atlas_pipeline::QuietRun),
    )
    .await;
    assert_eq!(ended.unwrap_err().kind(), atlas_core::ErrorKind::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(30));
    let status = run_status(&place.run()).unwrap();
    assert_eq!((status.stages[0].pending, status.stages[0].running), (3, 0));
    place.go(&place.options(), &place.stages()).await;
    assert_eq!(place.dataset().lines().count(), 3);
}
