//! Strings of strangers: every field of every page is made of them, and none becomes an element, an attribute
//! or a script.

use crate::support::{data, elements};
use atlas_core::{Evidence, TestStatus};
use atlas_report::*;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const ATTACKS: &[&str] = &[
    "<script>attack()</script>",
    "</script><script>attack()</script>",
    "</SCRIPT ><script>attack()</script>",
    "<!--<script>attack()",
    "--><script>attack()</script>",
    "<img src=x onerror=attack()>",
    "\"><img src=x onerror=attack()>",
    "' onmouseover='attack()",
    "\" onfocus=\"attack()\" autofocus=\"",
    "<svg onload=attack()>",
    "<svg><script>attack()</script></svg>",
    "</svg><script>attack()</script>",
    "</pre><iframe srcdoc=\"<script>attack()</script>\">",
    "</title><script>attack()</script>",
    "</style><script>attack()</script>",
    "</textarea><script>attack()</script>",
    "</noscript><script>attack()</script>",
    "<a href=\"javascript:attack()\">x</a>",
    "javascript:attack()",
    "<base href=\"https://attack.example/\">",
    "<meta http-equiv=refresh content=\"0;url=https://attack.example/\">",
    "<link rel=stylesheet href=https://attack.example/x.css>",
    "<form action=https://attack.example/><input name=x></form>",
    "<object data=x></object><embed src=x>",
    "<math><mtext></mtext><script>attack()</script></math>",
    "&lt;script&gt;attack()&lt;/script&gt;",
    "&#60;script&#62;attack()&#60;/script&#62;",
    "\\u003cscript\\u003eattack()\\u003c/script\\u003e",
    "\u{0}<script\u{0}>attack()</script>",
    "\u{1b}]8;;https://attack.example/\u{7}<b>link</b>\u{1b}]8;;\u{7}",
    "]]><script>attack()</script>",
    "{\"__proto__\":{\"x\":\"<script>attack()</script>\"}}",
    "\u{2028}\u{2029}</script><script>attack()//",
    "\u{202e}<script>attack()</script>",
    "<details open ontoggle=attack()>",
    "<style>@import 'https://attack.example/x.css';</style>",
];

/// The pages, each of whose texts is `text`.
fn pages(text: &str) -> Vec<(&'static str, String)> {
    let t = || text.to_owned();
    let proof = || vec![Evidence::at(text, 3, text), Evidence::of(text, text)];
    let run = RunPage {
        name: t(),
        candidates: 2,
        funnel: vec![YieldRow {
            name: t(),
            of: 3,
            left: 1,
            share: Share::percent(33.3, 6.0, 79.0),
            paper: Some(20.8),
        }],
        languages: vec![YieldRow {
            name: t(),
            of: 3,
            left: 1,
            ..YieldRow::default()
        }],
        filters: vec![FilterRow {
            name: t(),
            reasons: BTreeMap::from([(t(), 1)]),
            examples: vec![(t(), t())],
            ..FilterRow::default()
        }],
        reasons: vec![ReasonRow {
            word: t(),
            count: 2,
            examples: vec![(t(), t())],
        }],
        stages: vec![StageRow {
            name: t(),
            passed: 1,
            ..StageRow::default()
        }],
        step_seconds: vec![(t(), 3.0)],
        classes: vec![SharedCount {
            title: t(),
            said: t(),
            classes: vec![(t(), 2, None)],
        }],
        quality: TestQuality {
            reasons: BTreeMap::from([(t(), 2)]),
            gates: BTreeMap::from([(t(), BTreeMap::from([(t(), 1)]))]),
            strength: vec![(t(), 50.0)],
            ..TestQuality::default()
        },
        rows: vec![CandidateRow {
            id: t(),
            repo: t(),
            language: t(),
            stage: t(),
            standing: t(),
            outcome: t(),
            reason: t(),
            evidence: vec![t()],
            kind: t(),
            has_page: true,
            ..CandidateRow::default()
        }],
        notes: vec![t()],
        ..RunPage::default()
    };
    let log = LogView {
        text: format!("{text}\n{text}"),
        read: BTreeMap::from([(
            2,
            ReadLine {
                statuses: BTreeMap::from([(TestStatus::Failed, 2)]),
                is_telling: true,
            },
        )]),
        note: t(),
    };
    let named = || NamedText {
        name: t(),
        text: t(),
    };
    let instance = InstancePage {
        id: t(),
        outcome: t(),
        reason: t(),
        facts: vec![(t(), t())],
        panes: vec![StatePane {
            state: "before".to_owned(),
            facts: vec![(t(), t())],
            log: Some(log),
        }],
        transitions: vec![TransitionRow {
            name: t(),
            class: "F2P".to_owned(),
            lines: [None, Some(2), None],
            set_aside: Some(t()),
            ..TransitionRow::default()
        }],
        plan: PlanPart {
            conclusions: vec![Conclusion {
                field: t(),
                value: t(),
                evidence: proof(),
            }],
            drift: vec![t()],
        },
        scripts: vec![named()],
        history: vec![HistoryStep {
            by: t(),
            verdict: t(),
            is_good: None,
            reason: t(),
            evidence: proof(),
        }],
        problem_statement: t(),
        gold_patch: format!("+{text}\n-{text}\n {text}"),
        test_patch: format!(" {text}"),
        notes: vec![t()],
        ..InstancePage::default()
    };
    let evaluation = EvaluationPage {
        run_id: t(),
        mode: t(),
        models: vec![ModelScore {
            model: t(),
            share: Share::percent(1.0, 0.0, 5.0),
            ..ModelScore::default()
        }],
        verdicts: vec![VerdictRow {
            instance_id: t(),
            model: t(),
            outcome: t(),
            cause: t(),
            reasons: vec![t()],
            evidence: proof(),
            warnings: vec![t()],
            missed: vec![t()],
            patch: Some(t()),
            log_end: Some(t()),
            ..VerdictRow::default()
        }],
        notes: vec![t()],
    };
    let comparison = ComparisonPage {
        models: vec![ComparedModel {
            name: t(),
            pass_at: vec![(1, Share::default())],
            ..ComparedModel::default()
        }],
        pairs: vec![ComparedPair {
            first: t(),
            second: t(),
            ..ComparedPair::default()
        }],
        ..ComparisonPage::default()
    };
    let step = TrajectoryStep {
        who: t(),
        thought: t(),
        action: t(),
        observation: t(),
    };
    let trajectory = TrajectoryPage {
        instance_id: t(),
        agent: t(),
        model: t(),
        outcome: t(),
        facts: vec![(t(), t())],
        remarks: vec![t()],
        steps: vec![step],
    };
    let live = Live {
        tag: t(),
        up: Some("/".to_owned()),
    };
    vec![
        ("run", run.html(None)),
        ("run, live", run.html(Some(&live))),
        ("instance", instance.html(None)),
        ("evaluation", evaluation.html(None)),
        ("comparison", comparison.html(None)),
        ("trajectory", trajectory.html(None)),
    ]
}

