//! Go.

pub(crate) mod gotest;
