//! Runners of Python tests.

pub(crate) mod pytest;
pub(crate) mod unittest;
