//! Filters as data, and what they say.

use atlas_core::SourcedPullRequest;
use atlas_source::{FilterConfig, FilterPreset, Filters};
use serde_json::{Value, json};

fn config(value: Value) -> Result<FilterConfig, String> {
    serde_json::from_value(value).map_err(|why| why.to_string())
}

/// A pull request of which everything is known, with some of it changed.
fn candidate(changes: Value) -> SourcedPullRequest {
    let mut whole = json!({
        "repo": "o/n", "clone": "n", "source": "github", "number": 1,
        "base": "1".repeat(40), "head": "2".repeat(40), "title": "Fix it",
        "author": {"name": "ann", "class": "contributor"},
        "created_at": "2024-03-02T00:00:00Z", "first_commit_at": "2024-03-01T00:00:00Z",
        "merged_at": "2024-03-05T00:00:00Z",
        "issues": [{"repo": "o/n", "number": 5, "title": "It is broken", "body": "It fails with an error.", "evidence": []}],
        "change": {"files": 1, "hunks": 2, "added": 10, "removed": 5, "test_files": 1, "test_added": 20,
                   "paths": ["src/a.py", "tests/test_a.py"], "patch_id": "0123456789abcdef".repeat(2) + "01234567"},
        "repository": {"stars": 500, "licence": "MIT", "lines_of_code": 20000, "test_frameworks": ["pytest"],
                       "pushed_at": "2024-04-01T00:00:00Z"},
    });
    merge(&mut whole, changes);
    serde_json::from_value(whole).unwrap()
}

