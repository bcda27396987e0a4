//! Instances whose plan and parser are a model's: one ledger for both, and one name that every command takes.

use crate::eval_support::{regrade, verdict};
use crate::own_parsers::{RUN, good, row_of, rules};
use crate::support::{Done, Place, make_args};
use atlas_pipeline::parsers::dataset_parser;
use serde_json::{Value, json};

const ID: &str = "me__house-1";

/// A runner that nobody knows, in a repository for which rules have no plan.
fn unplanned(place: &Place) -> String {
    let test = |n: i32| format!(". ./lib.sh\n[ \"$(double {n})\" = {} ]\n", n + n);
    let [small, large, negative, minus] = [2, 20, -2, -1].map(test);
    let repo = place.repository(
        "repo",
        &[
            &[
                ("double.py", "def double(n):\n    return n + n\n"),
                ("run.sh", RUN),
                (
                    "lib.sh",
                    "double() { [ \"$1\" -gt 0 ] && echo $(($1 + $1)) || echo \"$1\"; }\n",
                ),
                ("tests/small.t", &small),
                ("tests/large.t", &large),
                ("tests/huge.t", "# later\n"),
            ],
            &[
                ("lib.sh", "double() { echo $(($1 + $1)); }\n"),
                ("tests/negative.t", &negative),
                ("tests/minus.t", &minus),
            ],
        ],
    );
    repo.to_str().unwrap().to_owned()
}

/// A plan that asks for a parser, an answer that is none, and a parser.
fn made(place: &Place, repo: &str, out: &str, calls: u32) -> Done {
    let plan = json!({"plan": {
        "docker_specs": {}, "pre_install": [], "build": ["true"], "test_cmd": "sh run.sh",
        "log_parser_name": "agentic",
    }});
    let turns = [
        ("Rules found no way", plan),
        ("", json!({"form": "rules"})),
        ("", json!({"form": "rules", "rules": rules()})),
    ];
    let lines = turns.map(|(holds, text)| json!({"holds": holds, "text": text.to_string()}));
    let lines = lines.map(|line| line.to_string()).join("\n");
    std::fs::write(place.path("turns.jsonl"), lines).unwrap();
    let config = format!("[model]\nname = \"scripted:turns.jsonl\"\ncalls = {calls}\n");
    std::fs::write(place.path("atlas.toml"), config).unwrap();
    let mut args = make_args(repo, &["--instance-id", ID]);
    let at = args.iter().position(|arg| *arg == "out").unwrap();
    args[at] = out;
    place.run(&args)
}

