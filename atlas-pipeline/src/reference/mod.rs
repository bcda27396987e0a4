//! The reference of the command and of its configuration, made of the code that reads them.
//!
//! Options are described by the text of `--help`, keys by the doc comments of their fields. A test compares the pages made
//! here with the files in `docs/reference`, so a page that is out of date fails it.

mod commands;
mod configuration;

use crate::{Config, cli};
use std::collections::BTreeMap;

/// The pages, by their paths below `docs/reference`: `commands/….md`, `configuration.md`, and `atlas.schema.json`, the
/// JSON schema of `atlas.toml` for editors.
pub fn reference() -> BTreeMap<String, String> {
    let mut pages = commands::pages(&cli::tree());
    let schema = schemars::schema_for!(Config).to_value();
    pages.insert("configuration.md".to_owned(), configuration::page(&schema));
    pages.insert("atlas.schema.json".to_owned(), format!("{schema:#}\n"));
    pages
}

/// Said at the end of each page, where readers of its source see it; a page begins with its heading.
const MADE: &str = "\n<!-- Made by the tests of atlas-pipeline; not written by hand. -->\n";

/// A text of the code as Markdown: no links of rustdoc, no tags.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (nth, piece) in without_links(text).split('`').enumerate() {
        if nth > 0 {
            out.push('`');
        }
        if nth % 2 == 1 {
            out.push_str(piece);
        } else {
            out.push_str(&piece.replace('<', "&lt;").replace('*', "\\*"));
        }
    }
    out.trim().to_owned()
}

/// ``[`Name`](path)`` and ``[`Name`]`` as `` `Name` ``.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        let Some(end) = rest[start..].find("`]").map(|end| start + end) else {
            break;
        };
        out.push_str(&rest[..start]);
        out.push_str(&rest[start + 1..=end]);
        rest = &rest[end + 2..];
        if let Some(inner) = rest.strip_prefix('(')
            && let Some(end) = inner.find(')')
        {
            rest = &inner[end + 1..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn links_of_rustdoc_and_tags_are_no_markdown() {
        for (text, expected) in [
            ("Fields: [`ImageName`].", "Fields: `ImageName`."),
            ("See [`A`](b::A), [`c`](C).", "See `A`, `c`."),
            ("`<id>` is not <id>", "`<id>` is not &lt;id>"),
            ("a list [1, 2] of `[models]`", "a list [1, 2] of `[models]`"),
        ] {
            assert_eq!(prose(text), expected);
        }
    }
}