/// How often each element and each attribute stands in a page: what no text may change.
pub(crate) fn shape(html: &str) -> BTreeMap<(String, String), usize> {
    let mut shape = BTreeMap::new();
    for element in elements(html) {
        *shape
            .entry((element.name.clone(), String::new()))
            .or_default() += 1;
        for name in element.attributes.keys() {
            *shape
                .entry((element.name.clone(), name.clone()))
                .or_default() += 1;
        }
    }
    shape
}

#[test]
fn no_text_becomes_an_element_or_an_attribute() {
    assert!(ATTACKS.len() >= 30);
    let harmless = pages("harmless");
    for attack in ATTACKS {
        for ((page, html), (_, plain)) in pages(attack).iter().zip(&harmless) {
            let (found, expected) = (shape(html), shape(plain));
            assert_eq!(found, expected, "{page}: {attack:?}");
        }
    }
}

#[test]
fn only_the_pages_own_script_runs() {
    let scripts = |html: &str| -> BTreeSet<String> {
        let all = elements(html)
            .into_iter()
            .filter(|one| one.name == "script" && !one.attributes.contains_key("type"));
        all.map(|one| one.text).collect()
    };
    for attack in ATTACKS {
        for (page, html) in pages(attack) {
            let found = scripts(&html);
            assert_eq!(found.len(), 1, "{page}: {attack:?}");
            assert!(
                found.first().unwrap().starts_with("\"use strict\";"),
                "{page}"
            );
            for element in elements(&html) {
                for (name, value) in &element.attributes {
                    assert!(!name.starts_with("on"), "{page}: {name}={value}");
                    let is_link =
                        matches!(name.as_str(), "href" | "src" | "action" | "srcdoc" | "data");
                    assert!(
                        !is_link || value.starts_with(['#', '/']),
                        "{page}: {name}={value}"
                    );
                }
            }
        }
    }
}

#[test]
fn texts_arrive_as_they_were() {
    for attack in ATTACKS {
        let shown: String = attack
            .chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .collect();
        let all = pages(attack);
        let table = data(&all[0].1, "candidates");
        assert_eq!(table["rows"][0]["cells"][0], shown.as_str());
        let verdict = data(&all[3].1, "verdicts");
        let patch = verdict["rows"][0]["more"]
            .as_array()
            .unwrap()
            .iter()
            .find(|more| more["title"] == "Patch")
            .unwrap();
        assert_eq!(patch["text"], shown.as_str());
        let logs: Vec<_> = elements(&all[2].1)
            .into_iter()
            .filter(|one| one.name == "li" && one.attributes.contains_key("value"))
            .collect();
        assert!(
            logs.iter().filter(|line| line.text == shown).count() == 2,
            "{attack:?}"
        );
    }
}
