//! Tests of the crate's border.
#![expect(
    clippy::unwrap_used,
    reason = "in tests and their helpers the place says what failed"
)]

mod agent;
mod audit;
mod export;
mod gates;
mod hint;
mod read;
mod rewrite;
mod samples;
mod tuning;
