//! Which figures there are, and what is in them.

mod calibration;
mod critics;
mod policies;

pub(super) use critics::{critic, critics};
pub(super) use policies::{curves_beside, policies};

/// The heading of differences.
pub(super) const DIFFERENCES: &str = "Differences of policies";
/// The heading of critics' differences.
pub(super) const CRITIC_DIFFERENCES: &str = "Differences of critics";
/// What these are.
pub(super) const PAIRED_CRITICS: &str = "What the first named has more than the second, in points of percent, after the \
    rule for low confidence: over the patches that both judge, and where tests are counted over the single tests; \
    intervals by the paired bootstrap, which draws the same tasks for both.";
/// What they are.
pub(super) const PAIRED: &str = "What the first named has more than the second, in points of percent, over the \
    patches that both judge; intervals by the paired bootstrap, which draws the same tasks for both.";
