//! What is judged: rows of a dataset, and candidate patches for them.

use super::{ContentHash, Identity, JudgeItem};
use crate::evaluate::{InputFault, PredictionSource};
use crate::spool::Spool;
use crate::store::sha256;
use atlas_core::{Error, ErrorKind, Instance, InstanceId, Patch};
use atlas_formats::{
    FaultKind, Prediction, Predictions, ReadOptions, RowFault, each_row, map_predictions,
};
use atlas_judge::metrics::results::PatchSize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// The rows of a dataset in their order, each read again when it is needed: of many rows only those that are worked on are
/// in memory.
#[derive(Debug)]
pub struct InstanceRows {
    rows: Spool<Instance>,
    /// By the order of the dataset: the name, and where the row was put.
    names: Vec<(InstanceId, usize)>,
}

impl InstanceRows {
    /// How many there are; at least one.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The name of a row, from 0.
    ///
    /// # Panics
    /// There is no such row.
    pub fn id(&self, at: usize) -> &InstanceId {
        &self.names[at].0
    }

    /// A row, from 0.
    ///
    /// # Errors
    /// The file in which rows are kept cannot be read.
    ///
    /// # Panics
    /// There is no such row.
    pub fn get(&self, at: usize) -> Result<Instance, Error> {
        self.rows.get(self.names[at].1)
    }

    /// The name of a row, from 0, as lines of results begin.
    ///
    /// # Panics
    /// There is no such row.
    pub(super) fn identity(&self, at: usize) -> Identity {
        vec![("instance_id", self.id(at).to_string())]
    }

    /// All rows, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Result<Instance, Error>> + '_ {
        (0..self.count()).map(|at| self.get(at))
    }
}

/// The rows of a dataset in their order, all or those of these names, and what is wrong with others. A file of JSON lines may
/// be larger than the memory.
///
/// # Errors
/// The file cannot be read, holds no row, or has none of a name that is asked for; rows cannot be kept in the folder for
/// temporary files.
pub fn instance_rows(
    path: &Path,
    only: &[InstanceId],
) -> Result<(InstanceRows, Vec<InputFault>), Error> {
    let wanted: BTreeSet<&InstanceId> = only.iter().collect();
    let mut rows = Spool::new()?;
    let (mut read, mut faults) = (Vec::new(), Vec::new());
    each_row(path, &ReadOptions::default(), |row| {
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                faults.push(InputFault::of(&fault));
                return Ok(());
            }
        };
        if !(wanted.is_empty() || wanted.contains(row.id())) {
            return Ok(());
        }
        let kept = match row.instance() {
            Ok(instance) => Ok(rows.push(&instance)?),
            Err(why) => Err(Box::new(InputFault {
                file: path.display().to_string(),
                line: row.place().map(|place| place.line).filter(|line| *line > 0),
                field: None,
                message: format!("{why}; the row is left out until this is put right"),
            })),
        };
        read.push((row.id().clone(), kept));
        Ok(())
    })?;
    let mut seen: HashSet<&InstanceId> = HashSet::with_capacity(read.len());
    // Of a row that is there twice the first counts; the reader told so.
    let first: Vec<bool> = read.iter().map(|(id, _)| seen.insert(id)).collect();
    let missing = only.iter().find(|id| !seen.contains(id));
    drop(seen);
    let mut names = Vec::with_capacity(read.len());
    for ((id, kept), is_first) in read.into_iter().zip(first) {
        match kept {
            _ if !is_first => {}
            Ok(at) => names.push((id, at)),
            Err(fault) => faults.push(*fault),
        }
    }
    if let Some(missing) = missing {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("find `{missing}` in"),
            format!("`{}`: no row of that name", path.display()),
        ));
    }
    if names.is_empty() {
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
    Ok((InstanceRows { rows, names }, faults))
}

