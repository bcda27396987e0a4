//! `composer.json` and `composer.lock`.

use crate::tree::Tree;
use atlas_core::Evidence;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The manifests of one folder.
#[derive(Debug)]
pub(super) struct Composer {
    /// The folder, empty or with `/` at its end.
    pub(super) folder: String,
    /// The file that speaks for the folder.
    pub(super) main: String,
    /// Whether there is a readable `composer.json`.
    pub(super) is_there: bool,
    pub(super) has_lock: bool,
    /// Whether packages of other folders are tested in the same environment.
    pub(super) are_several: bool,
    json: Map<String, Value>,
    lock: Map<String, Value>,
}

/// Configurations of `PHPUnit`, as it looks for them itself.
pub(super) const CONFIGURATIONS: &[&str] = &["phpunit.xml", "phpunit.dist.xml", "phpunit.xml.dist"];

pub(super) fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let in_tests = path
        .split('/')
        .any(|part| part.eq_ignore_ascii_case("tests") || part.eq_ignore_ascii_case("test"));
    let phpt = name.strip_suffix(".phpt").is_some();
    name.ends_with("Test.php") || in_tests && (phpt || name.strip_suffix("test.php").is_some())
}

/// The manifest in the root, or the one nearest to it whose folder has tests.
pub(super) fn find(tree: &Tree) -> Option<String> {
    let mut names = vec!["composer.json"];
    names.extend(CONFIGURATIONS);
    if let Some(path) = tree.first(&names) {
        return Some(path.to_owned());
    }
    let folder = |path: &str| {
        path.rfind('/')
            .map_or(String::new(), |at| path[..=at].to_owned())
    };
    tree.ending("/composer.json")
        .filter(|path| {
            let folder = folder(path);
            tree.ending(".php")
                .any(|file| file.strip_prefix(folder.as_str()).is_some_and(is_test))
        })
        .min_by_key(|path| (path.matches('/').count(), (*path).to_owned()))
        .map(str::to_owned)
}

fn object(tree: &Tree, path: &str) -> Option<Map<String, Value>> {
    let text = tree.text(path)?;
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(object) => Some(object),
        Err(why) => {
            tracing::warn!(path, %why, "not readable as JSON");
            None
        }
    }
}

impl Composer {
    pub(super) fn read(tree: &Tree, main: &str) -> Self {
        let folder = main.rfind('/').map_or("", |at| &main[..=at]).to_owned();
        let json = object(tree, &format!("{folder}composer.json"));
        let lock = object(tree, &format!("{folder}composer.lock"));
        Self {
            main: main.to_owned(),
            is_there: json.is_some(),
            has_lock: lock.is_some(),
            are_several: false,
            json: json.unwrap_or_default(),
            lock: lock.unwrap_or_default(),
            folder,
        }
    }

    /// A file of the folder and, if that is not the root, of the root.
    pub(super) fn near(&self, name: &str) -> Vec<String> {
        let mut paths = vec![format!("{}{name}", self.folder)];
        if !self.folder.is_empty() {
            paths.push(name.to_owned());
        }
        paths
    }

    /// Proof by the line of the manifest that holds `needle`.
    pub(super) fn at(&self, tree: &Tree, needle: &str, text: &str) -> Evidence {
        match tree.line_with(&self.main, needle) {
            Some(line) => Evidence::at(self.main.clone(), line, text),
            None => Evidence::of(self.main.clone(), text),
        }
    }

