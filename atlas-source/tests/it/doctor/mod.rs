//! Patches that do not apply, and what is said about them.

mod ladders;
mod text;
