//! What is known of each runner, in a file each: how its test command runs fewer tests, or the same ones in another
//! order.

mod ava;
mod bats;
mod bun;
mod cargo;
mod go;
mod gradle;
mod gtest;
mod jasmine;
mod jest;
mod lab;
mod maven;
mod minitest;
mod mocha;
mod native;
mod node;
mod phpunit;
mod prove;
mod pytest;
mod qunit;
mod rspec;
mod tap;
mod unittest;
mod vitest;

use super::narrow::Narrowing;
use super::order::{Other, Pin};
use super::scope::Scoping;

/// Sources of JavaScript and TypeScript.
const SCRIPTS: &[&str] = &[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"];

/// What is known of a runner.
pub(super) struct Known {
    /// Ways to run some of its tests; of those that are for a plan's parser, the first that its command has a place for.
    pub(super) narrowings: &'static [Narrowing],
    /// The same for single tests, where their files or classes may be most of a suite that takes long.
    pub(super) singles: &'static [Narrowing],
    /// Another order of its tests.
    pub(super) orders: &'static [Other],
    /// What makes their order the same in every run.
    pub(super) pins: &'static [Pin],
    /// Ways to run the files that a pull request touches, for good; the first that is for a plan.
    pub(super) scopings: &'static [Scoping],
}

impl Known {
    const NOTHING: Self = Self {
        narrowings: &[],
        singles: &[],
        orders: &[],
        pins: &[],
        scopings: &[],
    };
}

/// All of them; of a plan with several, the order of the first has the name.
pub(super) const RUNNERS: &[Known] = &[
    pytest::KNOWN,
    unittest::KNOWN,
    go::KNOWN,
    gtest::KNOWN,
    rspec::KNOWN,
    minitest::KNOWN,
    maven::KNOWN,
    jest::KNOWN,
    vitest::KNOWN,
    bun::KNOWN,
    jasmine::KNOWN,
    lab::KNOWN,
    qunit::KNOWN,
    phpunit::KNOWN,
    cargo::KNOWN,
    mocha::KNOWN,
    node::KNOWN,
    ava::KNOWN,
    tap::KNOWN,
    gradle::KNOWN,
    native::KNOWN,
    bats::KNOWN,
    prove::KNOWN,
];
