//! What of a text its author says: code, comments and quotes blanked out, every other byte in its place.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// A text of blanks with the line ends of another, into which pieces of it are copied.
struct Prose<'a> {
    text: &'a str,
    kept: Vec<u8>,
}

impl<'a> Prose<'a> {
    fn blank(text: &'a str) -> Self {
        let blank = |byte: u8| if byte == b'\n' { byte } else { b' ' };
        let kept = text.bytes().map(blank).collect();
        Self { text, kept }
    }

    /// Keeps a stretch that begins and ends between characters.
    fn keep(&mut self, range: Range<usize>) {
        if let Some(piece) = self.text.get(range.clone()) {
            self.kept[range].copy_from_slice(piece.as_bytes());
        }
    }

    fn finish(self) -> String {
        String::from_utf8(self.kept).expect("whole pieces of UTF-8 between ASCII blanks are UTF-8")
    }
}

/// The prose of Markdown as GitHub and GitLab render it: what stands in code, in quotes and in comments is none, nor are the
/// addresses behind links.
pub(super) fn of_markdown(text: &str) -> String {
    let mut prose = Prose::blank(text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let (mut quotes, mut code) = (0_usize, false);
    let mut hidden = None;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Start(Tag::HtmlBlock) => hidden = None,
            Event::Text(_) if quotes == 0 && !code => prose.keep(range),
            Event::Html(_) if quotes == 0 => keep_html(&mut prose, range, &mut hidden),
            _ => {}
        }
    }
    prose.finish()
}

/// What ends a stretch of HTML that shows nothing or shows code.
const HIDING: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("<pre", "</pre>"),
    ("<code", "</code>"),
    ("<blockquote", "</blockquote>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
];

/// Keeps the text of a piece of an HTML block, without its tags. `hidden` is the end that is waited for, from piece to piece.
fn keep_html(prose: &mut Prose, range: Range<usize>, hidden: &mut Option<&'static str>) {
    let Some(piece) = prose.text.get(range.clone()) else {
        return;
    };
    let lower = piece.to_ascii_lowercase();
    let mut at = 0;
    while at < lower.len() {
        if let Some(end) = *hidden {
            let Some(found) = lower[at..].find(end) else {
                return;
            };
            at += found + end.len();
            *hidden = None;
            continue;
        }
        let open = lower[at..]
            .find('<')
            .map_or(lower.len(), |found| at + found);
        prose.keep(range.start + at..range.start + open);
        let rest = &lower[open..];
        if let Some((start, end)) = HIDING.iter().find(|(start, _)| rest.starts_with(start)) {
            *hidden = Some(end);
            at = open + start.len();
        } else {
            // A tag that does not end on its line shows nothing of it.
            at = rest.find('>').map_or(lower.len(), |close| open + close + 1);
        }
    }
}

/// A title or a commit's message without its quoted lines and without HTML comments, which descriptions that became messages
/// have of their templates.
pub(super) fn of_plain(text: &str) -> String {
    let mut prose = Prose::blank(text);
    let (mut at, mut hidden) = (0, false);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let quoted = line.trim_start().starts_with('>');
        while at < end {
            let mark = if hidden { "-->" } else { "<!--" };
            let found = text[at..end].find(mark);
            let piece = at..found.map_or(end, |found| at + found);
            at = found.map_or(end, |found| at + found + mark.len());
            if !hidden && !quoted {
                prose.keep(piece);
            }
            hidden ^= found.is_some();
        }
    }
    prose.finish()
}
