//! Rust.

pub(crate) mod cargo;
