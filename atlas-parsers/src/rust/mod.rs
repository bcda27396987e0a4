//! Rust.

pub(crate) mod cargo;
pub(crate) mod nextest;
