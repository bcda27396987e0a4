//! Reading a dataset and predictions, with everything that is wrong with them.

use super::subject::Subject;
use atlas_core::{Error, ErrorKind, InstanceError, InstanceId};
use atlas_formats::{
    FaultKind, PlainRow, Prediction, Predictions, ReadOptions, Row, RowFault, RowLists,
    map_plain_rows, map_rows, read_predictions,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where predictions come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PredictionSource {
    /// The rows' own gold patches, as the model `gold`.
    Gold,
    /// An empty patch for every row, as the model `null`: really run in strict mode's place of one.
    #[default]
    Null,
    /// A file.
    File(PathBuf),
    /// What would stand in such a file.
    Content(Vec<u8>),
}

impl FromStr for PredictionSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "gold" => Self::Gold,
            "null" => Self::Null,
            path => Self::File(PathBuf::from(path)),
        })
    }
}

/// Something wrong with an input, beside which the rest went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputFault {
    /// The file.
    pub file: String,
    /// The line, from 1, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The field, where one is to blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong, and the way out.
    pub message: String,
}

/// The model of a prediction that names none, as Python prints it in the harness's paths.
const UNNAMED: &str = "None";

impl InputFault {
    pub(crate) fn of(fault: &RowFault) -> Self {
        Self {
            file: fault.place.file.display().to_string(),
            line: (fault.place.line > 0).then_some(fault.place.line),
            field: fault.field.clone(),
            message: format!("{}; {}", fault.what, fault.way_out),
        }
    }
}

/// One prediction beside its row.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) instance_id: String,
    pub(super) model: String,
    /// `None` where it is null.
    pub(super) patch: Option<String>,
    pub(super) subject: std::sync::Arc<Subject>,
}

/// What of a row is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// All of it: it is to be run.
    Rows,
    /// What a verdict needs.
    Verdicts,
}

/// Everything that is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    /// The instances that are asked for, in the dataset's order.
    pub(super) ids: Vec<String>,
    pub(super) subjects: HashMap<String, std::sync::Arc<Subject>>,
    pub(super) items: Vec<Item>,
    /// Predictions of instances outside the dataset.
    pub(super) unknown: Vec<String>,
    /// Rows that cannot be used, by name.
    left_out: BTreeSet<String>,
    /// The model of the first prediction, for the report's name.
    model: Option<String>,
    pub(super) faults: Vec<InputFault>,
}

impl Input {
    pub(super) fn read(
        dataset: &Path,
        predictions: &PredictionSource,
        only: &[InstanceId],
        keep: Keep,
    ) -> Result<Self, Error> {
        let mut input = Self::default();
        input.rows(dataset, only, keep)?;
        match predictions {
            PredictionSource::Gold => input.of_rows("gold", |subject| {
                String::from_utf8_lossy(subject.gold_patch.as_bytes()).into_owned()
            }),
            PredictionSource::Null => input.of_rows("null", |_| String::new()),
            PredictionSource::File(path) => input.of_file(path, &read_predictions(path)?, only)?,
            PredictionSource::Content(bytes) => {
                let name = Path::new("predictions");
                input.of_file(name, &Predictions::from_bytes(bytes, name), only)?;
            }
        }
        Ok(input)
    }

