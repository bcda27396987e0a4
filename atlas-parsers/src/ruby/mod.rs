//! Ruby.
