//! The lists of failed and pending examples, and the tree read against them.

use super::foreign::Found;
use super::tree::{self, Leaf, Tail};
use atlas_core::TestStatus;
use std::collections::{HashMap, HashSet};

/// An entry of the lists.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) description: String,
    /// Below a pending example: it ran and failed as expected.
    pub(super) failed: bool,
    pub(super) fixed: bool,
}

/// `  1) Calculator is skipped`, and what tells how a pending one ended.
pub(super) fn entry(line: &[u8], after_empty: bool, list: &mut Vec<Entry>) {
    let Some(text) = line.strip_prefix(b"  ") else {
        return;
    };
    if let Some(below) = text.strip_prefix(b"   ") {
        if let Some(last) = list.last_mut() {
            last.failed |= below.starts_with(b"Failure/Error:") || below.starts_with(b"Got ");
            last.fixed |= below.starts_with(b"Expected pending '");
        }
        return;
    }
    if !after_empty {
        return;
    }
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let Some(rest) = text[digits..].strip_prefix(b") ") else {
        return;
    };
    let number = std::str::from_utf8(&text[..digits])
        .ok()
        .and_then(|n| n.parse::<usize>().ok());
    if number == Some(list.len() + 1) {
        list.push(Entry {
            description: String::from_utf8_lossy(rest).trim_end().to_owned(),
            failed: false,
            fixed: false,
        });
    }
}

pub(super) fn pending_status(entry: &Entry) -> TestStatus {
    if entry.failed {
        TestStatus::Xfail
    } else {
        TestStatus::Skipped
    }
}

/// The lists' descriptions in the form in which they are compared.
pub(super) struct Keys {
    failing: Vec<String>,
    pending: HashMap<String, usize>,
}

impl Keys {
    pub(super) fn of(failing: &[String], pending: &[Entry]) -> Self {
        Self {
            failing: failing.iter().map(|name| tree::key(name)).collect(),
            pending: pending
                .iter()
                .enumerate()
                .map(|(at, entry)| (tree::key(&entry.description), at))
                .collect(),
        }
    }

    /// Whether the lists have what the line says of an example below these groups.
    pub(super) fn has(&self, leaf: &Leaf, path: &[String]) -> bool {
        match leaf.tail() {
            Tail::Failed(head, number) => self
                .failed(number)
                .is_some_and(|(_, name)| *name == listed_key(path, head)),
            Tail::Pending(_) | Tail::None => self.pending(leaf, path).is_some(),
        }
    }

    /// The pending example of that line, and where it is listed. Both the description and the
    /// reason may hold the words between them, and the reason may go on in the next line.
    fn pending<'a>(&self, leaf: &'a Leaf, path: &[String]) -> Option<(&'a str, usize)> {
        let mut ends = leaf.text.match_indices(" (PENDING: ").map(|(at, _)| at);
        ends.find_map(|at| {
            let head = &leaf.text[..at];
            let listed = self.pending.get(&listed_key(path, head))?;
            Some((head, *listed))
        })
    }

    /// The failure of that number.
    pub(super) fn failed(&self, number: u64) -> Option<(usize, &String)> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((at, self.failing.get(at)?))
    }
}

/// How the lists have an example of these groups: one without a description by its groups alone.
pub(super) fn listed_key(path: &[String], description: &str) -> String {
    let description = match description.strip_prefix("example at ") {
        Some(place) if !place.contains(' ') => "",
        _ => description,
    };
    tree::key_of(path, description)
}

/// Undoes groups that a test has printed: a line behind a blank one looks like a group, but the
/// examples below it are listed under the group before, or under the line in whose place it was taken.
pub(super) fn rejoin(leaves: &mut [Leaf], displaced: &[(usize, String)], keys: &Keys) {
    let mut start = 0;
    while start < leaves.len() {
        let group = leaves[start].group;
        let same = leaves[start..]
            .iter()
            .take_while(|leaf| leaf.group == group);
        let end = start + same.count();
        let before = start.checked_sub(1).and_then(|at| leaves[at].path.first());
        let instead = displaced.iter().find(|(of, _)| *of == group);
        let tops = [instead.map(|(_, name)| name), before];
        let tops: Vec<String> = tops.into_iter().flatten().cloned().collect();
        for top in tops {
            let belongs = leaves[start..end].iter().any(|leaf| {
                let plain = matches!(leaf.tail(), Tail::None);
                if plain || keys.has(leaf, &leaf.path) {
                    return false;
                }
                let mut moved = leaf.path.clone();
                moved[0].clone_from(&top);
                keys.has(leaf, &moved)
            });
            if belongs {
                for leaf in &mut leaves[start..end] {
                    leaf.path[0].clone_from(&top);
                }
                break;
            }
        }
        start = end;
    }
}

