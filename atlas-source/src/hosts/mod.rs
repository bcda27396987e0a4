//! What tells of merged pull requests.

pub(crate) mod clone;
pub(crate) mod facts;
pub(crate) mod issues;
pub(crate) mod people;
pub(crate) mod time;
