//! JavaScript and TypeScript.

pub(crate) mod ava;
pub(crate) mod jasmine;
pub(crate) mod jest;
pub(crate) mod karma;
mod load;
pub(crate) mod mocha;
pub(crate) mod nodetest;
pub(crate) mod tape;
