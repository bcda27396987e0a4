//! Formats that runners of several languages write.

pub(crate) mod junit;
pub(crate) mod nunitxml;
pub(crate) mod tap;
pub(crate) mod trx;
