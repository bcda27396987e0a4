//! A pull request before anything is built.

use super::{Journey, MakeOutcome, Verdict};
use crate::store::write_json;
use atlas_core::{Error, Evidence, Overlay};
use atlas_source::{Side, SplitPullRequest, changes_remarks_alone};
use std::path::Path;
use std::pin::pin;

/// What a pull request comes to before anything is built.
pub(super) struct Prepared {
    pub(super) split: SplitPullRequest,
    pub(super) before: Overlay,
    pub(super) after: Overlay,
}

/// Why a pull request gives nothing to test a solution with, if it does not: what it does.
pub(crate) fn nothing_to_test(split: &SplitPullRequest) -> Option<&'static str> {
    if split.test_patch.is_empty() {
        Some("changes no test")
    } else if split.gold_patch.is_empty() {
        Some("changes only tests")
    } else if changes_remarks_alone(&split.test_patch) {
        Some("changes nothing of its tests but comments and blank lines")
    } else if changes_remarks_alone(&split.gold_patch) {
        Some("changes nothing but comments and blank lines outside of tests")
    } else {
        None
    }
}

impl Journey<'_> {
    /// The pull request as patches and states, and a checkout of Base, or the verdict that it is none
    /// to make an instance of.
    pub(super) async fn prepare(
        &mut self,
        checkout: &Path,
    ) -> Result<Result<Prepared, Verdict>, Error> {
        // Sealing needs nothing of the two patches. It ends with a verdict that there is nothing to do.
        let mut sealing = pin!(self.request.seal(checkout));
        let mut sealed = None;
        let parted = {
            let mut parting = pin!(self.part());
            loop {
                tokio::select! {
                    biased;
                    parted = &mut parting => break parted?,
                    done = &mut sealing, if sealed.is_none() => sealed = Some(done),
                }
            }
        };
        let prepared = match parted {
            Ok(prepared) => prepared,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let sealed = match sealed {
            Some(sealed) => sealed,
            None => sealing.await,
        };
        self.warnings.extend(sealed?);
        Ok(Ok(prepared))
    }

    /// The pull request as patches and states, or the verdict.
    async fn part(&mut self) -> Result<Result<Prepared, Verdict>, Error> {
        let split = self.request.split(self.cx).await?;
        self.warnings.extend(split.notes.iter().cloned());
        self.write("test.patch", split.test_patch.as_bytes())?;
        self.write("gold.patch", split.gold_patch.as_bytes())?;
        write_json(&self.artefacts.join("split.json"), &split.decisions)?;
        if let Some(what) = nothing_to_test(&split) {
            let evidence = split
                .decisions
                .iter()
                .take(20)
                .map(|d| Evidence::of(&d.path, format!("{:?}: {}", d.side, d.rule)))
                .collect();
            return Ok(Err(Verdict::unrun(
                MakeOutcome::RejectNothingToTest,
                &format!("the pull request {what}, so there is nothing to test a solution with"),
                evidence,
            )));
        }
        let (before, after, remarks, fits) = self.request.overlays(&split).await?;
        self.warnings.extend(remarks);
        if !fits {
            let mixed = split.decisions.iter().filter(|d| d.side == Side::Both);
            return Ok(Err(Verdict::unrun(
                MakeOutcome::RejectEntangled,
                "solution and tests touch the same lines: applied in a grader's order, solution \
                 first, the two patches do not give the pull request",
                mixed.map(|d| Evidence::of(&d.path, &d.rule)).collect(),
            )));
        }
        Ok(Ok(Prepared {
            split,
            before,
            after,
        }))
    }
}
