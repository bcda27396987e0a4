//! What a runner said of one test.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The result of one test.
///
/// The order is from best to worst: where a log reports one test several times, the worst status
/// counts, so that a later pass can never hide a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TestStatus {
    /// Ran and succeeded.
    Passed,
    /// Failed, as the test declares it should.
    Xfail,
    /// Succeeded although the test declares that it should fail (and the runner does not mind).
    Xpass,
    /// Did not run, on purpose.
    Skipped,
    /// Ran and an expectation did not hold.
    Failed,
    /// Could not be set up, run or torn down.
    Error,
}

/// A word that is no test status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no test status: PASSED, FAILED, SKIPPED, ERROR, XFAIL or XPASS expected")]
pub struct UnknownStatus(pub String);

impl TestStatus {
    /// Every status, best first.
    pub const ALL: [Self; 6] = [
        Self::Passed,
        Self::Xfail,
        Self::Xpass,
        Self::Skipped,
        Self::Failed,
        Self::Error,
    ];

    /// The field's upper-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Xfail => "XFAIL",
            Self::Xpass => "XPASS",
            Self::Skipped => "SKIPPED",
            Self::Failed => "FAILED",
            Self::Error => "ERROR",
        }
    }

    /// Whether the test ran and did what it should: PASSED, XFAIL or XPASS.
    ///
    /// A runner that minds unexpected passes (strict mode) prints them as failures, and then they
    /// are parsed as [`Failed`](Self::Failed).
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Passed | Self::Xfail | Self::Xpass)
    }

    /// Whether the test was explicitly reported as not working: FAILED or ERROR.
    pub fn is_failing(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }

    /// The one of the two that counts when both were reported.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        self.max(other)
    }

    /// The status in the five words that SWE-bench harnesses know: XPASS is exported as PASSED.
    #[must_use]
    pub fn to_swebench(self) -> Self {
        if self == Self::Xpass {
            Self::Passed
        } else {
            self
        }
    }
}

impl fmt::Display for TestStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for TestStatus {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| UnknownStatus(text.to_owned()))
    }
}
