//! Further runs of the tests that define a task, before anything is accepted.

use super::distance::Reach;
use super::{Journey, Judged, Means, TIMES_OF_BASE, after_base};
use crate::runners::{Narrowed, Touched, Wanted, narrow, other_order, single};
use crate::store::write_json;
use atlas_core::{
    Confirmation, Environment, Error, Evidence, JobFile, LostReason, OracleOutcome, OracleReport,
    OracleTask, ParsedLog, RunContext, State, TestStatus,
};
use atlas_oracle::{
    Rerun, Said, StateDifferentialOracle, StateRun, Variation, between_repeats, respelled,
};
use std::collections::{BTreeMap, BTreeSet};

/// Suites up to this many seconds a run are run whole in another order. So many seconds may confirming take
/// with runs beyond the least, whatever the suite's length.
const SHORT: f64 = 30.0;

/// Of the seconds that the three runs took, the share that confirming may take with runs beyond the least.
const SHARE: f64 = 0.1;

/// The least that a run is given that may hang.
const MINUTE: f64 = 60.0;

/// Runs of a test that the pull request does not reach, or that stands beside one that contradicted itself, as a
/// multiple of the usual.
const DOUBTFUL: u32 = 3;

/// How the runs of one job speak of a test.
enum RerunEvidence {
    Nothing,
    Agreement,
    /// The first run agrees, no later one in the same place does.
    OnlyFirst,
    /// No run agrees.
    Never,
    Contradiction(String),
}

/// What all of this works on.
struct Confirming<'a> {
    cx: &'a RunContext,
    oracle: StateDifferentialOracle,
    environment: &'a Environment,
    task: &'a OracleTask,
    touched: &'a Touched,
    /// Runs of each state.
    least: u32,
    /// The number of the next job that is the same as another.
    round: u32,
    found: Confirmation,
    /// Tests that leave the lists.
    set_aside: BTreeMap<String, String>,
    logs: Vec<(String, Vec<u8>)>,
}

impl Journey<'_> {
    /// Runs the tests of `FAIL_TO_PASS` again, in Before and in After, and takes those out of the lists
    /// that contradict themselves.
    pub(super) async fn confirm(&mut self, means: &Means, judged: Judged) -> Result<Judged, Error> {
        let least = self.options.config.make.confirm;
        let is_open = least > 0 && judged.report.outcome == OracleOutcome::Instance;
        let Some(after) = judged.first(State::After).filter(|_| is_open) else {
            return Ok(judged);
        };
        let Judged {
            environment, runs, ..
        } = &judged;
        let mut report = judged.report.clone();
        let plan = &environment.plan;
        let base = judged.first(State::Base);
        let limits = &self.options.config.limits;
        let mut limits = base.map_or_else(
            || limits.clone(),
            |base| after_base(limits, base.summary.seconds, plan),
        );
        let took = |state: State| judged.first(state).map_or(0.0, |run| run.summary.seconds);
        let most = (TIMES_OF_BASE * took(State::Base)).clamp(MINUTE, 1e9);
        if took(State::Before) > most {
            // Before hangs, and so does each of these runs: the first is all that there is to see.
            let most = std::time::Duration::from_secs_f64(most).as_secs();
            limits.seconds = limits.seconds.min(most);
        } else {
            // So many runs are one job.
            limits.seconds = limits
                .seconds
                .saturating_mul(u64::from(least))
                .min(self.options.config.limits.seconds);
        }
        let mut confirming = Confirming {
            cx: self.cx,
            oracle: self.oracle(means, plan, &limits)?,
            environment,
            task: &means.task,
            touched: &means.scope.touched,
            least,
            round: 0,
            found: Confirmation::default(),
            set_aside: BTreeMap::new(),
            logs: Vec::new(),
        };
        let reach = Reach::of(&means.task, &means.repository.checkout);
        let mut done: BTreeSet<String> = BTreeSet::new();
        while report.outcome == OracleOutcome::Instance {
            // Where none is left, other tests may define the task.
            let open: BTreeSet<String> = report
                .fail_to_pass
                .iter()
                .filter(|id| !done.contains(*id))
                .cloned()
                .collect();
            if open.is_empty() {
                break;
            }
            confirming.candidates(&open, &report, after, &reach).await?;
            if done.is_empty() {
                confirming.reordered(&report, after).await?;
            }
            done.extend(open);
            let without = &confirming.set_aside;
            report = if self.is_judged_by_caller {
                set_aside(report, without)
            } else {
                confirming
                    .oracle
                    .report_without(&means.task, runs, without)
                    .unwrap_or(report)
            };
        }
        let Confirming {
            mut found,
            set_aside,
            logs,
            ..
        } = confirming;
        for (name, log) in logs {
            self.write(&name, &log)?;
        }
        found.contradicted = set_aside;
        found.remarks = std::mem::take(&mut found.remarks)
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        if report.outcome != OracleOutcome::Instance {
            contradicted(&mut report, &judged.report, &found);
        }
        self.seconds.confirm = found.seconds;
        report.confirmation = Some(found);
        write_json(&self.artefacts.join("oracle.json"), &report)?;
        Ok(Judged { report, ..judged })
    }
}

