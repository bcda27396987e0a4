//! Instances as places to work in: a sealed session each, a patch taken from outside, a verdict.

use super::input::{Input, Item, Keep};
use super::options::EvalOptions;
use super::site::{PreparedInstances, Site};
use super::strict::Prepared;
use super::verdict::EvalVerdict;
use super::{Host, PredictionSource};
use atlas_core::{
    Error, ErrorKind, ExitState, FileContent, Instance, Isolation, Job, JobUser, Limits, Network,
    Overlay, RunContext, Session, Step, StepResult,
};
use atlas_source::{ignored_paths, patch_between};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most files that a session's patch may touch; more are products of a build that nothing ignores.
const MOST_FILES: usize = 5_000;

/// The instances of a dataset, opened once: sessions in their environments, and verdicts by the strict
/// evaluator.
///
/// An instance is prepared when it is first asked for and stays so. Clones share everything.
#[derive(Clone, Debug)]
pub struct Episodes {
    host: Arc<Host>,
    input: Arc<Input>,
    session: Limits,
}

impl Episodes {
    /// Reads the dataset and opens engines. The options' predictions are not looked at; `session` bounds each
    /// session as a whole, [`Step`] each command.
    ///
    /// # Errors
    /// A dataset without a usable row, wrong options, an engine that does not answer, a mode other than
    /// [`GradingMode::Strict`](atlas_core::GradingMode::Strict).
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn open(mut options: EvalOptions, session: Limits) -> Result<Self, Error> {
        if options.mode != atlas_core::GradingMode::Strict {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "open instances as places to work in:",
                "by the rules of a harness nothing is sealed; use the strict mode",
            ));
        }
        options.predictions = PredictionSource::Null;
        let input = Input::read(
            &options.dataset,
            &options.predictions,
            &options.instances,
            Keep::Rows,
        )?;
        let mut host = Box::pin(Host::open(options)).await?;
        host.kept = Some(PreparedInstances::default());
        Ok(Self {
            host: Arc::new(host),
            input: Arc::new(input),
            session,
        })
    }

    /// The instances, in the dataset's order.
    pub fn instances(&self) -> &[String] {
        &self.input.ids
    }

    /// What is wrong with rows that are not among them.
    pub fn faults(&self) -> &[super::InputFault] {
        &self.input.faults
    }

    /// The row of an instance.
    pub fn instance(&self, id: &str) -> Option<&Instance> {
        self.input.subjects.get(id).map(|subject| &subject.row)
    }

    fn item(&self, id: &str, model: &str, patch: Option<&str>) -> Result<Item, Error> {
        let subject = self.input.subjects.get(id).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("find `{id}` in"),
                format!("`{}`", self.host.options.dataset.display()),
            )
        })?;
        Ok(Item {
            instance_id: id.to_owned(),
            model: model.to_owned(),
            patch: patch.map(str::to_owned),
            subject: Arc::clone(subject),
        })
    }

    async fn site(&self, cx: &RunContext, id: &str) -> Result<Arc<Site>, Error> {
        let item = self.item(id, "", None)?;
        let Some(kept) = &self.host.kept else {
            return Err(Error::new(ErrorKind::Internal, "keep", id));
        };
        let found = Box::pin(kept.site(cx, &self.host, &item)).await?;
        found.map_err(|(_, why)| {
            Error::new(ErrorKind::InvalidInput, format!("prepare `{id}`:"), why)
        })
    }

    /// Builds or finds the environment of an instance, so that sessions in it begin soon.
    ///
    /// # Errors
    /// No such instance; no environment for it; the engine.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends it.
    pub async fn prepare(&self, cx: &RunContext, id: &str) -> Result<(), Error> {
        self.site(cx, id).await.map(drop)
    }

    /// Opens a session in the environment of an instance, at Base: no network, no history after Base, none of
    /// the instance's tests.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare) and of the engine.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends it; nothing is left.
    pub async fn begin(&self, cx: &RunContext, id: &str) -> Result<Episode, Error> {
        let site = self.site(cx, id).await?;
        let job = Job {
            label: format!("session {id}"),
            overlay: Overlay::default(),
            files: Vec::new(),
            script: String::new(),
            collect: Vec::new(),
            env: BTreeMap::new(),
            limits: self.session.clone(),
            network: Network::None,
            user: user_of(&site.prepared),
        };
        let environment = &site.prepared.candidate.environment;
        let session = self.host.engines.sandbox.open(cx, environment, &job);
        let mut episode = Episode {
            session: session.await?,
            instance_id: id.to_owned(),
            site,
        };
        if episode.site.image.is_some() && job.user != JobUser::Tests {
            episode.seal(cx).await?;
        }
        Ok(episode)
    }

    /// Files of an instance's base commit, by their paths from the root; those that Base does not have are
    /// absent.
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare); a path that leaves the repository.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends it.
    pub async fn base_files(
        &self,
        cx: &RunContext,
        id: &str,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, FileContent>, Error> {
        self.site(cx, id)
            .await?
            .prepared
            .tree
            .files(cx, paths)
            .await
    }

    /// The verdict on a patch, by the strict evaluator, with its files below the folder of the run. What was run
    /// before is not run again. A verdict without evidence says so; it is no error. In the local engine without
    /// bubblewrap an instance has room for one: close the episode first, or the run waits for its end.
    ///
    /// # Errors
    /// No such instance; cancellation.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends the run in flight.
    pub async fn grade(
        &self,
        cx: &RunContext,
        id: &str,
        model: &str,
        patch: &str,
    ) -> Result<EvalVerdict, Error> {
        let item = self.item(id, model, Some(patch))?;
        let done = Box::pin(self.host.one(cx, &item)).await;
        cx.check("grade")?;
        Ok(done.verdict)
    }
}

