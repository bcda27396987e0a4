//! One traced `mvn -Dtest=…`: a test whose result is Maven's verdict.

use super::line::Counts;
use atlas_core::{ParsedLogBuilder, TestStatus};

/// The test of the command that runs.
#[derive(Clone, Debug)]
pub(super) struct Single {
    test: String,
    counts: Counts,
}

impl Single {
    pub(super) fn new(test: &str) -> Self {
        Self {
            test: test.to_owned(),
            counts: Counts::default(),
        }
    }

    /// The totals of a module.
    pub(super) fn add(&mut self, counts: Counts) {
        self.counts.add(counts);
    }

    /// Records the result, of a build that succeeded or not. A command that ran no test, because nothing was built or nothing fitted,
    /// says nothing of its test.
    pub(super) fn finish(self, verdict: Option<bool>, log: &mut ParsedLogBuilder) {
        let counts = self.counts;
        if counts.run == 0 {
            log.warn(None, format!("`{}` did not come to run", self.test));
            return;
        }
        let status = match verdict {
            Some(true) if counts.failing() == 0 => {
                if counts.skipped >= counts.run {
                    TestStatus::Skipped
                } else {
                    TestStatus::Passed
                }
            }
            Some(_) => TestStatus::Failed,
            None => {
                log.still_running(self.test);
                return;
            }
        };
        log.record("", &self.test, &self.test, status);
    }
}
