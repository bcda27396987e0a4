//! From sources to a release with one command, with the local engine.

use crate::support::{BASE, FIX, Place, git};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A change of two more functions, with a test of each.
const HALF: &[(&str, &str)] = &[
    (
        "calc/__init__.py",
        "def double(n):\n    return n + n\n\n\ndef half(n):\n    return n // 2\n",
    ),
    (
        "tests/test_half.py",
        "import unittest\nfrom calc import half\n\n\nclass HalfTest(unittest.TestCase):\n    \
         def test_half(self):\n        self.assertEqual(half(4), 2)\n",
    ),
];

/// A clone with squashed pull requests: 1 begins it, 2 mends `double`, 3 brings `half`, 4 changes words alone. The issues of 2 and 3
/// are told in an export beside it.
pub(super) struct Sourced {
    pub(super) place: Place,
}

impl Sourced {
    pub(super) fn new() -> Self {
        let place = Place::new();
        let root = place.repository("calc", &[]);
        git(
            &root,
            &["remote", "add", "origin", "https://github.com/me/calc.git"],
        );
        let sourced = Self { place };
        for (message, files) in [
            ("Begin (#1)", BASE),
            ("Mend double (#2)\n\nFixes #72", FIX),
            ("Bring half (#3)\n\nFixes #73", HALF),
            ("Say more (#4)", &[("README.md", "words\n")]),
        ] {
            sourced.merge(message, files);
        }
        let issues = [
            json!({"number": 72, "title": "double is wrong", "body": "It fails for negative numbers."}),
            json!({"number": 73, "title": "Halves are missing", "body": "One should be able to halve."}),
        ];
        let lines = issues.map(|issue| format!("{issue}\n")).concat();
        std::fs::write(sourced.place.path("issues.jsonl"), lines).unwrap();
        sourced
    }

    /// Another folder with the same commits: their times are in the rows.
    fn again(&self) -> Self {
        let place = Place::new();
        for name in ["calc", "issues.jsonl"] {
            let copied = std::process::Command::new("cp")
                .arg("-a")
                .args([self.place.path(name), place.path(name)])
                .status()
                .unwrap();
            assert!(copied.success());
        }
        Self { place }
    }

    /// The dataset and the checksums of the release, as they are.
    fn results(&self) -> [String; 2] {
        ["run/dataset.jsonl", "release/SHA256SUMS"]
            .map(|name| std::fs::read_to_string(self.place.path(name)).unwrap())
    }

    fn merge(&self, message: &str, files: &[(&str, &str)]) {
        let root = self.place.path("calc");
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-q", "-m", message]);
    }

    /// `run` goes into `[run]`, `more` behind everything.
    pub(super) fn configure(&self, run: &str, more: &str) {
        let text = format!(
            "[[source.clones]]\npath = \"calc\"\nissues = \"issues.jsonl\"\n[source.filters]\nedits_tests = true\n\
             issues = {{ at_least = 1 }}\n[local]\ntrust = true\n[make]\nconfirm = 1\n[run]\nengine = \"local\"\n\
             min_free = \"100 MiB\"\n{run}\n[run.validate]\ngates = [\"gold_patch\", \"null_patch\"]\n{more}\n"
        );
        std::fs::write(self.place.path("atlas.toml"), text).unwrap();
    }

    pub(super) fn run(&self, more: &[&str]) -> (i32, Value) {
        let mut args = vec!["run", "--format", "json"];
        args.extend(more);
        let done = self.place.run(&args);
        assert!([0, 1, 3].contains(&done.code()), "{}", done.stderr());
        (done.code(), done.json())
    }

    pub(super) fn rows(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.place.path("run/dataset.jsonl")).unwrap();
        text.lines()
            .map(|row| serde_json::from_str(row).unwrap())
            .collect()
    }
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter()
        .map(|row| row["instance_id"].as_str().unwrap())
        .collect()
}

