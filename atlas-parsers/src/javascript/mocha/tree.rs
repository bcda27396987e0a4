//! The tree of suites that the spec reporter prints, put together when the run is over.
//!
//! A suite's title is any indented text, so whatever a test prints with the right indentation may
//! be one. Which it was is decided at the end of a run, when more is known: titles stand once
//! below their parent and printed lines come again and again; a failure's whole path is repeated
//! in the list of failures; in colour a title begins with a colour.

use super::line::{self, Kind};
use std::collections::HashMap;

/// Most title candidates that are kept between two results, from either end.
const KEPT: usize = 12;
/// A longer line is no title.
const LONGEST: usize = 2000;

/// A line between two results that may be a suite's title.
#[derive(Clone, Debug)]
struct Candidate {
    depth: usize,
    coloured: bool,
    /// Of the top level: it stands right behind an empty line, as it should.
    due: bool,
    text: String,
}

/// The candidates since the last result: the first few and the last few.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    first: Vec<Candidate>,
    last: std::collections::VecDeque<Candidate>,
    /// A suite of the top level may have begun.
    pub(super) top: bool,
    deepest: usize,
}

impl Candidates {
    /// Takes a line at a depth from 1.
    pub(super) fn take(
        &mut self,
        depth: usize,
        text: &[u8],
        coloured: bool,
        due: bool,
        open: usize,
    ) {
        if depth > open.max(self.deepest) + 1 || text.len() > LONGEST {
            return;
        }
        self.deepest = self.deepest.max(depth);
        self.top |= depth == 1;
        let candidate = Candidate {
            depth,
            coloured,
            due,
            text: String::from_utf8_lossy(text).into_owned(),
        };
        if self.first.len() < KEPT {
            self.first.push(candidate);
            return;
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(candidate);
    }

    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    fn into_list(self) -> Vec<Candidate> {
        let mut list = self.first;
        list.extend(self.last);
        list
    }
}

/// One result line of the run.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) depth: usize,
    pub(super) title: String,
    pub(super) coloured: bool,
    /// No suite had begun: a test outside of all suites may stand here.
    pub(super) root: bool,
    candidates: Vec<Candidate>,
}

impl Found {
    pub(super) fn new(
        kind: Kind,
        depth: usize,
        title: &[u8],
        coloured: bool,
        root: bool,
        candidates: Candidates,
    ) -> Self {
        Self {
            kind,
            depth,
            title: String::from_utf8_lossy(title).into_owned(),
            coloured,
            root,
            candidates: candidates.into_list(),
        }
    }
}

/// A result with its place in the tree.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) kind: Kind,
    pub(super) path: Vec<String>,
}

/// Suites, each once: its parent and its title. The first is the root.
struct Suites {
    nodes: Vec<(usize, String)>,
    known: HashMap<(usize, String), usize>,
}

impl Suites {
    fn new() -> Self {
        Self {
            nodes: vec![(0, String::new())],
            known: HashMap::new(),
        }
    }

    fn node(&mut self, parent: usize, title: &str) -> usize {
        let key = (parent, title.to_owned());
        let next = self.nodes.len();
        let node = *self.known.entry(key).or_insert(next);
        if node == next {
            self.nodes.push((parent, title.to_owned()));
        }
        node
    }

    fn path(&self, open: &[usize]) -> Vec<String> {
        let titles = open.iter().filter_map(|node| self.nodes.get(*node));
        titles.map(|(_, title)| title.clone()).collect()
    }
}

