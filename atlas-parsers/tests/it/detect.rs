//! Which runner printed a log.

use crate::support::{crate_root, entries, name, parser_folders};
use atlas_parsers::{Certainty, Hints, Parsers, detect};

#[test]
fn each_corpus_log_is_known_or_unknown_but_not_anothers() {
    for folder in parser_folders() {
        for path in folder.corpus() {
            let log = std::fs::read(&path).unwrap();
            let found = detect(&log, &Hints::default());
            assert!(
                found.parser.as_deref().is_none_or(|id| id == folder.id),
                "{}: {found:?}",
                path.display()
            );
        }
    }
}

#[test]
fn marks_beat_the_command_and_the_command_beats_the_language() {
    let log = b"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n";
    let hints = Hints {
        command: Some("make check && cargo test"),
        language: Some("rust"),
    };
    let found = detect(log, &hints);
    assert_eq!(found.parser.as_deref(), Some("gotest"));
    assert_eq!(found.confidence, Certainty::Certain);

    let silent = detect(b"nothing to see\n", &hints);
    assert_eq!(silent.parser.as_deref(), Some("cargo"));
    assert_eq!(silent.confidence, Certainty::Likely);

    let language = Hints {
        command: None,
        language: Some("python"),
    };
    let unknown = detect(b"nothing to see\n", &language);
    assert_eq!(
        (unknown.parser, unknown.confidence),
        (None, Certainty::Unknown)
    );
}

#[test]
fn two_runners_in_one_log_are_not_guessed() {
    let log = b"ok  \texample.com/a\t0.01s\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    assert_eq!(detect(log, &Hints::default()).parser, None);
    let hints = Hints {
        command: Some("go test ./..."),
        language: None,
    };
    assert_eq!(detect(log, &hints).parser.as_deref(), Some("gotest"));
}

#[test]
fn the_corpus_beside_the_workspace_is_detected() {
    let shared = crate_root().join("../../shared/corpus");
    let parsers = Parsers::builtin();
    let mut wrong = Vec::new();
    for framework in entries(&shared) {
        let id = name(&framework);
        let ours = parsers.get(&id).is_ok();
        for case in entries(&framework) {
            let (Ok(log), Ok(meta)) = (
                std::fs::read(case.join("log.txt")),
                std::fs::read(case.join("meta.json")),
            ) else {
                continue;
            };
            let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
            let hints = Hints {
                command: meta["command"].as_str(),
                language: None,
            };
            let found = detect(&log, &hints);
            // Without a parser of its own, a log may look like that of the runner below it.
            let right = !ours || found.parser.as_deref() == Some(id.as_str());
            if !right {
                wrong.push(format!("{id}/{}: {found:?}", name(&case)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
