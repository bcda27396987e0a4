//! Finding results by their qualified id, with little memory touched.
//!
//! Logs name their tests file by file, or package by package. So ids are looked for in groups: a
//! group is what has the same text before the first separator. While every group stands in one
//! piece, a small table of the group that is being read is all that is needed, however many
//! results there are. An id that comes back to an earlier group ends that: then there is one table
//! of all ids. Both give the same answers.

use super::names::Names;
use super::results::Store;
use super::table::{Table, hash};
use hashbrown::DefaultHashBuilder;
use std::sync::OnceLock;

#[derive(Clone)]
pub(super) struct Index {
    hasher: DefaultHashBuilder,
    /// What ends the name of a group.
    separator: String,
    /// The groups in their order, and the number of the first result of each.
    groups: Names,
    firsts: Vec<usize>,
    /// The results of the last group by their ids' hashes, unless it was added as a whole.
    last: Table,
    open: bool,
    /// Whether what begins with the last group's name and the separator is in that group: not so
    /// for `a:`, since `a:::b` is in `a`.
    plain: bool,
    /// All results, once groups are not enough.
    all: OnceLock<Table>,
}

/// A group of so many results is searched from end to end.
const SHORT: usize = 64;

impl Default for Index {
    fn default() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            separator: "::".to_owned(),
            groups: Names::default(),
            firsts: Vec::new(),
            last: Table::default(),
            open: false,
            plain: false,
            all: OnceLock::new(),
        }
    }
}

impl Index {
    /// The group of an id.
    fn group<'a>(&self, id: &'a str) -> &'a str {
        let end = if self.separator == "::" {
            let bytes = id.as_bytes();
            memchr::memchr_iter(b':', bytes).find(|at| bytes.get(at + 1) == Some(&b':'))
        } else {
            id.find(&self.separator)
        };
        end.map_or(id, |end| &id[..end])
    }

    /// Whether every id that begins with a group's name and the separator is in that group.
    fn is_plain(&self, group: &str) -> bool {
        if self.separator == "::" {
            !group.ends_with(':')
        } else {
            self.group(&[group, &self.separator].concat()) == group
        }
    }

    /// The group of an id, if it is not the last one, or that one was added as a whole.
    #[inline]
    fn group_beside_last<'a>(&self, id: &'a str) -> Option<&'a str> {
        let last = self.firsts.len().checked_sub(1).filter(|_| self.open);
        let Some(last) = last.map(|last| self.groups.name(last)) else {
            return Some(self.group(id));
        };
        let rest = id.strip_prefix(last).filter(|_| self.plain);
        if rest.is_some_and(|rest| rest.starts_with(&self.separator)) {
            return None;
        }
        Some(self.group(id)).filter(|group| *group != last)
    }

    #[inline]
    fn hash(&self, id: &str) -> u32 {
        hash(&self.hasher, id)
    }

    fn table(&self, store: &Store) -> Table {
        let mut table = Table::with_room(store.len() + store.len() / 4);
        for at in 0..store.len() {
            table.add(self.hash(store.qualified(at)), at);
        }
        table
    }

    /// The result with this id.
    pub(super) fn find(&self, store: &Store, id: &str) -> Option<usize> {
        if store.len() == 0 {
            return None;
        }
        if self.all.get().is_none() {
            let group = self.groups.find(self.group(id))?;
            if let Ok(found) = self.in_group(store, group, id) {
                return found;
            }
        }
        let all = self.all.get_or_init(|| self.table(store));
        look(all, store, self.hash(id), id)
    }

    /// The result with this id in a group; an error where that would take long.
    fn in_group(&self, store: &Store, group: usize, id: &str) -> Result<Option<usize>, Long> {
        if self.open && group + 1 == self.firsts.len() {
            return Ok(look(&self.last, store, self.hash(id), id));
        }
        let end = self.firsts.get(group + 1).copied();
        let results = self.firsts[group]..end.unwrap_or(store.len());
        if results.len() > SHORT {
            return Err(Long);
        }
        Ok(store.find_in(results, id))
    }

    /// The result with this id; where there is none, the next result has it.
    #[inline]
    pub(super) fn enter(&mut self, store: &Store, id: &str) -> Option<usize> {
        let hash = self.hash(id);
        if self.all.get().is_none()
            && let Some(group) = self.group_beside_last(id)
        {
            if let Some(known) = self.groups.find(group) {
                if let Ok(Some(found)) = self.in_group(store, known, id) {
                    return Some(found);
                }
                self.gather(store);
            } else if self.is_scattered(store.len()) {
                self.gather(store);
            } else {
                self.groups.add(group);
                self.firsts.push(store.len());
                self.last.clear();
                self.open = true;
                self.plain = self.is_plain(group);
            }
        }
        let table = match self.all.get_mut() {
            Some(all) => all,
            None => &mut self.last,
        };
        table.enter(hash, store.len(), |at| store.is(at, id))
    }

    /// Whether groups are of a few results each, or of one, and so no help.
    fn is_scattered(&self, results: usize) -> bool {
        let few = match results {
            0..64 => return false,
            64..512 => 2,
            _ => 4,
        };
        results / few < self.firsts.len()
    }

    /// Begins a module whose results are added without asking for each: its ids begin with `front`,
    /// which is the module and the separator. False if one of them may be there already.
    pub(super) fn begin(
        &mut self,
        store: &Store,
        front: &str,
        module: &str,
        separator: &str,
    ) -> bool {
        /// Longer modules are nobody's.
        const LONGEST: usize = 1 << 20;
        if store.len() == 0 && !separator.is_empty() && separator != self.separator {
            separator.clone_into(&mut self.separator);
        }
        let alone = self.all.get().is_none()
            && separator == self.separator
            && !module.is_empty()
            && module.len() <= LONGEST
            && self.group(front) == module
            && self.groups.add(module).1;
        if alone {
            self.firsts.push(store.len());
            self.open = false;
        }
        alone
    }

    /// Puts all ids into one table.
    fn gather(&mut self, store: &Store) {
        if self.all.get().is_none() {
            self.all = OnceLock::from(self.table(store));
        }
        self.groups = Names::default();
        self.firsts = Vec::new();
        self.last = Table::default();
    }
}

/// A group is too long to be searched from end to end.
struct Long;

fn look(table: &Table, store: &Store, hash: u32, id: &str) -> Option<usize> {
    table.find(hash, |at| store.is(at, id))
}
