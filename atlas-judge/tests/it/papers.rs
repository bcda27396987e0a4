//! The papers' analyses over results files, each on a few lines that are worked out by hand.

use atlas_judge::metrics::BugValue;
use atlas_judge::metrics::analysis::{Analysis, AnalysisOptions, analyse};
use atlas_judge::metrics::results::read_results;
use atlas_judge::{policies_figures, policies_report};
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
    // The same drawings stand alone, with their legend in them and without the page's colours.
    let figures = policies_figures(&found);
    assert_eq!(
        figures.len(),
        page.matches("<div class=\"plot\">").count(),
        "a figure of the page is missing"
    );
    let success = figures.iter().find(|one| one.title == "Filtered success@k");
    let success = success.unwrap();
    assert!(success.section.starts_with("Policies: "));
    assert!(success.svg.starts_with("<svg class=\"swe-atlas-figure\""));
    assert!(success.svg.contains(">validation</text>") && success.svg.ends_with("</svg>\n"));
    assert!(!success.svg.contains("<ul"), "{}", success.svg);
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

fn with_probability(instance: &str, patch: &str, resolved: bool, probability: f64) -> Value {
    let more = json!({"abstention": {"probability": probability, "source": "p"}});
    line(instance, "a", patch, resolved, more)
}

#[test]
fn tasks_are_counted_by_probability_and_by_success_rate() {
    let rows = [
        with_probability("i", "1", true, 0.8),
        with_probability("i", "2", true, 0.8),
        with_probability("i", "3", false, 0.8),
        // Half is not most.
        with_probability("j", "1", true, 0.3),
        with_probability("j", "2", false, 0.3),
        with_probability("k", "1", false, 0.0),
    ];
    let options = AnalysisOptions {
        bins: 5,
        ..AnalysisOptions::default()
    };
    let found = analysed(&rows, &options);
    let bins = &found.policies[0].abstention.as_ref().unwrap().histogram;
    let counts: Vec<[u64; 3]> = bins
        .iter()
        .map(|bin| [bin.solved, bin.unsolved, bin.success_rates])
        .collect();
    // 0.8 is the upper edge of the fourth bin; success rates are 2/3, 1/2 and 0.
    assert_eq!(
        counts,
        [[0, 1, 1], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]]
    );
    assert!(policies_report(&found, "t").contains("Probability and success rate"));
}

#[test]
fn thresholds_are_worth_what_the_papers_formula_says() {
    let rows = [
        with_probability("i", "1", true, 0.9),
        with_probability("j", "1", false, 0.6),
        with_probability("k", "1", false, 0.4),
        with_probability("l", "1", false, 0.2),
    ];
    let worth = |text: &str| {
        let options = AnalysisOptions {
            value: Some(text.parse().unwrap()),
            resamples: 10,
            ..AnalysisOptions::default()
        };
        analysed(&rows, &options)
    };
    // A fix gains 40 over leaving the bug open, a run costs 15.
    let found = worth("fix=30,open=10,run=15,review=0");
    let sweep = found.policies[0].value.as_ref().unwrap();
    assert!(sweep.show.is_none());
    let sweep = sweep.attempt.as_ref().unwrap();
    assert_eq!(
        (sweep.items, sweep.break_even_chance),
        (4, Some(15.0 / 40.0))
    );
    // 40 - 2 x 15 is a gain, 40 - 3 x 15 a loss; the first run alone is worth most.
    assert_eq!(
        (sweep.break_even_threshold, sweep.best_threshold),
        (Some(0.6), Some(0.9))
    );
    let at = |threshold: f64| {
        let near = |from: f64| (from - threshold).abs() < 1e-9;
        let points = sweep.points.iter();
        points
            .map(|swept| swept.point)
            .find(|point| near(point.threshold))
            .unwrap()
    };
    let half = at(0.5);
    assert_eq!((half.taken, half.right, half.left), (2, 1, 2));
    assert_eq!((half.per_taken, half.per_item), (Some(-5.0), Some(-7.5)));
    assert_eq!((half.gain, half.per_left), (Some(2.5), -10.0));
    assert_eq!((at(1.0).per_taken, at(1.0).gain), (None, Some(0.0)));
    let markdown = found.to_markdown();
    assert!(
        markdown.contains(
            "Attempting pays where the chance of being right is at least 37.5%. Here money is lost if runs \
             below the threshold 0.600 are attempted, too. The threshold that is worth most is 0.900."
        ),
        "{markdown}"
    );
    assert!(
        table(&markdown, "| Net value: attempt from |")
            .contains("| 0.500 | 2 | 1 | 2 | −5.00 | −10.00 | −7.50 | 2.50 |"),
        "{markdown}"
    );
    assert!(policies_report(&found, "t").contains("aria-label=\"Net value\""));
    let said = |text: &str| worth(text).to_markdown();
    assert!(
        said("fix=1,open=0,run=0,review=0")
            .contains("Here no money is lost if all runs are attempted.")
    );
    assert!(
        said("fix=1,open=0,run=2,review=0")
            .contains("Here money is lost at every threshold from which on runs are attempted.")
    );
    assert!(
        !analysed(&rows, &AnalysisOptions::default())
            .to_markdown()
            .contains("Net value")
    );
}