/// The report of the caller's oracle with these tests taken out of both lists. The oracle is not asked again.
fn set_aside(mut report: OracleReport, without: &BTreeMap<String, String>) -> OracleReport {
    for list in [&mut report.fail_to_pass, &mut report.pass_to_pass] {
        list.retain(|id| !without.contains_key(id));
    }
    report.unstable.extend(without.clone());
    if report.fail_to_pass.is_empty() {
        report.outcome = OracleOutcome::RejectNoFailToPass;
    }
    report
}

/// The verdict where no test is left: what contradicted what.
fn contradicted(report: &mut OracleReport, first: &OracleReport, found: &Confirmation) {
    let gone: Vec<(&String, &String)> = first
        .fail_to_pass
        .iter()
        .filter_map(|id| found.contradicted.get_key_value(id))
        .collect();
    let Some((id, why)) = gone.first() else {
        return;
    };
    let all = match gone.len() {
        1 => "the only test that fails in Before and passes in After contradicts".to_owned(),
        n => format!("all {n} tests that fail in Before and pass in After contradict"),
    };
    report.reason =
        format!("no FAIL_TO_PASS: {all} what further runs of the same files say: `{id}` {why}");
    let proof = gone.iter().take(20);
    let proof = proof.map(|(id, why)| Evidence::of("further runs", format!("{id}: {why}")));
    report.evidence.splice(0..0, proof);
}

