use crate::support::Place;

const GO: &str = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.com/m\t0.01s\nFAIL\n";

#[test]
fn parse_prints_one_document_for_programs_and_a_table_for_people() {
    let place = Place::new();
    std::fs::write(place.path("go.log"), GO).unwrap();
    let report = place
        .run(&[
            "parse",
            "--parser",
            "parse_log_gotest",
            "--format",
            "json",
            "--qualified",
            "go.log",
        ])
        .json();
    assert_eq!(report["parser"], "gotest");
    assert_eq!(report["tests"]["TestA"], "PASSED");
    assert_eq!(report["qualified"]["example.com/m::TestB"], "FAILED");
    assert_eq!(report["outcome"], "completed");
    for field in [
        "totals",
        "consistent",
        "build_failed",
        "modules_not_loaded",
        "in_flight",
        "duplicates",
        "warnings",
    ] {
        assert!(report.get(field).is_some(), "{field}: {report}");
    }
    let auto = place
        .run(&[
            "parse",
            "--command",
            "go test -v ./...",
            "--format",
            "json",
            "go.log",
        ])
        .json();
    assert_eq!(auto["tests"], report["tests"]);
    assert!(auto.get("qualified").is_none(), "{auto}");
    assert_eq!(auto["detection"]["parser"], "gotest");
    let text = place
        .run(&["parse", "--parser", "gotest", "go.log"])
        .stdout();
    assert!(
        text.contains("FAILED   TestB") && text.contains("2: 1 PASSED, 1 FAILED"),
        "{text}"
    );
}

#[test]
fn classify_needs_no_engine() {
    let place = Place::new();
    std::fs::write(place.path("before.log"), GO).unwrap();
    let fixed = GO.replace("--- FAIL: TestB", "--- PASS: TestB").replace(
        "FAIL\nFAIL\texample.com/m\t0.01s\nFAIL\n",
        "PASS\nok  \texample.com/m\t0.01s\n",
    );
    std::fs::write(place.path("after.log"), fixed).unwrap();
    let args = [
        "classify",
        "--base",
        "before.log",
        "--before",
        "before.log",
        "--after",
        "after.log",
        "--format",
        "json",
    ];
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let found = done.json();
    assert_eq!(found["outcome"], "instance");
    assert_eq!(found["FAIL_TO_PASS"][0], "TestB");
    assert_eq!(found["transition_counts"]["F2P"], 1);
    let same = [
        "classify",
        "--base",
        "after.log",
        "--before",
        "after.log",
        "--after",
        "after.log",
        "--format",
        "json",
    ];
    assert_eq!(place.run(&same).code(), 3);
    // A repeat of After in which the test fails: it is flaky, and nothing is left.
    let repeated = [&args[..], &["--after", "before.log"]].concat();
    let done = place.run(&repeated);
    assert_eq!(done.code(), 3, "{}", done.stderr());
    let found = done.json();
    assert_eq!(found["outcome"], "reject_no_fail_to_pass");
    let why = found["unstable"]["TestB"].as_str().unwrap();
    assert!(
        why.starts_with("flaky: passes in 1, fails in 1 of 2"),
        "{why}"
    );
}
