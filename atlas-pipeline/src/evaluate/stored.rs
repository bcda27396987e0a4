//! What runs left of instances below a folder.

use super::input::{InputFault, Item};
use super::own::OWN_LOG;
use atlas_core::{Error, ErrorKind};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// By the name of the instance; several where there are several runs.
pub(super) type Logs = HashMap<String, Vec<Stored>>;

/// What a run left of one instance.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) folder: PathBuf,
    /// The log of the tests, if it came to that.
    pub(super) log: Option<PathBuf>,
    /// Whether the harness's own log of the instance stands beside it.
    pub(super) has_own_log: bool,
}

impl Stored {
    /// Nothing yet.
    fn of(folder: PathBuf) -> Self {
        Self {
            folder,
            log: None,
            has_own_log: false,
        }
    }
}

/// Whether a file is the log of the state that is graded: of three states, that of After.
fn is_graded_log(name: &str) -> bool {
    let is_log = name.starts_with("test_output")
        && Path::new(name).extension().is_some_and(|end| end == "txt");
    is_log && !name.contains("_base") && !name.contains("_before")
}

/// The folders of instances below a folder, by their names and of one name in their order. A part of it
/// that cannot be read is a fault.
pub(super) fn find_logs(root: &Path, faults: &mut Vec<InputFault>) -> Result<Logs, Error> {
    let is_folder = std::fs::metadata(root)
        .map_err(|why| Error::io("read the folder of logs", root, why))?
        .is_dir();
    if !is_folder {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read the folder of logs",
            format!(
                "`{}`: it is a file; name the folder that holds `<instance>/test_output.txt`",
                root.display()
            ),
        ));
    }
    let mut found: Vec<Stored> = Vec::new();
    // Which of them is the folder that the walk is in at each depth, once it has something.
    let mut current: Vec<Option<usize>> = Vec::new();
    let mut unread = Vec::new();
    for entry in WalkDir::new(root).follow_links(true) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(why) => {
                unread.push((why.path().unwrap_or(root).to_owned(), why));
                continue;
            }
        };
        let depth = entry.depth();
        if !entry.file_type().is_file() {
            current.resize(depth + 1, None);
            current[depth] = None;
            continue;
        }
        let name = entry.file_name().to_string_lossy();
        let is_own_log = name == OWN_LOG;
        if !is_own_log && !name.starts_with("test_output") {
            continue;
        }
        let Some(folder) = depth.checked_sub(1) else {
            continue;
        };
        let is_graded = is_graded_log(&name);
        let path = entry.into_path();
        let known = current.get(folder).copied().flatten();
        let at = known.unwrap_or(found.len());
        if known.is_none() {
            let Some(parent) = path.parent() else {
                continue;
            };
            current.resize(depth, None);
            current[folder] = Some(at);
            found.push(Stored::of(parent.to_owned()));
        }
        let stored = &mut found[at];
        stored.has_own_log |= is_own_log;
        if is_graded && stored.log.as_ref().is_none_or(|known| *known < path) {
            stored.log = Some(path);
        }
    }
    unread.sort_by(|(one, _), (other, _)| one.cmp(other));
    faults.extend(unread.into_iter().map(|(path, why)| InputFault {
        file: path.display().to_string(),
        line: None,
        field: None,
        message: format!("{why}; what lies below it is not graded"),
    }));
    let mut stored: Logs = HashMap::with_capacity(found.len());
    for one in found {
        let name = one.folder.file_name();
        let name = name.map(|name| name.to_string_lossy().into_owned());
        stored
            .entry(name.unwrap_or_default())
            .or_default()
            .push(one);
    }
    for fit in stored.values_mut().filter(|fit| fit.len() > 1) {
        fit.sort_by(|one, other| one.folder.cmp(&other.folder));
    }
    Ok(stored)
}

/// What is stored of a prediction; of several runs below one folder, that of its model. Where two fit
/// there is no telling: the first folder, and the reason.
pub(super) fn choose<'a>(
    stored: &'a Logs,
    item: &Item,
) -> Result<Option<&'a Stored>, (&'a Path, String)> {
    let found = match stored.get(&item.instance_id).map(Vec::as_slice) {
        None => return Ok(None),
        Some([one]) => return Ok(Some(one)),
        Some(found) => found,
    };
    let model = super::layout::part(&item.model);
    let is_of_model = |one: &Stored| {
        let parent = one.folder.parent().and_then(Path::file_name);
        parent.is_some_and(|name| *name == *model)
    };
    let mut fit: Vec<&Stored> = found.iter().collect();
    if fit.iter().any(|one| is_of_model(one)) {
        fit.retain(|one| is_of_model(one));
    }
    match fit.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        [one, another, ..] => Err((
            &one.folder,
            format!(
                "there is another log of `{}` in `{}`; name the folder of one run",
                item.instance_id,
                another.folder.display()
            ),
        )),
    }
}
