//! Which parser of the SWE-bench harness reads a row, shown on the row's own runs.

use atlas_core::{ExitState, Harness, InstanceId, State, TestIds};
use atlas_oracle::{
    CompatInput, CompatRead, CompatRow, CompatStage, EvalType, Resolution, StateRun, grade_compat,
};
use atlas_parsers::{CompatHints, compat_parse, compat_parser_names};
use std::collections::BTreeMap;

/// Atlas's parsers beside those of the harness, version 5, that go by another name.
const RENAMED: &[(&str, &str)] = &[
    ("gtest", "parse_log_googletest"),
    ("test-unit", "parse_log_ruby_unit"),
    ("unittest", "parse_log_django"),
];

/// A parser of the harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reader {
    /// A key of the harness's registry.
    pub(super) parser: &'static str,
    /// Whether After is resolved by it and Before is not, with the row's ids. Some of its readers give
    /// other ids: `parse_log_pytest` cuts them at the first space, `parse_log_cargo` drops those that
    /// have one.
    pub(super) agrees: bool,
    /// `FAIL_TO_PASS` and `PASS_TO_PASS` in ids with which After is resolved and Before is not: the row's
    /// own where it agrees, else those that it reads; absent where it sees no test begin to pass.
    pub(super) lists: Option<[Vec<String>; 2]>,
}

/// The parser of the harness, version 5, for what `parser` of Atlas reads, if it has one.
pub(super) fn reader_of(
    parser: &str,
    (id, repo): (&InstanceId, &str),
    runs: &BTreeMap<State, Vec<StateRun>>,
    lists: [&[String]; 2],
) -> Option<Reader> {
    let log = |state: State| Some(marked(runs.get(&state)?.first()?));
    let (before, after) = (log(State::Before)?, log(State::After)?);
    let renamed = RENAMED.iter().find(|(ours, _)| *ours == parser);
    let name = renamed.map_or_else(
        || format!("parse_log_{parser}"),
        |(_, theirs)| (*theirs).to_owned(),
    );
    let parser = compat_parser_names(Harness::SweBench5)
        .into_iter()
        .find(|known| **known == *name)?;
    let hints = CompatHints {
        instance_id: id.to_string(),
        repo: repo.to_owned(),
        ..CompatHints::default()
    };
    let read = |text: &str| match compat_parse(Harness::SweBench5, parser, text, &hints) {
        Ok(statuses) => CompatRead::Statuses(statuses),
        Err(why) => CompatRead::Raised(why.to_string()),
    };
    let graded = |log: &[u8], [defining, guarding]: [&TestIds; 2]| {
        grade_compat(
            Harness::SweBench5,
            &CompatInput {
                row: CompatRow {
                    instance_id: id.as_str(),
                    repo,
                    fail_to_pass: defining,
                    pass_to_pass: guarding,
                    eval_type: EvalType::PassAndFail,
                },
                patch: Some("gold"),
                log: Some(log),
                instance_log: None,
                stage: CompatStage::Tested,
                read: &read,
            },
        )
    };
    let tells_apart = |lists: [&TestIds; 2]| {
        let is_resolved = |log: &[u8]| graded(log, lists).resolution == Resolution::Full;
        is_resolved(&after) && !is_resolved(&before)
    };
    let [defining, guarding] = lists.map(TestIds::from);
    let agrees = tells_apart([&defining, &guarding]);
    let lists = if agrees {
        Some([defining.to_vec(), guarding.to_vec()])
    } else {
        let states = [&after, &before].map(|log| graded(log, [&defining, &guarding]).statuses);
        Some(own_lists(&states)).filter(|[defining, guarding]| {
            !defining.is_empty() && tells_apart([&defining.into(), &guarding.into()])
        })
    };
    Some(Reader {
        parser,
        agrees,
        lists,
    })
}

/// The tests that pass in After, by whether they pass in Before: those that do not, and those that do.
fn own_lists([after, before]: &[BTreeMap<String, String>; 2]) -> [Vec<String>; 2] {
    let passes = |status: &String| matches!(status.as_str(), "PASSED" | "XFAIL");
    let passing = after.iter().filter(|(_, status)| passes(status));
    let (guarding, defining) = passing
        .map(|(id, _)| id.clone())
        .partition(|id| before.get(id).is_some_and(passes));
    [defining, guarding]
}

/// The log of a state as the harness keeps it.
fn marked(run: &StateRun) -> Vec<u8> {
    let mut log = b"+ : '>>>>> Start Test Output'\n".to_vec();
    log.extend_from_slice(&run.log);
    log.extend_from_slice(b"\n+ : '>>>>> End Test Output'\n");
    if let ExitState::Exited { code } = run.summary.exit {
        log.extend_from_slice(format!(">>>>> Test Exit Code: {code}\n").as_bytes());
    }
    log
}
