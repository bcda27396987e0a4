//! Tests of the crate's border.

mod gates;
mod read;
mod rewrite;
mod samples;
