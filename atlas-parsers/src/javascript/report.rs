//! The document that `jest --json` and Vitest's `json` reporter write.

use super::json::Document;
use atlas_core::TestStatus;

/// One test of a document.
#[derive(Clone, Debug)]
pub(super) struct Test {
    /// Which of [`Report::files`].
    pub(super) file: usize,
    pub(super) ancestors: Vec<String>,
    pub(super) title: String,
    pub(super) status: TestStatus,
}

/// One test file of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) message: String,
    pub(super) failed: bool,
    pub(super) tests: usize,
}

/// What a document says.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub(super) files: Vec<File>,
    pub(super) tests: Vec<Test>,
    pub(super) failed: u64,
    pub(super) passed: u64,
    pub(super) pending: u64,
    pub(super) todo: u64,
    pub(super) total: u64,
    /// The document came to its end.
    pub(super) complete: bool,
    places: Vec<Place>,
    ancestors: Vec<String>,
    title: String,
    status: String,
    file: File,
}

/// The container a value stands in, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Top,
    Files,
    File,
    Tests,
    Test,
    Ancestors,
    Other,
}

impl Report {
    /// The file names as they would be below the folder the run was configured for, which the
    /// document does not name: without the folders that all files share, but with the first of
    /// them that is a usual place for sources or tests.
    pub(super) fn below_root(&self) -> Vec<String> {
        const PLACES: &[&str] = &[
            "src",
            "lib",
            "test",
            "tests",
            "__tests__",
            "spec",
            "specs",
            "packages",
            "e2e",
        ];
        let folder = |name: &str| -> Vec<String> {
            let mut parts: Vec<String> = name.split(['/', '\\']).map(str::to_owned).collect();
            parts.pop();
            parts
        };
        let mut shared: Option<Vec<String>> = None;
        for file in &self.files {
            let parts = folder(&file.name);
            shared = Some(match shared {
                None => parts,
                Some(mut known) => {
                    let same = known.iter().zip(&parts).take_while(|(a, b)| a == b).count();
                    known.truncate(same);
                    known
                }
            });
        }
        let mut shared = shared.unwrap_or_default();
        // `/usr/src/app` is where many images keep a project.
        let from = if shared.get(1).is_some_and(|part| part == "usr") {
            3
        } else {
            1
        };
        if let Some(place) = shared
            .iter()
            .skip(from)
            .position(|part| PLACES.contains(&part.as_str()))
        {
            shared.truncate(from + place);
        }
        let prefix: usize = shared.iter().map(|part| part.len() + 1).sum();
        let cut = |file: &File| file.name.get(prefix..).unwrap_or(&file.name).to_owned();
        self.files.iter().map(cut).collect()
    }
}

impl Report {
    fn place(&self) -> Place {
        self.places.last().copied().unwrap_or(Place::Other)
    }

    fn end_test(&mut self) {
        let status = match self.status.as_str() {
            "passed" => TestStatus::Passed,
            "failed" => TestStatus::Failed,
            "pending" | "skipped" | "todo" | "disabled" => TestStatus::Skipped,
            // `focused`, `running`: no result.
            _ => return,
        };
        self.file.tests += 1;
        self.tests.push(Test {
            file: self.files.len(),
            ancestors: std::mem::take(&mut self.ancestors),
            title: std::mem::take(&mut self.title),
            status,
        });
    }
}

impl Document for Report {
    fn begins_with(key: &[u8]) -> bool {
        matches!(key, b"numFailedTestSuites" | b"numTotalTestSuites")
    }

    fn open(&mut self, key: &[u8], object: bool) {
        let place = match (self.places.last(), key, object) {
            (None, ..) => Place::Top,
            (Some(Place::Top), b"testResults", false) => Place::Files,
            (Some(Place::Files), _, true) => {
                self.file = File::default();
                Place::File
            }
            (Some(Place::File), b"assertionResults", false) => Place::Tests,
            (Some(Place::Tests), _, true) => {
                self.ancestors.clear();
                self.title.clear();
                self.status.clear();
                Place::Test
            }
            (Some(Place::Test), b"ancestorTitles", false) => Place::Ancestors,
            _ => Place::Other,
        };
        self.places.push(place);
    }

    fn close(&mut self) {
        match self.places.pop() {
            Some(Place::Test) => self.end_test(),
            Some(Place::File) => self.files.push(std::mem::take(&mut self.file)),
            _ => {}
        }
    }

    fn wants(&self, key: &[u8]) -> bool {
        match self.place() {
            Place::File => matches!(key, b"name" | b"message" | b"status"),
            Place::Test => matches!(key, b"title" | b"status"),
            Place::Ancestors => true,
            _ => false,
        }
    }

    fn text(&mut self, key: &[u8], text: String) {
        match (self.place(), key) {
            (Place::File, b"name") => self.file.name = text,
            (Place::File, b"message") => self.file.message = text,
            (Place::File, b"status") => self.file.failed = text == "failed",
            (Place::Test, b"title") => self.title = text,
            (Place::Test, b"status") => self.status = text,
            (Place::Ancestors, _) => self.ancestors.push(text),
            _ => {}
        }
    }

    fn literal(&mut self, key: &[u8], text: &str) {
        if self.place() != Place::Top {
            return;
        }
        let field = match key {
            b"numFailedTests" => &mut self.failed,
            b"numPassedTests" => &mut self.passed,
            b"numPendingTests" => &mut self.pending,
            b"numTodoTests" => &mut self.todo,
            b"numTotalTests" => &mut self.total,
            _ => return,
        };
        *field = text.parse().unwrap_or(0);
    }

    fn complete(&mut self) {
        self.complete = true;
    }
}
