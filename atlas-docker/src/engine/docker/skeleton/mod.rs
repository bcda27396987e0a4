//! What dependencies can be installed from before the sources are there: manifests, lockfiles and
//! the few files without which tools refuse to read them.
//!
//! In an image it stands below the sources: two commits of one repository with the same manifests
//! share the layer in which their dependencies were fetched and compiled.

mod go;
mod maven;

use atlas_facts::package_file;
use std::collections::BTreeMap;
use std::path::Path;

/// Largest file that is taken.
const MOST: u64 = 4 << 20;

/// How deep manifests are looked for.
const DEPTH: usize = 5;

/// Path -> content, of a checkout.
pub(super) fn skeleton(checkout: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut crates = Vec::new();
    let walk = walkdir::WalkDir::new(checkout)
        .max_depth(DEPTH)
        .sort_by_file_name();
    let entries = walk
        .into_iter()
        .filter_entry(|entry| {
            let skipped = [".git", "node_modules", "target", "fixtures", "testdata"];
            entry.depth() == 0 || !skipped.iter().any(|name| entry.file_name() == *name)
        })
        .flatten()
        .filter(|entry| entry.file_type().is_file());
    for entry in entries {
        let inside = entry
            .path()
            .strip_prefix(checkout)
            .ok()
            .and_then(Path::to_str);
        let (Some(path), Some(name)) = (inside, entry.file_name().to_str()) else {
            continue;
        };
        let lower = name.to_lowercase();
        // Named by manifests, and only looked for: their text is no one's dependency.
        let stub = entry.depth() == 1
            && [
                "readme",
                "license",
                "licence",
                "copying",
                "changelog",
                "changes",
                "history",
            ]
            .iter()
            .any(|start| lower.starts_with(start));
        let manifest = package_file(path).is_some_and(|file| file.installs_first)
            || name == "__init__.py" && entry.depth() <= 3;
        if name == "Cargo.toml" {
            crates.push(path.to_owned());
        }
        let bytes = if stub {
            Vec::new()
        } else if manifest && entry.metadata().is_ok_and(|meta| meta.len() <= MOST) {
            match std::fs::read(entry.path()) {
                Ok(bytes) if name == "__init__.py" => facts(&bytes),
                Ok(bytes) => bytes,
                Err(_) => continue,
            }
        } else {
            continue;
        };
        files.insert(path.to_owned(), bytes);
    }
    for manifest in crates {
        let text = String::from_utf8_lossy(&files[&manifest]).into_owned();
        let folder = manifest.trim_end_matches("Cargo.toml");
        targets(checkout, folder, &text, &mut files);
    }
    go::imports(checkout, &mut files);
    maven::sources(checkout, &mut files);
    files
}

/// What a build reads of a Python package's own module: the text that it begins with, and what it says of
/// itself in plain values, as `__version__ = "1.2"`. Its code is nobody's dependency, and changes with every other commit.
fn facts(module: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(module);
    let mut kept = String::new();
    let begin = text.trim_start();
    for quote in ["\"\"\"", "'''"] {
        let said = begin
            .strip_prefix(quote)
            .and_then(|rest| rest.split_once(quote));
        if let Some((said, _)) = said {
            kept.extend([quote, said, quote, "\n"]);
        }
    }
    let plain = |value: &str| {
        let value = value.split_once(" #").map_or(value, |(value, _)| value);
        let value = value.trim();
        let quoted = |quote: char| {
            let inner = value.strip_prefix(quote);
            let inner = inner.and_then(|rest| rest.strip_suffix(quote));
            inner.is_some_and(|inner| !inner.contains([quote, '\\']))
        };
        let numbers = |c: char| c.is_ascii_digit() || "()., ".contains(c);
        quoted('"') || quoted('\'') || !value.is_empty() && value.chars().all(numbers)
    };
    for line in text.lines() {
        let named = line.split_once('=').is_some_and(|(name, value)| {
            let name = name.split(':').next().unwrap_or(name).trim_end();
            let dunder = name.starts_with("__") && name.ends_with("__");
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            (dunder || name.eq_ignore_ascii_case("version"))
                && name.chars().all(word)
                && plain(value)
        });
        if named {
            kept.extend([line, "\n"]);
        }
    }
    kept.into_bytes()
}

/// Roots of a crate's targets, as empty programs: without them Cargo refuses the manifest. Those
/// it finds by itself are needed where a manifest names them.
fn targets(checkout: &Path, folder: &str, manifest: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    let mut add = |path: String| {
        if checkout.join(&path).is_file() {
            files.insert(path, b"fn main() {}\n".to_vec());
        }
    };
    for own in ["src/lib.rs", "src/main.rs", "build.rs"] {
        add(format!("{folder}{own}"));
    }
    for word in manifest.split('"').skip(1).step_by(2) {
        if Path::new(word).extension().is_some_and(|end| end == "rs") && !word.contains("..") {
            add(format!("{folder}{word}"));
        } else if word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        {
            for kind in ["src/bin", "tests", "benches", "examples"] {
                add(format!("{folder}{kind}/{word}.rs"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::skeleton;

    #[test]
    fn of_a_package_s_module_only_what_it_says_of_itself_counts() {
        let said = "\"\"\"A thing.\n\nMore.\n\"\"\"\n";
        let facts = "__version__: str = '1.2'  # now\nVERSION = (1, 2)\n";
        let code = "__all__ = ['b']\n__date__ = today()\n\ndef f():\n    __x__ = 1\n";
        let read = |text: &str| String::from_utf8(super::facts(text.as_bytes())).unwrap();
        let kept = read(&format!("{said}from .a import b\n{facts}{code}"));
        assert_eq!(kept, format!("{said}{facts}"));
        assert_eq!(read("import x\n"), "");
        assert_eq!(read("\"\"\"not ended"), "");
    }

    #[test]
    fn sources_do_not_change_it_and_manifests_do() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let manifest =
            "[package]\nname = \"x\"\n[[test]]\nname = \"one\"\n[[bench]]\npath = \"b/c.rs\"\n";
        for (path, text) in [
            ("Cargo.toml", manifest),
            ("src/lib.rs", "pub fn x() {}"),
            ("src/other.rs", "fn y() {}"),
            ("tests/one.rs", "a"),
            ("tests/two.rs", "b"),
            ("b/c.rs", "c"),
            ("README.md", "words"),
            ("requirements/test.txt", "pytest\n"),
            (".git/config", "[core]"),
            (".yarn/plugins/@yarnpkg/plugin-x.cjs", "module.exports = {}"),
            (".yarn/patches/y-npm-1.patch", "diff"),
            (".yarn/cache/y.zip", "PK"),
        ] {
            write(path, text);
        }
        let first = skeleton(folder.path());
        let names: Vec<_> = first.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                ".yarn/patches/y-npm-1.patch",
                ".yarn/plugins/@yarnpkg/plugin-x.cjs",
                "Cargo.toml",
                "README.md",
                "b/c.rs",
                "requirements/test.txt",
                "src/lib.rs",
                "tests/one.rs"
            ]
        );
        for (path, text) in [
            ("src/lib.rs", "new"),
            ("README.md", "new"),
            ("src/new.rs", "new"),
        ] {
            write(path, text);
        }
        assert_eq!(skeleton(folder.path()), first);
        write("Cargo.toml", "[package]\nname = \"y\"\n");
        assert_ne!(skeleton(folder.path()), first);
    }
}
