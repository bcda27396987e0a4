//! Where a repository's Go modules are, or what stands in for them.

use super::{GO_LINE, REQUIRE};
use crate::facts::Facts;
use crate::tree::Tree;
use crate::versions::Version;
use atlas_core::Evidence;
use regex::Regex;
use std::sync::LazyLock;

/// One module whose tests are run.
#[derive(Debug)]
pub(super) struct Module {
    /// Its folder; empty for the root.
    pub(super) folder: String,
    /// Path of its `go.mod`.
    pub(super) manifest: String,
    /// What others require it as.
    pub(super) name: String,
    /// The modules that it requires.
    pub(super) required: Vec<String>,
    /// The level on its `go` line.
    pub(super) level: Option<Version>,
    /// Whether `vendor/` holds its dependencies.
    pub(super) vendored: bool,
    /// Whether `go.sum` stands beside it.
    pub(super) summed: bool,
}

/// Code from before modules, for which another tool cared.
#[derive(Debug)]
pub(super) struct Legacy {
    /// What others import it as.
    pub(super) import: String,
    /// Where that is said.
    pub(super) evidence: Evidence,
    /// Whether `vendor/` holds its dependencies.
    pub(super) vendored: bool,
    /// The lockfile of the tool.
    pub(super) lock: Option<&'static str>,
}

/// Lockfiles and manifests of tools from before modules.
pub(super) const LEGACY: &[&str] = &[
    "Gopkg.lock",
    "Gopkg.toml",
    "glide.lock",
    "glide.yaml",
    "Godeps/Godeps.json",
    "vendor.conf",
];

static IMPORT_COMMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^package\s+\w+\s*(?://|/\*)\s*import\s+"([^"\s]+)""#).expect("a literal pattern")
});

/// Whether a folder holds nothing that `./...` would match: the go command leaves these out.
fn ignored(path: &str) -> bool {
    path.split('/')
        .any(|part| part == "testdata" || part.starts_with(['_', '.']))
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Folders of all `go.mod` files, the root first.
fn folders(tree: &Tree) -> Vec<&str> {
    let mut found: Vec<&str> = tree
        .files()
        .filter(|path| *path == "go.mod" || path.ends_with("/go.mod"))
        .filter(|path| !ignored(path))
        .map(folder_of)
        .collect();
    found.sort_by_key(|folder| {
        (
            folder.matches('/').count() + usize::from(!folder.is_empty()),
            *folder,
        )
    });
    found
}

/// The modules that have tests, the root first, others by name. What stands in an example's or a
/// tool's module of its own counts like any other.
pub(super) fn modules(tree: &Tree) -> Vec<Module> {
    let folders = folders(tree);
    let owner = |path: &str| -> Option<&str> {
        folders
            .iter()
            .copied()
            .filter(|folder| folder.is_empty() || path.starts_with(&format!("{folder}/")))
            .max_by_key(|folder| folder.len())
    };
    let tested: Vec<&str> = tree
        .ending("_test.go")
        .filter(|path| !ignored(path))
        .filter_map(owner)
        .collect();
    folders
        .iter()
        .filter(|folder| tested.contains(folder))
        .map(|folder| {
            let path = |name: &str| {
                if folder.is_empty() {
                    name.to_owned()
                } else {
                    format!("{folder}/{name}")
                }
            };
            let manifest = path("go.mod");
            let text = tree.text(&manifest).unwrap_or_default();
            Module {
                folder: (*folder).to_owned(),
                name: text
                    .lines()
                    .find_map(|line| line.strip_prefix("module "))
                    .map(|name| name.trim().trim_matches('"').to_owned())
                    .unwrap_or_default(),
                required: text
                    .lines()
                    .filter_map(|line| REQUIRE.captures(line))
                    .map(|found| found[1].to_owned())
                    .collect(),
                level: text
                    .lines()
                    .find_map(|line| Version::parse(GO_LINE.captures(line)?.get(1)?.as_str())),
                vendored: tree.has_foreign(&path("vendor/modules.txt")),
                summed: tree.has(&path("go.sum")),
                manifest,
            }
        })
        .collect()
}

/// How code without any `go.mod` is built: under the name that its own import comments, its tools
/// or its place on a code host give it.
pub(super) fn legacy(facts: &Facts<'_>) -> Legacy {
    let tree = facts.tree;
    let comment = tree
        .ending(".go")
        .filter(|path| !path.contains('/'))
        .find_map(|path| {
            let (line, text) = tree.line(path, &IMPORT_COMMENT)?;
            let import = IMPORT_COMMENT.captures(&text)?[1].to_owned();
            Some((import, Evidence::at(path, line, text)))
        });
    let (import, evidence) = comment.or_else(|| imported(tree)).unwrap_or_else(|| {
        let name = if facts.name.contains('/') {
            facts.name.to_owned()
        } else {
            format!("local/{}", facts.name)
        };
        let import = format!("github.com/{name}");
        (
            import,
            Evidence::of(".", format!("the repository's name is {name}")),
        )
    });
    Legacy {
        import,
        evidence,
        vendored: tree.has_foreign("vendor"),
        lock: tree.first(LEGACY_LOCKS),
    }
}

const LEGACY_LOCKS: &[&str] = &["Gopkg.lock", "glide.lock", "Godeps/Godeps.json"];

/// The path under which the repository's packages import one another: what stands before the name
/// of a folder that is there.
fn imported(tree: &Tree) -> Option<(String, Evidence)> {
    static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^\s*(?:import\s+)?(?:[\w.]+\s+)?"([a-z0-9-]+\.[a-z]+/[^"\s]+)""#)
            .expect("a literal pattern")
    });
    let go: Vec<&str> = tree.ending(".go").collect();
    for path in &go {
        for (at, line) in tree.text(path).unwrap_or_default().lines().enumerate() {
            let Some(found) = IMPORT.captures(line) else {
                continue;
            };
            let parts: Vec<&str> = found[1].split('/').collect();
            // `host/owner/name` and then a folder.
            if parts.len() > 3 {
                let (root, folder) = (parts[..3].join("/"), parts[3..].join("/"));
                let there = go.iter().any(|file| folder_of(file) == folder);
                if there {
                    return Some((root, Evidence::at(*path, at + 1, line.trim())));
                }
            }
        }
    }
    None
}
