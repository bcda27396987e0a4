//! What `atlas make` is asked for.

use crate::parts::Parts;
use crate::{Config, EngineChoice};
use atlas_core::{InstanceId, SourcedPullRequest};
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// What to make, from what, and where to put it. Most fields are options of `atlas make` and arguments of
/// `swe_atlas.make`.
#[derive(Clone, Debug, Deserialize, Args)]
#[serde(default)]
pub struct MakeOptions {
    /// A clone on this machine, or an address to clone from.
    #[arg(skip)]
    pub repo: String,
    /// The base commit, any revision git understands. Needed together with `head`, unless
    /// `pull_request` is given.
    #[arg(skip)]
    pub base: Option<String>,
    /// The pull request's last commit.
    #[arg(skip)]
    pub head: Option<String>,
    /// The pull request's number; its commits are looked for in the clone's refs and history.
    #[arg(skip)]
    #[serde(rename = "pr")]
    pub pull_request: Option<u64>,
    /// The instance's name [default: owner__name-N, or with the head commit where there is no number].
    #[arg(long, value_name = "ID")]
    pub instance_id: Option<InstanceId>,
    /// The repository's name, `owner/name`. Default: that of the clone's remote, else of its folder.
    #[arg(skip)]
    pub repo_name: Option<String>,
    /// A file with the problem statement [default: what the candidate tells, else the commit messages].
    #[arg(long, value_name = "FILE")]
    pub problem: Option<PathBuf>,
    /// What a source tells of the pull request; the row then has its issues, labels, hints and dates with where each comes from.
    /// [`MakeOptions::sourced`] sets the other fields by it. Default: nothing.
    #[arg(skip)]
    #[serde(skip)]
    pub sourced: Option<Box<SourcedPullRequest>>,
    /// Which engine.
    #[arg(skip)]
    pub engine: EngineChoice,
    /// Configuration.
    #[arg(skip)]
    #[serde(skip)]
    pub config: Config,
    /// Where the dataset and all artefacts go.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Whether untrusted code may run where nothing keeps it apart from this machine.
    #[arg(skip)]
    pub trust: bool,
    /// Run each state N times and set aside tests that do not repeat. The tests that define the task are run further
    /// times whatever this says.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// A parser that reads the tests, in the place of the plan's: a rule set, or Python for a sandbox.
    #[arg(long, value_name = "FILE.json")]
    pub parser: Option<PathBuf>,
    /// Write failures into the pull request's tests and see whether the parser sees exactly them; with
    /// --model also into tests that no rule can rewrite.
    #[arg(long)]
    pub inject: bool,
    /// Keep each run whose console and structured report differ in a folder below this one.
    #[arg(long, value_name = "DIR")]
    pub keep_differences: Option<PathBuf>,
    /// Whether the row is put into `<out>/dataset.jsonl`, and a failure into `<out>/failures.jsonl`. Where thousands of
    /// instances have one output folder, each would have all of the others read and written again: without it,
    /// they stand in the instance's own folder alone: `instance.json`, `swebench5.json`, `failure.json`.
    /// Default: yes.
    #[arg(skip = true)]
    pub collect: bool,
    /// What the caller brings in the place of Atlas's own. Default: nothing.
    #[arg(skip)]
    #[serde(skip)]
    pub parts: Option<Arc<dyn Parts>>,
}

impl Default for MakeOptions {
    fn default() -> Self {
        Self::new("", "")
    }
}

impl MakeOptions {
    /// Defaults for everything but repository and output folder.
    pub fn new(repo: impl Into<String>, out: impl Into<PathBuf>) -> Self {
        Self {
            repo: repo.into(),
            base: None,
            head: None,
            pull_request: None,
            instance_id: None,
            repo_name: None,
            problem: None,
            sourced: None,
            engine: EngineChoice::Auto,
            config: Config::default(),
            out: out.into(),
            trust: false,
            repeats: 1,
            parser: None,
            inject: false,
            keep_differences: None,
            collect: true,
            parts: None,
        }
    }
}
