//! Tests of pages as a reader's program gets them: read by an HTML parser.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop at that line"
)]

mod fragments;
mod hostile;
mod pages;
mod support;
