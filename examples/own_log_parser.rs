//! A log parser of your own, for a runner that nobody ships, under the shipped oracle.
//!
//! The runner here is called `tally` and prints
//!
//! ```text
//! tally: 3 checks
//! [1/3] sums > two and two ... good
//! [2/3] sums > zero ... bad: 3, not 4
//! [3/3] text > empty ... left out
//! tally: 1 good, 1 bad, 1 left out
//! ```
//!
//! ```text
//! cargo run -p atlas-examples --bin own_log_parser
//! ```

use atlas_core::{
    ByLine, Environment, EnvironmentPlan, FileContent, FileMode, LineState, LogParser, LogReader,
    Oracle, OracleTask, Overlay, ParsedLog, ParsedLogBuilder, Patch, Repository, RunContext,
    RunOutcome, TestStatus, Totals,
};
use atlas_docker::{BuildOutcome, Builder, LocalBuilder, LocalEngine, LocalOptions, LocalSandbox};
use atlas_oracle::StateDifferentialOracle;
use atlas_parsers::Parsers;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

const ID: &str = "tally";

/// Reads what `tally` prints.
#[derive(Clone, Copy, Debug)]
struct Tally;

impl LogParser for Tally {
    fn id(&self) -> &str {
        ID
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(ByLine::new(State {
            log: ParsedLogBuilder::new(ID),
            began: false,
            ended: false,
        }))
    }
}

/// What is known after some lines. Lines that are not the runner's own say nothing.
#[derive(Clone)]
struct State {
    log: ParsedLogBuilder,
    began: bool,
    ended: bool,
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if let Some(rest) = line.strip_prefix("tally: ") {
            self.began |= rest.ends_with(" checks");
            if let Some(totals) = totals(rest) {
                self.ended = true;
                self.log.add_totals(totals);
            }
        } else if let Some((group, name, status)) = result(&line) {
            let id = format!("{group} > {name}");
            self.log.record(group, &id, &id, status);
        }
    }

    fn finish(self) -> ParsedLog {
        let outcome = match (self.ended, self.log.recorded()) {
            (true, 1..) => RunOutcome::Completed,
            (false, 1..) => RunOutcome::Truncated,
            (false, 0) if self.began => RunOutcome::Truncated,
            (_, 0) => RunOutcome::NothingRan,
        };
        self.log.finish(outcome)
    }
}

