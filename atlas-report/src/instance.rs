//! The page of an instance: three logs beside each other, what follows from them, and what they ran in.

use crate::log::{self, LogView};
use crate::patch::patch;
use crate::shell::{self, Live, Section, clean};
use crate::table::{DataTable, Kind, More, Row, column};
use atlas_core::{Evidence, TestStatus};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// One of the states Base, Before and After.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatePane {
    /// Its name: `base`, `before` or `after`.
    pub state: String,
    /// Short facts: how it ended, counts, seconds.
    pub facts: Vec<(String, String)>,
    /// Its log; absent where the state did not run.
    pub log: Option<LogView>,
}

/// A test in the three states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransitionRow {
    /// Its SWE-bench id.
    pub name: String,
    /// Its statuses in Base, Before and After.
    pub statuses: [Option<TestStatus>; 3],
    /// What they make of it: `F2P`, `P2P`, ….
    pub class: String,
    /// Lines of the three logs that the statuses were read from.
    pub lines: [Option<usize>; 3],
    /// Why it was set aside, where it was.
    pub set_aside: Option<String>,
}

/// Something that the plan says, with its proof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conclusion {
    /// The plan's field.
    pub field: String,
    /// What it says.
    pub value: String,
    /// What proves it.
    pub evidence: Vec<Evidence>,
}

/// The plan of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanPart {
    /// Its conclusions.
    pub conclusions: Vec<Conclusion>,
    /// What may differ from the day of the pull request.
    pub drift: Vec<String>,
}

/// A file that is shown as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedText {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// A verdict on the instance, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryStep {
    /// Who gave it: a stage, an attempt at the environment, a gate.
    pub by: String,
    /// The verdict's word.
    pub verdict: String,
    /// Whether it is good news; absent where it is neither.
    pub is_good: Option<bool>,
    /// Why.
    pub reason: String,
    /// Proof.
    pub evidence: Vec<Evidence>,
}

/// An instance, or a pull request that became none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstancePage {
    /// Its name.
    pub id: String,
    /// The verdict's word.
    pub outcome: String,
    /// Whether it is an instance.
    pub is_instance: bool,
    /// Why.
    pub reason: String,
    /// Short facts: repository, base commit, kind, parser, isolation.
    pub facts: Vec<(String, String)>,
    /// Base, Before and After.
    pub panes: Vec<StatePane>,
    /// Tests in the three states.
    pub transitions: Vec<TransitionRow>,
    /// The environment's plan.
    pub plan: PlanPart,
    /// Dockerfile and scripts.
    pub scripts: Vec<NamedText>,
    /// All verdicts.
    pub history: Vec<HistoryStep>,
    /// The problem statement.
    pub problem_statement: String,
    /// The gold patch.
    pub gold_patch: String,
    /// The test patch.
    pub test_patch: String,
    /// What the page lacks, and remarks.
    pub notes: Vec<String>,
}

const STATES: [&str; 3] = ["base", "before", "after"];

impl InstancePage {
    /// The page as HTML.
    pub fn html(&self, live: Option<&Live>) -> String {
        let lead = html! {
            div.verdict.is-good[self.is_instance].is-bad[!self.is_instance] {
                p { strong { (clean(&self.outcome)) } ". " (clean(&self.reason)) }
            }
            (facts(&self.facts))
            @if !self.notes.is_empty() {
                details { summary { (self.notes.len()) " remarks" } ul { @for note in &self.notes { li { (clean(note)) } } } }
            }
        };
        let mut sections = vec![
            Section::new("transitions", "Tests", self.transitions()),
            Section::new("logs", "Three logs", self.logs()),
            Section::new("plan", "Plan and evidence", self.plan()),
            Section::new("scripts", "Environment", self.scripts()),
            Section::new("history", "Verdicts", self.history()),
        ];
        let task = html! {
            details open { summary { h3 { "Problem statement" } } pre tabindex="0" role="region" aria-label="Problem statement" { (clean(&self.problem_statement)) } }
            details { summary { h3 { "Test patch" } } (patch("Test patch", &self.test_patch)) }
            details { summary { h3 { "Gold patch" } } (patch("Gold patch", &self.gold_patch)) }
        };
        sections.push(Section::new("task", "Task", task));
        shell::page(&self.id, &lead, &sections, live)
    }

