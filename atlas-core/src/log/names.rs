//! Many names, each kept once.

use super::blocks::{Blocks, Place};
use super::index::empty;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::fmt;
use std::hash::BuildHasher;

/// What a table keeps of a hash, half of it: names are compared anyway.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "half of it is kept")]
pub(super) fn short(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Spreads a kept hash over the bits that a table looks at.
#[inline]
pub(super) fn spread(short: u32) -> u64 {
    u64::from(short).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

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
    index: HashTable<(u32, u32)>,
    hasher: DefaultHashBuilder,
}

impl Names {
    /// The number of a name, and whether it is new.
    #[inline]
    pub fn add(&mut self, name: &str) -> (usize, bool) {
        let name = Blocks::cut(name);
        let hash = short(self.hasher.hash_one(name));
        let (blocks, entries) = (&self.blocks, &self.entries);
        let same =
            |(known, at): &(u32, u32)| *known == hash && blocks.is(&entries[*at as usize], name);
        let at = entries.len();
        match self
            .index
            .entry(spread(hash), same, |(hash, _)| spread(*hash))
        {
            Entry::Occupied(found) => return (found.get().1 as usize, false),
            Entry::Vacant(room) => {
                // Four thousand million names and more are numbered, but no longer found.
                if let Ok(number) = u32::try_from(at) {
                    room.insert((hash, number));
                }
            }
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
        let hash = short(self.hasher.hash_one(name));
        let found = self.index.find(spread(hash), |(known, at)| {
            *known == hash && self.blocks.is(&self.entries[*at as usize], name)
        });
        found.map(|(_, at)| *at as usize)
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
        empty(&mut self.index);
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
