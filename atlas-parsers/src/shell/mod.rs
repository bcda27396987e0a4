//! Shell and Perl.

pub(crate) mod bats;
pub(crate) mod prove;
