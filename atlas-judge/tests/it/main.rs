//! Tests at the boundary of the crate.

mod abstention;
mod answer;
mod decisions;
mod support;
mod validation;