/// A row as an item of a run, by its number, with a hash of what its answer depends on.
pub(super) fn row_item(
    at: usize,
    row: &Instance,
    content: &[&str],
) -> Result<JudgeItem<usize>, Error> {
    let id = row.id().map_err(|why| {
        Error::new(ErrorKind::InvalidInput, "read the name of", "a row").with_source(why)
    })?;
    Ok(JudgeItem {
        key: id.as_str().into(),
        content: ContentHash::of(content),
        input: at,
    })
}

/// Digits of a patch's SHA-256 that are its name where a prediction gives none.
pub(crate) const PATCH_ID_DIGITS: usize = 12;

/// Whose patch it is, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchName {
    /// The instance.
    pub instance_id: String,
    /// Who made it.
    pub agent: String,
    /// Its name among the patches of its agent for the row: the prediction's `patch_id`, else a hash of
    /// the patch.
    pub patch_id: String,
}

impl PatchName {
    /// `instance_id`, `agent` and `patch_id`, as lines of results begin.
    pub fn identity(&self) -> Identity {
        vec![
            ("instance_id", self.instance_id.clone()),
            ("agent", self.agent.clone()),
            ("patch_id", self.patch_id.clone()),
        ]
    }

    /// A name of its own among all candidates: instance, agent and patch.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.instance_id, self.agent, self.patch_id)
    }
}

/// A candidate patch beside its row.
#[derive(Clone, Debug)]
pub struct CandidatePatch {
    /// Whose it is, and for what.
    pub name: PatchName,
    /// The row.
    pub instance: Instance,
    /// The patch.
    pub patch: Patch,
    /// All columns of the prediction.
    pub columns: Map<String, Value>,
}

impl CandidatePatch {
    /// How large the patch is, as lines of results say it; nothing of one that cannot be read.
    pub(super) fn size(&self) -> Option<(String, Value)> {
        let size = PatchSize::of(&self.patch)?;
        Some(("patch_size".to_owned(), json!(size)))
    }
}

/// Candidate patches in the order of their predictions, each read again when it is needed.
#[derive(Debug)]
pub struct CandidatePatches {
    rows: InstanceRows,
    columns: Spool<Map<String, Value>>,
    found: Vec<MatchedRow>,
}

#[derive(Debug)]
struct MatchedRow {
    row: usize,
    name: PatchName,
    /// The column with the patch.
    patch: Option<&'static str>,
    columns: usize,
}

impl CandidatePatches {
    /// The rows that they are for, and further ones.
    pub fn rows(&self) -> &InstanceRows {
        &self.rows
    }

    /// Their names, each with the number of its row.
    pub fn names(&self) -> impl Iterator<Item = (&PatchName, usize)> {
        self.found.iter().map(|one| (&one.name, one.row))
    }

    /// `instance_id`, `agent` and `patch_id` of a candidate, from 0, as lines of results begin.
    ///
    /// # Panics
    /// There is no such candidate.
    pub(super) fn identity(&self, at: usize) -> Identity {
        self.found[at].name.identity()
    }

    /// A candidate, from 0.
    ///
    /// # Errors
    /// The file in which predictions are kept cannot be read.
    ///
    /// # Panics
    /// There is no such candidate.
    pub fn get(&self, at: usize) -> Result<CandidatePatch, Error> {
        let found = &self.found[at];
        let columns = self.columns.get(found.columns)?;
        let patch = found.patch.and_then(|column| columns.get(column)?.as_str());
        Ok(CandidatePatch {
            name: found.name.clone(),
            instance: self.rows.get(found.row)?,
            patch: Patch::new(patch.unwrap_or_default()),
            columns,
        })
    }

    /// All candidates, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Result<CandidatePatch, Error>> + '_ {
        (0..self.found.len()).map(|at| self.get(at))
    }

    /// The candidates as items of a run, each by its number, with a hash of what `content` takes of it.
    pub(super) fn items(
        &self,
        content: impl Fn(&CandidatePatch) -> ContentHash,
    ) -> Result<Vec<JudgeItem<usize>>, Error> {
        let candidates = self.iter().enumerate();
        candidates
            .map(|(at, candidate)| {
                let candidate = candidate?;
                Ok(JudgeItem {
                    key: candidate.name.key().into(),
                    content: content(&candidate),
                    input: at,
                })
            })
            .collect()
    }
}

