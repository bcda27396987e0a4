//! The results of one run, however they are listed.

use super::node::{self, Node};
use atlas_core::TestStatus;
use std::collections::{HashMap, HashSet};

/// A result. The first name is the engine's.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: Vec<String>,
    pub(super) status: TestStatus,
    /// The unique id, where the listing has it.
    pub(super) unique: Option<String>,
}

/// `--details=tree`, printed when all tests have run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    path: Vec<(String, TestStatus)>,
    /// Whether the last node of the path has had a child.
    parent: bool,
    pub(super) found: Vec<Found>,
    pub(super) failed_containers: Vec<String>,
}

pub(super) const MAX_DEPTH: usize = 256;

impl Tree {
    pub(super) fn node(&mut self, node: &Node<'_>) {
        let Some((name, status)) = node::caption(node.text) else {
            return;
        };
        if node.depth > self.path.len() || node.depth >= MAX_DEPTH {
            return;
        }
        if node.depth == self.path.len() {
            self.parent = true;
        }
        self.close(node.depth);
        self.path.push((name.to_owned(), status));
        self.parent = false;
    }

    /// Ends the nodes below a depth.
    fn close(&mut self, depth: usize) {
        while self.path.len() > depth {
            let names = || {
                self.path
                    .iter()
                    .map(|node| node.0.clone())
                    .collect::<Vec<_>>()
            };
            let status = self.path.last().map_or(TestStatus::Passed, |node| node.1);
            if self.parent {
                if status.is_failing() {
                    self.failed_containers.push(names()[1..].join(" > "));
                }
            } else if self.path.len() > 1 {
                self.found.push(Found {
                    path: names(),
                    status,
                    unique: None,
                });
            }
            self.path.pop();
            self.parent = true;
        }
    }

    pub(super) fn finish(&mut self) {
        self.close(0);
    }
}

const FINISHED: &str = "Finished:    ";

/// `--details=flat`: a line for each start and end, with the unique id.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    names: HashMap<String, String>,
    parents: HashSet<String>,
    /// In order: the unique id and the status.
    ended: Vec<(String, TestStatus)>,
    open: HashSet<String>,
    /// The last line ended something, so that the next may say what was thrown.
    fresh: bool,
}

impl Flat {
    /// Returns whether the line was the listing's.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let fresh = std::mem::take(&mut self.fresh);
        if let Some(why) = line.strip_prefix("             => Exception: ") {
            if fresh && let Some(last) = self.ended.last_mut() {
                last.1 = thrown(why);
            }
            return fresh;
        }
        let at_start = ["Started:     ", FINISHED, "Skipped:     "]
            .iter()
            .find_map(|word| Some((*word, line.strip_prefix(word)?)));
        // Output without a newline may stand before the end of its test.
        let glued = || Some((FINISHED, &line[line.rfind(FINISHED)? + FINISHED.len()..]));
        let Some((what, rest)) = at_start.or_else(glued) else {
            return false;
        };
        let Some(at) = rest.rfind(" ([engine:") else {
            return false;
        };
        let (name, unique) = (&rest[..at], &rest[at + 2..]);
        let Some(unique) = unique.strip_suffix(')') else {
            return false;
        };
        if let Some((parent, _)) = unique.rsplit_once("/[")
            && !self.parents.contains(parent)
        {
            self.parents.insert(parent.to_owned());
        }
        match what.as_bytes().first() {
            Some(b'S') if what.starts_with("St") => {
                self.open.insert(unique.to_owned());
                self.names.insert(unique.to_owned(), name.to_owned());
            }
            Some(b'F') => {
                // Nothing ends that has not begun.
                if !self.open.remove(unique) {
                    return false;
                }
                self.ended.push((unique.to_owned(), TestStatus::Passed));
                self.fresh = true;
            }
            _ => {
                self.names.insert(unique.to_owned(), name.to_owned());
                self.ended.push((unique.to_owned(), TestStatus::Skipped));
            }
        }
        true
    }

    fn path(&self, unique: &str) -> Vec<String> {
        let mut path = Vec::new();
        let mut rest = Some(unique);
        while let Some(id) = rest {
            if path.len() > MAX_DEPTH {
                break;
            }
            let name = self.names.get(id).map_or(id, String::as_str);
            path.push(name.to_owned());
            rest = id.rsplit_once("/[").map(|(parent, _)| parent);
        }
        path.reverse();
        path
    }

    pub(super) fn finish(self) -> (Vec<Found>, Vec<String>) {
        let found = self
            .ended
            .iter()
            .filter(|(unique, _)| unique.contains("/[") && !self.parents.contains(unique))
            .map(|(unique, status)| Found {
                path: self.path(unique),
                status: *status,
                unique: Some(unique.clone()),
            })
            .collect();
        let mut open: Vec<String> = self
            .open
            .iter()
            .filter(|unique| !self.parents.contains(*unique))
            .map(|unique| self.path(unique).get(1..).unwrap_or_default().join(" > "))
            .filter(|name| !name.is_empty())
            .collect();
        open.sort_unstable();
        (found, open)
    }
}

