//! Tests of the crate's border.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod export;
mod gates;
mod hint;
mod read;
mod rewrite;
mod samples;
mod tuning;
