//! PHP.
