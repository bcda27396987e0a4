//! What is known of patches from elsewhere: trajectories, results of tests, earlier judgements.

use super::CandidatePatch;
use crate::InputFault;
use atlas_core::{Error, ErrorKind};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Values by instance, and where it is given by agent and patch.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    values: BTreeMap<String, Vec<Entry>>,
}

#[derive(Clone, Debug)]
struct Entry {
    agent: Option<String>,
    patch: Option<String>,
    /// The folders that a file lies in, which may be named for an agent or a patch.
    folders: BTreeSet<String>,
    /// The line, or the file.
    place: String,
    value: Value,
}

/// Which patches there are: what says only its instance is about a patch that has no sister.
#[derive(Clone, Debug, Default)]
pub struct Sisters {
    /// By instance: agent and patch.
    patches: BTreeMap<String, Vec<(String, String)>>,
}

impl Sisters {
    /// Of these candidates.
    pub fn of(candidates: &[CandidatePatch]) -> Self {
        let mut found = Self::default();
        for candidate in candidates {
            let Some(id) = instance(candidate) else {
                continue;
            };
            let name = (candidate.agent.clone(), candidate.patch_id.clone());
            found.patches.entry(id).or_default().push(name);
        }
        found
    }

    /// The agent and the patch that an entry is about, as far as it tells.
    fn told<'a>(&'a self, id: &str, entry: &'a Entry) -> (Option<&'a str>, Option<&'a str>) {
        let known = self.patches.get(id).map_or(&[][..], Vec::as_slice);
        let agent = entry.agent.as_deref().or_else(|| {
            let mut agents = known.iter().map(|(agent, _)| agent.as_str());
            agents.find(|agent| file_names(agent).any(|name| entry.folders.contains(&name)))
        });
        let patch = entry.patch.as_deref().or_else(|| {
            let mut patches = known.iter().map(|(_, patch)| patch.as_str());
            patches.find(|patch| entry.folders.contains(*patch))
        });
        (agent, patch)
    }
}

/// How a model is named in paths.
fn file_names(agent: &str) -> impl Iterator<Item = String> + '_ {
    ["/", "__", "_", "-"]
        .into_iter()
        .map(|sign| agent.replace('/', sign))
}

fn instance(candidate: &CandidatePatch) -> Option<String> {
    candidate.instance.id().ok().map(|id| id.to_string())
}

