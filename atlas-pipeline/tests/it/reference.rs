//! The reference in the documentation is what the code says now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference")
}

/// The pages of the reference that are there, but for those that people wrote.
fn made(folder: &Path) -> BTreeSet<String> {
    let files = WalkDir::new(folder.join("commands")).into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    let names = files.map(|entry| {
        let path = entry.path().strip_prefix(folder).unwrap();
        path.to_str().unwrap().to_owned()
    });
    names.collect()
}

/// `ATLAS_UPDATE=1` writes what has changed.
#[test]
fn the_documentation_has_the_reference_of_this_code() {
    let folder = folder();
    let pages = atlas_pipeline::reference();
    let is_update = std::env::var_os("ATLAS_UPDATE").is_some();
    for (name, text) in &pages {
        let path = folder.join(name);
        if is_update {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        let line = there.lines().zip(text.lines()).position(|(a, b)| a != b);
        assert!(
            there == *text,
            "docs/reference/{name} is out of date from line {} on: ATLAS_UPDATE=1 cargo test -p atlas-pipeline \
             --features schema --test it -- reference",
            line.unwrap_or_else(|| there.lines().count().min(text.lines().count())) + 1
        );
    }
    for name in made(&folder) {
        if !pages.contains_key(&name) && is_update {
            std::fs::remove_file(folder.join(&name)).unwrap();
        } else {
            assert!(
                pages.contains_key(&name),
                "docs/reference/{name} is of no command"
            );
        }
    }
}

#[test]
fn every_key_and_every_option_is_explained() {
    let pages = atlas_pipeline::reference();
    let commands = pages
        .iter()
        .filter(|(name, _)| name.starts_with("commands/"));
    let mut options = 0;
    for (name, text) in commands {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("## "));
        while let Some(line) = lines.next() {
            if line.starts_with('#') && line.contains('`') {
                options += 1;
                let about = lines.by_ref().find(|line| !line.is_empty());
                let is_explained =
                    about.is_some_and(|about| !about.starts_with('#') && about.len() > 8);
                assert!(is_explained, "{name}: {line} is not explained: {about:?}");
            }
        }
    }
    assert!(options > 200, "{options}");
    let keys: Vec<&str> = pages["configuration.md"]
        .lines()
        .filter(|line| line.starts_with("| <span"))
        .collect();
    for key in &keys {
        let cells: Vec<&str> = key.split(" | ").collect();
        assert!(
            cells.len() >= 3 && cells[2].trim_end_matches('|').trim().len() > 8,
            "{key}"
        );
    }
    for name in [
        "engine.docker_host",
        "models.NAME.provider",
        "run.publish.folder",
        "source.filters.preset",
    ] {
        let id = format!("id=\"{name}\"");
        assert!(keys.iter().any(|key| key.contains(&id)), "no {name}");
    }
}

/// The schema and the reader agree about a file that uses much of it.
#[test]
fn the_schema_knows_the_keys_that_are_read() {
    let schema: serde_json::Value =
        serde_json::from_str(&atlas_pipeline::reference()["atlas.schema.json"]).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let properties = schema["properties"].as_object().unwrap();
    for name in properties.keys() {
        // A table that is empty is one, a list or a text is refused for what it is, but none is unknown.
        let read = atlas_pipeline::Config::parse(&format!("[{name}]\n"), "atlas.toml");
        if let Err(why) = read {
            assert!(!why.chain().contains("unknown field"), "{}", why.chain());
        }
    }
}
