//! YAML as far as CI files need it: scalars are text.
//!
//! A version `3.10` must not become the number 3.1, so nothing is resolved. Aliases and merge keys
//! are followed within a budget: a file of a few lines can name a tree of billions of nodes.

use super::Placed;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use std::collections::BTreeMap;

/// Nodes of one file, those behind aliases counted each time.
const MAX_NODES: usize = 100_000;

/// Lists and maps within each other.
const MAX_DEPTH: usize = 64;

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Any scalar.
    Scalar {
        /// Its text.
        text: String,
        /// Where it begins, from 1.
        line: usize,
    },
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in its order; a key can be there twice.
    Map(Vec<(Placed, Node)>),
}

/// Reads the first document of a file; one that is no YAML, or too large, is left out.
pub(super) fn load(file: &str, text: &str) -> Option<Node> {
    match Builder::new(file).read(text) {
        Ok(root) => root,
        Err(why) => {
            tracing::warn!(file, %why, "file of continuous integration is not readable");
            None
        }
    }
}

/// What is open while events come in.
enum Open {
    List(Vec<Node>),
    Map(Vec<(Placed, Node)>, Option<Placed>),
}

struct Builder<'a> {
    file: &'a str,
    open: Vec<(Open, usize, Option<String>)>,
    anchors: BTreeMap<usize, (Node, usize)>,
    nodes: usize,
}

impl<'a> Builder<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            open: Vec::new(),
            anchors: BTreeMap::new(),
            nodes: 0,
        }
    }

    fn read(mut self, text: &str) -> Result<Option<Node>, String> {
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|why| why.to_string())?;
            if let Some(root) = self.event(event, span)? {
                return Ok(Some(root));
            }
        }
        Ok(None)
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<Option<Node>, String> {
        let line = span.start.line();
        let tagged = |tag: Option<std::borrow::Cow<'_, saphyr_parser::Tag>>| {
            tag.map(|tag| tag.suffix.clone())
        };
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let text = text.into_owned();
                // A block is said to begin with its first line that is not empty.
                let empty = text.len() - text.trim_start_matches('\n').len();
                let line = if block {
                    line.saturating_sub(empty)
                } else {
                    line
                };
                self.count(1)?;
                Ok(self.close(Node::Scalar { text, line }, anchor))
            }
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(format!("line {line}: an alias within its own anchor"));
                };
                self.count(size)?;
                Ok(self.close(node, 0))
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin(Open::List(Vec::new()), anchor, tagged(tag), line)
            }
            Event::MappingStart(anchor, tag) => {
                self.begin(Open::Map(Vec::new(), None), anchor, tagged(tag), line)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((open, anchor, tag)) = self.open.pop() else {
                    return Ok(None);
                };
                let node = match open {
                    Open::List(items) => Node::List(items),
                    Open::Map(entries, _) => Node::Map(merged(entries)),
                };
                // GitLab's `!reference [job, script]`: kept as a map of that name.
                let node = match tag {
                    Some(tag) if tag == "reference" => {
                        let key = self.placed(line, "!reference".to_owned());
                        Node::Map(vec![(key, node)])
                    }
                    _ => node,
                };
                Ok(self.close(node, anchor))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(None),
        }
    }

    fn begin(
        &mut self,
        open: Open,
        anchor: usize,
        tag: Option<String>,
        line: usize,
    ) -> Result<Option<Node>, String> {
        self.count(1)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("line {line}: nested deeper than {MAX_DEPTH}"));
        }
        self.open.push((open, anchor, tag));
        Ok(None)
    }

    fn count(&mut self, more: usize) -> Result<(), String> {
        self.nodes += more;
        if self.nodes > MAX_NODES {
            return Err(format!("more than {MAX_NODES} nodes"));
        }
        Ok(())
    }

    fn placed(&self, line: usize, text: String) -> Placed {
        Placed {
            file: self.file.to_owned(),
            line,
            text,
        }
    }

    /// Puts a finished node where it belongs; the root comes back.
    fn close(&mut self, node: Node, anchor: usize) -> Option<Node> {
        if anchor > 0 {
            let size = node.size();
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let file = self.file;
        match self.open.last_mut() {
            None => return Some(node),
            Some((Open::List(items), ..)) => items.push(node),
            Some((Open::Map(entries, key), ..)) => match key.take() {
                None => {
                    *key = Some(Placed {
                        file: file.to_owned(),
                        line: node.line(),
                        text: node.text(),
                    });
                }
                Some(key) => {
                    entries.push((key, node));
                }
            },
        }
        None
    }
}

/// Entries with those of `<<` behind the map's own, which win.
fn merged(entries: Vec<(Placed, Node)>) -> Vec<(Placed, Node)> {
    if entries.iter().all(|(key, _)| key.text != "<<") {
        return entries;
    }
    let (merges, mut own): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|(key, _)| key.text == "<<");
    for (_, merge) in merges {
        let maps = match merge {
            Node::List(items) => items,
            other => vec![other],
        };
        for map in maps {
            for (key, value) in map.entries() {
                if own.iter().all(|(known, _)| known.text != key.text) {
                    own.push((key.clone(), value.clone()));
                }
            }
        }
    }
    own
}

