//! From a row to a candidate: the clone, the states, the environment.

use super::rows::unreadable;
use crate::clones::{clone_among, clone_from_archive};
use crate::environment::{InstanceModel, Scope, fixed, oracle, synthesizer};
use crate::log_reading::LogReading;
use crate::make::build_proof;
use crate::make::pull_request::checkout;
use crate::own_parser::OwnParser;
use crate::store::{Workplace, read_json};
use crate::{Config, Engines};
use atlas_core::{
    Applied, Candidate, Decision, EnvSynthesizer, EnvironmentPlan, Error, ErrorKind, Evidence,
    Finding, Instance, Oracle, OracleReport, OracleTask, Overlay, Patch, PatchApplier, Repository,
    RunContext, Severity, SynthesisOutcome, Verdict,
};
use atlas_oracle::Evaluator;
use atlas_source::{CommitApplier, GitRepo, manifests_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An instance that gates can run.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) candidate: Candidate,
    pub(crate) evaluator: Evaluator,
    pub(crate) applier: CommitApplier,
    pub(crate) repository: Repository,
    /// The plan as it was asked for, before an engine noted what it did otherwise.
    pub(crate) plan: EnvironmentPlan,
}

impl Ready {
    /// Takes quarantined tests out of the lists that later gates look at.
    pub(crate) fn set_aside(&mut self, verdict: &Verdict) {
        let report = &mut self.candidate.oracle;
        for list in [&mut report.fail_to_pass, &mut report.pass_to_pass] {
            list.retain(|id| !verdict.quarantine.contains_key(id));
        }
        report.unstable.extend(verdict.quarantine.clone());
    }
}

/// What became of a row.
pub(crate) enum Prepared {
    /// Gates may run.
    Ready(Box<Ready>),
    /// No gate can: the verdict says why.
    Broken(Box<Verdict>),
}

/// What a row is prepared with.
pub(crate) struct Prospect<'a> {
    pub(crate) config: &'a Config,
    /// A clone, or a folder of clones; absent: the one that the instance was made from, or the base commit in the folder
    /// of its environment.
    pub(crate) repos: Option<&'a Path>,
    pub(crate) engines: &'a Engines,
    pub(crate) place: &'a Workplace,
    /// The folder that `make` may have left beside the dataset.
    pub(crate) artefacts: &'a Path,
    /// Makes the markers' nonces.
    pub(crate) seed: String,
    /// Whether the three states are run, for gates that look at them.
    pub(crate) runs_states: bool,
    /// What reads the runs in the place of the plan's parser.
    pub(crate) own: Option<OwnParser>,
}

