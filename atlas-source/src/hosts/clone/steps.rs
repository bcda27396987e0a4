//! The commits of one page of a history, those of one pull request together.

use super::message::{self, MergeMessage};
use super::rebased::{self, ByRef};
use super::walk::{Step, Walk};
use super::{CloneHost, Setting};
use crate::links::{TextKind, closing_links};
use atlas_core::{CommitSha, Error, RunContext};

/// Pull requests on one page.
const PAGE: usize = 64;

/// Commits that are looked at for one page at most.
const MOST_STEPS: usize = 4096;

/// A commit of the history, with those behind it that were rebased together with it.
pub(super) struct PullRequestSteps {
    pub(super) step: Step,
    /// The older ones, newest first.
    pub(super) rest: Vec<Step>,
    pub(super) told: Option<MergeMessage>,
    /// Whether the commits are those of a pull request that was rebased, with its dates.
    pub(super) is_rebased: bool,
    /// What shows which commits belong together, or why that is not sure.
    pub(super) how: Option<String>,
}

impl PullRequestSteps {
    /// The commit before it.
    pub(super) fn base(&self) -> Option<&CommitSha> {
        self.rest.last().unwrap_or(&self.step).parents.first()
    }
}

/// Commits of one page.
pub(super) struct Steps {
    pub(super) commits: Vec<PullRequestSteps>,
    pub(super) next: Option<CommitSha>,
    /// Whether the history breaks off behind them.
    pub(super) broken: bool,
}

impl CloneHost {
    /// The commits of one page, newest first, with what their messages say, and where to go on: not to `until`, which was told
    /// of before.
    pub(super) async fn steps(
        &self,
        cx: &RunContext,
        setting: &Setting,
        start: &CommitSha,
        until: Option<&CommitSha>,
    ) -> Result<Steps, Error> {
        let mut held = self.walk.lock().await;
        // A walk that stands where the last page ended goes on; any other is begun anew.
        let mut walk = match held.take() {
            Some(walk) if walk.peek().is_some_and(|step| step.commit == *start) => walk,
            _ => Walk::from(&self.repo, start).await?,
        };
        let (mut steps, mut told) = (Vec::new(), 0);
        let is_end = |walk: &Walk| walk.peek().is_none_or(|step| Some(&step.commit) == until);
        while told < PAGE && steps.len() < MOST_STEPS && !is_end(&walk) {
            cx.check("read the history")?;
            let Some(step) = walk.take().await? else {
                break;
            };
            let taken = self.taken(setting, step, (&mut walk, until)).await?;
            told += usize::from(taken.told.is_some());
            steps.push(taken);
        }
        let next = walk.peek().filter(|_| !is_end(&walk));
        let next = next.map(|step| step.commit.clone());
        let broken = walk.is_broken();
        *held = Some(walk);
        Ok(Steps {
            commits: steps,
            next,
            broken,
        })
    }

    /// A commit with what its message says, and with those behind it that were rebased together with it.
    async fn taken(
        &self,
        setting: &Setting,
        step: Step,
        (walk, until): (&mut Walk, Option<&CommitSha>),
    ) -> Result<PullRequestSteps, Error> {
        let is_merge = step.parents.len() > 1;
        let flavour = self.context.flavour;
        let mut taken = PullRequestSteps {
            told: message::read(&step.message, is_merge, flavour),
            rest: Vec::new(),
            is_rebased: false,
            how: None,
            step,
        };
        if is_merge {
            taken.told = taken.told.filter(|told| {
                told.number.is_some() || told.branch.is_some() || self.closes(&taken.step)
            });
            return Ok(taken);
        }
        let number = taken.told.as_ref().and_then(|told| told.number);
        let mut commits = 1;
        match setting
            .tips
            .look(&self.repo, &taken.step, (walk, until))
            .await?
        {
            Some(ByRef::Whole {
                number,
                commits: all,
            }) => {
                commits = all;
                taken.is_rebased = true;
                taken.how = Some(format!("as refs/pull/{number}/head has them"));
                if let Some(told) = &mut taken.told {
                    told.number = Some(number);
                }
            }
            Some(ByRef::Doubtful(why)) => taken.how = Some(format!("a single commit: {why}")),
            None if number.is_some() => {
                (commits, taken.how) = self.by_number(&taken.step, number, walk, until).await?;
                taken.is_rebased = commits > 1;
            }
            None => {}
        }
        for _ in 1..commits {
            taken.rest.extend(walk.take().await?);
        }
        if let Some(told) = taken.told.as_mut().filter(|_| !taken.rest.is_empty()) {
            let oldest = &taken.rest[taken.rest.len() - 1];
            let oldest = message::read(&oldest.message, false, flavour).unwrap_or_default();
            let all = taken.rest.iter().rev().chain([&taken.step]);
            let subjects = all.map(|step| format!("* {}", rebased::subject(&step.message)));
            *told = MergeMessage {
                number: told.number,
                title: oldest.title,
                body: subjects.collect::<Vec<_>>().join("\n"),
                branch: None,
                how: "rebased commits up to",
            };
        }
        let is_one = |told: &MergeMessage| told.number.is_some() || self.closes(&taken.step);
        taken.told = taken.told.take().filter(is_one);
        Ok(taken)
    }

    /// How many commits from one on name the same number and were rebased at one moment; why fewer do than name it.
    async fn by_number(
        &self,
        step: &Step,
        number: Option<u64>,
        walk: &mut Walk,
        until: Option<&CommitSha>,
    ) -> Result<(usize, Option<String>), Error> {
        let mut commits = 1;
        loop {
            walk.look_ahead(commits).await?;
            let Some(next) = walk.ahead().nth(commits - 1) else {
                break;
            };
            let is_other = Some(&next.commit) == until || next.parents.len() != 1;
            let told = message::read(&next.message, false, self.context.flavour);
            if is_other || told.is_none_or(|told| told.number != number) {
                break;
            }
            if !rebased::is_one_rebase(step, next) {
                let why = format!(
                    "{} before it names the same number, and was committed at another time or by another person",
                    next.commit.short()
                );
                return Ok((commits, Some(why)));
            }
            commits += 1;
        }
        let how = (commits > 1).then(|| "committed at one moment under one number".to_owned());
        Ok((commits, how))
    }

    fn closes(&self, step: &Step) -> bool {
        !closing_links(&step.message, TextKind::Plain, &self.context).is_empty()
    }
}
