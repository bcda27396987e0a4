//! Classification: three parsed logs in, a verdict out.

mod failures;
mod gold_only;
mod neighbours;
mod scope;
mod style;
mod touched;
mod unstable;

use atlas_core::{
    BeforeFailureExtent, BuildFailureClass, Evidence, Kind, ModuleFailure, OracleOutcome, Overlay,
    ParsedLog, Patch, RunOutcome, State, TestStatus, Transition,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
pub use style::is_style_check;

/// What classification looks at.
#[derive(Clone, Copy, Debug)]
pub struct ClassifyInput<'a> {
    /// Base, parsed.
    pub base: &'a ParsedLog,
    /// Before, parsed.
    pub before: &'a ParsedLog,
    /// After, parsed.
    pub after: &'a ParsedLog,
    /// The gold patch, where it is known: proves which missing symbol it introduces.
    pub gold_patch: Option<&'a Patch>,
    /// The test patch, where it is known.
    pub test_patch: Option<&'a Patch>,
    /// The files of Before as a whole, where known: what the test patch shows of them may be less.
    pub before_files: Option<&'a Overlay>,
    /// Tests whose source the test patch changes (`Class::test`, `TestX`), where known.
    pub modified_tests: &'a [String],
    /// Changed tests that run under a condition only, each with the line that says so, where known.
    pub conditions: &'a BTreeMap<String, Evidence>,
    /// Tests that repeats of a state showed to be flaky, each with the reason: they enter neither
    /// list.
    pub flaky: &'a BTreeMap<String, String>,
}

static NONE: BTreeMap<String, String> = BTreeMap::new();
static UNCONDITIONAL: BTreeMap<String, Evidence> = BTreeMap::new();

impl<'a> ClassifyInput<'a> {
    /// The logs alone.
    pub fn new(base: &'a ParsedLog, before: &'a ParsedLog, after: &'a ParsedLog) -> Self {
        Self {
            base,
            before,
            after,
            gold_patch: None,
            test_patch: None,
            before_files: None,
            modified_tests: &[],
            conditions: &UNCONDITIONAL,
            flaky: &NONE,
        }
    }

    /// The log of a state.
    pub fn log(&self, state: State) -> &'a ParsedLog {
        match state {
            State::Base => self.base,
            State::Before => self.before,
            State::After => self.after,
        }
    }
}

/// What classification found. The fields mean what they mean in
/// [`OracleReport`](atlas_core::OracleReport).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "documented on OracleReport, field by field")]
pub struct Classification {
    pub outcome: OracleOutcome,
    pub reason: String,
    pub kind: Option<Kind>,
    pub before_failure_extent: BeforeFailureExtent,
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: Vec<String>,
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: Vec<String>,
    #[serde(rename = "PASS_TO_FAIL")]
    pub pass_to_fail: Vec<String>,
    pub unstable: BTreeMap<String, String>,
    pub gold_only: BTreeMap<String, String>,
    pub fail_to_pass_swebench_rule: Option<Vec<String>>,
    pub fail_to_pass_rule: String,
    pub module_failures: Vec<ModuleFailure>,
    pub transition_counts: BTreeMap<String, usize>,
    pub transitions: Vec<Transition>,
    pub evidence: Vec<Evidence>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    pub warnings: Vec<String>,
}

type Statuses<'a> = BTreeMap<&'a str, TestStatus>;

