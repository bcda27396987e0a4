//! Parts that a program brings in the place of Atlas's own.

use crate::eval_support::made_here;
use crate::support::Place;
use async_trait::async_trait;
use atlas_core::{
    Candidate, Decision, Error, LogParser, LogReader, ParsedLog, RunContext, Sandbox, Validator,
    Verdict,
};
use atlas_parsers::Parsers;
use atlas_pipeline::{
    CallersParser, Config, EngineChoice, EvalOptions, EvalOutcome, GateOptions, LocalConfig,
    ParserOrigin, Parts, PredictionSource, ValidateOptions, evaluate, validate,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A shipped parser by another name.
#[derive(Debug)]
struct Mine(Arc<dyn LogParser>);

struct Signed(Box<dyn LogReader>);

impl LogParser for Mine {
    fn id(&self) -> &'static str {
        "mine"
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(Signed(self.0.start()))
    }
}

impl LogReader for Signed {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        let mut log = self.0.finish();
        "mine".clone_into(&mut log.parser);
        log
    }
}

/// Accepts whatever it is shown, and counts.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<AtomicU32>);

#[async_trait]
impl Validator for Counting {
    fn id(&self) -> &'static str {
        "counting"
    }

    async fn validate(&self, _: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        assert_eq!(candidate.environment.plan.log_parser_name, "mine");
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Verdict {
            validator: self.id().to_owned(),
            decision: Decision::Accept,
            findings: Vec::new(),
            quarantine: std::collections::BTreeMap::new(),
            measurements: serde_json::Map::new(),
        })
    }
}

#[derive(Debug)]
struct Own(Counting);

impl Parts for Own {
    fn parser(&self) -> Option<CallersParser> {
        let parser = Parsers::builtin().get("unittest").unwrap();
        Some(CallersParser::new(Arc::new(Mine(parser)), "1"))
    }

    fn validators(&self, _: &Arc<dyn Sandbox>) -> Vec<Arc<dyn Validator>> {
        vec![Arc::new(self.0.clone())]
    }
}

#[tokio::test]
async fn a_program_reads_and_gates_with_parts_of_its_own() {
    let place = Place::new();
    made_here(&place, 0.0);
    let dataset = place.path("out/dataset.jsonl");
    let config = Config {
        local: LocalConfig {
            root: Some(place.path("cache/atlas")),
            ..LocalConfig::default()
        },
        ..Config::default()
    };
    let counting = Counting::default();
    let parts: Option<Arc<dyn Parts>> = Some(Arc::new(Own(counting.clone())));
    let cx = RunContext::new("parts");
    let options = EvalOptions {
        engine: EngineChoice::Local,
        trust: true,
        out: place.path("runs"),
        results: Some(place.path("results")),
        config: config.clone(),
        parts: parts.clone(),
        ..EvalOptions::new(&dataset, PredictionSource::Gold, "own")
    };
    let report = evaluate(&cx, &options).await.unwrap();
    let verdict = &report.verdicts[0];
    assert!(verdict.resolved, "{verdict:?}");
    assert_eq!(verdict.outcome, EvalOutcome::Graded);
    let by = verdict.read_by.as_ref().unwrap();
    assert_eq!((by.id.as_str(), by.origin), ("mine", ParserOrigin::Caller));
    let other = CallersParser::new(
        Arc::new(Mine(Parsers::builtin().get("unittest").unwrap())),
        "2",
    );
    assert_ne!(by.hash, other.hash, "versions are told apart");

    let options = ValidateOptions {
        gates: GateOptions {
            gates: vec!["gold_patch".to_owned()],
            ..GateOptions::default()
        },
        engine: EngineChoice::Local,
        trust: true,
        config,
        out: Some(place.path("validated")),
        repos: Some(place.path("repo")),
        parts,
        ..ValidateOptions::new(&dataset)
    };
    let report = validate(&cx, &options).await.unwrap();
    assert_eq!(report.accepted, 1, "{report:?}");
    assert_eq!(counting.0.load(Ordering::Relaxed), 1);
    let gates = report.instances[0].verdicts.iter();
    let gates: Vec<_> = gates.map(|verdict| verdict.validator.as_str()).collect();
    assert_eq!(gates, ["gold_patch", "counting"]);
}
