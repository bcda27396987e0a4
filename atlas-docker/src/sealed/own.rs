//! What a checkout says of its own packages.

use atlas_facts::{Role, package_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Largest manifest that is read for a package's name.
const MANIFEST_BYTES: u64 = 1 << 20;
/// Largest lockfile that is read.
const LOCK_BYTES: u64 = 64 << 20;

/// The repository's own packages: name as its registry has it -> version, where the manifest says.
pub(super) type Packages = BTreeMap<String, Option<String>>;

/// What a checkout says of its own packages.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) packages: Packages,
    /// The texts of its lockfiles.
    pub(super) locks: Vec<String>,
}

impl Own {
    /// Reads manifests and lockfiles of a checkout, as far as names and versions stand there in plain.
    pub(super) fn read(checkout: &Path) -> Self {
        let mut own = Self::default();
        let skipped: BTreeSet<&str> = ["node_modules", "vendor", ".git", "target"].into();
        let walk = walkdir::WalkDir::new(checkout)
            .max_depth(4)
            .sort_by_file_name();
        let entries = walk
            .into_iter()
            .filter_entry(|entry| {
                entry.depth() == 0
                    || !entry
                        .file_name()
                        .to_str()
                        .is_some_and(|name| skipped.contains(name))
            })
            .flatten()
            .filter(|entry| entry.file_type().is_file());
        for entry in entries {
            let Some(file) = entry.file_name().to_str() else {
                continue;
            };
            let Some(known) = package_file(file) else {
                continue;
            };
            let lock = known.role == Role::Lock;
            let limit = if lock { LOCK_BYTES } else { MANIFEST_BYTES };
            let small = entry.metadata().is_ok_and(|meta| meta.len() <= limit);
            if !(lock || known.role.marks_project()) || !small {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(entry.path()) else {
                continue;
            };
            if lock {
                own.locks.push(text);
            } else if let Some((name, version)) = package(file, &text) {
                own.add(name, version);
            }
        }
        own
    }

    fn add(&mut self, name: String, version: Option<String>) {
        let plain = !name.is_empty() && !name.contains(['\n', '\t', '$', '{', '%']);
        if plain {
            let known = self.packages.entry(name).or_default();
            if known.is_none() {
                *known = version;
            }
        }
    }

    /// Whether a lockfile of the base names this release, which then is no later than the base: a
    /// release of another branch, or one that was made before its number came into the manifest.
    pub(super) fn locks(&self, name: &str, version: &str) -> bool {
        // The version stands in the line of the name or soon after it.
        const LINES: usize = 3;
        self.locks.iter().any(|text| {
            let lines: Vec<&str> = text.lines().collect();
            lines.iter().enumerate().any(|(at, line)| {
                let near = &lines[at..lines.len().min(at + LINES)];
                has(line, name) && near.iter().any(|line| has(line, version))
            })
        })
    }
}

/// Whether a text holds a word that does not go on at either end.
fn has(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || "_.-+".contains(c);
    let ends = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        // Versions may be written with a `v`.
        !before.is_some_and(|c| part(c) && c != 'v') && !after.is_some_and(part)
    };
    !word.is_empty() && text.match_indices(word).any(|(at, _)| ends(at))
}

/// Name and version of the package that a manifest describes.
fn package(file: &str, text: &str) -> Option<(String, Option<String>)> {
    let text_of = |value: &serde_json::Value, key: &str| value[key].as_str().map(str::to_owned);
    match file {
        "package.json" | "composer.json" => {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            Some((text_of(&value, "name")?, text_of(&value, "version")))
        }
        "Cargo.toml" => from_tables(text, &[&["package"], &["workspace", "package"]]),
        "pyproject.toml" => from_tables(text, &[&["project"], &["tool", "poetry"]]),
        "setup.cfg" | "setup.py" => {
            // In a program a bare word is a variable.
            let bare = file == "setup.cfg";
            let name = assigned(text, "name", bare)?;
            Some((name, assigned(text, "version", bare)))
        }
        "go.mod" => {
            let line = text.lines().find_map(|line| line.strip_prefix("module "))?;
            let name = line.split("//").next()?.trim().trim_matches('"');
            Some((name.to_owned(), None))
        }
        "pom.xml" => {
            let top = without(text, "parent");
            let top = ["dependencies", "build", "profiles", "dependencyManagement"]
                .iter()
                .fold(top, |text, tag| without(&text, tag));
            let artifact = element(&top, "artifactId")?;
            let parent = element(text, "parent").unwrap_or_default();
            let group = element(&top, "groupId").or_else(|| element(&parent, "groupId"))?;
            let version = element(&top, "version").or_else(|| element(&parent, "version"));
            Some((format!("{group}:{artifact}"), version))
        }
        other => {
            let stem = other
                .strip_suffix(".gemspec")
                .or_else(|| other.strip_suffix(".csproj"))?;
            let version = assigned(text, "version", false).or_else(|| element(text, "Version"));
            Some((stem.to_owned(), version))
        }
    }
}

