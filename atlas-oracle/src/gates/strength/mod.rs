//! Does a test notice when a part of the solution is missing?

use super::{Draft, Gate, json};
use crate::source::{is_code, is_commented_out, is_reformatted};
use crate::{Evaluated, Evaluator, Grade, StateRun, Variation};
use async_trait::async_trait;
use atlas_core::{
    Candidate, Decision, Error, ErrorKind, Evidence, Patch, PatchPart, RunContext, Severity,
    Validator, Verdict,
};
use futures_util::StreamExt;
use serde::Serialize;

const ID: &str = "strength";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: true,
    settings: |all| serde_json::json!([all.strength.max_runs, all.strength.min_score]),
    make: |parts| {
        let options = parts.settings.strength.clone();
        Box::new(Strength::new(parts.evaluator.clone(), options))
    },
};

/// What may be defaulted.
#[derive(Clone, Debug, PartialEq)]
pub struct StrengthOptions {
    /// The most runs that one instance may cost; parts are taken out alone first, then in pairs.
    /// Default: 40.
    pub max_runs: usize,
    /// Instances with a lower score are rejected. Default: 0, none.
    pub min_score: f64,
    /// How many runs go on at once. Default: 1.
    pub concurrency: usize,
}

impl Default for StrengthOptions {
    fn default() -> Self {
        Self {
            max_runs: 40,
            min_score: 0.0,
            concurrency: 1,
        }
    }
}

/// How a part of the gold patch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartStanding {
    /// Without it a test of the lists runs and does not pass.
    Tested,
    /// Without it and another part that also goes unnoticed alone, or without which nothing builds, a
    /// test runs and fails.
    TestedInPair,
    /// Without it something does not build or load, so no test can say more: a weaker notice.
    NeededToBuild,
    /// Without it every test of the lists passes.
    Untested,
    /// Documentation, comments, white space, what CI is told: nothing a test could notice.
    NotCode,
    /// The rest does not apply without it, or the tests do not.
    Inseparable,
    /// The run without it was cut short: its time or memory was up.
    Unfinished,
    /// The budget of runs was spent.
    NotRun,
}

/// One part and what was found of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrengthPart {
    /// The file.
    pub path: String,
    /// First line in the new version; 0 for a part that is the whole file.
    pub line: u64,
    /// Lines that it adds.
    pub inserted: usize,
    /// Lines that it takes away.
    pub deleted: usize,
    /// How it stands.
    pub standing: PartStanding,
    /// The tests that noticed, at most 5.
    pub noticed_by: Vec<String>,
    /// The other part's file and line, where it took a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together_with: Option<String>,
}

/// Takes each part of the gold patch (a hunk, or a file where there is nothing smaller) out alone,
/// and those that tell nothing alone in pairs, and runs the tests without it.
///
/// A part whose absence no test of either list notices is a finding, `untested_part`: a prediction
/// without it would resolve the instance. The score is the share of code parts that are noticed, of
/// those about which something is known; `score_by_tests` counts only those that a test noticed that
/// ran. Rejects only below [`StrengthOptions::min_score`] (`weak_tests`).
#[derive(Clone, Debug)]
pub struct Strength {
    evaluator: Evaluator,
    options: StrengthOptions,
}

/// What a run without some parts says.
#[derive(Clone, Debug)]
enum Notice {
    ByTests(Vec<String>),
    ByBuild(Vec<String>),
    None,
    Inseparable,
    Unfinished,
}

impl Strength {
    /// The gate for instances of this evaluator.
    pub fn new(evaluator: Evaluator, options: StrengthOptions) -> Self {
        Self { evaluator, options }
    }

    async fn without(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        gold: &Patch,
        parts: Vec<PatchPart>,
    ) -> Result<Notice, Error> {
        let prediction = gold.without(&parts).map_err(unreadable)?;
        let names: Vec<String> = parts.iter().map(place).collect();
        let label = format!("gold patch without {}", names.join(" and "));
        let plain = Variation::plain(0);
        let run = self
            .evaluator
            .evaluate(cx, candidate, &prediction, &label, &plain);
        Ok(match run.await? {
            Evaluated::NotApplied { .. } => Notice::Inseparable,
            Evaluated::Graded { grade, run, .. } => notice(grade, &run),
        })
    }

