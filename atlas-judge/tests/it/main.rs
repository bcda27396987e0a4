//! Tests at the boundary of the crate.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]
#![expect(
    clippy::print_stdout,
    reason = "a test that needs what is not here says that it was skipped"
)]

mod abstention;
mod answer;
mod decisions;
mod differential;
mod metrics;
mod results;
mod stored_values;
mod support;
mod validation;
