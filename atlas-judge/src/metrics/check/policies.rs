//! Stored values of policies and critics.

use super::Fault;
use super::case::{Case, Flag, number_of};
use crate::metrics::{self as m, AtK, BeyondRuns, BugRuns, Run, RunCount, TooFewRuns};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Alternative {
    token: String,
    logprob: f64,
}

pub(super) fn label_probability(case: &mut Case<'_>) -> Result<(), Fault> {
    let alternatives: Vec<Alternative> = case.input("top_logprobs_first_token")?;
    let alternatives: Vec<(&[u8], f64)> = alternatives
        .iter()
        .map(|found| (found.token.as_bytes(), found.logprob))
        .collect();
    let mass = m::label_mass(&alternatives, "success", "failure");
    case.found("mass_success", mass.positive);
    case.found("mass_failure", mass.negative);
    case.found("label_mass", mass.total());
    case.found("p_success_raw", mass.positive);
    case.found("p_success_normalised", mass.probability());
    for name in case.names() {
        if let Some(tau) = number_of(name, "attempt_tau_") {
            case.found(name, mass.attempts(tau));
        }
    }
    Ok(())
}

pub(super) fn correctness_score(case: &mut Case<'_>) -> Result<(), Fault> {
    let fixed = case.input("is_bug_fixed")?;
    let logprobs: Vec<f64> = case.input("token_logprobs")?;
    case.found("score", m::patch_correctness_score(fixed, &logprobs));
    Ok(())
}

