//! A suite that does not come to its end, and the part of it that does.

use super::{Journey, Judged, Means};
use crate::config::ScopeChoice;
use crate::environment::part;
use crate::store::write_json;
use atlas_core::{
    Error, ExitState, OracleOutcome, OracleReport, RunOutcome, State, TestScopeLevel,
};
use atlas_oracle::StateRun;

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

impl Journey<'_> {
    /// Where nothing can be said because the whole suite dies in After, the files that the pull request touches are run
    /// alone: what kills the suite may have nothing to do with them. What they say is taken if it decides.
    pub(super) async fn of_a_part(
        &mut self,
        means: &Means,
        judged: Judged,
    ) -> Result<Judged, Error> {
        let environment = &judged.environment;
        let asked = self.options.config.make.scope == ScopeChoice::Auto
            && environment.plan.test_scope.is_none()
            && is_undecided(&judged.report)
            && judged.first(State::After).is_some_and(died);
        let reason = "the whole suite does not come to its end in After";
        let touched = TestScopeLevel::Touched;
        let Some(Ok(narrow)) = asked.then(|| part(environment, &means.scope, touched, reason))
        else {
            return Ok(judged);
        };
        self.cx.progress.phase("run a part of the tests");
        // The sources declare the tests of the whole suite.
        means.reading.declare(None);
        let decided = self.states(means, narrow).await?;
        if is_undecided(&decided.report) {
            for (state, runs) in &judged.runs {
                for (repeat, run) in (0..).zip(runs) {
                    self.keep(*state, repeat, run, &judged.environment.plan)?;
                }
            }
            write_json(&self.artefacts.join("oracle.json"), &judged.report)?;
            return Ok(judged);
        }
        let plan = &decided.environment.plan;
        write_json(&self.artefacts.join("plan.json"), plan)?;
        let drift = plan.drift.last();
        self.warnings
            .extend(drift.map(|said| format!("drift: {said}")));
        Ok(decided)
    }
}
