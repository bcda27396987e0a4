//! Reading a dataset and predictions, with everything that is wrong with them.

use super::subject::Subject;
use atlas_core::{Error, ErrorKind, Instance, InstanceId};
use atlas_formats::{
    Prediction, Predictions, ReadOptions, RowFault, read_dataset, read_predictions,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where predictions come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PredictionSource {
    /// The rows' own gold patches, as the model `gold`.
    Gold,
    /// An empty patch for every row, as the model `null`: really run in strict mode's place of one.
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
    fn of(fault: &RowFault) -> Self {
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

/// Everything that is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    /// The instances that are asked for, in the dataset's order.
    pub(super) ids: Vec<String>,
    pub(super) subjects: BTreeMap<String, std::sync::Arc<Subject>>,
    pub(super) items: Vec<Item>,
    /// Predictions of instances outside the dataset.
    pub(super) unknown: Vec<String>,
    /// The model of the first prediction, for the report's name.
    pub(super) model: String,
    pub(super) faults: Vec<InputFault>,
}

impl Input {
    pub(super) fn read(
        dataset: &Path,
        predictions: &PredictionSource,
        only: &[InstanceId],
    ) -> Result<Self, Error> {
        let mut input = Self::default();
        input.rows(dataset, only)?;
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

    fn rows(&mut self, path: &Path, only: &[InstanceId]) -> Result<(), Error> {
        let set = read_dataset(path, &ReadOptions::default())?;
        self.faults.extend(set.faults.iter().map(InputFault::of));
        let mut seen = BTreeSet::new();
        for row in &set.rows {
            let read = row.instance().and_then(|row: Instance| Subject::read(&row));
            let line = row.place().map(|place| place.line).filter(|line| *line > 0);
            let subject = match read {
                Ok(subject) => subject,
                Err(why) => {
                    let column = match &why {
                        atlas_core::InstanceError::Missing(column)
                        | atlas_core::InstanceError::Wrong { column, .. } => Some(column.clone()),
                        atlas_core::InstanceError::NotAnObject(_) => None,
                    };
                    self.faults.push(InputFault {
                        file: path.display().to_string(),
                        line,
                        field: column,
                        message: format!("{why}; the row is left out"),
                    });
                    continue;
                }
            };
            let id = subject.id.to_string();
            if !seen.insert(id.clone()) {
                self.faults.push(InputFault {
                    file: path.display().to_string(),
                    line,
                    field: Some("instance_id".to_owned()),
                    message: format!("`{id}` stands in an earlier row, which counts"),
                });
                continue;
            }
            if only.is_empty() || only.contains(&subject.id) {
                self.ids.push(id.clone());
                self.subjects.insert(id, std::sync::Arc::new(subject));
            }
        }
        if let Some(missing) = only.iter().find(|id| !seen.contains(id.as_str())) {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("find `{missing}` in"),
                format!("`{}`", path.display()),
            ));
        }
        if self.ids.is_empty() {
            let first = self
                .faults
                .first()
                .map_or_else(String::new, |fault| format!(": {}", fault.message));
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read dataset",
                format!("`{}`: there is no usable row in it{first}", path.display()),
            ));
        }
        Ok(())
    }

    fn of_rows(&mut self, model: &str, patch: impl Fn(&Subject) -> String) {
        model.clone_into(&mut self.model);
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
        self.faults.extend(found.faults.iter().map(InputFault::of));
        // Of several by one model for one instance the last counts, in the place of the first.
        let mut order: Vec<(&str, &str)> = Vec::new();
        let mut last: BTreeMap<(&str, &str), &Prediction> = BTreeMap::new();
        for prediction in &found.items {
            let key = (
                prediction.model_name_or_path().unwrap_or(UNNAMED),
                prediction.instance_id(),
            );
            if last.insert(key, prediction).is_none() {
                order.push(key);
            }
        }
        for key in order {
            self.add(path, last[&key], only);
        }
        if self.model.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read predictions",
                format!("`{}`: there is no usable prediction in it", path.display()),
            ));
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, prediction: &Prediction, only: &[InstanceId]) {
        let id = prediction.instance_id().to_owned();
        let model = prediction
            .model_name_or_path()
            .unwrap_or(UNNAMED)
            .to_owned();
        if self.model.is_empty() {
            self.model.clone_from(&model);
        }
        match self.subjects.get(&id) {
            Some(subject) => self.items.push(Item {
                instance_id: id,
                model,
                patch: prediction.model_patch().map(str::to_owned),
                subject: std::sync::Arc::clone(subject),
            }),
            None if only.is_empty() => {
                self.faults.push(InputFault {
                    file: path.display().to_string(),
                    line: None,
                    field: Some("instance_id".to_owned()),
                    message: format!(
                        "`{id}` is no instance of the dataset; it counts as submitted only"
                    ),
                });
                self.unknown.push(id);
            }
            None => {}
        }
    }
}
