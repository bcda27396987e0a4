//! The loop with a model, on the local engine.

use crate::support::{Place, git};
use atlas_pipeline::core::{
    AttemptOrigin, EnvSynthesizer, Environment, Error, Job, LanguageModel, Limits, LogParserExt,
    ModelPhase, Network, Overlay, Repository, RunContext, SynthesisOutcome,
};
use atlas_pipeline::docker::{
    AnalysisOptions, RefineOptions, RefiningSynthesizer, Trial, TrialRun,
};
use atlas_pipeline::llm::{Recorded, Rule, Scripted};
use atlas_pipeline::parsers::Parsers;
use atlas_pipeline::{CheckoutTools, Config, EngineChoice, Engines, LocalConfig};
use serde_json::{Value, json};
use std::sync::Arc;

/// A program whose checks no rule takes for tests.
const ODD: &[(&str, &str)] = &[
    ("double.py", "def double(n):\n    return n + n\n"),
    (
        "checks.py",
        "import unittest\nfrom double import double\n\n\nclass Checks(unittest.TestCase):\n    \
         def test_it(self):\n        self.assertEqual(double(2), 4)\n",
    ),
];

/// Runs the plan's test command and reads it.
#[derive(Debug)]
struct ByCommand(Engines);

#[async_trait::async_trait]
impl TrialRun for ByCommand {
    async fn run(&self, cx: &RunContext, environment: &Environment) -> Result<Trial, Error> {
        let job = Job {
            label: "trial".to_owned(),
            overlay: Overlay::default(),
            files: Vec::new(),
            script: format!(
                "cd \"$ATLAS_REPO\" && {{ {}; }} 2>&1",
                environment.plan.test_cmd
            ),
            collect: Vec::new(),
            env: environment.plan.env.clone(),
            limits: Limits::default(),
            network: Network::None,
            user: atlas_core::JobUser::default(),
        };
        let result = self.0.sandbox.run(cx, environment, &job).await?;
        let parser = Parsers::builtin()
            .get(&environment.plan.log_parser_name)
            .unwrap();
        Ok(Trial {
            parsed: parser.parse(&result.output),
            log: result.output,
            exit: result.exit,
            plan: None,
        })
    }
}

fn answer(build: &str, test_cmd: &str) -> String {
    let plan = json!({
        "docker_specs": {}, "pre_install": [], "build": [build],
        "test_cmd": test_cmd, "log_parser_name": "unittest",
    });
    format!("```json\n{plan}\n```")
}

fn ask(tool: &str, arguments: &Value) -> String {
    let mut asked = arguments.clone();
    asked["tool"] = tool.into();
    format!("I look first.\n{}", json!({"ask": asked}))
}

/// Lines of a script, each answering one question.
fn script(place: &Place, turns: &[(&str, String)]) {
    let lines = turns
        .iter()
        .map(|(holds, text)| json!({"holds": holds, "text": text}).to_string());
    let lines: Vec<String> = lines.collect();
    std::fs::write(place.path("script.jsonl"), lines.join("\n")).unwrap();
}

/// `atlas build` of the last commit but one, on the local engine, by the script.
fn build<'a>(repo: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["build", "--repo", repo, "--base", "HEAD~1", "--out", out];
    args.extend(["--engine", "local", "--trust", "--format", "json"]);
    args.extend(more);
    args
}

/// The file of that name in the one folder of an output folder that holds it.
fn left(place: &Place, out: &str, name: &str) -> String {
    let entries = std::fs::read_dir(place.path(out)).unwrap().flatten();
    let mut found = entries.map(|entry| entry.path().join(name));
    let found = found.find(|path| path.exists());
    std::fs::read_to_string(found.unwrap_or_else(|| panic!("no {name} in {out}"))).unwrap()
}

async fn synthesize(place: &Place, model: Arc<dyn LanguageModel>) -> SynthesisOutcome {
    synthesize_in(place, ODD, model).await
}

