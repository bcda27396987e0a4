use crate::support::{BASE, FIX, Place, ids, make_args};
use serde_json::Value;

#[test]
fn a_bug_fix_becomes_a_row_with_all_its_proof() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let repo = repo.to_str().unwrap();
    let done = place.run(&make_args(repo, &["--instance-id", "me__calc-1"]));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["outcome"], "instance");
    assert_eq!(report["kind"], "bug_fix");
    assert_eq!(report["before_failure_extent"], "none");
    assert_eq!(
        ids(&report, "FAIL_TO_PASS"),
        ["test_negative (tests.test_calc.CalcTest.test_negative)"]
    );
    assert_eq!(
        ids(&report, "PASS_TO_PASS"),
        ["test_positive (tests.test_calc.CalcTest.test_positive)"]
    );

    let dataset = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    let row: Value = serde_json::from_str(dataset.trim_end()).unwrap();
    for column in [
        "repo",
        "instance_id",
        "base_commit",
        "patch",
        "test_patch",
        "problem_statement",
        "hints_text",
        "created_at",
        "version",
        "FAIL_TO_PASS",
        "PASS_TO_PASS",
        "environment_setup_commit",
        "image",
        "eval_script",
        "log_parser",
        "eval_type",
    ] {
        assert!(
            row[column].is_string(),
            "{column} is text, as in every dataset: {}",
            row[column]
        );
    }
    assert_eq!(row["log_parser"], "parse_log_django");
    assert_eq!(row["atlas"]["swebench_agrees"], true);
    assert!(row["patch"].as_str().unwrap().contains("calc/__init__.py"));
    assert!(
        !row["patch"].as_str().unwrap().contains("tests/"),
        "the gold patch holds no test"
    );
    assert!(
        row["test_patch"]
            .as_str()
            .unwrap()
            .contains("tests/test_calc.py")
    );
    let script = row["eval_script"].as_str().unwrap();
    for marker in [">>>>> Start Test Output", ">>>>> End Test Output"] {
        assert_eq!(script.matches(marker).count(), 1, "{marker} stands once");
    }
    for artefact in [
        "environment/Dockerfile",
        "environment/repo.tar",
        "plan.json",
        "environment.lock.json",
        "oracle.json",
        "split.json",
        "gold.patch",
        "test.patch",
        "base.log",
        "before.log",
        "after.log",
        "instance.json",
        "make.json",
    ] {
        let path = place.path("out/me__calc-1").join(artefact);
        assert!(
            path.metadata().is_ok_and(|m| m.len() > 0),
            "{artefact} is written"
        );
    }
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
    let for_harness = std::fs::read_to_string(place.path("out/swebench5.jsonl")).unwrap();
    assert_eq!(for_harness, dataset, "the harness names these tests alike");

    let again = place.run(&make_args(repo, &["--instance-id", "me__calc-1"]));
    assert_eq!(again.code(), 0);
    let same = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    assert_eq!(
        same, dataset,
        "the same command writes the same bytes, and one row"
    );
}

#[test]
fn a_feature_whose_tests_do_not_load_before() {
    let place = Place::new();
    let head = [
        (
            "calc/__init__.py",
            "def double(n):\n    return n + n if n > 0 else n\n\n\ndef triple(n):\n    return 3 * n\n",
        ),
        (
            "tests/test_triple.py",
            "import unittest\nfrom calc import double, triple\n\n\nclass TripleTest(unittest.TestCase):\n    \
             def test_triple(self):\n        self.assertEqual(triple(2), 6)\n",
        ),
    ];
    let repo = place.repository("repo", &[BASE, &head]);
    let done = place.run(&make_args(
        repo.to_str().unwrap(),
        &["--instance-id", "me__calc-2"],
    ));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["kind"], "feature_request");
    assert_eq!(report["before_failure_extent"], "partial");
    assert_eq!(
        ids(&report, "FAIL_TO_PASS"),
        ["test_triple (tests.test_triple.TripleTest.test_triple)"]
    );
    let oracle: Value =
        serde_json::from_slice(&std::fs::read(place.path("out/me__calc-2/oracle.json")).unwrap())
            .unwrap();
    let failure = &oracle["module_failures"][0];
    assert_eq!(failure["class"], "missing_symbol", "{failure}");
    assert_eq!(failure["symbol"], "triple");
}

