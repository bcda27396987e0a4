//! Tests of the oracle over logs built by hand and over a sandbox that replays streams.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod agreement;
mod classify;
mod differential;
mod flake;
mod gates;
mod lines;
mod script;
