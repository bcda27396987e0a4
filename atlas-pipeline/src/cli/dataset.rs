//! `atlas convert`, `atlas lint` and `atlas diff`.

use super::{DONE, ERROR, Format, NO, output};
use atlas_core::{Error, RunContext, Severity};
use atlas_formats::{
    ConvertOptions, Dataset, LintCode, LintOptions, LossKind, ReadOptions, RowFault, Schema,
    diff_datasets, read_dataset,
};
use atlas_pipeline::{convert_dataset, lint_dataset};
use atlas_source::GitRepo;
use clap::Args;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// The dataset: JSON lines, a JSON list, a folder of tasks, Parquet.
    input: PathBuf,
    /// Where the converted dataset goes: a file by its extension, or a folder for tasks.
    output: PathBuf,
    /// The schema of the rows [default: told from them].
    #[arg(long, value_name = "SCHEMA")]
    from: Option<Schema>,
    /// The schema to write: swebench4, swebench5, swebench5-tasks, swebenchpp, swebenchpp-delivery,
    /// multi-swebench, swebench-live, swebench-pro, swe-rebench, swe-smith, r2e or harbor.
    #[arg(long, value_name = "SCHEMA")]
    to: Schema,
    /// The registry namespace of images that are named by rule.
    #[arg(long, value_name = "NAME", default_value = "swebench")]
    image_namespace: String,
    /// Leave out the column `_atlas_source`, which holds what the schema has no place for.
    #[arg(long)]
    no_source: bool,
    #[command(flatten)]
    format: Format,
}

pub(super) fn read(path: &Path) -> Result<Dataset, Error> {
    read_dataset(path, &ReadOptions::default())
}

pub(super) fn faults_text(text: &mut String, faults: &[RowFault]) {
    for fault in faults {
        let _ = writeln!(text, "{fault}");
    }
}

/// Whether rows are missing from what was read.
pub(super) fn lost_rows(faults: &[RowFault]) -> usize {
    faults
        .iter()
        .filter(|fault| !fault.kind.keeps_row())
        .count()
}

pub(super) fn convert_command(args: &ConvertArgs) -> Result<u8, Error> {
    let set = read(&args.input)?;
    let mut options = ConvertOptions::default();
    options.image_namespace.clone_from(&args.image_namespace);
    options.keep_source = !args.no_source;
    let (written, report) = convert_dataset(&set, &args.input, args.from, args.to, &options)?;
    written.write(&args.output)?;
    if args.format.is_json() {
        output::json(&report)?;
    } else {
        let mut text = format!(
            "{} rows of {} written to {} as {}\n",
            report.rows,
            report.from,
            args.output.display(),
            report.to
        );
        let mut by_column: std::collections::BTreeMap<_, usize> = std::collections::BTreeMap::new();
        for loss in &report.losses {
            *by_column
                .entry((loss.kind, loss.column.clone()))
                .or_default() += 1;
        }
        for ((kind, column), rows) in by_column {
            let what = match kind {
                LossKind::NoPlace => "has no place in the schema; kept in `_atlas_source`",
                LossKind::Inexact => {
                    "is said less exactly; the original is kept in `_atlas_source`"
                }
                _ => "is asked for and was left empty",
            };
            let _ = writeln!(text, "column `{column}` {what} ({rows} rows)");
        }
        faults_text(&mut text, &set.faults);
        output::print(&text)?;
    }
    Ok(if lost_rows(&set.faults) > 0 {
        ERROR
    } else {
        DONE
    })
}

/// What is looked for.
#[derive(Debug, Args)]
pub(super) struct CodeArgs {
    /// The schema of the rows [default: told from each].
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<Schema>,
    /// A code that is not reported (`atlas lint --list` has them). Can be given several times.
    #[arg(long, value_name = "CODE")]
    ignore: Vec<LintCode>,
}

impl CodeArgs {
    pub(super) fn options(&self) -> LintOptions<'static> {
        let mut options = LintOptions::default();
        options.schema = self.schema;
        options.ignored = self.ignore.iter().copied().collect();
        options
    }
}

