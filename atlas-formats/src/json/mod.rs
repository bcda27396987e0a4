//! JSON as text: where values begin and end, and how they are spelled.
//!
//! A value tree forgets how a row was written: blanks, escapes, `1.0` beside `1`, integers beyond 64
//! bits. Rows are kept as the text they were read as, so this module finds places in text and
//! changes one column without touching the bytes of the others.

mod scan;
mod splice;
mod style;

pub(crate) use scan::{ScanError, blank_end, members, value_end};
pub(crate) use splice::{insert_or_replace, minified, without};
pub(crate) use style::{Style, render};
