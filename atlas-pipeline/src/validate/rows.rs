//! Reading a dataset, and writing what the gates left of a row.

use crate::evaluate::InputFault;
use atlas_core::{
    Candidate, Error, ErrorKind, Instance, InstanceError, InstanceId, TestList, Verdict,
};
use atlas_formats::{ReadOptions, read_dataset};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The rows of a dataset, all or those of these names, in the dataset's order, and what is wrong with
/// the others: a row that cannot be used does not stop the rest.
pub(crate) fn read(
    path: &Path,
    only: &[InstanceId],
) -> Result<(Vec<Instance>, Vec<InputFault>), Error> {
    let set = read_dataset(path, &ReadOptions::default())?;
    let mut faults: Vec<InputFault> = set.faults.iter().map(InputFault::of).collect();
    let mut rows = Vec::with_capacity(set.rows.len());
    let mut seen = BTreeSet::new();
    for row in &set.rows {
        if !seen.insert(row.id().to_string()) {
            // Said among the faults of the dataset; the first one counts.
            continue;
        }
        match row.instance() {
            Ok(instance) => rows.push(instance),
            Err(why) => faults.push(InputFault {
                file: path.display().to_string(),
                line: row.place().map(|place| place.line).filter(|line| *line > 0),
                field: None,
                message: format!(
                    "{why}; the row `{}` is left out until this is put right",
                    row.id()
                ),
            }),
        }
    }
    if rows.is_empty() && faults.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read dataset",
            format!("`{}`: there is no row in it", path.display()),
        ));
    }
    if only.is_empty() {
        return Ok((rows, faults));
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
    Ok((rows, faults))
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
                ids: ids.into(),
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