#[test]
fn a_refactor_is_rejected_with_the_counts_and_leaves_no_row() {
    let place = Place::new();
    let head = [
        (
            "calc/__init__.py",
            "def double(n):\n    return 2 * n if n > 0 else n\n",
        ),
        (
            "tests/test_more.py",
            "import unittest\nfrom calc import double\n\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(double(3), 6)\n",
        ),
    ];
    let repo = place.repository("repo", &[BASE, &head]);
    let done = place.run(&make_args(repo.to_str().unwrap(), &[]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["outcome"], "reject_no_fail_to_pass");
    let reason = report["reason"].as_str().unwrap();
    assert!(
        reason.contains("no FAIL_TO_PASS: of 2 tests that pass in After, 2 pass in Before"),
        "{reason}"
    );
    assert!(
        report["evidence"].to_string().contains("P2P: 2"),
        "{}",
        report["evidence"]
    );
    assert_eq!(report["row"], Value::Null);
    assert!(!place.path("out/dataset.jsonl").exists());
}

#[test]
fn a_refactor_is_not_decided_where_most_declared_tests_were_not_seen() {
    let place = Place::new();
    // Unittest's discovery looks for `test*.py`.
    let test = |n: u8| {
        format!("    def test_{n}(self):\n        self.assertEqual(double({n}), 2 * {n})\n\n")
    };
    let tests = (0..24).map(test).collect::<Vec<_>>().concat();
    let unseen = format!(
        "import unittest\nfrom calc import double\n\n\nclass Checks(unittest.TestCase):\n{tests}"
    );
    let head = [
        (
            "calc/__init__.py",
            "def double(n):\n    return 2 * n if n > 0 else n\n",
        ),
        (
            "tests/test_more.py",
            "import unittest\nfrom calc import double\n\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(double(3), 6)\n",
        ),
    ];
    let repo = place.repository("repo", &[BASE, &[("tests/checks.py", &unseen)], &head]);
    let done = place.run(&make_args(repo.to_str().unwrap(), &[]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["outcome"], "no_evidence");
    let reason = report["reason"].as_str().unwrap();
    assert!(
        reason.contains(
            "in After the log names 2 tests, far fewer than the 26 that the sources declare"
        ),
        "{reason}"
    );
}

#[test]
fn a_pull_request_without_tests_is_rejected_before_anything_is_built() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, &FIX[..1]]);
    let done = place.run(&make_args(repo.to_str().unwrap(), &[]));
    assert_eq!(done.code(), 3);
    assert_eq!(done.json()["outcome"], "reject_nothing_to_test");
    assert_eq!(done.json()["engine"], "", "no engine was opened");
}