impl Attached {
    /// Reads a file of JSON lines, each with `instance_id`, where wanted `agent` (or
    /// `model_name_or_path`) and `patch_id`, and the value under `field`; without that field the line
    /// itself without these names is the value. Or a folder with files named `<instance>.json`, `.traj` or
    /// `.traj.json`, at any depth or in a folder of that name; folders named for an agent (a `/` in its name as
    /// `__`, `_` or `-`) or a patch say whose they are.
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
            let place = format!("{}:{}", path.display(), at + 1);
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
            let named = take("patch_id");
            let id = id.ok_or_else(|| wrong("field `instance_id` is missing".to_owned()))?;
            let value = map.remove(field).unwrap_or(Value::Object(map));
            let entries = found.values.entry(id).or_default();
            // The last line of the same names counts, as in a file that a run was added to.
            entries.retain(|entry| entry.agent != agent || entry.patch != named);
            entries.push(Entry {
                agent,
                patch: named,
                folders: BTreeSet::new(),
                place,
                value,
            });
        }
        Ok(found)
    }

    fn folder(path: &Path) -> Result<Self, Error> {
        let mut found = Self::default();
        for file in walkdir::WalkDir::new(path).sort_by_file_name() {
            let Ok(file) = file else { continue };
            let name = file.file_name().to_string_lossy();
            let stem = [".traj.json", ".traj", ".json"]
                .iter()
                .find_map(|end| name.strip_suffix(end));
            let (Some(stem), true) = (stem, file.file_type().is_file()) else {
                continue;
            };
            let bytes =
                std::fs::read(file.path()).map_err(|why| Error::io("read", file.path(), why))?;
            let value: Value = serde_json::from_slice(&bytes).map_err(|why| {
                let place = format!("`{}`", file.path().display());
                Error::new(ErrorKind::InvalidInput, "read", place).with_source(why)
            })?;
            let within = file.path().strip_prefix(path).unwrap_or(file.path());
            let folders = within.parent().into_iter().flat_map(Path::components);
            let folders: BTreeSet<String> = folders
                .map(|part| part.as_os_str().to_string_lossy().into_owned())
                .collect();
            let parent = within.parent().and_then(Path::file_name);
            let parent = parent.map(|name| name.to_string_lossy().into_owned());
            let entry = Entry {
                agent: None,
                patch: None,
                folders,
                place: file.path().display().to_string(),
                value,
            };
            for id in parent.into_iter().chain([stem.to_owned()]) {
                found.values.entry(id).or_default().push(entry.clone());
            }
        }
        Ok(found)
    }

    /// The value for a candidate's task: the one for its patch, else its agent's, else its instance's.
    pub fn of(&self, candidate: &CandidatePatch) -> Option<&Value> {
        let entries = self.values.get(&instance(candidate)?)?;
        let (agent, patch) = (Some(&candidate.agent), Some(&candidate.patch_id));
        [(agent, patch), (None, patch), (agent, None), (None, None)]
            .into_iter()
            .find_map(|(agent, patch)| {
                let mut entries = entries.iter();
                entries.find(|entry| entry.agent.as_ref() == agent && entry.patch.as_ref() == patch)
            })
            .map(|entry| &entry.value)
    }

    /// The value about a candidate's patch: one that names the patch, else one that names its agent if that has no
    /// other patch of the instance, else one that names neither if the instance has no other patch at all. Where two
    /// are as near there is none: what was seen of another patch proves nothing.
    pub fn of_patch(&self, candidate: &CandidatePatch, sisters: &Sisters) -> Option<&Value> {
        let id = instance(candidate)?;
        let mut near: [Vec<&Entry>; 3] = Default::default();
        for entry in self.values.get(&id)? {
            let (agent, patch) = sisters.told(&id, entry);
            if agent.is_some_and(|agent| agent != candidate.agent)
                || patch.is_some_and(|patch| patch != candidate.patch_id)
            {
                continue;
            }
            let place = match (agent, patch) {
                (_, Some(_)) => 0,
                (Some(_), None) => 1,
                (None, None) => 2,
            };
            near[place].push(entry);
        }
        let patches = sisters.patches.get(&id).map_or(&[][..], Vec::as_slice);
        let of_agent = patches
            .iter()
            .filter(|(agent, _)| *agent == candidate.agent);
        let may = [true, of_agent.count() == 1, patches.len() == 1];
        let nearest = near.iter().position(|entries| !entries.is_empty())?;
        match near[nearest].as_slice() {
            [only] if may[nearest] => Some(&only.value),
            _ => None,
        }
    }

    /// What is about one of several patches and does not say which: it is used for none of them.
    pub fn unclear(
        &self,
        field: &str,
        candidates: &[CandidatePatch],
        sisters: &Sisters,
    ) -> Vec<InputFault> {
        let mut found = Vec::new();
        for candidate in candidates {
            let Some(id) = instance(candidate) else {
                continue;
            };
            let own = candidate.columns.get(field);
            if own.is_some_and(|value| !value.is_null())
                || self.of_patch(candidate, sisters).is_some()
            {
                continue;
            }
            let about = self.values.get(&id).into_iter().flatten().find(|entry| {
                let (agent, patch) = sisters.told(&id, entry);
                agent.is_none_or(|agent| agent == candidate.agent)
                    && patch.is_none_or(|patch| patch == candidate.patch_id)
            });
            if let Some(entry) = about {
                found.push(InputFault {
                    file: entry.place.clone(),
                    line: None,
                    field: None,
                    message: format!(
                        "{field} of `{id}`, and there are several patches or values it may be about: not used for \
                         patch `{}` of `{}`; name them by `agent` and `patch_id`, or by folders",
                        candidate.patch_id, candidate.agent
                    ),
                });
            }
        }
        found
    }
}
