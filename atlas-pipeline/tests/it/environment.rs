use crate::support::{BASE, FIX, Place};

#[test]
fn a_plan_says_what_and_why_and_builds_nothing() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE]);
    let repo = repo.to_str().unwrap();
    let args = ["plan", "--repo", repo, "--base", "HEAD"];
    let done = place.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["plan"]["language"], "python");
    assert_eq!(report["plan"]["log_parser_name"], "unittest");
    let evidence = &report["plan"]["evidence"]["log_parser_name"][0];
    assert_eq!(evidence["source"], "tests/test_calc.py");
    let dockerfile = report["dockerfile"].as_str().unwrap();
    assert!(dockerfile.contains("USER atlas"), "{dockerfile}");
    assert!(!place.path("cache").exists(), "nothing was prepared");
    let text = place.run(&args).stdout();
    assert!(text.contains("tests/test_calc.py"), "{text}");
}

#[test]
fn a_repository_without_tests_has_no_plan() {
    let place = Place::new();
    let repo = place.repository("repo", &[&[("notes.txt", "nothing\n")]]);
    let repo = repo.to_str().unwrap();
    let done = place.run(&["plan", "--repo", repo, "--base", "HEAD", "--format", "json"]);
    assert_eq!(done.code(), 3);
    assert!(done.json()["reason"].as_str().unwrap().contains("manifest"));
}

#[test]
fn base_runs_in_what_was_built() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let repo = repo.to_str().unwrap();
    let mut args = vec!["build", "--repo", repo, "--base", "HEAD~1", "--out", "out"];
    args.extend(["--engine", "local", "--trust", "--format", "json"]);
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["outcome"], "ready");
    assert_eq!(report["base_run"]["tests"], 1);
    assert_eq!(report["base_run"]["counts"]["PASSED"], 1);
    let folder = std::path::Path::new(report["artefacts"].as_str().unwrap());
    for name in [
        "plan.json",
        "environment/Dockerfile",
        "base.log",
        "build.json",
    ] {
        assert!(place.path("").join(folder).join(name).is_file(), "{name}");
    }
}