#[derive(Debug, Args)]
pub(super) struct LintArgs {
    /// The dataset.
    #[arg(required_unless_present = "list")]
    dataset: Option<PathBuf>,
    #[command(flatten)]
    codes: CodeArgs,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`: the patches are tried in
    /// them.
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// List the codes: what each finds.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    format: Format,
}

pub(super) fn lint_command(args: &LintArgs) -> Result<u8, Error> {
    let Some(dataset) = args.dataset.as_deref().filter(|_| !args.list) else {
        let mut text = String::new();
        for code in LintCode::ALL {
            let _ = writeln!(
                text,
                "{:<28} {:<8} {}",
                code.as_str(),
                word(code.severity()),
                code.doc()
            );
        }
        output::print(&text)?;
        return Ok(DONE);
    };
    let set = read(dataset)?;
    let options = args.codes.options();
    let cx = RunContext::new("lint");
    let report = lint_dataset(&cx, &set, &options, args.repos.as_deref())?;
    let findings = &report.findings;
    if args.format.is_json() {
        output::json(&report)?;
    } else {
        let mut text = String::new();
        for finding in findings {
            let _ = writeln!(text, "{finding}");
        }
        faults_text(&mut text, &set.faults);
        let _ = writeln!(
            text,
            "{} rows, {} findings, {} rows that cannot be read",
            set.rows.len(),
            findings.len(),
            lost_rows(&set.faults)
        );
        output::print(&text)?;
    }
    let is_bad = findings
        .iter()
        .any(|finding| finding.severity == Severity::Fatal);
    Ok(if lost_rows(&set.faults) > 0 {
        ERROR
    } else if is_bad {
        NO
    } else {
        DONE
    })
}

pub(super) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Fatal => "fatal",
    }
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// A dataset.
    first: PathBuf,
    /// The dataset to compare it with.
    second: PathBuf,
    #[command(flatten)]
    format: Format,
}

pub(super) fn diff_command(args: &DiffArgs) -> Result<u8, Error> {
    let (first, second) = (read(&args.first)?, read(&args.second)?);
    let diff = diff_datasets(&first, &second);
    if args.format.is_json() {
        output::json(&diff)?;
    } else {
        let mut text = diff.to_string();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        faults_text(&mut text, &first.faults);
        faults_text(&mut text, &second.faults);
        output::print(&text)?;
    }
    Ok(
        if lost_rows(&first.faults) + lost_rows(&second.faults) > 0 {
            ERROR
        } else if diff.is_empty() {
            DONE
        } else {
            NO
        },
    )
}

#[derive(Debug, Args)]
pub(super) struct PatchArgs {
    /// The patch; - is standard input.
    patch: PathBuf,
    /// A clone of the repository. Without one only the patch's text is looked at.
    #[arg(long, value_name = "PATH", requires = "base")]
    repo: Option<PathBuf>,
    /// The commit that the patch is for.
    #[arg(long, value_name = "SHA", requires = "repo")]
    base: Option<String>,
    /// By whose rules it is applied: strict, compat-swebench5, compat-swebench4 or compat-swebenchpp.
    #[arg(long, default_value_t)]
    mode: atlas_core::GradingMode,
    /// Where a mended patch goes, if one is found.
    #[arg(long, value_name = "FILE", requires = "repo")]
    mended: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn patch_command(args: PatchArgs) -> Result<u8, Error> {
    let bytes = if args.patch.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)
            .map_err(|why| Error::io("read", Path::new("standard input"), why))?;
        bytes
    } else {
        std::fs::read(&args.patch).map_err(|why| Error::io("read patch", &args.patch, why))?
    };
    let (Some(repo), Some(base)) = (&args.repo, &args.base) else {
        let faults = atlas_source::examine(&bytes);
        if args.format.is_json() {
            output::json(&json!({"faults": faults}))?;
        } else {
            let mut text = String::new();
            for fault in &faults {
                let _ = writeln!(text, "{fault}");
            }
            if faults.is_empty() {
                text.push_str("the text is a patch; whether it fits takes --repo and --base\n");
            }
            output::print(&text)?;
        }
        let is_broken = faults.iter().any(|fault| fault.breaks);
        return Ok(if is_broken { NO } else { DONE });
    };
    let repo = GitRepo::open(repo).await?;
    let base = repo.resolve(base).await?;
    let patch = atlas_core::Patch::new(bytes);
    let found = atlas_source::diagnose(&repo, &base, &patch, args.mode).await?;
    if let (Some(path), Some(mended)) = (&args.mended, &found.mended) {
        atlas_pipeline::write_atomically(path, &mended.patch)?;
    }
    args.format
        .show(&found, || format!("{}\n", found.to_string().trim_end()))?;
    Ok(if found.applies { DONE } else { NO })
}