pub(super) fn percentile_cutoff(case: &mut Case<'_>) -> Result<(), Fault> {
    let scores: Vec<f64> = case.input("scores")?;
    for name in case.names() {
        let Some(p) = number_of(name, "p") else {
            continue;
        };
        let cutoff = m::Cutoff::at(&scores, p)
            .ok_or_else(|| case.fault(name, "no percentile of these scores"))?;
        // The file has the paper's rule; the guard against scores of 0 is on top of it.
        let accepted: Vec<usize> = (0..scores.len())
            .filter(|at| cutoff.reached_by(scores[*at]))
            .collect();
        let found = json!({"cutoff": cutoff.score, "accepted_idx": accepted});
        case.found(name, found);
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredBug {
    #[serde(rename = "id")]
    _id: Option<String>,
    #[serde(default = "yes")]
    attempt: bool,
    #[serde(alias = "passed")]
    success: Vec<Flag>,
    accepted: Vec<Flag>,
}

fn yes() -> bool {
    true
}

fn bugs(case: &mut Case<'_>) -> Result<Vec<BugRuns>, Fault> {
    let stored: Vec<StoredBug> = case.input("bugs")?;
    stored
        .into_iter()
        .map(|bug| {
            if bug.success.len() != bug.accepted.len() {
                return Err(case.fault("bugs", "a bug needs as many successes as acceptances"));
            }
            let runs = bug.success.iter().zip(&bug.accepted);
            Ok(BugRuns {
                attempt: bug.attempt,
                runs: runs
                    .map(|(success, accepted)| Run {
                        success: success.0,
                        accepted: accepted.0,
                    })
                    .collect(),
            })
        })
        .collect()
}

fn at_k(found: AtK) -> Value {
    json!({"value": found.value, "bugs_counted": found.bugs_counted})
}

pub(super) fn filtered_success(case: &mut Case<'_>) -> Result<(), Fault> {
    let bugs = bugs(case)?;
    let k: u64 = case.input("k")?;
    let few = |why: TooFewRuns| why.to_string();
    for (name, beyond) in [
        ("exclude", BeyondRuns::Exclude),
        ("clamp", BeyondRuns::Clamp),
    ] {
        let found =
            m::filtered_success_at_k(&bugs, k, beyond).map_err(|why| case.fault(name, few(why)))?;
        case.found(name, at_k(found));
    }
    // Two other readings of k > n', which only files have: any success counts 1, and the shortcut
    // of the HumanEval code, which is wrong there.
    let counts: Vec<RunCount> = bugs.iter().map(m::at_k::filtered_count).collect();
    let reading = |beyond: fn(RunCount) -> bool, k: u64| {
        let mut sum = 0.0;
        let mut counted = 0;
        for count in counts.iter().filter(|count| count.runs > 0) {
            counted += 1;
            sum += m::pass_at_k(count.runs, count.successes, k)
                .unwrap_or_else(|| f64::from(u8::from(beyond(*count))));
        }
        at_k(AtK {
            value: m::ratio(sum, counted),
            bugs_counted: counted,
        })
    };
    case.found("any_success", reading(|count| count.successes > 0, k));
    case.found("binomial_convention", reading(|_| true, k));
    Ok(())
}

pub(super) fn pass_and_validation(case: &mut Case<'_>) -> Result<(), Fault> {
    let bugs = bugs(case)?;
    let k: u64 = case.input("k")?;
    let found = m::pass_and_validation_at_k(&bugs, k, BeyondRuns::Error)
        .map_err(|why| case.fault("k", why.to_string()))?;
    let per_bug: Vec<Option<f64>> = bugs
        .iter()
        .map(m::at_k::pass_and_validation_count)
        .map(|count| m::pass_at_k(count.runs, count.successes, k))
        .collect();
    case.found("value", found.value);
    case.found("per_bug", per_bug);
    Ok(())
}

pub(super) fn validation_recall(case: &mut Case<'_>) -> Result<(), Fault> {
    let bugs = bugs(case)?;
    let k: u64 = case.input("k")?;
    for (name, beyond) in [
        ("exclude", BeyondRuns::Exclude),
        ("clamp", BeyondRuns::Clamp),
    ] {
        let found = m::validation_recall_at_k(&bugs, k, beyond)
            .map_err(|why| case.fault(name, why.to_string()))?;
        case.found(name, at_k(found));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredType {
    r#type: String,
    correct: Vec<Flag>,
    kept: Vec<Flag>,
}

pub(super) fn lift(case: &mut Case<'_>) -> Result<(), Fault> {
    let stored: Vec<StoredType> = case.input("bugs")?;
    if stored.iter().any(|bug| bug.correct.len() != bug.kept.len()) {
        return Err(case.fault("bugs", "a bug needs as many `correct` as `kept`"));
    }
    let bugs: Vec<m::TypedBug> = stored
        .into_iter()
        .map(|bug| m::TypedBug {
            kind: bug.r#type,
            patches: bug
                .correct
                .iter()
                .zip(&bug.kept)
                .map(|(correct, kept)| m::KeptPatch {
                    correct: correct.0,
                    kept: kept.0,
                })
                .collect(),
        })
        .collect();
    case.found("lift", json!(m::lift_by_type(&bugs)));
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredTest {
    #[serde(rename = "test")]
    _test: Option<String>,
    predicted_pass: bool,
    confidence: f64,
    test_length: u64,
}

pub(super) fn critic(case: &mut Case<'_>) -> Result<(), Fault> {
    let stored: Vec<StoredTest> = case.input("tests")?;
    let tests: Vec<m::TestPrediction> = stored
        .iter()
        .map(|test| m::TestPrediction {
            passes: test.predicted_pass,
            confidence: test.confidence,
            length: Some(test.test_length),
        })
        .collect();
    let rule = m::LowConfidenceRule::default();
    let with = m::aggregate_critic(&tests, Some(&rule));
    let plain = m::aggregate_critic(&tests, None);
    let (with, plain) = with
        .and_then(|with| Ok((with, plain?)))
        .map_err(|why| case.fault("tests", why.to_string()))?;
    case.found("final_pass", with.passes);
    case.found("build_success", with.build_success);
    case.found("predicted_pass_rate", with.pass_rate);
    case.found("build_success_without_rule", plain.build_success);
    Ok(())
}

pub(super) fn random_baseline(case: &mut Case<'_>) -> Result<(), Fault> {
    /// The field whose keys are the numbers of tests asked for.
    const BY_TESTS: &str = "p_build_success_m_tests";
    let coin = m::RandomBaseline::new(case.input("p_pass")?)
        .ok_or_else(|| case.fault("p_pass", "must be from 0 to 1"))?;
    case.found("expected_accuracy", coin.accuracy());
    case.found("expected_precision", coin.precision());
    case.found("expected_recall", coin.precision());
    case.found(
        "expected_f1_of_expectations",
        m::f1_of(coin.precision(), coin.precision()),
    );
    let mut by_tests = Map::new();
    for key in case
        .expected(BY_TESTS)
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
    {
        let tests: u32 = key
            .parse()
            .map_err(|_| case.fault(BY_TESTS, format!("`{key}` is no number of tests")))?;
        by_tests.insert(key.clone(), coin.build_success(tests).into());
    }
    case.found(BY_TESTS, by_tests);
    Ok(())
}

fn bug_value(case: &mut Case<'_>) -> Result<m::BugValue, Fault> {
    Ok(m::BugValue {
        value: case.input("V_b")?,
        cost: case.input("C_b")?,
        run_cost: case.input("R_c")?,
        review_cost: case.input("H_c")?,
    })
}

pub(super) fn value_thresholds(case: &mut Case<'_>) -> Result<(), Fault> {
    let bug = bug_value(case)?;
    let items = super::statistics::scored(case)?;
    let thresholds: Vec<f64> = case.input("thresholds")?;
    for (name, decision) in [
        ("attempt", m::Decision::Attempt),
        ("show", m::Decision::Show),
    ] {
        let points = thresholds.iter();
        let points: Vec<m::ValuePoint> = points
            .map(|threshold| bug.at_threshold(decision, &items, *threshold))
            .collect();
        let found = json!({
            "points": points,
            "break_even_threshold": bug.break_even_threshold(decision, &items),
            "best_threshold": bug.best_threshold(decision, &items),
        });
        case.found(name, found);
    }
    Ok(())
}

pub(super) fn net_value(case: &mut Case<'_>) -> Result<(), Fault> {
    let p = case.input("p")?;
    let bug = bug_value(case)?;
    case.found("abstention_attempt", bug.attempt(p));
    case.found("abstention_abstain", bug.abstain());
    case.found("validation_show", bug.show(p));
    case.found("validation_hide", bug.hide());
    case.found("break_even_p_attempt", bug.break_even_attempt());
    case.found("break_even_p_show", bug.break_even_show());
    Ok(())
}

pub(super) fn vote(case: &mut Case<'_>) -> Result<(), Fault> {
    let patches: Vec<String> = case.input("patches")?;
    let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
    let lines: Vec<u64> = patches.iter().map(|patch| m::line_count(patch)).collect();
    let vote = m::majority_vote(&patches, &lines)
        .ok_or_else(|| case.fault("patches", "there is none to choose"))?;
    case.found("normalised", vote.normalised);
    case.found("groups", vote.groups);
    case.found("winner_index", vote.winner);
    case.found("votes", vote.votes);
    Ok(())
}
