//! From a run to a verdict: what is believed, and why a prediction is not resolved.

use super::canary::{CanaryPlan, SeenCanary};
use super::verdict::{EvalOutcome, EvalVerdict};
use atlas_core::{Blame, Error, Evidence, ExitState, JobResult, ParsedLog, StateSummary, TestIds};
use atlas_guard::SignalAction;
use atlas_oracle::{
    BeliefInput, Cause, CauseInput, CompatGrade, CompatOutcome, Grade, InfraTier, Resolution,
    RunFacts, StateRun, TamperSignal, attribute, believe,
};

/// A run of Atlas's own, beside what an honest one looks like.
pub(super) fn strict(
    verdict: &mut EvalVerdict,
    run: &StateRun,
    graded: &Grade,
    seen: Option<&SeenCanary>,
    (plan, reference): (&CanaryPlan, Option<&StateSummary>),
    [defining, guarding]: [&TestIds; 2],
) {
    let input = BeliefInput::of(run, reference, [defining, guarding]);
    let signals = believe(&input);
    // Where the module of the canaries did not load, nothing of it passes either.
    let is_heard = !graded.fail_to_pass.success.is_empty();
    let lies = seen.filter(|_| is_heard).map(SeenCanary::lies);
    let lies = lies.unwrap_or_default();
    let facts = RunFacts {
        grade: graded,
        parsed: &run.parsed,
        log: &run.log,
        exit: Some(run.summary.exit),
        signals: &signals,
    };
    verdict.notes.extend(run.faults.iter().cloned());
    decide(verdict, &signals, &lies, facts, plan);
}

/// Whether nothing about a run speaks against what it says.
pub(super) fn is_believed(
    run: &StateRun,
    reference: Option<&StateSummary>,
    listed: [&TestIds; 2],
) -> bool {
    let signals = believe(&BeliefInput::of(run, reference, listed));
    !signals.iter().any(|signal| signal.decisive)
}

/// A log that a harness stored, with the code of its tests where it was printed.
pub(super) fn stored(
    verdict: &mut EvalVerdict,
    parsed: &ParsedLog,
    graded: &Grade,
    code: Option<i64>,
    [defining, guarding]: [&TestIds; 2],
) {
    let exit = code.map(|code| ExitState::Exited { code });
    let signals = believe(&BeliefInput {
        log: parsed,
        exit,
        report: None,
        disputes: None,
        tampering: &[],
        reference: None,
        listed: [defining, guarding],
    });
    let facts = RunFacts {
        grade: graded,
        parsed,
        log: b"",
        exit,
        signals: &signals,
    };
    decide(verdict, &signals, &[], facts, &CanaryPlan::default());
}

fn decide(
    verdict: &mut EvalVerdict,
    signals: &[TamperSignal],
    lies: &[String],
    facts: RunFacts<'_>,
    plan: &CanaryPlan,
) {
    let mut grade = facts.grade.clone();
    let is_believed = lies.is_empty() && !signals.iter().any(|signal| signal.decisive);
    if !is_believed {
        for list in [&mut grade.fail_to_pass, &mut grade.pass_to_pass] {
            list.disbelieve();
        }
        grade.resolution = Resolution::No;
    }
    verdict.resolution = grade.resolution;
    verdict.resolved = grade.resolution == Resolution::Full;
    let told = signals.iter().filter(|signal| signal.is_tampering());
    verdict.tampering = lies
        .iter()
        .cloned()
        .chain(told.map(|signal| signal.message.clone()))
        .collect();
    let odd = signals.iter().filter(|signal| !signal.is_tampering());
    verdict
        .notes
        .extend(odd.map(|signal| signal.message.clone()));
    if !verdict.resolved {
        let (cause, evidence) = attribute(&CauseInput {
            gold: plan.gold_here(),
            run: Some(facts),
            ..CauseInput::default()
        });
        verdict.cause = Some(if lies.is_empty() {
            cause
        } else {
            Cause::Tampered
        });
        verdict.evidence = evidence;
        verdict.reasons = if verdict.tampering.is_empty() {
            reasons(&grade)
        } else {
            verdict.tampering.clone()
        };
    }
    verdict.fail_to_pass = grade.fail_to_pass;
    verdict.pass_to_pass = grade.pass_to_pass;
}

