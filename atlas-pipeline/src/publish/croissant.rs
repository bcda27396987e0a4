//! Croissant 1.1 metadata, as the validator `mlcroissant` reads it.

use super::table::{ColumnKind, Table};
use serde_json::{Value, json};

/// One file of the release that is data.
#[derive(Clone, Debug)]
pub(super) struct DataFile {
    /// From the release's folder.
    pub(super) path: String,
    pub(super) split: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) sha1: String,
}

impl DataFile {
    pub(super) fn is_table(&self) -> bool {
        std::path::Path::new(&self.path)
            .extension()
            .is_some_and(|ending| ending == "parquet")
    }
}

/// What is said of the whole.
pub(super) struct About<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) date: &'a str,
    pub(super) description: &'a str,
    /// Licences that are SPDX expressions, and `unknown`.
    pub(super) licences: Vec<String>,
    pub(super) languages: Vec<String>,
}

/// `croissant.json`.
pub(super) fn croissant(about: &About<'_>, table: &Table, files: &[DataFile]) -> Value {
    let distribution: Vec<Value> = files
        .iter()
        .map(|file| {
            let format = if file.is_table() {
                "application/x-parquet"
            } else {
                "application/jsonlines"
            };
            json!({
                "@type": "cr:FileObject",
                "@id": file.path,
                "name": file.path,
                "contentUrl": file.path,
                "contentSize": format!("{} B", file.bytes),
                "encodingFormat": format,
                "sha256": file.sha256,
            })
        })
        .collect();
    let sets: Vec<Value> = files
        .iter()
        .filter(|file| file.is_table())
        .map(|file| record_set(file, table))
        .collect();
    let mut keywords = vec!["software engineering".to_owned(), "SWE-bench".to_owned()];
    keywords.extend(about.languages.iter().cloned());
    json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": about.name,
        "description": about.description,
        "version": about.version,
        "datePublished": about.date,
        "license": about.licences,
        "citeAs": format!("{}, version {}, {}, made with Atlas", about.name, about.version, about.date),
        "keywords": keywords,
        "isLiveDataset": false,
        "distribution": distribution,
        "recordSet": sets,
    })
}

fn record_set(file: &DataFile, table: &Table) -> Value {
    let split = &file.split;
    let fields: Vec<Value> = table
        .columns()
        .map(|(column, kind)| {
            let mut field = json!({
                "@type": "cr:Field",
                "@id": format!("{split}/{column}"),
                "name": column,
                "dataType": match kind {
                    ColumnKind::Bool => "sc:Boolean",
                    ColumnKind::Int => "sc:Integer",
                    ColumnKind::Float => "sc:Float",
                    _ => "sc:Text",
                },
                "source": {
                    "fileObject": {"@id": file.path},
                    "extract": {"column": column},
                },
            });
            if kind == ColumnKind::Texts {
                field["isArray"] = json!(true);
                field["arrayShape"] = json!("-1");
            }
            if kind == ColumnKind::Json {
                field["description"] = json!("JSON as text");
            }
            field
        })
        .collect();
    json!({
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": format!("The split `{split}`: one row an instance."),
        "key": {"@id": format!("{split}/instance_id")},
        "field": fields,
    })
}

/// The context that the format's specification asks for, word by word.
fn context() -> Value {
    let text = include_str!("croissant-context.json");
    serde_json::from_str(text).expect("a file of this crate, read by every test of a release")
}
