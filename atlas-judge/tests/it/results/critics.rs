//! What critics said of files small enough to be counted by hand.

use super::*;

fn critic_line(
    instance: &str,
    agent: &str,
    resolved: bool,
    tests: &[(bool, bool, f64, u64)],
) -> Value {
    let truth: Vec<Value> = tests
        .iter()
        .enumerate()
        .map(|(at, test)| json!({"id": at.to_string(), "passed": test.0, "length": test.3}))
        .collect();
    let said: Vec<Value> = tests
        .iter()
        .enumerate()
        .map(|(at, test)| json!({"id": at.to_string(), "predicted": test.1, "confidence": test.2}))
        .collect();
    json!({"instance_id": instance, "patch_id": "p", "agent": agent, "resolved": resolved, "tests": truth, "critic": {"tests": said}})
}

#[test]
fn critics_of_a_small_file_by_hand() {
    let rows = [
        critic_line(
            "i",
            "a",
            true,
            &[(true, true, 90.0, 400), (true, true, 60.0, 400)],
        ),
        critic_line(
            "i",
            "b",
            false,
            &[(true, true, 80.0, 10), (false, true, 65.0, 51)],
        ),
        critic_line(
            "i",
            "c",
            false,
            &[(false, false, 70.0, 10), (false, false, 100.0, 51)],
        ),
        critic_line("j", "a", true, &[(true, true, 99.0, 400)]),
        critic_line("j", "b", true, &[(true, true, 99.0, 400)]),
        critic_line("k", "a", true, &[]),
    ];
    let found = analysed(&rows, &AnalysisOptions::default());
    let mut told_by_the_critic = rows.to_vec();
    for row in &mut told_by_the_critic {
        let truth = row["tests"].as_array_mut().unwrap();
        let lengths: Vec<Value> = truth.iter_mut().map(|test| test["length"].take()).collect();
        for (test, length) in row["critic"]["tests"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .zip(lengths)
        {
            test["length"] = length;
        }
    }
    assert_eq!(
        analysed(&told_by_the_critic, &AnalysisOptions::default()).critics,
        found.critics
    );
    let critic = &found.critics[0];
    assert_eq!((critic.patches, critic.empty, critic.tests), (5, 1, 8));
    assert_eq!(
        critic.micro,
        Confusion {
            tp: 5,
            fp: 1,
            fn_: 0,
            tn: 2
        }
    );
    // The rule turns the unsure long tests of a and b into failures.
    assert_eq!(
        critic.micro_with_rule,
        Confusion {
            tp: 4,
            fp: 0,
            fn_: 1,
            tn: 3
        }
    );
    assert_eq!(
        critic.r#macro,
        Confusion {
            tp: 3,
            fp: 1,
            fn_: 0,
            tn: 1
        }
    );
    assert_eq!(
        critic.macro_with_rule,
        Confusion {
            tp: 2,
            fp: 0,
            fn_: 1,
            tn: 2
        }
    );
    // Five of eight tests pass: a coin says so of a patch with two with the chance of 25/64, of one with one of 5/8.
    let coin = critic.random_patches.unwrap();
    let (one, two) = (0.625, 0.625 * 0.625);
    assert_eq!(coin.patches, 5);
    assert!(close(
        Some(coin.accuracy),
        (two + 2.0 * one + 2.0 * (1.0 - two)) / 5.0
    ));
    assert!(close(
        coin.precision,
        (two + 2.0 * one) / (3.0 * two + 2.0 * one)
    ));
    assert!(close(coin.recall, (two + 2.0 * one) / 3.0));
    assert!(close(coin.specificity, 1.0 - two));
    assert!(
        found
            .to_markdown()
            .contains("| patches, weighted coin (expected) | 5 | 57.2% | 67.7% | 54.7% |")
    );
    // Task i: predicted 1, 1, 0 against 1, 0.5, 0. Task j: all equal.
    let orders = &critic.instance_correlations;
    assert_eq!((orders.defined, orders.undefined), (1, 1));
    assert!((orders.mean.unwrap() - 0.866_025_403_784_438_6).abs() < 1e-12);
    assert_eq!(critic.agents.len(), 3);
    assert_eq!(critic.agents[1].predicted_pass_rate, Some(1.0));
    assert_eq!(critic.agents[1].actual_pass_rate, Some(0.75));
    assert_eq!(
        critic
            .confidence
            .iter()
            .map(|bin| bin.right + bin.wrong)
            .sum::<u64>(),
        8
    );
    assert_eq!(critic.confidence[19].right, 3);
}

#[test]
fn critics_of_different_tests_are_not_compared_silently() {
    let mut other = critic_line("i", "a", true, &[(true, true, 90.0, 400)]);
    other["critic"]["variant"] = json!("function");
    let rows = [
        critic_line("i", "a", true, &[(true, true, 90.0, 400)]),
        other.clone(),
    ];
    assert!(
        !analysed(&rows, &AnalysisOptions::default())
            .notes
            .iter()
            .any(|note| note.contains("cannot be compared"))
    );
    let third = critic_line("j", "a", true, &[(true, true, 90.0, 400)]);
    let rows = [rows[0].clone(), other, third];
    assert!(
        analysed(&rows, &AnalysisOptions::default())
            .notes
            .iter()
            .any(|note| note.contains("cannot be compared"))
    );
    // What takes the patch as a whole is compared patch by patch.
    let mut whole = rows[0].clone();
    let said = json!([{"id": "(patch)", "predicted": true, "confidence": 90.0}]);
    whole["critic"] = json!({"variant": "holistic", "tests": said});
    let found = analysed(&[rows[0].clone(), whole], &AnalysisOptions::default());
    assert_eq!(found.critics.len(), 2);
    assert!(!found.to_markdown().contains("cannot be compared"));
}

#[test]
fn the_rule_takes_the_length_that_the_critic_read() {
    // As an evaluation and a critic write them: the one knows how tests ended, the other how long they are.
    let said = |critic: Option<u64>, truth: Option<u64>| {
        let rows = [
            json!({"instance_id": "i", "agent": "a", "patch_id": "1", "resolved": true,
                "tests": [{"id": "t", "passed": true, "length": truth}]}),
            json!({"instance_id": "i", "agent": "a", "patch_id": "1", "critic": {"tests":
                [{"id": "t", "predicted": true, "confidence": 65, "length": critic}]}}),
        ];
        let found = analysed(&rows, &AnalysisOptions::default());
        let critic = &found.critics[0];
        assert_eq!((critic.micro.tp, critic.r#macro.tp), (1, 1));
        assert_eq!(critic.micro_with_rule, critic.macro_with_rule);
        critic.micro_with_rule.tp == 1
    };
    assert!(!said(Some(51), None));
    assert!(said(Some(50), None));
    assert!(!said(Some(51), Some(10)));
    assert!(said(Some(10), Some(51)));
    assert!(!said(None, Some(51)));
    assert!(said(None, None));
}
