//! What is done with whole datasets without running anything.

use crate::clones::clone_among;
use crate::significance::attempts_of;
use atlas_core::{Error, ErrorKind, Instance, RunContext};
use atlas_formats::{
    ConvertOptions, Dataset, Finding, LintOptions, Loss, PatchProblem, RowFault, Schema, convert,
    lint,
};
use atlas_oracle::{Leaderboard, PassAtK, RunReport, TaskGroups, leaderboard, pass_at_k_table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What became of a dataset in another schema.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// The schema of the rows.
    pub from: Schema,
    /// The schema they were written in.
    pub to: Schema,
    /// How many were written.
    pub rows: usize,
    /// What the new schema does not carry as it was.
    pub losses: Vec<Loss>,
    /// Rows that could not be read, and what deserves a look.
    pub faults: Vec<RowFault>,
}

/// Converts a dataset. Where it has the schema already, it keeps its bytes and its layout.
///
/// `from` names the schema of the rows; without it, it is told from them. `name` is the dataset's
/// name for messages.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] where the schema has to be told and cannot be.
pub fn convert_dataset(
    set: &Dataset,
    name: &Path,
    from: Option<Schema>,
    to: Schema,
    options: &ConvertOptions,
) -> Result<(Dataset, ConvertReport), Error> {
    let from = match from {
        Some(schema) => schema,
        None => set.schema().map_err(|why| {
            let place = format!("`{}`", name.display());
            match set.faults.first().filter(|_| set.rows.is_empty()) {
                Some(fault) => Error::new(ErrorKind::InvalidInput, "read dataset", place)
                    .with_source(format!(
                        "there is no usable row in it; the first fault: {fault}"
                    )),
                None => Error::new(ErrorKind::InvalidInput, "tell the schema of", place)
                    .with_source(why),
            }
        })?,
    };
    let (rows, losses) = convert(&set.rows, from, to, options);
    let report = ConvertReport {
        from,
        to,
        rows: rows.len(),
        losses,
        faults: set.faults.clone(),
    };
    let converted = if from == to {
        set.clone()
    } else {
        Dataset::new(rows)
    };
    Ok((converted, report))
}

/// What is wrong with a dataset's rows.
#[derive(Clone, Debug, Serialize)]
pub struct LintReport {
    /// How many could be read.
    pub rows: usize,
    /// What is wrong with these, in the order of the rows.
    pub findings: Vec<Finding>,
    /// Rows that could not be read, and what deserves a look.
    pub faults: Vec<RowFault>,
}

/// Looks for faults in a dataset's rows. With `repos`, a clone or a folder of clones named
/// `owner__name`, `owner/name` or `name`, both patches of each row are tried on its base commit, unless
/// the options already say how patches are tried.
///
/// Must not be called from asynchronous code, which it would block: git is waited for.
///
/// # Errors
/// [`ErrorKind::Cancelled`] once `cx.cancel` is raised, which is looked at before each row's patches are
/// tried. A clone that is missing is a finding.
pub fn lint_dataset(
    cx: &RunContext,
    set: &Dataset,
    options: &LintOptions<'_>,
    repos: Option<&Path>,
) -> Result<LintReport, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|why| Error::new(ErrorKind::Io, "start the runtime", "").with_source(why))?;
    let tries = |row: &Instance| -> Option<PatchProblem> {
        if cx.cancel.is_cancelled() {
            return None;
        }
        runtime.block_on(try_patches(repos?, row))
    };
    let mut options = options.clone();
    if repos.is_some() && options.try_patches.is_none() {
        options = options.trying_patches(&tries);
    }
    let findings = lint(set, &options);
    cx.check("lint")?;
    Ok(LintReport {
        rows: set.rows.len(),
        findings,
        faults: set.faults.clone(),
    })
}

/// Tries both patches of a row on its base commit.
async fn try_patches(repos: &Path, row: &Instance) -> Option<PatchProblem> {
    let problem = |field: &str, message: String| {
        Some(PatchProblem {
            field: field.to_owned(),
            message,
        })
    };
    let name = row.text("repo").ok()??;
    let base = row.text("base_commit").ok()??;
    let repo = match clone_among(repos, name).await {
        Ok(repo) => repo,
        Err(why) => return problem("repo", why.chain()),
    };
    let commit = match repo.resolve(base).await {
        Ok(commit) => commit,
        Err(why) => return problem("base_commit", why.chain()),
    };
    let mut chain = Vec::new();
    for (field, patch) in [
        ("test_patch", row.test_patch()),
        ("patch", row.gold_patch()),
    ] {
        let Ok(patch) = patch else { continue };
        chain.push((field, patch));
    }
    let patches: Vec<&atlas_core::Patch> = chain.iter().map(|(_, patch)| patch).collect();
    match atlas_source::overlay(&repo, &commit, &patches).await {
        Ok(outcome) => {
            let (at, tried) = outcome.failed?;
            let said: Vec<String> = tried
                .iter()
                .map(|(_, words)| words.trim().to_owned())
                .collect();
            problem(chain.get(at)?.0, said.first().cloned().unwrap_or_default())
        }
        Err(why) => problem("patch", why.chain()),
    }
}

/// Models side by side.
#[derive(Clone, Debug, Serialize)]
pub struct LeaderboardReport {
    /// The table, by the first `k`.
    pub leaderboard: Leaderboard,
    /// Model -> pass@k for every `k`, by language, domain and repository.
    pub pass_at_k: BTreeMap<String, PassAtK>,
    /// How sure the numbers and their differences are, where [`leaderboard_statistics`](crate::leaderboard_statistics) was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<crate::LeaderboardStatistics>,
}

/// Compares models from their run reports. Every instance of the dataset counts, predicted or not;
/// several reports of one model are several predictions. The first of `ks` orders the table; without
/// any it is 1.
pub fn compare_models(
    set: &Dataset,
    reports: &[(String, RunReport)],
    ks: &[u64],
) -> LeaderboardReport {
    let tasks: BTreeMap<String, TaskGroups> = set
        .rows
        .iter()
        .map(|row| {
            let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
            let groups = TaskGroups {
                language: text("language"),
                domain: text("domain"),
                repo: text("repo"),
            };
            (row.id().to_string(), groups)
        })
        .collect();
    let models = attempts_of(reports);
    let ks: &[u64] = if ks.is_empty() { &[1] } else { ks };
    LeaderboardReport {
        leaderboard: leaderboard(&tasks, &models, ks[0]),
        pass_at_k: models
            .iter()
            .map(|(model, counts)| (model.clone(), pass_at_k_table(&tasks, counts, ks)))
            .collect(),
        statistics: None,
    }
}

/// Reads a run's report, `<model>.<run id>.json`, and tells the model from the file's name.
///
/// # Errors
/// A file that cannot be read or is no such report.
pub fn read_run_report(path: &Path) -> Result<(String, RunReport), Error> {
    let bytes = std::fs::read(path).map_err(|why| Error::io("read run report", path, why))?;
    let report = RunReport::from_json_bytes(&bytes).map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            "read run report",
            format!("`{}`", path.display()),
        )
        .with_source(why)
    })?;
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let model = stem
        .rsplit_once('.')
        .map_or(stem.as_str(), |(model, _)| model);
    Ok((model.replace("__", "/"), report))
}
