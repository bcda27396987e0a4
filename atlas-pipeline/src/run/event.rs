//! What a run tells while it goes on.

use super::{GatheredCandidates, ImportReport, RunStatus};
use crate::PublishReport;
use atlas_core::Progress;
use std::fmt;
use std::sync::Arc;

/// Something happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunEvent<'a> {
    /// Sources were asked and candidates taken.
    Gathered(&'a GatheredCandidates),
    /// The files of candidates were read.
    Imported(&'a ImportReport),
    /// Ended steps of a stage are of another version or configuration than now.
    Stale {
        /// The stage.
        stage: &'a str,
        /// How many.
        steps: u64,
    },
    /// Steps of processes that ended were put back.
    Freed {
        /// How many.
        steps: usize,
    },
    /// A step begins.
    Begun {
        /// The stage.
        stage: &'a str,
        /// The candidate.
        id: &'a str,
    },
    /// A step came to a phase of its own.
    Phase {
        /// The stage.
        stage: &'a str,
        /// The candidate.
        id: &'a str,
        /// The phase.
        phase: &'a str,
    },
    /// A step ended.
    Ended {
        /// The stage.
        stage: &'a str,
        /// The candidate.
        id: &'a str,
        /// The verdict's word, or the kind of error.
        outcome: &'a str,
        /// Why, in short; empty where it passed.
        reason: &'a str,
        /// Seconds that it took.
        seconds: f64,
    },
    /// Nothing new starts until something is otherwise.
    Held {
        /// What is missing.
        why: &'a str,
    },
    /// It goes on.
    Resumed,
    /// What a finished candidate took up was given back.
    Reclaimed {
        /// The candidate.
        id: &'a str,
    },
    /// The dataset was written.
    Dataset {
        /// Its rows.
        rows: u64,
    },
    /// A release was written.
    Released(&'a PublishReport),
    /// Where the run stands; told now and then.
    Standing(&'a RunStatus),
}

/// Hears what a run does. May be called from any thread.
pub trait RunListener: fmt::Debug + Send + Sync {
    /// Something happened.
    fn hear(&self, event: &RunEvent<'_>);
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuietRun;

impl RunListener for QuietRun {
    fn hear(&self, _event: &RunEvent<'_>) {}
}

/// Tells the phases of a step.
#[derive(Debug)]
pub(super) struct StepProgress {
    pub(super) listener: Arc<dyn RunListener>,
    pub(super) stage: &'static str,
    pub(super) id: String,
}

impl Progress for StepProgress {
    fn phase(&self, name: &str) {
        tracing::debug!(phase = name, instance_id = self.id, stage = self.stage);
        self.listener.hear(&RunEvent::Phase {
            stage: self.stage,
            id: &self.id,
            phase: name,
        });
    }

    fn detail(&self, text: &str) {
        tracing::trace!(detail = text, instance_id = self.id);
    }
}
