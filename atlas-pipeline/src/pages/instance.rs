//! The page of an instance, from its folder.

use super::{read, read_if_any, text};
use crate::own_parser::rules_of_row;
use crate::run::is_run;
use atlas_core::{Error, Evidence, LogParser, OracleReport, State, StateSummary};
use atlas_parsers::{Parsers, ReadFrom, read_from};
use atlas_report::{
    Conclusion, HistoryStep, InstancePage, LogView, NamedText, PlanPart, ReadLine, StatePane,
    TransitionRow,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Bytes that a parser is given to read of one log while the lines of its results are looked for.
const MOST_BYTES: usize = 192 << 20;
/// So many tests are listed, those that do not pass everywhere first.
const TESTS: usize = 20_000;
/// Bytes of one script that are shown.
const SCRIPT: usize = 200_000;

#[derive(Default, Deserialize)]
#[serde(default)]
struct MakeJson {
    outcome: String,
    reason: String,
    kind: Option<String>,
    engine: Option<String>,
    evidence: Vec<Evidence>,
    warnings: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attempt {
    origin: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Validated {
    verdicts: Vec<Gate>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Gate {
    validator: String,
    decision: String,
    findings: Vec<Finding>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Finding {
    message: String,
    evidence: Vec<Evidence>,
}

pub(super) fn collect(folder: &Path) -> Result<InstancePage, Error> {
    let made: MakeJson = read(&folder.join("make.json"))?;
    let mut page = InstancePage {
        id: super::name_of(folder),
        is_instance: made.outcome == "instance",
        outcome: made.outcome.clone(),
        reason: made.reason.clone(),
        gold_patch: text(&folder.join("gold.patch"))?.unwrap_or_default(),
        test_patch: text(&folder.join("test.patch"))?.unwrap_or_default(),
        notes: made.warnings.clone(),
        ..InstancePage::default()
    };
    let row: Map<String, Value> = match read_if_any(&folder.join("row.json"))? {
        Some(row) => row,
        None => read_if_any(&folder.join("instance.json"))?.unwrap_or_default(),
    };
    let word = |key: &str| {
        row.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    page.problem_statement = word("problem_statement");
    let plan: Map<String, Value> = read_if_any(&folder.join("plan.json"))?.unwrap_or_default();
    let planned = |key: &str| {
        plan.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let parser = planned("log_parser_name");
    let facts = [
        ("Repository", word("repo")),
        (
            "Base commit",
            word("base_commit").chars().take(12).collect(),
        ),
        (
            "Kind",
            made.kind.clone().unwrap_or_default().replace('_', " "),
        ),
        ("Language", planned("language")),
        ("Parser", parser.clone()),
        ("Engine", made.engine.clone().unwrap_or_default()),
    ];
    let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
    page.facts = known
        .map(|(name, value)| (name.to_owned(), value))
        .collect();

    let oracle: Option<OracleReport> = read_if_any(&folder.join("oracle.json"))?;
    let reader = parser_of(&parser, &row);
    if reader.is_none() && oracle.is_some() {
        page.notes.push(format!("The parser `{parser}` is not one that this program has or the row brings as rules: no line is marked."));
    }
    let logs = STATES.map(|(name, _)| text(&folder.join(format!("{name}.log"))));
    let logs: Vec<Option<String>> = logs.into_iter().collect::<Result<_, _>>()?;
    let read: Vec<Vec<ReadFrom>> = std::thread::scope(|scope| {
        let read = logs.iter().map(|log| {
            let (log, reader) = (log.as_deref().unwrap_or_default(), reader.as_deref());
            scope.spawn(move || {
                reader.map_or_else(Vec::new, |reader| {
                    read_from(reader, log.as_bytes(), MOST_BYTES)
                })
            })
        });
        let read: Vec<_> = read.collect();
        read.into_iter()
            .map(|one| one.join().unwrap_or_default())
            .collect()
    });
    let lines: Vec<HashMap<&str, usize>> = read
        .iter()
        .zip(&logs)
        .map(|(places, log)| lines_of(places, log.as_deref().unwrap_or_default()))
        .collect();
    if let Some(oracle) = &oracle {
        page.transitions = transitions(oracle, &lines, &mut page.notes);
    }
    let telling: HashMap<&str, bool> = page
        .transitions
        .iter()
        .map(|test| {
            (
                test.name.as_str(),
                test.class != "P2P" || test.set_aside.is_some(),
            )
        })
        .collect();
    for (at, ((name, state), log)) in STATES.iter().zip(&logs).enumerate() {
        let summary = oracle.as_ref().and_then(|oracle| oracle.states.get(state));
        page.panes.push(StatePane {
            state: (*name).to_owned(),
            facts: summary.map_or_else(Vec::new, state_facts),
            log: log
                .as_ref()
                .map(|log| view(log, &read[at], &lines[at], &telling)),
        });
    }
    page.plan = plan_part(&plan);
    page.scripts = scripts(folder, &row)?;
    page.history = history(folder, &made)?;
    Ok(page)
}

const STATES: [(&str, State); 3] = [
    ("base", State::Base),
    ("before", State::Before),
    ("after", State::After),
];

fn parser_of(id: &str, row: &Map<String, Value>) -> Option<Arc<dyn LogParser>> {
    if let Some(rules) = rules_of_row(row) {
        return Some(Arc::new(rules));
    }
    Parsers::builtin().get(id).ok()
}

/// SWE-bench id -> the line it was read from. Where the search for it was given up within some lines, the last of them that has the end of the
/// test's name.
fn lines_of<'a>(places: &'a [ReadFrom], log: &str) -> HashMap<&'a str, usize> {
    let lines: Vec<&str> = log.split('\n').collect();
    let mut found = HashMap::new();
    for place in places {
        let line = if place.lines.len() == 1 {
            Some(place.lines.start)
        } else {
            let words = place.name.rsplit(['/', ':', '>', '.']).map(str::trim);
            let tail = words
                .into_iter()
                .find(|word| !word.is_empty())
                .unwrap_or(&place.name);
            let has = |line: &usize| lines.get(line - 1).is_some_and(|text| text.contains(tail));
            place.lines.clone().rev().find(has)
        };
        if let Some(line) = line {
            found.insert(atlas_core::without_source_line(&place.name), line);
        }
    }
    found
}

fn view(
    log: &str,
    read: &[ReadFrom],
    lines: &HashMap<&str, usize>,
    telling: &HashMap<&str, bool>,
) -> LogView {
    let mut marked: BTreeMap<usize, ReadLine> = BTreeMap::new();
    let mut lost = 0;
    for place in read {
        let name = atlas_core::without_source_line(&place.name);
        let Some(line) = lines.get(name) else {
            lost += 1;
            continue;
        };
        let of = marked.entry(*line).or_default();
        *of.statuses.entry(place.status).or_default() += 1;
        of.is_telling |= telling.get(name).copied().unwrap_or(true);
    }
    let near = read.iter().filter(|place| place.lines.len() > 1).count();
    let mut note = format!(
        "{} results were read from {} lines.",
        read.len(),
        marked.len()
    );
    if near > 0 {
        let _ = write!(
            note,
            " Of {near} only a stretch of lines was found within the time for it, and in it the line that has their name; of {lost} none."
        );
    }
    LogView {
        text: log.to_owned(),
        read: marked,
        note,
    }
}

fn state_facts(summary: &StateSummary) -> Vec<(String, String)> {
    let counts = summary
        .counts
        .iter()
        .map(|(status, n)| format!("{n} {status}"));
    let mut facts = vec![
        ("Ended".to_owned(), word(&summary.outcome)),
        ("Results".to_owned(), counts.collect::<Vec<_>>().join(", ")),
        ("Seconds".to_owned(), format!("{:.1}", summary.seconds)),
    ];
    let agree = summary
        .consistent
        .map(|agree| if agree { "agree" } else { "do not agree" });
    if let Some(agree) = agree {
        facts.push(("The runner's totals".to_owned(), agree.to_owned()));
    }
    facts
}

fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('_', " ")
}

fn transitions(
    oracle: &OracleReport,
    lines: &[HashMap<&str, usize>],
    notes: &mut Vec<String>,
) -> Vec<TransitionRow> {
    let aside = oracle
        .confirmation
        .iter()
        .flat_map(|of| &of.contradicted)
        .chain(&oracle.unstable);
    let aside: HashMap<&String, &String> = aside.collect();
    let mut rows: Vec<TransitionRow> = oracle
        .transitions
        .iter()
        .map(|test| TransitionRow {
            statuses: [test.base, test.before, test.after],
            class: test.class.clone(),
            lines: [0, 1, 2].map(|at| lines[at].get(test.name.as_str()).copied()),
            set_aside: aside.get(&test.name).map(|why| (*why).clone()),
            name: test.name.clone(),
        })
        .collect();
    let rank = |test: &TransitionRow| match (test.class.as_str(), test.set_aside.is_some()) {
        ("F2P", _) => 0,
        ("P2P", false) => 2,
        _ => 1,
    };
    rows.sort_by_key(rank);
    if rows.len() > TESTS {
        notes.push(format!(
            "Of {} tests {TESTS} are listed, those that do not pass everywhere first.",
            rows.len()
        ));
        rows.truncate(TESTS);
    }
    rows
}

fn plan_part(plan: &Map<String, Value>) -> PlanPart {
    let evidence: BTreeMap<String, Vec<Evidence>> = plan
        .get("evidence")
        .and_then(|value| serde_json::from_value(value.clone()).ok())
        .unwrap_or_default();
    let said = plan.iter().filter(|(field, value)| {
        let is_empty = value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        !is_empty && !matches!(field.as_str(), "evidence" | "drift")
    });
    let mut conclusions: Vec<Conclusion> = said
        .map(|(field, value)| Conclusion {
            field: field.clone(),
            value: as_lines(value),
            evidence: evidence.get(field).cloned().unwrap_or_default(),
        })
        .collect();
    for (field, proof) in evidence {
        if !conclusions.iter().any(|one| one.field == field) {
            conclusions.push(Conclusion {
                field,
                value: String::new(),
                evidence: proof,
            });
        }
    }
    // What is proved comes first.
    conclusions.sort_by_key(|one| one.evidence.is_empty());
    let drift = plan
        .get("drift")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    PlanPart {
        conclusions,
        drift: drift.filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}

fn as_lines(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) if all.iter().all(Value::is_string) => all
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join("\n"),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

/// The Dockerfile, scripts and helper programs of the environment, and the row's script.
fn scripts(folder: &Path, row: &Map<String, Value>) -> Result<Vec<NamedText>, Error> {
    let environment = folder.join("environment");
    let mut paths = vec![environment.join("Dockerfile")];
    for inside in ["scripts", "toolbox"] {
        let entries = std::fs::read_dir(environment.join(inside))
            .into_iter()
            .flatten()
            .flatten();
        let mut files: Vec<_> = entries
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        paths.extend(files);
    }
    let mut found = Vec::new();
    for path in paths {
        if let Some(text) = text(&path)? {
            let name = path
                .strip_prefix(folder)
                .unwrap_or(&path)
                .display()
                .to_string();
            found.push(NamedText {
                name,
                text: cut(text),
            });
        }
    }
    if let Some(script) = row.get("eval_script").and_then(Value::as_str) {
        let name = "eval_script of the row".to_owned();
        found.push(NamedText {
            name,
            text: cut(script.to_owned()),
        });
    }
    Ok(found)
}

fn cut(mut text: String) -> String {
    if text.len() > SCRIPT {
        let end = (0..=SCRIPT).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.push_str("\n… the rest is in the file");
    }
    text
}

fn history(folder: &Path, made: &MakeJson) -> Result<Vec<HistoryStep>, Error> {
    let mut steps = Vec::new();
    let attempts: Vec<Attempt> = read_if_any(&folder.join("attempts.json"))?.unwrap_or_default();
    for (at, attempt) in attempts.iter().enumerate() {
        let by = attempt
            .origin
            .get("by")
            .and_then(Value::as_str)
            .unwrap_or("plan");
        let changes = attempt
            .origin
            .get("changes")
            .map(as_lines)
            .unwrap_or_default();
        let proofs = attempt.origin.get("proofs").cloned().unwrap_or(Value::Null);
        steps.push(HistoryStep {
            by: format!("environment, plan {}", at + 1),
            verdict: format!("by {by}"),
            is_good: None,
            reason: changes,
            evidence: serde_json::from_value(proofs).unwrap_or_default(),
        });
    }
    steps.push(HistoryStep {
        by: "make".to_owned(),
        verdict: made.outcome.clone(),
        is_good: Some(made.outcome == "instance"),
        reason: made.reason.clone(),
        evidence: made.evidence.clone(),
    });
    for gate in read_if_any::<Validated>(&folder.join("validate.json"))?
        .unwrap_or_default()
        .verdicts
    {
        let messages = gate.findings.iter().map(|finding| finding.message.as_str());
        steps.push(HistoryStep {
            by: format!("gate {}", gate.validator),
            is_good: match gate.decision.as_str() {
                "accept" | "repair" => Some(true),
                "reject" => Some(false),
                _ => None,
            },
            verdict: gate.decision,
            reason: messages.collect::<Vec<_>>().join("; "),
            evidence: gate
                .findings
                .iter()
                .flat_map(|finding| finding.evidence.clone())
                .collect(),
        });
    }
    // An instance of a run has the run's own story beside these.
    let run = folder
        .parent()
        .and_then(Path::parent)
        .filter(|run| is_run(run));
    if let Some(run) = run {
        let story = crate::why(run, &super::name_of(folder)).ok();
        for step in story.iter().flat_map(|story| &story.steps) {
            steps.push(HistoryStep {
                by: format!("run, stage {}", step.stage),
                verdict: if step.state == "done" {
                    step.outcome.clone()
                } else {
                    step.state.clone()
                },
                is_good: (step.state == "done").then_some(step.passed),
                reason: step.reason.clone(),
                evidence: step.evidence.clone(),
            });
        }
        for event in story.iter().flat_map(|story| &story.events) {
            steps.push(HistoryStep {
                by: format!("run, {} {}", event.stage, event.at),
                verdict: event.what.clone(),
                reason: event.text.clone(),
                ..HistoryStep::default()
            });
        }
    }
    Ok(steps)
}
