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
