//! Tests at the crate's boundary.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may panic and say that they were skipped, as tests may"
)]

mod analysis;
mod conditions;
mod deaths;
mod disk;
mod docker;
mod earlier;
mod engines;
mod javascript;
mod local;
mod native;
mod pulls;
mod pytest;
mod remote;
mod rendering;
mod samples;
mod scripts;
mod sealed;
mod sessions;
mod submodules;
mod support;
mod synthesis;
