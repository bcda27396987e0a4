//! Policies and critics of results files against each other, and words on tasks.

use super::*;

#[test]
fn policies_are_compared_over_what_both_judge() {
    let mut rows: Vec<Value> = (0..12)
        .map(|at| judged(&format!("p{at}"), at % 2 == 0, at % 3 == 0, 0.5))
        .collect();
    for (at, row) in rows.iter_mut().enumerate() {
        row["instance_id"] = json!(format!("i{at}"));
    }
    // Of the last two the validation says nothing.
    for row in &mut rows[10..] {
        row.as_object_mut().unwrap().remove("validation");
    }
    let found = analysed(&rows, &AnalysisOptions::default());
    let pairs = &found.policies[0].differences;
    let count = found.policies[0].policies.len();
    assert_eq!(pairs.len(), count * (count - 1) / 2);
    let pair = pairs
        .iter()
        .find(|pair| (pair.a.as_str(), pair.b.as_str()) == ("show everything", "validation"))
        .unwrap();
    assert_eq!((pair.bugs, pair.patches), (10, 10));
    // Shown are 0, 3, 6 and 9; right among them 0 and 6. Of ten, five are right.
    let change = pair.recall.unwrap();
    assert!(close(Some(change.difference), 2.0 / 5.0 - 1.0));
    let interval = change.interval.unwrap();
    assert!(
        interval.low < change.difference
            && change.difference < interval.high
            && interval.high <= 0.0
    );
    assert!(close(pair.precision.map(|change| change.difference), 0.0));
    assert!(close(pair.accuracy.map(|change| change.difference), 0.0));
    assert!(
        found
            .to_markdown()
            .contains("| validation − show everything | 10 | 10 | 0.0 |")
    );
    // Two judges, of whom the second is always right.
    let mut right = rows.clone();
    for row in &mut right[..10] {
        row["validation"]["accepted"] = row["resolved"].clone();
    }
    let options = AnalysisOptions::default();
    let parts = vec![
        ("a".to_owned(), found),
        ("b".to_owned(), analysed(&right, &options)),
    ];
    let both = Analysis::beside(parts, &options);
    let pair = &both
        .differences
        .iter()
        .find(|pair| pair.b == "b: validation")
        .unwrap();
    assert_eq!((pair.a.as_str(), pair.patches), ("a: validation", 10));
    assert!(close(pair.precision.map(|change| change.difference), 0.5));
    assert!(close(pair.recall.map(|change| change.difference), 0.6));
}

#[test]
fn critics_are_compared_patch_by_patch_and_test_by_test() {
    let said = |variant: &str, tests: Value| json!({"variant": variant, "tests": tests});
    let test =
        |id: &str, predicted: bool| json!({"id": id, "predicted": predicted, "confidence": 90});
    // `a` sees both tests of each patch, `b` the first alone of the second patch.
    let row = |at: usize, critic: Value| {
        json!({"instance_id": format!("i{at}"), "agent": "m", "patch_id": "p", "resolved": at == 0, "critic": critic,
            "tests": [{"id": "t", "passed": true}, {"id": "u", "passed": at == 0}]})
    };
    let rows = [
        row(0, said("a", json!([test("t", true), test("u", false)]))),
        row(1, said("a", json!([test("t", true), test("u", true)]))),
        row(0, said("b", json!([test("t", true), test("u", true)]))),
        row(1, said("b", json!([test("t", false)]))),
    ];
    let found = analysed(&rows, &AnalysisOptions::default());
    let [patches, tests] = found.critic_differences.as_slice() else {
        panic!("{:?}", found.critic_differences);
    };
    let of = |change: Option<Change>| change.map(|change| change.difference);
    // `a` says that the wrong patch passes alone, `b` that the right one does.
    assert_eq!((patches.patches, patches.tests), (2, 0));
    assert!(close(of(patches.accuracy), 1.0) && close(of(patches.success_at_1), 1.0));
    // Of three tests that both saw `a` is right about two, `b` about two; of the three that pass, one is missed by each.
    assert_eq!((tests.patches, tests.tests, tests.bugs), (2, 3, 2));
    assert!(close(of(tests.accuracy), 0.0) && close(of(tests.recall), 0.0));
    assert_eq!(tests.success_at_1, None);
    let page = found.to_markdown();
    assert!(page.contains("| b − a | 2 | 2 | – | +100.0 |"), "{page}");
    assert!(page.contains("| b − a | 2 | 2 | 3 | 0.0 |"), "{page}");
    // The same critic of two judges.
    let options = AnalysisOptions::default();
    let of_judge = |at: usize| {
        let mut rows = rows[at..at + 2].to_vec();
        for row in &mut rows {
            row["critic"]["variant"] = json!("v");
        }
        analysed(&rows, &options)
    };
    let both = vec![("x".to_owned(), of_judge(0)), ("y".to_owned(), of_judge(2))];
    let both = Analysis::beside(both, &options);
    let pair = &both.critic_differences[0];
    assert_eq!((pair.a.as_str(), pair.b.as_str()), ("x: v", "y: v"));
    assert!(close(of(pair.accuracy), 1.0));
}

