//! The documentation formatter's tree.
//!
//! What tests print stands between its lines. A line at the margin is a group only if the next one
//! is an example or a group below it; output without a line end stands in front of an example, and
//! whether such a line holds one is decided by the run's totals.

use super::doubt::{Doubt, Doubts};

/// An example as the tree has it; what its line says is checked against the lists later.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Which of the groups at the margin it is below.
    pub(super) group: usize,
    /// The groups' descriptions.
    pub(super) path: Vec<String>,
    /// The example's, with whatever stands behind it.
    pub(super) text: String,
    /// It stood directly behind another line of the same depth, and not behind its group's.
    pub(super) follows: bool,
    pub(super) coloured: bool,
    /// Output at the margin stood directly behind it.
    pub(super) noisy: bool,
    /// One of the groups may have been printed.
    pub(super) doubt: Option<Doubt>,
}

/// What stands behind a description.
pub(super) enum Tail<'a> {
    None,
    /// `(FAILED - 3)`
    Failed(&'a str, u64),
    /// `(PENDING: why)`
    Pending(&'a str),
}

impl Leaf {
    pub(super) fn tail(&self) -> Tail<'_> {
        if let Some((head, number)) = self.text.rsplit_once(" (FAILED - ")
            && let Some(number) = number.strip_suffix(')')
            && let Ok(number) = number.parse()
        {
            return Tail::Failed(head, number);
        }
        if self.text.ends_with(')')
            && let Some((head, _)) = self.text.split_once(" (PENDING: ")
        {
            return Tail::Pending(head);
        }
        Tail::None
    }

    /// The groups and this description, joined as `RSpec` does.
    pub(super) fn full(
        &self,
        description: &str,
        joint: impl Fn(&str, &str) -> &'static str,
    ) -> String {
        let mut full = String::new();
        let parts = self.path.iter().map(String::as_str).chain([description]);
        let mut before = "";
        for part in parts {
            if !full.is_empty() {
                full.push_str(joint(before, part));
            }
            full.push_str(part);
            before = part;
        }
        full
    }
}

