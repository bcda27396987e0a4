//! The page around figures and tables. Every text goes through [`escape`].

use super::Figure;
use super::chart::Chart;
use crate::metrics::analysis::Table;
use std::fmt::Write as _;

/// A page under construction.
pub(super) struct Html {
    text: String,
    section: String,
    figures: Vec<Figure>,
}

/// A text for a place between tags or in an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Control characters have no place in HTML, and an agent's name may hold any.
            c if c.is_control() && !c.is_whitespace() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

impl Html {
    pub(super) fn new(title: &str) -> Self {
        let text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
            escape(title),
            include_str!("style.css"),
        );
        Self {
            text,
            section: String::new(),
            figures: Vec::new(),
        }
    }

    pub(super) fn heading(&mut self, level: u8, text: &str) {
        let _ = writeln!(self.text, "<h{level}>{}</h{level}>", escape(text));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.text, "<p>{}</p>", escape(text));
    }

    pub(super) fn notes(&mut self, notes: &[String]) {
        for note in notes {
            let _ = writeln!(self.text, "<p class=\"note\">{}</p>", escape(note));
        }
    }

    pub(super) fn open_section(&mut self, title: &str, folded: bool) {
        title.clone_into(&mut self.section);
        if folded {
            let _ = writeln!(self.text, "<details>\n<summary>{}</summary>", escape(title));
        } else {
            self.text.push_str("<section>\n");
            self.heading(2, title);
        }
    }

    pub(super) fn close_section(&mut self, folded: bool) {
        let tag = if folded { "details" } else { "section" };
        let _ = writeln!(self.text, "</{tag}>");
    }

    /// A figure with its tables; without a chart, the sentence that says why there is none, or nothing
    /// where numbers are all that is meant.
    pub(super) fn figure(
        &mut self,
        title: &str,
        said: &str,
        chart: Result<&Chart, &str>,
        tables: &[Table],
    ) {
        // A wide table goes below its figure, a narrow one beside it.
        let wide = tables.iter().any(|table| table.head.len() > 6);
        let class = if chart.is_ok() && !wide && !tables.is_empty() {
            "figure beside"
        } else {
            "figure"
        };
        let _ = writeln!(
            self.text,
            "<div class=\"{class}\">\n<h3>{}</h3>",
            escape(title)
        );
        if !said.is_empty() {
            self.paragraph(said);
        }
        match chart {
            Ok(chart) => {
                self.figures.push(Figure {
                    section: self.section.clone(),
                    title: title.to_owned(),
                    svg: chart.alone(title),
                });
                let _ = writeln!(self.text, "<div class=\"plot\">\n{}", chart.svg(title));
                self.text.push_str(&chart.legend());
                self.text.push_str("</div>\n");
            }
            Err("") => {}
            Err(why) => self.notes(&[why.to_owned()]),
        }
        if !tables.is_empty() {
            self.text.push_str("<div>\n");
            for table in tables {
                self.table(table);
            }
            self.text.push_str("</div>\n");
        }
        self.text.push_str("</div>\n");
    }

    fn table(&mut self, table: &Table) {
        self.text
            .push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
        for word in &table.head {
            let _ = write!(self.text, "<th>{}</th>", escape(word));
        }
        self.text.push_str("</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            self.text.push_str("<tr>");
            for cell in row {
                let _ = write!(self.text, "<td>{}</td>", escape(cell));
            }
            self.text.push_str("</tr>\n");
        }
        self.text.push_str("</tbody>\n</table></div>\n");
    }

    /// The drawings, each of which stands alone.
    pub(super) fn into_figures(self) -> Vec<Figure> {
        self.figures
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</main>\n</body>\n</html>\n");
        self.text
    }
}