fn merge(into: &mut Value, changes: Value) {
    match (into, changes) {
        (Value::Object(into), Value::Object(changes)) => {
            for (key, value) in changes {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value,
    }
}

/// What one filter says: `pass`, or its reason.
fn said(filter: &Value, changes: Value) -> String {
    let mut filters = Filters::new(config(filter.clone()).unwrap());
    let passed = filters.pass(&candidate(changes));
    let step = &filters.funnel().steps[0];
    assert_eq!(step.seen, 1);
    match (passed, step.unknown, step.examples.first()) {
        (true, 0, _) => "pass".to_owned(),
        (true, _, _) => "unknown".to_owned(),
        (false, _, Some(example)) => example.reason.clone(),
        (false, _, None) => panic!("dropped without an example"),
    }
}

fn check(filter: Value, cases: &[(Value, &str)]) {
    for (changes, expected) in cases {
        let found = said(&filter, changes.clone());
        let fits = if *expected == "pass" || *expected == "unknown" {
            found == *expected
        } else {
            found.contains(expected)
        };
        assert!(fits, "{filter} on {changes}: `{found}`, not `{expected}`");
    }
}

#[test]
fn numbers_and_times_have_limits() {
    check(
        json!({"stars": {"above": 100}}),
        &[
            (json!({}), "pass"),
            (
                json!({"repository": {"stars": 100}}),
                "stars: 100, not more than 100",
            ),
            (json!({"repository": {"stars": null}}), "unknown"),
        ],
    );
    check(
        json!({"lines_of_code": {"above": 10_000}}),
        &[
            (json!({}), "pass"),
            (
                json!({"repository": {"lines_of_code": 10_000}}),
                "lines of code",
            ),
        ],
    );
    check(
        json!({"merged": {"after": "2024-03-05", "before": "2024-03-06"}}),
        &[
            (json!({}), "pass"),
            (
                json!({"merged_at": "2024-03-06T00:00:00Z"}),
                "time of the merge",
            ),
            (
                json!({"merged_at": "2024-03-04T23:59:59Z"}),
                "not from 2024-03-05T00:00:00Z on",
            ),
            (json!({"merged_at": null}), "unknown"),
        ],
    );
    check(
        json!({"changed_lines": {"below": 150}}),
        &[
            (json!({"change": {"added": 100, "removed": 49}}), "pass"),
            (
                json!({"change": {"added": 100, "removed": 50}}),
                "150, not less than 150",
            ),
            (json!({"change": null}), "unknown"),
        ],
    );
    check(
        json!({"issues": {"at_least": 1, "at_most": 1}}),
        &[
            (json!({}), "pass"),
            (json!({"issues": []}), "resolves no issue"),
        ],
    );
}

#[test]
fn a_cut_off_looks_at_when_the_work_began() {
    check(
        json!({"cut_off": {"old": "2023-01-01", "new": "2024-03-01T00:00:00Z"}}),
        &[
            (json!({}), "pass"),
            (
                json!({"first_commit_at": "2024-02-29T23:59:59Z"}),
                "before that of new",
            ),
            (json!({"first_commit_at": null}), "pass"),
            (
                json!({"first_commit_at": null, "created_at": null, "merged_at": null}),
                "unknown",
            ),
        ],
    );
}

#[test]
fn what_a_repository_is() {
    check(
        json!({"test_framework": true}),
        &[
            (json!({}), "pass"),
            (
                json!({"repository": {"test_frameworks": []}}),
                "no test framework",
            ),
            (
                json!({"repository": {"test_frameworks": [], "lines_of_code": null}}),
                "unknown",
            ),
        ],
    );
    check(
        json!({"licences": ["MIT", "Apache-2.0"]}),
        &[
            (json!({}), "pass"),
            (
                json!({"repository": {"licence": "GPL-3.0-only OR MIT"}}),
                "pass",
            ),
            (
                json!({"repository": {"licence": "GPL-3.0-only AND MIT"}}),
                "licence: GPL-3.0-only AND MIT",
            ),
            (json!({"repository": {"licence": "NOASSERTION"}}), "unknown"),
            (json!({"repository": {"licence": null}}), "unknown"),
        ],
    );
}

#[test]
fn bots_back_ports_and_screenshots_are_recognised() {
    check(
        json!({"no_bots": true}),
        &[
            (json!({}), "pass"),
            (json!({"author": {"class": "bot"}}), "by a program: ann"),
            (json!({"author": null}), "unknown"),
        ],
    );
    check(
        json!({"no_backports": true}),
        &[
            (json!({}), "pass"),
            (json!({"title": "[3.11] Fix it (GH-12)"}), "a back-port"),
            (json!({"title": "Backport of #5"}), "a back-port"),
            (json!({"title": "Fix it (#5)"}), "pass"),
            (json!({"title": "Revert \"Fix it (#5)\""}), "pass"),
            (json!({"labels": ["backport"]}), "label backport"),
            (json!({"labels": ["needs backport to 3.11"]}), "pass"),
            (
                json!({"body": "x\n(cherry picked from commit 0123456789abcdef)"}),
                "cherry picked",
            ),
        ],
    );
    let body = |body: &str| json!({"issues": [{"repo": "o/n", "number": 5, "title": "t", "body": body, "evidence": []}]});
    check(
        json!({"no_screenshots": true}),
        &[
            (json!({}), "pass"),
            (body("![shot](https://example.org/a)"), "a picture"),
            (
                body("<img width=5 src=\"https://example.org/a\">"),
                "a picture",
            ),
            (
                body("https://github.com/user-attachments/assets/abc"),
                "a picture",
            ),
            (body("![build](https://img.shields.io/x.svg)"), "pass"),
            (
                body("see https://example.org/a.png.md or picture.png"),
                "a picture",
            ),
            (
                json!({"issues": [{"repo": "o/n", "number": 5, "evidence": []}]}),
                "unknown",
            ),
        ],
    );
}

#[test]
fn kinds_of_files_are_told_by_their_endings() {
    check(
        json!({"endings": {"any_of": ["py"], "none_of": ["json"]}}),
        &[
            (json!({}), "pass"),
            (json!({"change": {"paths": ["a.PY"]}}), "pass"),
            (
                json!({"change": {"paths": ["a.py", "b.json"]}}),
                "left out: b.json",
            ),
            (
                json!({"change": {"paths": ["README"]}}),
                "no file of a kind",
            ),
        ],
    );
    check(
        json!({"edits_tests": true}),
        &[
            (json!({}), "pass"),
            (
                json!({"change": {"test_files": 0}}),
                "edits and adds no test",
            ),
        ],
    );
}

#[test]
fn duplicates_are_dropped_and_counted() {
    let long: Vec<String> = (0..120)
        .map(|number| format!("word{}", number * 7 % 31))
        .collect();
    let issue = |text: String| json!([{"repo": "o/n", "number": 5, "title": text, "evidence": []}]);
    let setting = json!({"no_duplicates": true, "near_duplicates": {}});
    let mut filters = Filters::new(config(setting).unwrap());
    let patch = |digit: char| json!({"patch_id": digit.to_string().repeat(40)});
    let mut pass = |patch_of: char, text: String| {
        filters.pass(&candidate(
            json!({"change": patch(patch_of), "issues": issue(text)}),
        ))
    };
    assert!(pass('a', long.join(" ")));
    assert!(!pass('a', "another text".to_owned()), "the same patch");
    assert!(
        !pass('b', format!("{}.", long.join(", ").to_uppercase())),
        "the same words"
    );
    assert!(pass('c', "short".to_owned()));
    assert!(pass('d', "short".to_owned()), "too short to compare");
    let funnel = filters.funnel();
    assert_eq!((funnel.sourced, funnel.kept), (5, 3));
    assert_eq!(funnel.steps[0].dropped, 1);
    assert_eq!(
        funnel.steps[0].examples[0].reason,
        "the same change as an earlier one: number 1 sourced"
    );
    assert_eq!(funnel.steps[1].seen, 4);
    assert_eq!(
        funnel.steps[1].reasons["nearly the statement of an earlier one"],
        1
    );
}

#[test]
fn unknown_facts_drop_where_the_configuration_says_so() {
    let setting = json!({"stars": {"above": 100}, "unknown": "drop"});
    let mut filters = Filters::new(config(setting).unwrap());
    assert!(!filters.pass(&candidate(json!({"repository": {"stars": null}}))));
    let step = &filters.funnel().steps[0];
    assert_eq!(
        (step.unknown, step.dropped, step.reasons["unknown: stars"]),
        (1, 1, 1)
    );
}

#[test]
fn presets_are_the_papers_and_what_is_written_goes_before() {
    let names = |config: &FilterConfig| -> Vec<&str> {
        config.order.iter().map(|name| name.as_str()).collect()
    };
    let first = FilterConfig::preset(FilterPreset::Paper001);
    assert_eq!(
        names(&first),
        [
            "stars",
            "lines_of_code",
            "test_framework",
            "issues",
            "edits_tests"
        ]
    );
    let second = FilterConfig::preset(FilterPreset::Paper002Industrial);
    assert_eq!(second.changed_lines.unwrap().below, Some(150));
    assert_eq!(second.changed_files.unwrap().at_most, Some(31));
    let own = config(
        json!({"preset": "paper-001", "test_framework": false, "no_bots": true,
                            "order": ["no_bots", "issues", "stars"]}),
    )
    .unwrap();
    assert_eq!(names(&own), ["no_bots", "issues", "stars"]);
    assert_eq!(config(serde_json::to_value(&own).unwrap()).unwrap(), own);
}

#[test]
fn what_nothing_can_pass_is_refused() {
    for (written, word) in [
        (
            json!({"stars": {"above": 10, "below": 11}}),
            "nothing could pass",
        ),
        (json!({"changed_lines": {"below": 0}}), "nothing could pass"),
        (json!({"stars": {}}), "no limit"),
        (
            json!({"merged": {"after": "2024-01-02", "before": "2024-01-02"}}),
            "nothing could pass",
        ),
        (json!({"merged": {"after": "March"}}), "March"),
        (json!({"licences": []}), "nothing could pass"),
        (json!({"licences": ["Apache 2"]}), "Apache-2.0"),
        (
            json!({"endings": {"any_of": ["py"], "none_of": ["py"]}}),
            "nothing could pass",
        ),
        (json!({"endings": {"any_of": [".py"]}}), "dot"),
        (json!({"endings": {}}), "says nothing"),
        (json!({"cut_off": {}}), "no model"),
        (
            json!({"cut_off": {"m": "2024-02-01"}, "merged": {"before": "2024-01-01"}}),
            "nothing could pass",
        ),
        (json!({"near_duplicates": {"bits": 9}}), "0 to 3"),
        (json!({"order": ["stars"]}), "`stars`, which is not set"),
        (json!({"no_bots": true, "order": []}), "leaves it out"),
        (
            json!({"no_bots": true, "order": ["no_bots", "no_bots"]}),
            "twice",
        ),
        (json!({"star": {"above": 1}}), "star"),
        (json!({"preset": "paper-003"}), "paper-001"),
    ] {
        let why = config(written.clone()).expect_err(&written.to_string());
        assert!(why.contains(word), "{written}: {why}");
    }
}
