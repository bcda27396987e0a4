//! The tree of suites that the spec reporter prints, put together when the run is over.
//!
//! A suite's title is any indented text, so whatever a test prints with the right indentation may
//! be one. Which it was is decided at the end of a run, when more is known: titles stand once
//! below their parent and printed lines come again and again; a failure's whole path is repeated
//! in the list of failures; in colour a title begins with a colour.

use super::line::{self, Kind};
use std::borrow::Cow;
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
    /// A page, or a result that a test printed beside one, stands between it and the result before it.
    printed: bool,
    text: String,
}

/// The candidates since the last result: the first few and the last few.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    first: Vec<Candidate>,
    last: std::collections::VecDeque<Candidate>,
    /// A suite of the top level may have begun.
    pub(super) top: bool,
    /// A page stood among them.
    pub(super) page: bool,
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
            printed: self.page,
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
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) depth: usize,
    pub(super) title: String,
    pub(super) coloured: bool,
    /// A duration stood behind the title.
    pub(super) timed: bool,
    /// No suite had begun: a test outside of all suites may stand here.
    pub(super) root: bool,
    /// A page stood between it and the result before it: its suite may be what a test printed.
    page: bool,
    candidates: Vec<Candidate>,
}

impl Found {
    /// Whether the list reporter prints no title before it: a test that is skipped, or a hook.
    pub(super) fn is_unannounced(&self) -> bool {
        matches!(self.kind, Kind::Pending) || self.title.contains("\" hook")
    }

    /// The page above it ended another run: what stands between them is this run's.
    pub(super) fn begins_run(&mut self) {
        self.page = false;
    }

    /// Its number among the failures.
    pub(super) fn number(&self) -> Option<u64> {
        match self.kind {
            Kind::Fail(number) => Some(number),
            _ => None,
        }
    }

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
            timed: false,
            root,
            page: candidates.page,
            candidates: candidates.into_list(),
        }
    }

    /// The same result, where what stands above it is no result: the titles there are its own.
    pub(super) fn below(&self, above: &[&Self]) -> Self {
        let all = || above.iter().copied().chain([self]);
        let count: usize = all().map(|found| found.candidates.len()).sum();
        let first = above.first().map_or(0, |found| found.candidates.len());
        let candidates = all().flat_map(|found| &found.candidates).enumerate();
        let kept = candidates.filter(|(at, _)| *at < KEPT || at + KEPT >= count);
        Self {
            title: self.title.clone(),
            candidates: kept
                .map(|(at, candidate)| Candidate {
                    printed: candidate.printed || at >= first,
                    ..candidate.clone()
                })
                .collect(),
            root: all().any(|found| found.root),
            page: all().any(|found| found.page),
            ..*self
        }
    }
}

/// A result with its place in the tree.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) kind: Kind,
    pub(super) path: Vec<String>,
    /// Whether its suite may be what a test printed.
    pub(super) doubtful: bool,
    timed: bool,
}

/// Mocha 1 prints a blank behind the title of each test that passes, where no duration follows. It has none where
/// the test fails.
fn without_padding(placed: &mut [Placed]) {
    let mut passed: Vec<&mut String> = placed
        .iter_mut()
        .filter(|result| matches!(result.kind, Kind::Pass(_)) && !result.timed)
        .filter_map(|result| result.path.last_mut())
        .collect();
    if passed.iter().all(|title| title.ends_with(' ')) {
        for title in &mut passed {
            title.pop();
        }
    }
}

/// Suites: parent and title. The first is the root. Below one parent a title stands once, but for
/// the top level, where each file may have a suite of the same name.
struct Suites {
    nodes: Vec<(usize, String)>,
    known: HashMap<(usize, u64, String), usize>,
    /// How many suites of the top level have begun.
    tops: u64,
}

impl Suites {
    fn new() -> Self {
        Self {
            nodes: vec![(0, String::new())],
            known: HashMap::new(),
            tops: 0,
        }
    }