impl Prospect<'_> {
    pub(crate) async fn prepare(&self, cx: &RunContext, row: &Instance) -> Result<Prepared, Error> {
        cx.progress.phase("prepare");
        let id = row.id().map_err(unreadable)?;
        let temporary = self.place.temporary()?;
        let name = row.required("repo").map_err(unreadable)?;
        let base = row.required("base_commit").map_err(unreadable)?;
        let repo = self.clone_of(name, base, &temporary).await?;
        let repo = repo.with_temp_dir(&temporary);
        let base = repo.resolve(base).await?;
        let applier = Arc::new(CommitApplier {
            repo: repo.clone(),
            base: base.clone(),
        });
        let (gold_patch, test_patch) = (
            row.gold_patch().map_err(unreadable)?,
            row.test_patch().map_err(unreadable)?,
        );
        let before = match lay(cx, &*applier, &[&test_patch]).await? {
            Ok(overlay) => overlay,
            Err(reasons) => return Ok(refused("the test patch", &reasons)),
        };
        let after = match lay(cx, &*applier, &[&gold_patch, &test_patch]).await? {
            Ok(overlay) => overlay,
            Err(reasons) => return Ok(refused("the gold patch with the test patch", &reasons)),
        };
        let folder = temporary.join("checkout");
        checkout(&repo, &base, &folder).await?;
        let repository = Repository {
            name: name.to_owned(),
            checkout: folder,
            base_date: repo.commit_date(&base).await?,
            base,
            head_manifests: manifests_of(&after),
            head_tests: BTreeMap::new(),
            touched: Vec::new(),
        };
        let seed = self.seed.clone();
        let config = self.config;
        let reading = Arc::new(LogReading::by(self.own.clone()));
        let model = InstanceModel::open(config, &self.place.path("model"))?;
        let planned: Option<EnvironmentPlan> = read_json(&self.artefacts.join("plan.json"));
        let synthesizer: Box<dyn EnvSynthesizer> =
            match planned.filter(|_| config.plan.file.is_none()) {
                Some(plan) => Box::new(fixed(plan, self.engines)?),
                None => synthesizer(
                    config,
                    self.engines,
                    (&id, None, Scope::default()),
                    seed.clone(),
                    (&reading, model.as_ref()),
                    None,
                )?,
            };
        let mut environment = match synthesizer.synthesize(cx, &repository).await? {
            SynthesisOutcome::Ready { environment } => *environment,
            SynthesisOutcome::NotBuildable {
                reason,
                attempts,
                evidence,
                ..
            } => {
                let proof = build_proof(&attempts).into_iter().chain(evidence).collect();
                return Ok(broken(
                    "environment_determinism",
                    "build_failed",
                    reason,
                    proof,
                ));
            }
        };
        if let Some(own) = &self.own {
            own.plan_name()
                .clone_into(&mut environment.plan.log_parser_name);
        }
        let oracle = oracle(
            self.engines,
            &environment.plan,
            &config.limits,
            seed,
            &reading,
        )?;
        let task = OracleTask {
            instance_id: id,
            test_patch,
            gold_patch,
            before,
            after,
            modified_tests: Vec::new(),
            conditions: BTreeMap::new(),
        };
        let mut report = if self.runs_states {
            // Beside what `make` left these runs are known, and nothing older can be mistaken for them.
            oracle.judge(cx, &environment, &task).await?
        } else {
            OracleReport::of_lists(Vec::new(), Vec::new())
        };
        // The row decides which tests count, however they were found.
        report.fail_to_pass = row.fail_to_pass().map_err(unreadable)?.ids.to_vec();
        report.pass_to_pass = row.pass_to_pass().map_err(unreadable)?.ids.to_vec();
        Ok(Prepared::Ready(Box::new(Ready {
            plan: environment.plan.clone(),
            candidate: Candidate {
                instance: row.clone(),
                environment,
                task,
                oracle: report,
            },
            applier: applier.as_ref().clone(),
            evaluator: Evaluator::new(oracle, applier),
            repository,
        })))
    }

    /// The clone by the options, else the one that the instance was made from, else what the folder of its environment
    /// holds of it.
    async fn clone_of(&self, name: &str, base: &str, temporary: &Path) -> Result<GitRepo, Error> {
        let Some(given) = self.repos else {
            let id = self.artefacts.file_name().unwrap_or_default();
            let beside = self.artefacts.with_file_name(".atlas").join(id);
            let known: Option<PathBuf> = read_json(&self.place.path("source.json"))
                .or_else(|| read_json(&beside.join("source.json")));
            let archive = self.artefacts.join("environment").join("repo.tar");
            let known = known.filter(|known| known.exists() || !archive.exists());
            let Some(known) = known else {
                if archive.exists() {
                    return clone_from_archive(&archive, base, &temporary.join("base.git")).await;
                }
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("find a clone of `{name}`:"),
                    "it was not made beside this dataset, and no folder of its environment stands there; \
                     give --repos with a clone or a folder of clones",
                ));
            };
            return GitRepo::open(&known).await;
        };
        clone_among(given, name).await
    }
}

async fn lay(
    cx: &RunContext,
    applier: &dyn PatchApplier,
    patches: &[&Patch],
) -> Result<Result<Overlay, Vec<String>>, Error> {
    Ok(match applier.apply(cx, patches).await? {
        Applied::Yes { overlay, .. } => Ok(overlay),
        Applied::No { reasons, .. } => Err(reasons),
    })
}

fn refused(what: &str, reasons: &[String]) -> Prepared {
    let evidence = reasons.iter().map(|r| Evidence::of("git apply", r));
    let message = format!("{what} does not fit on the base commit");
    broken("gold_patch", "does_not_apply", message, evidence.collect())
}

fn broken(gate: &str, code: &str, message: String, evidence: Vec<Evidence>) -> Prepared {
    Prepared::Broken(Box::new(refusal(gate, code, message, evidence)))
}

/// A rejection before any gate could look.
pub(crate) fn refusal(gate: &str, code: &str, message: String, evidence: Vec<Evidence>) -> Verdict {
    Verdict {
        validator: gate.to_owned(),
        decision: Decision::Reject,
        findings: vec![Finding {
            code: code.to_owned(),
            severity: Severity::Fatal,
            message,
            evidence,
        }],
        quarantine: BTreeMap::new(),
        measurements: serde_json::Map::new(),
    }
}
