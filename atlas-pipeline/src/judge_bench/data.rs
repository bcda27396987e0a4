//! What a benchmark of judges is made of, and how it stands in files.

use crate::evaluate::InputFault;
use crate::store::{json_lines, write_atomically};
use atlas_core::{Error, ErrorKind, Instance, InstanceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The form of the files that is written and read here.
const FORMAT: u64 = 1;

/// A benchmark of judges.
///
/// As a folder it has four files: `bench.json` ([`JudgeBenchAbout`]), `instances.jsonl` (rows of a dataset),
/// `patches.jsonl` ([`BenchPatch`]) and `files.jsonl` ([`BenchFile`]).
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeBench {
    /// What it is.
    pub about: JudgeBenchAbout,
    /// The rows, as in a dataset.
    pub rows: Vec<Map<String, Value>>,
    /// The candidate patches.
    pub patches: Vec<BenchPatch>,
    /// The files that the patches change, as they are at the base commits.
    pub files: Vec<BenchFile>,
}

/// What a benchmark is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeBenchAbout {
    /// The form of its files; 1.
    pub format: u64,
    /// Its name.
    pub name: String,
    /// Which edition of it: numbers of two editions are not compared.
    pub version: u64,
    /// How it was made and what it is for.
    #[serde(default)]
    pub about: String,
}

/// A candidate patch, and what is true of it. The names of the fields are those of predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchPatch {
    /// The row.
    pub instance_id: String,
    /// Who made it; `rules` for patches that are made of the gold patch by rule.
    pub model_name_or_path: String,
    /// Its name among those of the same maker for the row.
    pub patch_id: String,
    /// How it was made, such as `near-miss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether running the tests found it to resolve its task.
    pub resolved: bool,
    /// Tests of the row's two lists that do not pass with it; absent where `passed_tests` is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_tests: Option<Vec<String>>,
    /// Tests of the row's two lists that pass with it, where those are fewer than the failing ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_tests: Option<Vec<String>>,
    /// The patch.
    pub model_patch: String,
    /// Further columns of the prediction, such as `trajectory` and `test_facts`.
    #[serde(flatten)]
    pub columns: Map<String, Value>,
}

/// A file at a row's base commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BenchFile {
    /// The row.
    pub instance_id: String,
    /// Where it stands, from the repository's root.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// The files of a benchmark in a form that commands take.
#[derive(Clone, Debug)]
pub(super) struct Unfolded {
    pub(super) dataset: PathBuf,
    pub(super) predictions: PathBuf,
    pub(super) truth: PathBuf,
    pub(super) base: PathBuf,
}

