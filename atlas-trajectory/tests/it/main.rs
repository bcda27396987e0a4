//! Tests of the crate's border.

mod gates;
mod hint;
mod read;
mod rewrite;
mod samples;