#[test]
fn a_base_that_does_not_build_is_an_environment_verdict_with_the_failing_step() {
    let place = Place::new();
    let broken: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([(
            "setup.py",
            "import sys\nsys.exit('the lint roller of the flux is missing')\n",
        )])
        .collect();
    let repo = place.repository("repo", &[&broken, FIX]);
    let done = place.run(&make_args(repo.to_str().unwrap(), &[]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["outcome"], "environment_invalid");
    let proof = report["evidence"].to_string();
    assert!(proof.contains("failing step"), "{proof}");
    assert!(
        proof.contains("the lint roller of the flux is missing"),
        "{proof}"
    );
}

#[test]
fn a_base_whose_tests_do_not_load_is_an_environment_verdict() {
    let place = Place::new();
    let broken = [
        ("calc/__init__.py", "import a_module_that_nobody_has\n"),
        BASE[1],
        BASE[2],
    ];
    let repo = place.repository("repo", &[&broken, FIX]);
    let done = place.run(&make_args(repo.to_str().unwrap(), &[]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["outcome"], "environment_invalid", "{report}");
    assert!(
        report["evidence"]
            .to_string()
            .contains("a_module_that_nobody_has"),
        "{report}"
    );
}

#[test]
fn without_isolation_untrusted_code_is_refused() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    std::fs::write(
        place.path("atlas.toml"),
        "[local]\nbubblewrap = \"never\"\n",
    )
    .unwrap();
    let mut args = make_args(repo.to_str().unwrap(), &[]);
    args.retain(|arg| *arg != "--trust");
    let refused = place.run(&args);
    assert_eq!(refused.code(), 1, "{}", refused.stdout());
    assert!(refused.stderr().contains("--trust"), "{}", refused.stderr());

    let trusted = place.run(&make_args(repo.to_str().unwrap(), &[]));
    assert_eq!(
        trusted.code(),
        0,
        "{}{}",
        trusted.stdout(),
        trusted.stderr()
    );
    assert_eq!(ids(&trusted.json(), "FAIL_TO_PASS").len(), 1);
    let oracle = std::fs::read_to_string(
        std::fs::read_dir(place.path("out"))
            .unwrap()
            .flatten()
            .map(|entry| entry.path().join("oracle.json"))
            .find(|path| path.exists())
            .unwrap(),
    )
    .unwrap();
    let oracle: Value = serde_json::from_str(&oracle).unwrap();
    let isolation = &oracle["states"]["base"]["isolation"];
    assert_eq!(
        isolation["kind"], "process",
        "the report says how little isolation there was"
    );
    assert_eq!(isolation["network_off"], false);
}

const LIB: &str = "pub fn double(n: i32) -> i32 {\n    if n > 0 { n + n } else { n }\n}\n\npub fn one() -> i32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn positive() {\n        assert_eq!(double(2), 4);\n    }\n}\n";

#[test]
fn a_file_that_holds_code_and_tests_is_never_restored_by_the_row() {
    let place = Place::new();
    let head = LIB.replace("if n > 0 { n + n } else { n }", "n + n").replace(
        "        assert_eq!(double(2), 4);\n    }\n",
        "        assert_eq!(double(2), 4);\n    }\n\n    #[test]\n    fn negative() {\n        assert_eq!(double(-2), -4);\n    }\n",
    );
    let manifest = (
        "Cargo.toml",
        "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    let lock = (
        "Cargo.lock",
        "version = 3\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n",
    );
    let repo = place.repository(
        "repo",
        &[
            &[manifest, lock, ("src/lib.rs", LIB)],
            &[("src/lib.rs", &head)],
        ],
    );
    let done = place.run(&make_args(
        repo.to_str().unwrap(),
        &["--instance-id", "me__calc-9"],
    ));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(ids(&done.json(), "FAIL_TO_PASS"), ["tests::negative"]);
    assert_eq!(ids(&done.json(), "PASS_TO_PASS"), ["tests::positive"]);
    let row: Value = serde_json::from_str(
        std::fs::read_to_string(place.path("out/dataset.jsonl"))
            .unwrap()
            .trim_end(),
    )
    .unwrap();
    let script = row["eval_script"].as_str().unwrap();
    assert!(
        !script.contains("git checkout") && !script.contains("rm -f"),
        "{script}"
    );
}

#[test]
fn a_later_no_takes_the_row_of_an_earlier_yes_away() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let repo = repo.to_str().unwrap();
    assert_eq!(
        place
            .run(&make_args(repo, &["--instance-id", "me__calc-1"]))
            .code(),
        0
    );
    std::fs::write(place.path("atlas.toml"), "[plan]\nfile = \"plan.json\"\n").unwrap();
    std::fs::write(
        place.path("plan.json"),
        r#"{"build":["echo no such luck >&2; exit 4"],"test_cmd":"true","log_parser_name":"unittest","language":"python","base_image":"python:3.11-slim-bookworm"}"#,
    )
    .unwrap();
    let done = place.run(&make_args(repo, &["--instance-id", "me__calc-1"]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    assert!(
        done.json()["evidence"].to_string().contains("no such luck"),
        "{}",
        done.stdout()
    );
    assert_eq!(
        std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap(),
        ""
    );
    assert!(!place.path("out/me__calc-1/instance.json").exists());
}

#[test]
fn a_latin_1_file_goes_into_the_row() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    std::fs::write(repo.join("tests/names.txt"), b"caf\xe9\n").unwrap();
    std::fs::write(repo.join("calc/names.txt"), b"na\xefve\n").unwrap();
    crate::support::git(&repo, &["add", "-A"]);
    crate::support::git(&repo, &["commit", "-q", "--amend", "--no-edit"]);
    let done = place.run(&make_args(
        repo.to_str().unwrap(),
        &["--instance-id", "me__calc-1"],
    ));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let dataset = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    assert_eq!(
        dataset.matches("GIT binary patch").count(),
        3,
        "two patches, and the script"
    );
}

#[test]
fn a_sourced_pull_request_gives_its_issues_to_the_row() {
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let commit = |rev: &str| {
        crate::support::git(&repo, &["rev-parse", rev])
            .trim()
            .to_owned()
    };
    let candidate = serde_json::json!({
        "repo": "me/calc", "clone": repo, "source": "github", "number": 7,
        "base": commit("HEAD~1"), "head": commit("HEAD"),
        "title": "Absolute values", "labels": ["bug"],
        "created_at": "2024-03-02T00:00:00Z", "first_commit_at": "2024-03-01T00:00:00Z",
        "issues": [{
            "repo": "me/calc", "number": 5, "title": "abs is wrong", "body": "abs(-1) gives -1",
            "comments": [
                {"created_at": "2024-02-01T00:00:00Z", "body": "I see it too"},
                {"created_at": "2024-03-03T00:00:00Z", "body": "fixed by negating"},
            ],
            "evidence": [{"source": "body", "line": 1, "text": "Fixes #5"}],
        }, {"repo": "other/lib", "number": 9, "evidence": []}],
        "repository": {"topics": ["cli", "numbers"]},
        "provenance": {"title": "graphql pullRequest.title"},
    });
    std::fs::write(place.path("candidates.jsonl"), format!("\n{candidate}\n")).unwrap();
    let args = [
        "make",
        "--candidate",
        "candidates.jsonl:2",
        "--engine",
        "local",
        "--trust",
        "--out",
        "out",
    ];
    let done = place.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let dataset = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
    let row: Value = serde_json::from_str(dataset.trim_end()).unwrap();
    for (column, value) in [
        ("instance_id", serde_json::json!("me__calc-7")),
        ("repo", serde_json::json!("me/calc")),
        (
            "problem_statement",
            serde_json::json!("abs is wrong\nabs(-1) gives -1"),
        ),
        ("hints_text", serde_json::json!("I see it too")),
        ("created_at", serde_json::json!("2024-03-02T00:00:00Z")),
        ("issue_numbers", serde_json::json!(["5", "other/lib#9"])),
        ("pull_number", serde_json::json!("7")),
        ("labels", serde_json::json!(["bug"])),
    ] {
        assert_eq!(row[column], value, "{column}");
    }
    let sourced = &row["atlas"]["sourced"];
    assert_eq!(sourced["provenance"]["title"], "graphql pullRequest.title");
    assert_eq!(sourced["links"][0]["evidence"][0]["text"], "Fixes #5");
    // The domain's rules read them there.
    assert_eq!(sourced["topics"], serde_json::json!(["cli", "numbers"]));
    for (place_of, word) in [
        ("candidates.jsonl:1", "line 1"),
        ("absent.jsonl", "absent.jsonl"),
    ] {
        let args = ["make", "--candidate", place_of, "--out", "out"];
        let done = place.run(&args);
        assert_eq!(done.code(), 1);
        assert!(done.stderr().contains(word), "{}", done.stderr());
    }
}