fn from_tables(text: &str, tables: &[&[&str]]) -> Option<(String, Option<String>)> {
    let document: toml::Table = text.parse().ok()?;
    let get = |key: &str| {
        tables.iter().find_map(|path| {
            let mut table = &document;
            for part in *path {
                table = table.get(*part)?.as_table()?;
            }
            Some(table.get(key)?.as_str()?.to_owned())
        })
    };
    Some((get("name")?, get("version")))
}

/// The first quoted word, or bare one where those are literals, in `key = word` at the start of a
/// line or after `.` or `(`.
fn assigned(text: &str, key: &str, bare: bool) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.trim_start();
        let rest = match line.split_once(key) {
            Some((before, rest)) if before.is_empty() || before.ends_with(['.', '(']) => rest,
            _ => return None,
        };
        let value = rest.trim_start().strip_prefix('=')?.trim();
        let quoted = value.starts_with(['"', '\'']);
        let value = value.trim_end_matches(',').trim();
        let word = if quoted {
            let quote = value.chars().next()?;
            value[1..].split(quote).next()?
        } else if bare {
            value
        } else {
            return None;
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        (!word.is_empty() && word.chars().all(plain)).then(|| word.to_owned())
    })
}

fn element(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inner, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inner.trim().to_owned())
}

fn without(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(&open) {
        kept.push_str(before);
        rest = after.split_once(&close).map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::Own;

    #[test]
    fn packages_are_named_by_their_manifests() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            (
                "package.json",
                r#"{"name":"@scope/thing","version":"1.2.3"}"#,
            ),
            (
                "sub/pyproject.toml",
                "[project]\nname = \"my-thing\"\ndynamic = [\"version\"]\n",
            ),
            (
                "setup.py",
                "setup(\n    name='old_thing',\n    version=\"0.9\",\n)\n",
            ),
            (
                "crate/Cargo.toml",
                "[package]\nname = \"thing\"\nversion = \"0.1.0\"\n",
            ),
            ("go.mod", "module example.org/x/thing/v2 // why\n"),
            (
                "thing.gemspec",
                "Gem::Specification.new do |s|\n  s.version = Thing::VERSION\nend\n",
            ),
            (
                "pom.xml",
                "<project><parent><groupId>org.x</groupId><artifactId>up</artifactId>\
                 <version>3</version></parent><artifactId>thing</artifactId></project>",
            ),
            ("node_modules/other/package.json", r#"{"name":"other"}"#),
            ("broken/package.json", "{"),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found: Vec<_> = Own::read(folder.path()).packages.into_iter().collect();
        let expected = [
            ("@scope/thing", Some("1.2.3")),
            ("example.org/x/thing/v2", None),
            ("my-thing", None),
            ("old_thing", Some("0.9")),
            ("org.x:thing", Some("3")),
            ("thing", Some("0.1.0")),
        ]
        .map(|(name, version)| (name.to_owned(), version.map(str::to_owned)));
        assert_eq!(found, expected);
    }

    #[test]
    fn releases_that_a_lockfile_of_the_base_names_are_told_apart() {
        for (file, text) in [
            (
                "pnpm-lock.yaml",
                "  /thing@4.0.0-beta.2025:\n    resolution: {}\n",
            ),
            (
                "package-lock.json",
                "\"node_modules/thing\": {\n  \"version\": \"4.0.0-beta.2025\",\n",
            ),
            (
                "Cargo.lock",
                "name = \"thing\"\nversion = \"4.0.0-beta.2025\"\n",
            ),
            ("Gemfile.lock", "    thing (4.0.0-beta.2025)\n"),
            (
                "composer.lock",
                "\"name\": \"thing\",\n\"version\": \"v4.0.0-beta.2025\",\n",
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(file), text).unwrap();
            let own = Own::read(folder.path());
            assert!(own.locks("thing", "4.0.0-beta.2025"), "{file}");
            assert!(!own.locks("thing", "4.0.0-beta.20"), "{file}");
            assert!(!own.locks("thin", "4.0.0-beta.2025"), "{file}");
            assert!(!own.locks("other", "4.0.0-beta.2025"), "{file}");
        }
    }
}
