//! Files that tell of several instances, or of each its own.

use super::{MakeOptions, row};
use crate::failures::{self, Failed};
use crate::store::write_json;
use crate::write_atomically;
use atlas_core::{Error, Instance, InstanceId};
use std::path::Path;

/// The dataset of all rows.
const DATASET: &str = "dataset.jsonl";
/// The dataset of the rows that version 5 of the SWE-bench harness resolves with their gold patches and not
/// without, with tests named as it names them.
pub(super) const FOR_SWEBENCH: &str = "swebench5.jsonl";
/// The same of one instance, in its own folder.
const ONE_FOR_SWEBENCH: &str = "swebench5.json";
/// A failure of one instance, in its own folder.
pub(crate) const FAILURE: &str = "failure.json";

impl MakeOptions {
    /// Puts a row where it belongs beside `instance.json`.
    pub(super) fn keep_row(
        &self,
        id: &InstanceId,
        row: &Instance,
        lists: Option<[Vec<String>; 2]>,
    ) -> Result<(), Error> {
        let harness = row::for_harness(row, lists)?;
        if self.collect {
            row::put(&self.out.join(FOR_SWEBENCH), id, harness.as_ref())?;
            return row::put(&self.out.join(DATASET), id, Some(row));
        }
        let file = self.out.join(id.as_str()).join(ONE_FOR_SWEBENCH);
        match harness {
            Some(row) => write_atomically(&file, format!("{row}\n").as_bytes()),
            None => remove(&file),
        }
    }

    /// Takes the row away: a verdict of "no" must not leave an older "yes" behind.
    pub(super) fn forget_row(&self, id: &InstanceId) -> Result<(), Error> {
        let folder = self.out.join(id.as_str());
        if self.collect {
            for name in [DATASET, FOR_SWEBENCH] {
                row::put(&self.out.join(name), id, None)?;
            }
        } else {
            remove(&folder.join(ONE_FOR_SWEBENCH))?;
        }
        remove(&folder.join("instance.json"))
    }

    /// Notes that there is no environment.
    pub(super) fn keep_failure(&self, failed: &Failed<'_>) -> Result<(), Error> {
        if self.collect {
            failures::note(&self.out, failed)
        } else {
            let file = self.out.join(failed.id.as_str()).join(FAILURE);
            write_json(&file, &failures::entry(failed))
        }
    }

    /// There is an environment now.
    pub(super) fn forget_failure(&self, id: &InstanceId) -> Result<(), Error> {
        if self.collect {
            failures::forget(&self.out, id)
        } else {
            remove(&self.out.join(id.as_str()).join(FAILURE))
        }
    }
}

fn remove(file: &Path) -> Result<(), Error> {
    match std::fs::remove_file(file) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", file, why))
        }
        _ => Ok(()),
    }
}