#[test]
fn values_have_no_defaults_and_say_what_is_wrong() {
    let fault = |text: &str| text.parse::<BugValue>().unwrap_err();
    assert_eq!(
        fault("fix=1,open=2"),
        "run, review is missing: none has a default"
    );
    assert!(fault("fix").contains("must be NAME=NUMBER"));
    assert!(fault("price=3").contains("`price` is none of fix, open, run, review"));
    assert!(fault("fix=-1").contains("0 or more"));
    assert!(fault("fix=nan").contains("0 or more"));
    assert!(fault("fix=1,fix=1").contains("twice"));
}

/// A line with a critic's word on tests `(passed, predicted, confidence, length)`.
fn foretold(instance: &str, agent: &str, added: u64, tests: &[(bool, bool, u64, u64)]) -> Value {
    let named = || tests.iter().zip(1..);
    let truth: Vec<Value> = named()
        .map(|((passed, ..), at)| json!({"id": format!("t{at}"), "passed": passed}))
        .collect();
    let said: Vec<Value> = named()
        .map(|((_, predicted, confidence, length), at)| {
            json!({"id": format!("t{at}"), "predicted": predicted, "confidence": confidence, "length": length})
        })
        .collect();
    let resolved = tests.iter().all(|test| test.0);
    let more = json!({
        "tests": truth,
        "critic": {"variant": "isolated", "tests": said},
        "patch_size": {"files": 1, "hunks": 1, "added": added, "removed": 0},
    });
    line(instance, agent, "1", resolved, more)
}

#[test]
fn predictions_are_counted_by_the_length_of_tests() {
    let rows = [foretold(
        "i",
        "a",
        1,
        &[
            (true, true, 90, 50),
            (true, false, 60, 50),
            (true, true, 70, 51),
            (false, false, 80, 9000),
        ],
    )];
    let found = analysed(&rows, &AnalysisOptions::default());
    let bins = &found.critics[0].lengths;
    let edges: Vec<(u64, Option<u64>)> = bins.iter().map(|bin| (bin.above, bin.up_to)).collect();
    assert_eq!(
        (edges[0], edges[1], edges[7]),
        ((0, Some(50)), (50, Some(100)), (3200, None))
    );
    assert_eq!(
        (bins[0].right, bins[0].wrong, bins[0].accuracy),
        (1, 1, Some(0.5))
    );
    assert_eq!(bins[0].mean_confidence, Some(75.0));
    assert_eq!(
        (bins[0].mean_confidence_right, bins[0].mean_confidence_wrong),
        (Some(90.0), Some(60.0))
    );
    assert_eq!((bins[7].right, bins[7].mean_confidence_wrong), (1, None));
    let markdown = found.to_markdown();
    let lengths = table(&markdown, "| Characters of the test |");
    assert!(
        lengths.contains("| 51 to 100 | 1 | 0 | 100.0% | 70.00 | 70.00 | – |"),
        "{lengths}"
    );
    let page = policies_report(&found, "t");
    for chart in [
        "Confidence",
        "Predicted against actual pass rates",
        "Confidence by length of tests",
    ] {
        assert!(page.contains(&format!("aria-label=\"{chart}\"")), "{chart}");
    }
}

/// A task of three agents: `a` passes one test of two, `b` both, `c` the other one.
fn of_three_agents(instance: &str) -> Vec<Value> {
    let test = |passed: bool, predicted: bool| (passed, predicted, 80, 60);
    vec![
        foretold(instance, "a", 5, &[test(true, true), test(false, true)]),
        foretold(instance, "b", 3, &[test(true, true), test(true, true)]),
        foretold(instance, "c", 3, &[test(false, false), test(true, true)]),
    ]
}

#[test]
fn scores_are_compared_with_the_progress_of_patches() {
    let mut rows = of_three_agents("i");
    rows.extend(of_three_agents("j"));
    let found = analysed(&rows, &AnalysisOptions::default());
    let names: Vec<&str> = found.progress.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "isolated",
            "lines added",
            "line operations",
            "hunks",
            "files"
        ]
    );
    // `b` is further than `a`, which is said to pass as much, and further than `c`, which is not.
    let critic = &found.progress[0];
    let counts = critic.counts;
    assert_eq!((critic.tasks, counts.pairs), (2, 4));
    assert_eq!(
        (counts.concordant, counts.ties, counts.discordant),
        (2, 2, 0)
    );
    assert_eq!(
        (critic.share_concordant, critic.share_respected),
        (Some(0.5), Some(1.0))
    );
    // Both tasks are alike, so every draw is.
    let interval = critic.interval.unwrap();
    assert_eq!(
        (interval.low.to_bits(), interval.high.to_bits()),
        (0.5_f64.to_bits(), 0.5_f64.to_bits())
    );
    let added = found.progress[1].counts;
    assert_eq!((added.concordant, added.ties, added.discordant), (0, 2, 2));
    let markdown = found.to_markdown();
    let progress = table(&markdown, "| Score grows with progress |");
    assert!(
        progress.contains(
            "| lines added (proxy) | 2 | 4 | 0.0% | 0.0–0.0% | 2 | 2 | 50.0% | 50.0–50.0% |"
        ),
        "{progress}"
    );
    assert!(policies_report(&found, "t").contains("Critics side by side"));
    // Patches that pass different tests are neither further.
    let apart = [rows.remove(0), rows.remove(1)];
    assert!(
        analysed(&apart, &AnalysisOptions::default())
            .progress
            .is_empty()
    );
}