    fn rows(&mut self, path: &Path, only: &[InstanceId], keep: Keep) -> Result<(), Error> {
        let options = ReadOptions::default();
        let plain = |row: &PlainRow<'_>| {
            let subject = Subject::read_plain(row)?;
            Some((row.id().clone(), Some(row.line()), Ok(subject)))
        };
        let any = |row: Row, lists: RowLists| {
            let line = row.place().map(|place| place.line).filter(|line| *line > 0);
            let name = row.id().clone();
            let subject = row.into_instance();
            let subject = subject.and_then(|row| Subject::read_beside(row, &lists, keep));
            (name, line, subject)
        };
        let (read, faults) = match keep {
            Keep::Rows => map_rows(path, &options, |row| any(row, RowLists::default()))?,
            Keep::Verdicts => map_plain_rows(path, &options, &Subject::LISTS, plain, any)?,
        };
        // Of a row that is there twice more is said below.
        let told = faults
            .iter()
            .filter(|fault| fault.kind != FaultKind::DuplicateId);
        self.faults.extend(told.map(InputFault::of));
        let only: BTreeSet<&InstanceId> = only.iter().collect();
        self.ids.reserve(read.len());
        self.subjects.reserve(read.len());
        let mut seen: HashMap<InstanceId, Option<usize>> = HashMap::with_capacity(read.len());
        for (name, line, subject) in read {
            let subject = match subject {
                Ok(subject) => subject,
                Err(why) => {
                    let (column, what) = match why {
                        InstanceError::Missing(column) => {
                            (Some(column), "it is missing".to_owned())
                        }
                        InstanceError::Wrong { column, why } => (Some(column), why),
                        InstanceError::NotAnObject(why) => (None, why.to_string()),
                    };
                    self.faults.push(InputFault {
                        file: path.display().to_string(),
                        line,
                        field: column,
                        message: format!(
                            "{what}; the row `{name}` is left out until this is put right",
                        ),
                    });
                    self.left_out.insert(name.to_string());
                    continue;
                }
            };
            if let Some(first) = seen.get(&name) {
                let place = first.map_or_else(String::new, |line| format!(" (line {line})"));
                self.faults.push(InputFault {
                    file: path.display().to_string(),
                    line,
                    field: Some("instance_id".to_owned()),
                    message: format!(
                        "`{name}` stands in an earlier row{place}, which counts; take one of them out"
                    ),
                });
                continue;
            }
            if only.is_empty() || only.contains(&name) {
                self.ids.push(name.to_string());
                self.subjects
                    .insert(name.to_string(), std::sync::Arc::new(subject));
            }
            seen.insert(name, line);
        }
        if let Some(missing) = only.iter().find(|id| !seen.contains_key(**id)) {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("find `{missing}` in"),
                format!(
                    "`{}`: {}",
                    path.display(),
                    if self.left_out.contains(missing.as_str()) {
                        self.first_fault("its row is left out")
                    } else {
                        self.first_fault("no row of that name")
                    }
                ),
            ));
        }
        if self.ids.is_empty() {
            let why = self.first_fault("there is no usable row in it");
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read dataset",
                format!("`{}`: {why}", path.display()),
            ));
        }
        Ok(())
    }

    /// Words with the first fault behind them, for an error that ends all.
    fn first_fault(&self, words: &str) -> String {
        let Some(fault) = self.faults.first() else {
            return words.to_owned();
        };
        let line = fault
            .line
            .map_or_else(String::new, |line| format!("line {line}: "));
        let field = fault.field.as_ref();
        let field = field.map_or_else(String::new, |field| format!("column `{field}`: "));
        format!("{words}; the first fault: {line}{field}{}", fault.message)
    }

    /// The model of the first prediction, for the report's name.
    pub(super) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(UNNAMED)
    }

    fn of_rows(&mut self, model: &str, patch: impl Fn(&Subject) -> String) {
        self.model = Some(model.to_owned());
        for id in &self.ids {
            let subject = &self.subjects[id];
            self.items.push(Item {
                instance_id: id.clone(),
                model: model.to_owned(),
                patch: Some(patch(subject)),
                subject: std::sync::Arc::clone(subject),
            });
        }
    }

    fn of_file(
        &mut self,
        path: &Path,
        found: &Predictions,
        only: &[InstanceId],
    ) -> Result<(), Error> {
        let place = path.display().to_string();
        let note = |prediction: &Prediction, field: &str, message: String| InputFault {
            file: place.clone(),
            line: line_of(prediction),
            field: Some(field.to_owned()),
            message,
        };
        let before = self.faults.len();
        // Two models may predict one instance; of one model that does twice more is said below.
        let told = found
            .faults
            .iter()
            .filter(|fault| fault.kind != FaultKind::DuplicateId);
        self.faults.extend(told.map(InputFault::of));
        // Of several by one model for one instance the last counts, in the place of the first.
        let mut order: Vec<(&str, &str)> = Vec::new();
        let mut last: BTreeMap<(&str, &str), &Prediction> = BTreeMap::new();
        for prediction in &found.items {
            let id = prediction.instance_id();
            let model = prediction.model_name_or_path();
            if model.is_none() {
                let column = prediction.columns().get("model_name_or_path");
                let found = match column {
                    None | Some(Value::Null) => "it is missing",
                    Some(_) => "it is no text",
                };
                let message = format!("{found}; the prediction counts as of `{UNNAMED}`");
                self.faults
                    .push(note(prediction, "model_name_or_path", message));
            }
            if prediction.patch_column().is_none() {
                let message = "it is missing and counts as null; write the patch, or null for none";
                self.faults
                    .push(note(prediction, "model_patch", message.to_owned()));
            }
            let key = (model.unwrap_or(UNNAMED), id);
            match last.insert(key, prediction) {
                None => order.push(key),
                Some(earlier) => {
                    let line = line_of(earlier);
                    let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
                    let message = format!(
                        "`{id}` was predicted by `{}`{line} already; this one counts, take the other out",
                        key.0
                    );
                    self.faults.push(note(prediction, "instance_id", message));
                }
            }
        }
        let mut folders: BTreeMap<String, &str> = BTreeMap::new();
        for key in &order {
            let other = *folders.entry(super::layout::part(key.0)).or_insert(key.0);
            if other != key.0 {
                let message = format!(
                    "`{}` and `{other}` have one folder in the harness's layout, so their files replace each \
                     other; rename one, or evaluate them as two runs",
                    key.0
                );
                self.faults
                    .push(note(last[key], "model_name_or_path", message));
            }
            self.add(path, key.0, last[key], only);
        }
        if self.items.is_empty() {
            let why = if order.is_empty() {
                let own = Self {
                    faults: self.faults.split_off(before),
                    ..Self::default()
                };
                own.first_fault("there is no usable prediction in it")
            } else if only.is_empty() {
                format!(
                    "none of its {} predictions is for an instance of the dataset, `{}` first; is it the \
                     dataset that was predicted?",
                    order.len(),
                    order[0].1
                )
            } else {
                "none of its predictions is for the chosen instances".to_owned()
            };
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read predictions",
                format!("`{}`: {why}", path.display()),
            ));
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, model: &str, prediction: &Prediction, only: &[InstanceId]) {
        let id = prediction.instance_id().to_owned();
        if self.model.is_none() {
            self.model = Some(model.to_owned());
        }
        match self.subjects.get(&id) {
            Some(subject) => self.items.push(Item {
                instance_id: id,
                model: model.to_owned(),
                patch: prediction.model_patch().map(str::to_owned),
                subject: std::sync::Arc::clone(subject),
            }),
            None if only.is_empty() => {
                let why = if self.left_out.contains(&id) {
                    "its row of the dataset is left out"
                } else {
                    "it is no instance of the dataset"
                };
                self.faults.push(InputFault {
                    file: path.display().to_string(),
                    line: line_of(prediction),
                    field: Some("instance_id".to_owned()),
                    message: format!(
                        "`{id}`: {why}, so it counts as submitted and nothing more; take it out, or give the \
                         dataset that has it"
                    ),
                });
                self.unknown.push(id);
            }
            None => {}
        }
    }
}

fn line_of(prediction: &Prediction) -> Option<usize> {
    let line = prediction.place()?.line;
    (line > 0).then_some(line)
}