    /// Runs without each of these groups, in order, as far as the budget goes.
    async fn groups(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        groups: Vec<Vec<PatchPart>>,
        budget: &mut usize,
    ) -> Result<Vec<Option<Notice>>, Error> {
        let asked = groups.len();
        let runs = asked.min(*budget);
        *budget -= runs;
        let gold = &candidate.task.gold_patch;
        let work = groups
            .into_iter()
            .take(runs)
            .map(|group| self.without(cx, candidate, gold, group));
        let mut work = futures_util::stream::iter(work).buffered(self.options.concurrency.max(1));
        let mut notices = Vec::with_capacity(asked);
        while let Some(notice) = work.next().await {
            notices.push(Some(notice?));
        }
        notices.resize(asked, None);
        Ok(notices)
    }
}

fn unreadable(why: atlas_core::PatchError) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        "read patch",
        "the instance's patch",
    )
    .with_source(why)
}

/// `path:line`, or the path of a whole file.
fn place(part: &PatchPart) -> String {
    if part.hunk.is_some() {
        format!("{}:{}", part.path, part.line)
    } else {
        part.path.clone()
    }
}

fn notice(grade: Grade, run: &StateRun) -> Notice {
    let failing: Vec<String> = grade
        .fail_to_pass
        .failure
        .into_iter()
        .chain(grade.pass_to_pass.failure)
        .collect();
    if failing.is_empty() {
        return Notice::None;
    }
    // A runner may report a lost module as one failing test of the module's name.
    let modules = &run.parsed.modules_not_loaded;
    let lost = |id: &String| {
        modules
            .iter()
            .any(|m| m.module == *id || m.reported_as.as_ref() == Some(id))
    };
    let by_name: Vec<String> = grade
        .failed_by_name
        .into_iter()
        .filter(|id| !lost(id))
        .take(5)
        .collect();
    if !by_name.is_empty() {
        Notice::ByTests(by_name)
    } else if run.is_unfinished() {
        Notice::Unfinished
    } else if run.parsed.build_failed() || !modules.is_empty() {
        Notice::ByBuild(failing.into_iter().take(5).collect())
    } else {
        // Skipped, gone, or lost to a process that died: the tests ran and tell the difference.
        Notice::ByTests(failing.into_iter().take(5).collect())
    }
}

#[async_trait]
impl Validator for Strength {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        let gold = &candidate.task.gold_patch;
        let parts = gold.parts().map_err(unreadable)?;
        let code: Vec<&PatchPart> = parts.iter().filter(|part| is_code(&part.path)).collect();
        let mut budget = self.options.max_runs;
        let alone = code.iter().map(|part| vec![(*part).clone()]).collect();
        let notices = self.groups(cx, candidate, alone, &mut budget).await?;
        let mut found: Vec<StrengthPart> = code
            .iter()
            .zip(&notices)
            .map(|(part, notice)| described(part, notice.as_ref()))
            .collect();

