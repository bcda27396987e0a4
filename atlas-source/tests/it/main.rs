//! Tests of the crate on real git repositories, made on the spot.
#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "in tests and their helpers the place says what failed"
)]

mod applying;
mod archive;
mod clones;
mod doctor;
mod files;
mod filters;
mod github;
mod gitlab;
mod links;
mod repositories;
mod sealing;
mod splitting;
mod support;
mod worktree;
