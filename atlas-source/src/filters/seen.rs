//! What was seen before, in bounded memory.
//!
//! Two generations are held: what is new goes into the younger; when that is full, the older is forgotten and the younger takes its
//! place. So what was seen among the last half of what can be remembered is always known, and nothing grows beyond it.

use std::collections::HashMap;

/// Entries of one generation: some 20 bytes each for patches, 30 for statements.
const GENERATION: usize = 1 << 20;

/// Patches that were seen.
#[derive(Debug, Default)]
pub(super) struct SeenPatches {
    young: HashMap<u64, u64>,
    old: HashMap<u64, u64>,
}

impl SeenPatches {
    /// Notes a patch id under the pull request's number in the order of sourcing; gives that of the first with the same.
    pub(super) fn note(&mut self, patch_id: &str, at: u64) -> Option<u64> {
        // Of the 160 bits of an id 64 are enough to tell two million apart.
        let digits = patch_id.get(..16).unwrap_or(patch_id);
        let key = u64::from_str_radix(digits, 16).ok()?;
        if let Some(first) = self.young.get(&key).or_else(|| self.old.get(&key)) {
            return Some(*first);
        }
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, at);
        None
    }
}

/// Of four quarters of a hash one must be equal where at most three bits differ.
const QUARTERS: usize = 4;

/// At most so many of a quarter's equals are compared, the latest: a text that thousands share would make it quadratic.
const MOST_COMPARED: usize = 4096;

#[derive(Debug)]
struct Generation {
    hashes: Vec<(u64, u64)>,
    quarters: [HashMap<u16, Vec<u32>>; QUARTERS],
}

impl Default for Generation {
    fn default() -> Self {
        Self {
            hashes: Vec::new(),
            quarters: std::array::from_fn(|_| HashMap::new()),
        }
    }
}

fn quarter(hash: u64, which: usize) -> u16 {
    hash.to_le_bytes()
        .chunks_exact(2)
        .nth(which)
        .map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}

impl Generation {
    fn near(&self, hash: u64, bits: u32) -> Option<u64> {
        for (which, quarters) in self.quarters.iter().enumerate() {
            let equals = quarters
                .get(&quarter(hash, which))
                .map_or(&[][..], Vec::as_slice);
            for at in equals.iter().rev().take(MOST_COMPARED) {
                let (other, first) = self.hashes[*at as usize];
                if (other ^ hash).count_ones() <= bits {
                    return Some(first);
                }
            }
        }
        None
    }

    fn insert(&mut self, hash: u64, at: u64) {
        let index = u32::try_from(self.hashes.len()).unwrap_or(u32::MAX);
        self.hashes.push((hash, at));
        for (which, quarters) in self.quarters.iter_mut().enumerate() {
            quarters
                .entry(quarter(hash, which))
                .or_default()
                .push(index);
        }
    }
}

/// Statements that were seen, by `SimHash`.
#[derive(Debug, Default)]
pub(super) struct SeenStatements {
    young: Generation,
    old: Generation,
}

impl SeenStatements {
    /// Notes a statement; gives the number of an earlier one that differs in so many bits at most.
    pub(super) fn note(&mut self, hash: u64, bits: u32, at: u64) -> Option<u64> {
        let found = self
            .young
            .near(hash, bits)
            .or_else(|| self.old.near(hash, bits));
        if found.is_none() {
            if self.young.hashes.len() >= GENERATION {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(hash, at);
        }
        found
    }
}

/// The `SimHash` of a text's words, three at a time, and how many words it has. Case and punctuation do not count.
pub(super) fn simhash(text: &str) -> (u64, usize) {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut sums = [0_i32; 64];
    for three in words.windows(3.min(words.len().max(1))) {
        let hash = fnv(three);
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    let bits = sums.iter().enumerate().filter(|(_, sum)| **sum > 0);
    (bits.fold(0, |hash, (bit, _)| hash | 1 << bit), words.len())
}

/// FNV-1a, with its bits mixed: the same in every process.
fn fnv(words: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.iter().flat_map(|word| word.bytes().chain([b' '])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_more_than_two_generations_is_forgotten() {
        let mut seen = SeenPatches::default();
        let id = |number: usize| format!("{number:016x}");
        for number in 0..=2 * GENERATION {
            assert_eq!(seen.note(&id(number), number as u64), None);
        }
        assert!(seen.young.len() + seen.old.len() <= 2 * GENERATION);
        assert_eq!(seen.note(&id(GENERATION), 0), Some(GENERATION as u64));
        assert_eq!(seen.note(&id(0), 7), None, "the first was forgotten");
    }

    #[test]
    fn three_bits_apart_is_near_and_four_are_not() {
        for flipped in [0b111_u64, 1 | 1 << 20 | 1 << 40, 1 << 63 | 1 << 47 | 1 << 1] {
            let mut seen = SeenStatements::default();
            assert_eq!(seen.note(0xdead_beef_0123_4567, 3, 1), None);
            assert_eq!(seen.note(0xdead_beef_0123_4567 ^ flipped, 3, 2), Some(1));
            assert_eq!(
                seen.note(0xdead_beef_0123_4567 ^ flipped ^ 1 << 30 ^ 1 << 10, 3, 3),
                None
            );
        }
    }

    #[test]
    fn a_changed_word_in_a_long_text_keeps_the_hash_near() {
        let text: Vec<String> = (0..400).map(|number| format!("word{number}")).collect();
        let one = simhash(&text.join(" "));
        let mut other = text.clone();
        other[200] = "Another".to_owned();
        let two = simhash(&format!("{}!", other.join(", ")));
        assert!((one.0 ^ two.0).count_ones() <= 6, "{:b}", one.0 ^ two.0);
        let third: Vec<String> = (0..400).map(|number| format!("thing{number}")).collect();
        assert!((one.0 ^ simhash(&third.join(" ")).0).count_ones() > 12);
        assert_eq!(simhash("").1, 0);
    }
}
