//! Classes of tasks.

use crate::support::{InOrder, cx, said, subject};
use atlas_core::{ConfidenceSource, ErrorKind, Judge as _, Patch};
use atlas_judge::classes::{
    ClassJudge, ClassOptions, ClassSource, ClassSubject, ClassTable, Classes, CodeType, Domain,
    IssueType,
};
use serde_json::json;

fn change(path: &str) -> Patch {
    Patch::new(format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"))
}

fn code(subject: &ClassSubject, expected: Option<CodeType>) {
    let found = Classes::by_rule(subject).code_type;
    match expected {
        Some(class) => {
            assert_eq!((found.class, found.source), (class, ClassSource::Rule));
            assert!(!found.evidence.unwrap().text.is_empty());
        }
        None => assert_eq!(found.source, ClassSource::Nobody, "{subject:?}"),
    }
}

#[test]
fn code_types_by_files_labels_and_titles() {
    let of = |path: &str, title: &str, labels: &[&str]| ClassSubject {
        issue: "x".to_owned(),
        gold_patch: change(path),
        title: (!title.is_empty()).then(|| title.to_owned()),
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        ..ClassSubject::default()
    };
    code(
        &of("sub/Cargo.lock", "fix: x", &[]),
        Some(CodeType::DependencyUpdate),
    );
    code(
        &of(".github/workflows/ci.yml", "", &[]),
        Some(CodeType::BuildCi),
    );
    code(
        &of("src/a.rs", "", &["kind/bug", "good first issue"]),
        Some(CodeType::BugFix),
    );
    code(
        &of("src/a.rs", "feat: y", &["C-performance"]),
        Some(CodeType::Performance),
    );
    code(&of("src/a.rs", "", &["bug", "enhancement"]), None);
    code(
        &of("src/a.rs", "feat(parser)!: y", &[]),
        Some(CodeType::Feature),
    );
    code(
        &of("src/a.rs", "chore(deps): z", &[]),
        Some(CodeType::DependencyUpdate),
    );
    code(&of("src/a.rs", "chore: z", &[]), None);
    code(&of("src/a.rs", "Fix the fixing of fixes", &[]), None);
    code(&of("src/cmake/parse.rs", "", &[]), None);
    code(
        &of("docs/usage.md", "fix: x", &[]),
        Some(CodeType::Documentation),
    );
    code(
        &of("src/a.rs", "docs: y", &[]),
        Some(CodeType::Documentation),
    );
    code(&of("src/a.rs", "test: y", &[]), Some(CodeType::Test));
    code(
        &of("src/a.rs", "", &["bug", "security"]),
        Some(CodeType::Security),
    );
    code(
        &of("src/a.rs", "Fix CVE-2024-12345", &["bug"]),
        Some(CodeType::Security),
    );
    let mut listed = of("src/a.rs", "", &["bug"]);
    listed.issue = "It is\nGHSA-2g4f-4pwh-qvx6 again".to_owned();
    code(&listed, Some(CodeType::Security));
    listed.issue = "GHSA-and so on, CVE-24-1".to_owned();
    code(&listed, Some(CodeType::BugFix));
}

#[test]
fn domains_by_topics_and_else_by_imports() {
    let check = |topics: &[&str], lines: &str, expected: Option<Domain>| {
        let patch = format!(
            "--- a/x\n+++ b/x\n@@ -0,0 +1,{} @@\n{lines}",
            lines.lines().count()
        );
        let subject = ClassSubject {
            topics: topics.iter().map(|&topic| topic.to_owned()).collect(),
            gold_patch: Patch::new(patch),
            ..ClassSubject::default()
        };
        let found = Classes::by_rule(&subject).domain;
        match expected {
            Some(domain) => {
                assert_eq!(
                    (found.class, found.source),
                    (domain, ClassSource::Rule),
                    "{topics:?} {lines}"
                );
                assert!(!found.evidence.unwrap().text.is_empty());
            }
            None => assert_eq!(found.source, ClassSource::Nobody, "{topics:?} {lines}"),
        }
    };
    check(
        &["python", "Linter"],
        "+import torch\n",
        Some(Domain::DevTools),
    );
    check(&["cli", "database"], "+x\n", None);
    check(
        &["cli", "database", "sql"],
        "+x\n",
        Some(Domain::DataEngineering),
    );
    check(&[], "+import torch.nn as nn\n", Some(Domain::AiMl));
    check(&[], "+from django.db import models\n", Some(Domain::Web));
    check(&[], "+use clap::Parser;\n", Some(Domain::Cli));
    check(&[], "+import React from 'react'\n", Some(Domain::Web));
    check(
        &[],
        "+const web3 = require('web3')\n",
        Some(Domain::Blockchain),
    );
    check(&[], "+\t\"github.com/spf13/cobra\"\n", Some(Domain::Cli));
    check(&[], "+#include <Arduino.h>\n", Some(Domain::Embedded));
    check(&[], "+import torchlight\n", None);
    check(&[], "+import torch\n+import flask\n", None);
    check(&[], "+import os\n", None);
}

#[tokio::test]
async fn what_a_source_told_is_read_from_the_row() {
    let mut subject = subject("x", None, json!({}));
    subject
        .instance
        .set("patch", "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n");
    let sourced =
        json!({"title": "feat: x", "topics": ["cli"], "links": [{"labels": ["enhancement"]}]});
    subject.instance.set("atlas", json!({"sourced": sourced}));
    let judgement = ClassJudge::rules().judge(&cx(), &subject).await.unwrap();
    assert_eq!(judgement.label, "feature/feature-request");
    assert_eq!(judgement.details["classes"]["domain"]["class"], "cli");
    assert_eq!(
        judgement.details["classes"]["domain"]["evidence"]["text"],
        "cli"
    );
}

#[test]
fn issue_types_by_labels_and_templates() {
    let check = |issue: &str, labels: &[&str], expected: Option<IssueType>| {
        let subject = ClassSubject {
            issue: issue.to_owned(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            ..ClassSubject::default()
        };
        let found = Classes::by_rule(&subject).issue_type;
        match expected {
            Some(class) => assert_eq!((found.class, found.source), (class, ClassSource::Rule)),
            None => assert_eq!(found.source, ClassSource::Nobody, "{issue}"),
        }
    };
    check("[BUG] x", &[], Some(IssueType::BugReport));
    check(
        "x\n### Steps to reproduce\n1. y",
        &[],
        Some(IssueType::BugReport),
    );
    check(
        "x\nTraceback (most recent call last)\n",
        &[],
        Some(IssueType::BugReport),
    );
    check(
        "x\n**Is your feature request related to a problem?**",
        &[],
        Some(IssueType::FeatureRequest),
    );
    check("Feature request: x\n## Actual behavior\ny", &[], None);
    check("It would be nice not to crash", &[], None);
    check(
        "[BUG] x",
        &["type: performance"],
        Some(IssueType::PerformanceIssue),
    );
    check("x", &["tech debt"], Some(IssueType::Chore));
}

#[tokio::test]
async fn a_model_decides_only_what_rules_leave_open() {
    let mut subject = subject("[BUG] It is slow", None, json!({}));
    subject
        .instance
        .set("patch", "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n");
    let text = json!({"reasoning": "why", "code_type": "performance", "issue_type": "chore"});
    let model = InOrder::new([said(&text.to_string())]);
    let judge = ClassJudge::new(&model, ClassOptions::default());
    let judgement = judge.judge(&cx(), &subject).await.unwrap();
    assert_eq!(judgement.label, "performance/bug-report");
    assert_eq!(judgement.details["classes"]["code_type"]["source"], "model");
    assert_eq!(judgement.details["classes"]["issue_type"]["source"], "rule");
    assert_eq!(judgement.details["prompt_version"], "classes.v1");
    // Without a model it is open, and says so.
    let judgement = ClassJudge::rules().judge(&cx(), &subject).await.unwrap();
    assert_eq!(judgement.label, "unknown/bug-report");
    assert_eq!(
        judgement.details["classes"]["code_type"]["source"],
        "nobody"
    );
    assert_eq!(judgement.confidence.source, ConfidenceSource::Missing);
    // Where rules tell both, nothing is asked.
    let model = InOrder::new([]);
    let judge = ClassJudge::new(&model, ClassOptions::default());
    subject.instance.set("labels", json!(["bug"]));
    let judgement = judge.judge(&cx(), &subject).await.unwrap();
    assert_eq!(judgement.label, "bug-fix/bug-report");
    assert_eq!(judgement.confidence.source, ConfidenceSource::Rule);
    // Words that are none of the classes are asked for again, then refused.
    subject.instance.set("labels", json!([]));
    let bad = || said(&text.to_string().replace("performance", "speed"));
    let model = InOrder::new([bad(), bad()]);
    let judge = ClassJudge::new(&model, ClassOptions::default());
    let why = judge.judge(&cx(), &subject).await.unwrap_err();
    assert_eq!((why.kind(), model.calls()), (ErrorKind::Model, 2));
    assert!(why.chain().contains("code_type"), "{}", why.chain());
}

#[test]
fn the_table_of_paper_001() {
    let counts = [
        (CodeType::BugFix, 298),
        (CodeType::Feature, 150),
        (CodeType::Refactor, 22),
        (CodeType::Performance, 12),
        (CodeType::Unknown, 3),
        (CodeType::DependencyUpdate, 1),
        (CodeType::BuildCi, 1),
    ];
    let all = counts
        .iter()
        .flat_map(|(class, count)| std::iter::repeat_n(class.as_str(), *count));
    let table = ClassTable::of(all);
    assert_eq!(table.total, 487);
    let classes: Vec<(&str, usize)> = table
        .rows
        .iter()
        .map(|row| (row.class.as_str(), row.count))
        .collect();
    assert_eq!(classes[..2], [("bug-fix", 298), ("feature", 150)]);
    assert_eq!(classes[5..], [("build-ci", 1), ("dependency-update", 1)]);
    // Of the sum, not of the 488 that the paper divides by.
    assert!((table.rows[0].percentage - 298.0 * 100.0 / 487.0).abs() < 1e-12);
    let sum: f64 = table.rows.iter().map(|row| row.percentage).sum();
    assert!((sum - 100.0).abs() < 1e-9);
    assert_eq!(ClassTable::of([]).rows, []);
}
