//! Go.

pub(crate) mod gotest;
pub(crate) mod gotestsum;
