//! Tests of Atlas's own amid the instance's: one must pass, one must fail, and copies of the instance's
//! tests must fail where these pass.

use super::strict::Prepared;
use super::verdict::CanaryReport;
use atlas_core::{Error, ExitState, FileContent, Overlay, RunContext, StateSummary, TestStatus};
use atlas_guard::{Twin, canaries, twins};
use atlas_oracle::{GoldHere, StateRun};
use std::collections::BTreeSet;

/// The canaries of an instance, as its gold patch has shown them to work.
#[derive(Clone, Debug, Default)]
pub(super) struct CanaryPlan {
    file: Option<String>,
    /// Which of the file's forms.
    form: usize,
    parser: String,
    seed: String,
    /// Tests that define the task, for whose twins there is room first; absent where the suite bears none.
    twins_of: Option<Vec<String>>,
    /// Whether the suite's command ends with exit code 0 although tests fail: Maven with `-fae` and failures ignored.
    ends_well: bool,
    /// Ids of tests and of their twins, as the gold patch's run has them.
    twin_ids: Vec<(String, String)>,
    /// Why there are none.
    pub(super) absent_because: Option<String>,
    /// Whether the gold patch resolves the instance here; absent if that was not tried.
    pub(super) gold_resolves: Option<bool>,
    /// What the gold patch's run said, where it does not resolve.
    pub(super) gold_reasons: Vec<String>,
    /// Tests of the lists that the gold patch misses here.
    gold_misses: BTreeSet<String>,
    /// The gold patch's run: what an honest run of this suite looks like.
    pub(super) reference: Option<StateSummary>,
    /// The same without canaries, where the one that must fail makes the test fail that runs it: then these
    /// say whether a run is to be believed, and a second one is graded that is without them.
    pub(super) alone: Option<StateSummary>,
}

/// Names of canaries in one layout.
#[derive(Clone, Debug)]
pub(super) struct LaidCanary {
    must_pass: String,
    must_fail: Option<String>,
    twins: Vec<Twin>,
}

/// What canaries did in a run.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenCanary {
    pass: Option<TestStatus>,
    /// Whether one that must fail was laid out.
    has_fail: bool,
    fail: Option<TestStatus>,
    /// Tests that pass, whose twins do not fail: the twin's status, if it is in the log at all.
    twins: Vec<(String, Option<TestStatus>)>,
    /// The run says that all is well although a test of it must have failed.
    ended_well: bool,
}

impl CanaryPlan {
    /// No canaries.
    pub(super) fn none(why: impl Into<String>) -> Self {
        Self {
            absent_because: Some(why.into()),
            ..Self::default()
        }
    }

    /// What the gold patch did here.
    pub(super) fn gold_here(&self) -> GoldHere {
        match self.gold_resolves {
            None => GoldHere::Unknown,
            Some(true) => GoldHere::Good,
            Some(false) if self.gold_misses.is_empty() => {
                GoldHere::Broken(self.gold_reasons.join("; "))
            }
            Some(false) => GoldHere::Misses(self.gold_misses.clone()),
        }
    }

    /// Ids of tests that have a twin, with the twin's.
    fn twin_ids(&self) -> &[(String, String)] {
        &self.twin_ids
    }

    /// Finds the canaries in a run.
    pub(super) fn look(&self, run: &StateRun, laid: &LaidCanary) -> SeenCanary {
        look(run, laid, (self.twin_ids(), self.ends_well))
    }

    /// Whether a test that does not pass in a run with canaries fails for nothing but those canaries and twins that it
    /// runs.
    pub(super) fn fails_for_canaries(&self, run: &StateRun, laid: &LaidCanary, id: &str) -> bool {
        let tests = run.parsed.tests();
        let is_twin = |other: &str| self.twin_ids.iter().any(|(_, twin)| twin == other);
        let is_canary = |other: &str| {
            laid.must_fail
                .as_deref()
                .is_some_and(|name| other.contains(name))
        };
        let mut failing = tests
            .iter()
            .filter(|(other, status)| status.is_failing() && is_inner(id, other));
        runs_canary(id, run, laid, &self.twin_ids)
            && failing.all(|(other, _)| is_twin(other) || is_canary(other))
    }

