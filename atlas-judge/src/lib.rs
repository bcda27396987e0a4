#![doc = include_str!("../README.md")]

pub mod metrics;
pub mod variant;
