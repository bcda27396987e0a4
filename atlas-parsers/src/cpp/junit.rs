//! The `JUnit` XML that C++ runners write to their console.

use crate::xml::{Kind, Tag};
use atlas_core::TestStatus;

/// Reads test cases from elements.
#[derive(Clone, Debug, Default)]
pub(super) struct Junit {
    open: Option<Case>,
}

/// A `<testcase>`.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) status: TestStatus,
    /// The message of a `<skipped>`.
    pub(super) skipped: Option<String>,
}

/// The elements that are read.
pub(super) fn wanted(name: &[u8]) -> bool {
    matches!(
        name,
        b"testsuites" | b"testsuite" | b"testcase" | b"failure" | b"error" | b"skipped"
    )
}

impl Junit {
    /// Takes an element. Returns the case that it ends.
    pub(super) fn take(&mut self, tag: Tag<'_>) -> Option<Case> {
        match tag.name {
            b"testcase" if tag.is_close() => return self.open.take(),
            b"testcase" => {
                let case = Case {
                    name: tag.text("name").unwrap_or_default(),
                    class: tag.text("classname").unwrap_or_default(),
                    status: TestStatus::Passed,
                    skipped: None,
                };
                if tag.kind == Kind::Empty {
                    return Some(case);
                }
                // A case that did not end is dropped: its verdict is not known.
                self.open = Some(case);
            }
            _ if tag.is_close() => {}
            name => {
                if let Some(case) = &mut self.open {
                    case.status = case.status.worst(match name {
                        b"failure" => TestStatus::Failed,
                        b"error" => TestStatus::Error,
                        b"skipped" => {
                            case.skipped = Some(tag.text("message").unwrap_or_default());
                            TestStatus::Skipped
                        }
                        _ => return None,
                    });
                }
            }
        }
        None
    }

    /// The case that is open.
    pub(super) fn open(&self) -> Option<&Case> {
        self.open.as_ref()
    }
}
