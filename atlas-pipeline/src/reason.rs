//! Why a pull request, an environment or an instance was rejected, in the form of [`Reason`].

use crate::make::MakeOutcome;
use atlas_core::{
    Decision, Evidence, ExitState, Fault, LostReason, Reason, RunOutcome, Severity, State, Verdict,
    telling, telling_lines,
};
use atlas_oracle::StateRun;
use std::collections::BTreeMap;

/// The most lines of a log that are kept for a reason.
const LINES: usize = 5;

const PLAN: &str = "look at attempts.json and environment/Dockerfile; give a plan of your own (`[plan] file` in atlas.toml), \
                    or a model that mends it (--model)";

/// Why `make` has no instance. `what` is the first verdict's own sentence.
pub(crate) fn of_make(
    outcome: MakeOutcome,
    what: &str,
    lines: Vec<Evidence>,
    runs: Option<&BTreeMap<State, Vec<StateRun>>>,
) -> String {
    let state = runs.and_then(|runs| to_blame(outcome, what, runs));
    let failing = runs.and_then(|runs| failing_in_after(what, runs));
    let killed = runs.map(killed_for_memory).unwrap_or_default();
    let found = match (failing, state) {
        (Some((test, run)), _) => of_test(test, run),
        (None, Some((state, run))) => of_run(state, run),
        (None, None) => Vec::new(),
    };
    let (fault, advice) = match outcome {
        MakeOutcome::RejectNothingToTest => (
            Fault::PullRequest,
            "choose a pull request that changes tests and sources; split.json says how each file was taken",
        ),
        MakeOutcome::RejectEntangled => (
            Fault::PullRequest,
            "choose another pull request, or base and head commits between which tests and solution are apart",
        ),
        MakeOutcome::RejectNoFailToPass | MakeOutcome::Instance => (
            Fault::PullRequest,
            "look at oracle.json for how each test ended: its tests may need something else to run, or test \
             what worked before",
        ),
        MakeOutcome::RejectAfterBroken => (
            Fault::PullRequest,
            "look at after.log: give the head that was merged, or a plan with what the pull request newly needs",
        ),
        MakeOutcome::EnvironmentInvalid | MakeOutcome::NoEvidence if !killed.is_empty() => (
            Fault::Environment,
            "raise limits.memory_bytes in atlas.toml: the run took more memory than it had",
        ),
        MakeOutcome::EnvironmentInvalid | MakeOutcome::NoEvidence if failing.is_some() => {
            match failing {
                Some((_, run)) if run.is_unfinished() => (
                    Fault::Environment,
                    "raise limits.seconds in atlas.toml: a run was cut short",
                ),
                _ => (
                    Fault::Unknown,
                    "look at what that test says in after.log: give a plan with what it needs (`[plan] file` in \
                     atlas.toml), or leave the pull request out",
                ),
            }
        }
        MakeOutcome::EnvironmentInvalid => (Fault::Environment, PLAN),
        MakeOutcome::NoEvidence => match state.map(|(_, run)| run) {
            Some(run) if run.is_unfinished() => (
                Fault::Environment,
                "raise limits.seconds or limits.memory_bytes in atlas.toml: a run was cut short",
            ),
            _ if runs.is_some_and(only_before_is_not_built) => (
                Fault::PullRequest,
                "choose another pull request: what its tests need to be built tells none of them from the others",
            ),
            _ if runs.is_some_and(tests_were_read) => (
                Fault::Environment,
                "look at oracle.json: give a plan whose test command runs what the test patch changes (`[plan] file` \
                 in atlas.toml)",
            ),
            _ => (
                Fault::Atlas,
                "look at the logs: give a parser that reads them (--parser FILE, `atlas synth-parser`)",
            ),
        },
    };
    // Lines of a log that were concluded from and tell of an error say most, then the state's own log.
    let tells = |line: &Evidence| line.line.is_some() && telling(&line.text) > 1;
    let concluded: Vec<Evidence> = lines.iter().filter(|line| tells(line)).cloned().collect();
    let lines = match (concluded.is_empty(), found.is_empty()) {
        (false, _) if failing.is_none() => concluded,
        (_, false) => found,
        (_, true) => lines,
    };
    let lines = match outcome {
        MakeOutcome::EnvironmentInvalid | MakeOutcome::NoEvidence => [killed, lines].concat(),
        _ => lines,
    };
    reason(what, lines, fault, advice)
}

/// A line that names the states whose runs took more memory than they had.
fn killed_for_memory(runs: &BTreeMap<State, Vec<StateRun>>) -> Vec<Evidence> {
    let is_killed = |run: &StateRun| run.summary.exit == ExitState::OutOfMemory;
    let of: Vec<&str> = runs
        .iter()
        .filter(|(_, runs)| runs.iter().any(is_killed))
        .map(|(state, _)| state.as_str())
        .collect();
    if of.is_empty() {
        return Vec::new();
    }
    let said = "killed for its memory, which limits.memory_bytes bounds";
    vec![Evidence::of(format!("the run of {}", of.join(", ")), said)]
}

