//! Base and After must be test runs, and whole ones: what fails in them is a test, not the environment.

use super::{Draft, Gate, last_words, no_settings};
use crate::{StateDifferentialOracle, StateRun, Variation};
use async_trait::async_trait;
use atlas_core::{
    Candidate, Decision, Error, Evidence, ExitState, LostModule, Overlay, RunContext, RunOutcome,
    Severity, Validator, Verdict,
};
use regex::Regex;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

const ID: &str = "test_run";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: true,
    settings: no_settings,
    make: |parts| {
        let oracle = parts.evaluator.oracle().clone();
        Box::new(TestRun::new(oracle, Arc::clone(&parts.counter)))
    },
};

/// How far the number of tests that a log names may be from the number that the sources declare: a
/// parametrised test is one in the sources, and not every suite of a repository is run.
const FEWEST: u64 = 4;
const MOST: u64 = 100;
/// Below so many declared tests their number says nothing.
const ENOUGH: u64 = 20;

/// Looks at the runs of Base and After as paper 001's test execution validator does (appendix A.3): did the
/// runner start and come to its end, are tests named, did the intended ones run, and is what failed a
/// test rather than the environment?
///
/// Failing and skipped tests show a working environment. Rejects a run that did not start or not end, that
/// names no test, whose runner counts other tests than the log names, in which a listed test did not run, or most
/// modules were lost for what the environment lacks. Fewer lost modules, and numbers of tests that do not
/// fit the sources, are warnings. The measurement `answer` has the fields of the paper's. Findings:
/// `not_started`, `not_completed`, `no_test_names`, `totals_differ`, `not_in_scope`, `modules_lost`,
/// `environment_lacks`, `implausible_number`.
#[derive(Clone, Debug)]
pub struct TestRun {
    oracle: StateDifferentialOracle,
    counter: Arc<dyn TestCounter>,
}

/// Counts the tests that the sources of a state declare: how many a log should name.
#[async_trait]
pub trait TestCounter: Debug + Send + Sync {
    /// The number of tests in the repository's sources with these files over them; `None` where it is not known.
    ///
    /// # Errors
    /// Whatever keeps it from reading the sources.
    ///
    /// # Cancellation
    /// [`ErrorKind::Cancelled`](atlas_core::ErrorKind::Cancelled) once `cx.cancel` is raised.
    async fn declared(&self, cx: &RunContext, over: &Overlay) -> Result<Option<u64>, Error>;
}

/// A number that is known already.
#[async_trait]
impl TestCounter for Option<u64> {
    async fn declared(&self, _: &RunContext, _: &Overlay) -> Result<Option<u64>, Error> {
        Ok(*self)
    }
}

impl TestRun {
    /// The gate for instances of this oracle, with what counts the tests that After's sources declare.
    pub fn new(oracle: StateDifferentialOracle, counter: Arc<dyn TestCounter>) -> Self {
        Self { oracle, counter }
    }
}

/// What the environment lacks, as the loaders of the field say it.
static LACKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x) ImportError | ModuleNotFoundError | No\ module\ named | Cannot\ find\ (?:module|package)
        | cannot\ load\ such\ file | error\ while\ loading\ shared\ libraries | cannot\ open\ shared\ object\ file
        | command\ not\ found | fatal\ error:\ \S+:\ No\ such\ file | package\ \S+\ does\ not\ exist | no\ required\ module\ provides
        | could\ not\ find\ `\w | unresolved\ import",
    )
    .expect("the pattern is tested")
});

/// Whether the number of tests that a run named does not fit the sources, in words.
///
/// ```
/// use atlas_oracle::implausible_number;
/// assert!(implausible_number(3, 400).is_some());
/// assert!(implausible_number(4000, 400).is_none(), "parametrised");
/// ```
pub fn implausible_number(named: u64, declared: u64) -> Option<String> {
    let far = if named.saturating_mul(FEWEST) < declared {
        "far fewer"
    } else if named > declared.saturating_mul(MOST) {
        "far more"
    } else {
        return None;
    };
    (declared >= ENOUGH && named > 0).then(|| {
        format!("the log names {named} tests, {far} than the {declared} that the sources declare")
    })
}

