//! Which step begins when.

use super::event::{RunEvent, RunListener, StepProgress};
use super::owner::{self, Owner};
use super::report::{RunEnd, RunReport};
use super::resources::{Resources, Shortage};
use super::settle::Ran;
use super::stages::instances;
use super::store::{Choice, Claim, Store};
use super::{Recipe, RunCandidate, RunOptions, RunStatus, Stage, dataset, recipes, status};
use crate::store::{clear_unfinished, write_json};
use atlas_core::{Error, ErrorKind, RunContext};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{Id, JoinSet};
use tracing::Instrument as _;

/// How often the scheduler looks around while nothing happens.
const POLL: Duration = Duration::from_millis(250);
/// How often it looks for steps of dead processes.
const SWEEP: Duration = Duration::from_secs(5);
/// How often it tells where the run stands, and the least time between two datasets.
const TELL: Duration = Duration::from_secs(2);

/// Takes candidates through stages until nothing is left to do, a budget is spent, or it is stopped.
///
/// Several processes may do so in one folder at the same time. A process that is killed loses the steps in flight and
/// nothing else.
///
/// # Errors
/// Options or files of candidates that cannot be used, before any work; a store that cannot be used; an engine that stays
/// away. What goes wrong with one candidate stands in its step, and the others go on.
///
/// # Cancellation
/// Raising `cx.cancel` ends the steps in flight, puts them back and returns [`ErrorKind::Cancelled`]; the same call later
/// goes on from there. Dropping the future leaves them to the next call.
pub async fn run_candidates(
    cx: &RunContext,
    options: &RunOptions,
    stages: &[Arc<dyn Stage>],
    listener: Arc<dyn RunListener>,
) -> Result<RunReport, Error> {
    let started = Instant::now();
    options.check(stages, None)?;
    let store = Arc::new(Store::open(&options.folder)?);
    let mut runner = Runner::new(cx, options, stages, (store, listener))?;
    runner.open().await?;
    let ended = runner.work().await;
    if ended.is_err() {
        // Their steps stay with an owner that is gone, and are free again.
        runner.set.shutdown().await;
    }
    let ended = ended?;
    runner.write_dataset(true).await?;
    if !runner.report.work.is_empty() {
        dataset::write_failures(&runner.store, &options.folder)?;
    }
    let whole = status::of(&runner.store, &options.folder, usize::MAX)?;
    write_json(&options.folder.join("report.json"), &whole)?;
    let status = runner.status()?;
    cx.check("run")?;
    Ok(RunReport {
        schema_version: 1,
        ended,
        seconds: started.elapsed().as_secs_f64(),
        status,
        ..runner.report
    })
}

pub(super) struct Runner<'a> {
    pub(super) cx: &'a RunContext,
    pub(super) options: &'a RunOptions,
    pub(super) store: Arc<Store>,
    pub(super) stages: &'a [Arc<dyn Stage>],
    /// Of all stages, in order.
    pub(super) names: Vec<&'static str>,
    recipes: Vec<Recipe>,
    /// The recipes' rows.
    ids: Vec<i64>,
    /// So many of them are done.
    depth: usize,
    choice: Choice,
    owner: Owner,
    pub(super) resources: Resources,
    pub(super) listener: Arc<dyn RunListener>,
    pub(super) set: JoinSet<Ran>,
    /// Steps in flight: their stage, and since when.
    pub(super) flight: HashMap<Id, (usize, Claim, Instant)>,
    pub(super) report: RunReport,
    /// Why nothing new starts, and until when at least.
    pub(super) hold: Option<(String, Instant)>,
    /// How often in a row the engine did not answer.
    pub(super) lost: u32,
    told: Instant,
    swept: Instant,
    /// When the dataset may be written again.
    dataset_due: Instant,
}

