//! Lockfiles: which one a project has, and the versions that it pins.

use super::manifests::{Manifests, name_of};
use crate::tree::Tree;
use atlas_facts::{Family, lockfiles, package_file};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The file in the root that names the version of each package.
pub(super) fn lockfile(tree: &Tree) -> Option<&'static str> {
    let mut names = lockfiles(Family::Python).map(|file| file.name);
    names.find(|name| tree.has(name))
}

/// A lockfile and the versions that it pins, `name==version`, but for the project's own. A package that is locked in
/// several versions depends on markers and is left to pip.
pub(super) fn locked(tree: &Tree, own: &Manifests) -> Option<(String, Vec<String>)> {
    let file = lockfile(tree)?;
    let mut versions = match package_file(file).map(|known| known.manager) {
        Some("pipenv") => return Some((file.to_owned(), pipfile_lock(&tree.text(file)?)?)),
        Some("rye") => rye_lock(&tree.text(file)?),
        _ => packages(&tree.toml(file)?)?,
    };
    versions.remove(&own.name);
    let single = versions.into_iter().filter(|(_, found)| found.len() == 1);
    let pins = single.flat_map(|(name, found)| {
        let pin = move |version| format!("{name}=={version}");
        found.into_iter().map(pin)
    });
    Some((file.to_owned(), pins.collect()))
}

/// The versions of each package.
type Versions = BTreeMap<String, BTreeSet<String>>;

/// The list `package` of uv's, Poetry's and PDM's lockfiles. What comes from no registry is left out.
fn packages(lock: &toml::Table) -> Option<Versions> {
    let mut versions = Versions::new();
    for package in lock.get("package")?.as_array()? {
        let source = package.get("source");
        let foreign = source.is_some_and(|source| {
            source.get("registry").is_none()
                && source.get("type").and_then(toml::Value::as_str) != Some("legacy")
        });
        let text = |key| package.get(key).and_then(toml::Value::as_str);
        if let (Some(name), Some(version), false) = (text("name"), text("version"), foreign) {
            let found = versions.entry(name_of(name)).or_default();
            found.insert(version.to_owned());
        }
    }
    Some(versions)
}

/// A lockfile of Rye, which has the form of pip's lists: `name[extra]==1.2`, with a marker behind it where the lock is
/// for any platform. `-e file:.` is the project or another of its workspace.
fn rye_lock(lock: &str) -> Versions {
    static PIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;\\]+)").expect("a literal pattern")
    });
    let mut versions = Versions::new();
    for pin in lock.lines().filter_map(|line| PIN.captures(line)) {
        let found = versions.entry(name_of(&pin[1])).or_default();
        found.insert(pin[2].to_owned());
    }
    versions
}

/// The pins of a `Pipfile.lock`.
fn pipfile_lock(lock: &str) -> Option<Vec<String>> {
    let lock: serde_json::Value = serde_json::from_str(lock).ok()?;
    let mut pins = BTreeSet::new();
    for key in ["default", "develop"] {
        let table = lock.get(key).and_then(serde_json::Value::as_object);
        for (name, package) in table.into_iter().flatten() {
            let version = package.get("version").and_then(serde_json::Value::as_str);
            pins.extend(version.map(|version| format!("{}{version}", name_of(name))));
        }
    }
    Some(pins.into_iter().collect())
}
