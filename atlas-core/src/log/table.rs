//! A table of numbers, found by the hash of the text that each of them stands for.

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::{BuildHasher, Hasher};

/// Numbers, each beside half of the hash of its text: texts are looked at only where these agree.
#[derive(Clone, Default)]
pub(super) struct Table {
    numbers: HashTable<(u32, u32)>,
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

/// Spreads a kept hash over the bits that a table looks at.
#[inline]
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Table {
    /// Up to so many numbers a table grows in long steps.
    const SMALL: usize = 1 << 13;

    /// A table in which so many find room.
    pub(super) fn with_room(numbers: usize) -> Self {
        Self {
            numbers: HashTable::with_capacity(numbers),
        }
    }

    /// Makes room for so many numbers more.
    pub(super) fn reserve(&mut self, numbers: usize) {
        let again = |(hash, _): &(u32, u32)| spread(*hash);
        self.numbers.reserve(numbers, again);
    }

    /// The number with this hash that `is_it` says yes to.
    #[inline]
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let same = |(known, at): &(u32, u32)| *known == hash && is_it(*at as usize);
        let found = self.numbers.find(spread(hash), same);
        found.map(|(_, at)| *at as usize)
    }

    /// The same; where there is none, this number is entered.
    #[inline]
    pub(super) fn enter(
        &mut self,
        hash: u32,
        number: usize,
        is_it: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let same = |(known, at): &(u32, u32)| *known == hash && is_it(*at as usize);
        let again = |(hash, _): &(u32, u32)| spread(*hash);
        let len = self.numbers.len();
        if len == self.numbers.capacity() && len <= Self::SMALL {
            // Growing in fewer steps moves less.
            self.numbers.reserve(3 * len + 1, again);
        }
        match self.numbers.entry(spread(hash), same, again) {
            Entry::Occupied(found) => Some(found.get().1 as usize),
            Entry::Vacant(place) => {
                // Beyond four thousand million, numbers are given but no longer found.
                if let Ok(number) = u32::try_from(number) {
                    place.insert((hash, number));
                }
                None
            }
        }
    }

    /// Enters a number that is not there.
    pub(super) fn add(&mut self, hash: u32, number: usize) {
        if let Ok(number) = u32::try_from(number) {
            let again = |(hash, _): &(u32, u32)| spread(*hash);
            self.numbers
                .insert_unique(spread(hash), (hash, number), again);
        }
    }

    /// Forgets all numbers. A table that was made for far more than it holds is let go: emptying it
    /// again and again would cost its size each time.
    pub(super) fn clear(&mut self) {
        if self.numbers.capacity() > 256 && self.numbers.len() < self.numbers.capacity() / 16 {
            self.numbers = HashTable::new();
        } else {
            self.numbers.clear();
        }
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
    fn a_large_table_is_not_kept_for_little() {
        let mut table = Table::with_room(100_000);
        table.add(3, 0);
        table.clear();
        assert_eq!(table.numbers.capacity(), 0);
        table.add(3, 5);
        assert_eq!(table.find(3, |_| true), Some(5));
    }
}
