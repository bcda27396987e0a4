//! A suite that does not come to its end, and the part of it that does.

use super::{MakeOptions, Work};
use crate::Engines;
use crate::config::ScopeChoice;
use crate::environment::{Scope, part};
use crate::log_reading::LogReading;
use crate::store::{Workplace, write_json};
use atlas_core::{
    Environment, Error, ExitState, OracleOutcome, OracleReport, OracleTask, RunContext, RunOutcome,
    State, TestScopeLevel,
};
use atlas_oracle::StateRun;
use std::collections::BTreeMap;

type Known = (OracleReport, BTreeMap<State, Vec<StateRun>>);

/// Whether a run died before its end, and took tests along that nothing is wrong with.
fn died(run: &StateRun) -> bool {
    let outcome = run.parsed.outcome;
    matches!(
        outcome,
        RunOutcome::Crashed | RunOutcome::Truncated | RunOutcome::TimedOut
    ) || run.summary.exit == ExitState::TimedOut
}

fn is_undecided(report: &OracleReport) -> bool {
    matches!(
        report.outcome,
        OracleOutcome::EnvironmentInvalid | OracleOutcome::NoEvidence
    )
}

impl Work {
    /// Where nothing can be said because the whole suite dies in After, the files that the pull request touches are run
    /// alone: what kills the suite may have nothing to do with them. What they say is taken if it decides.
    pub(super) async fn of_a_part(
        &mut self,
        cx: &RunContext,
        options: &MakeOptions,
        (environment, engines, task, place): (&mut Environment, &Engines, &OracleTask, &Workplace),
        (known, scope, reading): (Known, &Scope, &LogReading),
    ) -> Result<Known, Error> {
        let (report, runs) = &known;
        let after = runs.get(&State::After).and_then(|runs| runs.first());
        let asked = options.config.make.scope == ScopeChoice::Auto
            && environment.plan.test_scope.is_none()
            && is_undecided(report)
            && after.is_some_and(died);
        let reason = "the whole suite does not come to its end in After";
        let Some(Ok(narrow)) =
            asked.then(|| part(environment, scope, TestScopeLevel::Touched, reason))
        else {
            return Ok(known);
        };
        cx.progress.phase("run a part of the tests");
        // The sources declare the tests of the whole suite.
        reading.declare(None);
        let of = (narrow.clone(), engines, task, place);
        let (decided, part_runs) = self.states(cx, options, of, reading).await?;
        if is_undecided(&decided) {
            let plan = &environment.plan;
            for (state, runs) in runs {
                for (repeat, run) in (0..).zip(runs) {
                    self.keep(*state, repeat, run, plan)?;
                }
            }
            write_json(&self.artefacts.join("oracle.json"), report)?;
            return Ok(known);
        }
        *environment = narrow;
        write_json(&self.artefacts.join("plan.json"), &environment.plan)?;
        let drift = environment.plan.drift.last();
        self.warnings
            .extend(drift.map(|said| format!("drift: {said}")));
        Ok((decided, part_runs))
    }
}
