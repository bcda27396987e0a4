//! Whether a pull request reaches a test.

use crate::runners::Wanted;
use atlas_core::OracleTask;
use std::collections::BTreeMap;
use std::path::Path;

/// What a pull request changes, and the checkout of its base.
pub(super) struct Reach<'a> {
    checkout: &'a Path,
    /// Changed files with their content in After, by path.
    changed: BTreeMap<&'a str, String>,
    /// Names of the changed files without folder and ending, as imports have them.
    stems: Vec<String>,
}

impl<'a> Reach<'a> {
    pub(super) fn of(task: &'a OracleTask, checkout: &'a Path) -> Self {
        let removed = task
            .after
            .remove
            .iter()
            .map(|path| (path.as_str(), String::new()));
        let written = task.after.write.iter().map(|(path, file)| {
            (
                path.as_str(),
                String::from_utf8_lossy(&file.bytes).into_owned(),
            )
        });
        let changed: BTreeMap<&str, String> = removed.chain(written).collect();
        let stems = changed
            .keys()
            .map(|path| {
                let name = path.rsplit('/').next().unwrap_or(path);
                let stem = name.split('.').next().unwrap_or(name);
                // A folder is imported by the file that speaks for it.
                match stem {
                    "__init__" | "index" | "mod" | "lib" | "main" => folder(path)
                        .and_then(|folder| folder.rsplit('/').next())
                        .unwrap_or(stem)
                        .to_owned(),
                    stem => stem.to_owned(),
                }
            })
            .filter(|stem| stem.len() > 2)
            .collect();
        Self {
            checkout,
            changed,
            stems,
        }
    }

    /// Whether the test stands in a changed file or beside one, or its file imports one by name. An
    /// import of an import is not followed: what is not found is run more often, no more.
    pub(super) fn reaches(&self, test: &Wanted<'_>) -> bool {
        let own = leaf(test.name);
        // Go writes `_` where a subtest's title has a blank.
        let titled = own.replace('_', " ");
        let mut names = [own, titled.as_str()].into_iter().chain(parent(test.name));
        if names.any(|name| name.len() > 2 && self.changed.values().any(|text| text.contains(name)))
        {
            return true;
        }
        let place = test
            .file
            .or_else(|| test.name.split_once("::").map(|(file, _)| file))
            .filter(|place| place.contains('.'))
            .unwrap_or(test.module)
            .trim_start_matches("./");
        let beside = |path: &str| {
            let is_same = path.ends_with(place) || place.ends_with(path);
            let own_folder = folder(place).unwrap_or(place);
            is_same || folder(path).is_some_and(|changed| own_folder.ends_with(changed))
        };
        if !place.is_empty() && self.changed.keys().any(|path| beside(path)) {
            return true;
        }
        let Ok(source) = std::fs::read_to_string(self.checkout.join(place)) else {
            return false;
        };
        let imports = |line: &str| {
            ["import", "require", "from ", "use ", "include"]
                .iter()
                .any(|word| line.contains(word))
        };
        let mut lines = source.lines().filter(|line| imports(line));
        lines.any(|line| {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
            words.any(|word| self.stems.iter().any(|stem| stem == word))
        })
    }
}

fn folder(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// The function of a subtest that is named like a path, as Go's are: `TestA` of `TestA/with_b`.
fn parent(name: &str) -> Option<&str> {
    let own = ["::", " > "]
        .iter()
        .filter_map(|sep| name.rfind(sep).map(|at| at + sep.len()))
        .max()
        .map_or(name, |at| &name[at..]);
    let (parent, _) = own.split_once('/')?;
    parent
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_')
        .then_some(parent)
}

/// The last part of an id, without parameters: what its source calls it.
fn leaf(name: &str) -> &str {
    let name = name
        .find(['[', '('])
        .filter(|at| *at > 0)
        .map_or(name, |at| &name[..at]);
    let name = name.rsplit(" > ").next().unwrap_or(name);
    name.rsplit(['#', ':', '.', '/'])
        .next()
        .unwrap_or(name)
        .trim()
}

#[cfg(test)]
mod tests {
    use super::parent;

    #[test]
    fn subtests_have_the_function_that_starts_them() {
        for (name, expected) in [
            ("TestA/with_b/and_c", Some("TestA")),
            ("pkg::TestA/with_b", Some("TestA")),
            ("tests/test_a.py::test_b", None),
            ("routes > GET /users", None),
            ("TestA", None),
        ] {
            assert_eq!(parent(name), expected, "{name}");
        }
    }
}
