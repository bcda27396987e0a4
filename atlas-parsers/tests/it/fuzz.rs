//! No bytes make a parser panic, and prose is no test.

use crate::support::parser_folders;
use atlas_core::{LogParser, LogParserExt};
use atlas_parsers::Parsers;
use proptest::prelude::*;
use std::sync::Arc;

fn all() -> Vec<Arc<dyn LogParser>> {
    let parsers = Parsers::builtin();
    parsers.ids().map(|id| parsers.get(id).unwrap()).collect()
}

/// Each parser with the small logs of its corpus.
fn samples() -> Vec<(Arc<dyn LogParser>, Vec<u8>)> {
    let parsers = Parsers::builtin();
    let mut samples = Vec::new();
    for folder in parser_folders() {
        for path in folder.corpus() {
            let bytes = std::fs::read(path).unwrap();
            if bytes.len() < 20_000 {
                samples.push((parsers.get(&folder.id).unwrap(), bytes));
            }
        }
    }
    samples
}

/// Words of runners and of people, as text that no runner printed would use them.
fn prose() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the", "job", "PASSED", "FAILED", "ok", "error:", "ERROR", "test", "passed", "1", "2",
        "failed", "in", "0.12s", "---", "FAIL", "PASS", "✓", "not", "-", "...", "build", "suite",
        "okay", "then", "skipped", "#", "(3", "tests)", "FAIL:", "=>", "[100%]", "Ran", "a.py",
        "::", "src/x.py", "note:", "done.",
    ]);
    // A line of prose begins with a word that no result line begins with.
    let line = (
        prop::sample::select(vec!["And", "we", "saw", "that", "Build", "I", "today"]),
        prop::collection::vec(word, 0..9),
    )
        .prop_map(|(first, words)| format!("{first} {}", words.join(" ")));
    prop::collection::vec(line, 0..20).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        for parser in all() {
            let log = parser.parse(&bytes);
            prop_assert_eq!(log.parser.as_str(), parser.id());
        }
    }

    #[test]
    fn prose_has_no_tests(text in prose()) {
        for parser in all() {
            let log = parser.parse(text.as_bytes());
            prop_assert!(log.is_empty(), "{} sees {:?}", parser.id(), log.tests());
        }
    }

    #[test]
    fn a_log_may_stop_anywhere(at in 0.0..1.0f64) {
        for (parser, bytes) in samples() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
            let end = (bytes.len() as f64 * at) as usize;
            let log = parser.parse(&bytes[..end]);
            prop_assert!(log.results.iter().all(|r| !r.name.is_empty()));
        }
    }

    #[test]
    fn lines_may_come_in_any_order(seed in any::<u64>()) {
        for (parser, bytes) in samples() {
            let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            let mut state = seed | 1;
            for i in (1..lines.len()).rev() {
                // xorshift: enough to mix lines, the same for the same seed.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                #[expect(clippy::cast_possible_truncation, reason = "taken modulo a small length")]
                lines.swap(i, (state as usize) % (i + 1));
            }
            let log = parser.parse(&lines.join(&b'\n'));
            prop_assert!(log.results.iter().all(|r| !r.name.is_empty()));
        }
    }
}

#[test]
fn hostile_lines_cost_no_more_than_their_length() {
    let started = std::time::Instant::now();
    for unit in [
        " SUBPASSED(",
        "a.py::b ",
        " - ",
        " (",
        "<testsuite a=\"",
        "<testsuite ",
        "<testsuite>",
        "[gw0] ",
        "FAILED a.py::b - ",
        "a (b.c) ... ",
        "<![CDATA[",
    ] {
        let many = unit.repeat((1 << 18) / unit.len());
        let head = "=== test session starts ===\n=== short test summary info ===\n";
        for text in [
            many.clone(),
            format!("a.py::b{many}"),
            format!("{head}FAILED a.py::b[{many}"),
            many.replace(' ', "\n"),
        ] {
            for parser in all() {
                drop(parser.parse(text.as_bytes()));
            }
        }
    }
    // Quadratic work on a quarter of a megabyte takes minutes.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
