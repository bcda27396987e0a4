//! Running a prediction: the one way that gold patches, empty ones and those of models go.

use crate::{
    BeliefInput, Grade, StateDifferentialOracle, StateRun, TamperSignal, Variation, believe, grade,
};
use atlas_core::{
    Applied, Candidate, Error, ErrorKind, FilePatch, Overlay, Patch, PatchApplier, RunContext,
    State, TestIds,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Runs predictions against an instance.
#[derive(Clone, Debug)]
pub struct Evaluator {
    oracle: StateDifferentialOracle,
    applier: Arc<dyn PatchApplier>,
}

/// A prediction laid on the base commit, with the instance's tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaidOut {
    /// The files of the run.
    Ready {
        /// What differs from the base commit.
        overlay: Overlay,
        /// Remarks: changes to the instance's own test files, which were not taken.
        notes: Vec<String>,
    },
    /// The prediction does not fit.
    NotApplied {
        /// What was tried, and what was said to it.
        reasons: Vec<String>,
    },
}

/// What became of a prediction.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value a run, taken apart at once"
)]
pub enum Evaluated {
    /// It ran.
    Graded {
        /// How it came out.
        grade: Grade,
        /// The run.
        run: StateRun,
        /// Remarks.
        notes: Vec<String>,
        /// What is odd about the run. One that is decisive has made the grade: nothing passes.
        signals: Vec<TamperSignal>,
    },
    /// It does not fit on the base commit.
    NotApplied {
        /// What was tried, and what was said to it.
        reasons: Vec<String>,
    },
}

impl Evaluator {
    /// An evaluator that lays patches out with `applier`, which must stand at the instance's base
    /// commit, and runs them with `oracle`.
    pub fn new(oracle: StateDifferentialOracle, applier: Arc<dyn PatchApplier>) -> Self {
        Self { oracle, applier }
    }

    /// What runs the tests.
    pub fn oracle(&self) -> &StateDifferentialOracle {
        &self.oracle
    }

    /// Lays a prediction on the base commit: solution first, then the instance's tests. What the
    /// prediction does to files that belong to the instance's tests alone is left out, so the tests
    /// are those of the instance whatever it did.
    ///
    /// # Errors
    /// Those of the applier. A prediction that does not fit, or is no patch, is no error.
    ///
    /// # Cancellation
    /// As the applier.
    pub async fn lay_out(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        prediction: &Patch,
    ) -> Result<LaidOut, Error> {
        let task = &candidate.task;
        let guarded = guarded_files(&task.test_patch, &task.gold_patch)?;
        let mut notes = Vec::new();
        let is_guarded = |file: &FilePatch| file.paths().any(|path| guarded.contains(path));
        let own = prediction.without_files(|file| {
            let left_out = is_guarded(file);
            if left_out {
                notes.push(format!(
                    "the prediction's changes to `{}` were not taken: the file belongs to the \
                     instance's tests",
                    file.path()
                ));
            }
            left_out
        });
        let own = match own {
            Ok(own) => own,
            Err(why) => {
                let reasons = vec![why.to_string()];
                return Ok(LaidOut::NotApplied { reasons });
            }
        };
        let patches: Vec<&Patch> = [&own, &task.test_patch]
            .into_iter()
            .filter(|patch| !patch.is_empty())
            .collect();
        match self.applier.apply(cx, &patches).await? {
            Applied::Yes {
                overlay,
                notes: more,
            } => {
                notes.extend(more);
                Ok(LaidOut::Ready { overlay, notes })
            }
            Applied::No { reasons, .. } => Ok(LaidOut::NotApplied { reasons }),
        }
    }

    /// Lays a prediction out, runs it and grades it. A run that was tampered with, or that did not
    /// come to its runner's own end, resolves nothing: see [`believe`].
    ///
    /// # Errors
    /// Those of the applier and the sandbox.
    ///
    /// # Cancellation
    /// As the sandbox.
    pub async fn evaluate(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        prediction: &Patch,
        label: &str,
        variation: &Variation,
    ) -> Result<Evaluated, Error> {
        let (overlay, notes) = match self.lay_out(cx, candidate, prediction).await? {
            LaidOut::Ready { overlay, notes } => (overlay, notes),
            LaidOut::NotApplied { reasons } => return Ok(Evaluated::NotApplied { reasons }),
        };
        let files = (&candidate.task.instance_id, &overlay);
        let run = self
            .oracle
            .run(cx, &candidate.environment, files, label, variation)
            .await?;
        let report = &candidate.oracle;
        let lists = [&report.fail_to_pass, &report.pass_to_pass].map(TestIds::from);
        let mut grade = grade(&run.parsed, &lists[0], &lists[1]);
        let gold = report.states.get(&State::After);
        let signals = believe(&BeliefInput::of(&run, gold, [&lists[0], &lists[1]]));
        if signals.iter().any(|signal| signal.decisive) {
            grade = grade.disbelieved();
        }
        Ok(Evaluated::Graded {
            grade,
            run,
            notes,
            signals,
        })
    }
}

/// Files that the test patch touches and the solution does not.
fn guarded_files(test_patch: &Patch, gold_patch: &Patch) -> Result<BTreeSet<String>, Error> {
    let paths = |patch: &Patch, name: &'static str| -> Result<BTreeSet<String>, Error> {
        let files = patch.files().map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "read patch", name).with_source(why)
        })?;
        Ok(files
            .iter()
            .flat_map(FilePatch::paths)
            .map(str::to_owned)
            .collect())
    };
    let (tests, solution) = (
        paths(test_patch, "the instance's test_patch")?,
        paths(gold_patch, "the instance's patch")?,
    );
    Ok(tests.difference(&solution).cloned().collect())
}
