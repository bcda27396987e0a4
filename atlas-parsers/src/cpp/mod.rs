//! C and C++.

pub(crate) mod automake;
pub(crate) mod boost;
mod build;
pub(crate) mod catch2;
pub(crate) mod check;
pub(crate) mod cmocka;
mod compiler;
pub(crate) mod cppunit;
pub(crate) mod ctest;
pub(crate) mod cunit;
mod death;
pub(crate) mod doctest;
pub(crate) mod gtest;
pub(crate) mod handmade;
mod junit;
pub(crate) mod meson;
mod nest;
mod reports;
mod subunit;
mod text;
pub(crate) mod unity;

/// [`About::without_report`](crate::About::without_report) of runners whose test programs `make check` and its like start.
const WITHOUT_REPORT: &str =
    "the test programs are started by a makefile, which asks none of them for a report";
