//! Patches laid on a commit of a clone.

use crate::apply::{Rung, Tried};
use crate::overlay::overlay;
use crate::repository::GitRepo;
use async_trait::async_trait;
use atlas_core::{Applied, CommitSha, Error, Patch, PatchApplier, RunContext};

/// Lays patches on one commit of a clone, by the same ladder for gold patches and predictions.
#[derive(Clone, Debug)]
pub struct CommitApplier {
    /// The clone; nothing is written to it.
    pub repo: GitRepo,
    /// The commit.
    pub base: CommitSha,
}

#[async_trait]
impl PatchApplier for CommitApplier {
    async fn apply(&self, cx: &RunContext, patches: &[&Patch]) -> Result<Applied, Error> {
        cx.check("apply patches")?;
        let mut outcome = overlay(&self.repo, &self.base, patches).await?;
        if let Some((patch, tried)) = outcome.failed {
            let reasons = tried.iter().map(said).collect();
            return Ok(Applied::No { patch, reasons });
        }
        let mut notes = outcome.notes;
        for (place, state) in outcome.states.iter().enumerate() {
            if !matches!(state.rung, Rung::Plain | Rung::Empty) {
                notes.push(format!("patch {place} fitted only by {:?}", state.rung));
            }
        }
        let overlay = outcome.states.pop().map(|state| state.overlay);
        Ok(Applied::Yes {
            overlay: overlay.unwrap_or_default(),
            notes,
        })
    }
}

fn said((rung, words): &Tried) -> String {
    format!("{rung:?}: {}", words.trim())
}
