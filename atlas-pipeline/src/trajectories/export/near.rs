//! Texts that are nearly the same, by `MinHash` over their words.

use std::collections::HashMap;

/// Values of a sketch. The likeness of two texts is known to about 0.06.
const VALUES: usize = 64;
/// Values that must agree for two texts to be compared: 16 groups of 4 find nearly all pairs from a likeness of 0.7 on.
const BAND: usize = 4;
/// Words in a row that are taken together.
const SHINGLE: usize = 3;
/// Fewest words of a text of which anything can be said.
const LEAST_WORDS: usize = 10;

/// The least of the hashes of a text's words, three at a time, under many functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sketch([u32; VALUES]);

impl Sketch {
    /// Of a text; nothing of one that is too short to tell. Case and punctuation do not count.
    pub(super) fn of(text: &str) -> Option<Self> {
        let words: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        if words.len() < LEAST_WORDS {
            return None;
        }
        let mut least = [u32::MAX; VALUES];
        for shingle in words.windows(SHINGLE) {
            let mut hash = 0xcbf2_9ce4_8422_2325_u64;
            for byte in shingle.iter().flat_map(|word| word.bytes().chain([0])) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            for (seed, least) in (1_u64..).zip(&mut least) {
                let value = mixed(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                *least = (*least).min(u32::try_from(value >> 32).unwrap_or(u32::MAX));
            }
        }
        Some(Self(least))
    }

    /// About which share of all their words, three at a time, both have.
    fn likeness(&self, other: &Self) -> f64 {
        let same = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count();
        let share = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        share(same) / share(VALUES)
    }
}

/// Splitmix64's last steps.
fn mixed(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Sets that are joined one by one.
#[derive(Debug)]
pub(super) struct Groups(Vec<usize>);

impl Groups {
    /// Each in a set of its own.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The first of a set, which names it.
    pub(super) fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one.max(other)] = one.min(other);
    }
}

/// Joins those whose sketches are alike from `least` on.
pub(super) fn join_alike(groups: &mut Groups, sketches: &[(usize, Sketch)], least: f64) {
    let mut seen: HashMap<(usize, &[u32]), Vec<usize>> = HashMap::new();
    for (at, (owner, sketch)) in sketches.iter().enumerate() {
        for (band, values) in sketch.0.chunks(BAND).enumerate() {
            let bucket = seen.entry((band, values)).or_default();
            let mut is_known = false;
            for other in bucket.iter() {
                let (other_owner, other) = &sketches[*other];
                if sketch.likeness(other) >= least {
                    groups.join(*owner, *other_owner);
                    is_known = *sketch == *other;
                }
                if is_known {
                    break;
                }
            }
            // What is the same as another need not be compared again.
            if !is_known {
                bucket.push(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(from: u32, to: u32) -> String {
        let words: Vec<String> = (from..to).map(|word| format!("word{word} ")).collect();
        words.concat()
    }

    fn groups(texts: &[String]) -> Vec<usize> {
        let sketches: Vec<(usize, Sketch)> = texts
            .iter()
            .enumerate()
            .filter_map(|(at, text)| Some((at, Sketch::of(text)?)))
            .collect();
        let mut groups = Groups::new(texts.len());
        join_alike(&mut groups, &sketches, 0.8);
        (0..texts.len()).map(|at| groups.find(at)).collect()
    }

    #[test]
    fn what_is_nearly_the_same_is_one_group() {
        let changed = text(0, 400).replace("word200 ", "Another! ");
        let texts = [
            text(0, 400),
            text(1000, 1400),
            changed,
            text(0, 400),
            text(0, 250),
        ];
        assert_eq!(groups(&texts), [0, 1, 0, 0, 4]);
    }

    #[test]
    fn of_short_texts_nothing_is_said() {
        assert_eq!(
            groups(&["It fails.".to_owned(), "It fails.".to_owned()]),
            [0, 1]
        );
    }
}