impl Confirming<'_> {
    /// The runs of these tests, and what they say of them and of their neighbours.
    async fn candidates(
        &mut self,
        open: &BTreeSet<String>,
        report: &OracleReport,
        after: &StateRun,
        reach: &Reach<'_>,
    ) -> Result<(), Error> {
        let plan = &self.environment.plan;
        let files = files_of(after);
        let wanted = |ids: &BTreeSet<String>| -> Vec<Wanted<'_>> {
            let named = after.parsed.results.iter();
            named
                .filter(|test| ids.contains(test.name))
                .map(|test| Wanted {
                    name: test.name,
                    qualified: test.qualified,
                    module: test.module,
                    file: files.get(test.name).map(String::as_str),
                })
                .collect()
        };
        let tests = wanted(open);
        // Where nothing tells the runner a test's place, it may take the files that the pull request touches.
        let narrowing = if after.summary.seconds > SHORT {
            single
        } else {
            narrow
        };
        let narrowed = narrowing(plan, &tests).or_else(|why| {
            Narrowed::touched(plan, self.touched).map_err(|other| format!("{why}; {other}"))
        });
        let narrowed = narrowed.unwrap_or_else(|why| {
            self.found.whole.get_or_insert(why);
            Narrowed::whole(plan)
        });
        let is_whole = narrowed.scope.is_empty();
        self.found.scope.extend(narrowed.scope.iter().cloned());
        for state in [State::Before, State::After] {
            self.found.runs.insert(state, self.least);
        }
        let mut left = open.clone();
        self.state(State::Before, &narrowed, &mut left, &[]).await?;
        if left.is_empty() {
            return Ok(());
        }
        let alone = self
            .state(State::After, &narrowed, &mut left, &report.pass_to_pass)
            .await?;
        let spelt = respelled(&after.parsed, &alone.unnamed, &alone.runs);
        left.retain(|id| !spelt.contains_key(id));
        self.set_aside.extend(spelt);

        // A test that its own files do not run, or that passes only among others, is seen in all.
        let mut others: BTreeSet<String> = alone.unnamed;
        others.extend(alone.never);
        others.retain(|id| left.contains(id));
        left.retain(|id| !others.contains(id));
        if is_whole {
            for id in others {
                let why = "does not pass in any further run of After".to_owned();
                self.set_aside.insert(id, why);
            }
        } else if let Some(one) = others.first() {
            let why =
                format!("`{one}` does not pass in After when its files run without the others");
            self.found.whole.get_or_insert(why);
            let whole = Narrowed::whole(plan);
            self.state(State::Before, &whole, &mut others, &[]).await?;
            if !others.is_empty() {
                let again = self.state(State::After, &whole, &mut others, &[]).await?;
                for id in again.unnamed.into_iter().chain(again.never) {
                    let why = "does not pass in any further run of After".to_owned();
                    self.set_aside.insert(id, why);
                }
            }
        }
        let place = |test: &Wanted<'_>| test.file.unwrap_or(test.module).to_owned();
        let shaky = tests
            .iter()
            .filter(|test| self.set_aside.contains_key(test.name));
        let shaky: BTreeSet<String> = shaky.map(place).collect();
        let doubtful = wanted(&left).into_iter();
        let doubtful = doubtful.filter(|test| !reach.reaches(test) || shaky.contains(&place(test)));
        self.doubtful(&doubtful.collect::<Vec<_>>(), report).await
    }

    /// More runs of what the pull request does not reach, and of what stands in a file of which another test contradicted
    /// itself: distance and company raise suspicion.
    async fn doubtful(&mut self, far: &[Wanted<'_>], report: &OracleReport) -> Result<(), Error> {
        if far.is_empty() {
            return Ok(());
        }
        let names = || far.iter().map(|test| test.name.to_owned());
        self.found
            .distant
            .extend(names().map(|id| (id, self.least)));
        let Ok(narrowed) = narrow(&self.environment.plan, far) else {
            self.found.remarks.push(format!(
                "{} tests that the pull request does not reach by file, folder or import, or that stand beside one that contradicted itself, cannot be run apart, so they had no more runs than others",
                far.len()
            ));
            return Ok(());
        };
        let mut left: BTreeSet<String> = names().collect();
        for done in 1..DOUBTFUL {
            let spent = self.found.seconds;
            let next = spent / f64::from(done);
            if !Self::affords(report, spent + next) {
                self.found.remarks.push(format!(
                    "tests that the pull request does not reach, or that stand beside one that contradicted itself, had {} runs of each state and no more: all would take over {SHORT:.0} seconds and over {:.0} % of the tests' own time",
                    done * self.least,
                    SHARE * 100.0
                ));
                return Ok(());
            }
            self.round = done;
            for state in [State::Before, State::After] {
                if !left.is_empty() {
                    self.state(state, &narrowed, &mut left, &[]).await?;
                }
            }
            for id in &left {
                let runs = (done + 1) * self.least;
                self.found.distant.insert(id.clone(), runs);
            }
        }
        Ok(())
    }

    /// Whether confirming may take so many seconds in all.
    fn affords(report: &OracleReport, seconds: f64) -> bool {
        let own: f64 = report.states.values().map(|run| run.seconds).sum();
        seconds <= SHORT.max(own * SHARE)
    }

    /// Runs a state of the least number of times in one sandbox. Tests of `left` that contradict
    /// themselves leave it, and tests of `neighbours` that do so are set aside with them.
    async fn state(
        &mut self,
        state: State,
        narrowed: &Narrowed,
        left: &mut BTreeSet<String>,
        neighbours: &[String],
    ) -> Result<Alone, Error> {
        let (reruns, files, order) = narrowed.reruns(self.least);
        let mut runs = self.job(state, reruns.clone(), files.clone()).await?;
        let mut order = order.filter(|_| runs.len() == reruns.len());
        if let Some(what) = order.filter(|_| state == State::After) {
            let is_silent = runs.last().is_some_and(|run| run.parsed.is_empty());
            if is_silent || collapses(&runs) {
                runs.pop();
                order = None;
                let why = if is_silent {
                    "names no test"
                } else {
                    "breaks most tests, which are made for one order"
                };
                self.found.remarks.push(format!(
                    "the run of After in another order ({what}) {why}: it says nothing"
                ));
            } else {
                self.found.order.get_or_insert(what.to_owned());
            }
        }
        let unreached = match (order.filter(|_| state == State::After), runs.split_last()) {
            (Some(_), Some((last, others))) => {
                unreached(&last.parsed, others.iter().map(|run| &run.parsed))
            }
            _ => BTreeSet::new(),
        };
        if let (false, Some(what)) = (unreached.is_empty(), order) {
            self.found.remarks.push(format!(
                "in another order ({what}) a program died before {} of its tests ran: they have no second order",
                unreached.len()
            ));
        }
        let mut alone = Alone::default();
        let spelt = |id: &String| narrowed.name(id).unwrap_or(id).to_owned();
        let named = statuses(&runs);
        let mut suspects: Vec<(String, Vec<Said>)> = Vec::new();
        for id in left.iter().chain(neighbours) {
            let mut said = said_of(state, &runs, &named, &spelt(id));
            let mut order = order;
            if unreached.contains(&spelt(id)) {
                said.pop();
                order = None;
            }
            let is_listed = left.contains(id);
            match heard(state, &said, order) {
                RerunEvidence::Agreement => {}
                RerunEvidence::Nothing if state == State::Before || !is_listed => {}
                RerunEvidence::Nothing => {
                    alone.unnamed.insert(id.clone());
                }
                RerunEvidence::Never if state == State::After && is_listed => {
                    alone.never.insert(id.clone());
                }
                RerunEvidence::Never => {
                    let why = match state {
                        State::Before => {
                            "passes in every further run of Before: it does not fail there by itself"
                        }
                        _ => {
                            "fails in every further run of After: it does not pass there by itself"
                        }
                    };
                    self.set_aside.insert(id.clone(), why.to_owned());
                }
                RerunEvidence::OnlyFirst => suspects.push((id.clone(), said)),
                RerunEvidence::Contradiction(why) => {
                    self.set_aside.insert(id.clone(), why);
                }
            }
        }
        if !suspects.is_empty() {
            // What a test leaves behind shows in the same way in another sandbox; chance does not.
            self.round += 1_000;
            let again = self.job(state, reruns, files).await?;
            self.round -= 1_000;
            let named = statuses(&again);
            for (id, said) in suspects {
                let same = said_of(state, &again, &named, &spelt(&id));
                if same.get(..said.len()) == Some(&said[..]) {
                    self.found.remarks.push(format!(
                        "`{id}` ends otherwise when {} runs a second time in the same place: something is left behind there",
                        title(state)
                    ));
                } else {
                    self.set_aside.insert(id, tally(state, &said, None));
                }
            }
        }
        left.retain(|id| !self.set_aside.contains_key(id));
        drop(named);
        alone.runs = runs;
        Ok(alone)
    }

    async fn job(
        &mut self,
        state: State,
        reruns: Vec<Rerun>,
        files: Vec<JobFile>,
    ) -> Result<Vec<StateRun>, Error> {
        let overlay = match state {
            State::Before => &self.task.before,
            _ => &self.task.after,
        };
        let label = format!("{}, to confirm", title(state));
        let variation = Variation::reruns(reruns, files, self.round);
        let files = (&self.task.instance_id, overlay);
        let runs = self
            .oracle
            .rerun(self.cx, self.environment, files, &label, &variation)
            .await?;
        for run in &runs {
            self.found.seconds += run.summary.seconds;
            if run.is_unfinished() {
                self.found.remarks.push(format!(
                    "a further run of {} did not come to its end",
                    title(state)
                ));
            }
        }
        let log = runs.iter().flat_map(|run| run.log.iter().copied());
        let name = format!("{state}.confirm-{}.log", self.logs.len() + 1);
        self.logs.push((name, log.collect()));
        Ok(runs)
    }

    /// All tests of After in another order, where the suite is short: both lists must hold in it.
    async fn reordered(&mut self, report: &OracleReport, after: &StateRun) -> Result<(), Error> {
        let Some((order, what)) = other_order(&self.environment.plan) else {
            return Ok(());
        };
        if after.summary.seconds > SHORT {
            self.found.remarks.push(format!(
                "the suite takes over {SHORT:.0} s: only the files of FAIL_TO_PASS ran in another order"
            ));
            return Ok(());
        }
        let variation = Variation::of(&order, 0);
        let files = (&self.task.instance_id, &self.task.after);
        let label = "After, in another order";
        let run = self
            .oracle
            .run(self.cx, self.environment, files, label, &variation)
            .await?;
        self.found.seconds += run.summary.seconds;
        self.logs
            .push(("after.order.log".to_owned(), run.log.clone()));
        let ended_alike = run.parsed.outcome == after.parsed.outcome;
        if run.parsed.is_empty() || run.is_unfinished() || !ended_alike {
            self.found.remarks.push(format!(
                "After in another order ({what}) says nothing of its tests"
            ));
            return Ok(());
        }
        let both = [&after.parsed, &run.parsed];
        let differing = between_repeats(State::After, &both);
        let listed: BTreeSet<&String> = report
            .fail_to_pass
            .iter()
            .chain(&report.pass_to_pass)
            .collect();
        let gone: Vec<&String> = listed
            .iter()
            .copied()
            .filter(|id| differing.contains_key(*id))
            .collect();
        if gone.len() * 5 > listed.len() && listed.len() >= 10 {
            self.found.remarks.push(format!(
                "{} of {} tests of the lists end otherwise in another order ({what}): the suite is made for one order, which is pinned",
                gone.len(),
                listed.len()
            ));
            return Ok(());
        }
        let spelt = respelled(&after.parsed, gone.iter().copied(), &[run]);
        for id in gone {
            let why = spelt.get(id).cloned().unwrap_or_else(|| {
                format!("depends on order: it does not pass in After when the tests run in another ({what})")
            });
            self.set_aside.entry(id.clone()).or_insert(why);
        }
        Ok(())
    }
}

