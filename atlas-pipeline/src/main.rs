//! The `atlas` command.

mod cli;

use clap::Parser;
use std::process::ExitCode;

// Results of large logs are many pages, and here they are kept from one log to the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run(cli::Cli::parse())
}
