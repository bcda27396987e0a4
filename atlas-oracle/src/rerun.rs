//! Further runs of a part of the tests: several in one sandbox, and what they say of a list.

use crate::script::part;
use crate::{StateDifferentialOracle, StateRun, Variation, cut};
use atlas_core::{
    Environment, Error, ExitState, InstanceId, JobResult, Overlay, ParsedLog, RunContext, State,
    TestStatus,
};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// What one further run says of a test of `FAIL_TO_PASS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// The test did there what puts it into the list.
    Agrees,
    /// It passed in Before, or did not pass in After.
    Contradicts,
    /// The run does not name it, or was cut short before.
    Nothing,
}

impl Said {
    /// What `run`, one of `state`, says of a test that has this status there, if it is named.
    pub fn of(state: State, run: &StateRun, status: Option<TestStatus>) -> Self {
        match (state, status) {
            (State::After, None) => Self::Nothing,
            (_, None) if run.is_unfinished() || run.parsed.is_empty() && run.log.is_empty() => {
                Self::Nothing
            }
            (_, None) => Self::Agrees,
            (_, Some(status)) if status.is_passing() == (state == State::After) => Self::Agrees,
            (_, Some(_)) => Self::Contradicts,
        }
    }
}

impl StateDifferentialOracle {
    /// Runs the test commands of [`Variation::reruns`] one after the other in one sandbox over the base
    /// commit with these files laid on it; the plan's rebuild stands before the first. Fewer runs than asked
    /// for come back where the sandbox ended before the others began.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    ///
    /// # Cancellation
    /// As the sandbox.
    pub async fn rerun(
        &self,
        cx: &RunContext,
        environment: &Environment,
        files: (&InstanceId, &Overlay),
        label: &str,
        variation: &Variation,
    ) -> Result<Vec<StateRun>, Error> {
        cx.check("run tests again")?;
        cx.progress.phase(&format!("run {label}"));
        let (job, nonce) = self.job(environment, files, label, variation)?;
        let result = self.started(cx, environment, (&job, &nonce)).await?;
        let count = variation.reruns.len();
        let mut runs = Vec::with_capacity(count);
        for at in 0..count {
            let (stream, nonce) = part(&result.output, &nonce, at);
            let marked = cut(stream, &nonce);
            if marked.never_started() {
                break;
            }
            let ended = marked
                .code
                .map_or(result.exit, |code| ExitState::Exited { code });
            let share = JobResult {
                exit: ended,
                output: Vec::new(),
                output_total: 0,
                files: BTreeMap::new(),
                seconds: result.seconds / f64::from(u32::try_from(count).unwrap_or(u32::MAX)),
                isolation: result.isolation.clone(),
                ..result
            };
            let parsed = self.read(cx, marked.log).await?;
            runs.push(self.conclude(environment, &share, &marked, parsed));
        }
        Ok(runs)
    }
}

/// What may differ between two spellings of one id: numbers, and words of hexadecimal digits.
static CHANGING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*").expect("a constant pattern"));

/// Tests of `first` that no further run of the same files names, while one names a test that `first`
/// does not, and that is the same but for numbers or for what stands in brackets: each with both
/// spellings.
///
/// Ids hold addresses, times, temporary paths, seeds and random data; which part of an id that is needs
/// no list of forms where two runs can be compared.
pub fn respelled<'a>(
    first: &ParsedLog,
    ids: impl IntoIterator<Item = &'a String>,
    again: &[StateRun],
) -> BTreeMap<String, String> {
    let known = first.tests();
    let named: BTreeSet<&str> = again
        .iter()
        .flat_map(|run| run.parsed.results.iter().map(|test| test.name))
        .collect();
    let mut new: BTreeMap<String, &str> = BTreeMap::new();
    for &id in named.iter().filter(|id| !known.contains_key(**id)) {
        for form in forms(id) {
            new.entry(form).or_insert(id);
        }
    }
    ids.into_iter()
        .filter(|id| !named.contains(id.as_str()))
        .filter_map(|id| {
            let other = forms(id).into_iter().find_map(|form| new.get(&form))?;
            let reason = format!("not named alike in each run: another run says `{other}`");
            Some((id.clone(), reason))
        })
        .collect()
}

/// An id without its numbers, and without its parameters where it has any.
fn forms(id: &str) -> Vec<String> {
    let mut forms = vec![CHANGING.replace_all(id, "#").into_owned()];
    if let Some(at) = id.find(['[', '(', '<']).filter(|at| *at > 0) {
        forms.push(format!("{}[", &id[..at]));
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::forms;

    #[test]
    fn spellings_of_one_id_share_a_form() {
        for (a, b) in [
            ("t.py::test_a[0x7f3a10]", "t.py::test_a[0x7fee20]"),
            ("compiles #<Node:0x000055d1>", "compiles #<Node:0x0000ab12>"),
            ("test_name[kqjw]", "test_name[zzap]"),
            ("listens on 41231", "listens on 39922"),
        ] {
            assert!(forms(a).iter().any(|form| forms(b).contains(form)), "{a}");
        }
        assert!(
            !forms("adds")
                .iter()
                .any(|form| forms("divides").contains(form))
        );
    }
}