/// A description without blanks: how the lists and the tree are compared.
pub(super) fn key(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The same of groups and a description.
pub(super) fn key_of(path: &[String], description: &str) -> String {
    let mut whole = path.concat();
    whole.push_str(description);
    key(&whole)
}

/// Two groups whose descriptions may be joined without a blank: `Foo` and `#bar` where `Foo` is a
/// class, and with one where it is a text.
pub(super) fn may_join(parent: &str, child: &str) -> bool {
    (child.starts_with('#') || child.starts_with('.') || child.starts_with("::"))
        && parent.split("::").all(|part| {
            part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

/// A line that is a group if the next one is deeper, or else an example.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) depth: usize,
    pub(super) text: String,
    pub(super) coloured: bool,
    follows: bool,
    noisy: bool,
}

/// What the line before was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Before {
    #[default]
    Nothing,
    Empty,
    /// A line of the tree.
    Line,
    /// Output at the margin.
    Output,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) leaves: Vec<Leaf>,
    /// Examples that may stand behind output without a line end.
    pub(super) halves: Vec<Leaf>,
    pub(super) stack: Vec<String>,
    pub(super) waiting: Option<Waiting>,
    /// The last line at the margin.
    pub(super) output: String,
    pub(super) doubts: Doubts,
    /// A line at the margin behind an empty one: a group if the next line is one below it.
    margin: Option<String>,
    /// The depth of a line of blanks: a group without a description, if the next one is below it.
    blank: Option<usize>,
    /// Lines at the margin in place of which another was taken for a group, and that group.
    pub(super) displaced: Vec<(usize, String)>,
    /// The same of the line that waits at the margin.
    before_margin: Option<String>,
    /// How many of `halves` stand behind the last line of the tree.
    fresh: usize,
    /// The depth and text of what stands behind output in the line before.
    half: Option<(usize, String)>,
    /// The depth of the last line.
    last: Option<usize>,
    before: Before,
    started: bool,
    /// How many groups at the margin were seen.
    groups: usize,
    /// Dots have been seen: there is no tree.
    pub(super) progress: bool,
    /// How many dots and letters of a progress stand at the begin of lines.
    marks: u64,
    /// The same behind the last line that may be an example.
    last_marks: u64,
}

/// Groups deeper than this are nobody's.
const MAX_DEPTH: usize = 200;

impl Tree {
    /// Takes a line, and where in it a colour begins, if one does.
    pub(super) fn line(&mut self, line: &[u8], colour: Option<usize>) {
        if self.progress {
            return;
        }
        if line.is_empty() {
            self.before = Before::Empty;
            return;
        }
        let after_empty = self.before == Before::Empty;
        if dots(line) && (!self.started || after_empty) && self.leaves.is_empty() {
            self.progress = true;
            return;
        }
        let marks = line.iter().take_while(|b| b".F*".contains(b)).count() as u64;
        self.marks += marks;
        self.last_marks += marks;
        if line.len() > 4000 {
            return;
        }
        let blanks = line.iter().take_while(|b| **b == b' ').count();
        if blanks == 0 {
            self.at_margin(line, colour, after_empty);
            return;
        }
        let depth = blanks / 2;
        if !blanks.is_multiple_of(2) || depth > MAX_DEPTH || !self.started {
            return;
        }
        if blanks == line.len() {
            self.blank = Some(depth);
            return;
        }
        if let Some(above) = self.blank.take()
            && depth == above + 1
        {
            self.indented(above, String::new(), false);
        }
        self.indented(depth, text(&line[blanks..]), colour == Some(0));
    }

    fn at_margin(&mut self, line: &[u8], colour: Option<usize>, after_empty: bool) {
        self.blank = None;
        let before = std::mem::replace(&mut self.before, Before::Output);
        self.half = None;
        self.output = text(line);
        if after_empty && colour != Some(0) {
            self.before_margin = self.margin.clone();
            self.drop_margin();
            self.margin = Some(text(line));
            self.started = true;
        } else {
            self.half_line(line, colour);
        }
        if before == Before::Line
            && self.half.is_none()
            && let Some(waiting) = &mut self.waiting
        {
            waiting.noisy = true;
        }
    }

    /// The line at the margin is no group: a test or a hook has printed it.
    fn drop_margin(&mut self) {
        if let Some(line) = self.margin.take() {
            self.half_line(line.as_bytes(), None);
            self.half = None;
        }
    }

    /// Remembers what may stand behind output without a line end: `a word  the example`.
    fn half_line(&mut self, line: &[u8], colour: Option<usize>) {
        /// So many tables are nobody's examples.
        const MOST: usize = 10_000;
        let Some((depth, text)) = behind_output(line, colour) else {
            return;
        };
        if self.halves.len() >= MOST {
            return;
        }
        let mut path = self.stack.clone();
        if let Some(group) = &self.margin {
            path = vec![group.clone()];
        } else if let Some(waiting) = &self.waiting {
            path.truncate(waiting.depth);
            path.push(waiting.text.clone());
        }
        if depth > path.len() {
            return;
        }
        path.truncate(depth);
        self.halves.push(Leaf {
            group: self.groups,
            path,
            text: text.clone(),
            follows: false,
            coloured: colour.is_some(),
            noisy: false,
            doubt: None,
        });
        self.fresh += 1;
        self.half = Some((depth, text));
    }

    fn indented(&mut self, depth: usize, text: String, coloured: bool) {
        let before = std::mem::replace(&mut self.before, Before::Line);
        let half = self.half.take().filter(|_| before == Before::Output);
        self.doubt(depth, coloured, before);
        let below_half = matches!(half, Some((1, _))) && depth == 2;
        if (depth == 1 || below_half)
            && let Some(name) = self.margin.take()
        {
            self.flush();
            self.doubts.settle();
            self.groups += 1;
            let displaced = self.before_margin.take();
            self.displaced
                .extend(displaced.map(|name| (self.groups, name)));
            self.stack = vec![name];
            self.last = Some(0);
        } else if self.fits(depth) {
            self.drop_margin();
        }
        if let Some(waiting) = &self.waiting {
            let above = waiting.depth;
            if depth == above + 1 && !waiting.coloured {
                if let Some(waiting) = self.waiting.take() {
                    self.stack.truncate(above);
                    self.stack.push(waiting.text);
                }
            } else if depth <= above || self.opens(depth, half.as_ref()) {
                self.flush();
            } else {
                return;
            }
        }
        if self.opens(depth, half.as_ref())
            && let Some((above, name)) = half
        {
            self.halves.pop();
            self.fresh = self.fresh.saturating_sub(1);
            self.stack.truncate(above);
            self.stack.push(name);
        }
        if depth > self.stack.len() || depth == 0 {
            return;
        }
        // What is deeper than an example cannot follow it.
        let fresh = std::mem::take(&mut self.fresh);
        let fresh = self
            .halves
            .split_off(self.halves.len().saturating_sub(fresh));
        let may_stand = fresh.into_iter().filter(|half| half.path.len() >= depth);
        self.halves.extend(may_stand);
        let follows = self.last == Some(depth);
        self.last = Some(depth);
        self.last_marks = 0;
        self.waiting = Some(Waiting {
            depth,
            text,
            coloured,
            follows,
            noisy: false,
        });
    }

    /// Whether a line of that depth may be the next one of the tree.
    fn fits(&self, depth: usize) -> bool {
        match &self.waiting {
            Some(waiting) => depth <= waiting.depth + usize::from(!waiting.coloured),
            None => depth <= self.stack.len(),
        }
    }

    /// Whether what stands behind output in the line before is the group of a line of that depth.
    fn opens(&self, depth: usize, half: Option<&(usize, String)>) -> bool {
        let open = self.waiting.as_ref().map_or(self.stack.len(), |w| w.depth);
        half.is_some_and(|(above, _)| depth == above + 1 && *above == open)
    }

    /// The waiting line is an example, as nothing deeper has followed.
    fn flush(&mut self) {
        let Some(waiting) = self.waiting.take() else {
            return;
        };
        // `RSpec` describes each example, and groups need no words.
        if waiting.depth == 0 || waiting.text.is_empty() {
            return;
        }
        self.stack.truncate(waiting.depth);
        self.leaves.push(Leaf {
            group: self.groups,
            path: self.stack.clone(),
            text: waiting.text,
            follows: waiting.follows,
            coloured: waiting.coloured,
            noisy: waiting.noisy,
            doubt: self.doubts.of(&self.stack),
        });
    }

    /// Takes the run's number of examples. Where a progress accounts for them, the lines that look like
    /// a tree are what others have printed: in front of the run, as installers do, or amid the dots.
    pub(super) fn settle(&mut self, examples: u64) {
        let leaves = self.leaves.len() as u64;
        let all = self.last_marks == examples;
        let most = leaves < examples / 2 && self.marks > examples / 2;
        if leaves != examples && (all || most) {
            self.progress = true;
        }
    }

    /// How many of the lines so far tell of a failure, by the numbers that rise from one on.
    pub(super) fn failures(&self) -> u64 {
        let mut count = 0;
        for leaf in &self.leaves {
            if matches!(leaf.tail(), Tail::Failed(_, number) if number == count + 1) {
                count += 1;
            }
        }
        count
    }

    /// The tree has ended.
    pub(super) fn end(&mut self) {
        self.drop_margin();
        self.flush();
    }

    /// How many of the lines are coloured.
    pub(super) fn coloured(&self) -> usize {
        self.leaves.iter().filter(|leaf| leaf.coloured).count()
    }

    pub(super) fn keep_coloured(&mut self) {
        self.leaves.retain(|leaf| leaf.coloured);
        self.halves.retain(|leaf| leaf.coloured);
    }
}

/// The depth and the text of what stands behind output in a line: where a colour begins, or else
/// behind the last pair of blanks.
fn behind_output(line: &[u8], colour: Option<usize>) -> Option<(usize, String)> {
    let line = line.trim_ascii_end();
    let from = if let Some(at) = colour {
        at
    } else {
        let at = memchr::memmem::rfind(line, b"  ")?;
        line[..at].trim_ascii_end().len()
    };
    let example = line.get(from..)?;
    let blanks = example.len() - example.trim_ascii_start().len();
    let depth = blanks / 2;
    (from > 0 && (1..=MAX_DEPTH).contains(&depth)).then(|| (depth, text(example)))
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim().to_owned()
}

/// Whether the line begins with the marks of a progress rather than with a description.
fn dots(line: &[u8]) -> bool {
    let count = line.iter().take_while(|b| b".F*".contains(b)).count();
    count == line.len()
        || count > 1 && line[..count].iter().any(|b| *b != b'F')
        || count == 1 && line[0] == b'.' && !line[1].is_ascii_alphanumeric()
}