/// The test that a sentence begins with, where it fails in After.
fn failing_in_after<'a>(
    what: &str,
    runs: &'a BTreeMap<State, Vec<StateRun>>,
) -> Option<(&'a str, &'a StateRun)> {
    let run = runs.get(&State::After)?.first()?;
    let what = what.strip_prefix('`')?;
    let mut results = run.parsed.results.iter();
    let test = results.find(|test| {
        let rest = what.strip_prefix(test.name);
        test.status.is_failing() && rest.is_some_and(|rest| rest.starts_with('`'))
    })?;
    Some((test.name, run))
}

/// What the log of After says where it names a test that fails in it.
fn of_test(failing: &str, run: &StateRun) -> Vec<Evidence> {
    /// So far behind the name a message is looked for.
    const NEAR: usize = 60;
    let text = String::from_utf8_lossy(&run.log);
    let lines: Vec<&str> = text.lines().collect();
    // The last part of an id, in whatever way a runner joins them.
    let short = failing.rsplit("::").next().unwrap_or(failing);
    let short = short.rsplit(" > ").next().unwrap_or(short);
    let behind = |at: usize| {
        let near = lines.iter().enumerate().skip(at).take(NEAR);
        let told = near.filter(|(_, line)| telling(line) > 1);
        told.take(LINES)
            .map(|(at, line)| Evidence::at("after.log", at + 1, line.trim()))
            .collect::<Vec<_>>()
    };
    let named = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains(short));
    // An event holds the test's name and its message in one line.
    let mut events = named.clone();
    if let Some((at, event)) = events.find(|(_, line)| line.starts_with("##teamcity[testFailed")) {
        return vec![Evidence::at("after.log", at + 1, event.trim())];
    }
    let found = named
        .map(|(at, _)| behind(at))
        .find(|found| !found.is_empty());
    found.unwrap_or_else(|| of_run(State::After, run))
}

/// Why there is no environment.
pub(crate) fn of_build(what: &str, fault: Fault, lines: Vec<Evidence>) -> String {
    let advice = match fault {
        Fault::Repository | Fault::Atlas => {
            "name its language (`[plan] language` in atlas.toml), or give a plan of your own (`[plan] file`)"
        }
        _ => PLAN,
    };
    reason(what, lines, fault, advice)
}

/// Why nothing was seen to run in a new environment.
pub(crate) fn nothing_ran(what: &str, log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let lines = telling_lines("base.log", &text, None, LINES);
    reason(what, lines, Fault::Environment, PLAN)
}

/// Why a file of tests that went to the solution's side leaves nothing to conclude.
pub(crate) fn of_misplaced(file: &str, test: &str) -> String {
    let what = format!(
        "After runs `{test}` of `{file}`, whose change counts as the solution's, because no rule knows this file as one of \
         tests: Before did not have it"
    );
    let advice = "look at split.json, and leave the pull request out";
    reason(&what, Vec::new(), Fault::Atlas, advice)
}

/// Why an instance did not pass its gates: the first that stands in the way.
pub(crate) fn of_gates(verdicts: &[Verdict]) -> Option<String> {
    let stops = [Decision::Reject, Decision::Repair, Decision::NoEvidence];
    let verdict = stops
        .iter()
        .find_map(|stop| verdicts.iter().find(|verdict| verdict.decision == *stop))?;
    let finding = verdict
        .findings
        .iter()
        .max_by_key(|finding| finding.severity);
    let gate = verdict.validator.as_str();
    let (fault, advice) = match gate {
        "integrity" => (
            Fault::PullRequest,
            "take the solution out of the statement or the environment, and validate again",
        ),
        "test_run" | "environment_determinism" => (Fault::Environment, PLAN),
        "oracle_consistency" => (
            Fault::Repository,
            "leave its flaky tests out (--set-aside-flaky), or raise limits.seconds where runs were cut short",
        ),
        "certificate" => (
            Fault::Atlas,
            "give a parser that reads the row's logs (--parser FILE, `atlas synth-parser`)",
        ),
        _ => (
            Fault::PullRequest,
            "make the row anew (`atlas make`), or leave it out",
        ),
    };
    let what = finding.map_or_else(
        || format!("{gate}: nothing to decide on"),
        |finding| format!("{gate}: {}", finding.message),
    );
    let is_fatal = |finding: &&atlas_core::Finding| finding.severity == Severity::Fatal;
    let lines = finding.filter(is_fatal).or(finding);
    let lines = lines.map_or_else(Vec::new, |finding| finding.evidence.clone());
    Some(reason(&what, lines, fault, advice))
}