/// What the files of some tests say when they run without the others.
#[derive(Default)]
struct Alone {
    runs: Vec<StateRun>,
    unnamed: BTreeSet<String>,
    never: BTreeSet<String>,
}

type Statuses<'a> = BTreeMap<&'a str, TestStatus>;

fn statuses(runs: &[StateRun]) -> Vec<Statuses<'_>> {
    runs.iter().map(|run| run.parsed.tests()).collect()
}

fn said_of(state: State, runs: &[StateRun], statuses: &[Statuses<'_>], id: &str) -> Vec<Said> {
    let each = runs.iter().zip(statuses);
    let mut said: Vec<Said> = each
        .map(|(run, statuses)| Said::of(state, run, statuses.get(id).copied()))
        .collect();
    // What one run of After names, another that came to its end names too.
    if state == State::After && said.iter().any(|said| *said != Said::Nothing) {
        for (said, run) in said.iter_mut().zip(runs) {
            if *said == Said::Nothing && !run.is_unfinished() && !run.parsed.is_empty() {
                *said = Said::Contradicts;
            }
        }
    }
    said
}

fn heard(state: State, said: &[Said], order: Option<&str>) -> RerunEvidence {
    let known: Vec<Said> = said
        .iter()
        .copied()
        .filter(|said| *said != Said::Nothing)
        .collect();
    let against = known
        .iter()
        .filter(|said| **said == Said::Contradicts)
        .count();
    match (known.first(), against) {
        (None, _) => RerunEvidence::Nothing,
        (_, 0) => RerunEvidence::Agreement,
        (Some(Said::Agrees), n) if n > 1 && n == known.len() - 1 => RerunEvidence::OnlyFirst,
        (_, n) if n == known.len() => RerunEvidence::Never,
        _ => RerunEvidence::Contradiction(tally(state, said, order)),
    }
}

/// `passes in 2 of 3 further runs of Before`.
fn tally(state: State, said: &[Said], order: Option<&str>) -> String {
    let against = said
        .iter()
        .filter(|said| **said == Said::Contradicts)
        .count();
    let what = if state == State::Before {
        "passes"
    } else {
        "does not pass"
    };
    let (runs, state) = (said.len(), title(state));
    let only_last = against == 1 && said.last() == Some(&Said::Contradicts);
    match order.filter(|_| only_last) {
        Some(order) => format!(
            "depends on order: it {what} in 1 of {runs} further runs of {state}, the one in another order ({order})"
        ),
        None => format!("flaky: it {what} in {against} of {runs} further runs of {state}"),
    }
}

/// The state as sentences have it.
fn title(state: State) -> &'static str {
    match state {
        State::Base => "Base",
        State::Before => "Before",
        State::After => "After",
    }
}

