//! A quality gate of your own in one chain with shipped ones.
//!
//! `FewChanges` rejects instances whose solution changes more lines than a benchmark of small tasks wants. It
//! stands between `GoldPatch` (the solution must resolve the instance) and `NullPatch` (nothing must not), which
//! really run the tests of a small repository.
//!
//! ```text
//! cargo run -p atlas-examples --bin own_gate
//! ```

use async_trait::async_trait;
use atlas_core::{
    Candidate, Decision, Environment, EnvironmentPlan, Error, Evidence, FileContent, FileMode,
    Finding, Instance, Oracle, OracleTask, Overlay, Patch, Repository, RunContext, Severity,
    Validator, Verdict,
};
use atlas_docker::{BuildOutcome, Builder, LocalBuilder, LocalEngine, LocalOptions, LocalSandbox};
use atlas_oracle::{Evaluator, GoldPatch, NullPatch, StateDifferentialOracle};
use atlas_parsers::Parsers;
use atlas_source::FolderApplier;
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Accepts solutions of few changed lines. Findings: `too_many_changes`. Measurements: `changed_lines`.
#[derive(Clone, Copy, Debug)]
struct FewChanges {
    most: usize,
}

#[async_trait]
impl Validator for FewChanges {
    fn id(&self) -> &'static str {
        "few_changes"
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        cx.check("count changed lines")?;
        let gold = String::from_utf8_lossy(candidate.task.gold_patch.as_bytes()).into_owned();
        let changed: Vec<&str> = gold
            .lines()
            .filter(|line| line.starts_with(['+', '-']))
            .filter(|line| !line.starts_with("+++ ") && !line.starts_with("--- "))
            .collect();
        let mut verdict = Verdict {
            validator: self.id().to_owned(),
            decision: Decision::Accept,
            findings: Vec::new(),
            quarantine: BTreeMap::new(),
            measurements: Map::new(),
        };
        let count = json!(changed.len());
        verdict
            .measurements
            .insert("changed_lines".to_owned(), count);
        if changed.is_empty() {
            verdict.decision = Decision::NoEvidence;
        } else if changed.len() > self.most {
            verdict.decision = Decision::Reject;
            // A rejection comes with what it rests on.
            verdict.findings.push(Finding {
                code: "too_many_changes".to_owned(),
                severity: Severity::Fatal,
                message: format!("{} lines change, {} may", changed.len(), self.most),
                evidence: vec![Evidence::of("gold patch", changed[self.most])],
            });
        }
        Ok(verdict)
    }
}

/// A runner that prints the Test Anything Protocol.
const RUNNER: &str = r#"source ./sums.sh
number=0
while IFS='|' read -r name a b expected; do
  number=$((number + 1))
  if [ "$(add "$a" "$b")" = "$expected" ]; then echo "ok $number - $name"; else echo "not ok $number - $name"; fi
done <checks.txt
echo "1..$number"
"#;
const BUG: &str = "add() { echo $(($1 - $2)); }\n";
const FIXED: &str = "add() { echo $(($1 + $2)); }\n";
const CHECKS: &str = "zero|3|0|3\n";
const MORE_CHECKS: &str = "zero|3|0|3\ntwo and two|2|2|4\n";
const GOLD: &str = "diff --git a/sums.sh b/sums.sh\n--- a/sums.sh\n+++ b/sums.sh\n@@ -1 +1 @@\n-add() { echo $(($1 - $2)); }\n+add() { echo $(($1 + $2)); }\n";
const TESTS: &str = "diff --git a/checks.txt b/checks.txt\n--- a/checks.txt\n+++ b/checks.txt\n@@ -1 +1,2 @@\n zero|3|0|3\n+two and two|2|2|4\n";

fn file(path: &str, text: &str) -> (String, FileContent) {
    let content = FileContent {
        mode: FileMode::Regular,
        bytes: text.into(),
    };
    (path.to_owned(), content)
}

fn overlay(files: &[(String, FileContent)]) -> Overlay {
    Overlay {
        write: files.iter().cloned().collect(),
        ..Overlay::default()
    }
}

