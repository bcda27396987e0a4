#![doc = include_str!("../README.md")]

mod agreement;
mod classify;
mod differential;
mod script;

pub use agreement::compare;
pub use classify::{Classification, ClassifyInput, classify};
pub use differential::{OracleOptions, StateDifferentialOracle, StateRun};
pub use script::{MarkedLog, cut, state_script};
