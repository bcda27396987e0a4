//! Gemfile, gemspec and lockfile, read as text: nothing of the repository is run.

use crate::tree::{Tree, resolved};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static GEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^\s*gem[\s(]\s*['"]([A-Za-z0-9_.-]+)['"](.*)"#).expect("a literal pattern")
});
static DEPENDENCY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"\.add_(?:development_|runtime_)?dependency[\s(]*(?:%q<|['"])([A-Za-z0-9_.-]+)['">](.*)"#,
    )
    .expect("a literal pattern")
});
static LOCKED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ {4}([A-Za-z0-9_.-]+) \(([^)]+)\)\s*$").expect("a literal pattern")
});
static BUNDLED_WITH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ {2,3}(\d+\.\d+\.\d+)\s*$").expect("a literal pattern"));

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:\bpath:|:path\s*=>)\s*(?:File\.expand_path\(\s*)?['"]([^'"\#]+)['"]"#)
        .expect("a literal pattern")
});

/// A gem that a manifest names.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) file: String,
    pub(super) line: usize,
    /// What follows the name: requirements and options.
    pub(super) rest: String,
}

/// The manifests of one folder.
#[derive(Debug)]
pub(super) struct Manifests {
    /// The folder, empty or with `/` at its end.
    pub(super) folder: String,
    /// The manifest that speaks for the folder.
    pub(super) main: String,
    /// Gemfile or `gems.rb`: the folder's own, else the nearest above it, as bundler looks for it.
    pub(super) gemfile: Option<String>,
    pub(super) lock: Option<String>,
    pub(super) gemspecs: Vec<String>,
    /// Gems by name, as Gemfile and gemspecs name them.
    pub(super) gems: BTreeMap<String, Named>,
    /// Gems of the lockfile with their versions.
    pub(super) locked: BTreeMap<String, String>,
    /// Further gems of the repository that those of the folder are made of: name and folder.
    pub(super) beside: Vec<(String, String)>,
    /// Whether gems of other folders are tested in the same environment.
    pub(super) are_several: bool,
}

/// Whether a path is one of a test file: by its folder and its name.
pub(super) fn is_test(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return false;
    };
    let in_tests = folder
        .split('/')
        .any(|part| matches!(part, "test" | "tests" | "spec" | "specs" | "features"));
    let helper = name.ends_with("_helper.rb") || name == "helper.rb";
    let starts = ["test_", "spec_", "tc_"];
    let named = name.strip_suffix(".rb").is_some_and(|stem| {
        ["_test", "_spec"].iter().any(|end| stem.ends_with(end))
            || starts.iter().any(|start| stem.starts_with(start))
    }) || name.ends_with(".feature");
    in_tests && named && !helper
}

/// Whether a file is a Gemfile or a gemspec.
pub(super) fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "Gemfile" | "gems.rb") || name.ends_with(".gemspec")
}

/// The manifest in the root, or the one nearest to it whose folder has tests.
pub(super) fn find(tree: &Tree) -> Option<String> {
    let root = tree
        .files()
        .find(|path| !path.contains('/') && is_manifest(path));
    if let Some(path) = root.or_else(|| tree.first(&["Rakefile"])) {
        return Some(path.to_owned());
    }
    let depth = |path: &str| path.matches('/').count();
    tree.files()
        .filter(|path| is_manifest(path))
        .filter(|path| {
            let folder = folder(path);
            let tested = |file: &str| file.starts_with(folder) && is_test(&file[folder.len()..]);
            tree.ending(".rb").any(tested)
        })
        .min_by_key(|path| (depth(path), (*path).to_owned()))
        .map(str::to_owned)
}

fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

/// A folder and those above it, the nearest first, each empty or with `/` at its end.
fn above(from: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(from), |place| {
        let place = place.strip_suffix('/')?;
        Some(folder(place))
    })
}

/// Where a path leads that is written in a file of this folder; `None` out of the repository.
fn inside(from: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '~']) {
        return None;
    }
    resolved(from, path)
}