/// Places each result; those that cannot stand where they do are left out. With `lenient`, a
/// result may follow its suite's inner suites, which Mocha itself never prints.
pub(super) fn place(found: &[&Found], failures: &[Vec<String>], lenient: bool) -> Vec<Placed> {
    let coloured = found.iter().any(|result| result.coloured);
    let mut suites = Suites::new();
    let mut times: HashMap<usize, u32> = HashMap::new();
    // First without a choice, to see which titles come again below the same parent.
    let mut open: Vec<usize> = Vec::new();
    for result in found {
        let list = usable(result, coloured);
        let mut chain = open.clone();
        let mut seen: Vec<usize> = Vec::new();
        for candidate in &list {
            if candidate.depth == 1 {
                chain.clear();
            }
            if candidate.depth > chain.len() + 1 || candidate.depth == 0 {
                continue;
            }
            let parent = match candidate.depth {
                1 => 0,
                depth => chain[depth - 2],
            };
            let node = suites.node(parent, &candidate.text);
            if candidate.depth == chain.len() + 1 {
                chain.push(node);
            }
            if !seen.contains(&node) {
                seen.push(node);
                *times.entry(node).or_default() += 1;
            }
        }
        let chosen = choose(
            &list,
            open.len(),
            result.depth,
            &mut suites,
            &open,
            |_, c| is_title(c),
        );
        if let Some(path) = chosen {
            open = path;
        }
    }
    let mut placed = Vec::with_capacity(found.len());
    open.clear();
    for result in found {
        let list = usable(result, coloured);
        let covered = open.len() >= result.depth;
        let once = |node: usize, candidate: &Candidate| {
            let times = times.get(&node).copied().unwrap_or(0);
            // Of the top level there may well be two of one name, one in each file.
            (times < 2 || candidate.depth == 1) && is_title(candidate)
        };
        let chosen = choose(&list, open.len(), result.depth, &mut suites, &open, once);
        let chosen = match chosen {
            None if !covered => choose(
                &list,
                open.len(),
                result.depth,
                &mut suites,
                &open,
                |_, _| true,
            ),
            chosen => chosen,
        };
        let failure = match result.kind {
            Kind::Fail(number) => usize::try_from(number)
                .ok()
                .and_then(|number| failures.get(number.checked_sub(1)?)),
            _ => None,
        };
        let exact = failure.and_then(|path| {
            let (own, above) = path.split_last()?;
            (*own == result.title).then_some(above)
        });
        if let Some(path) = exact
            && (failure.is_some_and(|f| f.len() > 1) || result.depth == 0)
        {
            if path.len() == result.depth {
                open.clear();
                for title in path {
                    let parent = open.last().copied().unwrap_or(0);
                    open.push(suites.node(parent, title));
                }
            } else if let Some(chosen) = chosen {
                open = chosen;
            }
            let mut path = path.to_vec();
            path.push(result.title.clone());
            placed.push(Placed {
                kind: result.kind,
                path,
            });
            continue;
        }
        let path = if let Some(chosen) = chosen {
            open = chosen;
            suites.path(&open)
        } else if result.depth == 0 {
            if !result.root && !lenient && !result.title.starts_with('"') {
                continue;
            }
            Vec::new()
        } else if open.len() == result.depth
            || covered && (lenient || matches!(result.kind, Kind::Fail(_)))
        {
            suites.path(&open[..result.depth])
        } else {
            continue;
        };
        let mut path = outer_hook(path, &result.title, failure);
        path.push(result.title.clone());
        placed.push(Placed {
            kind: result.kind,
            path,
        });
    }
    placed
}

fn is_title(candidate: &Candidate) -> bool {
    candidate.depth == 1 && candidate.due || !line::is_code(&candidate.text)
}

/// The candidates of a result that may be titles.
fn usable(result: &Found, coloured: bool) -> Vec<&Candidate> {
    let list = result.candidates.iter();
    let due = result.candidates.iter().any(|c| c.depth == 1 && c.due);
    list.filter(|c| c.coloured || !coloured)
        .filter(|c| c.depth > 1 || c.due || !due)
        .filter(|c| !line::is_frame(c.text.as_bytes()))
        .collect()
}

/// The suites that a chain of candidates opens, down to a depth; `None` where there is no chain.
fn choose(
    list: &[&Candidate],
    open: usize,
    depth: usize,
    suites: &mut Suites,
    path: &[usize],
    fits: impl Fn(usize, &Candidate) -> bool,
) -> Option<Vec<usize>> {
    for (start, first) in list.iter().enumerate() {
        if first.depth > open + 1 || first.depth > depth || first.depth == 0 {
            continue;
        }
        let mut chain = path[..first.depth - 1].to_vec();
        for candidate in &list[start..] {
            if candidate.depth != chain.len() + 1 {
                continue;
            }
            let parent = chain.last().copied().unwrap_or(0);
            let node = suites.node(parent, &candidate.text);
            if !fits(node, candidate) {
                continue;
            }
            chain.push(node);
            if chain.len() == depth {
                return Some(chain);
            }
        }
    }
    None
}

/// Before Mocha 4 the list of failures has whole titles in one line: `Outer "before each" hook`
/// tells of a hook that it is an outer suite's.
fn outer_hook(path: Vec<String>, title: &str, failure: Option<&Vec<String>>) -> Vec<String> {
    let Some([whole]) = failure.map(Vec::as_slice) else {
        return path;
    };
    let Some(outer) = whole.strip_suffix(title) else {
        return path;
    };
    let outer = outer.trim_end();
    let mut joined = String::new();
    for (at, suite) in path.iter().enumerate() {
        if at > 0 {
            joined.push(' ');
        }
        joined.push_str(suite);
        if joined == outer {
            return path[..=at].to_vec();
        }
    }
    path
}
