//! Predictions: candidate patches to grade.

use crate::dataset::{Dataset, extension, read_text_file, refuse_other_files};
use crate::fault::{self, FaultKind, RowFault};
use crate::files::write_whole;
use crate::framing::{self, FileForm, Framed, Part};
use crate::json;
use crate::json::Style;
use crate::record::Record;
use crate::row::{Place, wrong};
use crate::schema::Schema;
use atlas_core::Error;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Columns that hold the patch, the field's own first: SWE-bench Pro writes `patch`,
/// Multi-SWE-bench `fix_patch`.
const PATCHES: [&str; 3] = ["model_patch", "patch", "fix_patch"];

/// One candidate patch, as it was written.
///
/// ```
/// let prediction: atlas_formats::Prediction =
///     r#"{"instance_id": "a__b-1", "model_patch": null, "mine": 1}"#.parse()?;
/// assert_eq!(prediction.model_patch(), None); // "" would be Some("")
/// assert_eq!(prediction.json(), r#"{"instance_id": "a__b-1", "model_patch": null, "mine": 1}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    instance_id: String,
    record: Record,
    place: Option<Place>,
}

/// Why a text is no prediction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictionError {
    /// Not a JSON object.
    #[error("prediction is no JSON object")]
    Json(#[from] serde_json::Error),
    /// A column is absent or holds something else than it should.
    #[error(transparent)]
    Row(#[from] crate::RowError),
}

impl Prediction {
    /// A prediction that was made, not read; `None` is written as null.
    #[must_use]
    pub fn new(instance_id: &str, model: &str, patch: Option<&str>) -> Self {
        let mut columns = Map::new();
        columns.insert("instance_id".to_owned(), instance_id.into());
        columns.insert("model_name_or_path".to_owned(), model.into());
        columns.insert("model_patch".to_owned(), patch.into());
        Self {
            instance_id: instance_id.to_owned(),
            record: Record::new(columns, &Style::PYTHON),
            place: None,
        }
    }

    fn read(
        columns: Map<String, Value>,
        text: impl FnOnce() -> String,
        key: Option<&str>,
        place: Option<Place>,
    ) -> Result<Self, crate::RowError> {
        let instance_id = id_of(&columns, key)?;
        for column in PATCHES {
            match columns.get(column) {
                None | Some(Value::Null | Value::String(_)) => {}
                Some(other) => return Err(wrong(column, "text or null", other)),
            }
        }
        Ok(Self {
            instance_id,
            record: Record::read(columns, text()),
            place,
        })
    }

    /// Which instance it is for: `instance_id`, the key of a dict, or `org__repo-number` of a
    /// Multi-SWE-bench line.
    #[must_use]
    pub fn instance_id(&self) -> &str {
        &self.instance_id
    }

    /// The patch: `model_patch`, else `patch` (SWE-bench Pro) or `fix_patch` (Multi-SWE-bench). An
    /// absent column and null are `None`; an empty text is `Some("")`.
    #[must_use]
    pub fn model_patch(&self) -> Option<&str> {
        self.patch_column()
            .and_then(|column| self.columns().get(column)?.as_str())
    }

    /// The column that holds the patch; absent where none is there.
    #[must_use]
    pub fn patch_column(&self) -> Option<&'static str> {
        PATCHES
            .into_iter()
            .find(|column| self.columns().contains_key(*column))
    }

    /// Who made it: `model_name_or_path`, else `prefix` (SWE-bench Pro).
    #[must_use]
    pub fn model_name_or_path(&self) -> Option<&str> {
        ["model_name_or_path", "prefix"]
            .into_iter()
            .find_map(|column| self.columns().get(column)?.as_str())
    }

    /// All columns in their order.
    #[must_use]
    pub fn columns(&self) -> &Map<String, Value> {
        self.record.columns()
    }

    /// The prediction as JSON: what was read, with what was changed since.
    #[must_use]
    pub fn json(&self) -> &str {
        self.record.json()
    }

    /// The prediction as one line of JSON, without a line end.
    #[must_use]
    pub fn line(&self) -> String {
        json::minified(self.record.json())
    }

    /// Sets a column, in its place if it is there, else at the end.
    ///
    /// # Errors
    /// Where it would name no instance any more, or a patch is no text; nothing is changed then.
    pub fn set(&mut self, column: &str, value: impl Into<Value>) -> Result<(), crate::RowError> {
        let mut changed = self.record.clone();
        changed.set(column, value.into());
        *self = Self::read(
            changed.columns().clone(),
            || changed.json().to_owned(),
            Some(&self.instance_id),
            self.place.clone(),
        )?;
        Ok(())
    }

    /// Where it was read; absent for one that was made.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }
}