/// Decides what three runs of one test selection say of a pull request.
///
/// Tests are compared by SWE-bench id, the worst status of each, because that is what a row holds
/// and a grader compares; ids that several tests share are named in the warnings.
pub fn classify(input: &ClassifyInput<'_>) -> Classification {
    let (base, before, after) = (
        input.base.tests(),
        input.before.tests(),
        input.after.tests(),
    );
    let transitions = transitions(&base, &before, &after);
    let mut transition_counts = BTreeMap::new();
    for transition in &transitions {
        *transition_counts
            .entry(transition.class.clone())
            .or_insert(0) += 1;
    }
    let module_failures = failures::failures(input);
    let lost_in_before: Vec<&ModuleFailure> = failures::newly_lost(&module_failures);
    let unproven = failures::without_evidence(&module_failures);
    let lost = !lost_in_before.is_empty() || !unproven.is_empty();
    let before_failure_extent = extent(input.before, lost);

    let mut found = Classification {
        outcome: OracleOutcome::NoEvidence,
        reason: String::new(),
        kind: None,
        before_failure_extent,
        fail_to_pass: Vec::new(),
        pass_to_pass: Vec::new(),
        pass_to_fail: of_class(&transitions, "P2F"),
        unstable: {
            let mut unstable = unstable::find(&base, &before, &after);
            for name in touched::by_chance(input) {
                let reason = "fails in Base and passes in Before, which changes nothing of it";
                unstable.insert(name.to_owned(), reason.to_owned());
            }
            let style = after.keys().filter(|id| is_style_check(id));
            unstable.extend(style.map(|id| {
                let reason = "a check of how a file is written, which says nothing of what it does";
                ((*id).to_owned(), reason.to_owned())
            }));
            unstable.extend(input.flaky.clone());
            unstable
        },
        gold_only: BTreeMap::new(),
        fail_to_pass_swebench_rule: None,
        fail_to_pass_rule: String::new(),
        module_failures: module_failures.clone(),
        transition_counts,
        transitions,
        evidence: Vec::new(),
        doubts: Vec::new(),
        warnings: warnings(input),
    };
    found.warnings.extend(failures::remarks(&module_failures));

    // What a broken environment kept from running in Before could have passed there.
    let unseen = failures::Unseen::of(&unproven, input);
    let no_evidence = || {
        let mut shown = input.before.results.iter();
        let whole = lost_in_before.is_empty()
            && !unproven.is_empty()
            && shown.all(|t| is_module(input.before, t.name) || unseen.holds(t.name));
        whole.then(|| environment_failed(input, &unproven, "nothing ran there"))
    };
    let not_run = || touched::not_run(input, &module_failures);
    let cut_off = || touched::cut_off(input);
    let not_set_up = || {
        let reason = scope::none_set_up(input, &base, &before)?;
        Some((OracleOutcome::NoEvidence, reason, Vec::new()))
    };
    let ungrounded = ungrounded(input)
        .or_else(no_evidence)
        .or_else(not_run)
        .or_else(cut_off)
        .or_else(not_set_up);
    if let Some((outcome, reason, evidence)) = ungrounded {
        found.outcome = outcome;
        found.reason = reason;
        found.evidence = evidence;
        if outcome == OracleOutcome::RejectAfterBroken {
            match failures::after_because(&module_failures) {
                Some(BuildFailureClass::Environment) => {
                    found.outcome = OracleOutcome::EnvironmentInvalid;
                    "After does not build or load: it needs what the environment lacks and Base does not need"
                        .clone_into(&mut found.reason);
                }
                Some(BuildFailureClass::BrokenTest) => found
                    .reason
                    .push_str("; the lines show a test file that is broken itself"),
                _ => {}
            }
        }
        return found;
    }

    let feature = !lost_in_before.is_empty();
    found.kind = Some(if feature {
        Kind::FeatureRequest
    } else {
        Kind::BugFix
    });
    let unrun = scope::Unrun::of(input, &base, &before, &after);
    if !feature
        && found.before_failure_extent == BeforeFailureExtent::None
        && !unrun.lost.is_empty()
    {
        found.before_failure_extent = BeforeFailureExtent::Crash;
    }
    let crashed = found.before_failure_extent == BeforeFailureExtent::Crash;
    let passes = |map: &Statuses<'_>, id: &str| map.get(id).is_some_and(|s| s.is_passing());

    let mut fail_to_pass = BTreeSet::new();
    let mut pass_to_pass = BTreeSet::new();
    let mut plain = BTreeSet::new();
    for (&id, status) in &after {
        if !status.is_passing() || found.unstable.contains_key(id) {
            continue;
        }
        let (in_base, in_before) = (passes(&base, id), passes(&before, id));
        if in_before {
            pass_to_pass.insert(id);
            continue;
        }
        plain.insert(id);
        if unseen.holds(id) {
            if in_base {
                pass_to_pass.insert(id);
            }
            continue;
        }
        if unrun.unknown.contains(id) {
            continue;
        }
        // What a module that did not load, or a crash, merely took along is no failure of its own; and
        // what Before says nothing of did not fail there, whatever became of its program.
        let failed = before.get(id).is_some_and(|s| s.is_failing());
        let failed_by_name = failed && !is_module(input.before, id);
        let merely_lost =
            unrun.lost.contains(id) || (feature || crashed) && in_base && !failed_by_name;
        if merely_lost {
            pass_to_pass.insert(id)
        } else {
            fail_to_pass.insert(id)
        };
    }
    let is_lost = feature || crashed;
    found.gold_only = gold_only::find(input, (&base, &before), &fail_to_pass, &unseen, is_lost);
    fail_to_pass.retain(|id| !found.gold_only.contains_key(*id));
    // A test program fails and passes with its own tests: where those say what the task is, the
    // program's name says nothing more.
    let programs: Vec<&str> = fail_to_pass
        .iter()
        .copied()
        .filter(|id| {
            let inside = format!("{id}::");
            let next = fail_to_pass.range(inside.as_str()..).next();
            next.is_some_and(|next| next.starts_with(&inside))
        })
        .collect();
    for program in programs {
        fail_to_pass.remove(program);
    }
    let rule = if feature {
        "new_tests"
    } else {
        "failed_before"
    };
    rule.clone_into(&mut found.fail_to_pass_rule);

    // Where nothing of the solution is what Before lacks, that it does not build says nothing of its tests: an
    // edition or a language level may do, which any other solution would have to raise, too.
    let is_shown = |failure: &&ModuleFailure| failure.class == BuildFailureClass::MissingSymbol;
    let shown = input.gold_patch.is_none() || lost_in_before.iter().any(is_shown);
    let about = crashed || failures::test_patch_uses_what_is_missing(input, &lost_in_before);
    if (feature && shown && about || crashed) && fail_to_pass.is_empty() {
        let lost: BTreeSet<&str> = lost_in_before.iter().map(|m| m.module.as_str()).collect();
        let whole = before.is_empty();
        for test in &input.after.results {
            if pass_to_pass.contains(test.name)
                && !passes(&before, test.name)
                && (whole
                    || lost.contains(test.module)
                    || !feature && unrun.lost.contains(test.name))
                && input
                    .modified_tests
                    .iter()
                    .any(|name| failures::is_test_named(test.name, name))
            {
                fail_to_pass.insert(test.name);
            }
        }
        if !fail_to_pass.is_empty() {
            pass_to_pass.retain(|id| !fail_to_pass.contains(id));
            "modified_tests".clone_into(&mut found.fail_to_pass_rule);
        }
    }

    if feature && fail_to_pass.is_empty() {
        fail_to_pass = scope::unbuilt_programs(input, &unrun, &after);
        if !fail_to_pass.is_empty() {
            pass_to_pass.retain(|id| !fail_to_pass.contains(id));
            "changed_programs".clone_into(&mut found.fail_to_pass_rule);
        }
    }

    found.fail_to_pass = owned(&fail_to_pass);
    found.pass_to_pass = owned(&pass_to_pass);
    if plain != fail_to_pass {
        found.fail_to_pass_swebench_rule = Some(owned(&plain));
    }
    for failure in &lost_in_before {
        found.evidence.extend(failure.proof.iter().take(4).cloned());
    }

    if !unrun.unknown.is_empty() {
        found.warnings.push(format!(
            "{} tests pass in After whose program ran in no other state, and the test patch does not name \
             them: in neither list",
            unrun.unknown.len()
        ));
    }

    let unnamed = unnamed_failures(input.before);
    if found.fail_to_pass.is_empty() && !unproven.is_empty() {
        let rest = "no test that ran there fails in Before and passes in After";
        let (outcome, reason, evidence) = environment_failed(input, &unproven, rest);
        found.outcome = outcome;
        found.reason = reason;
        found.evidence = evidence;
        found.kind = None;
    } else if found.fail_to_pass.is_empty() && unnamed > unnamed_failures(input.after) {
        found.outcome = OracleOutcome::NoEvidence;
        found.reason = format!(
            "Before's runner counts {unnamed} failures that its log does not name: the log was cut, or \
             the runner printed too little"
        );
    } else if found.fail_to_pass.is_empty()
        && found.gold_only.is_empty()
        && let Some(reason) = scope::undecided(input, &unrun)
    {
        found.outcome = OracleOutcome::NoEvidence;
        found.reason = reason;
    } else if let Some(reason) = scope::hardly_run(input, &base, &after).or_else(|| {
        let undefined = found.fail_to_pass.is_empty() && found.gold_only.is_empty();
        let failing = || scope::adds_failing_tests(&base, &after);
        undefined.then(failing).flatten()
    }) {
        found.outcome = OracleOutcome::EnvironmentInvalid;
        found.reason = reason;
        found.kind = None;
        // What happened to pass defines no task.
        found.fail_to_pass.clear();
    } else if found.fail_to_pass.is_empty() {
        found.outcome = OracleOutcome::RejectNoFailToPass;
        found.reason = format!(
            "no FAIL_TO_PASS: of {} tests that pass in After, {} pass in Before already{}{}",
            after.values().filter(|s| s.is_passing()).count(),
            of_class(&found.transitions, "P2P").len(),
            count_note(found.pass_to_fail.len(), "pass before and fail after"),
            count_note(found.unstable.len(), "are set aside as unstable"),
        );
        if let Some((id, why)) = found.gold_only.first_key_value() {
            let count = found.gold_only.len();
            let note = format!("; {count} exist only through the gold patch, as `{id}`: {why}");
            found.reason.push_str(&note);
        }
        if let Some((name, word, why)) = scope::kept_out(input) {
            let why_not = scope::under_condition(why);
            let note = format!("; the changed test `{name}` is {word} here: {why_not}");
            found.reason.push_str(&note);
            found.evidence.push(why.clone());
        }
        found.evidence.extend(
            found
                .transition_counts
                .iter()
                .map(|(class, n)| Evidence::of("transitions", format!("{class}: {n}"))),
        );
    } else {
        found.outcome = OracleOutcome::Instance;
        found.reason = accepted(&found, &lost_in_before);
        found.doubts = neighbours::remarks(input, &lost_in_before, &fail_to_pass);
        found.warnings.extend(found.doubts.iter().cloned());
    }
    found
}

