//! From scores to what is shown: percentiles, both policies, one patch of several.

use atlas_core::ConfidenceSource::{self, Missing, TokenLogprobs, Verbalised};
use atlas_judge::validation::{
    ChoiceCandidate, DecisionError, DecisionRule, Deterministic, PatchRecord, Policies, Population,
    Review, Scored, choose, combine, decide,
};
use proptest::prelude::*;
use serde_json::Value;

fn scored(score: f64, source: ConfidenceSource) -> Scored {
    Scored {
        accepted: score > 0.0,
        score: Some(score),
        source,
    }
}

#[test]
fn percentile_decisions_are_the_golden_ones_with_the_guard() {
    let path = format!(
        "{}/tests/golden/metrics/percentile_cutoff.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let scores: Vec<f64> = serde_json::from_value(case["scores"].clone()).unwrap();
        let patches: Vec<Scored> = scores
            .iter()
            .map(|score| scored(*score, TokenLogprobs))
            .collect();
        for p in [50.0, 75.0, 90.0] {
            let expected = &case[format!("p{p}")];
            let found = decide(DecisionRule::Percentile(p), &patches).unwrap();
            let cutoff = expected["cutoff"].as_f64().unwrap();
            assert!(
                (found.cutoff.unwrap() - cutoff).abs() < 1e-12,
                "{p}: {found:?}"
            );
            let accepted: Vec<usize> =
                serde_json::from_value(expected["accepted_idx"].clone()).unwrap();
            let shown: Vec<usize> = (0..scores.len()).filter(|at| found.shown[*at]).collect();
            let guarded: Vec<usize> = accepted
                .into_iter()
                .filter(|at| scores[*at] > 0.0)
                .collect();
            assert_eq!(shown, guarded, "{p}");
        }
    }
}

#[test]
fn scores_that_do_not_compare_give_no_percentile() {
    let rule = DecisionRule::Percentile(75.0);
    let mixed = [scored(0.5, TokenLogprobs), scored(0.6, Verbalised)];
    let why = decide(rule, &mixed).unwrap_err().to_string();
    assert!(
        why.contains("TokenLogprobs") && why.contains("Verbalised"),
        "{why}"
    );
    assert_eq!(
        decide(DecisionRule::Binary, &mixed).unwrap().shown,
        [true, true]
    );

    let missing = Scored {
        accepted: true,
        score: None,
        source: Missing,
    };
    assert_eq!(
        decide(rule, &[scored(0.5, TokenLogprobs), missing]),
        Err(DecisionError::NoScore(1))
    );
    assert_eq!(
        decide(DecisionRule::Binary, &[missing]).unwrap().shown,
        [true]
    );

    assert!(matches!(
        decide(DecisionRule::Percentile(101.0), &[]),
        Err(DecisionError::NotAPercentile(_))
    ));
    assert!(matches!(
        decide(rule, &[scored(1.5, TokenLogprobs)]),
        Err(DecisionError::NotAScore(0, _))
    ));
    assert_eq!(decide(rule, &[]).unwrap().shown, Vec::<bool>::new());
}

fn record(bug: &str, p: f64, stage: Option<&str>, score: Option<f64>) -> PatchRecord {
    PatchRecord {
        bug: bug.to_owned(),
        patch: format!("{bug}-{score:?}"),
        abstention: Some(p),
        deterministic: Some(Deterministic {
            passed: stage.is_none(),
            stage: stage.map(str::to_owned),
        }),
        review: score.map(|score| Review {
            accepted: score > 0.0,
            score: Some(score),
            source: TokenLogprobs,
        }),
    }
}

#[test]
fn the_funnel_counts_what_each_step_removes() {
    let records = [
        record("a", 0.9, None, Some(0.8)),
        record("a", 0.9, None, Some(0.0)),
        record("a", 0.9, Some("regression-check"), None),
        record("b", 0.5, None, Some(0.3)),
        record("b", 0.5, Some("last-test-command"), None),
        record("c", 0.1, None, Some(0.95)),
    ];
    let steps = |policies: &Policies| {
        let found = combine(&records, policies).unwrap();
        let counts: Vec<(String, usize, usize, usize, usize)> = found
            .funnel
            .iter()
            .map(|s| {
                (
                    s.step.clone(),
                    s.bugs,
                    s.patches,
                    s.removed_bugs,
                    s.removed_patches,
                )
            })
            .collect();
        (found.shown, counts, found.cutoff)
    };
    let (shown, counts, cutoff) = steps(&Policies::default());
    assert_eq!(shown, [true, false, false, true, false, false]);
    assert_eq!(cutoff, None);
    let expected = [
        ("all", 3, 6, 0, 0),
        ("abstention", 2, 5, 1, 1),
        ("last-test-command", 2, 4, 0, 1),
        ("regression-check", 2, 3, 0, 1),
        ("review", 2, 2, 0, 1),
    ];
    assert_eq!(
        counts,
        expected.map(|(step, a, b, c, d)| (step.to_owned(), a, b, c, d))
    );

    // Scores that reach validation: 0.8, 0, 0.3; of all bugs also 0.95.
    let p50 = Policies {
        rule: Some(DecisionRule::Percentile(50.0)),
        ..Policies::default()
    };
    let (shown, counts, cutoff) = steps(&p50);
    assert_eq!(
        (shown, cutoff),
        (vec![true, false, false, true, false, false], Some(0.3))
    );
    assert_eq!(counts.last().unwrap().0, "percentile");
    let all = Policies {
        population: Population::AllBugs,
        ..p50
    };
    let (shown, _, cutoff) = steps(&all);
    assert_eq!(shown, [true, false, false, false, false, false]);
    assert!((cutoff.unwrap() - 0.55).abs() < 1e-12);

    let none = Policies {
        tau: None,
        deterministic: false,
        rule: None,
        ..Policies::default()
    };
    assert_eq!(steps(&none).0, [true; 6]);
}