impl Node {
    fn size(&self) -> usize {
        1 + match self {
            Self::Scalar { .. } => 0,
            Self::List(items) => items.iter().map(Self::size).sum(),
            Self::Map(entries) => entries.iter().map(|(_, value)| value.size()).sum(),
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .find(|(name, _)| name.text == key)
            .map(|(_, value)| value)
    }

    /// The value below several keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The entries of a map; of anything else, none.
    pub(super) fn entries(&self) -> &[(Placed, Self)] {
        match self {
            Self::Map(entries) => entries,
            Self::Scalar { .. } | Self::List(_) => &[],
        }
    }

    /// The entries of the map below a key.
    pub(super) fn entries_of(&self, key: &str) -> &[(Placed, Self)] {
        self.get(key).map(Self::entries).unwrap_or_default()
    }

    /// The items of a list; of anything else, none.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            Self::Scalar { .. } | Self::Map(_) => &[],
        }
    }

    /// The items of the list below a key; a lone value there is a list of one.
    pub(super) fn each(&self, key: &str) -> &[Self] {
        match self.get(key) {
            Some(Self::List(items)) => items,
            Some(other) => std::slice::from_ref(other),
            None => &[],
        }
    }

    /// A scalar's text; of a list, its scalars joined by a blank; of a map, nothing.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Scalar { text, .. } => text.clone(),
            Self::List(items) => items.iter().map(Self::text).collect::<Vec<_>>().join(" "),
            Self::Map(_) => String::new(),
        }
    }

    /// The text below a key; nothing where the key is not there.
    pub(super) fn text_of(&self, key: &str) -> String {
        self.get(key).map(Self::text).unwrap_or_default()
    }

    /// The line on which it begins.
    pub(super) fn line(&self) -> usize {
        match self {
            Self::Scalar { line, .. } => *line,
            Self::List(items) => items.first().map_or(1, Self::line),
            Self::Map(entries) => entries.first().map_or(1, |(key, _)| key.line),
        }
    }

    /// All the text below this node, of maps too.
    pub(super) fn all_text(&self) -> String {
        match self {
            Self::Scalar { text, .. } => text.clone(),
            Self::List(items) => items
                .iter()
                .map(Self::all_text)
                .collect::<Vec<_>>()
                .join(" "),
            Self::Map(entries) => entries
                .iter()
                .map(|(_, value)| value.all_text())
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    /// The scalar itself with its place, if it is one that is not empty.
    pub(super) fn scalar(&self, file: &str) -> Option<Placed> {
        match self {
            Self::Scalar { text, line, .. } if !text.trim().is_empty() => Some(Placed {
                file: file.to_owned(),
                line: *line,
                text: text.trim().to_owned(),
            }),
            _ => None,
        }
    }

    /// The scalars of a scalar or a list; a scalar of several lines counts as several.
    pub(super) fn scalars(&self, file: &str) -> Vec<Placed> {
        match self {
            Self::Scalar { text, line, .. } => text
                .lines()
                .enumerate()
                .map(|(at, text)| Placed {
                    file: file.to_owned(),
                    line: line + at,
                    text: text.trim().to_owned(),
                })
                .filter(|value| !value.text.is_empty())
                .collect(),
            Self::List(items) => items.iter().flat_map(|item| item.scalars(file)).collect(),
            Self::Map(_) => Vec::new(),
        }
    }

    /// Shell commands, lines joined where they end in a backslash.
    pub(super) fn commands(&self, file: &str) -> Vec<Placed> {
        let mut found: Vec<Placed> = Vec::new();
        let mut open = false;
        for line in self.scalars(file) {
            if line.text.starts_with('#') {
                continue;
            }
            let (text, continues) = match line.text.strip_suffix('\\') {
                Some(text) => (text.trim_end().to_owned(), true),
                None => (line.text.clone(), false),
            };
            match found.last_mut() {
                Some(last) if open => {
                    last.text.push(' ');
                    last.text.push_str(&text);
                }
                _ => found.push(Placed { text, ..line }),
            }
            open = continues;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::load;

    #[test]
    fn merges_and_aliases_are_followed_and_bounded() {
        let root = load(
            "f",
            "a: &a {x: 1.10, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a, {z: 4}]}\n",
        )
        .unwrap();
        assert_eq!(root.at(&["b", "x"]).unwrap().text(), "1.10");
        assert_eq!(root.at(&["b", "y"]).unwrap().text(), "3");
        assert_eq!(root.at(&["c", "z"]).unwrap().text(), "4");

        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..30 {
            let of = format!("*a{}, ", n - 1).repeat(10);
            laughs.extend([
                "a",
                &n.to_string(),
                ": &a",
                &n.to_string(),
                " [",
                &of,
                "]\n",
            ]);
        }
        for bad in [&laughs, &"[".repeat(100_000), &"- ".repeat(100_000)] {
            assert!(load("f", bad).is_none());
        }
        assert!(load("f", "a: &a [*a]\n").is_none());
        assert!(load("f", "").is_none());
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let text = "a:\n  - run: |\n\n      one\n      two \\\n        three\n  - run: four\nb:\n  - |\n\n    five\n  - >-\n    six\n";
        let root = load("f", text).unwrap();
        let lines: Vec<_> = root
            .entries()
            .iter()
            .flat_map(|(_, list)| list.items())
            .flat_map(|item| item.get("run").unwrap_or(item).commands("f"))
            .map(|command| (command.line, command.text))
            .collect();
        assert_eq!(
            lines,
            [
                (4, "one".to_owned()),
                (5, "two three".to_owned()),
                (7, "four".to_owned()),
                (11, "five".to_owned()),
                (13, "six".to_owned())
            ]
        );
    }
}