/// How many failures the runner counts beyond those that its log names.
fn unnamed_failures(log: &ParsedLog) -> u64 {
    let failing = log.results.iter().filter(|test| test.status.is_failing());
    let named: u64 = failing.map(|test| u64::from(test.seen)).sum();
    let counted = log.totals.map_or(0, |totals| {
        let errors = totals.errors.unwrap_or(0);
        totals.failed.unwrap_or(0).saturating_add(errors)
    });
    counted.saturating_sub(named)
}

fn accepted(found: &Classification, lost: &[&ModuleFailure]) -> String {
    let tests = found.fail_to_pass.len();
    let guard = found.pass_to_pass.len();
    let plural = if tests == 1 { "test" } else { "tests" };
    let (fail, pass, does) = if tests == 1 {
        ("fails", "passes", "does")
    } else {
        ("fail", "pass", "do")
    };
    let broken = found
        .pass_to_fail
        .first()
        .map_or_else(String::new, |first| {
            let count = found.pass_to_fail.len();
            format!("; {count} pass before and fail after, as `{first}`")
        });
    if lost.is_empty() {
        let how = if found.before_failure_extent == BeforeFailureExtent::Crash {
            "Before builds and then its process dies"
        } else {
            "Before runs"
        };
        return format!(
            "{how}: {tests} {plural} {fail} there and {pass} in After; {guard} guard the rest{broken}"
        );
    }
    let symbol = lost.iter().find_map(|m| m.symbol.as_deref());
    let what = match symbol {
        Some(symbol) => format!("for want of `{symbol}`, which the gold patch introduces"),
        None => "and loads in After".to_owned(),
    };
    let names: Vec<&str> = lost.iter().take(3).map(|m| m.module.as_str()).collect();
    let more = if lost.len() > 3 {
        format!(" and {} more", lost.len() - 3)
    } else {
        String::new()
    };
    format!(
        "{}{more} does not build or load in Before {what}: {tests} {plural} {does} not pass there and {pass} in After; {guard} guard the rest{broken}",
        names.join(", ")
    )
}

