//! Many names, each kept once.

use super::blocks::{Blocks, Place};
use super::table::{Table, hash};
use hashbrown::DefaultHashBuilder;
use std::fmt;

/// A set of names that numbers them from 0 in the order of their coming: what a parser keeps of
/// tests that are announced before they have a result, at the cost of one copy each.
///
/// ```
/// let mut names = atlas_core::Names::default();
/// assert_eq!(names.add("TestA"), (0, true));
/// assert_eq!(names.add("TestB"), (1, true));
/// assert_eq!(names.add("TestA"), (0, false));
/// assert_eq!(names.find("TestB"), Some(1));
/// assert_eq!(names.name(1), "TestB");
/// ```
#[derive(Clone, Default)]
pub struct Names {
    blocks: Blocks,
    entries: Vec<Place>,
    index: Table,
    hasher: DefaultHashBuilder,
}

impl Names {
    /// Makes room for so many names more, so that adding them need not.
    pub fn reserve(&mut self, names: usize) {
        self.entries.reserve(names);
        self.index.reserve(names);
    }

    /// The number of a name, and whether it is new.
    #[inline]
    pub fn add(&mut self, name: &str) -> (usize, bool) {
        let name = Blocks::cut(name);
        let hash = hash(&self.hasher, name);
        let (blocks, entries) = (&self.blocks, &self.entries);
        let at = entries.len();
        let same = |known: usize| blocks.is(&entries[known], name);
        if let Some(known) = self.index.enter(hash, at, same) {
            return (known, false);
        }
        let place = self.blocks.push(name);
        self.entries.push(place);
        (at, true)
    }

    /// The number of a name that was added.
    #[inline]
    pub fn find(&self, name: &str) -> Option<usize> {
        let name = Blocks::cut(name);
        if self.entries.is_empty() {
            return None;
        }
        let same = |known: usize| self.blocks.is(&self.entries[known], name);
        self.index.find(hash(&self.hasher, name), same)
    }

    /// Whether it was added.
    #[inline]
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The name of a number.
    ///
    /// # Panics
    /// If no name has it.
    #[inline]
    pub fn name(&self, number: usize) -> &str {
        self.blocks.text(&self.entries[number])
    }

    /// All names in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|place| self.blocks.text(place))
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets all names; their room is used again.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.entries.clear();
        self.index.clear();
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