async fn synthesize_in(
    place: &Place,
    files: &[(&str, &str)],
    model: Arc<dyn LanguageModel>,
) -> SynthesisOutcome {
    let checkout = place.repository("odd", &[files]);
    let config = Config {
        local: LocalConfig {
            root: Some(place.path("cache/atlas")),
            trust: true,
            ..LocalConfig::default()
        },
        ..Config::default()
    };
    let engines = Engines::open(EngineChoice::Local, &config, true)
        .await
        .unwrap();
    let synthesizer = RefiningSynthesizer {
        builder: Arc::clone(&engines.builder),
        sandbox: Arc::clone(&engines.sandbox),
        trial: Some(Arc::new(ByCommand(engines))),
        options: AnalysisOptions {
            known_parsers: vec!["unittest".to_owned()],
            ..AnalysisOptions::default()
        },
        refine: RefineOptions::default(),
        model: Some(model),
        tools: Some(Arc::new(CheckoutTools)),
    };
    let base = git(&checkout, &["rev-parse", "HEAD"]);
    let repository = Repository {
        name: "me/odd".to_owned(),
        checkout,
        base: base.parse().unwrap(),
        base_date: "2025-01-01T00:00:00Z".to_owned(),
        head_manifests: std::collections::BTreeMap::new(),
        head_tests: std::collections::BTreeMap::new(),
        touched: Vec::new(),
    };
    let cx = RunContext::new("test");
    synthesizer.synthesize(&cx, &repository).await.unwrap()
}

