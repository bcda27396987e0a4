//! Tests at the boundary of the crate.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod abstention;
mod alignment;
mod answer;
mod attempts;
mod calibration;
mod candidates;
mod classes;
mod critic;
mod decisions;
mod dependents;
mod differential;
mod ensemble;
mod hints;
mod label_form;
mod metrics;
mod papers;
mod real_hunks;
mod results;
mod stored_values;
mod support;
mod trajectories;
mod validation;
mod variants;
