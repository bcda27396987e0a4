//! What the runs in one log come to.

use crate::tally::{Put, Tally};
use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome};

/// How the runs of a log ended, and whether their results agree with their totals.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Runs {
    /// How the log ended, as far as it was read; none before its first run.
    pub(crate) outcome: Option<RunOutcome>,
    /// Whether all results agree with their totals; none where that cannot be told of any run.
    pub(crate) consistent: Option<bool>,
}

impl Runs {
    /// A run ended so; of several ends the worst is that of the log.
    pub(crate) fn worst(&mut self, outcome: RunOutcome) {
        const WORST_FIRST: [RunOutcome; 5] = [
            RunOutcome::Crashed,
            RunOutcome::TimedOut,
            RunOutcome::Truncated,
            RunOutcome::Completed,
            RunOutcome::BuildFailed,
        ];
        let ends = [self.outcome, Some(outcome)];
        let worst = WORST_FIRST
            .into_iter()
            .find(|end| ends.contains(&Some(*end)));
        self.outcome = worst.or(Some(outcome));
    }

    /// A run ended so; the first of several that did not come to its end speaks for the log, and
    /// one in which nothing ran for none.
    pub(crate) fn first_cut(&mut self, outcome: RunOutcome) {
        match (self.outcome, outcome) {
            (None | Some(RunOutcome::NothingRan), _) => self.outcome = Some(outcome),
            (_, RunOutcome::NothingRan) => {}
            (Some(RunOutcome::Completed), _) => self.outcome = Some(outcome),
            _ => {}
        }
    }

    /// Whether a run's results agree with its totals, where that can be told. One that does not
    /// makes the log inconsistent.
    pub(crate) fn agree(&mut self, agrees: impl Into<Option<bool>>) {
        if let Some(agrees) = agrees.into() {
            self.consistent = Some(agrees && self.consistent.unwrap_or(true));
        }
    }

    /// Records a run, which ended as its counts say, or not at all. `agrees` is whether its results
    /// do with them.
    pub(crate) fn close(
        &mut self,
        run: Tally,
        agrees: impl Into<Option<bool>>,
        log: &mut ParsedLogBuilder,
        put: Put,
    ) {
        let outcome = match run.end {
            None if run.is_empty() && !run.begun => return,
            None => RunOutcome::Truncated,
            Some(end) if end.total == Some(0) => RunOutcome::NothingRan,
            Some(_) => RunOutcome::Completed,
        };
        self.first_cut(outcome);
        if run.end.is_some() {
            self.agree(agrees);
        }
        run.put_into(log, put);
    }

    /// The log of these runs; where there was none, what was to run was built, or not. It is
    /// consistent only where that can be told of a run.
    pub(crate) fn finish(self, log: ParsedLogBuilder, unbuilt: bool) -> ParsedLog {
        let without_runs = if unbuilt {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        let mut log = log.finish(self.outcome.unwrap_or(without_runs));
        log.consistent = self.consistent;
        log
    }
}