/// What a run in another order does not name because the program of these tests died there: a test that fails in such an
/// order takes with it what would have come behind it.
fn unreached<'a>(
    last: &ParsedLog,
    others: impl Iterator<Item = &'a ParsedLog>,
) -> BTreeSet<String> {
    let modules = last.modules_not_loaded.iter();
    let died: BTreeSet<&str> = modules
        .filter(|lost| lost.reason == LostReason::Crashed)
        .map(|lost| lost.module.as_str())
        .collect();
    if died.is_empty() {
        return BTreeSet::new();
    }
    let named = last.tests();
    let others = others.flat_map(|run| run.results.iter());
    others
        .filter(|test| died.contains(test.module) && !named.contains_key(test.name))
        .map(|test| test.name.to_owned())
        .collect()
}

/// Whether more than half of at least ten tests that pass in the first run do not in the last.
fn collapses(runs: &[StateRun]) -> bool {
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        return false;
    };
    let last = last.parsed.tests();
    let passing = first.parsed.tests();
    let passing: Vec<&str> = passing
        .iter()
        .filter(|(_, status)| status.is_passing())
        .map(|(id, _)| *id)
        .collect();
    let broken = passing
        .iter()
        .filter(|id| !last.get(**id).is_some_and(|status| status.is_passing()));
    passing.len() >= 10 && broken.count() * 2 > passing.len()
}

