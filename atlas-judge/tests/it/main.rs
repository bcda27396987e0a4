//! Tests at the boundary of the crate.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod differential;
mod metrics;
mod results;
mod stored_values;
