//! The driver: three states in a sandbox.

use crate::script::NOT_STARTED;
use crate::{ClassifyInput, classify, compare, cut, state_script};
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, Evidence, ExitState, Job, JobFile, JobResult, Limits, LogParser,
    LogParserExt, LostModule, LostReason, Network, Oracle, OracleOutcome, OracleReport, OracleTask,
    Overlay, ParsedLog, RunContext, RunOutcome, Sandbox, State, StateSummary,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// What may be defaulted.
#[derive(Clone, Debug)]
pub struct OracleOptions {
    /// Upper bounds for each state.
    pub limits: Limits,
    /// The order in which the states run. It must not matter; a test of that varies it.
    pub order: [State; 3],
    /// From this and the task the markers' nonces are made. Unpredictable for the code under test,
    /// equal for runs that should be told apart by nothing else. Default: empty.
    pub seed: String,
}

impl Default for OracleOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            order: State::ALL,
            seed: String::new(),
        }
    }
}

/// One state's run: what the artefacts keep.
#[derive(Clone, Debug)]
pub struct StateRun {
    /// The output of rebuild and tests, without the markers.
    pub log: Vec<u8>,
    /// The structured report, if one was written.
    pub report: Option<Vec<u8>>,
    /// The log, parsed.
    pub parsed: ParsedLog,
    /// The run in numbers.
    pub summary: StateSummary,
    /// What was wrong with the stream.
    pub faults: Vec<String>,
}

/// The oracle of paper 001, section 3.3, over any sandbox and any parser.
#[derive(Clone, Debug)]
pub struct StateDifferentialOracle {
    sandbox: Arc<dyn Sandbox>,
    parser: Arc<dyn LogParser>,
    report_parser: Option<Arc<dyn LogParser>>,
    options: OracleOptions,
}

impl StateDifferentialOracle {
    /// An oracle that runs in `sandbox` and reads the console with `parser`.
    pub fn new(sandbox: Arc<dyn Sandbox>, parser: Arc<dyn LogParser>) -> Self {
        Self {
            sandbox,
            parser,
            report_parser: None,
            options: OracleOptions::default(),
        }
    }

    /// Also reads the structured report that the plan names, with this parser.
    #[must_use]
    pub fn with_report_parser(mut self, parser: Arc<dyn LogParser>) -> Self {
        self.report_parser = Some(parser);
        self
    }

    /// With other options.
    #[must_use]
    pub fn with_options(mut self, options: OracleOptions) -> Self {
        self.options = options;
        self
    }

