//! The list of failures that p5.js's Mocha prints, after JSON and XML were taken out of the log.

use super::text::{indent, is_digit, is_space, is_word, rstrip, strip, without_escapes};
use super::{CompatStatuses, FAILED};
use std::collections::{BTreeMap, HashMap};

/// A failure's title is looked for in this many characters.
const TITLE: usize = 1000;

pub(super) fn p5js(log: &str) -> CompatStatuses {
    let log = without_escapes(log);
    let log = without_xml(&without_json(&log));
    let mut found = CompatStatuses::new();
    let mut from = 0;
    while let Some((title, end)) = next_failure(&log, from) {
        if deepens(title) {
            let names: Vec<&str> = title.split('\n').map(strip).collect();
            found.insert(names.join(":"), FAILED.to_owned());
        }
        from = end;
    }
    found
}

/// Every line is indented more than the one before.
fn deepens(title: &str) -> bool {
    let mut last = 0;
    title.split('\n').all(|line| {
        let outer = std::mem::replace(&mut last, indent(line));
        last > outer
    })
}

/// The next `1) title:` that begins a line at or after `from`, and where it ends.
fn next_failure(log: &str, mut from: usize) -> Option<(&str, usize)> {
    loop {
        if from > 0 && log.as_bytes().get(from - 1) != Some(&b'\n') {
            from += memchr::memchr(b'\n', log.get(from..)?.as_bytes())? + 1;
        }
        let rest = log.get(from..)?;
        let start = rest.trim_start_matches(is_space);
        let after = start.trim_start_matches(is_digit);
        if after.len() < start.len()
            && let Some(title) = after.strip_prefix(')')
            && let Some(end) = colon(title)
        {
            return Some((&title[..end], log.len() - title.len() + end + 1));
        }
        // No line that begins within the blanks can do better.
        from = log.len() - start.len();
        from += memchr::memchr(b'\n', start.as_bytes())? + 1;
    }
}

fn colon(title: &str) -> Option<usize> {
    title
        .char_indices()
        .take(TITLE + 1)
        .find_map(|(at, c)| (c == ':').then_some(at))
}

/// Drops lines that open a block, what follows up to its end, and values of one line.
fn without_json(log: &str) -> String {
    let mut kept = Vec::new();
    let (mut in_object, mut in_list) = (false, false);
    for line in log.split('\n') {
        let text = rstrip(line);
        if text.ends_with('{') {
            in_object = true;
        } else if text.ends_with('[') {
            in_list = true;
        } else if text == "}" && in_object {
            in_object = false;
        } else if text == "]" && in_list {
            in_list = false;
        } else {
            let whole = |open, close| text.starts_with(open) && text.ends_with(close);
            if !(in_object || in_list || whole('{', '}') || whole('[', ']')) {
                kept.push(line);
            }
        }
    }
    kept.join("\n")
}

/// Takes out `<a>…</a>` from the left, shortest first, until there is none. Of the opening tags
/// inside, all but one stay: they are matched with what follows.
///
/// What is taken out can join a tag from the two sides. The text is nevertheless read once: what
/// was passed is kept in `done`, with the first opening tag of each name that has no closing one.
fn without_xml(log: &str) -> String {
    let closings = closing_tags(log);
    let mut reader = Reader {
        log,
        closings: &closings,
        done: String::with_capacity(log.len()),
        open: BTreeMap::new(),
        position: 0,
    };
    while let Some(at) = memchr::memchr(b'<', &log.as_bytes()[reader.position..]) {
        let at = reader.position + at;
        reader.done.push_str(&log[reader.position..at]);
        reader.position = at;
        match opening_tag(&log[at..]) {
            Some(name) => reader.open_tag(name, at + name.len() + 2),
            None => reader.keep(1),
        }
    }
    reader.keep(log.len() - reader.position);
    reader.done
}

/// The name of the tag that a text begins with: `<name>`.
fn opening_tag(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find(|c| !is_word(c))?;
    (end > 0 && inner[end..].starts_with('>')).then(|| &inner[..end])
}

/// Where each closing tag begins, by name.
fn closing_tags(log: &str) -> HashMap<&str, Vec<usize>> {
    let mut closings: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in memchr::memmem::find_iter(log.as_bytes(), "</") {
        let inner = &log[at + 2..];
        if let Some(end) = inner.find(|c| !is_word(c))
            && end > 0
            && inner[end..].starts_with('>')
        {
            closings.entry(&inner[..end]).or_default().push(at);
        }
    }
    closings
}

struct Reader<'a> {
    log: &'a str,
    closings: &'a HashMap<&'a str, Vec<usize>>,
    /// What was passed and stays.
    done: String,
    /// The first opening tag in `done` that no closing one follows, by name.
    open: BTreeMap<String, usize>,
    /// Where the unread part begins.
    position: usize,
}

impl<'a> Reader<'a> {
    fn keep(&mut self, bytes: usize) {
        let end = self.position + bytes;
        self.done.push_str(&self.log[self.position..end]);
        self.position = end;
    }

    /// Reads an opening tag; the text goes on at `position`.
    fn open_tag(&mut self, name: &str, position: usize) {
        self.position = position;
        self.resolve(name, 1);
    }

    /// Takes out what `count` opening tags before the unread part enclose.
    fn resolve(&mut self, name: &str, mut count: usize) {
        loop {
            let next = self.closings.get(name).and_then(|all| {
                all.get(all.partition_point(|&at| at < self.position))
                    .copied()
            });
            let Some(closing) = next else {
                let here = self.done.len();
                self.open.entry(name.to_owned()).or_insert(here);
                for _ in 0..count {
                    self.done.extend(["<", name, ">"]);
                }
                return;
            };
            let tag = format!("<{name}>");
            count += self.log[self.position..closing].matches(&tag).count();
            self.position = closing + name.len() + 3;
            count -= 1;
            if count == 0 {
                break;
            }
        }
        self.join();
    }

    /// Looks for a tag that the last taking out has joined.
    fn join(&mut self) {
        let Some(start) = self.done.rfind('<') else {
            return;
        };
        let unread: &'a str = &self.log[self.position..];
        let head = &self.done[start..];
        if head[1..].chars().any(|c| !is_word(c) && c != '/') {
            return;
        }
        let tail = unread.find(|c| !is_word(c) && c != '/');
        let Some(tail) = tail.filter(|&end| unread[end..].starts_with('>')) else {
            return;
        };
        let tag = format!("{head}{}>", &unread[..tail]);
        let position = self.position + tail + 1;
        if let Some(name) = opening_tag(&tag) {
            self.done.truncate(start);
            self.open_tag(name, position);
        } else if let Some(name) = tag[1..].strip_prefix('/').and_then(|name| {
            let name = &name[..name.len() - 1];
            (!name.is_empty() && name.chars().all(is_word)).then_some(name)
        }) && let Some(&opened) = self.open.get(name)
        {
            let count = self.done[opened..].matches(&format!("<{name}>")).count() - 1;
            self.done.truncate(opened);
            self.open.retain(|_, at| *at < opened);
            self.position = position;
            if count == 0 {
                self.join();
            } else {
                self.resolve(name, count);
            }
        }
    }
}
