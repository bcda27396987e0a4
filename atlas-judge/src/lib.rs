#![doc = include_str!("../README.md")]

pub mod metrics;
mod report;

pub use report::policies_report;