impl Manifests {
    pub(super) fn read(tree: &Tree, main: &str) -> Self {
        let folder = folder(main).to_owned();
        let gemfile = above(&folder)
            .flat_map(|place| [format!("{place}Gemfile"), format!("{place}gems.rb")])
            .find(|path| tree.has(path));
        let place = gemfile.as_deref().map_or(folder.as_str(), self::folder);
        let lock = ["Gemfile.lock", "gems.locked"]
            .into_iter()
            .map(|name| format!("{place}{name}"))
            .find(|path| tree.has(path));
        let gemspecs: Vec<String> = tree
            .ending(".gemspec")
            .filter(|path| {
                path.strip_prefix(folder.as_str())
                    .is_some_and(|name| !name.contains('/'))
            })
            .map(str::to_owned)
            .collect();
        let mut gems = BTreeMap::new();
        for (file, pattern) in gemfile
            .iter()
            .map(|file| (file, &*GEM))
            .chain(gemspecs.iter().map(|file| (file, &*DEPENDENCY)))
        {
            let text = tree.text(file).unwrap_or_default();
            for (at, line) in text.lines().enumerate() {
                if let Some(found) = pattern.captures(line) {
                    let named = Named {
                        file: file.clone(),
                        line: at + 1,
                        rest: found[2].trim().to_owned(),
                    };
                    gems.entry(found[1].to_owned()).or_insert(named);
                }
            }
        }
        let text = lock.as_deref().and_then(|path| tree.text(path));
        let locked = text
            .unwrap_or_default()
            .lines()
            .filter_map(|line| LOCKED.captures(line))
            .map(|found| (found[1].to_owned(), found[2].to_owned()))
            .collect();
        Self {
            main: main.to_owned(),
            folder,
            gemfile,
            lock,
            gemspecs,
            gems,
            locked,
            beside: Vec::new(),
            are_several: false,
        }
    }

    /// The folder in which bundler's commands install: that of the Gemfile.
    pub(super) fn bundle(&self) -> &str {
        self.gemfile.as_deref().map_or(&self.folder, folder)
    }

    /// Names of the folder's own gems.
    pub(super) fn names(&self) -> Vec<String> {
        self.gemspecs
            .iter()
            .filter_map(|path| path.rsplit('/').next()?.strip_suffix(".gemspec"))
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Texts of the folder's own manifests, each with the pattern of what it names.
    fn own<'a>(&'a self, tree: &'a Tree) -> impl Iterator<Item = (String, &'static Regex)> + 'a {
        let gemfile = self
            .gemfile
            .iter()
            .filter(|path| folder(path) == self.folder);
        gemfile
            .map(|path| (path, &*GEM))
            .chain(self.gemspecs.iter().map(|path| (path, &*DEPENDENCY)))
            .filter_map(|(path, pattern)| Some((tree.text(path)?, pattern)))
    }

    /// Gems that the folder's own manifests name.
    pub(super) fn needs(&self, tree: &Tree) -> Vec<String> {
        let names = |(text, pattern): (String, &Regex)| -> Vec<String> {
            let found = text.lines().filter_map(|line| pattern.captures(line));
            found.map(|found| found[1].to_owned()).collect()
        };
        self.own(tree).flat_map(names).collect()
    }

    /// Folders of the repository that the folder's own Gemfile takes gems from.
    pub(super) fn paths(&self, tree: &Tree) -> Vec<String> {
        let paths = |(text, _): (String, &Regex)| -> Vec<String> {
            PATH.captures_iter(&text)
                .filter_map(|found| inside(&self.folder, &found[1]))
                .collect()
        };
        self.own(tree).flat_map(paths).collect()
    }

    /// A file of the folder and, if that is not the root, of the root.
    pub(super) fn near(&self, name: &str) -> Vec<String> {
        let mut paths = vec![format!("{}{name}", self.folder)];
        if !self.folder.is_empty() {
            paths.push(name.to_owned());
        }
        paths
    }

    /// Gemfiles that are there.
    pub(super) fn bundles(&self, tree: &Tree) -> Vec<String> {
        let named = self.near("Gemfile").into_iter().chain(self.near("gems.rb"));
        named.filter(|path| tree.has(path)).collect()
    }

    /// Whether a gem of this name is named or locked.
    pub(super) fn has(&self, gem: &str) -> bool {
        self.gems.contains_key(gem) || self.locked.contains_key(gem)
    }

    /// The first of these gems that is named or locked.
    pub(super) fn first(&self, gems: &[&'static str]) -> Option<&'static str> {
        gems.iter().copied().find(|gem| self.has(gem))
    }

    /// The bundler that the lockfile was written with, or the 1.x that a manifest insists on: what
    /// newer versions refuse.
    pub(super) fn bundler(&self, tree: &Tree) -> Option<(String, String, usize)> {
        if let Some(lock) = &self.lock
            && let Some((line, text)) = tree.line(lock, &BUNDLED_WITH)
        {
            return Some((text, lock.clone(), line));
        }
        let named = self.gems.get("bundler")?;
        let old = regex::Regex::new(r"~>\s*1(\.|\b)|<\s*2")
            .expect("a literal pattern")
            .is_match(&named.rest);
        old.then(|| ("~> 1.17".to_owned(), named.file.clone(), named.line))
    }
}
