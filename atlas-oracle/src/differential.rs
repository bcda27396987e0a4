//! The driver: three states in a sandbox.

use crate::agreement::{disputes, undecided};
use crate::last_lines::{last_lines, last_lines_of};
use crate::script::{NOT_STARTED, rerun_script, varied_script};
use crate::witness;
use crate::{
    ClassifyInput, Disputes, MarkedLog, StateRun, Variation, between_repeats, classify, compare,
    cut,
};
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, ExitState, InstanceId, Job, JobFile, JobResult, JobUser, Limits,
    LogParser, LogParserExt, LostModule, LostReason, Network, Oracle, OracleOutcome, OracleReport,
    OracleTask, Overlay, ParsedLog, RunContext, RunOutcome, Sandbox, State, StateSummary,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
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
    /// How often each state runs. Tests whose result differs between repeats of a state are set
    /// aside. Default: once each.
    pub repeats: Repeats,
    /// Who the tests are in their environment. Default: [`JobUser::Tests`].
    pub user: JobUser,
}

/// How often each state runs; 0 counts as once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// Runs of Base.
    pub base: u32,
    /// Runs of Before.
    pub before: u32,
    /// Runs of After.
    pub after: u32,
}

impl Repeats {
    /// The same for all three.
    pub fn each(times: u32) -> Self {
        Self {
            base: times,
            before: times,
            after: times,
        }
    }

    /// Runs of this state, at least one.
    pub fn of(self, state: State) -> u32 {
        match state {
            State::Base => self.base,
            State::Before => self.before,
            State::After => self.after,
        }
        .max(1)
    }
}

impl Default for OracleOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            order: State::ALL,
            seed: String::new(),
            repeats: Repeats::each(1),
            user: JobUser::default(),
        }
    }
}

/// Reads the log of a run where that takes more than a [`LogParser`] may do: one that is code of
/// others, in a sandbox of its own.
#[async_trait]
pub trait RunReader: std::fmt::Debug + Send + Sync {
    /// Reads one run's complete output. The same text gives the same log.
    ///
    /// # Errors
    /// The reader broke down: nothing is known of the run. Never for what the log says.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends it.
    async fn read_run(&self, cx: &RunContext, log: &[u8]) -> Result<ParsedLog, Error>;
}

/// What reads the console.
#[derive(Clone, Debug)]
enum ConsoleReader {
    Parser(Arc<dyn LogParser>),
    Reader(Arc<dyn RunReader>),
}

/// The oracle of paper 001, section 3.3, over any sandbox and any parser.
#[derive(Clone, Debug)]
pub struct StateDifferentialOracle {
    sandbox: Arc<dyn Sandbox>,
    console: ConsoleReader,
    report_parser: Option<Arc<dyn LogParser>>,
    options: OracleOptions,
}

impl StateDifferentialOracle {
    /// An oracle that runs in `sandbox` and reads the console with `parser`.
    pub fn new(sandbox: Arc<dyn Sandbox>, parser: Arc<dyn LogParser>) -> Self {
        Self::over(sandbox, ConsoleReader::Parser(parser))
    }

    /// An oracle that runs in `sandbox` and has the console read by `reader`.
    pub fn read_by(sandbox: Arc<dyn Sandbox>, reader: Arc<dyn RunReader>) -> Self {
        Self::over(sandbox, ConsoleReader::Reader(reader))
    }

