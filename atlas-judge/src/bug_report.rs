//! The bug report of a task.

use crate::given::SubjectReader;
use atlas_core::{Error, Subject};
use serde::{Deserialize, Serialize};

/// Title and text of a bug report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BugReport {
    /// One line.
    pub title: String,
    /// The rest.
    pub description: String,
}

impl BugReport {
    /// A problem statement's first line that is not empty is its title, the rest its description;
    /// Markdown's `#` before a title is taken off.
    ///
    /// ```
    /// let report = atlas_judge::BugReport::from_problem_statement("\n# It breaks\n\nAlways.\n");
    /// assert_eq!((&*report.title, &*report.description), ("It breaks", "Always."));
    /// ```
    pub fn from_problem_statement(text: &str) -> Self {
        let text = text.trim();
        let (title, description) = text.split_once('\n').unwrap_or((text, ""));
        Self {
            title: title.trim().trim_start_matches('#').trim().to_owned(),
            description: description.trim().to_owned(),
        }
    }

    /// The report of a subject: its attachments `bug_title` and `bug_description`, else the row's
    /// `problem_statement`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind) where there is neither, or an attachment is no text.
    pub fn of(subject: &Subject) -> Result<Self, Error> {
        let given = SubjectReader::new(subject, "read the bug report of");
        let (title, description) = (given.text("bug_title")?, given.text("bug_description")?);
        let report = if title.is_some() || description.is_some() {
            Self {
                title: title.unwrap_or_default(),
                description: description.unwrap_or_default(),
            }
        } else {
            Self::from_problem_statement(&given.column("problem_statement")?)
        };
        if report.text().trim().is_empty() {
            return Err(given.wrong(
                "column `problem_statement` is missing or empty; give it, or the attachments `bug_title` and \
                 `bug_description`",
            ));
        }
        Ok(report)
    }

    /// Title and description as one text.
    pub fn text(&self) -> String {
        if self.description.is_empty() {
            self.title.clone()
        } else {
            format!("{}\n{}", self.title, self.description)
        }
    }
}
