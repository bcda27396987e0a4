//! What stands in pages, and that they need nothing beside them.

use crate::support::{data, elements};
use atlas_core::TestStatus;
use atlas_report::*;
use base64::Engine as _;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

fn row(number: usize) -> CandidateRow {
    CandidateRow {
        id: format!("owner__repo-{number}"),
        repo: "owner/repo".to_owned(),
        standing: if number.is_multiple_of(3) {
            "accepted"
        } else {
            "rejected"
        }
        .to_owned(),
        stage: "make".to_owned(),
        outcome: "instance".to_owned(),
        reason: "Before runs".to_owned(),
        tests: Some((2, 40, 0)),
        ..CandidateRow::default()
    }
}

fn run() -> RunPage {
    RunPage {
        name: "forty".to_owned(),
        candidates: 3,
        dataset_rows: 1,
        funnel: vec![YieldRow {
            name: "4 accepted".to_owned(),
            of: 3,
            left: 1,
            share: Share::percent(33.3, 6.1, 79.2),
            paper: Some(8.1),
        }],
        languages: vec![YieldRow {
            name: "python".to_owned(),
            of: 3,
            left: 1,
            share: Share::percent(33.3, 6.1, 79.2),
            paper: Some(41.0),
        }],
        reasons: vec![ReasonRow {
            word: "no_evidence".to_owned(),
            count: 2,
            examples: vec![("owner__repo-1".to_owned(), "no test".to_owned())],
        }],
        rows: (0..3).map(row).collect(),
        ..RunPage::default()
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert_eq!(run().html(None), run().html(None));
}

#[test]
fn a_page_loads_nothing() {
    let html = run().html(None);
    for element in elements(&html) {
        assert!(
            !matches!(
                element.name.as_str(),
                "link" | "img" | "iframe" | "object" | "embed" | "base"
            ),
            "{}",
            element.name
        );
        for (name, value) in &element.attributes {
            let loads = matches!(name.as_str(), "src" | "srcset" | "href" | "poster");
            assert!(
                !loads || value.starts_with('#'),
                "{}: {name}={value}",
                element.name
            );
        }
    }
    // The only addresses are the names of what SVG is.
    let rest = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http://") && !rest.contains("https://"));
}

#[test]
fn the_policy_names_what_is_in_the_page() {
    for live in [
        None,
        Some(Live {
            tag: "x".to_owned(),
            up: None,
        }),
    ] {
        let html = run().html(live.as_ref());
        let all = elements(&html);
        let meta = all.iter().find(|one| {
            one.attributes
                .get("http-equiv")
                .is_some_and(|name| name == "Content-Security-Policy")
        });
        let policy = &meta.unwrap().attributes["content"];
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"));
        assert_eq!(policy.contains("connect-src 'self'"), live.is_some());
        for name in ["style", "script"] {
            let text = &all
                .iter()
                .find(|one| one.name == name && !one.attributes.contains_key("type"))
                .unwrap()
                .text;
            let hash =
                base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
            assert!(
                policy.contains(&format!("{name}-src 'sha256-{hash}'")),
                "{name}"
            );
        }
        // A style in an attribute would need a policy that lets any run.
        assert!(all.iter().all(|one| !one.attributes.contains_key("style")));
    }
}

#[test]
fn a_page_can_be_heard_and_walked_through() {
    for html in [run().html(None), instance().html(None)] {
        let all = elements(&html);
        let ids: Vec<&String> = all
            .iter()
            .filter_map(|one| one.attributes.get("id"))
            .collect();
        assert_eq!(
            ids.len(),
            ids.iter().collect::<BTreeSet<_>>().len(),
            "an id twice"
        );
        for link in all.iter().filter(|one| one.name == "a") {
            let target = link.attributes["href"]
                .strip_prefix('#')
                .unwrap()
                .to_owned();
            assert!(
                target.starts_with('?') || ids.contains(&&target),
                "{target}"
            );
        }
        assert_eq!(all.iter().filter(|one| one.name == "h1").count(), 1);
        for svg in all.iter().filter(|one| one.name == "svg") {
            let is_named = svg.attributes.contains_key("aria-label")
                || svg.attributes.contains_key("aria-hidden");
            assert!(is_named);
        }
        assert!(
            all.iter()
                .filter(|one| one.name == "th")
                .all(|one| one.attributes.contains_key("scope"))
        );
    }
}

#[test]
fn charts_hold_their_words_as_text() {
    let all = elements(&run().html(None));
    let words: Vec<&str> = all
        .iter()
        .filter(|one| one.name == "text")
        .map(|one| one.text.trim())
        .collect();
    for word in ["python", "33.3 %", "41 %", "8.1 %", "no_evidence"] {
        assert!(words.contains(&word), "{word} in {words:?}");
    }
}

#[test]
fn every_candidate_is_in_the_table() {
    let mut page = run();
    page.rows = (0..10_000).map(row).collect();
    let html = page.html(None);
    let table = data(&html, "candidates");
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 10_000);
    assert_eq!(rows[9_999]["cells"][0], "owner__repo-9999");
    let columns = table["columns"].as_array().unwrap();
    assert!(
        rows.iter()
            .all(|row| row["cells"].as_array().unwrap().len() == columns.len())
    );
}

