//! Tests of the oracle over logs built by hand and over a sandbox that replays streams.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]
#![expect(
    clippy::print_stdout,
    reason = "a test that needs what is not here says that it was skipped"
)]

mod agreement;
mod belief;
mod cause;
mod classify;
mod compat;
mod diff;
mod differential;
mod flake;
mod gates;
mod lines;
mod neighbours;
mod rerun;
mod scope;
mod score;
mod script;