impl JudgeBench {
    /// The set that this program holds.
    ///
    /// # Errors
    /// None that a test does not find.
    pub fn shipped() -> Result<Self, Error> {
        Self::of_texts(
            Path::new("the shipped benchmark"),
            [
                include_str!("../../judge-bench/bench.json"),
                include_str!("../../judge-bench/instances.jsonl"),
                include_str!("../../judge-bench/patches.jsonl"),
                include_str!("../../judge-bench/files.jsonl"),
            ],
        )
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// A file is missing or cannot be read; a line that is not of its form, is named by file and line; a patch without
    /// its row, two patches of one name, a test that is in no list of its row.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|why| Error::io("read", &path, why))
        };
        let texts = [
            read("bench.json")?,
            read("instances.jsonl")?,
            read("patches.jsonl")?,
            read("files.jsonl")?,
        ];
        Self::of_texts(folder, texts.each_ref().map(String::as_str))
    }

    fn of_texts(place: &Path, [about, rows, patches, files]: [&str; 4]) -> Result<Self, Error> {
        let at = |name: &str| place.join(name);
        let about: JudgeBenchAbout = serde_json::from_str(about).map_err(|why| {
            let subject = format!("`{}`", at("bench.json").display());
            Error::new(ErrorKind::InvalidInput, "read", subject).with_source(why)
        })?;
        let bench = Self {
            about,
            rows: json_lines(rows, &at("instances.jsonl"))?,
            patches: json_lines(patches, &at("patches.jsonl"))?,
            files: json_lines(files, &at("files.jsonl"))?,
        };
        bench.examine(place)?;
        Ok(bench)
    }

    fn examine(&self, place: &Path) -> Result<(), Error> {
        let wrong = |file: &str, what: String| {
            let operation = format!("read `{}`:", place.join(file).display());
            Err(Error::new(ErrorKind::InvalidInput, operation, what))
        };
        if self.about.format != FORMAT {
            let format = self.about.format;
            return wrong(
                "bench.json",
                format!("format {format}; {FORMAT} is read here"),
            );
        }
        let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            let instance = match Instance::from_map(row.clone()) {
                Ok(instance) => instance,
                Err(why) => return wrong("instances.jsonl", format!("line {}: {why}", at + 1)),
            };
            let id = row["instance_id"].as_str().unwrap_or_default();
            if tests.insert(id.to_string(), listed(&instance)).is_some() {
                return wrong("instances.jsonl", format!("`{id}` stands there twice"));
            }
        }
        let mut seen = BTreeSet::new();
        for (at, patch) in self.patches.iter().enumerate() {
            let line = at + 1;
            let Some(known) = tests.get(&patch.instance_id) else {
                let id = &patch.instance_id;
                return wrong(
                    "patches.jsonl",
                    format!("line {line}: no row is named `{id}`"),
                );
            };
            if !seen.insert((
                &patch.instance_id,
                &patch.model_name_or_path,
                &patch.patch_id,
            )) {
                let name = &patch.patch_id;
                return wrong(
                    "patches.jsonl",
                    format!("line {line}: `{name}` stands there twice"),
                );
            }
            let told = [&patch.failed_tests, &patch.passed_tests]
                .into_iter()
                .flatten();
            if told.clone().count() != 1 {
                let what = "either `failed_tests` or `passed_tests` is expected";
                return wrong("patches.jsonl", format!("line {line}: {what}"));
            }
            if let Some(test) = told.flatten().find(|test| !known.contains(*test)) {
                let what = format!("line {line}: `{test}` is in no list of its row");
                return wrong("patches.jsonl", what);
            }
        }
        for (at, file) in self.files.iter().enumerate() {
            let line = at + 1;
            let is_safe = Path::new(&file.path)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            if !tests.contains_key(&file.instance_id) || !is_safe || file.path.is_empty() {
                let what = format!(
                    "line {line}: `{}` of `{}`: a row's name, and a path within the repository, are expected",
                    file.path, file.instance_id
                );
                return wrong("files.jsonl", what);
            }
        }
        Ok(())
    }

    /// Only these rows with what belongs to them; all without any.
    ///
    /// # Errors
    /// A name that no row has.
    pub fn only(mut self, instances: &[InstanceId]) -> Result<Self, Error> {
        if instances.is_empty() {
            return Ok(self);
        }
        let is_wanted = |id: &str| instances.iter().any(|wanted| wanted.as_str() == id);
        let name =
            |row: &Map<String, Value>| row["instance_id"].as_str().unwrap_or_default().to_owned();
        let known: BTreeSet<String> = self.rows.iter().map(name).collect();
        if let Some(missing) = instances.iter().find(|id| !known.contains(id.as_str())) {
            let what = format!("find `{missing}` in");
            return Err(Error::new(
                ErrorKind::NotFound,
                what,
                format!("the benchmark `{}`", self.about.name),
            ));
        }
        self.rows.retain(|row| is_wanted(&name(row)));
        self.patches.retain(|patch| is_wanted(&patch.instance_id));
        self.files.retain(|file| is_wanted(&file.instance_id));
        Ok(self)
    }

    /// Writes it as a folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let about = serde_json::to_string_pretty(&self.about).map_err(unwritable)? + "\n";
        write_atomically(&folder.join("bench.json"), about.as_bytes())?;
        write_lines(&folder.join("instances.jsonl"), &self.rows)?;
        write_lines(&folder.join("patches.jsonl"), &self.patches)?;
        write_lines(&folder.join("files.jsonl"), &self.files)
    }

    /// Lays it out for the commands: a dataset, predictions, lines of results with the truth, and the files of the base
    /// commits in a folder for each row.
    pub(super) fn unfold(&self, folder: &Path) -> Result<Unfolded, Error> {
        let found = Unfolded {
            dataset: folder.join("dataset.jsonl"),
            predictions: folder.join("predictions.jsonl"),
            truth: folder.join("truth.jsonl"),
            base: folder.join("base"),
        };
        write_lines(&found.dataset, &self.rows)?;
        let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in &self.rows {
            let Ok(instance) = Instance::from_map(row.clone()) else {
                continue;
            };
            let id = row["instance_id"].as_str().unwrap_or_default();
            tests.insert(id.to_owned(), listed(&instance));
            let own = found.base.join(id);
            std::fs::create_dir_all(&own).map_err(|why| Error::io("make", &own, why))?;
        }
        let (mut predictions, mut truths) = (Vec::new(), Vec::new());
        for patch in &self.patches {
            let mut prediction = patch.clone();
            (prediction.failed_tests, prediction.passed_tests) = (None, None);
            predictions.push(prediction);
            let ends = tests
                .get(&patch.instance_id)
                .into_iter()
                .flatten()
                .map(|id| json!({"id": id, "passed": patch.passes(id)}));
            truths.push(json!({
                "instance_id": patch.instance_id,
                "agent": patch.model_name_or_path,
                "patch_id": patch.patch_id,
                "resolved": patch.resolved,
                "kind": patch.kind,
                "tests": ends.collect::<Vec<Value>>(),
            }));
        }
        write_lines(&found.predictions, &predictions)?;
        write_lines(&found.truth, &truths)?;
        for file in &self.files {
            let path = found.base.join(&file.instance_id).join(&file.path);
            write_atomically(&path, file.text.as_bytes())?;
        }
        Ok(found)
    }
}

impl BenchPatch {
    /// Whether a test of its row's lists passes with it.
    pub fn passes(&self, test: &str) -> bool {
        let has = |list: &Vec<String>| list.iter().any(|id| id == test);
        match (&self.failed_tests, &self.passed_tests) {
            (Some(failed), _) => !has(failed),
            (None, Some(passed)) => has(passed),
            (None, None) => false,
        }
    }
}

/// The tests of a row's two lists.
pub(super) fn listed(instance: &Instance) -> BTreeSet<String> {
    [instance.fail_to_pass(), instance.pass_to_pass()]
        .into_iter()
        .flatten()
        .flat_map(|list| list.ids.to_vec())
        .collect()
}

pub(super) fn write_lines<T: Serialize>(path: &Path, items: &[T]) -> Result<(), Error> {
    let mut text = String::new();
    for item in items {
        text.push_str(&serde_json::to_string(item).map_err(unwritable)?);
        text.push('\n');
    }
    write_atomically(path, text.as_bytes())
}

fn unwritable(why: serde_json::Error) -> Error {
    Error::new(ErrorKind::Internal, "write", "a benchmark").with_source(why)
}

/// A fault of a row that is left out.
pub(super) fn fault(file: &Path, message: String) -> InputFault {
    InputFault {
        file: file.display().to_string(),
        line: None,
        field: None,
        message,
    }
}