impl std::str::FromStr for Prediction {
    type Err = PredictionError;

    fn from_str(text: &str) -> Result<Self, PredictionError> {
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        let columns = serde_json::from_str(text)?;
        Ok(Self::read(columns, || text.to_owned(), None, None)?)
    }
}

fn id_of(columns: &Map<String, Value>, key: Option<&str>) -> Result<String, crate::RowError> {
    match columns.get("instance_id") {
        Some(Value::String(id)) => return Ok(id.clone()),
        None | Some(Value::Null) => {}
        Some(other) => return Err(wrong("instance_id", "text", other)),
    }
    let text = |column: &str| columns.get(column).and_then(Value::as_str);
    let number = match columns.get("number") {
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(Value::String(number)) => Some(number.clone()),
        _ => None,
    };
    match (text("org"), text("repo"), number, key) {
        (Some(org), Some(repo), Some(number), _) => Ok(format!("{org}__{repo}-{number}")),
        (.., Some(key)) => Ok(key.to_owned()),
        _ => Err(crate::RowError::Unnamed),
    }
}

/// Predictions, what was wrong with others, and the layout of the file they came from.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// The predictions that could be read, in their order; of two for one instance both.
    pub items: Vec<Prediction>,
    /// What could not be read, and instances that are there twice.
    pub faults: Vec<RowFault>,
    framed: Option<Framed>,
}

/// Which of several predictions for one instance counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Winner {
    /// The first.
    First,
    /// The last, as for the SWE-bench harness.
    #[default]
    Last,
    /// None: the instance counts as not predicted.
    Neither,
}

impl Predictions {
    /// Predictions that were made, not read.
    #[must_use]
    pub fn new(items: Vec<Prediction>) -> Self {
        Self {
            items,
            faults: Vec::new(),
            framed: None,
        }
    }

    /// Reads a file's bytes: a list, a dict by instance, or one object a line. `name` is for
    /// messages; where it ends in `.jsonl` or `.ndjson`, one object a line is expected.
    ///
    /// Never fails: what is no prediction is a fault.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], name: &Path) -> Self {
        let lines = name
            .extension()
            .is_some_and(|ext| ext == "jsonl" || ext == "ndjson");
        let mut framed = framing::cut(bytes, lines);
        let mut all = Self::new(Vec::new());
        let mut seen = FirstPlaces::default();
        for item in &mut framed.items {
            let place = item.place(name);
            let read = fault::object(&item.body, item.broken, &place, &mut all.faults);
            let read = read.and_then(|columns| {
                let key = item.key.clone();
                let text = || fault::take_text(item);
                Prediction::read(columns, text, key.as_deref(), Some(place.clone()))
                    .map_err(|why| Box::new(RowFault::of_row(&place, &why)))
            });
            all.items.extend(seen.add(read, &mut all.faults));
        }
        all.framed = Some(framed);
        all
    }

    /// By instance, of several the one that counts.
    #[must_use]
    pub fn by_instance(&self, winner: Winner) -> BTreeMap<&str, &Prediction> {
        let mut found: BTreeMap<&str, &Prediction> = BTreeMap::new();
        let mut twice = Vec::new();
        for item in &self.items {
            let id = item.instance_id();
            if found.contains_key(id) {
                twice.push(id);
                if winner != Winner::Last {
                    continue;
                }
            }
            found.insert(id, item);
        }
        if winner == Winner::Neither {
            for id in twice {
                found.remove(id);
            }
        }
        found
    }

    /// How the file held them; absent for those that were made.
    #[must_use]
    pub fn form(&self) -> Option<FileForm> {
        self.framed.as_ref().map(|framed| framed.form)
    }

    /// The file again, byte for byte where nothing was changed; what could not be read stays where
    /// it was. Predictions that were made become one a line.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(framed) = &self.framed else {
            return self.to_form(FileForm::Lines);
        };
        let good: std::collections::BTreeSet<usize> = self
            .items
            .iter()
            .filter_map(|item| item.place().map(|place| place.index))
            .collect();
        let broken: Vec<usize> = self
            .faults
            .iter()
            .filter(|fault| !fault.kind.keeps_row())
            .map(|fault| fault.place.index)
            .filter(|index| !good.contains(index) && *index < framed.items.len())
            .collect();
        let items = self.items.iter().map(|item| {
            let index = item.place().map(|place| place.index);
            let part = Part {
                index,
                key: item.instance_id(),
                text: Some(item.json()),
            };
            (index, part)
        });
        framed.write(framing::merged(items.collect(), &broken))
    }

    /// The predictions in a new file of this form.
    #[must_use]
    pub fn to_form(&self, form: FileForm) -> Vec<u8> {
        let parts = self.items.iter().map(|item| Part {
            index: None,
            key: item.instance_id(),
            text: Some(item.json()),
        });
        Framed::empty(form).write(parts.collect())
    }

    /// Writes them: in the layout they were read in where the file's kind is the same, else `.json`
    /// as a list and anything else one a line. The file is replaced whole.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let lines = path.extension().is_none_or(|extension| extension != "json");
        let same = self
            .form()
            .is_some_and(|form| (form == FileForm::Lines) == lines);
        let bytes = if same {
            self.to_bytes()
        } else if lines {
            self.to_form(FileForm::Lines)
        } else {
            self.to_form(FileForm::List)
        };
        write_whole(path, &bytes, None).map_err(|why| Error::io("write predictions", path, why))
    }

    /// Each row's own solution, under the model name `gold`; rows without one are null.
    ///
    /// The solution of a SWE-smith row is the reverse of its `patch`. A row whose schema is not
    /// known counts as a SWE-bench row.
    #[must_use]
    pub fn gold(dataset: &Dataset) -> Self {
        Self::new(
            dataset
                .rows
                .iter()
                .map(|row| {
                    let schema = Schema::detect(row).unwrap_or(Schema::SwebenchV4);
                    let patch = crate::convert::gold_patch(row, schema);
                    Prediction::new(row.id().as_str(), "gold", patch.as_deref())
                })
                .collect(),
        )
    }

    /// An empty patch for each row, under the model name `null`.
    #[must_use]
    pub fn null(dataset: &Dataset) -> Self {
        Self::new(
            dataset
                .rows
                .iter()
                .map(|row| Prediction::new(row.id().as_str(), "null", Some("")))
                .collect(),
        )
    }
}

