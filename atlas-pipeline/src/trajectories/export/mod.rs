//! Recordings as training data: a folder of rows, statistics and configuration.

mod facts;
mod near;
mod report;
mod split;
mod write;

pub use report::{ExportReport, ExportSide, LeftOutTrajectory, TokenTotals};
pub use split::TrainTestSplit;

use super::{Gathered, content, read_hints};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_trajectory::{ExportForm, ExportOptions, FineTuning, TokenCounter};
use serde::Deserialize;
use split::{Facts, Sides};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The length at which paper 001 cuts rows (appendix G), in tokens.
pub const TRAINING_LENGTH: usize = 32_768;

/// What becomes training data, and how.
#[derive(Clone, Debug)]
pub struct ExportRunOptions {
    /// Recordings, or folders of them.
    pub places: Vec<PathBuf>,
    /// The folder that is written.
    pub out: PathBuf,
    /// The form of the rows.
    pub rows: ExportOptions,
    /// JSON lines with `instance_id` and `hint`: what the agents were told, to be taken out.
    pub hints: Option<PathBuf>,
    /// A report of [`check_trajectories`](super::check_trajectories) as JSON: what it did not accept is left out.
    pub checked: Option<PathBuf>,
    /// The instances: `repo`, `language`, `created_at`, and the texts by which near-duplicates are known.
    pub dataset: Option<PathBuf>,
    /// Datasets that are evaluated on: trajectories of their repositories are left out.
    pub held_out: Vec<PathBuf>,
    /// Most trajectories of one instance, in the order of the files.
    pub per_instance: Option<usize>,
    /// A `tokenizer.json`.
    pub tokenizer: Option<PathBuf>,
    /// Most tokens of a row; longer ones are left out. Needs a tokenizer.
    pub max_tokens: Option<usize>,
    /// Train and test; all is learnt from without.
    pub split: Option<TrainTestSplit>,
    /// From which likeness on, 0 to 1, two instances are near-duplicates. 0.8 by the command's default.
    pub near: f64,
    /// Configurations that are written.
    pub configs: Vec<FineTuning>,
    /// The model in them.
    pub base_model: String,
    /// The template in `LLaMA-Factory`'s.
    pub template: String,
}

/// A trajectory that becomes rows.
struct Chosen {
    at: usize,
    instance: String,
    file: String,
    number: usize,
}

/// Writes recordings as training data: `train.jsonl`, with a split `test.jsonl`, `statistics.json`, and configurations.
/// Files of an earlier export that this one does not write are removed. `statistics.json` goes first and comes last: a folder
/// without it is not finished.
///
/// # Errors
/// Something cannot be read or written; a split or held-out repositories where a recording names no instance; a tokenizer that
/// fails; no row comes out. A recording that cannot be read is a fault in the report.
///
/// # Cancellation
/// Between two trajectories; the files that were whole before stay.
pub fn export_trajectories(
    cx: &RunContext,
    options: &ExportRunOptions,
) -> Result<ExportReport, Error> {
    for config in &options.configs {
        if !config.takes(options.rows.form) {
            let (config, why) = match config {
                FineTuning::Axolotl => (
                    "Axolotl",
                    "it reads messages; take the chat or the XML form",
                ),
                FineTuning::LlamaFactory => (
                    "LLaMA-Factory",
                    "of messages with calls it drops the text; take the XML form",
                ),
            };
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("configure {config}:"),
                why,
            ));
        }
    }
    let counter = options
        .tokenizer
        .as_deref()
        .map(open_tokenizer)
        .transpose()?;
    if options.max_tokens.is_some() && counter.is_none() {
        let why = "tokens are counted by a tokenizer; name one";
        return Err(Error::new(ErrorKind::InvalidInput, "limit tokens:", why));
    }
    let hints = options.hints.as_deref().map(read_hints).transpose()?;
    let hints = hints.unwrap_or_default();
    cx.progress.phase("trajectories export");
    let gathered = Gathered::of(&options.places)?;
    let mut report = ExportReport::new(options, &gathered);
    if options.split.is_some() && options.dataset.is_none() {
        let note = "without a dataset near-duplicates are known by submitted patches alone";
        report.notes.push(note.to_owned());
    }
    let (chosen, instances) = choose(cx, options, &gathered, &mut report)?;
    let sides = split::sides(&instances, options.split.as_ref(), options.near)?;
    report.near_duplicates.clone_from(&sides.near_duplicates);
    report.moved = sides.moved;
    let input = write::Input {
        cx,
        options,
        gathered: &gathered,
        chosen: &chosen,
        instances: &instances,
        sides: &sides,
        counter: counter.as_deref(),
        hints: &hints,
    };
    write::all(&input, &mut report)?;
    Ok(report)
}

