//! Environments and what makes them.

use crate::{CommitSha, EnvironmentPlan, Error, Evidence, Fault, RunContext};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A repository at the base commit of a pull request, as a synthesizer may see it.
#[derive(Clone, Debug)]
pub struct Repository {
    /// `owner/name`, or a folder's name where nothing better is known.
    pub name: String,
    /// A checkout of the base commit with a `.git` whose history ends there. It is only read. No
    /// later object is in it, so none can reach an environment made from it.
    pub checkout: PathBuf,
    /// The commit that the environment is for.
    pub base: CommitSha,
    /// Date of the base commit, ISO 8601; dependencies resolve as of then where they can.
    pub base_date: String,
    /// Manifests and lockfiles that the pull request changes, as they are in its last commit:
    /// path -> content. Dependencies that After needs are fetched from them ahead.
    pub head_manifests: BTreeMap<String, Vec<u8>>,
    /// Test files that the pull request changes, likewise. They may say what the test command must
    /// switch on (a Cargo feature that a whole test file asks for); nothing of them is in an
    /// environment.
    pub head_tests: BTreeMap<String, Vec<u8>>,
    /// Paths of all files that the pull request touches: of a repository of many projects, those that hold one are
    /// run, with what depends on them. Empty where there is no pull request: then all are.
    pub touched: Vec<String>,
}

/// A prepared environment that states can be run in, as its engine names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "snake_case")]
pub enum ImageRef {
    /// A container image.
    Docker {
        /// The image id, `sha256:…`.
        id: String,
        /// The tag it was given.
        tag: String,
    },
    /// A prepared folder on this machine.
    Local {
        /// The folder.
        path: PathBuf,
    },
    /// Something a user's own sandbox understands.
    Other {
        /// Its name.
        name: String,
    },
}

/// Everything that is needed to know what an environment was, and to build it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnvironmentLock {
    /// `docker` or `local`.
    pub engine: String,
    /// Engine version.
    pub engine_version: String,
    /// Base image as named in the plan.
    pub base_image: String,
    /// Digest of the base image in its registry, or its id where it has none.
    pub base_image_id: String,
    /// Id of the built image, or the key of the prepared folder.
    pub image_id: String,
    /// Size of the built image in bytes with its base, where the engine says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_bytes: Option<u64>,
    /// Tool -> version, as the tools print it.
    pub tools: BTreeMap<String, String>,
    /// What was installed in the place of what no registry gave, where the engine's settings allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub substitutes: Vec<String>,
    /// Resolved dependencies, `name==version` or a line of the lockfile, sorted.
    pub dependencies: Vec<String>,
}

/// One try at building an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The plan that was tried.
    pub plan: EnvironmentPlan,
    /// Who made the plan, and out of what.
    #[serde(default)]
    pub origin: AttemptOrigin,
    /// Why it failed; absent for the successful one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<BuildFailure>,
}

/// Who made an attempt's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AttemptOrigin {
    /// Analysis of the repository, or a plan that was given.
    #[default]
    Analysis,
    /// The attempt before, changed by rules.
    Rules {
        /// What was changed, each with the rule's name.
        changes: Vec<String>,
        /// The lines that asked for it.
        proofs: Vec<Evidence>,
    },
    /// A language model.
    Model {
        /// In which phase of paper 001, section 3.2.2.
        phase: ModelPhase,
        /// The number of the correction within its phase, from 1.
        correction: u32,
        /// How many questions about the repository the model asked before it wrote the plan.
        #[serde(default, skip_serializing_if = "is_none_asked")]
        questions: u32,
        /// The model, as it names itself.
        model: String,
    },
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes what it serialises by reference"
)]
fn is_none_asked(questions: &u32) -> bool {
    *questions == 0
}

/// The phases in which a model may write a plan (paper 001, section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelPhase {
    /// Nothing is known but the repository.
    Plan,
    /// The build failed.
    ErrorRecovery,
    /// The build succeeded, and the tests cannot run in it.
    TestRun,
}

/// A build that ended in an error of the build itself: data for the next attempt and for the
/// report, not an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildFailure {
    /// The step that failed: the Dockerfile instruction or the plan's command; `tests` for a trial
    /// run that showed the environment to be wrong.
    pub step: String,
    /// Its exit code, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// What it wrote to standard error (the end of it, at most 64 KiB).
    pub stderr: String,
    /// What it wrote to standard output (likewise).
    pub stdout: String,
}

/// A place where the repository's tests run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// What was planned.
    pub plan: EnvironmentPlan,
    /// The rendered Dockerfile; also written for the local engine, which runs the same plan.
    pub dockerfile: String,
    /// What sandboxes run.
    pub image: ImageRef,
    /// What it was made of.
    pub lock: EnvironmentLock,
    /// Every attempt, the last one successful.
    pub attempts: Vec<Attempt>,
}

/// What synthesis came to. Its JSON says which by `outcome`, `ready` or `not_buildable`; of the latter all but the reason
/// may be left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum SynthesisOutcome {
    /// It can be built.
    Ready {
        /// The environment.
        environment: Box<Environment>,
    },
    /// A verdict: no environment, and why.
    NotBuildable {
        /// One sentence.
        reason: String,
        /// The attempts with their failing steps.
        #[serde(default)]
        attempts: Vec<Attempt>,
        /// The last rendered Dockerfile, if it came that far.
        #[serde(default)]
        dockerfile: Option<String>,
        /// Proof lines.
        #[serde(default)]
        evidence: Vec<Evidence>,
        /// Whose fault it is. Default in JSON: the environment's.
        #[serde(default = "of_the_environment")]
        fault: Fault,
    },
}

fn of_the_environment() -> Fault {
    Fault::Environment
}

/// Finds and builds an environment for a repository at a commit (paper 001, section 3.2).
///
/// # Contract
/// - A repository that cannot be built is a [`SynthesisOutcome::NotBuildable`] with its evidence,
///   never an [`Error`]; an engine that died is an [`Error`], never a verdict.
/// - Deterministic for the same inputs, as far as the package registries are.
/// - The environment holds nothing of the repository after `base` but the dependencies that `head_manifests` name.
///
/// # Cancellation
/// Raising `cx.cancel` ends the build with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled)
/// and leaves nothing running. Dropping the future may leave a labelled container to the next sweep.
#[async_trait]
pub trait EnvSynthesizer: fmt::Debug + Send + Sync {
    /// Makes the environment.
    ///
    /// # Errors
    /// Whatever is no property of the repository: engine, disk, cancellation.
    async fn synthesize(
        &self,
        cx: &RunContext,
        repository: &Repository,
    ) -> Result<SynthesisOutcome, Error>;
}

macro_rules! forward_env_synthesizer {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<S: EnvSynthesizer + ?Sized> EnvSynthesizer for $ty {
            async fn synthesize(
                &self,
                cx: &RunContext,
                repository: &Repository,
            ) -> Result<SynthesisOutcome, Error> {
                (**self).synthesize(cx, repository).await
            }
        }
    )+};
}
forward_env_synthesizer!(&S, Box<S>, Arc<S>);
