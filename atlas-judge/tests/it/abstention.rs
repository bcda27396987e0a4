//! The abstention policy.

use crate::support::{InOrder, cx, no_attachments, recorded, said_with, subject, with_top};
use atlas_core::testing::judge_contract;
use atlas_core::{ConfidenceSource, Judge};
use atlas_judge::BugReport;
use atlas_judge::abstention::{
    Abstention, AbstentionOptions, AgentTool, FeatureAverages, FeatureOptions, Representation,
    report_features,
};
use atlas_judge::answer::Labels;
use serde_json::json;

const PROBLEM: &str = "Parser fails on an empty file\n\n`read_all` in src/parser/mod.rs panics.";

fn sure(p: f64) -> atlas_core::Completion {
    said_with(
        "success",
        vec![with_top(
            "success",
            &[("success", p.ln()), ("failure", (1.0 - p).ln())],
        )],
    )
}

#[tokio::test]
async fn is_a_judge() {
    let policy = Abstention::new(
        InOrder::new([recorded("r1_grammar_post_sampling_0")]),
        AbstentionOptions::default(),
    )
    .unwrap();
    judge_contract(
        &policy,
        &subject(PROBLEM, None, no_attachments()),
        &["attempt", "abstain"],
    )
    .await;
}

#[tokio::test]
async fn the_threshold_itself_attempts() {
    for (p, tau, label) in [
        (0.5, 0.5, "attempt"),
        (0.49, 0.5, "abstain"),
        (0.7, 0.75, "abstain"),
        (0.0001, 0.0, "attempt"),
    ] {
        let options = AbstentionOptions {
            tau,
            ..AbstentionOptions::default()
        };
        let policy = Abstention::new(InOrder::new([sure(p)]), options).unwrap();
        let found = policy
            .judge(&cx(), &subject(PROBLEM, None, no_attachments()))
            .await
            .unwrap();
        assert_eq!(found.label, label, "{p} at {tau}");
        assert_eq!(found.confidence.source, ConfidenceSource::LabelTopLogprobs);
        assert!((found.confidence.value.unwrap() - p).abs() < 1e-9);
        assert_eq!(found.details["prompt_version"], "abstention.v1");
        assert!((found.details["label_mass"].as_f64().unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(found.details["features"]["code_like_identifiers"], 1);
    }
    let options = AbstentionOptions {
        tau: 1.5,
        ..AbstentionOptions::default()
    };
    assert!(Abstention::new(InOrder::new([]), options).is_err());
}

/// What the model gives to other words is lost for both labels: by their share alone the first would be certain.
#[tokio::test]
async fn probability_is_that_of_the_label_itself() {
    let mut found = Vec::new();
    for top in [
        [("success", 0.55_f64.ln()), ("Success", 0.02_f64.ln())],
        [("success", 0.95_f64.ln()), ("failure", 0.05_f64.ln())],
    ] {
        let answer = said_with("success", vec![with_top("success", &top)]);
        let policy = Abstention::new(InOrder::new([answer]), AbstentionOptions::default()).unwrap();
        let subject = subject(PROBLEM, None, no_attachments());
        let judgement = policy.judge(&cx(), &subject).await.unwrap();
        let share = judgement.details["share_success"].as_f64().unwrap();
        found.push((judgement.confidence.value.unwrap(), share));
    }
    let close = |(p, share): (f64, f64), expected: (f64, f64)| {
        (p - expected.0).abs() < 1e-9 && (share - expected.1).abs() < 1e-9
    };
    assert!(close(found[0], (0.57, 1.0)), "{found:?}");
    assert!(close(found[1], (0.95, 0.95)), "{found:?}");
}

#[test]
fn prompts_tell_what_the_agent_can_do() {
    let report = BugReport::from_problem_statement(PROBLEM);
    let options = AbstentionOptions {
        representation: Representation::R1,
        tools: vec![AgentTool::new("grep", "look for words")],
        max_steps: 7,
        labels: Labels::new("yes", "no").unwrap(),
        ..AbstentionOptions::default()
    };
    let text = |options: &AbstentionOptions| {
        let policy = Abstention::new(InOrder::new([]), options.clone()).unwrap();
        policy.prompt(&report).unwrap()[0].content.clone()
    };
    let r1 = text(&options);
    for part in [
        "`grep` to look for words",
        "7 steps",
        "`yes`",
        "`no`",
        "\nParser fails on an empty file\n",
        "panics.",
    ] {
        assert!(r1.contains(part), "{part}: {r1}");
    }
    assert!(!r1.contains("What to look for"));
    let r2 = text(&AbstentionOptions {
        representation: Representation::R2,
        ..options
    });
    let guidelines = r2.find("What to look for").unwrap();
    assert!(r2.find("one word alone").unwrap() < guidelines);
    let title = r2.find("# Title").unwrap();
    assert!(guidelines < title);
    assert_eq!(r2[guidelines..title].matches("\n- ").count(), 5);
}

#[tokio::test]
async fn a_task_without_report_is_refused() {
    let policy = Abstention::new(InOrder::new([]), AbstentionOptions::default()).unwrap();
    let why = policy
        .judge(&cx(), &subject(" ", None, no_attachments()))
        .await
        .unwrap_err();
    assert!(why.chain().contains("problem_statement"), "{}", why.chain());
    let given = subject("", None, json!({"bug_title": "T", "bug_description": "D"}));
    assert_eq!(BugReport::of(&given).unwrap().text(), "T\nD");
}

#[test]
fn features_are_those_of_the_table() {
    let check = |text: &str, identifiers: usize, root: bool, rule: bool, ticks: bool| {
        let found = report_features(text, &FeatureOptions::default());
        assert_eq!(
            (
                found.code_like_identifiers,
                found.repository_root,
                found.build_rule,
                found.code_ticks
            ),
            (identifiers, root, rule, ticks),
            "{text}"
        );
    };
    check("Plain words. Nothing Else, HTTP", 0, false, false, false);
    check(
        "snake_case camelCase PascalCase __init__ _x",
        3,
        false,
        false,
        false,
    );
    check("fooBar fooBar", 2, false, false, false);
    check("see src/a/b.rs:12.", 0, true, false, false);
    check(
        "see https://example.org/a/b.html and/or this",
        0,
        false,
        false,
        false,
    );
    check("run //base/strings:split_test", 1, false, true, false);
    check("edit BUILD.bazel", 0, false, true, false);
    check("```\nx\n```", 0, false, false, true);
    let options = FeatureOptions {
        roots: vec!["mono/".to_owned()],
    };
    assert!(report_features("in mono/x", &options).repository_root);
    assert!(!report_features("in src/a.py", &options).repository_root);
    assert_eq!(report_features("é…", &options).characters, 2);

    let group = ["a_b c_d", "```"].map(|text| report_features(text, &options));
    let means = FeatureAverages::of(&group).unwrap();
    assert_eq!(
        (means.reports, means.code_like_identifiers, means.code_ticks),
        (2, 1.0, 0.5)
    );
    assert_eq!(FeatureAverages::of(&[]), None);
}
