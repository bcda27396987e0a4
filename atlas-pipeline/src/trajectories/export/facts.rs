//! What is known of the instances of trajectories.

use super::near::Sketch;
use super::split::Facts;
use crate::judging::instance_rows;
use atlas_core::{Error, ErrorKind, Instance, InstanceId};
use chrono::NaiveDate;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The lines that a patch changes, without its names of files and places.
fn changed_lines(patch: &str) -> String {
    let is_change = |line: &&str| {
        (line.starts_with('+') || line.starts_with('-'))
            && !line.starts_with("+++")
            && !line.starts_with("---")
    };
    let lines: Vec<&str> = patch.lines().filter(is_change).collect();
    lines.join("\n")
}

/// `owner/name` of `owner__name-123`; empty where the name has another form, for a wrong repository would leak.
fn repository_of(id: &str) -> String {
    let numbered = id.rsplit_once('-');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let name = numbered.filter(|(_, number)| is_number(number));
    let parts = name.and_then(|(name, _)| name.split_once("__"));
    parts.map_or_else(String::new, |(owner, name)| format!("{owner}/{name}"))
}

/// Of an instance without a row: what its name and a submitted patch tell.
pub(super) fn of_attempt(id: &str, submission: Option<&str>) -> Facts {
    Facts {
        repository: repository_of(id),
        sketches: sketches("", submission.unwrap_or_default()),
        ..Facts::default()
    }
}

/// The statement's, then the patch's; a text of which nothing can be said has one that is like no other.
fn sketches(statement: &str, patch: &str) -> Vec<Option<Sketch>> {
    vec![Sketch::of(statement), Sketch::of(&changed_lines(patch))]
}

/// Fills in what the rows of a dataset tell of these instances, and says how many have none.
///
/// # Errors
/// The dataset cannot be read; a `created_at` that is no date.
pub(super) fn read_rows(
    dataset: &Path,
    instances: &mut BTreeMap<String, Facts>,
) -> Result<usize, Error> {
    let (rows, _) = instance_rows(dataset, &[])?;
    let mut known = BTreeSet::new();
    for at in 0..rows.count() {
        let id = rows.id(at).to_string();
        if let Some(facts) = instances.get_mut(&id) {
            *facts = of_row(dataset, &id, &rows.get(at)?)?;
            known.insert(id);
        }
    }
    Ok(instances.len() - known.len())
}

fn of_row(dataset: &Path, id: &str, row: &Instance) -> Result<Facts, Error> {
    let text = |column: &str| row.text(column).ok().flatten().unwrap_or_default();
    let repository = match text("repo") {
        "" => repository_of(id),
        repository => repository.to_owned(),
    };
    let created_at = match text("created_at") {
        "" => None,
        // A date, also of a time.
        written => Some(day(written).ok_or_else(|| {
            let subject = format!(
                "`{}`, `{id}`: `{written}` is no date such as 2025-01-31",
                dataset.display()
            );
            Error::new(ErrorKind::InvalidInput, "read `created_at` of", subject)
        })?),
    };
    Ok(Facts {
        repository,
        language: text("language").to_lowercase(),
        created_at,
        sketches: sketches(text("problem_statement"), text("patch")),
    })
}

/// The day of a date or time in ISO 8601.
fn day(written: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(written.get(..10)?, "%Y-%m-%d").ok()
}

/// The repositories of datasets that are evaluated on.
///
/// # Errors
/// A dataset cannot be read.
pub(super) fn repositories(datasets: &[PathBuf]) -> Result<BTreeSet<String>, Error> {
    let mut found = BTreeSet::new();
    for dataset in datasets {
        let (rows, _) = instance_rows(dataset, &[])?;
        for at in 0..rows.count() {
            let row = rows.get(at)?;
            let id: &InstanceId = rows.id(at);
            let own = row.text("repo").ok().flatten().map(str::to_owned);
            found.insert(
                own.unwrap_or_else(|| repository_of(id.as_str()))
                    .to_lowercase(),
            );
        }
    }
    Ok(found)
}
