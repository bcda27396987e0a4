//! Checks of style that a test runner reports among the tests.

use std::path::Path;

/// What plugins of pytest call the items that they make of each source file: linters, formatters and type
/// checkers. In small letters; the parts of an id behind its file.
const CHECKS: &[&str] = &[
    "black",
    "codestyle",
    "docstyle",
    "flake-8::flake8",
    "flake8",
    "isort",
    "mypy",
    "mypy-status",
    "pep8",
    "pycodestyle",
    "pydocstyle",
    "pyflakes",
    "pylint",
    "pyright",
    "ruff",
    "ruff::format",
];

/// Whether an id is such a check, as `pkg/mod.py::ruff`.
///
/// It judges how a file is written, the solution's like any other, and most of these plugins leave out a file
/// whose time they know from an earlier run.
pub fn is_style_check(id: &str) -> bool {
    let Some((file, item)) = id.split_once("::") else {
        return false;
    };
    let of_python = Path::new(file)
        .extension()
        .is_some_and(|end| end == "py" || end == "pyi" || end == "ipynb");
    of_python && CHECKS.contains(&item.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::is_style_check;

    #[test]
    fn a_linter_s_item_is_no_test() {
        for id in [
            "a/b.py::ruff",
            "b.py::ruff::format",
            "setup.py::FLAKE8",
            "m.py::mypy-status",
        ] {
            assert!(is_style_check(id), "{id}");
        }
        for id in [
            "a/b.py::test_ruff",
            "ruff",
            "a.rs::mypy",
            "b.py::TestA::ruff",
            "a.py::ruff[x]",
        ] {
            assert!(!is_style_check(id), "{id}");
        }
    }
}
