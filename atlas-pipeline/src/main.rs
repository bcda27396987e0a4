//! The `atlas` command.

use std::process::ExitCode;

// Results of large logs are many pages, and here they are kept from one log to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(atlas_pipeline::command_line(std::env::args_os()))
}