impl<'a> Runner<'a> {
    fn new(
        cx: &'a RunContext,
        options: &'a RunOptions,
        stages: &'a [Arc<dyn Stage>],
        (store, listener): (Arc<Store>, Arc<dyn RunListener>),
    ) -> Result<Self, Error> {
        let owner = Owner::new(&options.folder)?;
        let recipes = recipes(stages);
        let ids = store.recipes(&recipes)?;
        let names = super::names(stages);
        store.set_note("stages", &names.join(" "))?;
        store.set_note("held", "")?;
        let mut places = vec![options.folder.clone()];
        places.extend(stages.iter().flat_map(|stage| stage.places()));
        let resources = Resources {
            min_free: options.min_free,
            min_memory: options.min_memory,
            places,
        };
        let now = Instant::now();
        let report = RunReport::begin(status::of(&store, &options.folder, status::REPOSITORIES)?);
        Ok(Self {
            cx,
            options,
            store,
            stages,
            names,
            recipes,
            ids,
            depth: options.depth(stages),
            choice: Choice::All,
            owner,
            resources,
            listener,
            set: JoinSet::new(),
            flight: HashMap::new(),
            report,
            hold: None,
            lost: 0,
            told: now,
            swept: now,
            dataset_due: now,
        })
    }

    /// Brings the store up to what there is to do.
    async fn open(&mut self) -> Result<(), Error> {
        self.report.freed = self.free()?;
        clear_unfinished(&self.options.folder);
        let (store, cx) = (Arc::clone(&self.store), self.cx.clone());
        let (files, names) = (self.options.candidates.clone(), self.names.clone());
        let import = tokio::task::spawn_blocking(move || store.import(&cx, &files, &names));
        self.report.import = import.await.map_err(|why| {
            Error::new(ErrorKind::Internal, "read candidates", "").with_source(why)
        })??;
        self.listener.hear(&RunEvent::Imported(&self.report.import));
        if self.options.stale {
            let stages: Vec<(&str, i64)> = self
                .names
                .iter()
                .copied()
                .zip(self.ids.iter().copied())
                .collect();
            self.report.renewed = self.store.renew(&stages)?;
        }
        let stale = self.store.stale(&self.recipes)?;
        for (stage, steps) in self.names.iter().zip(stale).filter(|(_, steps)| *steps > 0) {
            self.listener.hear(&RunEvent::Stale { stage, steps });
            self.report.stale.insert((*stage).to_owned(), steps);
        }
        let (only, limit) = (&self.options.only, self.options.limit);
        if !only.is_empty() {
            // Those that failed are to be chosen, too.
            self.refuse_unknown(only)?;
        }
        self.report.retried = self.store.retry(&self.options.retry, only, &self.names)?;
        if !only.is_empty() || limit.is_some() {
            let chosen = self.store.choose(only, limit, &self.names[..self.depth])?;
            self.choice = Choice::Chosen(chosen);
        }
        Ok(())
    }

    fn refuse_unknown(&self, only: &[String]) -> Result<(), Error> {
        for pattern in only {
            if self.store.matches(pattern)? == 0 {
                let near = self.store.names_near(pattern)?;
                let near = crate::near::hint(pattern, near.iter().map(String::as_str));
                let said = format!("`{pattern}`: no candidate has such a name{near}");
                return Err(Error::new(ErrorKind::NotFound, "choose candidates:", said));
            }
        }
        Ok(())
    }

    async fn work(&mut self) -> Result<RunEnd, Error> {
        loop {
            let stopping = self.cx.cancel.is_cancelled();
            let spent = self.is_spent()?;
            if !stopping && !spent && self.may_start().await? {
                self.start()?;
            }
            if self.set.is_empty() {
                let open = self.store.is_open(&self.names[..self.depth], self.choice)?;
                if stopping || !open {
                    return Ok(RunEnd::Done);
                }
                if spent {
                    return Ok(RunEnd::Budget);
                }
            }
            tokio::select! {
                ended = self.set.join_next_with_id(), if !self.set.is_empty() => {
                    if let Some(ended) = ended {
                        self.settle(ended).await?;
                    }
                }
                () = self.cx.cancel.cancelled(), if !stopping => {}
                () = tokio::time::sleep(POLL) => {}
            }
            self.look_around().await?;
        }
    }