/// Which trajectories become rows, and what is known of their instances.
fn choose(
    cx: &RunContext,
    options: &ExportRunOptions,
    gathered: &Gathered,
    report: &mut ExportReport,
) -> Result<(Vec<Chosen>, BTreeMap<String, Facts>), Error> {
    let accepted = options.checked.as_deref().map(read_accepted).transpose()?;
    let held_out = facts::repositories(&options.held_out)?;
    let needs_instance = options.split.is_some() || !held_out.is_empty();
    let mut instances: BTreeMap<String, Facts> = BTreeMap::new();
    let mut chosen = Vec::new();
    for at in 0..gathered.count {
        cx.check("export trajectories")?;
        let found = gathered.all.get(at)?;
        let (file, number) = (found.file.display().to_string(), found.number);
        if let Some(accepted) = &accepted {
            let reason = match accepted.get(&content(&found.trajectory).to_string()) {
                Some(true) => None,
                Some(false) => Some("not_accepted"),
                None => Some("not_checked"),
            };
            if let Some(reason) = reason {
                report.leave_out(&file, number, reason, "");
                continue;
            }
        }
        let instance = match found.trajectory.instance_id() {
            Some(id) => id.to_owned(),
            None if needs_instance => {
                let subject = format!(
                    "`{file}`, trajectory {number}: it names no instance, so its repository is not known"
                );
                return Err(Error::new(ErrorKind::InvalidInput, "split", subject));
            }
            None => found.key(),
        };
        instances.entry(instance.clone()).or_insert_with(|| {
            let submission = found.trajectory.extra.get("submission");
            facts::of_attempt(&instance, submission.and_then(|text| text.as_str()))
        });
        chosen.push(Chosen {
            at,
            instance,
            file,
            number,
        });
    }
    if let Some(dataset) = &options.dataset {
        report.without_row = facts::read_rows(dataset, &mut instances)?;
    }
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    chosen.retain(|one| {
        let repository = &instances[&one.instance].repository;
        if held_out.contains(&repository.to_lowercase()) {
            report.leave_out(&one.file, one.number, "held_out", repository);
            return false;
        }
        let count = taken.entry(one.instance.clone()).or_default();
        *count += 1;
        let is_one_more = options.per_instance.is_some_and(|most| *count > most);
        if is_one_more {
            report.leave_out(&one.file, one.number, "over_per_instance", "");
        }
        !is_one_more
    });
    let left: BTreeSet<&str> = chosen.iter().map(|one| one.instance.as_str()).collect();
    instances.retain(|id, _| left.contains(id.as_str()));
    if needs_instance
        && let Some((id, _)) = instances
            .iter()
            .find(|(_, facts)| facts.repository.is_empty())
    {
        let subject = format!("`{id}`: its repository is not known; name a --dataset that has it");
        return Err(Error::new(ErrorKind::InvalidInput, "split", subject));
    }
    Ok((chosen, instances))
}

/// What a report of the gates says of each trajectory, by its content.
fn read_accepted(file: &Path) -> Result<HashMap<String, bool>, Error> {
    #[derive(Deserialize)]
    struct Checked {
        trajectories: Vec<One>,
    }
    #[derive(Deserialize)]
    struct One {
        content: String,
        accepted: bool,
    }
    let bytes = std::fs::read(file).map_err(|why| Error::io("read", file, why))?;
    let read: Checked = serde_json::from_slice(&bytes).map_err(|why| {
        let subject = format!(
            "`{}`: the output of `atlas trajectories check --format json` expected",
            file.display()
        );
        Error::new(ErrorKind::InvalidInput, "read the verdicts of", subject).with_source(why)
    })?;
    let all = read.trajectories.into_iter();
    Ok(all.map(|one| (one.content, one.accepted)).collect())
}

#[cfg(feature = "tokenizers")]
fn open_tokenizer(file: &Path) -> Result<Box<dyn TokenCounter>, Error> {
    let bytes = std::fs::read(file).map_err(|why| Error::io("read", file, why))?;
    let name = format!("`{}`", file.display());
    let read = atlas_trajectory::TokenizerFile::read(name.as_str(), &bytes);
    let read = read.map_err(|why| {
        Error::new(ErrorKind::InvalidInput, "read a tokenizer.json from", name).with_source(why.why)
    })?;
    Ok(Box::new(read))
}

#[cfg(not(feature = "tokenizers"))]
fn open_tokenizer(file: &Path) -> Result<Box<dyn TokenCounter>, Error> {
    let subject = format!(
        "`{}`: this build has no feature `tokenizers`",
        file.display()
    );
    Err(Error::new(ErrorKind::InvalidInput, "read", subject))
}

/// Whether rows of a form have columns of ours beside the form's own.
fn has_columns(form: ExportForm) -> bool {
    form != ExportForm::Atif
}