/// An environment that worked in Base and in After and failed in between says nothing of the pull
/// request, and nothing against the environment: the state must be run again, if the gold patch does not
/// bring what was missing with a manifest.
fn environment_failed(
    input: &ClassifyInput<'_>,
    lost: &[&ModuleFailure],
    rest: &str,
) -> (OracleOutcome, String, Vec<Evidence>) {
    let evidence: Vec<Evidence> = lost
        .iter()
        .filter_map(|f| f.proof.first().cloned())
        .collect();
    let why = evidence.first().map_or("no line", |line| line.text.trim());
    let manifests = failures::manifests(input.gold_patch);
    let advice = if manifests.is_empty() {
        "run it again".to_owned()
    } else {
        format!(
            "the gold patch changes `{}`, which Before may lack; if not, run it again",
            manifests.join("`, `")
        )
    };
    let reason = format!(
        "the environment failed in Before alone (`{why}`) and {rest}: neither pass nor fail; {advice}"
    );
    (OracleOutcome::NoEvidence, reason, evidence)
}

fn count_note(count: usize, what: &str) -> String {
    if count == 0 {
        String::new()
    } else {
        format!("; {count} {what}")
    }
}

fn owned(ids: &BTreeSet<&str>) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn of_class(transitions: &[Transition], class: &str) -> Vec<String> {
    transitions
        .iter()
        .filter(|t| t.class == class)
        .map(|t| t.name.clone())
        .collect()
}

