//! PHP.

pub(crate) mod phpunit;
