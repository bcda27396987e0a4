//! Does a score grow with the progress of patches?

use serde::{Deserialize, Serialize};

/// How often a score respects an order that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderCounts {
    /// Pairs of patches of which one is known to be further, and both have a score.
    pub pairs: u64,
    /// Those where the further one has the higher score.
    pub concordant: u64,
    /// Those where both have the same.
    pub ties: u64,
    /// Those where it has the lower one.
    pub discordant: u64,
}

impl OrderCounts {
    /// Counts pairs `(behind, further)` of places in `scores`; a pair without both scores is left out.
    pub fn of(pairs: &[(usize, usize)], scores: &[Option<f64>]) -> Self {
        let mut found = Self::default();
        let score = |at: usize| scores.get(at).copied().flatten();
        for (behind, further) in pairs {
            let (Some(behind), Some(further)) = (score(*behind), score(*further)) else {
                continue;
            };
            found.pairs += 1;
            match further.total_cmp(&behind) {
                _ if super::ranking::same(further, behind) => found.ties += 1,
                std::cmp::Ordering::Greater => found.concordant += 1,
                _ => found.discordant += 1,
            }
        }
        found
    }

    /// Adds another task's pairs.
    pub fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.concordant += other.concordant;
        self.ties += other.ties;
        self.discordant += other.discordant;
    }

    /// The share of pairs where the further patch has the higher score.
    pub fn share_concordant(&self) -> Option<f64> {
        super::share(self.concordant, self.pairs)
    }

    /// The share of pairs where it has no lower one: what paper 004 (section 2.1.1) asks of a score,
    /// `S(p1) <= S(p2)` for `p1` behind `p2`. A constant has all of it, so read it beside the other share.
    pub fn share_respected(&self) -> Option<f64> {
        super::share(self.concordant + self.ties, self.pairs)
    }
}

/// Pairs `(behind, further)` of patches of one task: the further one passes every test that the other passes, and one
/// more at least. Each patch is its list of tests, at the same place the same test: passed, failed, or not known. A pair is
/// compared over the tests that are known of both.
///
/// ```
/// use atlas_judge::metrics::progress_pairs;
/// let some = |tests: [u8; 3]| tests.map(|passed| Some(passed == 1)).to_vec();
/// // The second passes what the first does and more; the third passes another test.
/// assert_eq!(progress_pairs(&[some([1, 0, 0]), some([1, 1, 0]), some([0, 0, 1])]), [(0, 1)]);
/// ```
pub fn progress_pairs(patches: &[Vec<Option<bool>>]) -> Vec<(usize, usize)> {
    let sets: Vec<Tests> = patches.iter().map(|tests| Tests::of(tests)).collect();
    let mut found = Vec::new();
    for (at, a) in sets.iter().enumerate() {
        for (later, b) in sets.iter().enumerate().skip(at + 1) {
            match (a.passes_more_than(b), b.passes_more_than(a)) {
                (true, false) => found.push((later, at)),
                (false, true) => found.push((at, later)),
                _ => {}
            }
        }
    }
    found
}

/// Sets of tests, a bit a test: with thousands of tests and many patches every pair is compared.
struct Tests {
    known: Vec<u64>,
    passed: Vec<u64>,
}

impl Tests {
    fn of(tests: &[Option<bool>]) -> Self {
        let bits = |of: fn(&Option<bool>) -> bool| {
            let words = tests.chunks(64);
            words
                .map(|word| {
                    let bits = word.iter().enumerate();
                    bits.fold(0, |all, (at, test)| all | (u64::from(of(test)) << at))
                })
                .collect()
        };
        Self {
            known: bits(Option::is_some),
            passed: bits(|test| *test == Some(true)),
        }
    }

    /// Whether this one passes a test that the other fails.
    fn passes_more_than(&self, other: &Self) -> bool {
        let words = self
            .passed
            .iter()
            .zip(other.known.iter().zip(&other.passed));
        words
            .into_iter()
            .any(|(mine, (known, passed))| mine & known & !passed != 0)
    }
}
