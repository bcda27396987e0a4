//! Tests at the boundary of the crate.

mod variants;
