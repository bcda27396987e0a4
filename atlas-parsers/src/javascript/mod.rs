//! JavaScript and TypeScript.

pub(crate) mod jest;
pub(crate) mod nodetest;
pub(crate) mod tape;
