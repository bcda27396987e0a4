//! What several runs in one log come to.

use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome};

/// The runs in one log taken together, for runners that may print a dot for each test that passes instead of its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    /// Runs with an end.
    pub(super) ended: u64,
    /// The counts of an end are not those of the results above it.
    pub(super) disagrees: bool,
    /// A run has no end.
    pub(super) truncated: bool,
    /// A file did not load.
    pub(super) lost: bool,
    /// Tests passed, named or not.
    pub(super) passed: bool,
}

impl Sum {
    /// The log with its outcome, and whether it is consistent where a run has an end.
    pub(super) fn finish(&self, mut log: ParsedLogBuilder) -> ParsedLog {
        if self.ended > 0 {
            log.set_consistent(!self.disagrees);
        }
        let nothing = log.recorded() == 0 && !self.passed;
        let outcome = match (self.truncated, nothing, self.lost) {
            (true, ..) => RunOutcome::Truncated,
            (false, true, true) => RunOutcome::BuildFailed,
            (false, true, false) => RunOutcome::NothingRan,
            _ => RunOutcome::Completed,
        };
        log.finish(outcome)
    }
}
