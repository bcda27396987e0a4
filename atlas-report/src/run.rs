//! The page of a run: how much is left after each stage, why, and what it cost.

use crate::chart::{self, Bar};
use crate::shell::{self, Live, Section};
use crate::table::{self, DataTable, Kind, More, Row, column};
use crate::{Share, bytes, duration, number};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// What is left after a stage, or of a language, beside the paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct YieldRow {
    /// The stage or language.
    pub name: String,
    /// Pull requests that came in.
    pub of: u64,
    /// Pull requests that are left.
    pub left: u64,
    /// Their share.
    pub share: Share,
    /// What paper 001 has in its Table 2 or 3, in percent; absent where it says nothing.
    pub paper: Option<f64>,
}

/// A reason for which pull requests were rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReasonRow {
    /// The verdict's word.
    pub word: String,
    /// How many.
    pub count: u64,
    /// Some of them: name and the reason's first line.
    pub examples: Vec<(String, String)>,
}

/// One filter of stage 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterRow {
    /// Its name.
    pub name: String,
    /// Pull requests that came to it.
    pub seen: u64,
    /// Pull requests that it dropped.
    pub dropped: u64,
    /// Reason -> how many.
    pub reasons: BTreeMap<String, u64>,
    /// Some of them: name and reason.
    pub examples: Vec<(String, String)>,
}

/// One stage of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageRow {
    /// Its name.
    pub name: String,
    /// Steps that wait.
    pub pending: u64,
    /// Steps at work.
    pub running: u64,
    /// Steps that went on.
    pub passed: u64,
    /// Steps that ended with a verdict of no.
    pub rejected: u64,
    /// Steps that ended with an error.
    pub failed: u64,
    /// Wall seconds of those that ended with a verdict.
    pub seconds: f64,
    /// Bytes of artefacts after them.
    pub bytes: u64,
    /// Money that models cost, in the unit of their prices.
    pub money: f64,
}

/// How many instances fall into each class of something, beside the paper where it has the classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedCount {
    /// What is told apart.
    pub title: String,
    /// What a reader must know of the classes; may be empty.
    pub said: String,
    /// Class, number and the paper's percent.
    pub classes: Vec<(String, u64, Option<f64>)>,
}

/// How far the tests of instances can be trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestQuality {
    /// Instances that have tests which were set aside as flaky or unstable.
    pub with_unstable: u64,
    /// Such tests.
    pub unstable: u64,
    /// Tests of all instances.
    pub tests: u64,
    /// Reason for which a test was set aside, without its particulars -> how many.
    pub reasons: BTreeMap<String, u64>,
    /// Gate -> decision -> instances.
    pub gates: BTreeMap<String, BTreeMap<String, u64>>,
    /// Shares of mutants or variants that the tests of an instance kill, of instances whose strength was measured, in percent.
    pub strength: Vec<(String, f64)>,
}

/// A candidate of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CandidateRow {
    /// Its name.
    pub id: String,
    /// Its repository.
    pub repo: String,
    /// Its language; empty where it is not known.
    pub language: String,
    /// The stage at which it is or ended.
    pub stage: String,
    /// Where it stands: `accepted`, `rejected`, `failed`, `pending`, `running`.
    pub standing: String,
    /// The verdict's word, or the kind of error.
    pub outcome: String,
    /// Why.
    pub reason: String,
    /// Proof lines, as `place: text`.
    pub evidence: Vec<String>,
    /// Bug fix or feature; empty where there is no instance.
    pub kind: String,
    /// `FAIL_TO_PASS`, `PASS_TO_PASS` and tests that were set aside.
    pub tests: Option<(u64, u64, u64)>,
    /// Lines and files that the gold patch changes.
    pub size: Option<(u64, u64)>,
    /// Seconds of all its steps.
    pub seconds: f64,
    /// Bytes of its artefacts.
    pub bytes: u64,
    /// Whether a page of the instance can be asked for.
    pub has_page: bool,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunPage {
    /// Its name.
    pub name: String,
    /// Candidates.
    pub candidates: u64,
    /// Rows of its dataset.
    pub dataset_rows: u64,
    /// Seconds of all steps together.
    pub seconds: f64,
    /// Money that models cost.
    pub money: f64,
    /// Bytes of artefacts.
    pub artefact_bytes: u64,
    /// Bytes of environments, shared layers once.
    pub image_bytes: u64,
    /// What the filters of stage 1 left, in their order; empty where the run had its candidates from elsewhere.
    pub filters: Vec<FilterRow>,
    /// After each stage, beside Table 3.
    pub funnel: Vec<YieldRow>,
    /// By language, beside Table 2.
    pub languages: Vec<YieldRow>,
    /// Why pull requests were rejected, the most frequent first.
    pub reasons: Vec<ReasonRow>,
    /// The stages, in order.
    pub stages: Vec<StageRow>,
    /// Step of making an instance -> wall seconds of all.
    pub step_seconds: Vec<(String, f64)>,
    /// Difficulty, types and other classes.
    pub classes: Vec<SharedCount>,
    /// How far the tests can be trusted.
    pub quality: TestQuality,
    /// All candidates.
    pub rows: Vec<CandidateRow>,
    /// What the page lacks, and why.
    pub notes: Vec<String>,
}