#[test]
fn one_command_goes_from_a_clone_to_a_release_and_then_has_nothing_to_do() {
    let sourced = Sourced::new();
    let publish =
        "[run.hints]\n[run.publish]\nfolder = \"release\"\nname = \"calc\"\nlicence = \"MIT\"\n";
    sourced.configure("per_repo = 1", publish);
    let foretold = sourced.place.run(&["run", "--dry-run"]);
    assert_eq!(foretold.code(), 0, "{}", foretold.stderr());
    let text = foretold.stdout();
    assert!(
        text.contains("me/calc")
            && text.contains("not asked yet")
            && text.contains("release: release"),
        "{text}"
    );
    assert!(!sourced.place.path("run").exists(), "nothing is written");

    let (code, report) = sourced.run(&[]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["gathered"]["source"]["funnel"]["kept"], 2);
    assert_eq!(
        (
            &report["gathered"]["taken"]["offered"],
            &report["gathered"]["taken"]["taken"]
        ),
        (&json!(2), &json!(1))
    );
    let rows = sourced.rows();
    assert_eq!(ids(&rows), ["me__calc-3"], "the newest that passes");
    let curation = &rows[0]["atlas"]["curation"];
    assert_eq!(curation["difficulty"]["files"], 2, "{curation:#}");
    assert_eq!(curation["domain"]["source"], "nobody");
    // The issue speaks of halves and not of `half`.
    assert_eq!(curation["hints"]["is_hint_needed"], true, "{curation:#}");
    assert!(
        curation["hints"]["hint"]
            .as_str()
            .unwrap()
            .contains("def half(n)"),
        "{curation:#}"
    );
    assert_eq!(report["release"]["rows"], 1);
    let status = &report["status"];
    assert_eq!(status["repositories"][0]["repo"], "me/calc");
    assert_eq!(status["repositories"][0]["later"], 0);
    assert!(status["image_bytes"].as_u64().unwrap() > 0);

    // Nothing is new: nobody is asked, nothing is made, neither dataset nor release is written.
    let at = |name: &str| {
        let about = std::fs::metadata(sourced.place.path(name)).unwrap();
        about.modified().unwrap()
    };
    let before = [
        at("run/dataset.jsonl"),
        at("release/README.md"),
        at("run/candidates.jsonl"),
    ];
    let (_, again) = sourced.run(&[]);
    assert_eq!(again["work"], json!({}));
    assert_eq!(again["import"]["unchanged"], true);
    assert_eq!(again["release"], Value::Null);
    assert_eq!(
        before,
        [
            at("run/dataset.jsonl"),
            at("release/README.md"),
            at("run/candidates.jsonl")
        ]
    );

    // More of each repository: what was taken stays, and only the rest is done; the release is another.
    sourced.configure("per_repo = 5", publish);
    let (_, more) = sourced.run(&[]);
    assert_eq!(
        (&more["import"]["new"], &more["import"]["known"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(more["work"]["make"]["passed"], 1);
    assert_eq!(ids(&sourced.rows()), ["me__calc-2", "me__calc-3"]);
    assert_eq!(more["release"]["rows"], 2);
    assert_eq!(more["status"]["repositories"][0]["later"], 1);
    let published = std::fs::read_to_string(sourced.place.path("release/test.jsonl")).unwrap();
    assert_eq!(published.lines().count(), 2);

    // Each row stands for itself in the published folder.
    let done = sourced.place.run(&[
        "validate",
        "release/test.jsonl",
        "--out",
        "check",
        "--engine",
        "local",
        "--gates",
        "gold_patch",
        "--format",
        "json",
    ]);
    assert_eq!(done.json()["accepted"], 2, "{}", done.stderr());

    let funnel = sourced
        .place
        .run(&["funnel", "run", "--format", "json"])
        .json();
    let stages = funnel["stages"].as_array().unwrap();
    let make = stages
        .iter()
        .find(|stage| stage["stage"] == "make")
        .unwrap();
    assert_eq!((&make["steps"], &make["money"]), (&json!(2), &json!(0.0)));
    assert!(make["seconds"].as_f64().unwrap() > 0.0 && make["bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_run_without_candidates_or_sources_is_refused() {
    let place = Place::new();
    std::fs::write(place.path("atlas.toml"), "[run]\nengine = \"local\"\n").unwrap();
    let done = place.run(&["run"]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("[source]"), "{}", done.stderr());
    assert!(!place.path("run").exists());
    let text = "[run]\nengine = \"local\"\n[run.judge]\nmodel = \"scripted:none.jsonl\"\n[[source.clones]]\npath = \"x\"\n";
    std::fs::write(place.path("atlas.toml"), text).unwrap();
    let done = place.run(&["run"]);
    assert!(done.stderr().contains("none.jsonl"), "{}", done.stderr());
    assert!(!place.path("run").exists());
}

/// An answer of the alignment judge on a row of [`Sourced`], for a question that holds a text.
fn scores(holds: &str, issue: &str, clarity: u8, alignment: u8) -> Value {
    let factors = [
        ("success_criteria", "issue", issue),
        ("specificity", "issue", issue),
        ("context", "issue", issue),
        ("core_coverage", "tests", "self.assertEqual("),
        ("rejects_correct", "tests", "self.assertEqual("),
        ("accepts_wrong", "solution", "calc/__init__.py"),
    ]
    .map(|(name, source, quote)| {
        json!({"factor": name, "assessment": "so", "evidence": [{"source": source, "quote": quote}]})
    });
    let answer = json!({
        "factors": factors, "explanation": "because",
        "scores": {"issue_clarity": clarity, "test_to_issue_alignment": alignment},
    });
    json!({"holds": holds, "text": answer.to_string(), "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})
}

#[test]
fn a_model_s_scores_stand_in_the_rows_and_its_silence_loses_none() {
    let sourced = Sourced::new();
    let write = |rules: &[Value]| {
        let mut text = String::new();
        for rule in rules {
            writeln!(text, "{rule}").unwrap();
        }
        std::fs::write(sourced.place.path("script.jsonl"), text).unwrap();
    };
    sourced.configure(
        "",
        "[run.judge]\nmodel = \"scripted:script.jsonl\"\n[run.classify]\nmodel = \"scripted:script.jsonl\"\n",
    );
    let classes =
        json!({"reasoning": "so", "code_type": "feature", "issue_type": "feature-request"});
    let classes = json!({"holds": "Halves are missing", "text": classes.to_string(), "times": 1});
    // Nothing is said of the other one.
    write(&[
        classes,
        scores("Halves are missing", "One should be able to halve.", 0, 2),
    ]);
    let (code, report) = sourced.run(&[]);
    assert_eq!(code, 0, "{report:#}");
    let stages = report["status"]["stages"].as_array().unwrap().clone();
    let stage = |name: &str| {
        stages
            .iter()
            .find(|one| one["stage"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        stage("judge")["outcomes"],
        json!({"medium": 1, "no_answer_model": 1})
    );
    assert_eq!(
        stage("classify")["outcomes"],
        json!({"classified": 1, "no_answer_model": 1})
    );
    let rows = sourced.rows();
    assert_eq!(ids(&rows), ["me__calc-2", "me__calc-3"]);
    let curation = |row: &Value| row["atlas"]["curation"].clone();
    assert_eq!(
        curation(&rows[0])["no_answer"],
        json!({"classify": "model", "judge": "model"})
    );
    assert_eq!(curation(&rows[0])["judge"], Value::Null);
    let half = curation(&rows[1]);
    assert_eq!(half["judge"]["quality"], "medium");
    assert_eq!(half["judge"]["scores"]["test_to_issue_alignment"], 2);
    assert_eq!(half["code_type"]["source"], "model", "{half:#}");
    assert_eq!(half["models"], json!(["scripted"]));
    assert_eq!(half["no_answer"], Value::Null);
    let why = sourced.place.run(&["why", "me__calc-2"]).stdout();
    assert!(why.contains("--retry model --only me__calc-2"), "{why}");

    // Asked again, it answers: what it says takes the row out.
    let (_, same) = sourced.run(&[]);
    assert_eq!(same["work"], json!({}));
    let classes = json!({"reasoning": "so", "code_type": "bug-fix", "issue_type": "bug-report"});
    let classes = json!({"holds": "double is wrong", "text": classes.to_string()});
    write(&[
        classes,
        scores("double is wrong", "It fails for negative numbers.", 3, 3),
    ]);
    let (_, again) = sourced.run(&["--retry", "model"]);
    assert_eq!(again["retried"], 1, "from the first of them on");
    assert_eq!(again["work"]["judge"]["rejected"], 1, "{again:#}");
    assert_eq!(again["work"]["make"], Value::Null, "nothing is made again");
    assert_eq!(ids(&sourced.rows()), ["me__calc-3"]);
    let funnel = sourced
        .place
        .run(&["funnel", "run", "--format", "json"])
        .json();
    assert_eq!(funnel["rejections"]["judge"]["count"], 1, "{funnel:#}");
    assert_eq!(funnel["accepted"]["left"], 1);
    let story = sourced
        .place
        .run(&["why", "me__calc-2", "--format", "json"])
        .json();
    let steps = story["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["outcome"], "reject_low", "{story:#}");
}

/// What models cost is counted over all continuations, and a spent budget leaves the rest for later.
#[test]
fn money_that_is_spent_ends_a_run_and_more_of_it_goes_on() {
    let sourced = Sourced::new();
    let rules = [
        scores("double is wrong", "It fails for negative numbers.", 0, 0),
        scores("Halves are missing", "One should be able to halve.", 0, 2),
    ];
    let text = rules.map(|rule| format!("{rule}\n")).concat();
    std::fs::write(sourced.place.path("script.jsonl"), text).unwrap();
    // Each answer costs 1,000 tokens of a question and 100 of an answer, in dollars a million: 3.00.
    let model = "[run.judge]\nmodel = \"m\"\n[models.m]\nprovider = \"scripted\"\nfile = \"script.jsonl\"\n\
                 price = { input = 2000, output = 10000 }\n";
    sourced.configure("parallel = 1\nmoney = 2.5", model);
    let (code, spent) = sourced.run(&[]);
    assert_eq!((code, &spent["ended"]), (3, &json!("budget")), "{spent:#}");
    assert_eq!(spent["work"]["judge"]["passed"], 1, "{spent:#}");
    sourced.configure("parallel = 1\nmoney = 100", model);
    let (code, rest) = sourced.run(&[]);
    assert_eq!(
        (code, rest["work"]["judge"]["passed"].as_u64()),
        (0, Some(1)),
        "{rest:#}"
    );
    assert_eq!(sourced.rows().len(), 2);
    let funnel = sourced
        .place
        .run(&["funnel", "run", "--format", "json"])
        .json();
    let stages = funnel["stages"].as_array().unwrap();
    let judge = stages
        .iter()
        .find(|stage| stage["stage"] == "judge")
        .unwrap();
    assert_eq!(judge["money"].as_f64(), Some(6.0), "{judge:#}");
}

#[test]
fn a_pipeline_that_is_killed_anywhere_comes_to_the_same_rows_and_release() {
    let publish = "[run.hints]\n[run.publish]\nfolder = \"release\"\nlicence = \"MIT\"\n";
    let whole = Sourced::new();
    let killed = whole.again();
    whole.configure("", publish);
    whole.run(&[]);
    killed.configure("", publish);
    let mut moment = 11_u64;
    let mut ended = 0;
    for _ in 0..12 {
        let mut child = killed
            .place
            .atlas(&["run"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        moment = moment
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(std::time::Duration::from_millis(50 + (moment >> 33) % 1200));
        ended += u32::from(child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(ended < 12, "it was killed while it worked");
    killed.run(&[]);
    assert_eq!(ids(&killed.rows()), ["me__calc-2", "me__calc-3"]);
    assert_eq!(killed.results(), whole.results());
    let sums = killed.place.run(&["run", "--format", "json"]).json();
    assert_eq!(sums["release"], Value::Null);
    let listed = std::fs::read_to_string(killed.place.path("release/SHA256SUMS")).unwrap();
    assert!(listed.lines().any(|line| line.ends_with("test.jsonl")));
    for id in ["me__calc-2", "me__calc-3"] {
        let story = killed.place.run(&["why", id, "--format", "json"]).json();
        let events = story["events"].as_array().unwrap();
        for step in story["steps"].as_array().unwrap() {
            let left = events
                .iter()
                .filter(|event| event["what"] == "left" && event["stage"] == step["stage"])
                .count();
            assert_eq!(step["attempts"], 1 + left, "{story:#}");
        }
    }
}
