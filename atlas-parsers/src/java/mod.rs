//! Java and other languages of the JVM.

pub(crate) mod ant;
mod compiler;
pub(crate) mod gradle;
pub(crate) mod junitconsole;
pub(crate) mod maven;