#[test]
fn what_a_policy_needs_must_be_there() {
    let mut records = [record("a", 0.9, None, None)];
    let why = combine(&records, &Policies::default())
        .unwrap_err()
        .to_string();
    assert!(why.contains("`a`") && why.contains("not reviewed"), "{why}");
    records[0].deterministic = None;
    assert!(combine(&records, &Policies::default()).is_err());
    records[0].abstention = None;
    let why = combine(&records, &Policies::default())
        .unwrap_err()
        .to_string();
    assert!(why.contains("probability"), "{why}");
    // A bug that was not attempted needs nothing more.
    let mut abstained = [record("a", 0.1, None, None)];
    abstained[0].deterministic = None;
    let found = combine(&abstained, &Policies::default()).unwrap();
    assert_eq!(found.shown, [false]);
    let steps: Vec<&str> = found.funnel.iter().map(|one| one.step.as_str()).collect();
    assert_eq!(steps, ["all", "abstention", "review"]);
    let all = Policies {
        rule: Some(DecisionRule::Percentile(50.0)),
        population: Population::AllBugs,
        ..Policies::default()
    };
    assert!(combine(&[record("a", 0.1, None, None)], &all).is_err());
    assert_eq!(
        combine(&[], &Policies::default()).unwrap().funnel[0].patches,
        0
    );
}

proptest! {
    #[test]
    fn the_funnel_only_narrows(
        values in proptest::collection::vec((0_u8..5, 0.0_f64..1.0, 0_u8..3, 0.0_f64..1.0), 0..30),
        p in 0.0_f64..100.0,
    ) {
        let records: Vec<PatchRecord> = values
            .iter()
            .map(|(bug, probability, stage, score)| {
                let stage = (*stage == 0).then_some("regression-check");
                record(&bug.to_string(), *probability, stage, Some(*score))
            })
            .collect();
        let policies = Policies { rule: Some(DecisionRule::Percentile(p)), ..Policies::default() };
        let found = combine(&records, &policies).unwrap();
        for pair in found.funnel.windows(2) {
            prop_assert!(pair[1].patches <= pair[0].patches && pair[1].bugs <= pair[0].bugs);
            prop_assert_eq!(pair[0].patches - pair[1].removed_patches, pair[1].patches);
        }
        let shown = found.shown.iter().filter(|shown| **shown).count();
        prop_assert_eq!(found.funnel.last().unwrap().patches, shown);
        let binary = combine(&records, &Policies::default()).unwrap();
        for (strict, wide) in found.shown.iter().zip(&binary.shown) {
            prop_assert!(!strict || *wide);
        }
        let mut turned = records.clone();
        turned.reverse();
        let mut again = combine(&turned, &policies).unwrap().shown;
        again.reverse();
        prop_assert_eq!(again, found.shown);
    }
}

#[test]
fn one_patch_is_chosen_by_vote_among_the_accepted() {
    let patch = |at: u32, line: &str, accepted: bool, lines_after: Option<u64>| ChoiceCandidate {
        patch: format!("--- a/x\n+++ b/x\n@@ -{at} +{at} @@\n-old\n+{line}\n"),
        accepted,
        lines_after,
    };
    // The same change at another line and with other names is the same.
    let found = choose(&[
        patch(1, "return 1", true, Some(5)),
        patch(1, "a = f(b)", true, Some(9)),
        patch(7, "x = g(y)", true, Some(8)),
    ]);
    assert_eq!(
        found.map(|one| (one.place, one.votes, one.accepted)),
        Some((2, 2, 3))
    );
    // Words of the language are no names: these three say three things.
    let words = ["return True", "return False", "raise Error", "return False"];
    let found = choose(&words.map(|line| patch(1, line, true, None)));
    assert_eq!(found.map(|one| (one.place, one.votes)), Some((1, 2)));
    // What validation rejects has no vote.
    let found = choose(&[
        patch(1, "a = b", false, None),
        patch(1, "c = d", false, None),
        patch(1, "return 1", true, None),
    ]);
    assert_eq!(found.map(|one| (one.place, one.votes)), Some((2, 1)));
    // A tie goes to the fewest lines, then to the first.
    let found = choose(&[
        patch(1, "1", true, Some(9)),
        patch(1, "2", true, Some(3)),
        patch(1, "3", true, Some(3)),
    ]);
    assert_eq!(found.map(|one| one.place), Some(1));
    assert_eq!(choose(&[patch(1, "1", false, None)]), None);
    assert_eq!(choose(&[]), None);
}