/// What `atlas abstain` writes is about tasks: it counts for each of their patches.
#[test]
fn an_abstention_policys_own_lines_are_read() {
    let truth = |task: &str, patch: &str, resolved: bool| line(task, patch, resolved, json!({}));
    let said = |task: &str, probability: f64, calls: u64| {
        json!({"key": task, "instance_id": task, "judgement": {"label": "attempt"},
            "abstention": {"probability": probability, "source": "s", "attempt": probability >= 0.5, "tau": 0.5},
            "paid": {"calls": calls, "prompt_tokens": 10 * calls, "completion_tokens": calls, "money": 0.25}})
    };
    let failed = json!({"key": "d", "instance_id": "d", "error": {"kind": "io", "message": "no"}});
    let rows = [
        truth("a", "1", true),
        truth("a", "2", false),
        truth("b", "1", false),
        truth("d", "1", false),
        said("a", 0.9, 1),
        said("b", 0.2, 3),
        // Of no patch that is known.
        said("c", 0.2, 9),
        failed,
    ];
    let options = AnalysisOptions::default();
    let found = analysed(&rows, &options);
    let policy = found.policies[0].policies.iter();
    let policy = policy
        .into_iter()
        .find(|row| row.name == "abstention")
        .unwrap();
    assert!(close(policy.precision, 0.5) && close(policy.recall, 1.0));
    let cost = &found.costs[0];
    assert_eq!(
        (cost.name.as_str(), cost.items, cost.total.calls),
        ("abstention", 2, 4)
    );
    assert!(close(cost.mean.money, 0.25) && close(cost.precision, 0.5));
    // A line of the patch's own goes before.
    let mut own = rows.to_vec();
    own[0]["abstention"] = json!({"probability": 0.1, "source": "s"});
    let results = read(&lines(&own)).unwrap();
    let probability = |at: usize| {
        results.candidates[at]
            .abstention
            .as_ref()
            .map(|said| said.probability)
    };
    assert_eq!(
        [probability(0), probability(1), probability(3)],
        [Some(0.1), Some(0.9), None]
    );
    // Two judges as a cascade: the second one is asked about `b` alone.
    let dear = |at: usize, probability: f64| {
        let mut row = rows[at].clone();
        row["abstention"]["probability"] = json!(probability);
        row["paid"]["money"] = json!(1.0);
        row
    };
    let mut others = rows.to_vec();
    (others[4], others[5]) = (dear(4, 0.8), dear(5, 0.6));
    let of = |rows: &[Value]| read(&lines(rows)).unwrap();
    let curves = cascade_curves(("x", &of(&rows)), ("y", &of(&others)), 0.5, &options).unwrap();
    let [curve] = curves.as_slice() else {
        panic!("{curves:?}");
    };
    assert_eq!(
        (curve.of.as_str(), curve.items, curve.left_out),
        ("abstention", 2, 1)
    );
    let point = curve
        .points
        .iter()
        .find(|point| point.band == Some([0.0, 0.5]))
        .unwrap();
    assert_eq!((point.asked, point.shown), (1, 3));
    assert!(
        close(point.precision, 1.0 / 3.0) && close(point.cost.money, (0.25 + 0.25 + 1.0) / 2.0)
    );
    // Both stand in one chart, and one alone in none.
    let parts = |names: &[&str]| {
        let both = [rows.as_slice(), others.as_slice()];
        let parts = names.iter().zip(both);
        let parts = parts.map(|(name, rows)| ((*name).to_owned(), analysed(rows, &options)));
        policies_report(&Analysis::beside(parts.collect(), &options), "t")
    };
    let page = parts(&["r1", "r2"]);
    let chart = "aria-label=\"Precision against recall of abstention, judge by judge\"";
    let from = page.find(chart).unwrap();
    let figure = &page[from..from + page[from..].find("<h3>").unwrap_or(page.len() - from)];
    assert!(
        figure.contains("r1 (AP 1.000)") && figure.contains("r2 (AP 1.000)"),
        "{figure}"
    );
    assert!(!page.contains("validation score, judge by judge") && !parts(&["r1"]).contains(chart));
    // What contradicts itself, and what is about no task, is refused.
    let mut rows = rows.to_vec();
    rows.push(said("a", 0.8, 1));
    let why = read(&lines(&rows)).unwrap_err();
    assert!(
        why.contains("line 9, field `abstention`: says something else of this task than line 5"),
        "{why}"
    );
    let why = read(r#"{"instance_id": "a", "validation": {"accepted": true, "source": "x"}}"#);
    assert!(why.unwrap_err().contains("missing field `patch_id`"));
}