    fn over(sandbox: Arc<dyn Sandbox>, console: ConsoleReader) -> Self {
        Self {
            sandbox,
            console,
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

    /// The sandbox that the states run in.
    pub fn sandbox(&self) -> &Arc<dyn Sandbox> {
        &self.sandbox
    }

    /// The options.
    pub fn options(&self) -> &OracleOptions {
        &self.options
    }

    /// Runs one state once; `repeat` counts from 0 and tells runs of the same state apart.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    ///
    /// # Cancellation
    /// As the sandbox.
    pub async fn run_state(
        &self,
        cx: &RunContext,
        environment: &Environment,
        task: &OracleTask,
        state: State,
        repeat: u32,
    ) -> Result<StateRun, Error> {
        let (files, named) = named(task, state, repeat);
        self.run(cx, environment, files, &named, &Variation::plain(repeat))
            .await
    }

    /// Tells the sandbox that this run comes soon ([`Sandbox::expect`]). Who does so settles the sandbox
    /// in the end.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn expect_state(
        &self,
        cx: &RunContext,
        environment: &Environment,
        task: &OracleTask,
        state: State,
        repeat: u32,
    ) {
        let (files, named) = named(task, state, repeat);
        let job = self.job(environment, files, &named, &Variation::plain(repeat));
        if let Ok((job, _)) = job {
            self.sandbox.expect(cx, environment, &job).await;
        }
    }

    /// Runs the plan's tests once over the base commit with these files laid on it. The same files
    /// and the same variation make the same job, whoever asks: a sandbox that remembers does it once.
    ///
    /// # Errors
    /// Those of the sandbox and of a [`RunReader`], and [`ErrorKind::InvalidInput`] for an overlay that
    /// leaves the repository.
    ///
    /// # Cancellation
    /// As the sandbox.
    pub async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        (instance, overlay): (&InstanceId, &Overlay),
        label: &str,
        variation: &Variation,
    ) -> Result<StateRun, Error> {
        cx.check("run state")?;
        cx.progress.phase(&format!("run {label}"));
        let (job, nonce) = self.job(environment, (instance, overlay), label, variation)?;
        let mut result = self.started(cx, environment, (&job, &nonce)).await?;
        if variation.is_plain() {
            self.report_of_log(cx, environment, &mut result, &nonce)
                .await?;
        }
        let marked = cut(&result.output, &nonce);
        let parsed = self.read(cx, marked.log).await?;
        let mut run = self.conclude(environment, &result, &marked, parsed);
        run.summary.build = witness::find(&environment.plan, overlay, &result, &run.parsed);
        Ok(run)
    }

    /// Has the structured report made of the log, where the plan says so and the run wrote none.
    async fn report_of_log(
        &self,
        cx: &RunContext,
        environment: &Environment,
        result: &mut JobResult,
        nonce: &str,
    ) -> Result<(), Error> {
        let plan = &environment.plan;
        let Some((spec, command)) = plan
            .report
            .as_ref()
            .filter(|spec| self.report_parser.is_some() && !result.files.contains_key(&spec.file))
            .and_then(|spec| Some((spec, spec.from_log.as_ref()?)))
        else {
            return Ok(());
        };
        let job = Job {
            label: "report".to_owned(),
            overlay: Overlay::default(),
            files: vec![JobFile {
                name: "log".to_owned(),
                bytes: cut(&result.output, nonce).log.to_vec(),
            }],
            script: format!(
                "{{ {command}; }} < \"$ATLAS_IN/log\" > \"$ATLAS_OUT/{}\"\n",
                spec.file
            ),
            collect: vec![spec.file.clone()],
            env: plan.env.clone(),
            limits: self.options.limits.clone(),
            network: Network::None,
            user: self.options.user,
        };
        let made = self.sandbox.run(cx, environment, &job).await?;
        if made.exit == (ExitState::Exited { code: 0 }) {
            result.files.extend(made.files);
        }
        Ok(())
    }

    /// What a job did; an error if its script could not even begin.
    pub(crate) async fn started(
        &self,
        cx: &RunContext,
        environment: &Environment,
        (job, nonce): (&Job, &str),
    ) -> Result<JobResult, Error> {
        let result = self.sandbox.run(cx, environment, job).await?;
        if result.exit == (ExitState::Exited { code: NOT_STARTED })
            && cut(&result.output, nonce).never_started()
        {
            let said = String::from_utf8_lossy(&result.output);
            return Err(Error::new(
                ErrorKind::EngineFailed,
                format!("start the tests of {}:", job.label),
                said.trim()
                    .lines()
                    .next_back()
                    .unwrap_or("the sandbox says nothing"),
            ));
        }
        Ok(result)
    }

    pub(crate) async fn read(&self, cx: &RunContext, log: &[u8]) -> Result<ParsedLog, Error> {
        match &self.console {
            ConsoleReader::Parser(parser) => Ok(parser.parse(log)),
            ConsoleReader::Reader(reader) => reader.read_run(cx, log).await,
        }
    }