    fn table<'a>(of: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Map<String, Value>> {
        let (first, rest) = path.split_first()?;
        let mut table = of.get(*first)?.as_object()?;
        for key in rest {
            table = table.get(*key)?.as_object()?;
        }
        Some(table)
    }

    /// What others call the package.
    pub(super) fn name(&self) -> Option<String> {
        Some(self.json.get("name")?.as_str()?.to_lowercase())
    }

    /// The repositories that are folders below that of the manifest, seen from the checkout's root.
    pub(super) fn path_repositories(&self) -> Vec<Value> {
        let Some(all) = self.json.get("repositories") else {
            return Vec::new();
        };
        let listed = all.as_array().into_iter().flatten();
        let named = all.as_object().into_iter().flat_map(Map::values);
        let below = |repository: &Value| {
            let url = repository.get("url")?.as_str()?.trim_start_matches("./");
            let is_below = !url.starts_with(['/', '~', '$', '%']) && !url.contains("..");
            if repository.get("type")?.as_str()? != "path" || !is_below {
                return None;
            }
            let mut found = repository.clone();
            found["url"] = format!("$ATLAS_REPO/{}{url}", self.folder).into();
            Some(found)
        };
        listed.chain(named).filter_map(below).collect()
    }

    /// `config.platform` of the manifest, then what the lockfile was made for.
    pub(super) fn platform(&self, name: &str) -> Option<String> {
        Self::table(&self.json, &["config", "platform"])
            .or_else(|| Self::table(&self.lock, &["platform-overrides"]))
            .and_then(|table| table.get(name)?.as_str())
            .map(str::to_owned)
    }

    /// What the manifest demands, with `require-dev`: name -> constraint.
    pub(super) fn required(&self) -> BTreeMap<String, String> {
        ["require", "require-dev"]
            .iter()
            .filter_map(|key| Self::table(&self.json, &[key]))
            .flatten()
            .filter_map(|(name, range)| Some((name.to_lowercase(), range.as_str()?.to_owned())))
            .collect()
    }

    pub(super) fn constraint(&self, name: &str) -> Option<String> {
        self.required().remove(name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.constraint(name).is_some() || self.locked_version(name).is_some()
    }

    /// Those development requirements that this list names.
    pub(super) fn development<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let table = Self::table(&self.json, &["require-dev"]);
        names
            .iter()
            .copied()
            .filter(|name| table.is_some_and(|table| table.contains_key(*name)))
            .collect()
    }

    fn packages(&self) -> impl Iterator<Item = &Map<String, Value>> {
        ["packages", "packages-dev"]
            .into_iter()
            .filter_map(|key| self.lock.get(key)?.as_array())
            .flatten()
            .filter_map(Value::as_object)
    }

    pub(super) fn locked_version(&self, name: &str) -> Option<String> {
        let package = self
            .packages()
            .find(|package| package.get("name").and_then(Value::as_str) == Some(name))?;
        Some(package.get("version")?.as_str()?.to_owned())
    }

    /// Constraints on PHP: the manifest's, then those of locked packages.
    pub(super) fn php_ranges(&self) -> Vec<(String, String)> {
        let own = Self::table(&self.json, &["require"]).and_then(|table| table.get("php"));
        let own = own
            .and_then(Value::as_str)
            .map(|range| (self.main.clone(), range.to_owned()));
        let locked = self.packages().filter_map(|package| {
            let range = Self::table(package, &["require"])?.get("php")?.as_str()?;
            let name = package.get("name")?.as_str()?;
            Some((name.to_owned(), range.to_owned()))
        });
        own.into_iter().chain(locked).collect()
    }

    /// Extensions that the manifest and locked packages demand.
    pub(super) fn extensions(&self) -> BTreeSet<String> {
        let own = self.required().into_keys().collect::<Vec<_>>();
        let locked = self
            .packages()
            .filter_map(|package| Self::table(package, &["require"]))
            .flat_map(|table| table.keys().cloned());
        own.into_iter()
            .chain(locked)
            .filter_map(|name| name.strip_prefix("ext-").map(str::to_lowercase))
            .collect()
    }

    /// The script of that name, its commands joined.
    pub(super) fn script(&self, name: &str) -> Option<String> {
        match Self::table(&self.json, &["scripts"])?.get(name)? {
            Value::String(command) => Some(command.clone()),
            Value::Array(commands) => Some(
                commands
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
                    .join(" && "),
            ),
            _ => None,
        }
    }

    /// The version that the development branch is called, where the manifest says so.
    pub(super) fn branch_alias(&self) -> Option<String> {
        self.branch().map(|(_, alias)| alias)
    }

    /// The development branch, as composer names it, and the version that it is called.
    pub(super) fn branch(&self) -> Option<(String, String)> {
        let aliases = Self::table(&self.json, &["extra", "branch-alias"])?;
        let named = ["dev-master", "dev-main"]
            .iter()
            .find_map(|name| aliases.get_key_value(*name));
        let (branch, alias) = named.or_else(|| aliases.iter().next())?;
        let alias = alias.as_str()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        let is_plain = !alias.is_empty() && alias.chars().all(plain);
        is_plain.then(|| (branch.clone(), alias.to_owned()))
    }
}
