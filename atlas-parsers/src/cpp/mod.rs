//! C and C++.

pub(crate) mod automake;
mod build;
pub(crate) mod check;
pub(crate) mod cmocka;
pub(crate) mod ctest;
pub(crate) mod cunit;
pub(crate) mod meson;
mod nest;
mod subunit;
mod tally;
pub(crate) mod unity;
