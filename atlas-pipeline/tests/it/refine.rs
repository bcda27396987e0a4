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
use atlas_pipeline::{Config, EngineChoice, Engines, LocalConfig};
use serde_json::json;
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

async fn synthesize(place: &Place, model: Arc<dyn LanguageModel>) -> SynthesisOutcome {
    let checkout = place.repository("odd", &[ODD]);
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
    let SynthesisOutcome::Ready(environment) = synthesize(&place, Arc::new(recorded)).await else {
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
