//! Pass@k and the tables made of it.

use atlas_oracle::{AttemptCount, TaskGroups, leaderboard, pass_at_k, pass_at_k_table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} and not {expected}"
    );
}

#[test]
fn pass_at_k_in_exact_cases() {
    // 1 - C(n-c, k) / C(n, k), as fractions.
    for (n, c, k, value) in [
        (20, 0, 5, 0.0),
        (20, 1, 1, 1.0 / 20.0),
        (20, 1, 10, 0.5),
        (20, 2, 3, 54.0 / 190.0),
        (20, 5, 3, 1.0 - 455.0 / 1140.0),
        (20, 19, 1, 0.95),
        (20, 19, 3, 1.0),
        (5, 2, 4, 1.0),
        (1, 1, 1, 1.0),
        (7, 3, 0, 0.0),
        (200, 7, 100, 0.992_991_117_241_812_3),
        (1000, 3, 10, 0.029_730_451_894_780_553),
    ] {
        close(pass_at_k(n, c, k).unwrap(), value);
    }
    assert_eq!(pass_at_k(3, 4, 1), None);
    assert_eq!(pass_at_k(3, 1, 4), None);
    // Large numbers neither overflow nor take long.
    let large = pass_at_k(1 << 40, 1 << 39, 30).unwrap();
    assert!((0.999..=1.0).contains(&large), "{large}");
}

proptest::proptest! {
    #[test]
    fn pass_at_k_grows_with_k_and_with_c(n in 1_u64..80, c in 0_u64..80, k in 1_u64..80) {
        let (c, k) = (c.min(n), k.min(n));
        let here = pass_at_k(n, c, k).unwrap();
        proptest::prop_assert!((0.0..=1.0).contains(&here));
        if let Some(more) = pass_at_k(n, c, k + 1) {
            proptest::prop_assert!(more >= here - 1e-12);
        }
        if let Some(more) = pass_at_k(n, c + 1, k) {
            proptest::prop_assert!(more >= here - 1e-12);
        }
    }
}

#[test]
fn stored_values_of_pass_at_k() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden/metrics");
    if !folder.is_dir() {
        println!("skipped: no stored values of metrics here");
        return;
    }
    let read = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
    };
    for case in read("pass_at_k.json")["cases"].as_array().unwrap() {
        let field = |key: &str| case[key].as_u64().unwrap();
        let found = pass_at_k(field("n"), field("c"), field("k")).unwrap();
        close(found, case["pass_at_k"].as_f64().unwrap());
    }
    // A run counts there where it passes and is accepted.
    for case in read("pass_and_validation_at_k.json")["cases"]
        .as_array()
        .unwrap()
    {
        let mut tasks = BTreeMap::new();
        let mut attempts: BTreeMap<String, AttemptCount> = BTreeMap::new();
        for (at, bug) in case["bugs"].as_array().unwrap().iter().enumerate() {
            let flags = |key: &str| -> Vec<bool> {
                let flags = bug[key].as_array().unwrap().iter();
                flags.map(|flag| flag.as_u64() == Some(1)).collect()
            };
            tasks.insert(at.to_string(), TaskGroups::default());
            for (passed, accepted) in flags("passed").into_iter().zip(flags("accepted")) {
                let count = attempts.entry(at.to_string()).or_default();
                count.add(passed && accepted);
            }
        }
        let k = case["k"].as_u64().unwrap();
        let table = pass_at_k_table(&tasks, &attempts, &[k]);
        close(table.overall.pass_at[&k], case["value"].as_f64().unwrap());
    }
}

fn task(language: &str, domain: &str, repo: &str) -> TaskGroups {
    TaskGroups {
        language: language.to_owned(),
        domain: domain.to_owned(),
        repo: repo.to_owned(),
    }
}

fn tasks() -> BTreeMap<String, TaskGroups> {
    [
        ("a", task("Python", "web", "o/a")),
        ("b", task("Python", "", "o/a")),
        ("c", task("TypeScript", "web", "o/c")),
        ("d", task("JavaScript", "cli", "o/d")),
    ]
    .map(|(id, task)| (id.to_owned(), task))
    .into()
}

fn attempts(counts: &[(&str, u64, u64)]) -> BTreeMap<String, AttemptCount> {
    let counts = counts.iter();
    counts
        .map(|(id, n, c)| ((*id).to_owned(), AttemptCount { n: *n, c: *c }))
        .collect()
}

