//! The document of the `json` reporter.

use crate::javascript::json::Document;
use atlas_core::TestStatus;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Top,
    Suites,
    Suite,
    Specs,
    Spec,
    Tags,
    Tests,
    Test,
    Stats,
    Errors,
    Error,
    Other,
}

/// One test of a document.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) file: String,
    pub(super) id: String,
    pub(super) status: TestStatus,
}

/// What a document says.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub(super) tests: Vec<Test>,
    /// Messages of errors that belong to no test.
    pub(super) errors: Vec<String>,
    pub(super) expected: u64,
    pub(super) unexpected: u64,
    pub(super) flaky: u64,
    pub(super) skipped: u64,
    pub(super) complete: bool,
    places: Vec<Place>,
    suites: Vec<String>,
    title: String,
    tags: Vec<String>,
    /// Tests of a spec wait for its title and tags.
    pending: Vec<(String, TestStatus)>,
    project: String,
    status: String,
    expected_status: String,
}

impl Report {
    fn place(&self) -> Place {
        self.places.last().copied().unwrap_or(Place::Other)
    }

    fn end_test(&mut self) {
        let status = match self.status.as_str() {
            "expected" if self.expected_status == "failed" => TestStatus::Xfail,
            "expected" | "flaky" => TestStatus::Passed,
            "unexpected" => TestStatus::Failed,
            "skipped" => TestStatus::Skipped,
            _ => return,
        };
        self.pending
            .push((std::mem::take(&mut self.project), status));
    }

    fn end_spec(&mut self) {
        let file = self.suites.first().cloned().unwrap_or_default();
        for (project, status) in std::mem::take(&mut self.pending) {
            let mut id = String::new();
            if !project.is_empty() {
                id = format!("[{project}] › ");
            }
            for title in &self.suites {
                id.push_str(title);
                id.push_str(" › ");
            }
            id.push_str(&self.title);
            // The console appends tags that the titles do not hold.
            for tag in &self.tags {
                let tag = format!("@{}", tag.strip_prefix('@').unwrap_or(tag));
                if !id.contains(&tag) {
                    id.push(' ');
                    id.push_str(&tag);
                }
            }
            self.tests.push(Test {
                file: file.clone(),
                id,
                status,
            });
        }
    }
}

impl Document for Report {
    fn begins_with(key: &[u8]) -> bool {
        key == b"config"
    }

    fn open(&mut self, key: &[u8], object: bool) {
        let place = match (self.places.last(), key, object) {
            (None, ..) => Place::Top,
            (Some(Place::Top | Place::Suite), b"suites", false) => Place::Suites,
            (Some(Place::Top), b"stats", true) => Place::Stats,
            (Some(Place::Top), b"errors", false) => Place::Errors,
            (Some(Place::Errors), _, true) => Place::Error,
            (Some(Place::Suites), _, true) => {
                self.suites.push(String::new());
                Place::Suite
            }
            (Some(Place::Suite), b"specs", false) => Place::Specs,
            (Some(Place::Specs), _, true) => {
                self.title.clear();
                self.tags.clear();
                self.pending.clear();
                Place::Spec
            }
            (Some(Place::Spec), b"tags", false) => Place::Tags,
            (Some(Place::Spec), b"tests", false) => Place::Tests,
            (Some(Place::Tests), _, true) => {
                self.project.clear();
                self.status.clear();
                self.expected_status.clear();
                Place::Test
            }
            _ => Place::Other,
        };
        self.places.push(place);
    }

    fn close(&mut self) {
        match self.places.pop() {
            Some(Place::Test) => self.end_test(),
            Some(Place::Spec) => self.end_spec(),
            Some(Place::Suite) => {
                self.suites.pop();
            }
            _ => {}
        }
    }

    fn wants(&self, key: &[u8]) -> bool {
        match self.place() {
            Place::Suite | Place::Spec => key == b"title",
            Place::Tags => true,
            Place::Test => matches!(key, b"projectName" | b"status" | b"expectedStatus"),
            Place::Error => key == b"message" && self.errors.len() < 40,
            _ => false,
        }
    }

    fn text(&mut self, key: &[u8], text: String) {
        match (self.place(), key) {
            (Place::Suite, _) => {
                if let Some(title) = self.suites.last_mut() {
                    *title = text;
                }
            }
            (Place::Spec, _) => self.title = text,
            (Place::Tags, _) => self.tags.push(text),
            (Place::Test, b"projectName") => self.project = text,
            (Place::Test, b"status") => self.status = text,
            (Place::Test, _) => self.expected_status = text,
            (Place::Error, _) => self.errors.push(text),
            _ => {}
        }
    }

    fn literal(&mut self, key: &[u8], text: &str) {
        if self.place() != Place::Stats {
            return;
        }
        let field = match key {
            b"expected" => &mut self.expected,
            b"unexpected" => &mut self.unexpected,
            b"flaky" => &mut self.flaky,
            b"skipped" => &mut self.skipped,
            _ => return,
        };
        *field = text.parse().unwrap_or(0);
    }

    fn complete(&mut self) {
        self.complete = true;
    }
}