/// The file of each test by `RSpec`'s report, whose console names none.
fn files_of(run: &StateRun) -> BTreeMap<String, String> {
    let report = run.report.as_deref().unwrap_or_default();
    let Ok(report) = serde_json::from_slice::<serde_json::Value>(report) else {
        return BTreeMap::new();
    };
    let examples = report["examples"].as_array().into_iter().flatten();
    examples
        .filter_map(|example| {
            let name = example["full_description"].as_str()?.to_owned();
            Some((name, example["file_path"].as_str()?.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::unreached;
    use atlas_core::{LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};

    #[test]
    fn what_a_dead_program_did_not_reach_says_nothing() {
        let log = |tests: &[(&str, &str)], lost: Option<LostReason>| -> ParsedLog {
            let mut log = ParsedLogBuilder::new("hand");
            for (module, name) in tests {
                log.record(
                    module,
                    &format!("{module}.{name}"),
                    name,
                    TestStatus::Passed,
                );
            }
            if let Some(reason) = lost {
                log.lose("b", reason, Vec::new());
            }
            log.finish(RunOutcome::Completed)
        };
        let whole = log(
            &[("a", "one"), ("a", "two"), ("b", "three"), ("b", "four")],
            None,
        );
        let cut = |reason| log(&[("a", "one"), ("b", "four")], reason);
        let found = |last: &ParsedLog| Vec::from_iter(unreached(last, [&whole].into_iter()));
        assert_eq!(found(&cut(Some(LostReason::Crashed))), ["three"]);
        assert!(found(&cut(None)).is_empty());
        assert!(found(&cut(Some(LostReason::BuildFailed))).is_empty());
    }
}
