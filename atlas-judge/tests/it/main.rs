//! Tests at the boundary of the crate.

mod abstention;
mod answer;
mod critic;
mod support;
mod variants;