#[tokio::test]
async fn a_model_plans_recovers_from_errors_and_mends_the_test_run() {
    let place = Place::new();
    let good = "python3 -m unittest -v checks";
    let model = Arc::new(Scripted::new([
        Rule::text("Rules found no way", "I cannot say."),
        Rule::text(
            "holds no JSON object",
            answer("echo wrong-step >&2; exit 3", good),
        ),
        Rule::text(
            "wrong-step",
            answer("true", "python3 -m unittest -v elsewhere"),
        ),
        Rule::text("the tests cannot run in it", answer("true", good)),
    ]));
    let file = place.path("exchanges.jsonl");
    let recorded = Recorded::new(Arc::clone(&model), &file).unwrap();
    let SynthesisOutcome::Ready { environment } = synthesize(&place, Arc::new(recorded)).await
    else {
        panic!("no environment");
    };
    assert!(model.unused().is_empty(), "{:?}", model.unused());
    let phases: Vec<_> = environment
        .attempts
        .iter()
        .map(|attempt| match &attempt.origin {
            AttemptOrigin::Model {
                phase, correction, ..
            } => (*phase, *correction, attempt.failure.is_some()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        phases,
        [
            (ModelPhase::Plan, 2, true),
            (ModelPhase::ErrorRecovery, 1, true),
            (ModelPhase::TestRun, 1, false),
        ]
    );
    assert_eq!(environment.plan.test_cmd, good);
    let recording = std::fs::read_to_string(file).unwrap();
    assert_eq!(recording.lines().count(), 4);
}

#[tokio::test]
async fn a_model_gets_five_corrections_in_each_phase_and_no_more() {
    let place = Place::new();
    let plans = (0..6).map(|at| Rule::text("", answer(&format!("exit {}", at + 1), "true")));
    let model = Arc::new(Scripted::new(plans));
    let outcome = synthesize(&place, Arc::<Scripted>::clone(&model)).await;
    let SynthesisOutcome::NotBuildable {
        attempts, reason, ..
    } = outcome
    else {
        panic!("an environment");
    };
    // One plan and five corrections of it.
    assert_eq!(attempts.len(), 6);
    assert!(model.unused().is_empty());
    assert!(reason.contains("exit 6"), "{reason}");
    let codes: Vec<_> = attempts
        .iter()
        .map(|attempt| attempt.failure.as_ref().unwrap().exit_code)
        .collect();
    assert_eq!(codes, (1..=6).map(Some).collect::<Vec<_>>());
}

#[test]
fn a_recording_that_cannot_answer_is_an_error_of_the_configuration() {
    let place = Place::new();
    let repo = place.repository("odd", &[ODD]);
    let repo = repo.to_str().unwrap();
    std::fs::write(place.path("empty.jsonl"), "").unwrap();
    std::fs::write(
        place.path("atlas.toml"),
        "[model]\nreplay = \"empty.jsonl\"\n",
    )
    .unwrap();
    let mut args = vec!["build", "--repo", repo, "--base", "HEAD", "--out", "out"];
    args.extend(["--engine", "local", "--trust"]);
    let done = place.run(&args);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("holds no exchange"),
        "{}",
        done.stderr()
    );
}

#[test]
fn a_model_named_on_the_command_line_mends_a_plan() {
    let place = Place::new();
    let repo = place.repository("odd", &[ODD]);
    let good = "python3 -m unittest -v checks";
    let script = [
        json!({"holds": "Rules found no way", "text": answer("echo wrong-step >&2; exit 3", good)}),
        json!({"holds": "wrong-step", "text": answer("true", good)}),
    ];
    let script = script.map(|line| format!("{line}\n")).concat();
    std::fs::write(place.path("script.jsonl"), script).unwrap();
    let mut args = vec!["build", "--repo", repo.to_str().unwrap(), "--base", "HEAD"];
    args.extend(["--out", "out", "--engine", "local", "--trust"]);
    args.extend(["--format", "json"]);
    // Rules alone find no way.
    assert_eq!(place.run(&args).code(), 3);
    args.extend(["--model", "scripted:script.jsonl"]);
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert!(done.stdout().contains(good), "{}", done.stdout());
}

/// What the build needs stands in a file that no question shows.
const HIDDEN: &[(&str, &str)] = &[
    ("prepare.sh", "[ \"$1\" = --stage-nine ]\n"),
    ("tools/notes/HOWTO", "Run: sh prepare.sh --stage-nine\n"),
];

const LATER: &[(&str, &str)] = &[("later.txt", "the solution\n")];

/// A conversation in which the model looks at the repository, and where it must not.
fn looking(later: &str) -> Vec<(&'static str, String)> {
    let good = "python3 -m unittest -v checks";
    let read = |path: &str| ask("read", &json!({"path": path}));
    vec![
        ("Rules found no way", answer("sh prepare.sh", good)),
        ("does not build", read("../secret")),
        ("`..` leads out of what may be read", read("/etc/passwd")),
        ("relative to the repository's root", read(".git/config")),
        ("git's own files", ask("clone", &json!({"base": later}))),
        ("only its base commit", read("later.txt")),
        ("no such file", ask("history", &json!({}))),
        (
            "commit 0",
            ask("search", &json!({"pattern": "prepare\\.sh", "glob": null})),
        ),
        ("tools/notes/HOWTO", ask("read", &json!({"file": "x"}))),
        ("unknown field `file`", read("tools/notes/HOWTO")),
        (
            "--stage-nine",
            answer(
                "sh prepare.sh --stage-nine",
                "python3 -m unittest -v elsewhere",
            ),
        ),
        (
            "the tests cannot run in it",
            answer("sh prepare.sh --stage-nine", good),
        ),
    ]
}

#[test]
fn a_model_looks_at_the_repository_before_it_mends_and_its_conversation_can_be_replayed() {
    let place = Place::new();
    let repo = place.repository("odd", &[&[ODD, HIDDEN].concat(), LATER]);
    let later = git(&repo, &["rev-parse", "HEAD"]);
    let repo = repo.to_str().unwrap();
    script(&place, &looking(&later));
    let done = place.run(&build(repo, "out", &["--model", "scripted:script.jsonl"]));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["attempts"], 3);
    assert_eq!(report["model"]["calls"], 12, "{report:#}");
    assert!(report["model"]["seconds"].is_number());
    let attempts: Value = serde_json::from_str(&left(&place, "out", "attempts.json")).unwrap();
    // Questions are no corrections.
    let origin = &attempts[1]["origin"];
    assert_eq!(
        (
            &origin["correction"],
            &origin["questions"],
            &origin["phase"]
        ),
        (&json!(1), &json!(9), &json!("error_recovery"))
    );
    assert!(attempts[2]["origin"].get("questions").is_none());

    // Every request and answer in order, with what the tools said; nothing of what they refuse.
    let conversation = left(&place, "out", "model.jsonl");
    let lines: Vec<Value> = conversation
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 12);
    let messages = lines[10]["request"]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2 + 2 * 9);
    let text = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(text.starts_with("read says:\n{"), "{text}");
    assert!(!conversation.contains("the solution"));
    assert!(!conversation.contains("[core]"));

    // The same again with nobody to ask, after everything that was built is gone.
    std::fs::remove_dir_all(place.path("cache")).unwrap();
    std::fs::rename(
        place
            .path(&format!("out/{}", folder(&place, "out")))
            .join("model.jsonl"),
        place.path("kept.jsonl"),
    )
    .unwrap();
    std::fs::write(
        place.path("atlas.toml"),
        "[model]\nreplay = \"kept.jsonl\"\n",
    )
    .unwrap();
    let again = place.run(&build(repo, "again", &[]));
    assert_eq!(again.code(), 0, "{}{}", again.stdout(), again.stderr());
    assert_eq!(
        left(&place, "out", "plan.json"),
        left(&place, "again", "plan.json")
    );
    assert_eq!(left(&place, "again", "model.jsonl").lines().count(), 12);
}

