//! Making a benchmark of judges.

use super::data::{BenchFile, BenchPatch, JudgeBench, JudgeBenchAbout, fault, listed};
use crate::clones::BaseSource;
use crate::evaluate::{InputFault, PredictionSource};
use crate::judging::{Verdicts, candidate_patches, instance_rows};
use atlas_core::{Error, ErrorKind, FilePatch, Patch};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Columns of rows that judges read, or that say where a row comes from. Others stay behind.
const COLUMNS: [&str; 13] = [
    "instance_id",
    "repo",
    "base_commit",
    "problem_statement",
    "hints_text",
    "patch",
    "test_patch",
    "FAIL_TO_PASS",
    "PASS_TO_PASS",
    "language",
    "log_parser",
    "version",
    "created_at",
];

/// What a benchmark is made of.
#[derive(Clone, Debug)]
pub struct PackOptions {
    /// The dataset.
    pub dataset: PathBuf,
    /// The candidate patches; columns `kind`, `trajectory` and `test_facts` are kept.
    pub predictions: PathBuf,
    /// Folders of evaluations, `logs/run_evaluation/<run id>`, that ran them.
    pub evaluations: Vec<PathBuf>,
    /// A clone, or a folder of clones, with the base commits.
    pub repos: PathBuf,
    /// Who made the patches, in the place of their own makers.
    pub maker: Option<String>,
    /// What it is.
    pub about: JudgeBenchAbout,
}

/// Makes a benchmark. Rows and patches that nothing was found out about are left out, each with a fault.
///
/// # Errors
/// An input cannot be read; nothing is left.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn pack(options: &PackOptions) -> Result<(JudgeBench, Vec<InputFault>), Error> {
    let (rows, mut faults) = instance_rows(&options.dataset, &[])?;
    let source = PredictionSource::File(options.predictions.clone());
    let (candidates, more) = candidate_patches(rows, &source)?;
    faults.extend(more);
    let verdicts = Verdicts::read(&options.evaluations)?;
    let mut by_row: BTreeMap<String, Vec<BenchPatch>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for candidate in candidates.iter() {
        let candidate = candidate?;
        let key = candidate.name.key();
        let Some(verdict) = verdicts
            .of(&candidate)
            .filter(|verdict| verdict.outcome != "no_evidence")
        else {
            let what = format!("`{key}`: no verdict says what its tests did; it is left out");
            faults.push(fault(&options.predictions, what));
            continue;
        };
        let listed = listed(&candidate.instance);
        let lists = [&verdict.fail_to_pass, &verdict.pass_to_pass];
        let passed: Vec<String> = lists
            .into_iter()
            .flatten()
            .flat_map(|list| {
                list.success
                    .iter()
                    .filter(|id| listed.contains(*id))
                    .cloned()
            })
            .collect();
        let failed: Vec<String> = listed
            .iter()
            .filter(|id| !passed.contains(id))
            .cloned()
            .collect();
        let is_shorter = passed.len() < failed.len();
        let id = candidate.name.instance_id.clone();
        let maker = options.maker.as_ref().unwrap_or(&candidate.name.agent);
        if !seen.insert((id.clone(), maker.clone(), candidate.name.patch_id.clone())) {
            let what = format!("`{key}`: `{maker}` has another patch of that name; it is left out");
            faults.push(fault(&options.predictions, what));
            continue;
        }
        let text = |name: &str| {
            candidate
                .columns
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let columns = candidate.columns.iter().filter(|(name, value)| {
            matches!(name.as_str(), "trajectory" | "test_facts") && !value.is_null()
        });
        by_row.entry(id.clone()).or_default().push(BenchPatch {
            instance_id: id,
            model_name_or_path: maker.clone(),
            patch_id: candidate.name.patch_id.clone(),
            kind: text("kind"),
            resolved: verdict.resolved,
            failed_tests: (!is_shorter).then_some(failed),
            passed_tests: is_shorter.then_some(passed),
            model_patch: String::from_utf8_lossy(candidate.patch.as_bytes()).into_owned(),
            columns: columns
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        });
    }
    let mut bench = JudgeBench {
        about: options.about.clone(),
        rows: Vec::new(),
        patches: Vec::new(),
        files: Vec::new(),
    };
    for row in candidates.rows().iter() {
        let row = row?;
        let id = row.id().map(|id| id.to_string()).unwrap_or_default();
        let Some(patches) = by_row.remove(&id) else {
            faults.push(fault(
                &options.dataset,
                format!("`{id}`: no patch with a verdict; it is left out"),
            ));
            continue;
        };
        let tree = BaseSource::of(&options.repos, &row).await?;
        let given = [row.test_patch(), row.gold_patch()].into_iter().flatten();
        let given = given.chain(
            patches
                .iter()
                .map(|patch| Patch::new(patch.model_patch.clone())),
        );
        let mut paths = BTreeSet::new();
        for patch in given {
            let files = patch.files().unwrap_or_default();
            paths.extend(
                files
                    .into_iter()
                    .filter_map(|file: FilePatch| file.old_path),
            );
        }
        for path in paths {
            let Some(bytes) = tree.read(&path).await? else {
                continue;
            };
            if let Ok(text) = String::from_utf8(bytes) {
                bench.files.push(BenchFile {
                    instance_id: id.clone(),
                    path,
                    text,
                });
            }
        }
        let kept = row
            .as_map()
            .iter()
            .filter(|(name, value)| COLUMNS.contains(&name.as_str()) && !value.is_null());
        bench.rows.push(
            kept.map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        );
        bench.patches.extend(patches);
    }
    if bench.rows.is_empty() {
        let what = "no row has a patch with a verdict; `atlas eval` runs the predictions";
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "make a benchmark:",
            what,
        ));
    }
    Ok((bench, faults))
}
