//! Chances of a success within k runs, with and without policies.

use atlas_core::pass_at_k;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What a bug counts as where `k` runs are asked for and fewer are left.
///
/// Paper 002 draws its curves to `k = 20` with far fewer runs left on most bugs and does not say how.
/// The shortcut of the `HumanEval` code (`n - c < k` gives 1) is no choice: there it would count a bug
/// with fewer than `k` failures, and no success at all, as solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BeyondRuns {
    /// `k` is lowered to the runs that there are: the bug counts 1 if any of them succeeds, else 0.
    #[default]
    Clamp,
    /// The bug is left out; [`AtK::bugs_counted`] shows it.
    Exclude,
    /// An error.
    Error,
}

impl FromStr for BeyondRuns {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "clamp" => Ok(Self::Clamp),
            "exclude" => Ok(Self::Exclude),
            "error" => Ok(Self::Error),
            other => Err(format!("`{other}` is none of clamp, exclude, error")),
        }
    }
}

/// A bug has fewer runs than `k`, and [`BeyondRuns::Error`] was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewRuns {
    /// The bug's place in the list.
    pub bug: usize,
    /// Its runs.
    pub runs: u64,
    /// The runs asked for.
    pub k: u64,
}

impl fmt::Display for TooFewRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bug {} has {} runs, fewer than k = {}: clamp k, or exclude such bugs",
            self.bug, self.runs, self.k
        )
    }
}

impl std::error::Error for TooFewRuns {}

/// One run on a bug: a candidate patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// It is right, by the ground truth.
    pub success: bool,
    /// The validation policy accepts it.
    pub accepted: bool,
}

/// A bug with its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BugRuns {
    /// The abstention policy attempts it; true where there is none.
    pub attempt: bool,
    /// All its runs, whatever the policies say of them.
    pub runs: Vec<Run>,
}

/// How many runs, and how many of them count as successes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunCount {
    /// Runs.
    pub runs: u64,
    /// Successes among them.
    pub successes: u64,
}

/// A mean over bugs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AtK {
    /// 0 to 1; absent where no bug counts.
    pub value: Option<f64>,
    /// Bugs that the mean is over.
    pub bugs_counted: u64,
}

/// The mean of pass@k over bugs. Bugs without any run are left out: the estimator says nothing of
/// them.
///
/// # Errors
/// [`TooFewRuns`], with [`BeyondRuns::Error`] only.
pub fn mean_at_k(bugs: &[RunCount], k: u64, beyond: BeyondRuns) -> Result<AtK, TooFewRuns> {
    let mut sum = 0.0;
    let mut counted = 0_u64;
    let mut known: BTreeMap<RunCount, Option<f64>> = BTreeMap::new(); // bugs have few different counts
    for (bug, count) in bugs.iter().enumerate() {
        let value = if let Some(value) = known.get(count) {
            *value
        } else {
            let value = bug_at_k(bug, *count, k, beyond)?;
            known.insert(*count, value);
            value
        };
        if let Some(value) = value {
            sum += value;
            counted += 1;
        }
    }
    Ok(AtK {
        value: super::ratio(sum, counted),
        bugs_counted: counted,
    })
}

/// Pass@k of one bug, or none where it is left out.
fn bug_at_k(
    bug: usize,
    count: RunCount,
    k: u64,
    beyond: BeyondRuns,
) -> Result<Option<f64>, TooFewRuns> {
    let RunCount { runs, successes } = count;
    if runs == 0 {
        return Ok(None);
    }
    let k = match beyond {
        _ if k <= runs => k,
        BeyondRuns::Clamp => runs,
        BeyondRuns::Exclude => return Ok(None),
        BeyondRuns::Error => return Err(TooFewRuns { bug, runs, k }),
    };
    Ok(pass_at_k(runs, successes.min(runs), k))
}

fn counts(bugs: &[BugRuns], count: impl Fn(&BugRuns) -> RunCount) -> Vec<RunCount> {
    bugs.iter().map(count).collect()
}

