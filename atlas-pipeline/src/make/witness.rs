//! The second witness of the three runs: the runner's structured report beside its console.

use crate::store::{write_atomically, write_json};
use atlas_core::{Environment, EnvironmentPlan, Error, InstanceId, State};
use atlas_oracle::StateRun;
use atlas_parsers::BUILTIN;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What the structured reports of the three runs say beside what was read from the console.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SecondWitness {
    /// The report's file name below `$ATLAS_OUT`; absent where the plan asks the runner for none.
    pub file: Option<String>,
    /// Why there is no second witness, in one sentence; absent where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_none: Option<String>,
    /// Runs of a state that left the report.
    pub runs: usize,
    /// Tests that these reports name, summed over the runs.
    pub tests: usize,
    /// Where console and report differ, each with its state; at most 20 a state. Tests that are
    /// contradicted are in neither list.
    pub differences: Vec<String>,
}

/// Sums up the agreement of the first run of each state.
pub(super) fn second_witness(
    environment: &Environment,
    runs: &BTreeMap<State, Vec<StateRun>>,
) -> SecondWitness {
    let mut found = SecondWitness {
        file: environment
            .plan
            .report
            .as_ref()
            .map(|spec| spec.file.clone()),
        ..SecondWitness::default()
    };
    for (state, run) in firsts(runs) {
        let Some(report) = &run.summary.report else {
            continue;
        };
        found.runs += 1;
        found.tests += report.report_tests;
        let differences = report.differences.iter();
        found
            .differences
            .extend(differences.map(|said| format!("{state}: {said}")));
    }
    if found.runs == 0 {
        found.why_none = Some(why_none(&environment.plan));
    }
    found
}

/// Why a plan's runs have no second witness.
fn why_none(plan: &EnvironmentPlan) -> String {
    if let Some(spec) = &plan.report {
        return format!("no run left `{}`, which the command asks for", spec.file);
    }
    let parser = plan.log_parser_name.as_str();
    if parser.contains('+') {
        return format!(
            "the command starts several runners ({parser}), and a report is one runner's"
        );
    }
    let starts = [" || code=$?", " || failed=1"].map(|end| plan.test_cmd.matches(end).count());
    if starts.iter().any(|starts| *starts > 1) {
        return "the command starts the runner several times, and each would write over the report before it".to_owned();
    }
    let runner = BUILTIN.iter().find(|runner| runner.id() == parser);
    let why = runner.map_or("", |runner| runner.about().without_report);
    if why.is_empty() {
        return "nothing in the command is known to take an option for a report: it is a script, or starts the tests' files themselves".to_owned();
    }
    why.to_owned()
}

/// What a folder of differences holds beside the two readings' texts.
#[derive(Debug, Serialize)]
struct Case<'a> {
    instance_id: &'a InstanceId,
    state: State,
    log_parser: &'a str,
    report_parser: &'a str,
    test_cmd: &'a str,
    base_image: &'a str,
    differences: &'a [String],
}

/// Keeps each run whose console and report differ as a folder of its own, `<instance>.<state>`: `log.txt`,
/// the report and `meta.json`. An agreeing run leaves none, and removes one that is there.
pub(super) fn keep_differences(
    folder: &Path,
    instance_id: &InstanceId,
    environment: &Environment,
    runs: &BTreeMap<State, Vec<StateRun>>,
) -> Result<(), Error> {
    let plan = &environment.plan;
    for (state, run) in firsts(runs) {
        let place = folder.join(format!("{instance_id}.{state}"));
        let differing = run.summary.report.as_ref().filter(|report| !report.agrees);
        let (Some(report), Some(bytes)) = (differing, &run.report) else {
            match std::fs::remove_dir_all(&place) {
                Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &place, why));
                }
                _ => continue,
            }
        };
        write_atomically(&place.join("log.txt"), &run.log)?;
        write_atomically(&place.join(&report.file), bytes)?;
        let case = Case {
            instance_id,
            state,
            log_parser: &plan.log_parser_name,
            report_parser: &report.parser,
            test_cmd: &plan.test_cmd,
            base_image: &plan.base_image,
            differences: &report.differences,
        };
        write_json(&place.join("meta.json"), &case)?;
    }
    Ok(())
}

fn firsts(runs: &BTreeMap<State, Vec<StateRun>>) -> impl Iterator<Item = (State, &StateRun)> {
    runs.iter()
        .filter_map(|(state, runs)| Some((*state, runs.first()?)))
}

#[cfg(test)]
mod tests {
    use super::{keep_differences, second_witness};
    use atlas_core::{
        Environment, EnvironmentLock, EnvironmentPlan, ExitState, ImageRef, Isolation,
        ParsedLogBuilder, ReportAgreement, ReportSpec, ResourceUsage, RunOutcome, State,
        StateSummary,
    };
    use atlas_oracle::{Disputes, StateRun};
    use std::collections::BTreeMap;

