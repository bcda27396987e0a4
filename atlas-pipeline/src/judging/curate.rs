//! Rows with what is known of their tasks: size, kind of change and report, domain.

use crate::store::read_lines;
use atlas_core::{Error, ErrorKind, Instance, InstanceError};
use atlas_formats::{ReadOptions, read_dataset};
use atlas_judge::classes::{ClassTable, Classes};
use atlas_judge::difficulty::{Difficulty, row_difficulty};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is known of a task beside its tests: `curation` in a row's column `atlas`.
#[derive(Clone, Debug)]
pub(crate) struct Curation {
    difficulty: Difficulty,
    fields: Map<String, Value>,
    models: BTreeSet<String>,
    /// The column of this name, where the domain is known.
    domain: Option<Value>,
}

/// The classes in the details of a judgement on them.
pub(crate) fn classes_of(details: &Map<String, Value>) -> Result<Classes, String> {
    let classes = details.get("classes").cloned().unwrap_or_default();
    serde_json::from_value(classes).map_err(|why| why.to_string())
}

impl Curation {
    /// The size of a row's task, and nothing else yet.
    pub(crate) fn of(row: &Instance) -> Result<Self, InstanceError> {
        Ok(Self {
            difficulty: row_difficulty(row)?,
            fields: Map::new(),
            models: BTreeSet::new(),
            domain: None,
        })
    }

    /// Adds classes, each with who told it and its proof.
    pub(crate) fn classes(&mut self, classes: &Classes) {
        let domain = classes.domain.class.as_str();
        self.domain = (domain != "unknown").then(|| domain.into());
        self.put("code_type", json!(classes.code_type));
        self.put("issue_type", json!(classes.issue_type));
        self.put("domain", json!(classes.domain));
    }

    /// Adds a model that was asked.
    pub(crate) fn asked(&mut self, model: &str) {
        self.models.insert(model.to_owned());
    }

    /// Adds a field.
    pub(crate) fn put(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// The column `atlas` with it.
    fn beside(&self, atlas: Option<&Value>) -> Result<Value, String> {
        let mut atlas = match atlas {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(atlas)) => atlas.clone(),
            Some(_) => return Err("column `atlas`: an object expected".to_owned()),
        };
        let mut curation = Map::from_iter([("difficulty".to_owned(), json!(self.difficulty))]);
        curation.extend(self.fields.clone());
        if !self.models.is_empty() {
            curation.insert("models".to_owned(), json!(self.models));
        }
        atlas.insert("curation".to_owned(), curation.into());
        Ok(atlas.into())
    }

    /// Writes it into a row.
    pub(crate) fn write(self, row: &mut Instance) -> Result<(), String> {
        let atlas = self.beside(row.as_map().get("atlas"))?;
        row.set("atlas", atlas);
        if let Some(domain) = self.domain {
            row.set("domain", domain);
        }
        Ok(())
    }
}

/// The rows that were written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CuratedRows {
    /// Their file.
    pub path: PathBuf,
    /// How many.
    pub rows: usize,
    /// Of these, how many have no result in the file of results: their classes are not written.
    pub without_classes: usize,
    /// Bins of `lines`, `files` and `hunks`, and classes by `domain`.
    pub tables: BTreeMap<String, ClassTable>,
}

/// Writes a dataset's rows with `curation` in their `atlas` column: `difficulty`, and from a file of results of [`judge_rows`](super::judge_rows) with
/// the question of classes `code_type`, `issue_type` and `domain`, each with who told it and its proof, and `models`. A known domain
/// is also the column `domain`, by which [`compare_models`](crate::compare_models) groups. Other columns keep their bytes.
///
/// # Errors
/// A dataset or results that cannot be read, with file and line; an `atlas` column that is no object.
pub fn write_curated_rows(
    dataset: &Path,
    results: &Path,
    out: &Path,
) -> Result<CuratedRows, Error> {
    let mut told: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for line in read_lines::<Map<String, Value>>(results)?.unwrap_or_default() {
        if let (Some(id), Some(judgement)) = (line.get("instance_id"), line.get("judgement")) {
            let id = id.as_str().unwrap_or_default().to_owned();
            let details = judgement["details"].as_object();
            told.insert(id, details.cloned().unwrap_or_default());
        }
    }
    let mut set = read_dataset(dataset, &ReadOptions::default())?;
    let mut counted: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut without_classes = 0;
    for row in &mut set.rows {
        let id = row.id().to_string();
        let place = row.place().map_or_else(|| id.clone(), ToString::to_string);
        let wrong = |why: String| {
            Error::new(ErrorKind::InvalidInput, "curate", place.clone()).with_source(why)
        };
        let instance = row.instance().map_err(|why| wrong(why.to_string()))?;
        let mut curation = Curation::of(&instance).map_err(|why| wrong(why.to_string()))?;
        let size = &curation.difficulty;
        let bins = [
            ("lines", &size.lines_bin),
            ("files", &size.files_bin),
            ("hunks", &size.hunks_bin),
        ];
        for (name, bin) in bins {
            counted.entry(name).or_default().push(bin.clone());
        }
        if let Some(details) = told.get(&id) {
            let of_results = |why| wrong(format!("the classes in `{}`: {why}", results.display()));
            let classes = classes_of(details).map_err(of_results)?;
            let domain = classes.domain.class.as_str();
            counted.entry("domain").or_default().push(domain.to_owned());
            curation.classes(&classes);
            if let Some(model) = details.get("model").and_then(Value::as_str) {
                curation.asked(model);
            }
        } else {
            without_classes += 1;
        }
        let atlas = curation.beside(row.get("atlas")).map_err(&wrong)?;
        let domain = curation.domain.take();
        for (column, value) in domain
            .map(|domain| ("domain", domain))
            .into_iter()
            .chain([("atlas", atlas)])
        {
            row.set(column, value)
                .map_err(|why| wrong(why.to_string()))?;
        }
    }
    set.write(out)?;
    let tables = counted.into_iter().map(|(name, all)| {
        let table = ClassTable::of(all.iter().map(String::as_str));
        (name.to_owned(), table)
    });
    Ok(CuratedRows {
        path: out.to_owned(),
        rows: set.rows.len(),
        without_classes,
        tables: tables.collect(),
    })
}
