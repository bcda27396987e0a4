//! Every log in a parser's corpus, with a snapshot of what is read from it.

use crate::support::parser_folders;
use atlas_core::{LogParserExt, ParsedLog, TestStatus};
use atlas_parsers::Parsers;
use serde::Serialize;
use std::collections::BTreeMap;

/// Logs above this size are not passed through the contract, which is quadratic in its sample.
const SMALL: usize = 8 << 10;

/// What a person wants to review of a parsed log.
#[derive(Serialize)]
struct Read<'a> {
    outcome: atlas_core::RunOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<atlas_core::Totals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consistent: Option<bool>,
    tests: BTreeMap<&'a str, TestStatus>,
    /// Only where it says more than `tests`.
    #[serde(skip_serializing_if = "Option::is_none")]
    qualified: Option<BTreeMap<&'a str, TestStatus>>,
    /// Module -> number of its tests.
    modules: BTreeMap<&'a str, usize>,
    #[serde(skip_serializing_if = "is_zero")]
    duplicates: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modules_not_loaded: Vec<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    in_flight: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl<'a> Read<'a> {
    fn of(log: &'a ParsedLog) -> Self {
        let tests = log.tests();
        let qualified = log.qualified();
        let mut modules = BTreeMap::new();
        for result in &log.results {
            *modules.entry(result.module).or_default() += 1;
        }
        let mut lost = Vec::new();
        for module in &log.modules_not_loaded {
            lost.push(format!("{}: {:?}", module.module, module.reason));
            lost.extend(module.lines.iter().map(|proof| {
                format!(
                    "  {}:{}: {}",
                    proof.source,
                    proof.line.unwrap_or(0),
                    proof.text
                )
            }));
        }
        Self {
            outcome: log.outcome,
            totals: log.totals,
            consistent: log.consistent,
            qualified: (qualified != tests).then_some(qualified),
            tests,
            modules,
            duplicates: log.duplicates().count,
            modules_not_loaded: lost,
            in_flight: &log.in_flight,
            warnings: log
                .warnings
                .iter()
                .map(|w| format!("{}: {}", w.line.unwrap_or(0), w.text))
                .collect(),
        }
    }
}

#[test]
fn each_log_is_read_as_its_snapshot_says() {
    let parsers = Parsers::builtin();
    for folder in parser_folders() {
        let parser = parsers.get(&folder.id).unwrap();
        for path in folder.corpus() {
            let bytes = std::fs::read(&path).unwrap();
            let log = parser.parse(&bytes);
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path(path.parent().unwrap());
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| {
                insta::assert_json_snapshot!(
                    path.file_stem().unwrap().to_str().unwrap(),
                    Read::of(&log)
                );
            });
        }
    }
}

#[test]
fn each_parser_keeps_the_contract_on_its_own_logs() {
    let parsers = Parsers::builtin();
    for folder in parser_folders() {
        let parser = parsers.get(&folder.id).unwrap();
        let mut small: Vec<Vec<u8>> = folder
            .corpus()
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .filter(|bytes| bytes.len() <= SMALL)
            .collect();
        small.sort_by_key(Vec::len);
        // The work is quadratic: the fuzz tests cut the others.
        for bytes in small.iter().rev().take(2) {
            atlas_core::testing::log_parser_contract(&parser, bytes);
        }
        let checked = small.len();
        assert!(checked > 0, "{} has no log under {SMALL} bytes", folder.id);
    }
}

#[test]
fn a_log_cut_into_pieces_reads_the_same() {
    let parsers = Parsers::builtin();
    for folder in parser_folders() {
        let parser = parsers.get(&folder.id).unwrap();
        for path in folder.corpus() {
            let bytes = std::fs::read(&path).unwrap();
            let mut reader = parser.start();
            for piece in bytes.chunks(997) {
                reader.feed(piece);
            }
            assert_eq!(reader.finish(), parser.parse(&bytes), "{}", path.display());
        }
    }
}