    /// What is done now and then.
    async fn look_around(&mut self) -> Result<(), Error> {
        if self.swept.elapsed() > SWEEP {
            self.swept = Instant::now();
            self.report.freed += self.free()?;
        }
        if self.told.elapsed() > TELL {
            self.told = Instant::now();
            self.listener.hear(&RunEvent::Standing(&self.status()?));
        }
        self.write_dataset(false).await
    }

    /// Puts back what dead processes had begun.
    fn free(&self) -> Result<usize, Error> {
        let folder = &self.options.folder;
        let freed = self
            .store
            .free(|name| owner::is_dead(folder, name), &self.names)?;
        owner::sweep(folder);
        if freed > 0 {
            self.listener.hear(&RunEvent::Freed { steps: freed });
        }
        Ok(freed)
    }

    pub(super) fn status(&self) -> Result<RunStatus, Error> {
        status::of(&self.store, &self.options.folder, status::REPOSITORIES)
    }

    /// Whether a budget is spent, what is in flight included.
    fn is_spent(&self) -> Result<bool, Error> {
        let over = |limit: Option<f64>, spent: f64| limit.is_some_and(|limit| spent >= limit);
        let flight = self
            .flight
            .values()
            .map(|(_, _, since)| since.elapsed().as_secs_f64());
        let seconds = self.store.number("seconds")? + flight.sum::<f64>();
        Ok(over(self.options.seconds, seconds)
            || over(self.options.money, self.store.number("money")?))
    }

    /// Whether the machine bears another step. Where a disk is full, what finished candidates take up is given back.
    async fn may_start(&mut self) -> Result<bool, Error> {
        if let Some((_, until)) = &self.hold
            && Instant::now() < *until
        {
            return Ok(false);
        }
        loop {
            match self.resources.lack() {
                None => {
                    if self.hold.take().is_some() {
                        self.store.set_note("held", "")?;
                        self.listener.hear(&RunEvent::Resumed);
                    }
                    return Ok(true);
                }
                Some(Shortage::Disk(_)) if self.reclaim_one().await? => {}
                Some(lack) => {
                    self.hold_for(&lack.to_string(), Duration::from_secs(1));
                    return Ok(false);
                }
            }
        }
    }

    /// Starts nothing for some time, and says why if that is new.
    pub(super) fn hold_for(&mut self, why: &str, pause: Duration) {
        let kind = |text: &str| {
            text.split_once(" free in")
                .map_or_else(|| text.to_owned(), |(_, rest)| rest.to_owned())
        };
        if self
            .hold
            .as_ref()
            .is_none_or(|(known, _)| kind(known) != kind(why))
        {
            self.listener.hear(&RunEvent::Held { why });
            // Told where it can be; a full disk takes no note.
            let _ = self.store.set_note("held", why);
        }
        self.hold = Some((why.to_owned(), Instant::now() + pause));
    }

    async fn reclaim_one(&mut self) -> Result<bool, Error> {
        let Some((candidate, name, line)) = self.store.reclaimable()? else {
            return Ok(false);
        };
        let scratch = self.owner.scratch()?;
        let finished = self.candidate(&name, &line, scratch.path().to_owned())?;
        for stage in self.stages {
            if let Err(why) = stage.reclaim(self.cx, &finished).await {
                // It is not asked for again: others may have what is needed.
                tracing::warn!(instance_id = name, why = why.chain(), "not given back");
            }
        }
        self.store.reclaimed(candidate)?;
        self.listener.hear(&RunEvent::Reclaimed { id: &name });
        Ok(true)
    }

    /// Begins as many steps as may go on, those of later stages first: what was begun is brought to its end.
    fn start(&mut self) -> Result<(), Error> {
        let mut waiting = self.waiting()?;
        for at in (0..self.depth).rev() {
            let most = self.stages[at].parallel();
            loop {
                let of_stage = self
                    .flight
                    .values()
                    .filter(|(stage, ..)| *stage == at)
                    .count();
                if of_stage >= most || self.flight.len() >= self.options.parallel {
                    break;
                }
                let ahead = waiting.get(at + 1).copied().unwrap_or_default();
                if at + 1 < self.depth && ahead >= self.options.ahead && !self.flight.is_empty() {
                    break;
                }
                let alone = self.stages[at].one_per_repository();
                let claim = self.store.claim(
                    (self.names[at], self.ids[at]),
                    self.owner.name(),
                    alone,
                    self.choice,
                )?;
                let Some(claim) = claim else {
                    break;
                };
                waiting[at] = waiting[at].saturating_sub(1);
                self.begin(at, claim)?;
            }
        }
        Ok(())
    }

