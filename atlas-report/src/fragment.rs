//! What a notebook shows of a value: a piece of a page that stands amid a page of others.
//!
//! It runs no script, loads nothing, and its style reaches nothing beyond itself. It has no colours of a page, but
//! inherits ink and ground, so a light and a dark notebook show it alike. Without its style, as in viewers that take
//! styles out, it is still headings and tables.

use crate::shell::clean;
use atlas_core::one_line;
use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("fragment.css");

/// Rows that are seen at once.
const OPEN: usize = 20;
/// Further ones that can be unfolded.
const FOLDED: usize = 200;
/// Characters of a cell.
const CELL: usize = 160;
/// Characters of a folded text.
const TEXT: usize = 20_000;

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A text in one line; long ones are cut.
    Text(String),
    /// A number, or what is read as one.
    Number(String),
    /// A word that is good news.
    Good(String),
    /// A word that is bad news.
    Bad(String),
    /// Nothing.
    Missing,
    /// A text that opens below what is said of it.
    Folded {
        /// What is seen of it.
        said: String,
        /// The text.
        text: String,
    },
}

impl Cell {
    /// A text; one of several lines or of many characters is folded.
    pub fn of(text: &str) -> Self {
        let (lines, characters) = (text.lines().count(), text.chars().count());
        if lines <= 1 && characters <= CELL {
            return Self::Text(text.to_owned());
        }
        let first = one_line(text.trim(), 60);
        let size = if lines > 1 {
            format!("{lines} lines")
        } else {
            format!("{characters} characters")
        };
        Self::Folded {
            said: format!("{first} ({size})"),
            text: text.to_owned(),
        }
    }

    fn markup(&self) -> Markup {
        match self {
            Self::Text(text) | Self::Number(text) => html! { (cut(text)) },
            Self::Good(word) => html! { span.sa-yes { (cut(word)) } },
            Self::Bad(word) => html! { span.sa-no { (cut(word)) } },
            Self::Missing => html! { span.sa-soft { "–" } },
            Self::Folded { said, text } => folded(said, text),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }
}

fn cut(text: &str) -> String {
    one_line(&clean(text), CELL)
}

fn folded(said: &str, text: &str) -> Markup {
    let shown = text.char_indices().nth(TEXT).map(|(at, _)| &text[..at]);
    html! {
        details {
            summary { (cut(said)) }
            pre { (clean(shown.unwrap_or(text))) }
            @if let Some(shown) = shown { p.sa-soft { (text.len() - shown.len()) " bytes more are not shown" } }
        }
    }
}

/// A table, of which twenty rows are seen and two hundred more can be unfolded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FragmentTable {
    /// What its rows are, in the plural: it stands before their number.
    pub caption: String,
    /// The heads of the columns.
    pub heads: Vec<String>,
    /// The rows that may be shown.
    pub rows: Vec<Vec<Cell>>,
    /// How many there are in all.
    pub total: usize,
    /// Whether the whole is folded.
    pub folded: bool,
}

impl FragmentTable {
    fn markup(&self) -> Markup {
        let open = self.rows.len().min(OPEN);
        let end = self.rows.len().min(OPEN + FOLDED);
        let counted = format!("{} ({})", self.caption, self.total);
        let body = html! {
            (self.part(&self.rows[..open]))
            @if end > open {
                details {
                    summary { (end - open) " more" }
                    (self.part(&self.rows[open..end]))
                }
            }
            @if self.total > end { p.sa-soft { (self.total - end) " further " (clean(&self.caption)) " are not shown" } }
        };
        html! {
            @if self.folded {
                details { summary { (clean(&counted)) } (body) }
            } @else {
                p.sa-soft { (clean(&counted)) }
                (body)
            }
        }
    }

    fn part(&self, rows: &[Vec<Cell>]) -> Markup {
        let is_number = |column: usize| {
            let mut cells = rows.iter().filter_map(|row| row.get(column));
            cells.any(Cell::is_number)
        };
        let numbers: Vec<bool> = (0..self.heads.len()).map(is_number).collect();
        html! {
            div.sa-wide {
                table {
                    thead { tr { @for (head, number) in self.heads.iter().zip(&numbers) { th.sa-n[*number] scope="col" { (cut(head)) } } } }
                    tbody {
                        @for row in rows {
                            tr { @for (cell, number) in row.iter().zip(&numbers) { td.sa-n[*number] { (cell.markup()) } } }
                        }
                    }
                }
            }
        }
    }
}

/// A part of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub enum FragmentPart {
    /// A sentence.
    Note(String),
    /// A table; one without rows is left out.
    Table(FragmentTable),
    /// A drawing as this workspace makes them: it is not escaped. Folded under its name where it has one.
    Drawing {
        /// What it is folded under.
        folded: Option<String>,
        /// The SVG.
        svg: String,
    },
    /// A text that is folded.
    Text {
        /// What is seen of it.
        said: String,
        /// The text.
        text: String,
    },
}

/// What a notebook shows of a value.
///
/// ```
/// use atlas_report::Fragment;
/// let shown = Fragment::new("EvalReport <b>").with_fact("resolved", "3 of 4").html();
/// assert!(shown.contains("EvalReport &lt;b&gt;") && shown.contains("3 of 4"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fragment {
    title: String,
    said: String,
    is_good: Option<bool>,
    facts: Vec<(String, String)>,
    parts: Vec<FragmentPart>,
}

impl Fragment {
    /// A fragment with nothing but its title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// The same with a sentence behind the title.
    #[must_use]
    pub fn with_said(mut self, said: impl Into<String>) -> Self {
        self.said = said.into();
        self
    }

    /// The same, marked as good or as bad news.
    #[must_use]
    pub fn with_tone(mut self, is_good: Option<bool>) -> Self {
        self.is_good = is_good;
        self
    }

    /// The same with a short fact.
    #[must_use]
    pub fn with_fact(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// The same with a further part.
    #[must_use]
    pub fn with_part(mut self, part: FragmentPart) -> Self {
        self.parts.push(part);
        self
    }

    /// The fragment as HTML. Every text but that of drawings is escaped.
    pub fn html(&self) -> String {
        let (good, bad) = (self.is_good == Some(true), self.is_good == Some(false));
        html! {
            div.swe-atlas {
                style { (PreEscaped(STYLE)) }
                div.sa-head.sa-good[good].sa-bad[bad] {
                    strong { (cut(&self.title)) }
                    @if !self.said.is_empty() { " " (one_line(&clean(&self.said), 400)) }
                    @if !self.facts.is_empty() {
                        ul.sa-facts {
                            @for (name, value) in &self.facts { li { span.sa-soft { (cut(name)) ": " } (cut(value)) } }
                        }
                    }
                }
                @for part in &self.parts { (part.markup()) }
            }
        }
        .into_string()
    }
}

impl FragmentPart {
    fn markup(&self) -> Markup {
        match self {
            Self::Note(note) => html! { p { (one_line(&clean(note), 400)) } },
            Self::Table(table) if table.rows.is_empty() => html! {},
            Self::Table(table) => table.markup(),
            Self::Drawing { folded, svg } => html! {
                @if let Some(name) = folded {
                    details { summary { (cut(name)) } (PreEscaped(svg)) }
                } @else {
                    div { (PreEscaped(svg)) }
                }
            },
            Self::Text { said, text } => folded(said, text),
        }
    }
}
