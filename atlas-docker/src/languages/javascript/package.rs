//! Manifests: the main one and those of a workspace.

use super::shell::pattern;
use crate::tree::Tree;
use atlas_core::Evidence;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The name of a manifest.
pub(super) const MANIFEST: &str = "package.json";

/// More packages than this are taken for fixtures, and only the first are looked at.
const MAX_MEMBERS: usize = 400;

/// One package.
#[derive(Clone, Debug)]
pub(super) struct Package {
    /// Its folder, from the repository's root; empty for the root.
    pub(super) folder: String,
    pub(super) json: Map<String, Value>,
}

impl Package {
    /// Reads the manifest of a folder.
    pub(super) fn read(tree: &Tree, folder: &str) -> Option<Self> {
        let text = tree.text(&join(folder, MANIFEST))?;
        let json = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
        let folder = folder.to_owned();
        Some(Self { folder, json })
    }

    pub(super) fn manifest(&self) -> String {
        join(&self.folder, MANIFEST)
    }

    pub(super) fn name(&self) -> &str {
        self.text("name").unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.json.get(key)?.as_str()
    }

    /// A text in a table of the manifest.
    pub(super) fn in_table(&self, table: &str, key: &str) -> Option<&str> {
        self.json.get(table)?.get(key)?.as_str()
    }

    pub(super) fn script(&self, name: &str) -> Option<&str> {
        self.in_table("scripts", name)
    }

    pub(super) fn scripts(&self) -> impl Iterator<Item = &str> {
        let table = self.json.get("scripts").and_then(Value::as_object);
        table
            .into_iter()
            .flat_map(|table| table.keys().map(String::as_str))
    }

    /// A script with the line it stands in.
    pub(super) fn placed(&self, tree: &Tree, script: &str) -> Evidence {
        let file = self.manifest();
        let line = tree
            .line_with(&file, &format!("\"{script}\":"))
            .unwrap_or(1);
        let text = self.script(script).unwrap_or_default();
        Evidence::at(file, line, format!("{script}: {text}"))
    }

    /// All that gets installed for development: name -> range.
    pub(super) fn dependencies(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for key in ["dependencies", "devDependencies", "optionalDependencies"] {
            let table = self.json.get(key).and_then(Value::as_object);
            for (name, range) in table.into_iter().flatten() {
                if let Some(range) = range.as_str() {
                    found.insert(name.clone(), range.to_owned());
                }
            }
        }
        found
    }

    /// The files that importing the package by its name leads to.
    pub(super) fn entries(&self) -> Vec<String> {
        let mut found = Vec::new();
        for key in ["main", "module", "exports", "bin"] {
            if let Some(value) = self.json.get(key) {
                targets(value, &mut found);
            }
        }
        let clean = |path: String| path.trim_start_matches("./").to_owned();
        found.into_iter().map(clean).collect()
    }
}