fn instance() -> InstancePage {
    let log = |status: TestStatus| LogView {
        text: "start\nTestA\nend\n".to_owned(),
        read: BTreeMap::from([(
            2,
            ReadLine {
                statuses: BTreeMap::from([(status, 1)]),
                is_telling: true,
            },
        )]),
        note: String::new(),
    };
    let pane = |state: &str, log| StatePane {
        state: state.to_owned(),
        facts: Vec::new(),
        log,
    };
    InstancePage {
        id: "owner__repo-1".to_owned(),
        outcome: "instance".to_owned(),
        is_instance: true,
        panes: vec![
            pane("base", None),
            pane("before", Some(log(TestStatus::Failed))),
            pane("after", Some(log(TestStatus::Passed))),
        ],
        transitions: vec![TransitionRow {
            name: "TestA".to_owned(),
            statuses: [None, Some(TestStatus::Failed), Some(TestStatus::Passed)],
            class: "F2P".to_owned(),
            lines: [None, Some(2), Some(2)],
            set_aside: None,
        }],
        gold_patch: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n"
            .to_owned(),
        ..InstancePage::default()
    }
}

#[test]
fn the_reading_is_marked_on_the_logs() {
    let all = elements(&instance().html(None));
    let line = |id: &str| {
        all.iter()
            .find(|one| one.attributes.get("id").is_some_and(|name| name == id))
            .unwrap()
    };
    assert!(line("before-2").attributes["class"].contains("bad-line"));
    assert!(line("after-2").attributes["class"].contains("good-line"));
    assert_eq!(line("after-2").text, "TestA");
    let button = all
        .iter()
        .find(|one| one.attributes.contains_key("data-lines"))
        .unwrap();
    assert_eq!(button.attributes["data-lines"], "before-2 after-2");
}

#[test]
fn a_patch_tells_added_from_removed() {
    let all = elements(&instance().html(None));
    let of = |class: &str| -> Vec<&str> {
        let found = all.iter().filter(|one| {
            one.name == "span"
                && one
                    .attributes
                    .get("class")
                    .is_some_and(|name| name == class)
        });
        found.map(|one| one.text.as_str()).collect()
    };
    assert_eq!(of("a"), ["+new"]);
    assert_eq!(of("d"), ["-old"]);
    assert_eq!(of("f"), ["diff --git a/x b/x", "--- a/x", "+++ b/x"]);
}

#[test]
fn a_long_log_says_what_it_leaves_out() {
    let mut page = instance();
    let lines: Vec<String> = (1..=9000).map(|number| format!("line {number}")).collect();
    let text = lines.join("\n");
    let telling = ReadLine {
        statuses: BTreeMap::from([(TestStatus::Failed, 1)]),
        is_telling: true,
    };
    let read = BTreeMap::from([(4500, telling), (6000, ReadLine::default())]);
    page.panes[1].log = Some(LogView {
        text,
        read,
        note: String::new(),
    });
    let all = elements(&page.html(None));
    let shown: Vec<&str> = all
        .iter()
        .filter(|one| one.name == "li" && one.text.starts_with("line "))
        .map(|one| one.text.as_str())
        .collect();
    assert!(
        shown.contains(&"line 1") && shown.contains(&"line 4500") && shown.contains(&"line 9000")
    );
    assert!(!shown.contains(&"line 6000"));
    let gaps = all.iter().filter(|one| {
        one.attributes
            .get("class")
            .is_some_and(|name| name == "gap")
    });
    let left_out: usize = gaps
        .filter_map(|one| one.text.split(' ').next()?.parse::<usize>().ok())
        .sum();
    assert_eq!(shown.len() + left_out, 9000);
}
