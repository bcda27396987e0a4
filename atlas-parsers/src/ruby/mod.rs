//! Ruby.

pub(crate) mod cucumber;
mod loading;
pub(crate) mod minitest;
mod report;
pub(crate) mod rspec;
pub(crate) mod testunit;