fn task() -> OracleTask {
    let checks = file("checks.txt", MORE_CHECKS);
    let fix = file("sums.sh", FIXED);
    OracleTask {
        instance_id: "example__sums-1".parse().expect("a valid name"),
        test_patch: Patch::new(TESTS),
        gold_patch: Patch::new(GOLD),
        before: overlay(std::slice::from_ref(&checks)),
        after: overlay(&[checks, fix]),
        modified_tests: Vec::new(),
        conditions: BTreeMap::new(),
    }
}

/// A prepared folder with the repository as it is at the base commit.
async fn environment(
    cx: &RunContext,
    engine: &LocalEngine,
    checkout: &Path,
    base: &BTreeMap<String, FileContent>,
) -> Result<Environment, Box<dyn std::error::Error>> {
    fs::create_dir(checkout)?;
    for (path, content) in base {
        fs::write(checkout.join(path), &content.bytes)?;
    }
    let repository = Repository {
        name: "example/sums".to_owned(),
        checkout: checkout.to_owned(),
        base: "0".repeat(40).parse()?,
        base_date: "2026-01-01T00:00:00Z".to_owned(),
        head_manifests: BTreeMap::new(),
        head_tests: BTreeMap::new(),
        touched: Vec::new(),
    };
    let plan = EnvironmentPlan {
        test_cmd: "bash run.sh".to_owned(),
        log_parser_name: "tap".to_owned(),
        ..EnvironmentPlan::default()
    };
    let builder = LocalBuilder::new(engine.clone());
    match builder.build(cx, &repository, &plan, "").await? {
        BuildOutcome::Built {
            image, plan, lock, ..
        } => Ok(Environment {
            plan,
            dockerfile: String::new(),
            image,
            lock,
            attempts: Vec::new(),
        }),
        BuildOutcome::Failed(why) => Err(format!("{}: {}", why.step, why.stderr).into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cx = RunContext::new("example");
    let folder = tempfile::tempdir()?;
    // The code is this file's own, so it may run where nothing keeps it apart.
    let options = LocalOptions {
        trust: true,
        ..LocalOptions::new(folder.path().join("work"))
    };
    let engine = LocalEngine::open(options).await?;
    let base = BTreeMap::from([
        file("run.sh", RUNNER),
        file("sums.sh", BUG),
        file("checks.txt", CHECKS),
    ]);
    let checkout = folder.path().join("checkout");
    let environment = environment(&cx, &engine, &checkout, &base).await?;
    let parser = Parsers::builtin().get("tap")?;
    let oracle = StateDifferentialOracle::new(Arc::new(LocalSandbox::new(engine)), parser);
    let report = oracle.judge(&cx, &environment, &task()).await?;
    let row = json!({
        "instance_id": "example__sums-1",
        "FAIL_TO_PASS": report.fail_to_pass,
        "PASS_TO_PASS": report.pass_to_pass,
    });
    let candidate = Candidate {
        instance: row.to_string().parse::<Instance>()?,
        environment,
        task: task(),
        oracle: report,
    };

    let evaluator = Evaluator::new(oracle, Arc::new(FolderApplier::new(base)));
    let mut out = std::io::stdout().lock();
    for most in [10, 1] {
        let chain: [Box<dyn Validator>; 3] = [
            Box::new(GoldPatch::new(evaluator.clone())),
            Box::new(FewChanges { most }),
            Box::new(NullPatch::new(evaluator.clone(), 1)),
        ];
        writeln!(out, "at most {most} changed lines")?;
        for gate in &chain {
            let verdict = gate.validate(&cx, &candidate).await?;
            writeln!(out, "  {}: {:?}", verdict.validator, verdict.decision)?;
            for finding in &verdict.findings {
                writeln!(out, "    {}: {}", finding.code, finding.message)?;
            }
            // As `atlas validate` does: the first gate that rejects ends the way.
            if verdict.decision == Decision::Reject {
                break;
            }
        }
    }
    Ok(())
}
