//! The code hosts: GitHub, GitLab, GH Archive and clones, each a list of merged pull requests.

pub(crate) mod archive;
#[cfg(feature = "http")]
mod checkout;
pub(crate) mod clone;
pub(crate) mod facts;
#[cfg(feature = "http")]
mod fields;
#[cfg(feature = "http")]
pub(crate) mod github;
#[cfg(feature = "http")]
pub(crate) mod gitlab;
#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod issues;
#[cfg(feature = "http")]
mod limits;
mod lines;
#[cfg(feature = "http")]
mod mark;
pub(crate) mod people;
pub(crate) mod time;
