//! Tasks that are folders: each file is a column, named by its path.
//!
//! A text file is a text. A file that is no UTF-8, or whose executable bit is not what its place
//! suggests, is an object `{"text"|"base64": …, "executable": …}`.

use super::{Dataset, FirstPlaces, Layout, ReadOptions};
use crate::base64;
use crate::fault::{FaultKind, RowFault};
use crate::files::{is_executable, write_whole};
use crate::json::Style;
use crate::row::{Place, Row};
use crate::schema::Schema;
use atlas_core::{Error, ErrorKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Reads a folder of tasks, or one task; nothing where it is neither.
pub(super) fn read(root: &Path, options: &ReadOptions) -> Result<Option<Dataset>, Error> {
    let holds = |folder: &Path| {
        ["task.yaml", "task.toml"]
            .iter()
            .any(|name| folder.join(name).is_file())
    };
    let tasks = root.join("tasks");
    let folders = if holds(root) {
        vec![root.to_owned()]
    } else {
        let parent = if tasks.is_dir() { &tasks } else { root };
        let all = folders_of(parent)?;
        if !all.iter().any(|folder| holds(folder)) {
            return Ok(None);
        }
        all
    };
    let mut dataset = Dataset::new(Vec::new());
    let mut seen = FirstPlaces::default();
    for (index, folder) in folders.iter().enumerate() {
        let place = Place {
            file: folder.clone(),
            line: 0,
            index,
        };
        match task(folder, &place, options)? {
            Ok((row, faults)) => {
                dataset.faults.extend(faults);
                dataset.faults.extend(seen.add(row.id().clone(), place));
                dataset.rows.push(row);
            }
            Err(fault) => dataset.faults.push(*fault),
        }
    }
    let mut beside = BTreeMap::new();
    if tasks.is_dir() {
        if let Ok(bytes) = std::fs::read(root.join("sweb.yaml")) {
            beside.insert("sweb.yaml".to_owned(), bytes);
        }
        for name in files_of(&root.join("eval")) {
            if let Ok(bytes) = std::fs::read(root.join("eval").join(&name)) {
                beside.insert(format!("eval/{name}"), bytes);
            }
        }
    }
    dataset.layout = Layout::Folder(beside);
    Ok(Some(dataset))
}

/// Folders below one, by name; names that begin with a dot are tools'.
fn folders_of(parent: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |why| Error::io("read dataset", parent, why);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(parent).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().map_err(failed)?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Plain files of a folder that may not exist.
fn files_of(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

type Task = Result<(Row, Vec<RowFault>), Box<RowFault>>;

fn task(folder: &Path, place: &Place, options: &ReadOptions) -> Result<Task, Error> {
    let bad = |what: String, way_out: &str| {
        Ok(Err(Box::new(RowFault::new(
            FaultKind::UnreadableFile,
            place,
            what,
            way_out,
        ))))
    };
    let name = folder
        .canonicalize()
        .map_err(|why| Error::io("read dataset", folder, why))?;
    let Some(name) = name.file_name().and_then(|name| name.to_str()) else {
        return bad("the folder's name is no UTF-8".to_owned(), "rename it");
    };
    let mut paths = Vec::new();
    let mut faults = Vec::new();
    walk(folder, "", place, &mut paths, &mut faults)?;
    if !paths
        .iter()
        .any(|(path, _)| path == "task.yaml" || path == "task.toml")
    {
        let fault = RowFault::new(
            FaultKind::MissingColumn,
            place,
            "neither `task.yaml` nor `task.toml` in the folder",
            "add the file, or take the folder out",
        )
        .in_column("task.yaml");
        return Ok(Err(Box::new(fault)));
    }
    let total: u64 = paths.iter().map(|(_, length)| length).sum();
    if total > options.max_task_bytes {
        return bad(
            format!("the task has {total} bytes"),
            "raise `max_task_bytes`, or take large files out",
        );
    }
    let is_harbor = paths.iter().any(|(path, _)| path == "task.toml");
    let mut columns = Map::new();
    columns.insert("instance_id".to_owned(), name.into());
    for (path, _) in paths {
        let file = folder.join(&path);
        let bytes = std::fs::read(&file).map_err(|why| Error::io("read dataset", &file, why))?;
        let expected = is_script(&path, is_harbor);
        columns.insert(path, to_value(bytes, is_executable(&file), expected));
    }
    Ok(match Row::styled(columns, &Style::COMPACT) {
        Ok(row) => Ok((row.at(Some(place.clone())), faults)),
        Err(why) => Err(Box::new(RowFault::of_row(place, &why))),
    })
}

fn walk(
    folder: &Path,
    prefix: &str,
    place: &Place,
    paths: &mut Vec<(String, u64)>,
    faults: &mut Vec<RowFault>,
) -> Result<(), Error> {
    let failed = |why| Error::io("read dataset", folder, why);
    let mut entries = std::fs::read_dir(folder)
        .map_err(failed)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(failed)?;
        let name = entry.file_name();
        let path = name.to_str().map(|name| format!("{prefix}{name}"));
        match path {
            Some(path) if kind.is_dir() => {
                walk(&entry.path(), &format!("{path}/"), place, paths, faults)?;
            }
            Some(path) if kind.is_file() => {
                paths.push((path, entry.metadata().map_err(failed)?.len()));
            }
            // A link could lead out of the task, and a pipe would block.
            path => faults.push(
                RowFault::new(
                    FaultKind::UnreadableFile,
                    place,
                    "a link, a special file or a name that is no UTF-8; it was left out",
                    "replace it by a plain file",
                )
                .in_column(path.unwrap_or_else(|| name.to_string_lossy().into_owned())),
            ),
        }
    }
    Ok(())
}

/// Whether a file of this name is executable in a task as it is usually published.
fn is_script(path: &str, is_harbor: bool) -> bool {
    is_harbor
        && Path::new(path)
            .extension()
            .is_some_and(|extension| extension == "sh")
}

fn to_value(bytes: Vec<u8>, executable: bool, expected: bool) -> Value {
    let (form, content) = match String::from_utf8(bytes) {
        Ok(text) => ("text", text),
        Err(why) => ("base64", base64::encode(why.as_bytes())),
    };
    if form == "text" && executable == expected {
        return Value::String(content);
    }
    let mut value = json!({ form: content });
    if executable != expected {
        value["executable"] = executable.into();
    }
    value
}

/// A file's content and executable bit; nothing where the column is no file.
fn from_value(value: &Value, expected: bool) -> Option<(Vec<u8>, bool)> {
    if let Value::String(text) = value {
        return Some((text.clone().into_bytes(), expected));
    }
    let executable = value
        .get("executable")
        .and_then(Value::as_bool)
        .unwrap_or(expected);
    if let Some(text) = value.get("text").and_then(Value::as_str) {
        return Some((text.as_bytes().to_vec(), executable));
    }
    let bytes = base64::decode(value.get("base64")?.as_str()?)?;
    Some((bytes, executable))
}

/// Writes the tasks below a folder.
pub(super) fn write(
    rows: &[Row],
    beside: Option<&BTreeMap<String, Vec<u8>>>,
    schema: Schema,
    root: &Path,
) -> Result<(), Error> {
    let is_harbor = schema == Schema::HarborTask;
    let parent = if is_harbor {
        root.to_owned()
    } else {
        root.join("tasks")
    };
    for (path, bytes) in beside.into_iter().flatten() {
        put(root, path, bytes, false)?;
    }
    for row in rows {
        let folder = parent.join(row.id().as_str());
        for (path, value) in row.columns() {
            if path == "instance_id" {
                continue;
            }
            let unusable = |why: &str| {
                Error::new(
                    ErrorKind::InvalidInput,
                    "write task",
                    format!("`{}`: `{path}`", row.id()),
                )
                .with_source(why)
            };
            let inside = !path.is_empty()
                && Path::new(path)
                    .components()
                    .all(|part| matches!(part, Component::Normal(_)));
            if !inside {
                return Err(unusable("the path leaves the task's folder"));
            }
            let (bytes, executable) =
                from_value(value, is_script(path, is_harbor)).ok_or_else(|| {
                    unusable("the column is no file's content; convert the row first")
                })?;
            put(&folder, path, &bytes, executable)?;
        }
    }
    Ok(())
}

fn put(folder: &Path, path: &str, bytes: &[u8], executable: bool) -> Result<(), Error> {
    let file = folder.join(path);
    let failed = |why| Error::io("write task", &file, why);
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    write_whole(&file, bytes, Some(executable)).map_err(failed)
}
