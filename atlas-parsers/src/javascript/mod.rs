//! JavaScript and TypeScript.

pub(crate) mod ava;
pub(crate) mod bun;
pub(crate) mod cypress;
pub(crate) mod deno;
pub(crate) mod jasmine;
pub(crate) mod jest;
mod json;
mod junit;
pub(crate) mod karma;
pub(crate) mod lab;
mod load;
pub(crate) mod mocha;
pub(crate) mod nodetest;
pub(crate) mod playwright;
mod report;
mod sum;
pub(crate) mod tape;
pub(crate) mod uvu;
pub(crate) mod vitest;
