//! Tests at the crate's boundary.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod analysis;
mod rendering;
mod samples;
mod synthesis;
