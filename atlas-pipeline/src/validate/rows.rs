//! Reading a dataset, and writing what the gates left of a row.

use atlas_core::{
    Candidate, Error, ErrorKind, Instance, InstanceError, InstanceId, TestList, Verdict,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of a dataset, all or those of these names, in the dataset's order.
pub(crate) fn read(path: &Path, only: &[InstanceId]) -> Result<Vec<Instance>, Error> {
    let text = std::fs::read_to_string(path).map_err(|why| Error::io("read dataset", path, why))?;
    let wrong = |line: usize, why: String| {
        let place = format!("`{}`, line {line}: {why}", path.display());
        Error::new(ErrorKind::InvalidInput, "read dataset", place)
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut rows = Vec::new();
    if text.trim_start().starts_with('[') {
        let list: Vec<Map<String, Value>> =
            serde_json::from_str(text).map_err(|why| wrong(why.line(), why.to_string()))?;
        for (at, row) in list.into_iter().enumerate() {
            let row = Instance::from_map(row);
            rows.push(row.map_err(|why| wrong(1, format!("row {}: {why}", at + 1)))?);
        }
    } else {
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let row: Map<String, Value> =
                serde_json::from_str(line).map_err(|why| wrong(at + 1, why.to_string()))?;
            rows.push(Instance::from_map(row).map_err(|why| wrong(at + 1, why.to_string()))?);
        }
    }
    if rows.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read dataset",
            format!("`{}`: there is no row in it", path.display()),
        ));
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Ok(id) = row.id()
            && let Some(first) = seen.insert(id.to_string(), at + 1)
        {
            return Err(wrong(
                at + 1,
                format!("`{id}` stands in row {first} already"),
            ));
        }
    }
    if only.is_empty() {
        return Ok(rows);
    }
    for id in only {
        if !rows.iter().any(|row| row.id().is_ok_and(|own| own == *id)) {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("find `{id}` in"),
                format!("`{}`", path.display()),
            ));
        }
    }
    rows.retain(|row| row.id().is_ok_and(|id| only.contains(&id)));
    Ok(rows)
}

/// The lines of an earlier result that are about other instances; none where it cannot be read.
pub(crate) fn others(path: &Path, asked: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter(|line| {
            let row: Option<Value> = serde_json::from_str(line).ok();
            let id = row.as_ref().and_then(|row| row["instance_id"].as_str());
            id.is_some_and(|id| !asked.contains(&id))
        })
        .map(str::to_owned)
        .collect()
}

pub(crate) fn unreadable(why: InstanceError) -> Error {
    Error::new(ErrorKind::InvalidInput, "read row", "").with_source(why)
}

/// The row without quarantined tests, and with what was decided in its `atlas` column.
pub(crate) fn repaired(
    mut row: Instance,
    candidate: &Candidate,
    verdicts: &[Verdict],
) -> Result<Instance, Error> {
    let report = &candidate.oracle;
    for (column, ids) in [
        ("FAIL_TO_PASS", &report.fail_to_pass),
        ("PASS_TO_PASS", &report.pass_to_pass),
    ] {
        let old = match column {
            "FAIL_TO_PASS" => row.fail_to_pass(),
            _ => row.pass_to_pass(),
        }
        .map_err(unreadable)?;
        if old.ids != *ids {
            let list = TestList {
                ids: ids.clone(),
                ..old
            };
            let value = serde_json::to_value(list).map_err(|why| {
                Error::new(ErrorKind::Internal, "write row", column).with_source(why)
            })?;
            row.set(column, value);
        }
    }
    let mut own = match row.as_map().get("atlas") {
        Some(Value::Object(own)) => own.clone(),
        _ => Map::new(),
    };
    // What earlier validations found stands, as far as this one does not say it anew.
    let mut column = |name: &str, new: BTreeMap<&String, Value>| {
        let mut all = match own.get(name) {
            Some(Value::Object(old)) => old.clone(),
            _ => Map::new(),
        };
        all.extend(new.into_iter().map(|(key, value)| (key.clone(), value)));
        own.insert(name.to_owned(), Value::Object(all));
    };
    let decided = verdicts.iter().map(|v| (&v.validator, json!(v.decision)));
    column("gates", decided.collect());
    let set_aside = verdicts.iter().flat_map(|verdict| &verdict.quarantine);
    column(
        "quarantine",
        set_aside.map(|(id, why)| (id, json!(why))).collect(),
    );
    let score = verdicts
        .iter()
        .find_map(|verdict| verdict.measurements.get("score"));
    if let Some(score) = score {
        own.insert("strength".to_owned(), score.clone());
    }
    row.set("atlas", Value::Object(own));
    Ok(row)
}