    /// The job of a run, and the nonce of its markers.
    pub(crate) fn job(
        &self,
        environment: &Environment,
        (instance, overlay): (&InstanceId, &Overlay),
        label: &str,
        variation: &Variation,
    ) -> Result<(Job, String), Error> {
        overlay.check_paths().map_err(|path| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("lay out {label}: a patch touches a path outside the repository:"),
                format!("`{path}`"),
            )
        })?;
        let nonce = self.nonce(instance, overlay, variation);
        let plan = &environment.plan;
        let mut files = vec![JobFile {
            name: "nonce".to_owned(),
            bytes: format!("{nonce}\n").into(),
        }];
        files.extend(variation.files.iter().cloned());
        let mut env = plan.env.clone();
        env.extend(variation.env.clone());
        let mut limits = self.options.limits.clone();
        if let Some(cpus) = variation.cpus {
            limits.cpus = limits.cpus.min(cpus);
        }
        let script = if variation.reruns.is_empty() {
            let command = variation.test_cmd.as_ref().unwrap_or(&plan.test_cmd);
            varied_script(plan, command, &variation.prelude)
        } else {
            let runs = u64::try_from(variation.reruns.len()).unwrap_or(u64::MAX);
            limits.seconds = limits.seconds.saturating_mul(runs);
            rerun_script(plan, &variation.reruns)
        };
        let job = Job {
            label: label.to_owned(),
            overlay: overlay.clone(),
            files,
            script,
            collect: plan
                .report
                .iter()
                .map(|report| report.file.clone())
                .chain(plan.products.as_ref().map(|_| witness::LIST.to_owned()))
                .collect(),
            env,
            limits,
            network: variation.network,
            user: self.options.user,
        };
        Ok((job, nonce))
    }

    /// A run of what its sandbox and its reader say.
    pub(crate) fn conclude(
        &self,
        environment: &Environment,
        result: &JobResult,
        marked: &MarkedLog<'_>,
        mut parsed: ParsedLog,
    ) -> StateRun {
        let mut faults = marked.faults.clone();
        if marked.never_started() {
            // What was printed instead is no evidence of tests, but it tells a person why.
            let said = String::from_utf8_lossy(&result.output);
            if let Some(last) = said.lines().rfind(|line| !line.trim().is_empty()) {
                faults.push(format!("the last words before it: {}", last.trim()));
            }
        }
        let dropped = result
            .output_total
            .saturating_sub(result.output.len() as u64);
        if dropped > 0 {
            faults.push(format!(
                "{dropped} bytes of output beyond the limit were not kept"
            ));
        }
        let mut tampering = Vec::new();
        if marked.forged {
            tampering.push("markers stand more than once".to_owned());
        }
        if let (Some(code), ExitState::Exited { code: exited }) = (marked.code, result.exit)
            && code != exited
        {
            let said = format!("the end marker says exit code {code}, the sandbox {exited}");
            faults.push(said.clone());
            tampering.push(said);
        }
        parsed.outcome = ended(&parsed, marked, result, dropped);
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
        let (agreement, disputes) = match (spec, &report, &self.report_parser) {
            (Some(spec), Some(bytes), Some(parser)) => {
                let second = parser.parse(bytes);
                let agreement = compare(spec, &parsed, &second);
                (Some(agreement), disputes(spec, &parsed, &second))
            }
            _ => (None, Disputes::default()),
        };
        let parsed = parsed.without_source_lines();
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
            build: None,
            isolation: result.isolation.clone(),
            seconds: result.seconds,
            overhead_seconds: result.overhead_seconds,
            usage: result.usage,
        };
        StateRun {
            log: marked.log.to_vec(),
            report,
            parsed,
            summary,
            disputes,
            faults,
            tampering,
        }
    }

    /// Classifies the runs of the three states. The first run of each is the one that counts; the
    /// others say which tests do not repeat. Nothing comes of it where a state has no run.
    pub fn report(
        &self,
        task: &OracleTask,
        runs: &BTreeMap<State, Vec<StateRun>>,
    ) -> Option<OracleReport> {
        self.report_without(task, runs, &BTreeMap::new())
    }

    /// The same with these tests in neither list, each for the reason that is given.
    pub fn report_without(
        &self,
        task: &OracleTask,
        runs: &BTreeMap<State, Vec<StateRun>>,
        set_aside: &BTreeMap<String, String>,
    ) -> Option<OracleReport> {
        let first = |state: State| runs.get(&state).and_then(|runs| runs.first());
        let (base, before, after) = (
            first(State::Base)?,
            first(State::Before)?,
            first(State::After)?,
        );
        let mut flaky = set_aside.clone();
        for (state, runs) in runs {
            let logs: Vec<&ParsedLog> = runs.iter().map(|run| &run.parsed).collect();
            for (id, reason) in between_repeats(*state, &logs) {
                flaky.entry(id).or_insert(reason);
            }
        }
        for (state, run) in [
            (State::Base, base),
            (State::Before, before),
            (State::After, after),
        ] {
            for (id, said) in &run.disputes.tests {
                flaky
                    .entry(id.clone())
                    .or_insert_with(|| format!("{state}: {said}"));
            }
        }
        let mut found = classify(&ClassifyInput {
            base: &base.parsed,
            before: &before.parsed,
            after: &after.parsed,
            gold_patch: Some(&task.gold_patch),
            test_patch: Some(&task.test_patch),
            before_files: Some(&task.before),
            modified_tests: &task.modified_tests,
            conditions: &task.conditions,
            flaky: &flaky,
        });
        if let Some((reason, evidence)) = witness::lacking(found.outcome, runs) {
            found.outcome = OracleOutcome::NoEvidence;
            found.reason = reason;
            found.evidence = evidence;
        }
        let firsts: BTreeMap<State, &StateRun> = runs
            .iter()
            .filter_map(|(state, runs)| Some((*state, runs.first()?)))
            .collect();
        if let Some((reason, evidence)) = undecided(found.outcome, &firsts) {
            found.outcome = OracleOutcome::NoEvidence;
            found.reason = reason;
            found.evidence = evidence;
        }
        let mut warnings = found.warnings;
        let mut evidence = found.evidence;
        for (state, run) in &firsts {
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
            evidence = last_lines(&firsts);
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
            gold_only: found.gold_only,
            fail_to_pass_swebench_rule: found.fail_to_pass_swebench_rule,
            fail_to_pass_rule: found.fail_to_pass_rule,
            module_failures: found.module_failures,
            transition_counts: found.transition_counts,
            transitions: found.transitions,
            states: firsts
                .iter()
                .map(|(state, run)| (*state, run.summary.clone()))
                .collect(),
            evidence,
            doubts: found.doubts,
            warnings,
            confirmation: None,
        })
    }

    fn nonce(&self, instance: &InstanceId, overlay: &Overlay, variation: &Variation) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(self.options.seed.as_bytes());
        add(instance.as_str().as_bytes());
        add(variation.id.as_bytes());
        add(&variation.repeat.to_le_bytes());
        for (path, content) in &overlay.write {
            add(path.as_bytes());
            add(&content.bytes);
        }
        add(b"removed");
        for path in &overlay.remove {
            add(path.as_bytes());
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

/// A state's files, and the name of one of its runs.
fn named(task: &OracleTask, state: State, repeat: u32) -> ((&InstanceId, &Overlay), String) {
    static EMPTY: Overlay = Overlay {
        write: BTreeMap::new(),
        remove: BTreeSet::new(),
    };
    let overlay = match state {
        State::Base => &EMPTY,
        State::Before => &task.before,
        State::After => &task.after,
    };
    let name = if repeat == 0 {
        state.to_string()
    } else {
        format!("{state}, repeat {repeat}")
    };
    ((&task.instance_id, overlay), name)
}

/// The name under which a failed rebuild stands among the modules that did not build.
const REBUILD: &str = "rebuild";

/// How the run ended, by the parser and by the sandbox: a log that looks complete is not when its
/// process was killed or part of its output is missing.
fn ended(
    parsed: &ParsedLog,
    marked: &MarkedLog<'_>,
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
            let runs: &mut Vec<StateRun> = runs.entry(state).or_default();
            for repeat in 0..self.options.repeats.of(state) {
                let run = self.run_state(cx, environment, task, state, repeat);
                runs.push(run.await?);
            }
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
