//! PHP.

pub(crate) mod nettetester;
pub(crate) mod phpunit;