impl RunPage {
    /// The page as HTML. With `live`, candidates that have a page are linked to it.
    pub fn html(&self, live: Option<&Live>) -> String {
        let open: u64 = self
            .stages
            .iter()
            .map(|stage| stage.pending + stage.running)
            .sum();
        let failed: u64 = self.stages.iter().map(|stage| stage.failed).sum();
        let lead = html! {
            div.verdict.is-good[open == 0 && failed == 0].is-warn[open > 0 || failed > 0] {
                p {
                    strong { (self.dataset_rows) " instances" } " of " (self.candidates) " candidates. "
                    @if open > 0 { span.warn { (open) " steps are still to be done. " } }
                    @if failed > 0 { span.warn { (failed) " steps ended with an error. " } }
                    @if let Some(most) = self.reasons.first() {
                        "Most were lost to " code { (most.word) } " (" (most.count) ")."
                    }
                }
            }
            (shell::facts(&[
                ("Seconds of all steps", duration(self.seconds)),
                ("Money", format!("{:.2}", self.money)),
                ("Artefacts", bytes(self.artefact_bytes)),
                ("Environments", bytes(self.image_bytes)),
            ]))
            @for note in &self.notes { p.soft { (shell::clean(note)) } }
        };
        let mut sections = vec![
            Section::new("candidates", "Candidates", self.table(live.is_some())),
            Section::new("funnel", "Funnel", self.funnel()),
            Section::new("rejections", "Rejections", self.rejections()),
        ];
        if self.classes.iter().any(|one| !one.classes.is_empty()) {
            sections.push(Section::new(
                "instances",
                "Difficulty and types",
                self.classes(),
            ));
        }
        sections.push(Section::new("cost", "Time, cost and disk", self.cost()));
        sections.push(Section::new(
            "tests",
            "Flakiness and strength",
            self.quality(),
        ));
        shell::page(&format!("Run {}", self.name), &lead, &sections, live)
    }

    fn table(&self, is_live: bool) -> Markup {
        let columns = [
            column("candidate", "Candidate", Kind::Name),
            column("standing", "Stands", Kind::Choice),
            column("stage", "Stage", Kind::Choice),
            column("outcome", "Outcome", Kind::Choice),
            column("language", "Language", Kind::Choice),
            column("kind", "Kind", Kind::Choice),
            column("f2p", "F2P", Kind::Number),
            column("p2p", "P2P", Kind::Number),
            column("unstable", "Unstable", Kind::Number),
            column("lines", "Lines", Kind::Number),
            column("files", "Files", Kind::Number),
            column("seconds", "Seconds", Kind::Seconds),
            column("bytes", "Artefacts", Kind::Bytes),
            column("reason", "Why", Kind::Text),
        ];
        let rows = self.rows.iter().map(|row| {
            let tests = |pick: fn((u64, u64, u64)) -> u64| row.tests.map(pick).into();
            let tone = match row.standing.as_str() {
                "accepted" => Some("good"),
                "rejected" => Some("bad"),
                "failed" => Some("warn"),
                _ => None,
            };
            let mut more = Vec::new();
            if is_live && row.has_page {
                let link = format!("/instance/{}", crate::address(&row.id));
                more.push(More::link("The instance's page", &row.id, link));
            }
            more.push(More::text("Repository", &row.repo));
            if !row.reason.is_empty() {
                more.push(More::lines("Why", &row.reason));
            }
            if !row.evidence.is_empty() {
                more.push(More::lines("Proof", &row.evidence.join("\n")));
            }
            Row {
                id: row.id.clone(),
                cells: vec![
                    shell::clean(&row.id).into(),
                    row.standing.as_str().into(),
                    row.stage.as_str().into(),
                    shell::clean(&row.outcome).into(),
                    shell::clean(&row.language).into(),
                    row.kind.as_str().into(),
                    tests(|(f2p, _, _)| f2p),
                    tests(|(_, p2p, _)| p2p),
                    tests(|(_, _, unstable)| unstable),
                    row.size.map(|(lines, _)| lines).into(),
                    row.size.map(|(_, files)| files).into(),
                    row.seconds.into(),
                    row.bytes.into(),
                    atlas_core::one_line(&row.reason, 100).into(),
                ],
                tones: tone.map(|tone| ("standing", tone)).into_iter().collect(),
                more,
            }
        });
        DataTable {
            caption: "All candidates; the name opens what is known of one",
            columns: &columns,
            rows: rows.collect(),
        }
        .markup("candidates")
    }

