//! Datasets: files and folders of rows.

mod folder;
mod lists;
mod mapped;
#[cfg(feature = "parquet")]
mod parquet;
mod plain;
mod types;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod unwritten;

pub use lists::RowLists;
pub use mapped::{each_row, map_plain_rows, map_rows, map_rows_and_lists};
#[cfg(feature = "parquet")]
pub use parquet::{ParquetColumns, ParquetRows};
pub use plain::PlainRow;
#[cfg(not(feature = "parquet"))]
pub use unwritten::{ParquetColumns, ParquetRows};

use crate::fault::{self, FaultKind, RowFault};
use crate::files::write_whole;
use crate::framing::{self, FileForm, Framed, Part};
use crate::json::Style;
use crate::row::{Place, Row};
use crate::schema::Schema;
use atlas_core::{Error, ErrorKind, InstanceId};
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// How to read a dataset.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Which file of a folder with one file a split, without its extension. Default: the only one.
    pub split: Option<String>,
    /// Bytes that one task's folder may have. Default: 64 MiB.
    pub max_task_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            split: None,
            max_task_bytes: 64 << 20,
        }
    }
}

impl ReadOptions {
    /// The same options with a split.
    #[must_use]
    pub fn with_split(mut self, split: impl Into<String>) -> Self {
        self.split = Some(split.into());
        self
    }
}

/// How the rows were held where they were read.
#[derive(Clone, Debug)]
enum Layout {
    File(Framed),
    /// Files beside the tasks: path from the root, content.
    Folder(BTreeMap<String, Vec<u8>>),
    #[cfg(feature = "parquet")]
    Parquet(parquet::Types),
    None,
}

/// Rows, what was wrong with others, and the layout of the file they came from.
///
/// Rows may be changed, reordered, taken out and added; what is written keeps the bytes of the rest.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The rows that could be read, in their order.
    pub rows: Vec<Row>,
    /// What could not be read, and what deserves a look.
    pub faults: Vec<RowFault>,
    layout: Layout,
}

impl Dataset {
    /// A dataset that was made, not read.
    #[must_use]
    pub fn new(rows: Vec<Row>) -> Self {
        Self {
            rows,
            faults: Vec::new(),
            layout: Layout::None,
        }
    }

