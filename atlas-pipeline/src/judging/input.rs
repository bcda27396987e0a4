//! What is judged: rows of a dataset, and candidate patches for them.

use crate::evaluate::{InputFault, PredictionSource};
use crate::store::sha256;
use atlas_core::{Error, ErrorKind, Instance, InstanceId, Patch};
use atlas_formats::{
    FaultKind, Prediction, Predictions, ReadOptions, read_dataset, read_predictions,
};
use atlas_judge::metrics::results::PatchSize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The rows of a dataset in their order, all or those of these names, and what is wrong with others.
///
/// # Errors
/// The file cannot be read, holds no row, or has none of a name that is asked for.
pub fn instance_rows(
    path: &Path,
    only: &[InstanceId],
) -> Result<(Vec<Instance>, Vec<InputFault>), Error> {
    let set = read_dataset(path, &ReadOptions::default())?;
    let mut faults: Vec<InputFault> = set.faults.iter().map(InputFault::of).collect();
    let wanted: BTreeSet<&InstanceId> = only.iter().collect();
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for row in &set.rows {
        // Of a row that is there twice the first counts; the reader told so.
        if !(wanted.is_empty() || wanted.contains(row.id())) || !seen.insert(row.id().clone()) {
            continue;
        }
        match row.instance() {
            Ok(instance) => rows.push(instance),
            Err(why) => faults.push(InputFault {
                file: path.display().to_string(),
                line: row.place().map(|place| place.line).filter(|line| *line > 0),
                field: None,
                message: format!("{why}; the row is left out until this is put right"),
            }),
        }
    }
    if let Some(missing) = only.iter().find(|id| !seen.contains(*id)) {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("find `{missing}` in"),
            format!("`{}`: no row of that name", path.display()),
        ));
    }
    if rows.is_empty() {
        let first = faults.first();
        let why = first.map_or_else(String::new, |fault| {
            format!("; the first fault: {}", fault.message)
        });
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read dataset",
            format!("`{}`: there is no usable row in it{why}", path.display()),
        ));
    }
    Ok((rows, faults))
}

/// Digits of a patch's SHA-256 that are its name where a prediction gives none.
pub(crate) const PATCH_ID_DIGITS: usize = 12;

/// A candidate patch beside its row.
#[derive(Clone, Debug)]
pub struct CandidatePatch {
    /// The row.
    pub instance: Instance,
    /// Who made it.
    pub agent: String,
    /// Its name among the patches of its agent for the row: the prediction's `patch_id`, else a hash of
    /// the patch.
    pub patch_id: String,
    /// The patch.
    pub patch: Patch,
    /// All columns of the prediction.
    pub columns: Map<String, Value>,
}

impl CandidatePatch {
    /// `instance_id`, `agent` and `patch_id`, as lines of results begin.
    pub fn identity(&self) -> Map<String, Value> {
        let id = self.instance.id();
        let id = id.map_or_else(|_| String::new(), |id| id.to_string());
        [
            ("instance_id", id),
            ("agent", self.agent.clone()),
            ("patch_id", self.patch_id.clone()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Value::String(value)))
        .collect()
    }

    /// How large the patch is, as lines of results say it; nothing of one that cannot be read.
    pub(super) fn size(&self) -> Option<(String, Value)> {
        let size = PatchSize::of(&self.patch)?;
        Some(("patch_size".to_owned(), json!(size)))
    }

    /// A name of its own among all candidates: instance, agent and patch.
    pub fn key(&self) -> String {
        let id = self.instance.id();
        let id = id.map_or_else(|_| String::new(), |id| id.to_string());
        format!("{id}/{}/{}", self.agent, self.patch_id)
    }
}

