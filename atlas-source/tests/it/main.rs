//! Tests of the crate on real git repositories, made on the spot.

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
