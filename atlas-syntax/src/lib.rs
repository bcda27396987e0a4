#![doc = include_str!("../README.md")]

mod language;

pub use language::{Language, parse};
