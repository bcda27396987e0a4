//! Tests of the parsers at the boundary that users see.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop at that line"
)]

mod agree;
mod certify;
mod certify_corpus;
mod compat;
mod corpus;
mod detect;
mod folders;
mod forged;
mod front;
mod fuzz;
mod hosts;
mod inject;
mod inner;
mod printed;
mod read_from;
mod registry;
mod rules;
mod shared;
mod support;