    /// The same files with canaries in the test file, if there are any.
    pub(super) fn lay_out(&self, mut overlay: Overlay) -> (Overlay, Option<LaidCanary>) {
        let made = self.file.as_ref().and_then(|file| {
            let content = overlay.write.get_mut(file)?;
            let doubled = self
                .twins_of
                .as_ref()
                .and_then(|listed| twins(file, &content.bytes, &self.seed, listed));
            let (bytes, pairs) = match doubled {
                Some(made) => (made.content, made.pairs),
                None => (content.bytes.clone(), Vec::new()),
            };
            let made = canaries(&self.parser, file, &bytes, &self.seed);
            let made = made.into_iter().nth(self.form)?;
            content.bytes = made.content;
            Some(LaidCanary {
                must_pass: made.must_pass,
                must_fail: made.must_fail,
                twins: pairs,
            })
        });
        (overlay, made)
    }
}

/// Runs the gold patch with canaries, and without if it does not resolve the instance with them.
pub(super) async fn calibrate(prepared: &Prepared, cx: &RunContext) -> Result<CanaryPlan, Error> {
    let gold = match prepared.gold(cx).await? {
        Ok(overlay) => overlay,
        Err(reasons) => {
            return Ok(CanaryPlan {
                gold_resolves: Some(false),
                gold_reasons: reasons,
                ..CanaryPlan::none("the gold patch does not fit on the base commit")
            });
        }
    };
    let parser = prepared.candidate.environment.plan.log_parser_name.clone();
    let tests = &prepared.candidate.task.test_patch;
    let files = tests.files().unwrap_or_default();
    let mut tried = 0;
    for file in files.iter().filter_map(|file| file.new_path.as_ref()) {
        let forms = gold.write.get(file).map_or(0, |FileContent { bytes, .. }| {
            canaries(&parser, file, bytes, &prepared.seed_of(file)).len()
        });
        if forms == 0 {
            continue;
        }
        let mut form = 0;
        let mut with_twins = true;
        while form < forms {
            let plan = CanaryPlan {
                file: Some(file.clone()),
                form,
                parser: parser.clone(),
                seed: prepared.seed_of(file),
                twins_of: with_twins.then(|| prepared.defining().to_vec()),
                gold_resolves: Some(true),
                ..CanaryPlan::default()
            };
            let (overlay, laid) = plan.lay_out(gold.clone());
            let Some(laid) = laid else { break };
            let run = prepared.run(cx, &overlay, "gold with canaries").await?;
            let misses = prepared.misses(&run);
            let seen = look(&run, &laid, (&[], true));
            if seen.is_honest()
                && let Some(twin_ids) = twin_ids(&run, &laid.twins)
                && misses
                    .iter()
                    .all(|id| runs_canary(id, &run, &laid, &twin_ids))
            {
                let alone = if misses.is_empty() {
                    None
                } else {
                    let alone = prepared.run(cx, &gold, "gold").await?;
                    // Gold fails by itself; its run behind the loop says which tests.
                    if !prepared.misses(&alone).is_empty() {
                        break;
                    }
                    Some(alone.summary)
                };
                return Ok(CanaryPlan {
                    ends_well: run.summary.exit == (ExitState::Exited { code: 0 }),
                    reference: Some(run.summary),
                    alone,
                    twin_ids,
                    ..plan
                });
            }
            // Without twins it would be the same again.
            if laid.twins.is_empty() || !with_twins {
                form += 1;
                with_twins = true;
            } else {
                with_twins = false;
            }
        }
        tried += 1;
        if tried == 2 {
            break;
        }
    }
    let run = prepared.run(cx, &gold, "gold").await?;
    let gold_misses = prepared.misses(&run);
    let resolves = gold_misses.is_empty();
    let why = match (resolves, tried) {
        (false, _) => "the gold patch does not resolve the instance here",
        (true, 0) => "no test file of the instance has a form that canaries are known for",
        (true, _) => "the instance's own tests do not bear them",
    };
    let mut reasons = run.faults.clone();
    if !resolves {
        reasons.push(format!(
            "the gold patch's run: {:?}, {} results",
            run.parsed.outcome,
            run.parsed.results.len()
        ));
    }
    Ok(CanaryPlan {
        gold_resolves: Some(resolves),
        gold_reasons: reasons,
        gold_misses,
        reference: resolves.then_some(run.summary),
        ..CanaryPlan::none(why)
    })
}

