//! Tests at the crate's boundary.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may panic and say that they were skipped, as tests may"
)]

mod analysis;
mod docker;
mod local;
mod rendering;
mod samples;
mod submodules;
mod support;
mod synthesis;