/// States that leave nothing to compare: the verdict and its proof.
fn ungrounded(input: &ClassifyInput<'_>) -> Option<(OracleOutcome, String, Vec<Evidence>)> {
    let ran = |log: &ParsedLog| {
        log.results.iter().any(|t| {
            t.status.is_passing() || t.status.is_failing() || t.status == TestStatus::Skipped
        })
    };
    let proof = |state: State| -> Vec<Evidence> {
        let log = input.log(state);
        log.modules_not_loaded
            .iter()
            .flat_map(|m| m.lines.iter().take(6).cloned())
            .take(24)
            .map(|line| failures::named(line, state))
            .collect()
    };
    let (base, before, after) = (input.base, input.before, input.after);
    let base_ran = ran(base) && base.results.iter().any(|t| !is_module(base, t.name));
    if !base_ran {
        if base.build_failed() || base.outcome == RunOutcome::Crashed {
            let why = if base.build_failed() {
                "does not build or load"
            } else {
                "dies before any result"
            };
            return Some((
                OracleOutcome::EnvironmentInvalid,
                format!(
                    "Base {why}, so the environment is wrong: nothing can be said of the pull request"
                ),
                proof(State::Base),
            ));
        }
        // The first tests of a repository: Base has none. Before proves that the runner works.
        let runner_works = ran(before) && before.outcome == RunOutcome::Completed;
        if !runner_works {
            return Some((
                OracleOutcome::NoEvidence,
                "no test was seen to run in Base: neither pass nor fail".to_owned(),
                proof(State::Base),
            ));
        }
    } else if !base.results.iter().any(|t| t.status.is_passing()) && base.build_failed() {
        return Some((
            OracleOutcome::EnvironmentInvalid,
            "no test passes in Base and modules of it do not load, so the environment is wrong"
                .to_owned(),
            proof(State::Base),
        ));
    }
    if !ran(after) || after.results.iter().all(|t| is_module(after, t.name)) {
        return Some(if after.build_failed() {
            (
                OracleOutcome::RejectAfterBroken,
                "After does not build or load: the pull request is broken in this environment, or \
                 files are missing from it"
                    .to_owned(),
                proof(State::After),
            )
        } else {
            (
                OracleOutcome::NoEvidence,
                "no test was seen to run in After: neither pass nor fail".to_owned(),
                proof(State::After),
            )
        });
    }
    if !ran(before) && !before.build_failed() && before.outcome != RunOutcome::Crashed {
        return Some((
            OracleOutcome::NoEvidence,
            "no test was seen to run in Before, and no line says why".to_owned(),
            proof(State::Before),
        ));
    }
    None
}