#[async_trait]
impl Validator for TestRun {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        let base = Overlay::default();
        let mut details = Details::default();
        let declared = self.counter.declared(cx, &candidate.task.after).await?;
        for (label, files) in [("Base", &base), ("After", &candidate.task.after)] {
            let files = (&candidate.task.instance_id, files);
            let environment = &candidate.environment;
            let run = self
                .oracle
                .run(cx, environment, files, label, &Variation::plain(0))
                .await?;
            if run.is_unfinished() {
                draft.measure("unfinished_runs", 1);
            }
            let listed = (label == "After").then_some(&candidate.oracle);
            let wanted: BTreeSet<&str> = listed
                .into_iter()
                .flat_map(|report| report.fail_to_pass.iter().chain(&report.pass_to_pass))
                .map(String::as_str)
                .collect();
            look(&mut draft, &mut details, (label, &run), &wanted);
            let named = run.parsed.tests().len() as u64;
            draft.measure(&format!("tests_{}", label.to_lowercase()), named);
            let declared = declared.filter(|_| label == "After");
            if let Some(text) = declared.and_then(|declared| implausible_number(named, declared)) {
                draft.find("implausible_number", Severity::Warning, text, Vec::new());
            }
        }
        if let Some(declared) = declared {
            draft.measure("tests_in_sources", declared);
        }
        let fatal = draft
            .verdict
            .findings
            .iter()
            .find(|finding| finding.severity == Severity::Fatal);
        let trace: Vec<&str> = fatal
            .into_iter()
            .flat_map(|finding| &finding.evidence)
            .map(|line| line.text.as_str())
            .collect();
        let answer = json!({
            "success": fatal.is_none(),
            "reason": fatal.map_or("", |finding| finding.message.as_str()),
            "error_message": trace.join("\n"),
            "details": {
                "testCommandExecuted": !details.not_started,
                "testNamesPrinted": !details.unnamed,
                "allTestsRan": !details.lost && !details.missed,
                "mostTestsRan": !details.missed,
            },
        });
        let decision = if fatal.is_some() {
            Decision::Reject
        } else {
            Decision::Accept
        };
        draft.measure("answer", answer);
        Ok(draft.decide(decision))
    }
}

/// What the paper's answer says apart.
#[derive(Debug, Default)]
struct Details {
    not_started: bool,
    unnamed: bool,
    lost: bool,
    missed: bool,
}

/// One run: integrity, completeness, scope, and whether what is missing is the environment's fault.
fn look(
    draft: &mut Draft,
    details: &mut Details,
    (label, run): (&str, &StateRun),
    wanted: &BTreeSet<&str>,
) {
    const NOT_FOUND: [i64; 2] = [126, 127];
    let (log, parsed) = (format!("{label}.log"), &run.parsed);
    let named = !parsed.results.is_empty();
    let not_found =
        matches!(run.summary.exit, ExitState::Exited { code } if NOT_FOUND.contains(&code));
    if not_found && !named {
        details.not_started = true;
        let text = format!("the test command of {label} was not found or could not be started");
        draft.find("not_started", Severity::Fatal, text, last_words(run, &log));
        return;
    }
    // Every module has a reason of its own; a run of which nothing is left has one as a whole.
    let ended = match parsed.outcome {
        RunOutcome::Completed => !run.is_unfinished(),
        RunOutcome::BuildFailed | RunOutcome::NothingRan => named,
        RunOutcome::Crashed | RunOutcome::TimedOut | RunOutcome::Truncated => false,
    };
    let has_tests = label == "After" || named || !parsed.modules_not_loaded.is_empty();
    if !ended && has_tests {
        details.missed = true;
        let text = format!("{label} did not come to its end: {:?}", parsed.outcome);
        draft.find(
            "not_completed",
            Severity::Fatal,
            text,
            last_words(run, &log),
        );
    }
    if !named && has_tests {
        details.unnamed = true;
        let text = format!("the log of {label} names no test");
        draft.find(
            "no_test_names",
            Severity::Fatal,
            text,
            last_words(run, &log),
        );
    }
    if named && parsed.consistent == Some(false) {
        let text = format!("the runner of {label} counts other tests than its log names");
        let said = json!({ "counted": parsed.totals, "named": run.summary.counts });
        let proof = vec![Evidence::of(&log, said.to_string())];
        draft.find("totals_differ", Severity::Fatal, text, proof);
    }
    let tests = parsed.tests();
    let unseen: Vec<&&str> = wanted
        .iter()
        .filter(|id| !tests.contains_key(**id))
        .collect();
    if !unseen.is_empty() && named {
        details.missed = true;
        let text = format!(
            "{} of {} tests of the lists did not run in {label}",
            unseen.len(),
            wanted.len()
        );
        let proof = unseen.iter().take(20).map(|id| Evidence::of(&log, **id));
        draft.find("not_in_scope", Severity::Fatal, text, proof.collect());
    }
    lost(draft, details, (label, run));
}

/// Modules whose tests did not run.
fn lost(draft: &mut Draft, details: &mut Details, (label, run): (&str, &StateRun)) {
    let lost = &run.parsed.modules_not_loaded;
    if lost.is_empty() {
        return;
    }
    details.lost = true;
    let lacking: Vec<&LostModule> = lost
        .iter()
        .filter(|module| module.lines.iter().any(|line| LACKS.is_match(&line.text)))
        .collect();
    let ran: BTreeSet<&str> = run.parsed.results.iter().map(|test| test.module).collect();
    let is_most = lacking.len() > ran.len();
    let (code, severity, modules) = if is_most {
        details.missed = true;
        ("environment_lacks", Severity::Fatal, lacking)
    } else {
        ("modules_lost", Severity::Warning, lost.iter().collect())
    };
    let text = format!(
        "{} modules of {label} did not run beside {} that did",
        modules.len(),
        ran.len()
    );
    let proof = modules
        .iter()
        .take(10)
        .flat_map(|module| {
            let said = module.lines.iter().find(|line| LACKS.is_match(&line.text));
            let said = said.or(module.lines.first());
            said.map_or_else(
                || vec![Evidence::of(format!("{label}.log"), &module.module)],
                |line| vec![Evidence::of(&module.module, &line.text)],
            )
        })
        .collect();
    draft.find(code, severity, text, proof);
}