fn tally(runs: &[Run], counts: impl Fn(&Run) -> bool, succeeds: impl Fn(&Run) -> bool) -> RunCount {
    let mut count = RunCount::default();
    for run in runs.iter().filter(|run| counts(run)) {
        count.runs += 1;
        count.successes += u64::from(succeeds(run));
    }
    count
}

/// Filtered success@k: what a person sees who is shown `k` of the patches that the policies let
/// through.
///
/// The mean of `1 - C(n'-c', k) / C(n', k)` over the bugs that are attempted and have an accepted
/// run; `n'` accepted runs, `c'` successes among them (paper 002, section 5.2, where it is called
/// filtered fail-to-pass@k and filtered accept@k too). What happens for `k > n'` is left open there:
/// see [`BeyondRuns`].
///
/// # Errors
/// [`TooFewRuns`], with [`BeyondRuns::Error`] only.
///
/// ```
/// use atlas_judge::metrics::{BeyondRuns, BugRuns, Run, filtered_success_at_k};
/// let run = |success, accepted| Run { success, accepted };
/// let bugs = [
///     BugRuns { attempt: true, runs: vec![run(true, true), run(false, true), run(false, false)] },
///     BugRuns { attempt: false, runs: vec![run(false, true)] },
/// ];
/// let found = filtered_success_at_k(&bugs, 1, BeyondRuns::Clamp).unwrap();
/// assert_eq!((found.value, found.bugs_counted), (Some(0.5), 1));
/// ```
pub fn filtered_success_at_k(
    bugs: &[BugRuns],
    k: u64,
    beyond: BeyondRuns,
) -> Result<AtK, TooFewRuns> {
    mean_at_k(&counts(bugs, filtered_count), k, beyond)
}

/// What the policies leave of a bug's runs.
pub(super) fn filtered_count(bug: &BugRuns) -> RunCount {
    if bug.attempt {
        tally(&bug.runs, |run| run.accepted, |run| run.success)
    } else {
        RunCount::default()
    }
}

/// (pass & validation)@k: the mean over all bugs of the chance that one of `k` runs succeeds and is
/// accepted (paper 002, section 6.2). Unlike [`filtered_success_at_k`] it falls with every right
/// patch that a policy hides.
///
/// The paper has only a sentence. We take every bug and every run as the base, whatever was
/// filtered; a bug that is not attempted shows nothing, so none of its runs counts as a success; a
/// bug without any run is left out.
///
/// # Errors
/// [`TooFewRuns`], with [`BeyondRuns::Error`] only.
pub fn pass_and_validation_at_k(
    bugs: &[BugRuns],
    k: u64,
    beyond: BeyondRuns,
) -> Result<AtK, TooFewRuns> {
    mean_at_k(&counts(bugs, pass_and_validation_count), k, beyond)
}

pub(super) fn pass_and_validation_count(bug: &BugRuns) -> RunCount {
    tally(
        &bug.runs,
        |_| true,
        |run| bug.attempt && run.success && run.accepted,
    )
}

/// Validation recall@k: the mean, over bugs with a successful run, of the chance that one of `k`
/// successful runs is accepted (paper 002, appendix C.1).
///
/// Percentile cut-offs belong to all runs that pass the checks before validation, so they are
/// computed before the runs are restricted to successful ones. The paper does not say what happens
/// where a bug has fewer than `k` successful runs: see [`BeyondRuns`]. Whether a bug is attempted
/// makes no difference: the metric is about validation alone.
///
/// # Errors
/// [`TooFewRuns`], with [`BeyondRuns::Error`] only.
pub fn validation_recall_at_k(
    bugs: &[BugRuns],
    k: u64,
    beyond: BeyondRuns,
) -> Result<AtK, TooFewRuns> {
    let of = |bug: &BugRuns| tally(&bug.runs, |run| run.success, |run| run.accepted);
    mean_at_k(&counts(bugs, of), k, beyond)
}
