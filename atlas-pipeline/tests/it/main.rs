//! The `atlas` command as people use it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod demo;
mod docker;
mod kill;
mod logs;
mod make;
mod support;
mod usage;
