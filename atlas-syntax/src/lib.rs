#![doc = include_str!("../README.md")]

mod assertions;
mod definition;
mod language;
mod mask;
mod mend;
mod nested;
mod plain;
mod rules;
mod source;
mod test_items;
mod tests_of;
mod tokens;
mod uses;
mod values;
mod walk;

pub use assertions::{
    InjectedFailure, InjectedSource, SkippedTest, count_tests, inject_failures, rewrite_test,
    text_of_test,
};
pub use definition::{Definition, DefinitionKind, Lines};
pub use language::{Language, parse};
pub use source::{Nesting, Source, functions};
pub use test_items::{TestItem, test_items};
pub use tokens::{Token, TokenKind};
pub use uses::Call;
pub use values::{NamedValue, ValueKind};