    /// Reads a file's bytes: a JSON list, an object of objects, or one object a line. `name` is for
    /// messages; where it ends in `.jsonl` or `.ndjson`, one object a line is expected.
    ///
    /// Never fails: what is no row is a fault.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], name: &Path) -> Self {
        let lines = extension(name).is_some_and(|ext| matches!(ext, "jsonl" | "ndjson"));
        let mut framed = framing::cut(bytes, lines);
        let mut dataset = Self::new(Vec::new());
        let mut seen = FirstPlaces::default();
        let of_item = |item: &framing::Item| {
            let mut faults = Vec::new();
            let columns = columns(&item.body, item.broken, &item.place(name), &mut faults);
            (columns, faults)
        };
        let read: Vec<_> = framed.items.par_iter().map(of_item).collect();
        dataset.rows.reserve(read.len());
        for (item, (columns, faults)) in framed.items.iter_mut().zip(read) {
            dataset.faults.extend(faults);
            let place = item.place(name);
            let row = columns.and_then(|columns| {
                Row::read(columns, || fault::take_text(item), Some(place.clone()))
                    .map_err(|why| Box::new(RowFault::of_row(&place, &why)))
            });
            match row {
                Ok(row) => {
                    dataset.faults.extend(seen.add(row.id().clone(), place));
                    dataset.rows.push(row);
                }
                Err(fault) => dataset.faults.push(*fault),
            }
        }
        dataset.layout = Layout::File(framed);
        dataset
    }

    /// The one schema of the rows.
    ///
    /// # Errors
    /// As [`Schema::of`].
    pub fn schema(&self) -> Result<Schema, crate::SchemaError> {
        Schema::of(&self.rows)
    }

    /// How the file held its rows; absent for folders, Parquet and what was made.
    #[must_use]
    pub fn form(&self) -> Option<FileForm> {
        match &self.layout {
            Layout::File(framed) => Some(framed.form),
            _ => None,
        }
    }

    /// The file again, byte for byte where nothing was changed; broken rows stay where they were.
    /// A dataset that was not read from such a file becomes one row a line.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.layout {
            Layout::File(framed) => self.framed(framed, true),
            _ => self.to_form(FileForm::Lines),
        }
    }

    /// The file without the rows that could not be read, as far as they stand alone.
    #[must_use]
    pub fn to_bytes_without_faults(&self) -> Vec<u8> {
        match &self.layout {
            Layout::File(framed) => self.framed(framed, false),
            _ => self.to_form(FileForm::Lines),
        }
    }

    /// The rows in a new file of this form.
    #[must_use]
    pub fn to_form(&self, form: FileForm) -> Vec<u8> {
        let parts = self.rows.iter().map(|row| Part {
            index: None,
            key: row.id().as_str(),
            text: Some(row.json()),
        });
        Framed::empty(form).write(parts.collect())
    }

    fn framed(&self, framed: &Framed, with_faults: bool) -> Vec<u8> {
        let good: std::collections::BTreeSet<usize> = self
            .rows
            .iter()
            .filter_map(|row| row.place().map(|place| place.index))
            .collect();
        let broken: Vec<usize> = self
            .faults
            .iter()
            .filter(|fault| with_faults && !fault.kind.keeps_row())
            .map(|fault| fault.place.index)
            .filter(|index| !good.contains(index) && *index < framed.items.len())
            .collect();
        let rows = self.rows.iter().map(|row| {
            let part = Part {
                index: row.place().map(|place| place.index),
                key: row.id().as_str(),
                text: Some(row.json()),
            };
            (part.index, part)
        });
        framed.write(framing::merged(rows.collect(), &broken))
    }

    /// Writes the dataset: a file by its extension (`.json` a list, `.parquet` with that feature,
    /// else one row a line), a folder for tasks that are folders. A dataset read from a file of the
    /// same kind keeps its layout.
    ///
    /// A file is replaced whole. Folders get the files of the rows; other files in them stay.
    ///
    /// # Errors
    /// Files that cannot be written, and folder tasks whose paths leave their folder.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let folder = self.rows.first().and_then(Schema::detect);
        if let Some(schema) = folder.filter(|schema| schema.is_folder())
            && !matches!(
                extension(path),
                Some("json" | "jsonl" | "ndjson" | "parquet")
            )
        {
            let beside = match &self.layout {
                Layout::Folder(files) => Some(files),
                _ => None,
            };
            return folder::write(&self.rows, beside, schema, path);
        }
        let bytes = match (extension(path), &self.layout) {
            (Some("parquet"), _) => return self.write_parquet(path),
            (Some("json"), Layout::File(framed)) if framed.form != FileForm::Lines => {
                self.to_bytes()
            }
            (Some("json"), _) => self.to_form(FileForm::List),
            (_, Layout::File(framed)) if framed.form == FileForm::Lines => self.to_bytes(),
            _ => self.to_form(FileForm::Lines),
        };
        write_whole(path, &bytes, None).map_err(|why| Error::io("write dataset", path, why))
    }

    #[cfg(feature = "parquet")]
    fn write_parquet(&self, path: &Path) -> Result<(), Error> {
        let types = match &self.layout {
            Layout::Parquet(types) => Some(types),
            _ => None,
        };
        parquet::write(&self.rows, types, path)
    }

    #[cfg(not(feature = "parquet"))]
    #[expect(
        clippy::unused_self,
        reason = "the same signature as with the feature `parquet`"
    )]
    fn write_parquet(&self, path: &Path) -> Result<(), Error> {
        Err(no_parquet("write dataset", path))
    }
}

/// Reads a dataset: a `.json`, `.jsonl` or (with the feature `parquet`) `.parquet` file; a folder of
/// tasks; a folder with one such file a split.
///
/// A row that cannot be used becomes a fault and the rest goes on.
///
/// # Errors
/// A path that cannot be read, or a folder in which no dataset is recognised.
pub fn read_dataset(path: &Path, options: &ReadOptions) -> Result<Dataset, Error> {
    match found(path, options)? {
        DatasetPath::Tasks(dataset) => Ok(dataset),
        DatasetPath::File(file) => read_file(&file),
    }
}

/// What stands at the path of a dataset.
enum DatasetPath {
    /// A folder of tasks, read.
    Tasks(Dataset),
    /// A file of rows.
    File(PathBuf),
}

fn found(path: &Path, options: &ReadOptions) -> Result<DatasetPath, Error> {
    let meta = std::fs::metadata(path).map_err(|why| Error::io("read dataset", path, why))?;
    if !meta.is_dir() {
        return Ok(DatasetPath::File(path.to_owned()));
    }
    Ok(match folder::read(path, options)? {
        Some(dataset) => DatasetPath::Tasks(dataset),
        None => DatasetPath::File(split_file(path, options)?),
    })
}

fn read_file(path: &Path) -> Result<Dataset, Error> {
    if extension(path) == Some("parquet") {
        return read_parquet(path);
    }
    let bytes = read_text_file("read dataset", path)?;
    Ok(Dataset::from_bytes(&bytes, path))
}

/// A file's bytes, refused where they are plainly no rows: each line would be a fault then.
pub(crate) fn read_text_file(operation: &str, path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = std::fs::read(path).map_err(|why| Error::io(operation, path, why))?;
    refuse_other_files(operation, path, &bytes)?;
    Ok(bytes)
}

