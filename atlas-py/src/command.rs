//! The command `atlas`, for the script that comes with the wheel.

use pyo3::prelude::*;

/// What the command `atlas` does with these words, of which the first is its own name; gives the exit code.
#[pyfunction]
pub(crate) fn _command_line(py: Python<'_>, words: Vec<String>) -> u8 {
    py.detach(|| atlas_pipeline::command_line(words))
}
