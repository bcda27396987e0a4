//! `atlas plan`: what would be built, and why, without building it.

use super::source::Source;
use super::{EnvironmentOptions, analysis_options, fixed_plan};
use atlas_core::{CommitSha, EnvironmentPlan, Error, ErrorKind, Evidence, RunContext};
use atlas_docker::{Analysis, analyse, render};
use serde::Serialize;

/// What `atlas plan` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// `owner/name`, or a folder's name.
    pub repository: String,
    /// The commit.
    pub base: CommitSha,
    /// Its date, as of which dependencies resolve.
    pub base_date: String,
    /// The plan, each conclusion with its evidence; absent where there is none.
    pub plan: Option<EnvironmentPlan>,
    /// The rendered Dockerfile.
    pub dockerfile: Option<String>,
    /// Why there is no plan.
    pub reason: Option<String>,
    /// Proof lines of that.
    pub evidence: Vec<Evidence>,
    /// Remarks.
    pub warnings: Vec<String>,
}

/// Finds out how a repository is built and tested at a commit. Nothing of it is run, no engine is
/// asked.
///
/// # Errors
/// A repository or commit that is not there; a configured plan that cannot be read or rendered.
///
/// # Cancellation
/// Raising `cx.cancel` ends with [`ErrorKind::Cancelled`].
pub async fn plan(cx: &RunContext, options: &EnvironmentOptions) -> Result<PlanReport, Error> {
    cx.progress.phase("read the repository");
    let source = Source::find(cx, options).await?;
    let folder = tempfile::Builder::new()
        .prefix("atlas-plan-")
        .tempdir()
        .map_err(|why| Error::io("make a folder in", &std::env::temp_dir(), why))?;
    let (repository, warnings) = source.check_out(cx, folder.path()).await?;
    cx.progress.phase("analyse");
    let found = match fixed_plan(&options.config)? {
        Some(plan) => Analysis::Plan(plan),
        None => analyse(&repository, &analysis_options(&options.config)?)?,
    };
    let mut report = PlanReport {
        schema_version: 1,
        repository: repository.name,
        base: repository.base,
        base_date: repository.base_date,
        plan: None,
        dockerfile: None,
        reason: None,
        evidence: Vec::new(),
        warnings,
    };
    match found {
        Analysis::Plan(plan) => {
            let dockerfile = render(&plan).map_err(|why| {
                let subject = report.repository.clone();
                Error::new(ErrorKind::InvalidInput, "render plan", subject).with_source(why)
            })?;
            report.dockerfile = Some(dockerfile);
            report.plan = Some(plan);
        }
        Analysis::Verdict {
            reason, evidence, ..
        } => {
            report.reason = Some(reason);
            report.evidence = evidence;
        }
    }
    Ok(report)
}
