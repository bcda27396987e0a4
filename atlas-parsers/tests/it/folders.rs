//! A folder, a registry line and a corpus belong together.

use crate::support::{crate_root, entries, parser_folders};
use atlas_parsers::BUILTIN;
use std::collections::BTreeSet;

#[test]
fn each_folder_is_registered_and_each_parser_has_a_folder() {
    let folders: BTreeSet<String> = parser_folders().into_iter().map(|f| f.id).collect();
    let registered: Vec<&str> = BUILTIN.iter().map(|parser| parser.id()).collect();
    let unique: BTreeSet<String> = registered.iter().map(|id| (*id).to_owned()).collect();
    assert_eq!(
        unique.len(),
        registered.len(),
        "an id twice: {registered:?}"
    );
    assert_eq!(
        folders, unique,
        "folders in src/<language>/<id>/ (left) and lines in registry.rs (right) differ"
    );
}

#[test]
fn each_parser_has_logs_of_known_origin() {
    for folder in parser_folders() {
        let corpus = folder.path.join("corpus");
        let logs = folder.corpus();
        assert!(!logs.is_empty(), "{} has no logs", corpus.display());
        let readme = std::fs::read_to_string(corpus.join("README.md"))
            .unwrap_or_else(|why| panic!("{}/README.md: {why}", corpus.display()));
        for log in logs {
            let stem = log.file_name().unwrap().to_str().unwrap();
            assert!(
                readme.contains(stem),
                "{}/README.md does not say where {stem} comes from",
                corpus.display()
            );
        }
    }
}

#[test]
fn no_snapshot_is_left_without_its_log() {
    for folder in parser_folders() {
        for file in entries(&folder.path.join("corpus")) {
            if file.extension().is_some_and(|end| end == "snap") {
                assert!(
                    folder
                        .corpus()
                        .iter()
                        .any(|log| log.file_stem() == file.file_stem()),
                    "{} has no log beside it",
                    file.strip_prefix(crate_root()).unwrap().display()
                );
            }
        }
    }
}
