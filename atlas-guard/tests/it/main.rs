//! Tests at the boundary that users see.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may panic and say that they were skipped, as tests may"
)]

mod canary_runs;
mod canary_styles;
mod code;
mod cpp;
mod dotnet;
mod everywhere;
mod go;
mod helpers;
mod java;
mod javascript;
mod laws;
mod php;
mod python;
mod ruby;
mod rust;
mod support;
mod test_files;
mod twins;
mod upstream;