    /// How many candidates wait for each stage.
    fn waiting(&self) -> Result<Vec<u64>, Error> {
        let tally = self.store.tally()?;
        let of = |name: &&str| {
            let pending = tally
                .iter()
                .filter(|t| t.stage == **name && t.state == "pending");
            pending.map(|t| t.steps).sum()
        };
        Ok(self.names.iter().map(of).collect())
    }

    fn candidate(&self, name: &str, line: &str, scratch: PathBuf) -> Result<RunCandidate, Error> {
        let wrong = |why: Box<dyn std::error::Error + Send + Sync>| {
            Error::new(
                ErrorKind::Internal,
                "read the stored line of",
                format!("`{name}`"),
            )
            .with_source(why)
        };
        Ok(RunCandidate {
            id: name
                .parse()
                .map_err(|why: atlas_core::InvalidInstanceId| wrong(why.into()))?,
            request: serde_json::from_str(line).map_err(|why| wrong(why.into()))?,
            artefacts: instances(&self.options.folder).join(name),
            scratch,
        })
    }

    fn begin(&mut self, at: usize, claim: Claim) -> Result<(), Error> {
        let scratch = self.owner.scratch()?;
        let candidate = self.candidate(&claim.name, &claim.line, scratch.path().to_owned())?;
        clear_unfinished(&candidate.artefacts);
        let stage = Arc::clone(&self.stages[at]);
        self.listener.hear(&RunEvent::Begun {
            stage: stage.id(),
            id: &claim.name,
        });
        let told = StepProgress {
            listener: Arc::clone(&self.listener),
            stage: stage.id(),
            id: claim.name.clone(),
        };
        let cx = self.cx.clone().with_progress(Arc::new(told));
        let span = tracing::info_span!(
            "step",
            run_id = cx.run_id,
            instance_id = claim.name,
            stage = stage.id(),
            attempt = claim.faults + 1,
            outcome = tracing::field::Empty,
            cost_usd = tracing::field::Empty,
        );
        let step = async move {
            let since = Instant::now();
            let result = stage.run(&cx, &candidate).await;
            drop(scratch);
            let span = tracing::Span::current();
            match &result {
                Ok(outcome) => {
                    span.record("outcome", outcome.outcome.as_str());
                    span.record("cost_usd", outcome.money);
                }
                Err(why) => {
                    span.record("outcome", why.kind().as_str());
                }
            }
            Ran {
                result,
                seconds: since.elapsed().as_secs_f64(),
            }
        };
        let task = self.set.spawn(step.instrument(span));
        self.flight.insert(task.id(), (at, claim, Instant::now()));
        Ok(())
    }

    /// Writes the dataset if it is not what it should be: now, or when enough time has passed since the last one that
    /// writing it takes a small part of the run.
    pub(super) async fn write_dataset(&mut self, at_once: bool) -> Result<(), Error> {
        if !at_once && Instant::now() < self.dataset_due {
            return Ok(());
        }
        let since = Instant::now();
        let (store, folder) = (Arc::clone(&self.store), self.options.folder.clone());
        let write = move || dataset::write(&store, &folder);
        let written = tokio::task::spawn_blocking(write)
            .await
            .map_err(|why| Error::new(ErrorKind::Internal, "write dataset", "").with_source(why))?;
        self.dataset_due = Instant::now() + TELL.max(since.elapsed() * 20);
        match written {
            Ok(None) => Ok(()),
            Ok(Some(rows)) => {
                self.listener.hear(&RunEvent::Dataset { rows });
                Ok(())
            }
            Err(why) if !at_once && super::resources::is_disk_full(&why) => {
                self.hold_for(&why.chain(), Duration::from_secs(1));
                Ok(())
            }
            Err(why) => Err(why),
        }
    }
}