/// The status of a test that ended with an exception: an assumption that failed aborts it.
fn thrown(exception: &str) -> TestStatus {
    let class = exception.split([':', ' ']).next().unwrap_or_default();
    if class.ends_with("TestAbortedException") || class.ends_with("AssumptionViolatedException") {
        TestStatus::Skipped
    } else {
        TestStatus::Failed
    }
}

/// `--details=verbose`: a tree that is printed while the tests run, with details below each node.
#[derive(Clone, Debug, Default)]
pub(super) struct Verbose {
    path: Vec<Open>,
    pub(super) found: Vec<Found>,
}

#[derive(Clone, Debug)]
struct Open {
    name: String,
    unique: Option<String>,
    status: Option<TestStatus>,
    caught: bool,
    parent: bool,
}

impl Verbose {
    pub(super) fn line(&mut self, line: &str) {
        // JUnit 1.3 to 1.5 printed this for a line's end.
        const FORGOTTEN: &str = " dynamically registered%n";
        let line = match line.rfind(FORGOTTEN) {
            Some(at) => &line[at + FORGOTTEN.len()..],
            None => line,
        };
        if let Some(node) = node::node(line) {
            self.node(&node);
            return;
        }
        let detail = line.trim_start_matches(['│', '|', ' ']);
        let Some(open) = self.path.last_mut() else {
            return;
        };
        if let Some(unique) = detail.strip_prefix("uniqueId: ") {
            open.unique = Some(unique.trim_end().to_owned());
        } else if let Some(status) = detail.strip_prefix("status: ") {
            let word = status.trim_end().rsplit(' ').next().unwrap_or_default();
            open.status = status_word(word).or(open.status);
        } else if detail.starts_with("caught: ") {
            open.caught = true;
        }
    }

    fn node(&mut self, node: &Node<'_>) {
        if node.last {
            let Some((name, time)) = node.text.rsplit_once(" finished after ") else {
                return;
            };
            let open = self
                .path
                .get(node.depth)
                .is_some_and(|open| open.name == name);
            if time.ends_with("ms.") && open {
                self.close(node.depth);
            }
            return;
        }
        if node.text.ends_with(" dynamically registered")
            || node.depth > self.path.len()
            || node.depth >= MAX_DEPTH
        {
            return;
        }
        self.close(node.depth);
        if let Some(parent) = self.path.last_mut() {
            parent.parent = true;
        }
        self.path.push(Open {
            name: node.text.trim_end().to_owned(),
            unique: None,
            status: None,
            caught: false,
            parent: false,
        });
    }

    fn close(&mut self, depth: usize) {
        while self.path.len() > depth {
            let path: Vec<String> = self.path.iter().map(|open| open.name.clone()).collect();
            let Some(open) = self.path.pop() else {
                return;
            };
            let caught = open.caught && !open.parent;
            let status = open.status.or(caught.then_some(TestStatus::Failed));
            if let Some(status) = status
                && !open.parent
                && path.len() > 1
            {
                self.found.push(Found {
                    path,
                    status,
                    unique: open.unique,
                });
            }
        }
    }

    /// Ends the listing; what has no status yet was running.
    pub(super) fn finish(&mut self) -> Vec<String> {
        let running = self
            .path
            .last()
            .filter(|open| open.unique.is_some() && open.status.is_none())
            .map(|_| {
                let names: Vec<&str> = self.path.iter().skip(1).map(|o| o.name.as_str()).collect();
                names.join(" > ")
            });
        self.close(0);
        running.into_iter().collect()
    }
}

/// The status that the verbose listing and the test feed print as a word.
pub(super) fn status_word(word: &str) -> Option<TestStatus> {
    Some(match word {
        "SUCCESSFUL" => TestStatus::Passed,
        "FAILED" => TestStatus::Failed,
        "ABORTED" | "SKIPPED" => TestStatus::Skipped,
        _ => return None,
    })
}

/// `--details=testfeed`: `engine > class > test :: STARTED`.
#[derive(Clone, Debug, Default)]
pub(super) struct Feed {
    started: HashMap<String, u32>,
    pub(super) found: Vec<Found>,
}

impl Feed {
    pub(super) fn line(&mut self, line: &str) -> bool {
        let Some((path, word)) = line.trim_end().rsplit_once(" :: ") else {
            return false;
        };
        if word == "STARTED" {
            *self.started.entry(path.to_owned()).or_default() += 1;
            return true;
        }
        let Some(status) = status_word(word) else {
            return false;
        };
        let mut path = path;
        if word == "SKIPPED" {
            if !path.contains(" > ") {
                return false;
            }
        } else {
            if !self.started.contains_key(path) {
                // Output without a newline stands before it; few tests are open at a time.
                let open = self.started.keys().take(64);
                let Some(known) = open.map(String::as_str).find(|known| path.ends_with(known))
                else {
                    return false;
                };
                path = &path[path.len() - known.len()..];
            }
            let Some(times) = self.started.get_mut(path) else {
                return false;
            };
            *times = times.saturating_sub(1);
            if *times == 0 {
                self.started.remove(path);
            }
        }
        self.found.push(Found {
            path: path.split(" > ").map(str::to_owned).collect(),
            status,
            unique: None,
        });
        true
    }

    pub(super) fn finish(&mut self) -> Vec<String> {
        let mut open: Vec<String> = self.started.drain().map(|(path, _)| path).collect();
        open.sort_unstable();
        open
    }
}