/// Who commands are in an environment: whoever its tests are.
fn user_of(prepared: &Prepared) -> JobUser {
    prepared.evaluator.oracle().options().user
}

/// A session in the environment of one instance.
#[derive(Debug)]
pub struct Episode {
    session: Box<dyn Session>,
    instance_id: String,
    site: Arc<Site>,
}

impl Episode {
    /// Whose environment it is.
    pub fn instance_id(&self) -> &str {
        &self.instance_id
    }

    /// How commands are kept apart.
    pub fn isolation(&self) -> Isolation {
        self.session.isolation()
    }

    /// Runs one command, as [`Session::step`].
    ///
    /// # Errors
    /// What is no doing of the command.
    ///
    /// # Cancellation
    /// As [`Session::step`].
    pub async fn step(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error> {
        self.session.step(cx, step).await
    }

    /// What was done to the repository, as a patch on Base; empty if nothing was. Files that are tracked in
    /// Base count, and new ones that no `.gitignore` leaves out; what the environment's build left beside the
    /// repository's files does not. It is made from outside: no program or setting of the session has a say.
    ///
    /// # Errors
    /// The engine; more than 5,000 files.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn diff(&mut self, cx: &RunContext) -> Result<String, Error> {
        let site = Arc::clone(&self.site);
        let tree = &site.prepared.tree;
        let changed = self.session.changed(cx).await?;
        let tracked = tree.tracked(cx).await?;
        let is_tracked = |path: &str| {
            tracked
                .as_ref()
                .is_none_or(|tracked| tracked.contains_key(path))
        };
        let (known, unknown): (BTreeSet<String>, BTreeSet<String>) = changed
            .written
            .into_iter()
            .partition(|path| is_tracked(path));
        let new: BTreeSet<String> = unknown.intersection(&changed.new).cloned().collect();
        let left = new
            .difference(&self.ignored(cx, &new).await?)
            .cloned()
            .collect();
        let gone = gone(&changed.removed, tracked.as_ref());
        let old: BTreeSet<String> = known.union(&gone).cloned().collect();
        let wanted: BTreeSet<String> = known.union(&left).cloned().collect();
        if wanted.len() + gone.len() > MOST_FILES {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("read the patch of `{}`:", self.instance_id),
                format!(
                    "{} files were changed, `{}` first: more than {MOST_FILES} are no patch",
                    wanted.len() + gone.len(),
                    wanted.first().or(gone.first()).map_or("", String::as_str)
                ),
            ));
        }
        let mut old = tree.files(cx, &old).await?;
        for (path, file) in &mut old {
            let mode = tracked.as_ref().and_then(|tracked| tracked.get(path));
            if let Some(Some(mode)) = mode {
                file.mode = *mode;
            }
        }
        let now = self.session.read(cx, &wanted).await?;
        // Folders were among what changed, and what a file of Base was replaced by may be one.
        old.retain(|path, _| gone.contains(path) || now.contains_key(path) || known.contains(path));
        Ok(String::from_utf8_lossy(patch_between(&old, &now).await?.as_bytes()).into_owned())
    }

    /// Takes history after Base out of an image that Atlas did not make.
    async fn seal(&mut self, cx: &RunContext) -> Result<(), Error> {
        let sealing = Step {
            seconds: 600,
            ..Step::new(include_str!("seal.sh"))
        };
        let sealed = self.session.step(cx, &sealing).await?;
        if sealed.exit == (ExitState::Exited { code: 0 }) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&sealed.output).into_owned();
        Err(Error::new(
            ErrorKind::EngineFailed,
            format!(
                "take history after Base out of the image of `{}`:",
                self.instance_id
            ),
            said.trim().to_owned(),
        ))
    }

    /// Those of these new files that the session's own `.gitignore`s leave out.
    async fn ignored(
        &mut self,
        cx: &RunContext,
        new: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Error> {
        let mut rules = BTreeSet::new();
        for path in new {
            rules.insert(".gitignore".to_owned());
            for (at, _) in path.match_indices('/') {
                rules.insert(format!("{}/.gitignore", &path[..at]));
            }
        }
        let rules: BTreeMap<String, FileContent> = self.session.read(cx, &rules).await?;
        ignored_paths(&rules, new).await
    }

    /// Another session that begins with this one's files as they are now.
    ///
    /// # Errors
    /// As [`Session::fork`].
    ///
    /// # Cancellation
    /// Dropping the future leaves nothing behind.
    pub async fn fork(&mut self, cx: &RunContext) -> Result<Self, Error> {
        Ok(Self {
            session: self.session.fork(cx).await?,
            instance_id: self.instance_id.clone(),
            site: Arc::clone(&self.site),
        })
    }

    /// Ends the session and removes it.
    ///
    /// # Errors
    /// As [`Session::close`].
    ///
    /// # Cancellation
    /// Dropping the future leaves the rest to the engine's clean-up.
    pub async fn close(self) -> Result<(), Error> {
        self.session.close().await
    }
}

/// The tracked files that are gone, one by one; without an index, the paths as they were told.
fn gone(
    removed: &BTreeSet<String>,
    tracked: Option<&BTreeMap<String, Option<atlas_core::FileMode>>>,
) -> BTreeSet<String> {
    let Some(tracked) = tracked else {
        return removed.clone();
    };
    let is_below = |path: &str| {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        removed.contains(path) || above.into_iter().any(|folder| removed.contains(folder))
    };
    tracked
        .keys()
        .filter(|path| is_below(path))
        .cloned()
        .collect()
}
