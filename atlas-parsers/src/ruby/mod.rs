//! Ruby.

pub(crate) mod cucumber;
pub(crate) mod minitest;
mod report;
pub(crate) mod rspec;
pub(crate) mod testunit;