/// Refuses a file that plainly holds no rows, by its first bytes.
pub(crate) fn refuse_other_files(operation: &str, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let refused = if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        Some("the file is UTF-16; save it as UTF-8")
    } else if bytes.starts_with(b"PAR1") {
        Some("the file is Parquet; give it the extension `.parquet`")
    } else if bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"\x28\xb5\x2f\xfd") {
        Some("the file is compressed; unpack it first")
    } else if bytes.iter().take(4).any(|byte| *byte == 0) {
        Some("the file is UTF-16 or binary; save it as UTF-8 text")
    } else if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        Some(
            "the file is a pointer of Git LFS, the content is not here; fetch it with `git lfs pull`",
        )
    } else if bytes.trim_ascii_start().starts_with(b"<") {
        Some("the file is a web page or XML; JSON, one object a line or Parquet is expected")
    } else {
        None
    };
    match refused {
        Some(why) => Err(Error::new(
            ErrorKind::InvalidInput,
            operation,
            format!("`{}`", path.display()),
        )
        .with_source(why)),
        None => Ok(()),
    }
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path) -> Result<Dataset, Error> {
    parquet::read(path)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path) -> Result<Dataset, Error> {
    Err(no_parquet("read dataset", path))
}

#[cfg(not(feature = "parquet"))]
fn no_parquet(operation: &str, path: &Path) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        operation,
        format!("`{}`", path.display()),
    )
    .with_source("this build has no Parquet; build with the feature `parquet`, or use JSON")
}

/// The one data file of a folder, or that of the split.
fn split_file(folder: &Path, options: &ReadOptions) -> Result<PathBuf, Error> {
    let mut found = Vec::new();
    let entries =
        std::fs::read_dir(folder).map_err(|why| Error::io("read dataset", folder, why))?;
    for entry in entries {
        let path = entry
            .map_err(|why| Error::io("read dataset", folder, why))?
            .path();
        let is_data = matches!(
            extension(&path),
            Some("json" | "jsonl" | "ndjson" | "parquet")
        );
        let is_split = options.split.as_deref().is_none_or(|split| {
            path.file_stem()
                .and_then(|stem| stem.to_str())
                .is_some_and(|stem| stem == split || stem.starts_with(&format!("{split}-")))
        });
        if is_data && is_split {
            found.push(path);
        }
    }
    found.sort();
    match <[PathBuf; 1]>::try_from(found) {
        Ok([path]) => Ok(path),
        Err(found) => {
            let why = if found.is_empty() {
                "no tasks and no data file in it: `tasks/<id>/task.yaml`, `<id>/task.toml`, `<split>.jsonl` or `<split>.parquet` expected".to_owned()
            } else {
                let names: Vec<_> = found
                    .iter()
                    .filter_map(|path| path.file_name()?.to_str())
                    .collect();
                format!(
                    "several data files: {}; name one, or a split",
                    names.join(", ")
                )
            };
            Err(Error::new(
                ErrorKind::InvalidInput,
                "read dataset",
                format!("`{}`", folder.display()),
            )
            .with_source(why))
        }
    }
}

pub(crate) fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

/// An item as the columns of a row, whose name is not looked at yet.
fn columns(
    body: &[u8],
    broken: Option<&'static str>,
    place: &Place,
    extra: &mut Vec<RowFault>,
) -> Result<Map<String, Value>, Box<RowFault>> {
    let columns = fault::object(body, broken, place, extra)?;
    types::check(&columns).map_err(|why| Box::new(RowFault::of_row(place, &why)))?;
    Ok(columns)
}

/// A row that is known by its columns only.
#[cfg_attr(
    not(feature = "parquet"),
    expect(dead_code, reason = "folders check their files one by one")
)]
fn made_row(
    columns: serde_json::Map<String, serde_json::Value>,
    place: &Place,
) -> Result<Row, Box<RowFault>> {
    types::check(&columns)
        .and_then(|()| Row::styled(columns, &Style::COMPACT))
        .map(|row| row.at(Some(place.clone())))
        .map_err(|why| Box::new(RowFault::of_row(place, &why)))
}

/// Names seen so far, each with its place.
#[derive(Default)]
struct FirstPlaces(HashMap<InstanceId, Place>);

impl FirstPlaces {
    fn add(&mut self, id: InstanceId, place: Place) -> Option<RowFault> {
        match self.0.entry(id) {
            Entry::Occupied(first) => {
                let what = format!("`{}` stands already at {}", first.key(), first.get());
                let way_out = "keep one of the two rows, or rename one";
                let fault = RowFault::new(FaultKind::DuplicateId, &place, what, way_out);
                Some(fault.in_column("instance_id"))
            }
            Entry::Vacant(new) => {
                new.insert(place);
                None
            }
        }
    }
}