fn targets(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(path) => into.push(path.clone()),
        Value::Object(table) => {
            for (key, value) in table {
                // Declarations and conditions for the project's own tools are no code that runs.
                if key != "types" && !key.starts_with('@') {
                    targets(value, into);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| targets(value, into)),
        _ => {}
    }
}

/// A package with the packages of its workspace, if it has one.
#[derive(Debug)]
pub(super) struct Workspace {
    /// The main package first.
    pub(super) packages: Vec<Package>,
    /// The line that makes it a workspace.
    pub(super) evidence: Option<Evidence>,
}

impl Workspace {
    /// The package in the root; where there is none, the one nearest to it that has tests.
    pub(super) fn open(tree: &Tree) -> Option<Self> {
        let main = Package::read(tree, &main_folder(tree)?)?;
        let (patterns, evidence) = patterns(tree, &main);
        let mut packages = vec![main];
        let root = packages[0].folder.clone();
        if !patterns.is_empty() {
            for file in tree.ending("/package.json") {
                let folder = file.trim_end_matches("/package.json");
                let inner = if root.is_empty() {
                    folder
                } else {
                    match folder.strip_prefix(&format!("{root}/")) {
                        Some(inner) => inner,
                        None => continue,
                    }
                };
                let fits = |negated: bool| {
                    patterns
                        .iter()
                        .any(|(not, pattern)| *not == negated && (pattern.is_match(inner)))
                };
                if fits(false)
                    && !fits(true)
                    && packages.len() < MAX_MEMBERS
                    && let Some(package) = Package::read(tree, folder)
                {
                    packages.push(package);
                }
            }
        }
        Some(Self { packages, evidence })
    }

    /// The packages by name, each followed by the release that its manifest names.
    pub(super) fn releases(&self) -> Vec<&str> {
        let mut words = Vec::new();
        for package in &self.packages {
            let Some(version) = package
                .text("version")
                .filter(|_| !package.name().is_empty())
            else {
                continue;
            };
            let said = version.starts_with(|c: char| c.is_ascii_digit())
                && version.contains(|c: char| matches!(c, '1'..='9'));
            // Numbers that releases get elsewhere (`0.0.0`) say nothing: the newest tag does, which all packages of
            // a workspace share.
            words.extend([package.name(), if said { version } else { "tag" }]);
        }
        words
    }

    pub(super) fn main(&self) -> &Package {
        &self.packages[0]
    }

    /// The package that stands in a folder.
    pub(super) fn at(&self, folder: &str) -> Option<usize> {
        self.packages
            .iter()
            .position(|package| package.folder == folder)
    }

    /// Dependencies of all packages, without those on each other: name -> (range, manifest).
    pub(super) fn dependencies(&self) -> BTreeMap<String, (String, String)> {
        let mut found = BTreeMap::new();
        for package in &self.packages {
            for (name, range) in package.dependencies() {
                if !self.packages.iter().any(|other| other.name() == name) {
                    found
                        .entry(name)
                        .or_insert_with(|| (range, package.manifest()));
                }
            }
        }
        found
    }

    /// The range of a dependency as the package, else as the main package has it.
    pub(super) fn range(&self, package: usize, name: &str) -> Option<String> {
        [package, 0]
            .into_iter()
            .filter_map(|at| self.packages.get(at))
            .find_map(|package| package.dependencies().remove(name))
    }

    /// The packages that filters select: names and paths, with patterns, `!` and `...`. All but
    /// the main one where there is none.
    pub(super) fn select(&self, filters: &[String]) -> Vec<usize> {
        let fits = |filter: &str, package: &Package| {
            let filter = filter.trim_matches(['.', '^']).trim_matches(['{', '}']);
            let filter = filter.trim_start_matches("./").trim_matches('/');
            if filter.is_empty() {
                return true;
            }
            pattern(filter, '/').is_some_and(|pattern| {
                pattern.is_match(package.name()) || pattern.is_match(&package.folder)
            }) || package
                .name()
                .strip_prefix('@')
                .and_then(|name| name.split_once('/'))
                .is_some_and(|(_, short)| short == filter)
        };
        let (without, with): (Vec<&String>, Vec<&String>) =
            filters.iter().partition(|filter| filter.starts_with('!'));
        (0..self.packages.len())
            .filter(|at| {
                let package = &self.packages[*at];
                (if with.is_empty() {
                    *at > 0
                } else {
                    with.iter().any(|filter| fits(filter, package))
                }) && !without.iter().any(|filter| fits(&filter[1..], package))
            })
            .collect()
    }
}

/// The folder of the main package.
pub(super) fn main_folder(tree: &Tree) -> Option<String> {
    if tree.has(MANIFEST) {
        return Some(String::new());
    }
    let foreign = [
        "fixtures",
        "example",
        "examples",
        "docs",
        "doc",
        "templates",
    ];
    tree.ending("/package.json")
        .filter(|path| !path.split('/').any(|part| foreign.contains(&part)))
        .filter_map(|path| Package::read(tree, path.trim_end_matches("/package.json")))
        .filter(|package| {
            let script = package.script("test");
            script.is_some_and(|script| !script.contains("no test specified"))
        })
        .min_by_key(|package| (package.folder.matches('/').count(), package.folder.clone()))
        .map(|package| package.folder)
}

type Patterns = Vec<(bool, regex::Regex)>;

/// What says which folders belong to the workspace: `workspaces` of npm and yarn, then pnpm's file,
/// then lerna's.
fn patterns(tree: &Tree, main: &Package) -> (Patterns, Option<Evidence>) {
    let strings = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.filter_map(|item| Some(item.as_str()?.to_owned()))
            .collect()
    };
    let mut found = Vec::new();
    let mut source = main.manifest();
    if let Some(value) = main.json.get("workspaces") {
        found = strings(value.get("packages").unwrap_or(value));
    }
    let pnpm = join(&main.folder, "pnpm-workspace.yaml");
    if let Some(text) = tree.text(&pnpm) {
        let listed = yaml_list(&text, "packages");
        if !listed.is_empty() {
            found = listed;
            source = pnpm;
        }
    }
    let lerna = join(&main.folder, "lerna.json");
    if found.is_empty()
        && let Some(json) = tree
            .text(&lerna)
            .and_then(|text| serde_json::from_str::<Value>(&text).ok())
    {
        found = json.get("packages").map(strings).unwrap_or_default();
        source = lerna;
    }
    let evidence = (!found.is_empty())
        .then(|| Evidence::of(source, format!("a workspace of {}", found.join(", "))));
    let compiled = found
        .iter()
        .filter_map(|glob| {
            let (negated, glob) = match glob.strip_prefix('!') {
                Some(glob) => (true, glob),
                None => (false, glob.as_str()),
            };
            let glob = glob.trim_start_matches("./").trim_end_matches('/');
            Some((negated, pattern(glob, '/')?))
        })
        .collect();
    (compiled, evidence)
}

/// The items of a list at the top of a small YAML file.
fn yaml_list(text: &str, key: &str) -> Vec<String> {
    let mut lines = text.lines();
    let head = format!("{key}:");
    let Some(first) = lines.find(|line| line.starts_with(&head)) else {
        return Vec::new();
    };
    let clean = |item: &str| {
        let item = item.split(" #").next().unwrap_or(item).trim();
        item.trim_matches(['"', '\'']).to_owned()
    };
    let inline = first[head.len()..].trim();
    if let Some(items) = inline
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next())
    {
        return items.split(',').map(clean).collect();
    }
    lines
        .map(str::trim)
        .take_while(|line| line.is_empty() || line.starts_with(['-', '#']))
        .filter_map(|line| line.strip_prefix('-'))
        .map(clean)
        .collect()
}

/// A path below a folder.
pub(super) fn join(folder: &str, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
