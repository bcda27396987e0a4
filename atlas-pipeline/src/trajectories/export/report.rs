//! What an export came to.

use super::{ExportRunOptions, Gathered, TRAINING_LENGTH};
use atlas_trajectory::{ExportForm, ExportedRow, Mixture};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was written. `statistics.json` has the same.
#[derive(Clone, Debug, Serialize)]
pub struct ExportReport {
    /// The folder.
    pub out: PathBuf,
    /// The form of the rows.
    pub form: ExportForm,
    /// Whether each step has a row of its own.
    pub per_step: bool,
    /// Trajectories that were read.
    pub trajectories: usize,
    /// `train`, and `test` where there is a split.
    pub sides: BTreeMap<String, ExportSide>,
    /// By reason, how many trajectories were left out: `not_accepted` and `not_checked` by the gates, `held_out`,
    /// `over_per_instance`, `nothing_to_learn`, `not_in_this_form`, `too_long` (rows).
    pub left_out: BTreeMap<String, usize>,
    /// Each of them.
    pub left_out_trajectories: Vec<LeftOutTrajectory>,
    /// Trajectories out of which a hint was taken.
    pub hints_taken_out: usize,
    /// Trajectories whose agent speaks of the hint: the gate `hint_words` says where.
    pub speak_of_hint: usize,
    /// Instances without a row in the dataset.
    pub without_row: usize,
    /// Groups of instances whose statements or patches are nearly the same.
    pub near_duplicates: Vec<Vec<String>>,
    /// Instances that are held back for a near-duplicate, where the rule would have them learnt.
    pub moved: usize,
    /// Files in the folder.
    pub files: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Recordings that cannot be read, and why.
    pub faults: Vec<String>,
}

/// One side.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExportSide {
    /// Rows.
    pub rows: usize,
    /// Messages that are learnt, over all rows.
    pub learnt_messages: usize,
    /// Messages of the agent that are not, for the options say so.
    pub masked_messages: usize,
    /// Tokens, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenTotals>,
    /// What it is made of.
    pub mixture: Mixture,
}

/// Tokens of rows, without those of a chat template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TokenTotals {
    /// Of all messages.
    pub all: usize,
    /// Of those that are learnt.
    pub learnt: usize,
    /// Of the longest row.
    pub longest: usize,
    /// Rows that are longer than [`TRAINING_LENGTH`]: trainers cut their ends.
    pub longer_than_training: usize,
}

/// A trajectory without a row, or with rows that were left out.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOutTrajectory {
    /// The recording.
    pub file: String,
    /// Which trajectory of it, from 1.
    pub number: usize,
    /// Why, as a word of [`ExportReport::left_out`].
    pub reason: String,
    /// More of it; empty where the word says all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl ExportReport {
    pub(super) fn new(options: &ExportRunOptions, gathered: &Gathered) -> Self {
        Self {
            out: options.out.clone(),
            form: options.rows.form,
            per_step: options.rows.per_step,
            trajectories: gathered.count,
            sides: BTreeMap::new(),
            left_out: BTreeMap::new(),
            left_out_trajectories: Vec::new(),
            hints_taken_out: 0,
            speak_of_hint: 0,
            without_row: 0,
            near_duplicates: Vec::new(),
            moved: 0,
            files: Vec::new(),
            notes: Vec::new(),
            faults: gathered.faults.clone(),
        }
    }

    pub(super) fn leave_out(&mut self, file: &str, number: usize, reason: &str, detail: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
        self.left_out_trajectories.push(LeftOutTrajectory {
            file: file.to_owned(),
            number,
            reason: reason.to_owned(),
            detail: detail.to_owned(),
        });
    }
}

impl ExportSide {
    pub(super) fn add(&mut self, row: &ExportedRow) {
        self.rows += 1;
        self.learnt_messages += row.learnt;
        self.masked_messages += row.not_learnt;
        if let (Some(all), Some(learnt)) = (row.tokens, row.learnt_tokens) {
            let totals = self.tokens.get_or_insert_default();
            totals.all += all;
            totals.learnt += learnt;
            totals.longest = totals.longest.max(all);
            totals.longer_than_training += usize::from(all > TRAINING_LENGTH);
        }
    }
}