#[test]
fn plan_and_parser_spend_from_one_purse() {
    let place = Place::new();
    let repo = unplanned(&place);
    // One call for the plan leaves one for the parser, whose first answer is none.
    let short = made(&place, &repo, "short", 2);
    assert_eq!(short.code(), 3, "{}{}", short.stdout(), short.stderr());
    let report = short.json();
    assert_eq!(report["model"]["calls"], 2, "{report:#}");
    assert_eq!(report["outcome"], "environment_invalid");
    let told = report["evidence"].to_string();
    assert!(told.contains("2 of 2 calls spent"), "{told}");
    let kept = std::fs::read_to_string(place.path("short").join(ID).join("model.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
    // What was tried is told, the parser's answer too.
    let answers = place.path("short").join(ID).join("parser.attempts.json");
    let answers = std::fs::read_to_string(answers).unwrap();
    assert!(answers.contains("`rules` is missing"), "{answers}");
    assert!(!place.path("short/dataset.jsonl").exists());

    let done = made(&place, &repo, "out", 3);
    good(&done);
    assert_eq!(done.json()["model"]["calls"], 3);
    let row = row_of(&place, "out");
    assert_eq!(row["FAIL_TO_PASS"], "[\"minus\",\"negative\"]");

    // The file beside it makes the same instance without a model.
    let kept = place.path("out").join(ID).join("model.jsonl");
    std::fs::copy(kept, place.path("kept.jsonl")).unwrap();
    std::fs::write(
        place.path("atlas.toml"),
        "[model]\nreplay = \"kept.jsonl\"\n",
    )
    .unwrap();
    std::fs::remove_dir_all(place.path("cache")).unwrap();
    let args = make_args(&repo, &["--instance-id", ID]);
    let again: Vec<&str> = args
        .iter()
        .map(|arg| if *arg == "out" { "again" } else { arg })
        .collect();
    good(&place.run(&again));
    let dataset = |out: &str| std::fs::read(place.path(out).join("dataset.jsonl")).unwrap();
    assert_eq!(dataset("out"), dataset("again"));
}

#[test]
fn the_name_of_a_rows_own_parser_is_taken_by_every_command() {
    let place = Place::new();
    let repo = unplanned(&place);
    good(&made(&place, &repo, "out", 3));
    // From here on nobody is asked.
    std::fs::remove_file(place.path("atlas.toml")).unwrap();
    let row = row_of(&place, "out");
    assert_eq!(row["log_parser"], "agentic");
    let config: Value = serde_json::from_str(row["environment_config"].as_str().unwrap()).unwrap();
    assert_eq!(config["log_parser_name"], "agentic");
    assert_eq!(row["atlas"]["parser"]["id"], "made-me--house-1");
    assert_eq!(row["atlas"]["certificate"]["parser"], "made-me--house-1");

    let here = ["--engine", "local", "--trust", "--format", "json"];
    let run = |args: &[&str], more: &[&str]| place.run(&[args, more].concat());
    let dataset = "out/dataset.jsonl";
    let eval = ["eval", "--dataset", dataset, "--predictions", "gold"];
    let eval = [&eval[..], &["--run-id", "one", "--repos", &repo]].concat();
    let done = run(&eval, &here);
    good(&done);
    assert_eq!(verdict(&done.json(), "gold")["read_by"]["origin"], "row");

    let gate = ["validate", dataset, "--gates", "certificate,gold_patch"];
    let gate = [&gate[..], &["--repos", &repo, "--out", "gated"]].concat();
    good(&run(&gate, &here));

    let lint = run(&["lint", dataset], &["--format", "json"]);
    assert!(!lint.stdout().contains("log_parser"), "{}", lint.stdout());

    // The row's file stands for its parser.
    let log = format!("out/{ID}/after.log");
    for file in [format!("out/{ID}/instance.json"), dataset.to_owned()] {
        let parsed = run(&["parse", &log], &["--parser", &file, "--format", "json"]);
        good(&parsed);
        assert_eq!(parsed.json()["tests"]["negative"], "PASSED");
    }
    let unnamed = run(&["parse", &log], &["--parser", "agentic"]);
    assert_eq!(unnamed.code(), 1);
    let why = unnamed.stderr();
    assert!(why.contains("instance.json"), "{why}");

    // The log that `eval` stored is graded by the row alone, in every schema that it is written in.
    for schema in ["swebench5", "swebenchpp", "swebench4"] {
        let converted = format!("{schema}.jsonl");
        good(&run(&["convert", dataset, &converted], &["--to", schema]));
        let done = regrade(&place, &converted, "gold", &["--engine", "local"]);
        assert_eq!(
            done.code(),
            0,
            "{schema}: {}{}",
            done.stdout(),
            done.stderr()
        );
        let report = done.json();
        assert_eq!(report["resolved_ids"], json!([ID]), "{schema}");
        let read_by = &report["instances"][0]["verdict"]["read_by"];
        assert_eq!(read_by["id"], "made-me--house-1", "{schema}");
    }
    let back = run(
        &["convert", "swebenchpp.jsonl", "back.jsonl"],
        &["--to", "swebench5"],
    );
    good(&back);
    assert_eq!(
        std::fs::read_to_string(place.path("back.jsonl")).unwrap(),
        std::fs::read_to_string(place.path("swebench5.jsonl")).unwrap()
    );
}

/// A model that does not know which parser it is need not have one made.
#[test]
fn a_shipped_parser_goes_before_one_that_is_made() {
    let place = Place::new();
    let checks = "import unittest\n\n\nclass Checks(unittest.TestCase):\n    def test_it(self):\n        \
                  self.assertEqual(1, 1)\n";
    let repo = place.repository("odd", &[&[("checks.py", checks)]]);
    let plan = json!({"plan": {
        "docker_specs": {}, "pre_install": [], "build": [], "log_parser_name": "agentic",
        "test_cmd": "python3 -m unittest -v checks",
    }});
    let line = json!({"holds": "Rules found no way", "text": plan.to_string()});
    std::fs::write(place.path("turns.jsonl"), line.to_string()).unwrap();
    let repo = repo.to_str().unwrap();
    let args = ["build", "--repo", repo, "--base", "HEAD", "--out", "out"];
    let here = ["--engine", "local", "--trust", "--format", "json"];
    let asked = ["--model", "scripted:turns.jsonl"];
    let done = place.run(&[&args[..], &here, &asked].concat());
    good(&done);
    let report = done.json();
    assert_eq!(report["plan"]["log_parser_name"], "unittest");
    assert_eq!(report["base_run"]["tests"], 1);
}

#[test]
fn rows_of_others_may_say_so_too() {
    for name in ["custom", "agentic"] {
        let row =
            json!({"environment_config": {"log_parser_name": name, "log_parser_code": "code"}});
        let code = dataset_parser(row.as_object().unwrap());
        assert_eq!(code.as_deref(), Some("code"), "{name}");
    }
}

#[test]
fn a_plan_that_asks_for_a_parser_says_what_makes_one() {
    let place = Place::new();
    let repo = unplanned(&place);
    let plan = json!({
        "build": [], "test_cmd": "sh run.sh", "log_parser_name": "agentic", "language": "python",
        "base_image": "python:3.11-slim-bookworm",
    });
    std::fs::write(place.path("plan.json"), plan.to_string()).unwrap();
    std::fs::write(place.path("atlas.toml"), "[plan]\nfile = \"plan.json\"\n").unwrap();
    let done = place.run(&make_args(&repo, &["--instance-id", ID]));
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("--model"), "{}", done.stderr());
    // The parser alone is enough.
    std::fs::write(place.path("house.json"), rules().to_string()).unwrap();
    let with = ["--instance-id", ID, "--parser", "house.json"];
    good(&place.run(&make_args(&repo, &with)));
    assert_eq!(row_of(&place, "out")["log_parser"], "agentic");
}
