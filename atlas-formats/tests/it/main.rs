//! Tests at the boundary that users see.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod convert;
mod diff;
mod faults;
mod folders;
mod given;
mod lint;
mod literal;
mod mapped;
#[cfg(feature = "parquet")]
mod parquet;
mod predictions;
mod reverse;
mod roundtrip;
mod rows;
mod schema;
mod streams;