/// Which groups the lists show to be joined with a blank although they need not be.
pub(super) struct Joints {
    listed: Vec<String>,
}

impl Joints {
    pub(super) fn of(failing: &[String], pending: &[Entry]) -> Self {
        /// Enough to see how a project names its groups.
        const MAX: usize = 200;
        let pending = pending.iter().map(|entry| &entry.description);
        Self {
            listed: failing.iter().chain(pending).take(MAX).cloned().collect(),
        }
    }

    pub(super) fn blank(&self, parent: &str, child: &str) -> bool {
        let both = format!("{parent} {child}");
        self.listed.iter().any(|name| name.contains(&both))
    }
}

/// The tree's examples with their statuses; the last field marks titles that look like failures.
pub(super) fn read_tree(
    leaves: Vec<Leaf>,
    keys: &Keys,
    pending: &[Entry],
    joints: &Joints,
) -> Vec<Found> {
    let mut known: HashMap<(String, String), bool> = HashMap::new();
    let mut taken: HashSet<usize> = HashSet::new();
    let mut found = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let mut parts = leaf.path.windows(2);
        for pair in &mut parts {
            if tree::may_join(&pair[0], &pair[1]) {
                let pair = (pair[0].clone(), pair[1].clone());
                known
                    .entry(pair)
                    .or_insert_with_key(|pair| joints.blank(&pair.0, &pair.1));
            }
        }
        let joint = |parent: &str, child: &str| {
            let blank = || known.get(&(parent.to_owned(), child.to_owned())).copied();
            if tree::may_join(parent, child) && blank() == Some(false) {
                ""
            } else {
                " "
            }
        };
        // The name is the tree's in each state of the test, also where the lists have more blanks.
        let (text, status, doubtful) = match leaf.tail() {
            Tail::Failed(head, number) => {
                let found = keys.failed(number);
                let ours = found.filter(|(at, _)| keys.has(&leaf, &leaf.path) && taken.insert(*at));
                if ours.is_some() {
                    (head, TestStatus::Failed, false)
                } else {
                    // Another's number, or one that nobody has and more output behind it.
                    let doubtful = found.is_some() || leaf.noisy;
                    (leaf.text.as_str(), TestStatus::Passed, doubtful)
                }
            }
            tail => {
                if let Some((head, at)) = keys.pending(&leaf, &leaf.path) {
                    (head, pending_status(&pending[at]), false)
                } else {
                    let doubtful = matches!(tail, Tail::Pending(_)) && !pending.is_empty();
                    (leaf.text.as_str(), TestStatus::Passed, doubtful)
                }
            }
        };
        let name = leaf.full(text, joint);
        found.push((leaf, name, status, doubtful));
    }
    found
}

/// Examples whose descriptions go on in the next line, where the number of their failure stands.
pub(super) fn fail_cut(found: &mut [Found], failing: &[String]) {
    let failed = |leaf: &Found| leaf.2 == TestStatus::Failed;
    let mut told: HashSet<String> = found
        .iter()
        .filter(|leaf| failed(leaf))
        .map(key_of)
        .collect();
    for name in failing {
        let key = tree::key(name);
        if told.contains(&key) {
            continue;
        }
        let same = |leaf: &&mut Found| leaf.2 == TestStatus::Passed && key_of(leaf) == key;
        if let Some(leaf) = found.iter_mut().find(same) {
            leaf.2 = TestStatus::Failed;
            told.insert(key);
        }
    }
}

/// How the lists have an example.
fn key_of(example: &Found) -> String {
    let leaf = &example.0;
    let text = match leaf.tail() {
        Tail::Failed(head, _) if example.2 == TestStatus::Failed => head,
        _ => leaf.text.as_str(),
    };
    listed_key(&leaf.path, text)
}

/// The failures that no line of the tree tells.
pub(super) fn untold<'a>(found: &[Found], failing: &'a [String]) -> Vec<&'a String> {
    let told: HashSet<String> = found.iter().map(key_of).collect();
    let untold = failing
        .iter()
        .filter(|name| !told.contains(&tree::key(name)));
    untold.collect()
}
