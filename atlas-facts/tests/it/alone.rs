//! No other crate's sources list the lockfiles of package managers, nor the runners of several languages.

use atlas_facts::{Family, PACKAGE_FILES, Role, family_of_parser};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A source may name so many lockfiles: its own manager's. More is a table.
const MOST: usize = 2;

/// Folders and files that are named for a language hold what is known of its runners.
const OF_LANGUAGES: [&str; 11] = [
    "c",
    "cpp",
    "csharp",
    "go",
    "java",
    "javascript",
    "native",
    "php",
    "python",
    "ruby",
    "rust",
];

/// Sources that name runners' ids, and mean something else, or the runners of somebody else.
const NAMESAKES: [(&str, &str); 8] = [
    (
        "atlas-docker/src/ci/image.rs",
        "images of CI by their names",
    ),
    ("atlas-docker/src/repair/tables.rs", "packages of libraries"),
    (
        "atlas-guard/src/command/mod.rs",
        "programs whose words are read in their own way",
    ),
    ("atlas-guard/src/rules/shadows.rs", "modules of Python"),
    (
        "atlas-parsers/src/compat/names.rs",
        "parsers of released harnesses",
    ),
    (
        "atlas-pipeline/src/evaluate/compat.rs",
        "parsers of released harnesses",
    ),
    (
        "atlas-pipeline/src/evaluate/subject.rs",
        "columns of published rows",
    ),
    ("atlas-source/src/hosts/facts.rs", "words in manifests"),
];

/// What a source says outside of comments and tests.
pub(crate) fn code(source: &str) -> String {
    let (code, _) = source
        .split_once(
            "#[cfg(test)]
mod tests {",
        )
        .unwrap_or((source, ""));
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The lockfiles that a source names outside of comments and tests; in regular expressions too.
fn named(source: &str) -> Vec<&'static str> {
    let code = code(source).replace('\\', "");
    let part = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let is_named = |name: &str| {
        code.match_indices(name).any(|(at, _)| {
            !code[..at].ends_with(part) && !code[at + name.len()..].starts_with(part)
        })
    };
    let locks = PACKAGE_FILES.iter().filter(|file| file.role == Role::Lock);
    locks
        .map(|file| file.name)
        .filter(|name| is_named(name))
        .collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The ids of runners that a source has as texts.
fn runners(source: &str) -> BTreeSet<String> {
    let code = code(source);
    let texts = code
        .lines()
        .flat_map(|line| line.split('"').skip(1).step_by(2));
    texts
        .filter(|text| family_of_parser(text).is_some())
        .map(str::to_owned)
        .collect()
}

/// The sources of all other crates.
pub(crate) fn others() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let crates = own.parent().map(fs::read_dir);
    for entry in crates.into_iter().flatten().flatten().flatten() {
        let folder = entry.path();
        let source = folder.join("src");
        if folder != own && folder.join("Cargo.toml").is_file() && source.is_dir() {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 100, "{files:?}");
    files
}

#[test]
fn runners_are_listed_in_the_folders_of_languages_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut listed = BTreeSet::new();
    for path in others() {
        let place = path.strip_prefix(root).unwrap().display().to_string();
        let mut parts = place.split(['/', '.']);
        let is_of_one = parts.any(|part| OF_LANGUAGES.contains(&part));
        let ids = runners(&fs::read_to_string(&path).unwrap());
        if is_of_one || ids.len() <= MOST {
            continue;
        }
        assert!(
            NAMESAKES.iter().any(|(known, _)| *known == place),
            "{place} names {ids:?}: what is known of a runner stands in its own folder, or in atlas_facts"
        );
        listed.insert(place);
    }
    for (known, _) in NAMESAKES {
        assert!(listed.contains(known), "{known} names no runners any more");
    }
}

#[test]
fn a_list_of_runners_is_found() {
    let list = "const A: [&str; 3] = [\"jest\", \"mocha\", \"a jest\"]; // \"ava\"\n// \"tape\"";
    assert_eq!(
        runners(list).into_iter().collect::<Vec<_>>(),
        ["ava", "jest", "mocha"]
    );
    assert_eq!(family_of_parser("jest"), Some(Family::JavaScript));
}

#[test]
fn lockfiles_are_listed_here_alone() {
    for path in others() {
        let names = named(&fs::read_to_string(&path).unwrap());
        assert!(
            names.len() <= MOST,
            "{} names {names:?}: ask atlas_facts::package_file or lockfiles",
            path.display()
        );
    }
}

#[test]
fn a_list_is_found_as_literals_and_in_a_pattern() {
    let list = r#"const LOCKS: [&str; 3] = ["uv.lock", "yarn.lock", "Cargo.lock"];"#;
    assert_eq!(named(list).len(), 3);
    assert_eq!(named(r"go\.sum | uv\.lock | poetry\.lock").len(), 3);
    assert_eq!(
        named("// uv.lock yarn.lock Cargo.lock\n#[cfg(test)]\nmod tests {\n\"go.sum\"").len(),
        0
    );
    assert_eq!(named("bun.lockb, my-yarn.lock"), ["bun.lockb"]);
}
