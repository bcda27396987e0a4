//! Tests at the boundary that users see.

mod canary_runs;
mod canary_styles;
mod code;
mod cpp;
mod dotnet;
mod everywhere;
mod go;
mod java;
mod javascript;
mod laws;
mod php;
mod python;
mod ruby;
mod rust;
mod support;
mod test_files;
mod upstream;