/// Whether a test is run by another, as its id says: `TestApi > lists users` by `TestApi`.
fn is_inner(id: &str, other: &str) -> bool {
    other
        .strip_prefix(id)
        .is_some_and(|rest| rest.starts_with(" > "))
}

/// Whether a test runs a canary or a twin that must fail, as its id says: `TestApi` runs `TestApi > lists users`.
fn runs_canary(id: &str, run: &StateRun, laid: &LaidCanary, twin_ids: &[(String, String)]) -> bool {
    let is_inner = |other: &str| is_inner(id, other);
    let mut twins = twin_ids.iter().map(|(_, twin)| twin.as_str());
    let named = |other: &str| {
        laid.must_fail
            .as_deref()
            .is_some_and(|name| other.contains(name))
    };
    twins.any(is_inner)
        || run
            .parsed
            .tests()
            .keys()
            .any(|other| is_inner(other) && named(other))
}

/// Finds the canaries in a run.
fn look(
    run: &StateRun,
    laid: &LaidCanary,
    (twin_ids, ends_well): (&[(String, String)], bool),
) -> SeenCanary {
    let tests = run.parsed.tests();
    let of = |name: &str| {
        tests
            .iter()
            .filter(|(id, _)| id.contains(name))
            .map(|(_, status)| *status)
            .max_by_key(|status| !status.is_passing())
    };
    let has_fail = laid.must_fail.is_some();
    let twins = twin_ids.iter().filter_map(|(of, twin)| {
        let passes = tests
            .get(of.as_str())
            .is_some_and(|status| status.is_passing());
        let seen = tests.get(twin.as_str()).copied();
        let fails = seen.is_some_and(TestStatus::is_failing);
        (passes && !fails).then(|| (of.clone(), seen))
    });
    SeenCanary {
        pass: of(&laid.must_pass),
        has_fail,
        fail: laid.must_fail.as_deref().and_then(of),
        ended_well: has_fail && !ends_well && run.summary.exit == (ExitState::Exited { code: 0 }),
        twins: twins.collect(),
    }
}

/// Tests of a gold patch's run with their twins, by id; nothing if a twin is not there or does not fail.
///
/// Only these ids are asked for later: a prediction may add tests of any name.
fn twin_ids(run: &StateRun, twins: &[Twin]) -> Option<Vec<(String, String)>> {
    let tests = run.parsed.tests();
    let mut found = Vec::new();
    for twin in twins {
        let before = found.len();
        for (id, _) in tests.iter().filter(|(_, status)| status.is_passing()) {
            let ids = twin.ids(id);
            let Some(other) = ids
                .into_iter()
                .find(|other| tests.contains_key(other.as_str()))
            else {
                continue;
            };
            if !tests[other.as_str()].is_failing() {
                return None;
            }
            found.push(((*id).to_owned(), other));
        }
        if found.len() == before {
            return None;
        }
    }
    Some(found)
}

impl SeenCanary {
    /// Whether the one that must pass did and the one that must fail did.
    pub(super) fn is_honest(&self) -> bool {
        self.lies().is_empty()
    }

    /// What the run says of its canaries that cannot be true.
    pub(super) fn lies(&self) -> Vec<String> {
        let mut lies = Vec::new();
        match self.pass {
            Some(status) if status.is_passing() => {}
            Some(status) => lies.push(format!("a test that must pass is {status}")),
            None => lies.push("a test that must pass is not in the log".to_owned()),
        }
        match self.fail {
            _ if !self.has_fail => {}
            Some(status) if status.is_failing() && self.ended_well => {
                lies.push("the exit code is 0 although a test failed".to_owned());
            }
            Some(status) if status.is_failing() => {}
            Some(status) => lies.push(format!("a test that must fail is {status}")),
            None => lies.push("a test that must fail is not in the log".to_owned()),
        }
        for (of, status) in &self.twins {
            let status = status.map_or("not in the log".to_owned(), |status| status.to_string());
            lies.push(format!(
                "{of} passes, and a test that must fail, since it expects another value of the same call, is \
                 {status}"
            ));
        }
        lies
    }

    /// For the verdict.
    pub(super) fn report(&self, plan: &CanaryPlan) -> CanaryReport {
        CanaryReport {
            file: plan.file.clone(),
            passed: Some(self.pass.is_some_and(TestStatus::is_passing)),
            failed: self
                .has_fail
                .then(|| self.fail.is_some_and(TestStatus::is_failing)),
            absent_because: None,
        }
    }
}
