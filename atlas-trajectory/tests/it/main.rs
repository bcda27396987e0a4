//! Tests of the crate's border.

mod agent;
mod audit;
mod gates;
mod read;
mod rewrite;
mod samples;
