//! The table of languages.

use super::{Language, go, javascript, python, rust};

/// Every language shipped with this crate; of two that fit a repository equally, the first wins.
pub(crate) const BUILTIN: &[&dyn Language] = &[
    &python::Python,
    &javascript::JavaScript,
    &go::Go,
    &rust::Rust,
];