/// What is missed, in words.
fn reasons(grade: &Grade) -> Vec<String> {
    [
        ("FAIL_TO_PASS", &grade.fail_to_pass),
        ("PASS_TO_PASS", &grade.pass_to_pass),
    ]
    .into_iter()
    .filter(|(_, list)| !list.failure.is_empty())
    .map(|(name, list)| {
        format!(
            "{name}: {} of {} do not pass, {} first",
            list.failure.len(),
            list.failure.len() + list.success.len(),
            &list.failure[0]
        )
    })
    .collect()
}

/// A prediction that was never run, or whose run ended without any grade.
pub(super) fn unfit(verdict: &mut EvalVerdict) {
    let (cause, evidence) = attribute(&CauseInput {
        not_applied: Some(&verdict.reasons),
        ..CauseInput::default()
    });
    verdict.cause = Some(cause);
    verdict.evidence = evidence;
}

/// A prediction whose files may not be run at all, and whether it is one.
pub(super) fn refused(verdict: &mut EvalVerdict) -> bool {
    let refused = verdict
        .guards
        .iter()
        .filter(|signal| signal.action == SignalAction::Refused);
    verdict.tampering = refused
        .map(|signal| format!("`{}`: {}", signal.path, signal.message))
        .collect();
    if verdict.tampering.is_empty() {
        return false;
    }
    verdict.outcome = EvalOutcome::Graded;
    verdict.cause = Some(Cause::Tampered);
    verdict.reasons.clone_from(&verdict.tampering);
    let signs = verdict.tampering.iter();
    verdict.evidence = signs
        .map(|sign| Evidence::of("model_patch", sign))
        .collect();
    true
}

/// What the text of a patch that does not apply tells of itself.
pub(super) fn examine(verdict: &mut EvalVerdict, patch: &[u8]) {
    let faults = atlas_source::examine(patch);
    let told = faults.iter().filter(|fault| fault.breaks);
    verdict
        .evidence
        .extend(told.map(|fault| Evidence::of("model_patch", fault.to_string())));
}

/// The verdict of a harness.
pub(super) fn compat(verdict: &mut EvalVerdict, grade: &CompatGrade, result: Option<&JobResult>) {
    let dropped = result.map_or(0, |result| {
        let kept = u64::try_from(result.output.len()).unwrap_or(u64::MAX);
        result.output_total.saturating_sub(kept)
    });
    if dropped > 0 {
        verdict.notes.push(format!(
            "{dropped} bytes of output beyond the limit were not kept; the harness keeps all of them, so \
             its verdict may differ (`limits.output_bytes` in atlas.toml)"
        ));
    }
    if verdict.resolved {
        return;
    }
    let is_environment = grade
        .infra
        .as_ref()
        .is_some_and(|infra| infra.tier == InfraTier::Environment);
    let ended_badly = result.is_some_and(|result| !matches!(result.exit, ExitState::Exited { .. }));
    verdict.cause = Some(match verdict.outcome {
        EvalOutcome::NullPatch | EvalOutcome::EmptyPatch => Cause::Model,
        EvalOutcome::NotApplied => Cause::PatchFormat,
        _ if is_environment || ended_badly => Cause::Environment,
        _ if grade.outcome == CompatOutcome::Error => Cause::Harness,
        _ => Cause::Model,
    });
}

/// Whom an error is to be blamed on. It is never the model.
pub(super) fn blame(why: &Error) -> Cause {
    match why.blame() {
        Blame::Environment | Blame::Caller | Blame::Instance => Cause::Environment,
        _ => Cause::Harness,
    }
}
