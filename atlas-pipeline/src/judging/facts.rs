//! What an evaluation says of tests that have to do with a patch: the input of the regression check.

use super::{CandidatePatch, Verdicts, candidate_patches, instance_rows};
use crate::clones::BaseSource;
use crate::evaluate::{InputFault, PredictionSource};
use crate::store::write_atomically;
use atlas_core::{Error, ErrorKind, FilePatch, Instance, InstanceId};
use atlas_judge::validation::{TargetOutcome, TestFacts, TestTarget, direct_dependencies};
use atlas_source::test_files;
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What to look at. Each field is an option of `atlas facts`.
#[derive(Clone, Debug, Args)]
pub struct TestFactsOptions {
    /// The dataset.
    #[arg(skip)]
    pub dataset: PathBuf,
    /// The candidate patches: a file, gold (the rows' own patches) or null (empty ones).
    #[arg(long, value_name = "FILE|gold|null")]
    pub predictions: PredictionSource,
    /// Only these instances; all without any.
    #[arg(skip)]
    pub instances: Vec<InstanceId>,
    /// The folder of an evaluation that ran them, `logs/run_evaluation/<run id>`. Can be given several times.
    #[arg(long = "evaluation", value_name = "DIR", required = true)]
    pub evaluations: Vec<PathBuf>,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`, with the base commits.
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// The file that is written, for `atlas review --facts`.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TestFactsReport {
    /// The file that was written.
    pub out: PathBuf,
    /// Patches with a verdict: each has a line.
    pub patches: usize,
    /// Those of them with a test target that depends directly on a file which they modify.
    pub with_targets: usize,
    /// Those of them with such a target that is worse with the patch.
    pub with_regressions: usize,
    /// Patches without a verdict; they have no line.
    pub without_verdict: usize,
    /// Tests of `PASS_TO_PASS` whose file was not found, once for each row.
    pub tests_without_file: usize,
    /// What is wrong with the inputs.
    pub faults: Vec<InputFault>,
}

/// Writes what an evaluation found out about tests that existed before a pull request, as `test_facts` of each patch: a
/// target is a test file, it depends on what it imports ([`direct_dependencies`]), and it ends as its tests of
/// `PASS_TO_PASS` do. Tests of `FAIL_TO_PASS` are hidden from judges, and so are left out.
///
/// # Errors
/// An input cannot be read; there is no clone of a row's repository, or no such commit in it; the file cannot be written.
///
/// # Cancellation
/// Dropping the future is harmless; the file is whole or not there.
pub async fn write_test_facts(options: &TestFactsOptions) -> Result<TestFactsReport, Error> {
    let (rows, mut faults) = instance_rows(&options.dataset, &options.instances)?;
    let (candidates, more) = candidate_patches(rows, &options.predictions)?;
    faults.extend(more);
    let verdicts = Verdicts::read(&options.evaluations)?;
    let mut report = TestFactsReport {
        out: options.out.clone(),
        faults,
        ..TestFactsReport::default()
    };
    let mut text = String::new();
    let mut by_row: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, (_, row)) in candidates.names().enumerate() {
        by_row.entry(row).or_default().push(at);
    }
    for (row, of_row) in by_row {
        let row = candidates.rows().get(row)?;
        let of_row = of_row.into_iter().map(|at| candidates.get(at));
        let of_row = of_row.collect::<Result<Vec<CandidatePatch>, Error>>()?;
        if of_row.iter().all(|one| verdicts.of(one).is_none()) {
            report.without_verdict += of_row.len();
            continue;
        }
        let near = Near::of(options, &row, &of_row).await?;
        report.tests_without_file += near.without_file;
        for candidate in &of_row {
            let verdict = verdicts.of(candidate).filter(|verdict| verdict.is_graded());
            let Some(verdict) = verdict else {
                report.without_verdict += 1;
                continue;
            };
            let passed = verdict.pass_to_pass.as_ref().map(|list| &list.success);
            let passed: BTreeSet<&str> = passed.into_iter().flatten().map(String::as_str).collect();
            let facts = near.facts(candidate, &passed);
            report.patches += 1;
            report.with_targets += usize::from(!facts.targets.is_empty());
            let is_worse = |target: &TestTarget| target.after != TargetOutcome::Passed;
            report.with_regressions += usize::from(facts.targets.iter().any(is_worse));
            let identity = candidate.name.identity().into_iter();
            let mut line: Map<String, Value> = identity
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            line.insert("test_facts".to_owned(), json!(facts));
            text.push_str(&json!(line).to_string());
            text.push('\n');
        }
    }
    if report.patches == 0 {
        let what = "no patch has a verdict; `atlas eval` runs the predictions";
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "write facts on tests:",
            what,
        ));
    }
    write_atomically(&options.out, text.as_bytes())?;
    Ok(report)
}

/// The test files of a row that depend on what its patches modify.
struct Near {
    /// By their paths: what they depend on, and their tests of `PASS_TO_PASS`.
    files: BTreeMap<String, (BTreeSet<String>, Vec<String>)>,
    without_file: usize,
}

impl Near {
    async fn of(
        options: &TestFactsOptions,
        row: &Instance,
        patches: &[CandidatePatch],
    ) -> Result<Self, Error> {
        let modified: BTreeSet<String> = patches.iter().flat_map(modified).collect();
        let tree = BaseSource::of(&options.repos, row).await?;
        let all = tree.files().await?;
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut sources: BTreeMap<&str, String> = BTreeMap::new();
        let tests = test_files(&all);
        // Files of sources may hold tests, too, as in Rust.
        for path in tests
            .iter()
            .copied()
            .chain(modified.iter().map(String::as_str))
        {
            if let Some(bytes) = tree.read(path).await? {
                sources.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        let words: BTreeMap<&str, BTreeSet<&str>> = sources
            .iter()
            .map(|(path, text)| (*path, words(text).collect()))
            .collect();
        let list = row
            .pass_to_pass()
            .map_err(|why| Error::new(ErrorKind::InvalidInput, "read row:", why.to_string()))?;
        let mut found = Self {
            files: BTreeMap::new(),
            without_file: 0,
        };
        let mut depends: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for id in &list.ids {
            let Some(path) = file_of(id, &words) else {
                found.without_file += 1;
                continue;
            };
            let depends = depends.entry(path).or_insert_with(|| {
                direct_dependencies(path, &sources[path], modified.iter().map(String::as_str))
            });
            if !depends.is_empty() {
                let entry = found.files.entry(path.to_owned());
                let (_, ids) = entry.or_insert_with(|| (depends.clone(), Vec::new()));
                ids.push(id.to_owned());
            }
        }
        Ok(found)
    }

    fn facts(&self, candidate: &CandidatePatch, passed: &BTreeSet<&str>) -> TestFacts {
        let modified = modified(candidate);
        let near = self
            .files
            .iter()
            .filter(|(_, (depends, _))| !depends.is_disjoint(&modified));
        let targets = near.map(|(path, (depends, ids))| TestTarget {
            name: path.clone(),
            direct_dependencies: depends.intersection(&modified).cloned().collect(),
            before: TargetOutcome::Passed,
            after: if ids.iter().all(|id| passed.contains(id.as_str())) {
                TargetOutcome::Passed
            } else {
                TargetOutcome::Failed
            },
        });
        TestFacts {
            targets: targets.collect(),
            reproduction: None,
        }
    }
}

fn modified(candidate: &CandidatePatch) -> BTreeSet<String> {
    let files = candidate.patch.files().unwrap_or_default();
    files
        .iter()
        .flat_map(|file: &FilePatch| file.paths().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// The file that a test stands in: one whose path its id holds, else the only one that has all words of its last part, of
/// several the one whose name the id holds, too. None where that does not tell.
fn file_of<'a>(id: &str, files: &BTreeMap<&'a str, BTreeSet<&str>>) -> Option<&'a str> {
    let by_path = files.keys().filter(|path| id.contains(**path));
    if let Some(path) = by_path.max_by_key(|path| path.len()) {
        return Some(path);
    }
    // What stands in brackets or behind a slash are values.
    let bare = id.split(['[', '(']).next().unwrap_or(id);
    let bare = bare.split(" > ").last().unwrap_or(bare);
    let parts: Vec<&str> = bare
        .split("::")
        .flat_map(|part| part.split(['#', '/']))
        .collect();
    // The subtests of a test stand in its file: its own name is the first part that a file knows.
    for part in [parts.last(), parts.first()].into_iter().flatten() {
        let wanted: Vec<&str> = words(part).collect();
        let has_all = |known: &&BTreeSet<&str>| {
            !wanted.is_empty() && wanted.iter().all(|word| known.contains(word))
        };
        let found: Vec<&'a str> = files
            .iter()
            .filter(|(_, known)| has_all(known))
            .map(|(path, _)| *path)
            .collect();
        if let [only] = found[..] {
            return Some(only);
        }
        let named = |path: &&&str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let stem = name.split('.').next().unwrap_or(name);
            words(id).any(|word| word == stem)
        };
        let mut by_name = found.iter().filter(named);
        if let (Some(only), None) = (by_name.next(), by_name.next()) {
            return Some(only);
        }
    }
    None
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.filter(|word| !word.is_empty())
}