#[test]
fn agents_are_ordered_and_spread_by_what_is_foretold_and_by_what_is_true() {
    let mut rows = of_three_agents("i");
    rows.extend(of_three_agents("j"));
    let critic = analysed(&rows, &AnalysisOptions::default())
        .critics
        .remove(0);
    let [progress, resolved] = &critic.orders[..] else {
        panic!("{:?}", critic.orders);
    };
    let agents: Vec<(&str, f64, f64)> = progress
        .agents
        .iter()
        .map(|one| (one.agent.as_str(), one.predicted_rank, one.actual_rank))
        .collect();
    assert_eq!(agents, [("b", 1.5, 1.0), ("a", 1.5, 2.5), ("c", 3.0, 2.5)]);
    // Ranks 1.5, 1.5, 3 against 1, 2.5, 2.5; of three pairs one agrees and two have a tie on one side.
    assert!((progress.spearman.unwrap() - 0.5).abs() < 1e-12);
    assert!((progress.kendall.unwrap() - 0.5).abs() < 1e-12);
    let interval = progress.kendall_interval.unwrap();
    assert!((interval.low - 0.5).abs() < 1e-12 && (interval.high - 0.5).abs() < 1e-12);
    // Said to pass are a and b, and b alone does.
    let shares: Vec<(f64, f64)> = resolved
        .agents
        .iter()
        .map(|one| (one.predicted, one.actual))
        .collect();
    assert_eq!(shares, [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0)]);
    let a = &critic.agents[0];
    let (predicted, actual) = (a.predicted_spread.unwrap(), a.actual_spread.unwrap());
    assert_eq!(
        (predicted.count, predicted.median.to_bits()),
        (2, 1.0_f64.to_bits())
    );
    assert_eq!(actual.upper_quartile.to_bits(), 0.5_f64.to_bits());
    assert_eq!((a.predicted_tenths[9], a.actual_tenths[5]), (2, 2));
    // One agent has no order.
    let alone = analysed(&rows[..1], &AnalysisOptions::default());
    assert!(alone.critics[0].orders.is_empty());
}

#[test]
fn a_score_of_the_critics_own_orders_agents_and_has_a_curve() {
    let mut rows = of_three_agents("i");
    for (row, score) in rows.clone().into_iter().zip([0.2, -0.1, 0.4]) {
        let key = |name: &str| row[name].as_str().unwrap().to_owned();
        let test = json!({"id": "(patch)", "predicted": score > 0.3, "confidence": 0});
        let said = json!({"critic": {"variant": "likeness", "tests": [test], "score": score}});
        let resolved = row["resolved"].as_bool().unwrap();
        rows.push(line(
            &key("instance_id"),
            &key("agent"),
            "1",
            resolved,
            said,
        ));
    }
    let found = analysed(&rows, &AnalysisOptions::default());
    let [isolated, likeness] = &found.critics[..] else {
        panic!("{:?}", found.critics);
    };
    assert!(isolated.score.is_none());
    let score = likeness.score.as_ref().unwrap();
    // The one right patch has the lowest score.
    assert_eq!(
        (score.patches, score.average_precision),
        (3, Some(1.0 / 3.0))
    );
    assert_eq!(score.curve.as_ref().unwrap().thresholds, [-0.1, 0.2, 0.4]);
    // Pass rates 0.5, 1, 0.5 against 0.2, -0.1, 0.4: the best is last.
    let rho = likeness.instance_correlations.mean.unwrap();
    assert!((rho + 0.75_f64.sqrt()).abs() < 1e-12, "{rho}");
    assert!(likeness.pass_rates.is_empty() && likeness.agents[0].predicted_spread.is_none());
    let markdown = found.to_markdown();
    let beside = table(&markdown, "| Order of agents, task by task |");
    assert!(
        beside.contains("| likeness | 1 | -0.866 | 0.0% | 1 | 0 |"),
        "{beside}"
    );
    assert!(markdown.contains("| Critic's score: recall of at least |"));
    let page = policies_report(&found, "t");
    assert!(page.contains("Precision against recall of the critic&#39;s score"));
    assert!(page.contains("aria-label=\"Order of agents, critic by critic\""));
}
