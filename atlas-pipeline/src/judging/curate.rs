//! Rows with what is known of their tasks: size, kind of change and report, domain.

use crate::store::read_lines;
use atlas_core::{Error, ErrorKind};
use atlas_formats::{ReadOptions, read_dataset};
use atlas_judge::classes::{ClassTable, Classes};
use atlas_judge::difficulty::row_difficulty;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    let mut told: BTreeMap<String, Value> = BTreeMap::new();
    for line in read_lines::<Map<String, Value>>(results)?.unwrap_or_default() {
        if let (Some(id), Some(judgement)) = (line.get("instance_id"), line.get("judgement")) {
            let id = id.as_str().unwrap_or_default().to_owned();
            told.insert(id, judgement["details"].clone());
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
        let mut atlas = match row.get("atlas") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(atlas)) => atlas.clone(),
            Some(_) => return Err(wrong("column `atlas`: an object expected".to_owned())),
        };
        let instance = row.instance().map_err(|why| wrong(why.to_string()))?;
        let size = row_difficulty(&instance).map_err(|why| wrong(why.to_string()))?;
        let bins = [
            ("lines", &size.lines_bin),
            ("files", &size.files_bin),
            ("hunks", &size.hunks_bin),
        ];
        for (name, bin) in bins {
            counted.entry(name).or_default().push(bin.clone());
        }
        let mut curation = json!({"difficulty": size});
        if let Some(details) = told.get(&id) {
            let classes: Classes = serde_json::from_value(details["classes"].clone())
                .map_err(|why| wrong(format!("the classes in `{}`: {why}", results.display())))?;
            let domain = classes.domain.class.as_str();
            counted.entry("domain").or_default().push(domain.to_owned());
            if domain != "unknown" {
                row.set("domain", domain)
                    .map_err(|why| wrong(why.to_string()))?;
            }
            for (name, class) in [
                ("code_type", json!(classes.code_type)),
                ("issue_type", json!(classes.issue_type)),
                ("domain", json!(classes.domain)),
            ] {
                curation[name] = class;
            }
            if let Some(model) = details["model"].as_str() {
                curation["models"] = json!([model]);
            }
        } else {
            without_classes += 1;
        }
        atlas.insert("curation".to_owned(), curation);
        row.set("atlas", Value::Object(atlas))
            .map_err(|why| wrong(why.to_string()))?;
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