fn reason(what: &str, lines: Vec<Evidence>, fault: Fault, advice: &str) -> String {
    let reason = Reason {
        what: what.to_owned(),
        lines,
        fault,
        advice: advice.to_owned(),
    };
    reason.to_string()
}

/// Whether the log of each state names tests.
fn tests_were_read(runs: &BTreeMap<State, Vec<StateRun>>) -> bool {
    let named = |runs: &Vec<StateRun>| runs.iter().all(|run| !run.parsed.results.is_empty());
    runs.len() == State::ALL.len() && runs.values().all(named)
}

/// Whether modules do not build or load in Before that do in Base and After.
fn only_before_is_not_built(runs: &BTreeMap<State, Vec<StateRun>>) -> bool {
    let lost = |state: State| {
        let run = runs.get(&state).and_then(|runs| runs.first());
        run.is_some_and(|run| !run.parsed.modules_not_loaded.is_empty())
    };
    lost(State::Before) && !lost(State::Base) && !lost(State::After)
}

/// The state whose log explains an outcome: of those that may, the first in which something was lost or
/// that did not come to its end.
fn to_blame<'a>(
    outcome: MakeOutcome,
    what: &str,
    runs: &'a BTreeMap<State, Vec<StateRun>>,
) -> Option<(State, &'a StateRun)> {
    let states: &[State] = match outcome {
        // A sentence about After is proven by After's log.
        MakeOutcome::EnvironmentInvalid | MakeOutcome::NoEvidence
            if what.contains("After did not") || what.contains("in After") =>
        {
            &[State::After, State::Base, State::Before]
        }
        MakeOutcome::EnvironmentInvalid => &[State::Base, State::After, State::Before],
        MakeOutcome::RejectAfterBroken => &[State::After],
        MakeOutcome::NoEvidence => &[State::Base, State::Before, State::After],
        _ => return None,
    };
    let run = |state: &State| Some((*state, runs.get(state)?.first()?));
    let is_odd = |(_, run): &(State, &StateRun)| {
        let parsed = &run.parsed;
        let has_lost = |lost: &atlas_core::LostModule| lost.reason != LostReason::TimedOut;
        parsed.outcome != RunOutcome::Completed || parsed.modules_not_loaded.iter().any(has_lost)
    };
    let first = states.iter().find_map(run);
    states.iter().filter_map(run).find(is_odd).or(first)
}