    fn funnel(&self) -> Markup {
        html! {
            div.side {
                div {
                    h3 { "By stage, beside Table 3" }
                    (yields("Left of the sourced", "Stage", &self.funnel))
                }
                div {
                    h3 { "By language, beside Table 2" }
                    (yields("Built, run and read", "Language", &self.languages))
                }
            }
            @if !self.filters.is_empty() { (self.filters()) }
            p.soft { "Intervals are Wilson's at 95 %. The paper's numbers are those of paper 001, over 137,048 pull requests." }
        }
    }

    fn filters(&self) -> Markup {
        let rows: Vec<Vec<String>> = self
            .filters
            .iter()
            .map(|filter| {
                let mut reasons: Vec<_> = filter.reasons.iter().collect();
                reasons.sort_by_key(|(why, n)| (std::cmp::Reverse(**n), why.as_str()));
                let reasons = reasons
                    .iter()
                    .take(3)
                    .map(|(why, n)| format!("{why} ({n})"));
                vec![
                    filter.name.clone(),
                    filter.seen.to_string(),
                    filter.dropped.to_string(),
                    (filter.seen - filter.dropped.min(filter.seen)).to_string(),
                    reasons.collect::<Vec<_>>().join(", "),
                ]
            })
            .collect();
        let heads = [
            ("Filter", false),
            ("Seen", true),
            ("Dropped", true),
            ("Left", true),
            ("Most for", false),
        ];
        html! {
            h3 { "Filters of stage 1" }
            (table::plain("What each filter dropped", &heads, &rows))
            @for filter in self.filters.iter().filter(|filter| !filter.examples.is_empty()) {
                details {
                    summary { "Examples of " strong { (shell::clean(&filter.name)) } }
                    ul { @for (id, why) in &filter.examples { li { code { (shell::clean(id)) } " " (shell::clean(why)) } } }
                }
            }
        }
    }

    fn rejections(&self) -> Markup {
        if self.reasons.is_empty() {
            return html! { p { "Nothing was rejected." } };
        }
        let groups: Vec<_> = self
            .reasons
            .iter()
            .map(|reason| (reason.word.clone(), vec![Some(count(reason.count))]))
            .collect();
        html! {
            (chart::bars("Rejected pull requests by verdict", &["rejected"], &groups, ""))
            @for reason in &self.reasons {
                details {
                    summary { strong { (shell::clean(&reason.word)) } ": " (reason.count) }
                    ul { @for (id, line) in &reason.examples { li { code { (shell::clean(id)) } " " (shell::clean(line)) } } }
                    p { a href={ "#?candidates.q=" (crate::address(&reason.word)) } { "Show these candidates" } }
                }
            }
        }
    }

    fn classes(&self) -> Markup {
        html! {
            div.side {
                @for shared in self.classes.iter().filter(|one| !one.classes.is_empty()) {
                    div {
                        h3 { (shell::clean(&shared.title)) }
                        @if !shared.said.is_empty() { p.soft { (shell::clean(&shared.said)) } }
                        (shared_count(shared))
                    }
                }
            }
        }
    }

