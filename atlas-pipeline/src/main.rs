//! The `atlas` command.
fn main() {}