/// Every prediction for these rows, several by one agent for one row included: an agent that tries
/// twenty times has twenty candidates. Predictions of the same patch by the same agent are told
/// apart by a number behind their hash. A file of JSON lines may be larger than the memory.
///
/// # Errors
/// The file cannot be read, or holds no prediction for these rows; predictions cannot be kept in the folder for temporary
/// files.
pub fn candidate_patches(
    rows: InstanceRows,
    source: &PredictionSource,
) -> Result<(CandidatePatches, Vec<InputFault>), Error> {
    let by_id: BTreeMap<&str, usize> = (0..rows.count())
        .map(|at| (rows.id(at).as_str(), at))
        .collect();
    let file = source_name(source);
    let mut columns = Spool::new()?;
    let mut names = PatchNames::default();
    let (mut found, mut more) = (Vec::new(), Vec::new());
    let mut keep = |prediction: Prediction| -> Result<(), Error> {
        let Some(row) = by_id.get(prediction.instance_id()) else {
            return Ok(());
        };
        let agent = prediction.model_name_or_path().unwrap_or("None");
        let (patch_id, fault) = names.name(&prediction, agent, &file);
        more.extend(fault);
        found.push(MatchedRow {
            row: *row,
            name: PatchName {
                instance_id: prediction.instance_id().to_owned(),
                agent: agent.to_owned(),
                patch_id,
            },
            patch: prediction.patch_column(),
            columns: columns.push(prediction.columns())?,
        });
        Ok(())
    };
    let made = |model: &str, patch: fn(&Instance) -> Option<&str>| {
        let rows = rows.iter().map(|row| {
            let row = row?;
            let id = row.id();
            let id = id.map_or_else(|_| String::new(), |id| id.to_string());
            Ok(Prediction::new(
                &id,
                model,
                Some(patch(&row).unwrap_or_default()),
            ))
        });
        rows.collect::<Result<Vec<_>, Error>>()
    };
    let (kept, faults): (Vec<Result<(), Error>>, Vec<RowFault>) = match source {
        PredictionSource::Gold => {
            let gold = made("gold", |row| row.text("patch").ok().flatten())?;
            (gold.into_iter().map(&mut keep).collect(), Vec::new())
        }
        PredictionSource::Null => {
            let empty = made("null", |_| None)?;
            (empty.into_iter().map(&mut keep).collect(), Vec::new())
        }
        PredictionSource::File(path) => map_predictions(path, &mut keep)?,
        PredictionSource::Content(bytes) => {
            let read = Predictions::from_bytes(bytes, Path::new("predictions"));
            (read.items.into_iter().map(&mut keep).collect(), read.faults)
        }
    };
    let read = kept.len();
    kept.into_iter().collect::<Result<Vec<()>, Error>>()?;
    let mut faults: Vec<InputFault> = faults
        .iter()
        // Several patches for one instance are what this is for.
        .filter(|fault| fault.kind != FaultKind::DuplicateId)
        .map(InputFault::of)
        .collect();
    faults.extend(more);
    if found.is_empty() {
        let first = faults.first();
        let why = first.map_or_else(String::new, |fault| {
            format!("; the first fault: {}", fault.message)
        });
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read predictions",
            format!("`{file}`: none of {read} is for a row that is asked for{why}"),
        ));
    }
    let candidates = CandidatePatches {
        rows,
        columns,
        found,
    };
    Ok((candidates, faults))
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

/// The first 12 digits of a patch's SHA-256.
fn short_hash(patch: &str) -> String {
    sha256(patch.as_bytes())[..PATCH_ID_DIGITS].to_owned()
}
