//! Tests at the boundary of the crate.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod abstention;
mod answer;
mod critic;
mod decisions;
mod metrics;
mod stored_values;
mod support;
mod validation;
mod variants;