    fn node(&mut self, parent: Option<usize>, title: &str) -> usize {
        let top = if parent.is_none() { self.tops } else { 0 };
        let parent = parent.unwrap_or(0);
        let key = (parent, top, title.to_owned());
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

    /// The suites that a chain of candidates opens, down to a depth; `None` where there is no chain.
    fn choose(
        &mut self,
        list: &[&Candidate],
        open: &[usize],
        depth: usize,
        fits: impl Fn(usize, &Candidate) -> bool,
    ) -> Option<Vec<usize>> {
        // A suite of the top level ends all others.
        let top = list.iter().any(|candidate| candidate.is_top());
        for (start, first) in list.iter().enumerate() {
            let begins = !top || first.is_top();
            if !begins || first.depth > open.len() + 1 || first.depth > depth {
                continue;
            }
            let mut chain = open[..first.depth - 1].to_vec();
            for candidate in &list[start..] {
                if candidate.depth != chain.len() + 1 {
                    continue;
                }
                let node = self.node(chain.last().copied(), &candidate.text);
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
}

/// What speaks against a line being a suite's title.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// How often it came below its parent.
    times: u32,
    /// Another candidate of its depth stood with it before one result, where one can be a title.
    beside: bool,
    /// How many results stood right below it.
    results: u32,
}

impl Seen {
    /// A line that hooks print before each test, or after it.
    fn is_output(self) -> bool {
        self.times > 1 && self.beside || self.times > 2 && self.results <= self.times
    }
}

/// What was seen of each suite.
type Times = HashMap<usize, Seen>;

/// Places each result; those that cannot stand where they do are left out. With `lenient`, a
/// result may follow its suite's inner suites, which Mocha itself never prints.
pub(super) fn place(
    found: &[Cow<'_, Found>],
    failures: &[Vec<String>],
    lenient: bool,
) -> Vec<Placed> {
    let coloured = found.iter().any(|result| result.coloured);
    let mut suites = Suites::new();
    let times = count(found, coloured, &mut suites);
    suites.tops = 0;
    let mut open: Vec<usize> = Vec::new();
    let mut placed = Vec::with_capacity(found.len());
    for result in found {
        let list = usable(result, coloured);
        let top = list.iter().any(|candidate| candidate.is_top());
        suites.tops += u64::from(top);
        let covered = open.len() >= result.depth && !top;
        let straight = is_straight(&list, result.depth);
        let once = |node: usize, candidate: &Candidate| {
            let output = times.get(&node).is_some_and(|seen| seen.is_output());
            (!output || candidate.depth == 1) && (straight || is_title(candidate, &list))
        };
        let chosen = match suites.choose(&list, &open, result.depth, once) {
            None if !covered => suites.choose(&list, &open, result.depth, |_, _| true),
            chosen => chosen,
        };
        let failure = match result.kind {
            Kind::Fail(number) => usize::try_from(number)
                .ok()
                .and_then(|number| failures.get(number.checked_sub(1)?)),
            _ => None,
        };
        let exact = exact(result, failure);
        let doubtful = result.page && exact.is_none() && result.depth > 0 && !list.is_empty() && {
            let above = list.iter().copied().filter(|candidate| !candidate.printed);
            let above: Vec<_> = above.collect();
            !is_straight(&above, result.depth)
                || suites.choose(&above, &open, result.depth, |_, _| true) != chosen
        };
        let path = if let Some(path) = exact {
            if path.len() == result.depth {
                open.clear();
                for title in path {
                    let node = suites.node(open.last().copied(), title);
                    open.push(node);
                }
            } else if let Some(chosen) = chosen {
                open = chosen;
            }
            path.to_vec()
        } else if let Some(chosen) = chosen {
            open = chosen;
            outer_hook(suites.path(&open), &result.title, failure)
        } else if result.depth == 0 {
            if !result.root && !lenient && !result.title.starts_with('"') {
                continue;
            }
            Vec::new()
        } else if open.len() == result.depth
            || open.len() > result.depth && (lenient || matches!(result.kind, Kind::Fail(_)))
        {
            outer_hook(suites.path(&open[..result.depth]), &result.title, failure)
        } else {
            continue;
        };
        let mut path = path;
        path.push(result.title.clone());
        placed.push(Placed {
            kind: result.kind,
            path,
            doubtful,
            timed: result.timed,
        });
    }
    without_padding(&mut placed);
    placed
}

/// Reads the tree without a choice, to see which titles come again below the same parent.
fn count(found: &[Cow<'_, Found>], coloured: bool, suites: &mut Suites) -> Times {
    let mut times = Times::new();
    let mut open: Vec<usize> = Vec::new();
    for result in found {
        let list = usable(result, coloured);
        suites.tops += u64::from(list.iter().any(|candidate| candidate.is_top()));
        let mut chain = open.clone();
        let mut seen: Vec<usize> = Vec::new();
        for candidate in &list {
            if candidate.depth == 1 {
                chain.clear();
            }
            if candidate.depth > chain.len() + 1 {
                continue;
            }
            let parent = candidate.depth.checked_sub(2).map(|above| chain[above]);
            let node = suites.node(parent, &candidate.text);
            if candidate.depth == chain.len() + 1 {
                chain.push(node);
            }
            if !seen.contains(&node) {
                seen.push(node);
                let entry = times.entry(node).or_default();
                entry.times += 1;
                let same = |other: &&Candidate| other.depth == candidate.depth;
                entry.beside |= list.iter().copied().filter(same).count() > 1;
            }
        }
        let straight = is_straight(&list, result.depth);
        let fits = |_, candidate: &Candidate| straight || is_title(candidate, &list);
        let chosen = suites.choose(&list, &open, result.depth, fits);
        if let Some(path) = chosen {
            open = path;
        }
        if let Some(last) = open.last()
            && open.len() == result.depth
        {
            times.entry(*last).or_default().results += 1;
        }
    }
    times
}

/// The suites of a failure as the list of failures has them, where it is this failure.
fn exact<'a>(result: &Found, failure: Option<&'a Vec<String>>) -> Option<&'a [String]> {
    let failure = failure?;
    let (own, above) = failure.split_last()?;
    // Before Mocha 4 the list has whole titles.
    let whole = above.is_empty() && result.depth > 0;
    (*own == result.title && !whole).then_some(above)
}

impl Candidate {
    /// A suite of the top level stands behind an empty line.
    fn is_top(&self) -> bool {
        self.depth == 1 && self.due
    }
}

fn is_title(candidate: &Candidate, list: &[&Candidate]) -> bool {
    if candidate.is_top() || candidate.coloured || !line::is_code(&candidate.text) {
        return true;
    }
    // A comma ends a line of an object where that was opened above it.
    let mut above = list
        .iter()
        .take_while(|other| !std::ptr::eq(**other, candidate));
    let in_list = candidate.text.trim_end().ends_with([',', ';']);
    in_list && candidate.depth > 1 && !above.any(|other| line::opens(&other.text))
}

/// Whether the lines go down by one level each and end right above the result. What is printed closes its brackets,
/// or has several lines of one level.
fn is_straight(list: &[&Candidate], depth: usize) -> bool {
    let mut steps = list.iter().zip(list.iter().skip(1));
    list.last().is_some_and(|last| last.depth == depth)
        && steps.all(|(above, below)| below.depth == above.depth + 1)
}

/// The candidates of a result that may be titles.
fn usable(result: &Found, coloured: bool) -> Vec<&Candidate> {
    let due = result.candidates.iter().any(Candidate::is_top);
    let list = result.candidates.iter();
    list.filter(|c| c.coloured || !coloured)
        .filter(|c| c.depth > 1 || c.due || !due)
        .filter(|c| !line::is_frame(c.text.as_bytes()))
        .collect()
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
