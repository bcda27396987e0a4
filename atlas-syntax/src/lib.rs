#![doc = include_str!("../README.md")]

mod assertions;
mod language;

pub use assertions::{InjectedFailure, InjectedSource, SkippedTest, inject_failures};
pub use language::{Language, parse};