#[test]
fn a_table_by_group_counts_what_is_missing_as_not_resolved() {
    let given = attempts(&[("a", 4, 1), ("b", 1, 1), ("c", 4, 0), ("elsewhere", 4, 4)]);
    let table = pass_at_k_table(&tasks(), &given, &[2, 1, 2]);
    assert_eq!(table.ks, [1, 2]);
    let overall = &table.overall;
    assert_eq!(
        (overall.instances, overall.missing, overall.padded),
        (4, 1, 1)
    );
    close(overall.pass_at[&1], (0.25 + 1.0) / 4.0);
    // One prediction of one that is resolved: of two drawn, with one that is not there, one is.
    close(overall.pass_at[&2], (0.5 + 1.0) / 4.0);
    assert_eq!(table.outside, ["elsewhere"]);
    close(table.per_language["Python"].pass_at[&1], 0.625);
    assert_eq!(table.per_domain["web"].instances, 2);
    assert_eq!(table.per_domain.len(), 2);
    assert_eq!(table.per_repo["o/d"].missing, 1);
    let text = table.to_markdown();
    assert!(text.starts_with("| Group | Instances | pass@1 | pass@2 |\n|---|---:|---:|---:|\n"));
    assert!(text.contains("| all | 4 | 31.25% | 37.50% |\n"), "{text}");
    assert!(
        text.contains("| Python | 2 | 62.50% | 75.00% |\n"),
        "{text}"
    );
    assert!(
        text.contains("1 instances without any prediction: not resolved."),
        "{text}"
    );
}

#[test]
fn a_leaderboard_has_the_columns_of_table_4() {
    let models = BTreeMap::from([
        (
            "zeta".to_owned(),
            attempts(&[("a", 1, 1), ("b", 1, 0), ("c", 1, 1), ("d", 1, 0)]),
        ),
        (
            "alpha".to_owned(),
            attempts(&[("a", 1, 0), ("b", 1, 0), ("c", 1, 1), ("d", 1, 1)]),
        ),
        (
            "best|one".to_owned(),
            attempts(&[("a", 1, 1), ("c", 1, 1), ("d", 1, 1)]),
        ),
        ("none".to_owned(), attempts(&[])),
    ]);
    let mut tasks = tasks();
    tasks.insert("e".to_owned(), task("Zig", "", "o/e"));
    let board = leaderboard(&tasks, &models, 1);
    let columns = [
        "Py", "Java", "JS/TS", "Rust", "C/C++", "Go", "PHP", "Ruby", "C#", "Zig",
    ];
    assert_eq!(board.columns, columns);
    assert_eq!(board.column_instances["JS/TS"], 2);
    let ranks: Vec<(u64, &str)> = board
        .rows
        .iter()
        .map(|row| (row.rank, row.model.as_str()))
        .collect();
    assert_eq!(
        ranks,
        [(1, "best|one"), (2, "alpha"), (2, "zeta"), (4, "none")]
    );
    let best = &board.rows[0];
    close(best.overall, 0.6);
    close(best.per_language["JS/TS"], 1.0);
    close(best.per_language["Py"], 0.5);
    assert_eq!(best.missing, 2);
    assert!(best.interval.low > 0.2 && best.interval.high < 0.9);
    assert!(!best.per_language.contains_key("Rust"));
    let text = board.to_markdown();
    let head = "| Rank | Model | Overall pass@1 (95 %) | Py | Java | JS/TS | Rust | C/C++ | Go | PHP | Ruby | C# | Zig |\n";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("| 1 | best\\|one | 60.00% ("), "{text}");
    assert!(text.contains(" | 50.00% | – | 100.00% | – |"), "{text}");
    assert!(
        text.contains("none: 5 instances without a prediction"),
        "{text}"
    );
    let json = serde_json::to_value(&board).unwrap();
    assert_eq!(json["rows"][1]["model"], "alpha");
}

#[test]
fn spellings_of_languages_share_a_column() {
    let names = ["py", "C", "c++", "cpp", "csharp", "golang", "rb", "JS", ""];
    let tasks = (0..).zip(names);
    let tasks = tasks
        .map(|(at, name): (u32, &str)| (at.to_string(), task(name, "", "")))
        .collect();
    let board = leaderboard(&tasks, &BTreeMap::new(), 1);
    assert_eq!(board.instances, 9);
    assert_eq!(board.column_instances["C/C++"], 3);
    assert_eq!(board.column_instances["C#"], 1);
    assert_eq!(board.columns.len(), 9);
    assert!(board.rows.is_empty());
}
