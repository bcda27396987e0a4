//! An analysis as one page: figures with their numbers beside them.
//!
//! The page is complete in itself: its figures are SVG within it, and nothing is loaded from
//! elsewhere. Figures are drawn here rather than by a plotting library, since their colours must
//! follow the reader's light or dark setting, which only style classes can.

mod cascade;
mod chart;
mod figures;
mod html;

use crate::metrics::BeyondRuns;
use crate::metrics::analysis::{Analysis, Population, Table, critic_name, differences};
use html::Html;

/// A table that stands before all figures of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageTable {
    /// What it is called.
    pub title: String,
    /// What its reader must know.
    pub said: String,
    /// The words at the head of its columns.
    pub head: Vec<String>,
    /// Its rows, each with as many cells.
    pub rows: Vec<Vec<String>>,
}

/// A drawing of an analysis that stands alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The section of the page in which it stands.
    pub section: String,
    /// What it shows.
    pub title: String,
    /// The SVG, with its legend, legible on light and on dark. Every text in it is escaped.
    pub svg: String,
}

/// The drawings of an analysis in the order of its page: those of [`policies_report`], without its tables.
pub fn policies_figures(analysis: &Analysis) -> Vec<Figure> {
    page(analysis, "", &[]).into_figures()
}

/// The page of an analysis, as HTML.
///
/// The same analysis gives the same bytes.
pub fn policies_report(analysis: &Analysis, title: &str) -> String {
    policies_report_with(analysis, title, &[])
}

/// The same with tables before its figures.
pub fn policies_report_with(analysis: &Analysis, title: &str, tables: &[PageTable]) -> String {
    page(analysis, title, tables).finish()
}

fn page(analysis: &Analysis, title: &str, tables: &[PageTable]) -> Html {
    let mut page = Html::new(title);
    page.heading(1, title);
    page.paragraph(&analysis.summary());
    page.paragraph(&settings(analysis));
    page.notes(&analysis.notes);
    for table in tables {
        let (head, rows) = (table.head.clone(), table.rows.clone());
        page.figure(&table.title, &table.said, Err(""), &[Table { head, rows }]);
    }
    let beside = analysis.judges_beside();
    if !beside.is_empty() {
        page.open_section("Judges side by side", false);
        for table in beside {
            let title = match table.head.get(1).map(String::as_str) {
                Some("Policy") => "Policies, over the patches of all agents",
                _ => "Critics, with the rule for low confidence: tests, then patches",
            };
            page.figure(title, "", Err(""), &[table]);
        }
        figures::curves_beside(&mut page, analysis);
        if let Some(table) = differences(&analysis.differences) {
            page.figure(figures::DIFFERENCES, figures::PAIRED, Err(""), &[table]);
        }
        page.close_section(false);
    }
    if let Some(table) = differences(&analysis.critic_differences) {
        page.open_section("Critics against each other", false);
        page.figure(
            figures::CRITIC_DIFFERENCES,
            figures::PAIRED_CRITICS,
            Err(""),
            &[table],
        );
        page.close_section(false);
    }
    cascade::costs(&mut page, analysis);
    for (at, set) in analysis.policies.iter().enumerate() {
        // Agent by agent comes folded: it is the same again in parts.
        let folded = at > 0;
        page.open_section(&format!("Policies: {}", set.name), folded);
        page.paragraph(&set.summary());
        page.notes(&set.notes);
        figures::policies(&mut page, set);
        page.close_section(folded);
    }
    if analysis.order_beside().is_some() || analysis.progress_table().is_some() {
        page.open_section("Critics side by side", false);
        figures::critics(&mut page, analysis);
        page.close_section(false);
    }
    for critic in &analysis.critics {
        page.open_section(&format!("Critic: {}", critic_name(&critic.variant)), false);
        page.paragraph(&critic.summary());
        figures::critic(&mut page, critic);
        page.close_section(false);
    }
    if analysis.critics.is_empty() && !analysis.policies.is_empty() {
        page.open_section("Critics", false);
        page.paragraph(
            "No line has a critic's word on tests, so there is nothing to show of them.",
        );
        page.close_section(false);
    }
    page
}

/// How the numbers were computed.
fn settings(analysis: &Analysis) -> String {
    let options = &analysis.options;
    let percentiles: Vec<String> = options.percentiles.iter().map(f64::to_string).collect();
    format!(
        "Attempted from probability {}. Percentiles {}, of combined policies over patches of {} tasks. \
         Fewer runs than k: {}. Low confidence: at most {} on a test longer than {} characters. \
         Intervals: {} resamples of tasks, seed {}.",
        options.tau,
        percentiles.join(" and "),
        population(options.population),
        beyond(options.beyond),
        options.rule.max_confidence,
        options.rule.longer_than,
        options.resamples,
        options.seed,
    )
}

fn population(population: Population) -> &'static str {
    match population {
        Population::Attempted => "attempted",
        Population::All => "all",
    }
}

fn beyond(beyond: BeyondRuns) -> &'static str {
    match beyond {
        BeyondRuns::Clamp => "k is lowered to them",
        BeyondRuns::Exclude => "the task is left out",
        BeyondRuns::Error => "an error",
    }
}
