//! What every page has: style, script, the policy of what it may load, and how data lies in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// A part of a page that its heading links to.
pub(crate) struct Section {
    /// What stands behind `#` in links to it.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) title: String,
    /// What is in it.
    pub(crate) body: Markup,
}

impl Section {
    pub(crate) fn new(id: &'static str, title: impl Into<String>, body: Markup) -> Self {
        Self {
            id,
            title: title.into(),
            body,
        }
    }
}

/// How a page is served by a server on this machine: what the address gives now is asked for again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// What the server names the present state of the page by, as in its `ETag`.
    pub tag: String,
    /// The address of the page above, if there is one.
    pub up: Option<String>,
}

/// The whole page. The same parts give the same bytes.
pub(crate) fn page(
    title: &str,
    lead: &Markup,
    sections: &[Section],
    live: Option<&Live>,
) -> String {
    let connect = if live.is_some() {
        " connect-src 'self';"
    } else {
        ""
    };
    // Nothing is loaded and nothing runs but what has these hashes, whatever a text smuggles in.
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}';{connect} base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                @if let Some(live) = live { meta name="atlas-live" content=(live.tag); }
                title { (clean(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    strong { "Atlas" }
                    nav aria-label="Parts of this page" {
                        @if let Some(up) = live.and_then(|live| live.up.as_deref()) { a href=(up) { "All" } }
                        @for section in sections { a href={ "#" (section.id) } { (clean(&section.title)) } }
                    }
                    @if live.is_some() { span.soft #live role="status" { "live" } }
                    button #theme type="button" title="Colours (t). Keys: / searches, n and p turn pages." { "Colours: system" }
                }
                main #content {
                    h1 { (clean(title)) }
                    (lead)
                    @for section in sections {
                        section aria-labelledby=(section.id) {
                            h2 id=(section.id) { (clean(&section.title)) }
                            (section.body)
                        }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// A text as a page may show it: control characters, which HTML has no place for, become a sign.
pub(crate) fn clean(text: &str) -> String {
    let is_shown = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_shown) {
        return text.to_owned();
    }
    let shown = |c: char| if is_shown(c) { c } else { '\u{fffd}' };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Data for the page's script, a line of JSON each, which no text in it can end: every `<`, `>` and `&` is written as JSON
/// writes any character, by its number.
///
/// # Panics
/// Never: what is given has keys that are texts.
pub(crate) fn data<T: Serialize>(id: &str, values: impl IntoIterator<Item = T>) -> Markup {
    let mut safe = String::new();
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            safe.push('\n');
        }
        let json = serde_json::to_string(&value).expect("data of a page has texts for keys");
        for c in json.chars() {
            match c {
                '<' => safe.push_str("\\u003c"),
                '>' => safe.push_str("\\u003e"),
                '&' => safe.push_str("\\u0026"),
                '\u{2028}' => safe.push_str("\\u2028"),
                '\u{2029}' => safe.push_str("\\u2029"),
                c => safe.push(c),
            }
        }
    }
    html! { script type="application/json" id=(id) { (PreEscaped(safe)) } }
}

/// Short facts in a row.
pub(crate) fn facts(facts: &[(&str, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts { div { dt { (name) } dd { (clean(value)) } } }
        }
    }
}