/// `[1/3] group > name ... word`, where the last ` ... ` counts: a name may hold anything.
fn result(line: &str) -> Option<(&str, &str, TestStatus)> {
    let (number, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (nth, of) = number.split_once('/')?;
    if nth.parse::<u32>().is_err() || of.parse::<u32>().is_err() {
        return None;
    }
    let (id, word) = rest.rsplit_once(" ... ")?;
    let (group, name) = id.split_once(" > ")?;
    let status = match word.split(':').next()? {
        "good" => TestStatus::Passed,
        "bad" => TestStatus::Failed,
        "left out" => TestStatus::Skipped,
        _ => return None,
    };
    (!name.is_empty()).then_some((group, name, status))
}

/// `1 good, 1 bad, 1 left out`.
fn totals(text: &str) -> Option<Totals> {
    let mut totals = Totals::default();
    for part in text.split(", ") {
        let (count, word) = part.split_once(' ')?;
        let count = Some(count.parse().ok()?);
        match word {
            "good" => totals.passed = count,
            "bad" => totals.failed = count,
            "left out" => totals.skipped = count,
            _ => return None,
        }
    }
    Some(totals)
}

const SAMPLE: &[u8] = b"tally: 3 checks\n[1/3] sums > two and two ... good\n\
    [2/3] sums > zero ... bad: 3, not 4\n[3/3] text > empty ... left out\n\
    tally: 1 good, 1 bad, 1 left out\n";

/// The runner itself, in the repository under test.
const RUNNER: &str = r#"source ./sums.sh
good=0 bad=0 number=0 all=$(grep -c . checks.txt)
echo "tally: $all checks"
while IFS='|' read -r group name a b expected; do
  number=$((number + 1)) found=$(add "$a" "$b")
  if [ "$found" = "$expected" ]; then
    good=$((good + 1)) word=good
  else
    bad=$((bad + 1)) word="bad: $found, not $expected"
  fi
  echo "[$number/$all] $group > $name ... $word"
done <checks.txt
echo "tally: $good good, $bad bad, 0 left out"
[ "$bad" = 0 ]
"#;

fn regular(text: &str) -> FileContent {
    FileContent {
        mode: FileMode::Regular,
        bytes: text.into(),
    }
}

/// A checkout of a repository with a bug.
fn repository(checkout: &Path) -> std::io::Result<Repository> {
    fs::create_dir(checkout)?;
    fs::write(checkout.join("tally.sh"), RUNNER)?;
    fs::write(checkout.join("sums.sh"), "add() { echo $(($1 - $2)); }\n")?;
    fs::write(checkout.join("checks.txt"), "sums|zero|3|0|3\n")?;
    Ok(Repository {
        name: "example/sums".to_owned(),
        checkout: checkout.to_owned(),
        base: "0".repeat(40).parse().expect("a valid commit id"),
        base_date: "2026-01-01T00:00:00Z".to_owned(),
        head_manifests: BTreeMap::new(),
        head_tests: BTreeMap::new(),
        touched: Vec::new(),
    })
}

/// The pull request: a check that shows the bug, and its fix.
fn task() -> OracleTask {
    let check = (
        "checks.txt".to_owned(),
        regular("sums|zero|3|0|3\nsums|two and two|2|2|4\n"),
    );
    let fix = (
        "sums.sh".to_owned(),
        regular("add() { echo $(($1 + $2)); }\n"),
    );
    let overlay = |files: &[(String, FileContent)]| Overlay {
        write: files.iter().cloned().collect(),
        ..Overlay::default()
    };
    OracleTask {
        instance_id: "example__sums-1".parse().expect("a valid name"),
        test_patch: Patch::default(),
        gold_patch: Patch::default(),
        before: overlay(std::slice::from_ref(&check)),
        after: overlay(&[check, fix]),
        modified_tests: Vec::new(),
        conditions: BTreeMap::new(),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What every log parser promises; it panics with a sentence where a promise is broken.
    atlas_core::testing::log_parser_contract(&Tally, SAMPLE);
    let parsers = Parsers::builtin().with(Tally);

    let cx = RunContext::new("example");
    let folder = tempfile::tempdir()?;
    let repository = repository(&folder.path().join("checkout"))?;
    let plan = EnvironmentPlan {
        test_cmd: "bash tally.sh".to_owned(),
        log_parser_name: ID.to_owned(),
        ..EnvironmentPlan::default()
    };
    // The code is this file's own, so it may run where nothing keeps it apart.
    let options = LocalOptions {
        trust: true,
        ..LocalOptions::new(folder.path().join("work"))
    };
    let engine = LocalEngine::open(options).await?;
    let built = LocalBuilder::new(engine.clone())
        .build(&cx, &repository, &plan, "")
        .await?;
    let environment = match built {
        BuildOutcome::Built {
            image, plan, lock, ..
        } => Environment {
            plan,
            dockerfile: String::new(),
            image,
            lock,
            attempts: Vec::new(),
        },
        BuildOutcome::Failed(why) => return Err(format!("{}: {}", why.step, why.stderr).into()),
    };

    let parser = parsers.get(&environment.plan.log_parser_name)?;
    let oracle = StateDifferentialOracle::new(Arc::new(LocalSandbox::new(engine)), parser);
    let report = oracle.judge(&cx, &environment, &task()).await?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:?}: {}", report.outcome, report.reason)?;
    writeln!(out, "FAIL_TO_PASS {:?}", report.fail_to_pass)?;
    writeln!(out, "PASS_TO_PASS {:?}", report.pass_to_pass)?;
    for proof in &report.evidence {
        writeln!(out, "{}: {}", proof.source, proof.text)?;
    }
    Ok(())
}
