//! A judge of your own beside the shipped ones, and a stage of your own in the shipped chain.
//!
//! `SmallEnough` is a judge without a model: it distrusts patches that change many lines. `NoLeftovers` is a
//! stage of patch validation: it rejects patches that add debugging output. `Together` is a judge made of
//! others: it accepts what all of them accept. The model here is scripted, so that nothing is asked of anyone;
//! put `atlas_llm::open_model("openai:…")` in its place.
//!
//! ```text
//! cargo run -p atlas-examples --bin own_judge
//! ```

use async_trait::async_trait;
use atlas_core::{
    Confidence, ConfidenceSource, Error, ErrorKind, Evidence, Instance, Judge, Judgement, Patch,
    RunContext, Subject,
};
use atlas_judge::critic::{Critic, CriticMode, CriticOptions};
use atlas_judge::validation::{
    LastTestCommand, PatchForm, PatchStage, PatchValidation, StageOutcome, StageReport,
    ValidationSubject,
};
use atlas_llm::{Rule, Scripted};
use serde_json::{Map, json};
use std::io::Write as _;

/// Labels: `accept`, `reject`. Details: `lines`.
#[derive(Clone, Copy, Debug)]
struct SmallEnough {
    most: usize,
}

/// The lines that a patch adds, with their places in it.
fn added(patch: &Patch) -> Vec<(usize, String)> {
    let text = String::from_utf8_lossy(patch.as_bytes()).into_owned();
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| line.starts_with('+') && !line.starts_with("+++ "))
        .map(|(at, line)| (at + 1, line[1..].to_owned()))
        .collect()
}

#[async_trait]
impl Judge for SmallEnough {
    fn id(&self) -> &'static str {
        "small-enough"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        cx.check("count lines")?;
        let patch = subject.patch.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::InvalidInput, "count lines:", "there is no patch")
        })?;
        let lines = added(patch).len();
        let accepts = lines <= self.most;
        let mut details = Map::new();
        details.insert("lines".to_owned(), json!(lines));
        Ok(Judgement {
            label: if accepts { "accept" } else { "reject" }.to_owned(),
            // A rule is sure of itself, and says that it is one.
            confidence: Confidence {
                value: Some(1.0),
                source: ConfidenceSource::Rule,
            },
            reasoning: format!("{lines} lines are added, {} may be", self.most),
            evidence: Vec::new(),
            details,
        })
    }
}

/// Rejects patches that print.
#[derive(Clone, Copy, Debug)]
struct NoLeftovers;

#[async_trait]
impl PatchStage for NoLeftovers {
    fn id(&self) -> &'static str {
        "no-leftovers"
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    async fn look(
        &self,
        _cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error> {
        let found = added(&subject.patch);
        if found.is_empty() {
            let nothing = StageOutcome::NoEvidence;
            return Ok(StageReport::new(self.id(), nothing, "nothing is added"));
        }
        let print = found.iter().find(|(_, line)| line.contains("print("));
        let Some((at, line)) = print else {
            let passed = StageOutcome::Passed;
            return Ok(StageReport::new(self.id(), passed, "nothing is printed"));
        };
        let rejected = StageOutcome::Rejected;
        let mut report = StageReport::new(self.id(), rejected, "the patch prints");
        report
            .evidence
            .push(Evidence::at("patch", *at, line.trim()));
        Ok(report)
    }
}

/// Accepts what every judge accepts; a critic's `pass` is as good. Labels: `accept`, `reject`.
#[derive(Debug)]
struct Together(Vec<Box<dyn Judge>>);

#[async_trait]
impl Judge for Together {
    fn id(&self) -> &'static str {
        "together"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let mut last = None;
        for judge in &self.0 {
            let mut judgement = judge.judge(cx, subject).await?;
            let accepts = matches!(judgement.label.as_str(), "accept" | "pass");
            let label = if accepts { "accept" } else { "reject" };
            label.clone_into(&mut judgement.label);
            judgement.reasoning = format!("{}: {}", judge.id(), judgement.reasoning);
            if !accepts {
                return Ok(judgement);
            }
            last = Some(judgement);
        }
        last.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "judge together:", "no judge"))
    }
}

const GOOD: &str = "--- a/sums.py\n+++ b/sums.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n";
const PRINTS: &str = "--- a/sums.py\n+++ b/sums.py\n@@ -1,2 +1,3 @@\n def add(a, b):\n-    return a - b\n+    print(a, b)\n+    return a + b\n";
const LONG: &str = "--- a/sums.py\n+++ b/sums.py\n@@ -1,2 +1,5 @@\n def add(a, b):\n-    return a - b\n+    c = a\n+    d = b\n+    c += d\n+    return c\n";
const WRONG: &str = "--- a/sums.py\n+++ b/sums.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a * b\n";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answer = |verdict: &str| {
        json!({"reasoning": "it adds or not", "verdict": verdict, "confidence": 90}).to_string()
    };
    let model = Scripted::new([
        Rule::text("a + b", answer("pass")),
        Rule::text("a * b", answer("fail")),
    ]);
    let critic = CriticOptions {
        mode: CriticMode::Problem,
        ..CriticOptions::default()
    };
    // The cheapest word first: each later one is asked only about what is left.
    let judge = Together(vec![
        Box::new(SmallEnough { most: 3 }),
        Box::new(PatchValidation::new(vec![
            Box::new(PatchForm),
            Box::new(NoLeftovers),
            Box::new(LastTestCommand::default()),
        ])),
        Box::new(Critic::new(model, critic)),
    ]);
    let instance: Instance = json!({
        "instance_id": "example__sums-1",
        "problem_statement": "add() subtracts\n\nadd(2, 2) gives 0.",
    })
    .to_string()
    .parse()?;
    let cx = RunContext::new("example");
    let mut out = std::io::stdout().lock();
    for (name, patch) in [
        ("good", GOOD),
        ("prints", PRINTS),
        ("long", LONG),
        ("wrong", WRONG),
    ] {
        let subject = Subject {
            instance: instance.clone(),
            patch: Some(Patch::new(patch)),
            attachments: Map::new(),
        };
        let judgement = judge.judge(&cx, &subject).await?;
        writeln!(out, "{name}: {}, {}", judgement.label, judgement.reasoning)?;
        for proof in &judgement.evidence {
            writeln!(out, "    {}: {}", proof.source, proof.text)?;
        }
    }
    Ok(())
}
