//! What `atlas make` is asked for.

use crate::parts::Parts;
use crate::{Config, EngineChoice};
use atlas_core::{InstanceId, SourcedPullRequest};
use std::path::PathBuf;
use std::sync::Arc;

/// What to make, from what, and where to put it.
#[derive(Clone, Debug)]
pub struct MakeOptions {
    /// A clone on this machine, or an address to clone from.
    pub repo: String,
    /// The base commit, any revision git understands. Needed together with `head`, unless
    /// `pull_request` is given.
    pub base: Option<String>,
    /// The pull request's last commit.
    pub head: Option<String>,
    /// The pull request's number; its commits are looked for in the clone's refs and history.
    pub pull_request: Option<u64>,
    /// The instance's name. Default: `owner__name-NUMBER` or `…-HEAD`.
    pub instance_id: Option<InstanceId>,
    /// The repository's name, `owner/name`. Default: that of the clone's remote, else of its folder.
    pub repo_name: Option<String>,
    /// A file with the problem statement. Default: what `sourced` tells, else the commit messages.
    pub problem: Option<PathBuf>,
    /// What a source tells of the pull request; the row then has its issues, labels, hints and dates with where each comes from.
    /// [`MakeOptions::sourced`] sets the other fields by it. Default: nothing.
    pub sourced: Option<Box<SourcedPullRequest>>,
    /// Which engine.
    pub engine: EngineChoice,
    /// Configuration.
    pub config: Config,
    /// Where artefacts go.
    pub out: PathBuf,
    /// Whether untrusted code may run where nothing keeps it apart from this machine.
    pub trust: bool,
    /// How often each state runs whole; tests whose result differs between repeats are set aside.
    /// Default: once. The tests that define the task are run further times whatever this says, see
    /// [`MakeConfig::confirm`](crate::MakeConfig::confirm).
    pub repeats: u32,
    /// The file of a parser that reads the tests, in the place of the plan's. Default: none.
    pub parser: Option<PathBuf>,
    /// Whether failures are written into the pull request's tests, to see whether the parser sees
    /// exactly them. Default: no.
    pub inject: bool,
    /// Where runs whose console and structured report differ are kept, a folder each. Default: nowhere.
    pub keep_differences: Option<PathBuf>,
    /// Whether the row is put into `<out>/dataset.jsonl`, and a failure into `<out>/failures.jsonl`. Where thousands of
    /// instances have one output folder, each would have all of the others read and written again: without it,
    /// they stand in the instance's own folder alone: `instance.json`, `swebench5.json`, `failure.json`.
    /// Default: yes.
    pub collect: bool,
    /// What the caller brings in the place of Atlas's own. Default: nothing.
    pub parts: Option<Arc<dyn Parts>>,
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
