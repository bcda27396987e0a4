//! What is known of patches from elsewhere: trajectories, results of tests, earlier judgements.

use super::{CandidatePatches, PatchName};
use crate::InputFault;
use crate::spool::Spool;
use atlas_core::{Error, ErrorKind};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// Values by instance, and where it is given by agent and patch; each is read again when it is needed.
#[derive(Debug, Default)]
pub struct Attached {
    values: BTreeMap<String, Vec<Entry>>,
    /// Values of a file.
    kept: Option<Spool<Value>>,
}

#[derive(Clone, Debug)]
struct Entry {
    agent: Option<String>,
    patch: Option<String>,
    /// The folders that a file lies in, which may be named for an agent or a patch.
    folders: BTreeSet<String>,
    /// The line, or the file.
    place: String,
    value: Held,
}

/// Where a value is.
#[derive(Clone, Debug)]
enum Held {
    Kept(usize),
    File(PathBuf),
}

/// Which patches there are: what says only its instance is about a patch that has no sister.
#[derive(Clone, Debug, Default)]
pub struct Sisters {
    /// By instance: agent and patch.
    patches: BTreeMap<String, Vec<(String, String)>>,
}

impl Sisters {
    /// Of these candidates.
    pub fn of(candidates: &CandidatePatches) -> Self {
        let mut found = Self::default();
        for (name, _) in candidates.names() {
            let of_id = found.patches.entry(name.instance_id.clone()).or_default();
            of_id.push((name.agent.clone(), name.patch_id.clone()));
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
        let fail = |why| Error::io(&format!("read {field}"), path, why);
        let mut values: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        let mut kept = Spool::new()?;
        let lines = BufReader::new(File::open(path).map_err(fail)?).lines();
        for (at, line) in lines.enumerate() {
            let line = line.map_err(fail)?;
            if line.trim().is_empty() {
                continue;
            }
            let place = format!("{}:{}", path.display(), at + 1);
            let wrong = |what: String| {
                let place = format!("`{}`, line {}: {what}", path.display(), at + 1);
                Error::new(ErrorKind::InvalidInput, format!("read {field}"), place)
            };
            let mut map: Map<String, Value> =
                serde_json::from_str(&line).map_err(|why| wrong(why.to_string()))?;
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
            let entries = values.entry(id).or_default();
            // The last line of the same names counts, as in a file that a run was added to.
            entries.retain(|entry| entry.agent != agent || entry.patch != named);
            entries.push(Entry {
                agent,
                patch: named,
                folders: BTreeSet::new(),
                place,
                value: Held::Kept(kept.push(&value)?),
            });
        }
        let kept = Some(kept);
        Ok(Self { values, kept })
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
            // Whether it can be read is to be known before anything is asked.
            read_value(file.path())?;
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
                value: Held::File(file.path().to_owned()),
            };
            for id in parent.into_iter().chain([stem.to_owned()]) {
                found.values.entry(id).or_default().push(entry.clone());
            }
        }
        Ok(found)
    }

    /// The value for a candidate's task: the one for its patch, else its agent's, else its instance's.
    ///
    /// # Errors
    /// It cannot be read again.
    pub fn of(&self, name: &PatchName) -> Result<Option<Value>, Error> {
        let entries = self.values.get(&name.instance_id);
        let (agent, patch) = (Some(&name.agent), Some(&name.patch_id));
        let entry = [(agent, patch), (None, patch), (agent, None), (None, None)]
            .into_iter()
            .find_map(|(agent, patch)| {
                let mut entries = entries?.iter();
                entries.find(|entry| entry.agent.as_ref() == agent && entry.patch.as_ref() == patch)
            });
        entry.map(|entry| self.value(entry)).transpose()
    }

    /// The instances that something is known of.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// The value that is for an instance as a whole.
    ///
    /// # Errors
    /// It cannot be read again.
    pub fn of_instance(&self, id: &str) -> Result<Option<Value>, Error> {
        let mut entries = self.values.get(id).into_iter().flatten();
        let entry = entries.find(|entry| entry.agent.is_none() && entry.patch.is_none());
        entry.map(|entry| self.value(entry)).transpose()
    }

    fn value(&self, entry: &Entry) -> Result<Value, Error> {
        match (&entry.value, &self.kept) {
            (Held::File(path), _) => read_value(path),
            (Held::Kept(at), Some(kept)) => kept.get(*at),
            (Held::Kept(_), None) => Err(Error::new(
                ErrorKind::Internal,
                "find",
                "a value that was kept",
            )),
        }
    }

    /// The value about a candidate's patch: one that names the patch, else one that names its agent if that has no
    /// other patch of the instance, else one that names neither if the instance has no other patch at all. Where two
    /// are as near there is none: what was seen of another patch proves nothing.
    ///
    /// # Errors
    /// It cannot be read again.
    pub fn of_patch(&self, name: &PatchName, sisters: &Sisters) -> Result<Option<Value>, Error> {
        let entry = self.entry(name, sisters);
        entry.map(|entry| self.value(entry)).transpose()
    }

    fn entry(&self, name: &PatchName, sisters: &Sisters) -> Option<&Entry> {
        let id = &name.instance_id;
        let mut near: [Vec<&Entry>; 3] = Default::default();
        for entry in self.values.get(id)? {
            let (agent, patch) = sisters.told(id, entry);
            if agent.is_some_and(|agent| agent != name.agent)
                || patch.is_some_and(|patch| patch != name.patch_id)
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
        let patches = sisters.patches.get(id).map_or(&[][..], Vec::as_slice);
        let of_agent = patches.iter().filter(|(agent, _)| *agent == name.agent);
        let may = [true, of_agent.count() == 1, patches.len() == 1];
        let nearest = near.iter().position(|entries| !entries.is_empty())?;
        match near[nearest].as_slice() {
            [only] if may[nearest] => Some(only),
            _ => None,
        }
    }

    /// What is about one of several patches and does not say which: it is used for none of them.
    ///
    /// # Errors
    /// A candidate cannot be read again.
    pub fn unclear(
        &self,
        field: &str,
        candidates: &CandidatePatches,
        sisters: &Sisters,
    ) -> Result<Vec<InputFault>, Error> {
        let mut found = Vec::new();
        for (at, (name, _)) in candidates.names().enumerate() {
            let id = &name.instance_id;
            if self.entry(name, sisters).is_some() {
                continue;
            }
            let about = self.values.get(id).into_iter().flatten().find(|entry| {
                let (agent, patch) = sisters.told(id, entry);
                agent.is_none_or(|agent| agent == name.agent)
                    && patch.is_none_or(|patch| patch == name.patch_id)
            });
            let Some(entry) = about else { continue };
            let candidate = candidates.get(at)?;
            if candidate.columns.get(field).is_none_or(Value::is_null) {
                found.push(InputFault {
                    file: entry.place.clone(),
                    line: None,
                    field: None,
                    message: format!(
                        "{field} of `{id}`, and there are several patches or values it may be about: not used for \
                         patch `{}` of `{}`; name them by `agent` and `patch_id`, or by folders",
                        name.patch_id, name.agent
                    ),
                });
            }
        }
        Ok(found)
    }
}

fn read_value(path: &Path) -> Result<Value, Error> {
    let bytes = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
    serde_json::from_slice(&bytes).map_err(|why| {
        let place = format!("`{}`", path.display());
        Error::new(ErrorKind::InvalidInput, "read", place).with_source(why)
    })
}