/// Where each instance was predicted first.
#[derive(Default)]
struct FirstPlaces(BTreeMap<String, Place>);

impl FirstPlaces {
    /// The prediction, if it is one; a second one for its instance is a fault beside it.
    fn add(
        &mut self,
        read: Result<Prediction, Box<RowFault>>,
        faults: &mut Vec<RowFault>,
    ) -> Option<Prediction> {
        let prediction = read.map_err(|fault| faults.push(*fault)).ok()?;
        let (id, place) = (prediction.instance_id(), prediction.place()?);
        match self.0.get(id) {
            Some(first) => faults.push(
                RowFault::new(
                    FaultKind::DuplicateId,
                    place,
                    format!("`{id}` is predicted already at {first}"),
                    "keep one of the two predictions",
                )
                .in_column("instance_id"),
            ),
            None => {
                self.0.insert(id.to_owned(), place.clone());
            }
        }
        Some(prediction)
    }
}

/// Reads predictions as [`read_predictions`] does and keeps what `make` makes of each, in their order, with what is wrong
/// with others.
///
/// A `.jsonl` file is read line by line, so it may be larger than the memory. Its predictions have no text:
/// [`Prediction::json`] is empty.
///
/// # Errors
/// As [`read_predictions`].
pub fn map_predictions<T>(
    path: &Path,
    mut make: impl FnMut(Prediction) -> T,
) -> Result<(Vec<T>, Vec<RowFault>), Error> {
    let failed = |why| Error::io("read predictions", path, why);
    let is_lines = matches!(extension(path), Some("jsonl" | "ndjson"));
    let file = File::open(path).map_err(failed)?;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let head = file.fill_buf().map_err(failed)?;
    refuse_other_files("read predictions", path, head)?;
    if !is_lines || framing::begins_a_list(head) {
        let all = read_predictions(path)?;
        return Ok((all.items.into_iter().map(make).collect(), all.faults));
    }
    let mut progress = framing::Progress::default();
    let mut seen = FirstPlaces::default();
    let (mut all, mut faults, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        bytes.clear();
        if file.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
            return Ok((all, faults));
        }
        for line in progress.lines(&bytes) {
            let place = Place {
                file: path.to_owned(),
                line: line.number,
                index: line.index,
            };
            let read = fault::object(line.body, None, &place, &mut faults);
            let read = read.and_then(|columns| {
                Prediction::read(columns, String::new, None, Some(place.clone()))
                    .map_err(|why| Box::new(RowFault::of_row(&place, &why)))
            });
            all.extend(seen.add(read, &mut faults).map(&mut make));
        }
    }
}

/// Reads predictions: a `.json` list, a `.json` dict by instance (`preds.json`), or one a line.
///
/// What is no prediction becomes a fault and the rest goes on; whether an instance exists is not
/// looked at.
///
/// # Errors
/// A file that cannot be read, or is no text.
pub fn read_predictions(path: &Path) -> Result<Predictions, Error> {
    let bytes = read_text_file("read predictions", path)?;
    Ok(Predictions::from_bytes(&bytes, path))
}
