//! What runs left of instances below a folder.

#[cfg(target_os = "linux")]
use super::folders::plain_folders;
use super::input::{InputFault, Item};
use super::own::OWN_LOG;
use atlas_core::{Error, ErrorKind};
use std::collections::{HashMap, HashSet};
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
    pub(super) fn of(folder: PathBuf) -> Self {
        Self {
            folder,
            log: None,
            has_own_log: false,
        }
    }

    /// Takes in a file of the folder.
    pub(super) fn add(&mut self, name: &str, path: PathBuf) {
        self.has_own_log |= name == OWN_LOG;
        if is_graded_log(name) && self.log.as_ref().is_none_or(|known| *known < path) {
            self.log = Some(path);
        }
    }
}

/// What the names of logs of tests begin with.
const LOG: &str = "test_output";

/// Whether a file tells of an instance.
pub(super) fn is_known(name: &str) -> bool {
    name == OWN_LOG || name.starts_with(LOG)
}

/// Whether a file is the log of the state that is graded: of three states, that of After.
fn is_graded_log(name: &str) -> bool {
    let has_end = name.rsplit_once('.').is_some_and(|(_, end)| end == "txt");
    has_end && name.starts_with(LOG) && !name.contains("_base") && !name.contains("_before")
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
    let found = plain_folders(root).unwrap_or_else(|| any_folders(root, faults));
    let mut stored: Logs = HashMap::with_capacity(found.len());
    for (name, one) in found {
        stored.entry(name).or_default().push(one);
    }
    for fit in stored.values_mut().filter(|fit| fit.len() > 1) {
        fit.sort_by(|one, other| one.folder.cmp(&other.folder));
    }
    Ok(stored)
}

/// Folders with something of an instance in them, by their names.
pub(super) type Folders = Vec<(String, Stored)>;

/// Elsewhere than on Linux all folders are looked through as any are.
#[cfg(not(target_os = "linux"))]
fn plain_folders(_: &Path) -> Option<Folders> {
    None
}

/// The folders below a folder, whatever lies there. A part of it that cannot be read is a fault.
fn any_folders(root: &Path, faults: &mut Vec<InputFault>) -> Folders {
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
        if !is_known(&name) {
            continue;
        }
        let Some(folder) = depth.checked_sub(1) else {
            continue;
        };
        let known = current.get(folder).copied().flatten();
        let at = known.unwrap_or(found.len());
        if known.is_none() {
            let Some(parent) = entry.path().parent() else {
                continue;
            };
            current.resize(depth, None);
            current[folder] = Some(at);
            found.push(Stored::of(parent.to_owned()));
        }
        found[at].add(&name, entry.path().to_owned());
    }
    unread.sort_by(|(one, _), (other, _)| one.cmp(other));
    faults.extend(unread.into_iter().map(|(path, why)| InputFault {
        file: path.display().to_string(),
        line: None,
        field: None,
        message: format!("{why}; what lies below it is not graded"),
    }));
    let named = |one: Stored| {
        let name = one.folder.file_name().unwrap_or_default();
        (name.to_string_lossy().into_owned(), one)
    };
    found.into_iter().map(named).collect()
}

/// What is stored of a prediction; of several runs below one folder, that of its model, and never one in the folder of
/// another of these models. Where two fit there is no telling: the first folder, and the reason.
pub(super) fn choose<'a>(
    stored: &'a Logs,
    item: &Item,
    models: &HashSet<String>,
) -> Result<Option<&'a Stored>, (&'a Path, String)> {
    let Some(found) = stored.get(&item.instance_id) else {
        return Ok(None);
    };
    let model = super::layout::part(&item.model);
    let named = |one: &Stored| {
        let parent = one.folder.parent().and_then(Path::file_name);
        parent.map(|name| name.to_string_lossy().into_owned())
    };
    let is_of_model = |one: &Stored| named(one).is_some_and(|name| name == model);
    let is_of_another =
        |one: &Stored| named(one).is_some_and(|name| name != model && models.contains(&name));
    let mut fit: Vec<&Stored> = found.iter().filter(|one| !is_of_another(one)).collect();
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Folders, any_folders, plain_folders};
    use std::fs;
    use std::path::Path;

    fn any(root: &Path) -> Folders {
        let mut faults = Vec::new();
        let mut found = any_folders(root, &mut faults);
        assert!(faults.is_empty());
        found.sort_by(|(_, one), (_, other)| one.folder.cmp(&other.folder));
        found
    }

    #[test]
    fn folders_without_links_are_found_the_same_either_way() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("logs");
        for file in [
            "test_output.txt",
            "a__b-1/test_output.txt",
            "a__b-1/run_instance.log",
            "a__b-1/report.json",
            "a__b-1/inner/test_output_after.txt",
            "a__b-1/inner/test_output_base.txt",
            "run/model/a__b-2/test_output.txt",
            "run/model/a__b-2/test_output_2.txt",
            "run/other/a__b-2/test_output.log",
            "run/other/a__b-3/patch.diff",
            "run/other/ä b/run_instance.log",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::create_dir_all(root.join("test_output.txt.d/empty")).unwrap();
        let mut found = plain_folders(&root).unwrap();
        found.sort_by(|(_, one), (_, other)| one.folder.cmp(&other.folder));
        assert_eq!(found.len(), 6);
        assert_eq!(format!("{found:?}"), format!("{:?}", any(&root)));
        // A root that is a link is as good as a folder.
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        assert_eq!(plain_folders(&link).unwrap().len(), 6);
        std::os::unix::fs::symlink("a__b-1", root.join("again")).unwrap();
        assert!(plain_folders(&root).is_none());
        assert_eq!(any(&root).len(), 8);
    }
}
