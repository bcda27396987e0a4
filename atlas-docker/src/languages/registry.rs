//! The table of languages.

use super::{Language, c, cpp, csharp, go, java, javascript, php, python, ruby, rust, typescript};

/// Every language shipped with this crate; of two that fit a repository equally, the first wins.
pub(crate) const BUILTIN: &[&dyn Language] = &[
    &python::Python,
    &javascript::JavaScript,
    &typescript::TypeScript,
    &go::Go,
    &rust::Rust,
    &java::Java,
    &csharp::CSharp,
    &ruby::Ruby,
    &php::Php,
    &c::C,
    &cpp::Cpp,
];
