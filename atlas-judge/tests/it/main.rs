//! Tests at the boundary of the crate.

mod abstention;
mod answer;
mod critic;
mod real_hunks;
mod support;
mod variants;