/// Every prediction for these rows, several by one agent for one row included: an agent that tries
/// twenty times has twenty candidates. Predictions of the same patch by the same agent are told
/// apart by a number behind their hash.
///
/// # Errors
/// The file cannot be read, or holds no prediction for these rows.
pub fn candidate_patches(
    rows: &[Instance],
    source: &PredictionSource,
) -> Result<(Vec<CandidatePatch>, Vec<InputFault>), Error> {
    let by_id: BTreeMap<String, &Instance> = rows
        .iter()
        .filter_map(|row| Some((row.id().ok()?.to_string(), row)))
        .collect();
    let (predictions, name) = match source {
        PredictionSource::Gold => (
            made(rows, "gold", |row| {
                row.text("patch")
                    .ok()
                    .flatten()
                    .unwrap_or_default()
                    .to_owned()
            }),
            Path::new("gold"),
        ),
        PredictionSource::Null => (made(rows, "null", |_| String::new()), Path::new("null")),
        PredictionSource::File(path) => (read_predictions(path)?, path.as_path()),
        PredictionSource::Content(bytes) => {
            let name = Path::new("predictions");
            (Predictions::from_bytes(bytes, name), name)
        }
    };
    let mut faults: Vec<InputFault> = predictions
        .faults
        .iter()
        // Several patches for one instance are what this is for.
        .filter(|fault| fault.kind != FaultKind::DuplicateId)
        .map(InputFault::of)
        .collect();
    let mut found = Vec::new();
    let mut names = PatchNames::default();
    let file = source_name(source);
    for prediction in &predictions.items {
        let Some(row) = by_id.get(prediction.instance_id()) else {
            continue;
        };
        let agent = prediction.model_name_or_path().unwrap_or("None");
        let (patch_id, fault) = names.name(prediction, agent, &file);
        faults.extend(fault);
        found.push(CandidatePatch {
            instance: (*row).clone(),
            agent: agent.to_owned(),
            patch_id,
            patch: Patch::new(prediction.model_patch().unwrap_or_default()),
            columns: prediction.columns().clone(),
        });
    }
    if found.is_empty() {
        let first = faults.first();
        let why = first.map_or_else(String::new, |fault| {
            format!("; the first fault: {}", fault.message)
        });
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read predictions",
            format!(
                "`{}`: none of {} is for a row that is asked for{why}",
                name.display(),
                predictions.items.len()
            ),
        ));
    }
    Ok((found, faults))
}

/// Gives patches names of their own among those of their agent for a task.
#[derive(Clone, Debug, Default)]
pub(super) struct PatchNames {
    seen: BTreeMap<(String, String, String), usize>,
}

impl PatchNames {
    /// The prediction's `patch_id`, else a hash of its patch; with a number behind it from the second of one name on,
    /// which is a fault where the prediction gave the name itself.
    pub(super) fn name(
        &mut self,
        prediction: &Prediction,
        agent: &str,
        file: &impl std::fmt::Display,
    ) -> (String, Option<InputFault>) {
        let id = prediction.instance_id();
        let given = prediction.columns().get("patch_id");
        let name = match given {
            Some(Value::String(name)) if !name.is_empty() => name.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => short_hash(prediction.model_patch().unwrap_or_default()),
        };
        let key = (id.to_owned(), agent.to_owned(), name.clone());
        let times = self.seen.entry(key).or_default();
        *times += 1;
        if *times == 1 {
            return (name, None);
        }
        let place = prediction.place().map(|place| place.line);
        let fault = given.is_some().then(|| InputFault {
            file: file.to_string(),
            line: place.filter(|line| *line > 0),
            field: Some("patch_id".to_owned()),
            message: format!(
                "`{name}` is the name of an earlier patch by `{agent}` for `{id}`; this one is `{name}-{times}`"
            ),
        });
        (format!("{name}-{times}"), fault)
    }
}

fn source_name(source: &PredictionSource) -> String {
    match source {
        PredictionSource::File(path) => path.display().to_string(),
        PredictionSource::Gold => "gold".to_owned(),
        PredictionSource::Null => "null".to_owned(),
        PredictionSource::Content(_) => "predictions".to_owned(),
    }
}

fn made(rows: &[Instance], model: &str, patch: impl Fn(&Instance) -> String) -> Predictions {
    let items = rows.iter().filter_map(|row| {
        let id = row.id().ok()?;
        Some(Prediction::new(id.as_str(), model, Some(&patch(row))))
    });
    Predictions::new(items.collect())
}

/// The first 12 digits of a patch's SHA-256.
fn short_hash(patch: &str) -> String {
    sha256(patch.as_bytes())[..PATCH_ID_DIGITS].to_owned()
}
