//! A table of numbers, found by the hash of the text that each of them stands for.

use hashbrown::DefaultHashBuilder;
use std::hash::{BuildHasher, Hasher};

/// Numbers, each beside half of a hash, in one row: a number stands at the place that its hash names,
/// or where that is taken, at the next free one. At most half of the row is taken, so the way is short,
/// and there is nothing else to be looked at: for the many small groups of a log that is what counts.
#[derive(Clone, Default)]
pub(super) struct Table {
    /// Halves of hashes, and numbers counted from 1. As many as a power of two; 0 is a free place.
    row: Vec<(u32, u32)>,
    taken: usize,
}

/// The half of a text's hash that is kept: texts are compared anyway.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "half of it is kept")]
pub(super) fn hash(hasher: &DefaultHashBuilder, text: &str) -> u32 {
    let mut state = hasher.build_hasher();
    state.write(text.as_bytes());
    let hash = state.finish();
    (hash ^ (hash >> 32)) as u32
}

impl Table {
    const SMALLEST: usize = 16;

    /// A table in which so many find room.
    pub(super) fn with_room(numbers: usize) -> Self {
        let size = (numbers * 2).next_power_of_two().max(Self::SMALLEST);
        Self {
            row: vec![(0, 0); size],
            taken: 0,
        }
    }

    /// The number with this hash that `is_it` says yes to.
    #[inline]
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        self.look(hash, is_it).ok()
    }

    /// The same; where there is none, this number is entered.
    #[inline]
    pub(super) fn enter(
        &mut self,
        hash: u32,
        number: usize,
        is_it: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if self.taken * 2 >= self.row.len() {
            self.grow();
        }
        match self.look(hash, is_it) {
            Ok(known) => Some(known),
            Err(free) => {
                self.put(free, hash, number);
                None
            }
        }
    }

    /// Enters a number that is not there.
    pub(super) fn add(&mut self, hash: u32, number: usize) {
        if self.taken * 2 >= self.row.len() {
            self.grow();
        }
        if let Err(free) = self.look(hash, |_| false) {
            self.put(free, hash, number);
        }
    }

    #[inline]
    fn look(&self, hash: u32, is_it: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let row = self.row.as_slice();
        let mut at = hash as usize;
        while !row.is_empty() {
            at &= row.len() - 1;
            let (known, number) = row[at];
            if number == 0 {
                break;
            }
            let number = number as usize - 1;
            if known == hash && is_it(number) {
                return Ok(number);
            }
            at += 1;
        }
        Err(at)
    }

    #[inline]
    fn put(&mut self, free: usize, hash: u32, number: usize) {
        // Beyond four thousand million, numbers are given but no longer found.
        if let Ok(number) = u32::try_from(number + 1) {
            self.row[free] = (hash, number);
            self.taken += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.row.len() * 2).max(Self::SMALLEST);
        let small = std::mem::replace(&mut self.row, vec![(0, 0); size]);
        for (hash, number) in small {
            if number != 0
                && let Err(free) = self.look(hash, |_| false)
            {
                self.row[free] = (hash, number);
            }
        }
    }

    /// Forgets all numbers. A row that was made for far more than it holds is let go: emptying it
    /// again and again would cost its size each time.
    pub(super) fn clear(&mut self) {
        if self.row.len() > 512 && self.taken < self.row.len() / 32 {
            self.row = Vec::new();
        } else if self.taken > 0 {
            self.row.fill((0, 0));
        }
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn numbers_of_one_hash_are_told_apart() {
        let mut table = Table::default();
        assert_eq!(table.find(7, |_| true), None);
        for round in 0..3 {
            // All that begin at one place, and some at the row's end.
            for number in 0..2000 {
                let hash = [7, u32::MAX, 7 + (1 << 20)][number % 3];
                assert_eq!(table.enter(hash, number, |at| at == number), None);
                assert_eq!(table.enter(hash, 9999, |at| at == number), Some(number));
            }
            assert_eq!(table.find(7, |at| at == 1998), Some(1998));
            assert_eq!(table.find(7, |at| at == 1999), None);
            if round == 1 {
                table = Table::with_room(4);
            }
            table.clear();
            assert_eq!(table.find(7, |_| true), None);
        }
    }

    #[test]
    fn a_large_row_is_not_kept_for_little() {
        let mut table = Table::with_room(100_000);
        table.add(3, 0);
        table.clear();
        assert!(table.row.is_empty());
        table.add(3, 5);
        assert_eq!(table.find(3, |_| true), Some(5));
    }
}
