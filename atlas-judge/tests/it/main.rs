//! Tests at the boundary of the crate.

mod abstention;
mod answer;
mod support;
mod variants;
