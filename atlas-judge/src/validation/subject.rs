//! A candidate patch with what is known of it.

use super::{TestFacts, Trajectory};
use crate::BugReport;
use crate::given::SubjectReader;
use atlas_core::{Error, LogParser, Patch, Subject};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What patch validation looks at.
#[derive(Clone, Debug, Default)]
pub struct ValidationSubject {
    /// The instance's name; empty where it has none.
    pub instance: String,
    /// The bug.
    pub report: BugReport,
    /// The candidate.
    pub patch: Patch,
    /// The files that the patch edits, as they were before; by path from the repository's root.
    pub originals: BTreeMap<String, String>,
    /// How the agent came to the patch.
    pub trajectory: Option<Trajectory>,
    /// What running tests has shown.
    pub facts: Option<TestFacts>,
    /// Reads the output of the agent's test commands, where the project's format is known.
    pub log_parser: Option<Arc<dyn LogParser>>,
}

impl ValidationSubject {
    /// The subject of a judge: the row's report, the patch, and the attachments `originals` (path to
    /// text), `trajectory` (any form that [`Trajectory::read`] takes) and `test_facts`
    /// ([`TestFacts`]), all optional.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind) naming what is missing or has another form.
    pub fn of(subject: &Subject) -> Result<Self, Error> {
        let given = SubjectReader::new(subject, "read for validation");
        let patch = subject.patch.clone();
        let instance = subject.instance.id();
        Ok(Self {
            instance: instance.map_or_else(|_| String::new(), |id| id.to_string()),
            report: BugReport::of(subject)?,
            patch: patch.ok_or_else(|| given.wrong("there is no patch"))?,
            originals: given.attached("originals")?.unwrap_or_default(),
            trajectory: given.read("trajectory", Trajectory::read)?,
            facts: given.attached("test_facts")?,
            log_parser: None,
        })
    }

    /// The patch as text; bytes that are none are replaced.
    pub fn patch_text(&self) -> String {
        String::from_utf8_lossy(self.patch.as_bytes()).into_owned()
    }

    /// Files that the patch changes or removes and whose originals were not given.
    pub fn missing_originals(&self) -> Vec<String> {
        let files = self.patch.files().unwrap_or_default();
        let old = files.iter().filter(|file| !file.binary);
        let old = old.filter_map(|file| file.old_path.clone());
        let mut missing: Vec<String> = old
            .filter(|path| !self.originals.contains_key(path))
            .collect();
        missing.sort();
        missing.dedup();
        missing
    }
}