    fn run(differences: &[&str]) -> StateRun {
        let parsed = ParsedLogBuilder::new("vitest").finish(RunOutcome::Completed);
        StateRun {
            log: b"console".to_vec(),
            report: Some(b"{}".to_vec()),
            summary: StateSummary {
                exit: ExitState::Exited { code: 0 },
                outcome: parsed.outcome,
                counts: BTreeMap::new(),
                totals: None,
                consistent: None,
                report: Some(ReportAgreement {
                    file: "vitest.json".to_owned(),
                    parser: "vitest".to_owned(),
                    console_tests: 4,
                    report_tests: 4,
                    agrees: differences.is_empty(),
                    differences: differences.iter().map(|&said| said.to_owned()).collect(),
                }),
                build: None,
                isolation: Isolation::default(),
                seconds: 0.0,
                overhead_seconds: 0.0,
                usage: ResourceUsage::default(),
            },
            parsed,
            disputes: Disputes::default(),
            faults: Vec::new(),
            tampering: Vec::new(),
        }
    }

    fn environment() -> Environment {
        Environment {
            plan: EnvironmentPlan {
                log_parser_name: "vitest".to_owned(),
                report: Some(ReportSpec::new("vitest.json", "vitest")),
                ..EnvironmentPlan::default()
            },
            dockerfile: String::new(),
            image: ImageRef::Other {
                name: "none".to_owned(),
            },
            lock: EnvironmentLock::default(),
            attempts: Vec::new(),
        }
    }

    #[test]
    fn where_there_is_no_second_witness_one_sentence_says_why() {
        let said = |parser: &str, command: &str, report: Option<&str>| {
            let mut environment = environment();
            environment.plan.log_parser_name = parser.to_owned();
            environment.plan.test_cmd = command.to_owned();
            environment.plan.report = report.map(|file| ReportSpec::new(file, "junit"));
            second_witness(&environment, &BTreeMap::new())
                .why_none
                .unwrap()
        };
        for (parser, command, report, expected) in [
            ("cargo", "cargo test", None, "stable cargo"),
            (
                "pytest",
                "python -m pytest",
                Some("junit.xml"),
                "no run left `junit.xml`",
            ),
            (
                "jest+mocha",
                "( jest ) || code=$?; ( mocha ) || code=$?",
                None,
                "several runners (jest+mocha)",
            ),
            (
                "mocha",
                "( code=0; ( mocha a ) || code=$?; ( mocha b ) || code=$?; exit $code )",
                None,
                "several times",
            ),
            (
                "rspec",
                "( failed=0; ( cd a && rspec ) || failed=1; ( cd b && rspec ) || failed=1 )",
                None,
                "several times",
            ),
            ("mocha", "node test/all.js", None, "it is a script, or"),
        ] {
            let why = said(parser, command, report);
            assert!(why.contains(expected), "{parser} `{command}`: {why}");
        }
        let runs = BTreeMap::from([(State::Before, vec![run(&[])])]);
        let found = second_witness(&environment(), &runs);
        assert_eq!((found.runs, found.why_none), (1, None));
    }

    #[test]
    fn a_run_that_differs_is_kept_and_one_that_agrees_is_not() {
        let place = tempfile::tempdir().unwrap();
        let id = "a__b-1".parse().unwrap();
        let differing = ["x: console 1 passing, report 1 failing"];
        let runs = BTreeMap::from([
            (State::Before, vec![run(&[])]),
            (State::After, vec![run(&differing)]),
        ]);
        let found = second_witness(&environment(), &runs);
        assert_eq!((found.runs, found.tests), (2, 8));
        assert_eq!(
            found.differences,
            ["after: x: console 1 passing, report 1 failing"]
        );

        keep_differences(place.path(), &id, &environment(), &runs).unwrap();
        let kept = place.path().join("a__b-1.after");
        assert!(!place.path().join("a__b-1.before").exists());
        assert_eq!(std::fs::read(kept.join("log.txt")).unwrap(), b"console");
        assert_eq!(std::fs::read(kept.join("vitest.json")).unwrap(), b"{}");
        let meta = std::fs::read_to_string(kept.join("meta.json")).unwrap();
        let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
        assert_eq!(meta["differences"][0], differing[0]);
        assert_eq!(meta["state"], "after");

        let mended = BTreeMap::from([(State::After, vec![run(&[])])]);
        keep_differences(place.path(), &id, &environment(), &mended).unwrap();
        assert!(!kept.exists());
    }
}
