//! What is known of patches from elsewhere: trajectories, results of tests, earlier judgements.

use super::CandidatePatch;
use atlas_core::{Error, ErrorKind};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Values by instance, and where it is given by agent and patch.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    values: BTreeMap<(String, Option<String>, Option<String>), Value>,
}

impl Attached {
    /// Reads a file of JSON lines, each with `instance_id`, where wanted `agent` (or
    /// `model_name_or_path`) and `patch_id`, and the value under `field`; without that field the line
    /// itself without these names is the value. Or a folder with one file an instance, named
    /// `<instance>.json`, `.traj` or `.traj.json`, at any depth or as the only such file in a folder of
    /// that name.
    ///
    /// # Errors
    /// It cannot be read, or a line or file is no JSON, with its place.
    pub fn read(path: &Path, field: &str) -> Result<Self, Error> {
        if path.is_dir() {
            return Self::folder(path);
        }
        let text = std::fs::read_to_string(path)
            .map_err(|why| Error::io(&format!("read {field}"), path, why))?;
        let mut found = Self::default();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |what: String| {
                let place = format!("`{}`, line {}: {what}", path.display(), at + 1);
                Error::new(ErrorKind::InvalidInput, format!("read {field}"), place)
            };
            let mut map: Map<String, Value> =
                serde_json::from_str(line).map_err(|why| wrong(why.to_string()))?;
            if map.contains_key("error") && !map.contains_key(field) {
                continue;
            }
            let mut take = |name: &str| match map.remove(name) {
                Some(Value::String(text)) => Some(text),
                Some(Value::Number(number)) => Some(number.to_string()),
                _ => None,
            };
            let id = take("instance_id");
            let model = take("model_name_or_path");
            let agent = take("agent").or(model);
            let name = take("patch_id");
            let id = id.ok_or_else(|| wrong("field `instance_id` is missing".to_owned()))?;
            let value = map.remove(field).unwrap_or(Value::Object(map));
            found.values.insert((id, agent, name), value);
        }
        Ok(found)
    }

    fn folder(path: &Path) -> Result<Self, Error> {
        let mut found = Self::default();
        let mut files: Vec<_> = walkdir::WalkDir::new(path)
            .sort_by_file_name()
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file())
            .map(walkdir::DirEntry::into_path)
            .collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let stem = [".traj.json", ".traj", ".json"]
                .iter()
                .find_map(|end| name.strip_suffix(end));
            let Some(stem) = stem else { continue };
            let bytes = std::fs::read(&file).map_err(|why| Error::io("read", &file, why))?;
            let value: Value = serde_json::from_slice(&bytes).map_err(|why| {
                let place = format!("`{}`", file.display());
                Error::new(ErrorKind::InvalidInput, "read", place).with_source(why)
            })?;
            let parent = file.parent().and_then(Path::file_name);
            let parent = parent.map(|name| name.to_string_lossy().into_owned());
            found
                .values
                .entry((stem.to_owned(), None, None))
                .or_insert_with(|| value.clone());
            if let Some(parent) = parent {
                found.values.entry((parent, None, None)).or_insert(value);
            }
        }
        Ok(found)
    }

    /// The value for a candidate: the one for its patch, else its agent's, else its instance's.
    pub fn of(&self, candidate: &CandidatePatch) -> Option<&Value> {
        let id = candidate.instance.id().ok()?.to_string();
        let (agent, patch) = (&candidate.agent, &candidate.patch_id);
        [
            (Some(agent.clone()), Some(patch.clone())),
            (None, Some(patch.clone())),
            (Some(agent.clone()), None),
            (None, None),
        ]
        .into_iter()
        .find_map(|(agent, patch)| self.values.get(&(id.clone(), agent, patch)))
    }
}
