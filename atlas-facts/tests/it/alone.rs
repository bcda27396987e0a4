//! No other crate's sources list the lockfiles of package managers.

use atlas_facts::{PACKAGE_FILES, Role};
use std::fs;
use std::path::{Path, PathBuf};

/// A source may name so many lockfiles: its own manager's. More is a table.
const MOST: usize = 2;

/// The lockfiles that a source names outside of comments and tests; in regular expressions too.
fn named(source: &str) -> Vec<&'static str> {
    let (code, _) = source
        .split_once(
            "#[cfg(test)]
mod tests {",
        )
        .unwrap_or((source, ""));
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let code = code.replace('\\', "");
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

#[test]
fn lockfiles_are_listed_here_alone() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for entry in fs::read_dir(own.parent().unwrap()).unwrap() {
        let folder = entry.unwrap().path();
        let source = folder.join("src");
        if folder != own && folder.join("Cargo.toml").is_file() && source.is_dir() {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 100, "{files:?}");
    for path in files {
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
