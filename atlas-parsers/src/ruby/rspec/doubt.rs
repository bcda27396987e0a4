//! Groups that a test may have printed.
//!
//! In colours an example's line is coloured and a group's is not, so an indented line that a test
//! prints looks like a group: `    -x VALUE`, the last line of a usage text. What an example prints
//! stands in front of its own line, behind output at the margin in most cases.

use super::tree::{Before, Tree, Waiting};
use std::collections::{BTreeMap, BTreeSet};

/// The groups that the next example may be in.
#[derive(Clone, Debug)]
pub(super) struct Open {
    stack: Vec<String>,
    waiting: Option<Waiting>,
    /// The line of output in front of those in doubt.
    output: String,
}

impl Open {
    /// The depth of the examples of the innermost group.
    fn depth(&self) -> usize {
        let waiting = self.waiting.as_ref();
        waiting.map_or(self.stack.len(), |w| w.depth + usize::from(!w.coloured))
    }

    /// Whether the innermost group may have ended: an example of it has run.
    fn may_have_ended(&self, depth: usize) -> bool {
        self.waiting.as_ref().is_none_or(|w| w.coloured) && self.stack.len() >= depth
    }
}

/// A group that may be output.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    /// The groups down to it.
    path: Vec<String>,
    /// The groups that its examples are in if it is output.
    instead: Vec<String>,
    /// The line of output in front of it.
    output: String,
    /// Which of the doubts it is.
    number: usize,
}

impl Doubt {
    /// Puts the groups that were open in the place of this one.
    fn replace(&self, groups: &mut Vec<String>) {
        let below = groups.split_off(self.path.len());
        groups.clone_from(&self.instead);
        groups.extend(below);
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// A line began in a colour.
    coloured: bool,
    open: Option<Open>,
    last: Option<Doubt>,
    count: usize,
    /// Lines of output behind which indented ones were output for sure.
    printed: BTreeSet<String>,
}

impl Doubts {
    /// The doubt about the innermost of these groups, or about one around it.
    pub(super) fn of(&self, groups: &[String]) -> Option<Doubt> {
        let last = self.last.as_ref();
        last.filter(|doubt| groups.starts_with(&doubt.path))
            .cloned()
    }

    /// A group at the margin begins.
    pub(super) fn settle(&mut self) {
        self.open = None;
    }
}

impl Tree {
    /// Takes an indented line. Those without a colour behind output are output where the example behind
    /// them is one of the group that was open: surely if that group has had no example, for then it
    /// cannot have ended, and if none of them is a group that the example may be in.
    pub(super) fn doubt(&mut self, depth: usize, coloured: bool, before: Before) {
        self.doubts.coloured |= coloured;
        if !coloured {
            if self.doubts.coloured && before == Before::Output && self.doubts.open.is_none() {
                self.doubts.open = Some(Open {
                    stack: self.stack.clone(),
                    waiting: self.waiting.clone(),
                    output: self.output.clone(),
                });
            }
            return;
        }
        let open = self.doubts.open.take();
        let Some(open) = open.filter(|open| open.depth() == depth) else {
            return;
        };
        let group = self
            .waiting
            .as_ref()
            .filter(|w| !w.coloured && w.depth + 1 == depth);
        if let Some(group) = group
            && open.may_have_ended(depth)
        {
            let mut path = self.stack.clone();
            path.truncate(group.depth);
            path.push(group.text.clone());
            let mut instead = open.stack;
            instead.truncate(depth);
            // A group that is in doubt itself: output comes in series.
            if let Some(doubt) = self.doubts.of(&instead) {
                doubt.replace(&mut instead);
            }
            self.doubts.count += 1;
            self.doubts.last = Some(Doubt {
                path,
                instead,
                output: open.output,
                number: self.doubts.count,
            });
            return;
        }
        self.doubts.printed.insert(open.output);
        self.stack = open.stack;
        self.waiting = open.waiting;
    }

    /// Takes out the groups that were printed: behind output that had such lines elsewhere, or
    /// several times within one group, which no group is.
    pub(super) fn without_printed(&mut self) {
        let mut openings: BTreeMap<Vec<String>, BTreeSet<usize>> = BTreeMap::new();
        for doubt in self.leaves.iter().filter_map(|leaf| leaf.doubt.as_ref()) {
            let numbers = openings.entry(doubt.path.clone()).or_default();
            numbers.insert(doubt.number);
        }
        let is_printed = |doubt: &Doubt| {
            self.doubts.printed.contains(&doubt.output) || openings[&doubt.path].len() > 1
        };
        for leaf in &mut self.leaves {
            if let Some(doubt) = leaf.doubt.take().filter(is_printed) {
                doubt.replace(&mut leaf.path);
            }
        }
    }
}