        // Alone, a part that nobody notices may be one of two of which either suffices, and a part
        // without which nothing builds hides whether a test would notice.
        let open = |standing: PartStanding| {
            matches!(
                standing,
                PartStanding::Untested | PartStanding::NeededToBuild
            )
        };
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (left, one) in found.iter().enumerate() {
            for (right, other) in found.iter().enumerate().skip(left + 1) {
                if open(one.standing) && open(other.standing) {
                    pairs.push((left, right));
                }
            }
        }
        let together = pairs
            .iter()
            .map(|(left, right)| vec![code[*left].clone(), code[*right].clone()])
            .collect();
        let notices = self.groups(cx, candidate, together, &mut budget).await?;
        let skipped = notices.iter().filter(|notice| notice.is_none()).count();
        for ((left, right), notice) in pairs.iter().zip(notices) {
            let Some(Notice::ByTests(tests)) = notice else {
                continue;
            };
            for (this, other) in [(*left, *right), (*right, *left)] {
                if open(found[this].standing) {
                    found[this].standing = PartStanding::TestedInPair;
                    found[this].noticed_by.clone_from(&tests);
                    found[this].together_with = Some(place(code[other]));
                }
            }
        }
        for (part, entry) in code.iter().zip(&mut found) {
            let says_nothing = is_commented_out(part) || is_reformatted(part);
            if entry.standing == PartStanding::Untested && says_nothing {
                entry.standing = PartStanding::NotCode;
            }
        }
        let documents = parts.iter().filter(|part| !is_code(&part.path));
        found.extend(documents.map(|part| StrengthPart {
            standing: PartStanding::NotCode,
            ..described(part, None)
        }));

        for (entry, part) in found.iter().zip(&code) {
            if entry.standing == PartStanding::Untested {
                draft.find(
                    "untested_part",
                    Severity::Warning,
                    format!(
                        "no test of the lists notices when {} is missing",
                        place(part)
                    ),
                    shown(part),
                );
            }
        }
        let count = |standing: PartStanding| {
            let of = found.iter().filter(|part| part.standing == standing);
            f64::from(u32::try_from(of.count()).unwrap_or(u32::MAX))
        };
        let by_tests = count(PartStanding::Tested) + count(PartStanding::TestedInPair);
        let seen = by_tests + count(PartStanding::NeededToBuild);
        let known = seen + count(PartStanding::Untested);
        let unfinished = count(PartStanding::Unfinished);
        if unfinished > 0.0 {
            draft.measure("unfinished_runs", unfinished);
        }
        let share = |part: f64| {
            if known > 0.0 {
                Some(part / known)
            } else {
                None
            }
        };
        draft.measure("score", json(&share(seen)));
        draft.measure("score_by_tests", json(&share(by_tests)));
        draft.measure("runs", self.options.max_runs - budget);
        draft.measure("pairs_not_run", skipped);
        draft.measure("parts", json(&found));
        if share(seen).is_some_and(|score| score < self.options.min_score) {
            draft.find(
                "weak_tests",
                Severity::Fatal,
                format!(
                    "{seen} of {known} parts of the gold patch are noticed by a test, less than \
                     the asked share of {}",
                    self.options.min_score
                ),
                Vec::new(),
            );
            return Ok(draft.decide(Decision::Reject));
        }
        let decision = if known > 0.0 {
            Decision::Accept
        } else {
            Decision::NoEvidence
        };
        Ok(draft.decide(decision))
    }
}

fn described(part: &PatchPart, notice: Option<&Notice>) -> StrengthPart {
    let (standing, noticed_by) = match notice {
        None => (PartStanding::NotRun, Vec::new()),
        Some(Notice::ByTests(tests)) => (PartStanding::Tested, tests.clone()),
        Some(Notice::ByBuild(tests)) => (PartStanding::NeededToBuild, tests.clone()),
        Some(Notice::None) => (PartStanding::Untested, Vec::new()),
        Some(Notice::Inseparable) => (PartStanding::Inseparable, Vec::new()),
        Some(Notice::Unfinished) => (PartStanding::Unfinished, Vec::new()),
    };
    StrengthPart {
        path: part.path.clone(),
        line: part.line,
        inserted: part.inserted.len(),
        deleted: part.deleted.len(),
        standing,
        noticed_by,
        together_with: None,
    }
}

/// The part's own lines, as the patch has them.
fn shown(part: &PatchPart) -> Vec<Evidence> {
    const MOST: usize = 12;
    let deleted = part.deleted.iter().map(|line| format!("-{line}"));
    let inserted = part.inserted.iter().map(|line| format!("+{line}"));
    deleted
        .chain(inserted)
        .take(MOST)
        .map(|line| Evidence::of(place(part), line))
        .collect()
}