    fn transitions(&self) -> Markup {
        if self.transitions.is_empty() {
            return html! { p { "No test was read in these states." } };
        }
        let columns = [
            column("test", "Test", Kind::Name),
            column("class", "Class", Kind::Choice),
            column("base", "Base", Kind::Choice),
            column("before", "Before", Kind::Choice),
            column("after", "After", Kind::Choice),
            column("aside", "Set aside because", Kind::Text),
        ];
        let rows = self.transitions.iter().map(|test| {
            let status = |at: usize| test.statuses[at].map_or("not seen", TestStatus::as_str);
            let tone = |at: usize| match test.statuses[at] {
                Some(status) if status.is_passing() => "good",
                Some(TestStatus::Failed | TestStatus::Error) => "bad",
                _ => "soft",
            };
            let lines =
                STATES
                    .iter()
                    .zip(test.lines)
                    .zip(test.statuses)
                    .map(|((state, line), status)| match (line, status) {
                        (Some(line), _) => format!("{state}.log, line {line}"),
                        (None, Some(_)) => format!("{state}: the line was not found"),
                        (None, None) => format!("{state}: not in the log"),
                    });
            let mut more = vec![More::lines(
                "Read from",
                &lines.collect::<Vec<_>>().join("\n"),
            )];
            for (state, line) in STATES.iter().zip(test.lines) {
                if let Some(line) = line {
                    more.push(More::link(
                        &format!("In {state}"),
                        &format!("go to line {line}"),
                        format!("#{state}-{line}"),
                    ));
                }
            }
            Row {
                id: test.name.clone(),
                cells: vec![
                    clean(&test.name).into(),
                    test.class.as_str().into(),
                    status(0).into(),
                    status(1).into(),
                    status(2).into(),
                    test.set_aside.as_deref().map(clean).into(),
                ],
                tones: BTreeMap::from([("base", tone(0)), ("before", tone(1)), ("after", tone(2))]),
                more,
            }
        });
        let table = DataTable {
            caption: "Tests in Base, Before and After; a name opens the lines that it was read from",
            columns: &columns,
            rows: rows.collect(),
        };
        table.markup("tests")
    }

    fn logs(&self) -> Markup {
        let telling = self.transitions.iter().filter(|test| test.class == "F2P");
        html! {
            @let telling: Vec<_> = telling.take(8).collect();
            @if !telling.is_empty() {
                div.tools {
                    @for test in telling {
                        button type="button" data-lines=(places(test)) { (atlas_core::one_line(&test.name, 90)) }
                    }
                }
            }
            p.soft { "The parser read a result from each line with a status; those of tests that change or fail are highlighted." }
            div.logs {
                @for pane in &self.panes {
                    div {
                        h3 { (pane.state) }
                        (facts(&pane.facts))
                        @match &pane.log {
                            None => { p.soft { "This state has no log." } }
                            Some(view) => {
                                @if !view.note.is_empty() { p.soft { (clean(&view.note)) } }
                                div.log tabindex="0" role="region" aria-label={ "Log of " (pane.state) } { (log::lines(&pane.state, view)) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn plan(&self) -> Markup {
        html! {
            @for conclusion in &self.plan.conclusions {
                details open[!conclusion.evidence.is_empty()] {
                    summary { h3 { (clean(&conclusion.field)) } }
                    pre tabindex="0" role="region" aria-label=(clean(&conclusion.field)) { (clean(&conclusion.value)) }
                    (proof(&conclusion.evidence))
                }
            }
            @if !self.plan.drift.is_empty() {
                h3 { "What may differ from the day of the pull request" }
                ul { @for line in &self.plan.drift { li { (clean(line)) } } }
            }
        }
    }

    fn scripts(&self) -> Markup {
        html! {
            @if self.scripts.is_empty() { p { "No environment was written." } }
            @for script in &self.scripts {
                details { summary { h3 { (clean(&script.name)) } } pre tabindex="0" role="region" aria-label=(clean(&script.name)) { (clean(&script.text)) } }
            }
        }
    }

    fn history(&self) -> Markup {
        html! {
            ol {
                @for step in &self.history {
                    li.step {
                        strong { (clean(&step.by)) } ": "
                        span.good[step.is_good == Some(true)].bad[step.is_good == Some(false)] { (clean(&step.verdict)) }
                        @if !step.reason.is_empty() { p { (clean(&step.reason)) } }
                        (proof(&step.evidence))
                    }
                }
            }
        }
    }
}

/// The lines of a test in the three panes, as the page names them.
fn places(test: &TransitionRow) -> String {
    let lines = STATES.iter().zip(test.lines);
    let places = lines.filter_map(|(state, line)| line.map(|line| format!("{state}-{line}")));
    places.collect::<Vec<_>>().join(" ")
}

fn facts(facts: &[(String, String)]) -> Markup {
    let facts: Vec<(&str, String)> = facts
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    shell::facts(&facts)
}

pub(crate) fn proof(evidence: &[Evidence]) -> Markup {
    html! {
        @if !evidence.is_empty() {
            ul {
                @for one in evidence {
                    li {
                        code { (clean(&one.source)) @if let Some(line) = one.line { ":" (line) } }
                        @if !one.text.is_empty() { " " (clean(&one.text)) }
                    }
                }
            }
        }
    }
}
