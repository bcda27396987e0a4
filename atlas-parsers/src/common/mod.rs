//! Formats that runners of several languages write.

pub(crate) mod junit;
