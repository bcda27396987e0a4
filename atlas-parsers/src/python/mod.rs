//! Runners of Python tests.

pub(crate) mod django;
pub(crate) mod pytest;
pub(crate) mod sympy;
pub(crate) mod unittest;