fn of_run(state: State, run: &StateRun) -> Vec<Evidence> {
    let text = String::from_utf8_lossy(&run.log);
    telling_lines(&format!("{state}.log"), &text, Some(&run.parsed), LINES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::Finding;
    use atlas_oracle::Gate;

    #[track_caller]
    fn well_formed(text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        assert!((3..=Reason::LINES).contains(&lines.len()), "{text}");
        for line in &lines {
            assert!(line.chars().count() <= Reason::WIDTH, "{text}");
            assert!(!line.trim().is_empty(), "{text}");
        }
        let end = &lines[lines.len() - 2..];
        assert!(end[0].starts_with("fault: "), "{text}");
        assert!(
            end[1].starts_with("try: ") && !end[1].ends_with('…'),
            "{text}"
        );
    }

    fn long() -> Vec<Evidence> {
        vec![Evidence::of("stderr", "RUN set -eux; apt-get install ".repeat(40)); 30]
    }

    fn run(lost: bool) -> StateRun {
        let mut log = atlas_core::ParsedLogBuilder::new("cargo");
        log.record("m", "m.a", "m.a", atlas_core::TestStatus::Passed);
        if lost {
            log.lose("n", atlas_core::LostReason::BuildFailed, Vec::new());
        }
        let parsed = log.finish(atlas_core::RunOutcome::Completed);
        StateRun {
            log: Vec::new(),
            report: None,
            summary: atlas_core::StateSummary {
                exit: atlas_core::ExitState::Exited { code: 1 },
                outcome: parsed.outcome,
                counts: BTreeMap::new(),
                totals: None,
                consistent: None,
                report: None,
                build: None,
                isolation: atlas_core::Isolation::default(),
                seconds: 0.0,
                overhead_seconds: 0.0,
                usage: atlas_core::ResourceUsage::default(),
            },
            parsed,
            disputes: atlas_oracle::Disputes::default(),
            faults: Vec::new(),
            tampering: Vec::new(),
        }
    }

    /// A sentence about After is proven by After's log, about a test by what the log says of it.
    #[test]
    fn lines_are_of_what_the_sentence_is_about() {
        let logs: [&[u8]; 3] = [
            b"Error: of Base\n",
            b"Error: of Before\n",
            b"Error: of another test\nnot ok 1 - adds up\n  TypeError: t.ifError is missing\nok 2 - rest\n",
        ];
        let of = |what: &str, exit: ExitState, lines: Vec<Evidence>| {
            let runs = State::ALL.into_iter().zip(logs).map(|(state, log)| {
                let mut run = run(false);
                let mut parsed = atlas_core::ParsedLogBuilder::new("tap");
                parsed.record("m", "adds up", "adds up", atlas_core::TestStatus::Failed);
                run.parsed = parsed.finish(RunOutcome::Completed);
                run.log = log.to_vec();
                run.summary.exit = exit;
                (state, vec![run])
            });
            let runs = runs.collect();
            of_make(MakeOutcome::NoEvidence, what, lines, Some(&runs))
        };
        let ended = ExitState::Exited { code: 1 };
        let text = of(
            "`adds up`, which the test patch changes, fails in After, too",
            ended,
            Vec::new(),
        );
        well_formed(&text);
        assert!(
            text.contains("after.log:3: TypeError") && !text.contains("another test"),
            "{text}"
        );
        assert!(
            text.contains("what that test says") && text.contains("fault: not known"),
            "{text}"
        );
        let text = of(
            "`adds up`, which the test patch changes, fails in After",
            ExitState::OutOfMemory,
            Vec::new(),
        );
        well_formed(&text);
        assert!(
            text.contains("the run of base, before, after: killed for its memory")
                && text.contains("after.log:3: TypeError")
                && text.contains("raise limits.memory_bytes"),
            "{text}"
        );
        let text = of(
            "`adds up`, which the test patch changes, passes in Before and fails in After",
            ExitState::TimedOut,
            Vec::new(),
        );
        assert!(text.contains("raise limits.seconds"), "{text}");
        let text = of("nothing is seen to run in After", ended, Vec::new());
        assert!(
            text.contains("after.log:1") && !text.contains("of Base"),
            "{text}"
        );
        let text = of("Before is empty", ended, Vec::new());
        assert!(text.contains("of Base"), "{text}");
        let text = of(
            "After did not come to its end",
            ExitState::OutOfMemory,
            Vec::new(),
        );
        assert!(text.contains("raise limits.memory_bytes"), "{text}");
        let proof = Evidence::at("after.log", 9, "x.go:1:2: cannot find it");
        let text = of("`x` does not build in After", ended, vec![proof]);
        assert!(
            text.contains("after.log:9") && !text.contains("after.log:1:"),
            "{text}"
        );
    }

    #[test]
    fn what_only_before_cannot_build_is_no_fault_of_the_parser() {
        let of = |lost: [bool; 3]| {
            let runs = State::ALL
                .into_iter()
                .zip(lost)
                .map(|(state, lost)| (state, vec![run(lost)]))
                .collect();
            of_make(MakeOutcome::NoEvidence, "no", Vec::new(), Some(&runs))
        };
        let text = of([false, true, false]);
        well_formed(&text);
        assert!(text.contains("fault: the pull request"), "{text}");
        // Tests were read in all states: no parser would see more.
        let text = of([false, false, false]);
        assert!(text.contains("fault: the environment"), "{text}");
        let text = of_make(MakeOutcome::NoEvidence, "no", Vec::new(), None);
        assert!(text.contains("fault: Atlas"), "{text}");
    }

    /// Every rejection says what failed, by which lines, whose fault it is and what to try.
    #[test]
    fn every_outcome_has_a_short_reason() {
        let what = "the build failed at `RUN x`\nand so on".repeat(50);
        for outcome in [
            MakeOutcome::RejectNoFailToPass,
            MakeOutcome::EnvironmentInvalid,
            MakeOutcome::RejectAfterBroken,
            MakeOutcome::RejectNothingToTest,
            MakeOutcome::RejectEntangled,
            MakeOutcome::NoEvidence,
        ] {
            well_formed(&of_make(outcome, &what, long(), None));
            well_formed(&of_make(outcome, "no", Vec::new(), None));
        }
        for fault in [Fault::Repository, Fault::Atlas, Fault::Environment] {
            well_formed(&of_build(&what, fault, long()));
        }
        well_formed(&nothing_ran("no test was seen", b"+ make\nmake: ***\n"));
        for gate in Gate::names() {
            for decision in [Decision::Reject, Decision::Repair, Decision::NoEvidence] {
                let finding = Finding {
                    code: "x".to_owned(),
                    severity: Severity::Fatal,
                    message: what.clone(),
                    evidence: long(),
                };
                let verdict = |findings| Verdict {
                    validator: gate.to_owned(),
                    decision,
                    findings,
                    quarantine: BTreeMap::new(),
                    measurements: serde_json::Map::new(),
                };
                for findings in [Vec::new(), vec![finding]] {
                    well_formed(&of_gates(&[verdict(findings)]).unwrap());
                }
            }
        }
        assert_eq!(of_gates(&[]), None);
    }
}