    fn cost(&self) -> Markup {
        let rows: Vec<Vec<String>> = self
            .stages
            .iter()
            .map(|stage| {
                vec![
                    stage.name.clone(),
                    (stage.pending + stage.running).to_string(),
                    stage.passed.to_string(),
                    stage.rejected.to_string(),
                    stage.failed.to_string(),
                    duration(stage.seconds),
                    bytes(stage.bytes),
                    format!("{:.2}", stage.money),
                ]
            })
            .collect();
        let heads = [
            ("Stage", false),
            ("Open", true),
            ("Went on", true),
            ("Rejected", true),
            ("Failed", true),
            ("Wall time", true),
            ("Artefacts", true),
            ("Money", true),
        ];
        let steps: Vec<_> = self
            .step_seconds
            .iter()
            .map(|(name, seconds)| (name.clone(), vec![Some(Bar::plain(*seconds))]))
            .collect();
        html! {
            div.side {
                div { (table::plain("Stages of the run", &heads, &rows)) }
                @if !steps.is_empty() {
                    div { h3 { "Seconds of making instances, by step" } (chart::bars("Seconds by step", &["seconds"], &steps, " s")) }
                }
            }
        }
    }

    fn quality(&self) -> Markup {
        let of = &self.quality;
        let gates: Vec<Vec<String>> = of
            .gates
            .iter()
            .map(|(gate, decisions)| {
                let of = |word: &str| decisions.get(word).copied().unwrap_or_default().to_string();
                vec![
                    gate.clone(),
                    of("accept"),
                    of("repair"),
                    of("reject"),
                    of("no_evidence"),
                ]
            })
            .collect();
        let heads = [
            ("Gate", false),
            ("Accepted", true),
            ("Repaired", true),
            ("Rejected", true),
            ("No evidence", true),
        ];
        html! {
            p {
                (of.unstable) " tests of " (of.with_unstable) " instances were set aside as unstable; "
                (of.tests) " tests define and guard all instances."
            }
            @if !of.reasons.is_empty() {
                h3 { "Why tests were set aside" }
                (chart::bars("Tests set aside, by reason", &["tests"], &of.reasons.iter().map(|(why, n)| (why.clone(), vec![Some(count(*n))])).collect::<Vec<_>>(), ""))
            }
            @if !gates.is_empty() { (table::plain("Quality gates", &heads, &gates)) }
            @if of.strength.is_empty() {
                p.soft { "The strength of the tests was measured for no instance; the gate " code { "strength" } " does." }
            } @else {
                h3 { "Strength: what share of wrong variants the tests refuse" }
                (chart::bars("Strength by instance", &["strength"], &of.strength.iter().map(|(id, share)| (id.clone(), vec![Some(Bar::plain(*share))])).collect::<Vec<_>>(), " %"))
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of pull requests are far below 2^52"
)]
fn count(count: u64) -> Bar {
    Bar::plain(count as f64)
}

fn yields(caption: &str, head: &str, rows: &[YieldRow]) -> Markup {
    let groups: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.name.clone(),
                vec![row.share.bar(), row.paper.map(Bar::plain)],
            )
        })
        .collect();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let paper = row
                .paper
                .map_or_else(|| "–".to_owned(), |paper| format!("{} %", number(paper)));
            vec![
                row.name.clone(),
                row.of.to_string(),
                row.left.to_string(),
                row.share.said(),
                paper,
            ]
        })
        .collect();
    let heads = [
        (head, false),
        ("Of", true),
        ("Left", true),
        ("Share (95 %)", true),
        ("Paper 001", true),
    ];
    html! {
        (chart::bars(caption, &["here", "paper 001"], &groups, " %"))
        (table::plain(caption, &heads, &cells))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of instances are far below 2^52"
)]
fn shared_count(shared: &SharedCount) -> Markup {
    let all: u64 = shared.classes.iter().map(|(_, n, _)| n).sum();
    let share = |n: u64| n as f64 * 100.0 / all.max(1) as f64;
    let has_paper = shared.classes.iter().any(|(_, _, paper)| paper.is_some());
    let groups: Vec<_> = shared
        .classes
        .iter()
        .map(|(name, n, paper)| {
            let mut bars = vec![Some(Bar::plain(share(*n)))];
            if has_paper {
                bars.push(paper.map(Bar::plain));
            }
            (format!("{name} ({n})"), bars)
        })
        .collect();
    let series: &[&str] = if has_paper {
        &["here", "paper 001"]
    } else {
        &["here"]
    };
    chart::bars(&shared.title, series, &groups, " %")
}