fn is_module(log: &ParsedLog, name: &str) -> bool {
    log.modules_not_loaded
        .iter()
        .any(|lost| lost.module == name)
}

fn extent(before: &ParsedLog, lost: bool) -> BeforeFailureExtent {
    let nothing_ran = before.results.iter().all(|t| is_module(before, t.name));
    match (lost, before.outcome) {
        (true, _) if nothing_ran => BeforeFailureExtent::Full,
        (true, _) => BeforeFailureExtent::Partial,
        (false, RunOutcome::Crashed | RunOutcome::TimedOut | RunOutcome::Truncated) => {
            BeforeFailureExtent::Crash
        }
        (false, _) => BeforeFailureExtent::None,
    }
}

fn transitions(
    base: &Statuses<'_>,
    before: &Statuses<'_>,
    after: &Statuses<'_>,
) -> Vec<Transition> {
    let ids: BTreeSet<&str> = base
        .keys()
        .chain(before.keys())
        .chain(after.keys())
        .copied()
        .collect();
    let letter = |status: Option<TestStatus>| match status {
        None => 'N',
        Some(TestStatus::Skipped) => 'S',
        Some(status) if status.is_passing() => 'P',
        Some(_) => 'F',
    };
    ids.into_iter()
        .map(|id| {
            let (before, after) = (before.get(id).copied(), after.get(id).copied());
            Transition {
                name: id.to_owned(),
                base: base.get(id).copied(),
                before,
                after,
                class: format!("{}2{}", letter(before), letter(after)),
            }
        })
        .collect()
}

/// What makes lists weaker than they look. That tests are skipped is said from five of them on, and a twentieth.
fn warnings(input: &ClassifyInput<'_>) -> Vec<String> {
    const FEW_SKIPPED: usize = 5;
    let mut warnings = Vec::new();
    for state in State::ALL {
        let log = input.log(state);
        if log.consistent == Some(false) {
            warnings.push(format!(
                "{state}: what was parsed does not add up to the runner's own totals"
            ));
        }
        if matches!(
            log.outcome,
            RunOutcome::Truncated | RunOutcome::TimedOut | RunOutcome::Crashed
        ) {
            warnings.push(format!(
                "{state}: the run did not come to its end ({:?})",
                log.outcome
            ));
        }
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for test in &log.results {
            *names.entry(test.name).or_default() += 1;
        }
        let shared = names.values().filter(|n| **n > 1).count();
        if shared > 0 {
            warnings.push(format!(
                "{state}: {shared} ids are each shared by several tests; the worst status counts"
            ));
        }
    }
    let after = &input.after.results;
    let skipped = || {
        let all = after.iter();
        all.filter(|test| test.status == TestStatus::Skipped)
    };
    let count = skipped().count();
    if count >= FEW_SKIPPED
        && count * 20 >= after.len()
        && let Some(first) = skipped().next()
    {
        warnings.push(format!(
            "After: {count} of {} tests are skipped, as `{}`, and guard nothing: they may want what is not here",
            after.len(),
            first.name
        ));
    }
    if input.base.is_empty() {
        warnings.push("Base has no tests: nothing guards what was there before".to_owned());
    }
    warnings
}
