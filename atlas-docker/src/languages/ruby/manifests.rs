//! Gemfile, gemspec and lockfile, read as text: nothing of the repository is run.

use crate::tree::Tree;
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
    /// Gemfile or `gems.rb`.
    pub(super) gemfile: Option<String>,
    pub(super) lock: Option<String>,
    pub(super) gemspecs: Vec<String>,
    /// Gems by name, as Gemfile and gemspecs name them.
    pub(super) gems: BTreeMap<String, Named>,
    /// Gems of the lockfile with their versions.
    pub(super) locked: BTreeMap<String, String>,
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

/// The manifest in the root, or the one nearest to it whose folder has tests.
pub(super) fn find(tree: &Tree) -> Option<String> {
    let is_manifest = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        matches!(name, "Gemfile" | "gems.rb") || name.ends_with(".gemspec")
    };
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

impl Manifests {
    pub(super) fn read(tree: &Tree, main: &str) -> Self {
        let folder = folder(main).to_owned();
        let here = |name: &str| {
            let path = format!("{folder}{name}");
            tree.has(&path).then_some(path)
        };
        let gemfile = here("Gemfile").or_else(|| here("gems.rb"));
        let lock = here("Gemfile.lock").or_else(|| here("gems.locked"));
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