    /// Runs one state.
    ///
    /// # Errors
    /// Those of the sandbox, and [`ErrorKind::InvalidInput`] for an overlay that leaves the
    /// repository.
    ///
    /// # Cancellation
    /// As the sandbox.
    pub async fn run_state(
        &self,
        cx: &RunContext,
        environment: &Environment,
        task: &OracleTask,
        state: State,
    ) -> Result<StateRun, Error> {
        cx.check("run state")?;
        cx.progress.phase(&format!("run {state}"));
        let overlay = match state {
            State::Base => Overlay::default(),
            State::Before => task.before.clone(),
            State::After => task.after.clone(),
        };
        overlay.check_paths().map_err(|path| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("lay out {state}: a patch touches a path outside the repository:"),
                format!("`{path}`"),
            )
        })?;
        let nonce = self.nonce(task, state);
        let plan = &environment.plan;
        let job = Job {
            label: state.as_str().to_owned(),
            overlay,
            files: vec![JobFile {
                name: "nonce".to_owned(),
                bytes: format!("{nonce}\n").into(),
            }],
            script: state_script(plan),
            collect: plan
                .report
                .iter()
                .map(|report| report.file.clone())
                .collect(),
            env: plan.env.clone(),
            limits: self.options.limits.clone(),
            network: Network::None,
        };
        let result = self.sandbox.run(cx, environment, &job).await?;
        if result.exit == (ExitState::Exited { code: NOT_STARTED })
            && cut(&result.output, &nonce).never_started()
        {
            let said = String::from_utf8_lossy(&result.output);
            return Err(Error::new(
                ErrorKind::EngineFailed,
                format!("start the tests of {state}:"),
                said.trim()
                    .lines()
                    .next_back()
                    .unwrap_or("the sandbox says nothing"),
            ));
        }
        Ok(self.read(environment, &result, &nonce))
    }

    fn read(&self, environment: &Environment, result: &JobResult, nonce: &str) -> StateRun {
        let marked = cut(&result.output, nonce);
        let mut faults = marked.faults.clone();
        let dropped = result
            .output_total
            .saturating_sub(result.output.len() as u64);
        if dropped > 0 {
            faults.push(format!(
                "{dropped} bytes of output beyond the limit were not kept"
            ));
        }
        if let (Some(code), ExitState::Exited { code: exited }) = (marked.code, result.exit)
            && code != exited
        {
            faults.push(format!(
                "the end marker says exit code {code}, the sandbox {exited}"
            ));
        }
        let mut parsed = self.parser.parse(marked.log);
        parsed.outcome = ended(&parsed, &marked, result, dropped);
        if marked.rebuild_failed {
            parsed.modules_not_loaded.push(LostModule {
                module: REBUILD.to_owned(),
                reason: LostReason::BuildFailed,
                lines: last_lines_of(marked.log, "log", 40),
                reported_as: None,
            });
            if parsed.is_empty() {
                parsed.outcome = RunOutcome::BuildFailed;
            }
        }
        let spec = environment.plan.report.as_ref();
        let report = spec.and_then(|spec| result.files.get(&spec.file).cloned());
        let agreement = match (spec, &report, &self.report_parser) {
            (Some(spec), Some(bytes), Some(parser)) => {
                Some(compare(&spec.file, &parsed, &parser.parse(bytes)))
            }
            _ => None,
        };
        let mut counts = BTreeMap::new();
        for test in &parsed.results {
            *counts.entry(test.status).or_insert(0) += 1;
        }
        let summary = StateSummary {
            exit: result.exit,
            outcome: parsed.outcome,
            counts,
            totals: parsed.totals,
            consistent: parsed.consistent,
            report: agreement,
            isolation: result.isolation.clone(),
            seconds: result.seconds,
            overhead_seconds: result.overhead_seconds,
        };
        StateRun {
            log: marked.log.to_vec(),
            report,
            parsed,
            summary,
            faults,
        }
    }

    /// Classifies three runs.
    pub fn report(
        &self,
        task: &OracleTask,
        runs: &BTreeMap<State, StateRun>,
    ) -> Option<OracleReport> {
        let (base, before, after) = (
            runs.get(&State::Base)?,
            runs.get(&State::Before)?,
            runs.get(&State::After)?,
        );
        let found = classify(&ClassifyInput {
            base: &base.parsed,
            before: &before.parsed,
            after: &after.parsed,
            gold_patch: Some(&task.gold_patch),
            test_patch: Some(&task.test_patch),
            modified_tests: &task.modified_tests,
        });
        let mut warnings = found.warnings;
        let mut evidence = found.evidence;
        for (state, run) in runs {
            warnings.extend(run.faults.iter().map(|fault| format!("{state}: {fault}")));
            if let Some(report) = run.summary.report.as_ref().filter(|report| !report.agrees) {
                warnings.push(format!(
                    "{state}: console and {} differ: {}",
                    report.file,
                    report.differences.first().map_or("", String::as_str)
                ));
            }
        }
        if evidence.is_empty() && found.outcome != OracleOutcome::Instance {
            evidence = last_lines(runs);
        }
        Some(OracleReport {
            schema_version: 1,
            outcome: found.outcome,
            reason: found.reason,
            kind: found.kind,
            before_failure_extent: found.before_failure_extent,
            fail_to_pass: found.fail_to_pass,
            pass_to_pass: found.pass_to_pass,
            pass_to_fail: found.pass_to_fail,
            unstable: found.unstable,
            fail_to_pass_swebench_rule: found.fail_to_pass_swebench_rule,
            fail_to_pass_rule: found.fail_to_pass_rule,
            module_failures: found.module_failures,
            transition_counts: found.transition_counts,
            transitions: found.transitions,
            states: runs
                .iter()
                .map(|(state, run)| (*state, run.summary.clone()))
                .collect(),
            evidence,
            warnings,
        })
    }

    fn nonce(&self, task: &OracleTask, state: State) -> String {
        let mut hash = Sha256::new();
        for part in [
            self.options.seed.as_str(),
            task.instance_id.as_str(),
            state.as_str(),
        ] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.finalize()
            .iter()
            .take(16)
            .fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
    }
}

/// The name under which a failed rebuild stands among the modules that did not build.
const REBUILD: &str = "rebuild";

/// How the run ended, by the parser and by the sandbox: a log that looks complete is not when its
/// process was killed or part of its output is missing.
fn ended(
    parsed: &ParsedLog,
    marked: &crate::MarkedLog<'_>,
    result: &JobResult,
    dropped: u64,
) -> RunOutcome {
    /// 128 + 9: the exit code of a shell whose command was killed.
    const KILLED: i64 = 137;
    let looks_done = matches!(
        parsed.outcome,
        RunOutcome::Completed | RunOutcome::NothingRan
    );
    match result.exit {
        ExitState::TimedOut => RunOutcome::TimedOut,
        ExitState::OutOfMemory => RunOutcome::Crashed,
        ExitState::Exited { code: KILLED } if looks_done => RunOutcome::Crashed,
        ExitState::Exited { .. } if looks_done && marked.code.is_none() => RunOutcome::Crashed,
        ExitState::Exited { .. } if looks_done && dropped > 0 => RunOutcome::Truncated,
        ExitState::Exited { .. } => parsed.outcome,
    }
}

/// The last lines of the first state that shows nothing: what a person would look at first.
fn last_lines(runs: &BTreeMap<State, StateRun>) -> Vec<Evidence> {
    runs.iter()
        .find(|(_, run)| run.parsed.is_empty())
        .map(|(state, run)| last_lines_of(&run.log, &format!("{state}.log"), 12))
        .unwrap_or_default()
}

fn last_lines_of(log: &[u8], source: &str, count: usize) -> Vec<Evidence> {
    let text = String::from_utf8_lossy(log);
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(count)..]
        .iter()
        .map(|(number, line)| Evidence::at(source, number + 1, *line))
        .collect()
}

#[async_trait]
impl Oracle for StateDifferentialOracle {
    async fn judge(
        &self,
        cx: &RunContext,
        environment: &Environment,
        task: &OracleTask,
    ) -> Result<OracleReport, Error> {
        let mut runs = BTreeMap::new();
        for state in self.options.order {
            runs.insert(state, self.run_state(cx, environment, task, state).await?);
        }
        self.report(task, &runs).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidInput,
                "order of states",
                "names one of them twice",
            )
        })
    }
}
