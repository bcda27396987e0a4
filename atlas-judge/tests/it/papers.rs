//! The papers' analyses over results files, each on a few lines that are worked out by hand.

use atlas_judge::metrics::analysis::{Analysis, AnalysisOptions, analyse};
use atlas_judge::metrics::results::read_results;
use atlas_judge::policies_report;
use serde_json::{Map, Value, json};

/// A line about a patch of one agent, with further fields merged in.
fn line(instance: &str, agent: &str, patch: &str, resolved: bool, more: Value) -> Value {
    let mut line = json!({
        "instance_id": instance, "agent": agent, "patch_id": patch, "resolved": resolved
    });
    let more: Map<String, Value> = serde_json::from_value(more).unwrap();
    line.as_object_mut().unwrap().extend(more);
    line
}

fn analysed(rows: &[Value], options: &AnalysisOptions) -> Analysis {
    let text = rows
        .iter()
        .fold(String::new(), |text, row| text + &row.to_string() + "\n");
    analyse(&read_results(text.as_bytes()).unwrap(), options).unwrap()
}

/// A table that the Markdown has, from its head to its end.
fn table<'a>(markdown: &'a str, head: &str) -> &'a str {
    let from = markdown
        .find(head)
        .unwrap_or_else(|| panic!("{head}: {markdown}"));
    let rest = &markdown[from..];
    &rest[..rest.find("\n\n").unwrap_or(rest.len())]
}

#[test]
fn tables_have_a_column_for_each_k_that_is_asked_for() {
    let judged = |patch: &str, resolved: bool, accepted: bool| {
        let more = json!({"validation": {"accepted": accepted, "source": "s"}});
        line("i", "a", patch, resolved, more)
    };
    let rows = [
        judged("1", true, true),
        judged("2", true, false),
        judged("3", false, true),
        judged("4", false, false),
    ];
    let asked = AnalysisOptions {
        max_k: 1,
        table_ks: vec![2, 3, 9],
        ..AnalysisOptions::default()
    };
    let found = analysed(&rows, &asked);
    assert_eq!(found.policies[0].ks, [1, 2, 3, 4]);
    let markdown = found.to_markdown();
    // Two are shown, one of them right; so two of two always have it.
    assert!(
        table(&markdown, "| Filtered success | @2 | @3 |").contains("| validation | 100.0% |"),
        "{markdown}"
    );
    // One of four is right and shown: 1 - C(3,2)/C(4,2), and 1 - C(3,3)/C(4,3).
    let both = table(&markdown, "| Pass & validation | @2 | @3 |");
    assert!(both.contains("| validation | 50.0% | 75.0% |"), "{both}");
    let recall = table(&markdown, "| Validation recall | @2 | @3 |");
    assert!(
        recall.contains("| validation | 100.0% | 100.0% |"),
        "{recall}"
    );
    let usual = analysed(&rows, &AnalysisOptions::default()).to_markdown();
    assert!(
        usual.contains("| Validation recall | @1 | @3 | @4 |"),
        "{usual}"
    );
    let page = policies_report(&found, "k");
    for curve in [
        "Filtered success@k",
        "(Pass &amp; validation)@k",
        "Validation recall@k",
    ] {
        assert!(page.contains(&format!("aria-label=\"{curve}\"")), "{curve}");
    }
}

#[test]
fn the_funnel_has_success_at_1_beside_the_pooled_precision() {
    let judged = |instance: &str, patch: &str, resolved: bool, accepted: bool| {
        let more = json!({"validation": {"accepted": accepted, "source": "s"}});
        line(instance, "a", patch, resolved, more)
    };
    let rows = [
        judged("i", "1", true, true),
        judged("i", "2", false, false),
        judged("j", "1", false, true),
        judged("j", "2", false, true),
        judged("j", "3", false, true),
    ];
    let found = analysed(&rows, &AnalysisOptions::default());
    let funnel = &found.policies[0].funnel;
    assert_eq!(funnel[0].success_at_1, Some(0.25));
    assert_eq!(funnel[1].success_at_1, Some(0.5));
    let steps = found.to_markdown();
    let steps = table(
        &steps,
        "| Left | Tasks | Patches | Right | Precision | Success @1 |",
    );
    assert!(
        steps.contains("| accepted by validation | 2 | 4 | 1 | 25.0% | 50.0% |"),
        "{steps}"
    );
}

#[test]
fn sizes_of_patches_tell_accepted_from_rejected_and_empty_from_abstained() {
    let judged = |patch: &str, resolved: bool, accepted: bool, files: u64, lines: u64| {
        let more = json!({
            "abstention": {"probability": 0.9, "source": "p"},
            "deterministic": {"passed": files > 0},
            "validation": if files > 0 { json!({"accepted": accepted, "source": "s"}) } else { Value::Null },
            "patch_size": {"files": files, "hunks": files, "added": lines, "removed": 1.min(files)},
        });
        line("i", "a", patch, resolved, more)
    };
    let mut rows = vec![
        judged("1", true, true, 1, 3),
        judged("2", false, true, 2, 9),
        judged("3", false, false, 1, 19),
        judged("4", false, false, 0, 0),
    ];
    // The task of this patch is not attempted, and its size is not known.
    rows.push(line(
        "j",
        "a",
        "1",
        true,
        json!({"abstention": {"probability": 0.1, "source": "p"}}),
    ));
    let found = analysed(&rows, &AnalysisOptions::default());
    let set = &found.policies[0];
    let row = |name: &str| set.policies.iter().find(|row| row.name == name).unwrap();
    let nonempty = row("abstention without empty patches");
    assert_eq!((nonempty.judged, nonempty.shown), (5, 3));
    assert_eq!(nonempty.success_at[&1].value, Some(1.0 / 3.0));
    assert_eq!(row("abstention").success_at[&1].value, Some(0.25));
    let stages = row("abstention + deterministic stages");
    assert_eq!((stages.judged, stages.shown), (5, 3));
    let sizes = row("validation").sizes.as_ref().unwrap();
    let lines = sizes.accepted.line_operations.unwrap();
    assert_eq!(
        (sizes.accepted.patches, lines.mean, lines.median),
        (2, 7.0, 7.0)
    );
    let rejected = sizes.rejected.line_operations;
    assert_eq!(rejected.map(|lines| lines.mean), Some(20.0));
    assert_eq!(
        (sizes.accepted_wrong.files, sizes.rejected_right.patches),
        (Some(2.0), 0)
    );
    let markdown = found.to_markdown();
    let sizes = table(&markdown, "| Line operations |");
    assert!(
        sizes.contains(
            "| validation: accepted | 2 | 7.00 | 5.50 | 7.00 | 8.50 | 6.00 | 1.00 | 1.50 | 1.50 |"
        ),
        "{sizes}"
    );
    assert!(sizes.contains("| right | 1 | 4.00 |"), "{sizes}");
    assert!(policies_report(&found, "sizes").contains("aria-label=\"Size of patches\""));
    // Without sizes there is neither.
    for row in &mut rows {
        row.as_object_mut().unwrap().remove("patch_size");
    }
    let found = analysed(&rows, &AnalysisOptions::default());
    let names = found.policies[0].policies.iter();
    assert!(
        names
            .clone()
            .all(|row| !row.name.contains("empty") && row.sizes.is_none())
    );
    assert!(!found.to_markdown().contains("Line operations"));
}
