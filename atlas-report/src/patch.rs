//! Patches, with what is added and removed told apart.

use crate::shell::clean;
use maud::{Markup, html};

/// So many lines of a patch are shown; further ones are counted.
const LINES: usize = 4000;

/// A patch.
pub(crate) fn patch(title: &str, text: &str) -> Markup {
    let all = text.lines().count();
    html! {
        pre tabindex="0" role="region" aria-label=(title) {
            @for line in text.lines().take(LINES) {
                @match kind(line) {
                    "" => { (clean(line)) "\n" }
                    kind => { span class=(kind) { (clean(line)) } }
                }
            }
            @if all > LINES { span.h { (all - LINES) " more lines" } }
        }
    }
}

fn kind(line: &str) -> &'static str {
    let heads = ["diff ", "index ", "+++ ", "--- "];
    if heads.iter().any(|head| line.starts_with(head)) {
        return "f";
    }
    match line.as_bytes().first() {
        Some(b'+') => "a",
        Some(b'-') => "d",
        Some(b'@') => "h",
        _ => "",
    }
}