/// The one instance in an output folder.
fn folder(place: &Place, out: &str) -> String {
    let entries = std::fs::read_dir(place.path(out)).unwrap().flatten();
    let found = entries.filter(|entry| entry.path().join("build.json").exists());
    let names: Vec<_> = found
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names[0].clone()
}

#[test]
fn a_budget_that_ends_in_a_conversation_is_a_verdict_and_what_was_answered_is_not_asked_again() {
    let place = Place::new();
    let repo = place.repository("odd", &[&[ODD, HIDDEN].concat(), LATER]);
    let later = git(&repo, &["rev-parse", "HEAD"]);
    let repo = repo.to_str().unwrap();
    script(&place, &looking(&later));
    let config = |calls: u32| {
        let text = format!("[model]\nname = \"scripted:script.jsonl\"\ncalls = {calls}\n");
        std::fs::write(place.path("atlas.toml"), text).unwrap();
    };
    let text = "[model]\nname = \"scripted:script.jsonl\"\nseconds = 0.0\n";
    std::fs::write(place.path("atlas.toml"), text).unwrap();
    let done = place.run(&build(repo, "late", &[]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    assert_eq!(report["model"]["calls"], 0);
    let told = report["evidence"].to_string();
    assert!(told.contains("0 of 0 seconds spent"), "{told}");

    config(5);
    let done = place.run(&build(repo, "out", &[]));
    assert_eq!(done.code(), 3, "{}{}", done.stdout(), done.stderr());
    let report = done.json();
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("exit code 1"), "what is wrong: {reason}");
    assert!(reason.contains("not corrected"), "{reason}");
    let told = report["evidence"].to_string();
    assert!(told.contains("5 of 5 calls spent"), "{told}");
    assert_eq!(report["model"]["calls"], 5);
    // What was tried is there: the plan, and the conversation up to the end.
    assert_eq!(report["attempts"], 1);
    assert!(left(&place, "out", "attempts.json").contains("sh prepare.sh"));
    assert_eq!(left(&place, "out", "model.jsonl").lines().count(), 5);
    assert!(!left(&place, "out", "plan.json").contains("--stage-nine"));

    // With more, it goes on: the script has no second answer to what was answered before.
    let rest: Vec<_> = looking(&later).split_off(5);
    script(&place, &rest);
    config(7);
    let done = place.run(&build(repo, "out", &[]));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(done.json()["model"]["calls"], 7);
    assert_eq!(left(&place, "out", "model.jsonl").lines().count(), 12);
}

#[tokio::test]
async fn questions_are_bounded_in_number_and_answers_in_size() {
    let place = Place::new();
    let good = "python3 -m unittest -v checks";
    let mut turns: Vec<Rule> = (0..20)
        .map(|at| {
            let holds = if at == 0 {
                "Rules found no way"
            } else {
                "says:"
            };
            Rule::text(holds, ask("read", &json!({"path": "long.txt"})))
        })
        .collect();
    // The twenty-first is not answered, and who asks once more has given no plan.
    turns.push(Rule::text("… cut after 16384 of", ask("list", &json!({}))));
    turns.push(Rule::text("No more questions", ask("list", &json!({}))));
    turns.push(Rule::text("it is a question", answer("true", good)));
    let model = Arc::new(Scripted::new(turns));
    let long = "a line of some length\n".repeat(2_000);
    let files = [ODD, &[("long.txt", long.as_str())]].concat();
    let outcome = synthesize_in(&place, &files, Arc::<Scripted>::clone(&model)).await;
    let SynthesisOutcome::Ready { environment } = outcome else {
        panic!("no environment");
    };
    assert!(model.unused().is_empty(), "{:?}", model.unused());
    let AttemptOrigin::Model {
        correction,
        questions,
        ..
    } = environment.attempts[0].origin
    else {
        panic!("{:?}", environment.attempts[0].origin);
    };
    assert_eq!((correction, questions), (2, 0));
}
