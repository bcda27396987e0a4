//! The results of a log: many, with ids that repeat each other, so kept as text in blocks.

use super::blocks::{Blocks, span};
use crate::TestStatus;
use hashbrown::{DefaultHashBuilder, HashTable};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::fmt;
use std::hash::BuildHasher;

/// One test as the log knows it; borrowed from its [`TestResults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TestResult<'a> {
    /// The SWE-bench id: what the console prints. Several tests of one log may share it.
    pub name: &'a str,
    /// The qualified id: package, binary or file in front; unique within the log.
    pub qualified: &'a str,
    /// The file, package or binary it belongs to; empty where the log does not tell.
    pub module: &'a str,
    /// The worst status that was reported.
    pub status: TestStatus,
    /// How many results were reported under this qualified id.
    pub seen: u32,
}

/// The results of a log, in the order in which it first names them, by qualified id unique.
///
/// Serialised as a list of [`TestResult`]. Two are equal when they hold equal results in the same
/// order.
#[derive(Clone, Default)]
pub struct TestResults {
    /// The ids, one after the other.
    blocks: Blocks,
    entries: Vec<Entry>,
    /// The hash of a qualified id, and the number of its entry.
    index: HashTable<(u32, u32)>,
    hasher: DefaultHashBuilder,
}

/// Where the texts of a result stand: the qualified id, then the name and the module if they are no
/// parts of it. Logs name a million tests, so this is as small as it can be.
#[derive(Clone)]
struct Entry {
    block: u32,
    start: u32,
    qualified: u32,
    name: u32,
    module: u32,
    /// From the top: three bits of status, one each for a name that ends the qualified id and a module
    /// that begins it; the rest is the number of reports.
    packed: u32,
}

const STATUSES: [TestStatus; 6] = [
    TestStatus::Passed,
    TestStatus::Failed,
    TestStatus::Skipped,
    TestStatus::Error,
    TestStatus::Xfail,
    TestStatus::Xpass,
];

impl Entry {
    const STATUS: u32 = 29;
    const NAME_INSIDE: u32 = 1 << 28;
    const MODULE_INSIDE: u32 = 1 << 27;
    const MOST_SEEN: u32 = Self::MODULE_INSIDE - 1;

    fn status(&self) -> TestStatus {
        STATUSES[(self.packed >> Self::STATUS) as usize % STATUSES.len()]
    }

    fn seen(&self) -> u32 {
        self.packed & Self::MOST_SEEN
    }

    fn set(&mut self, status: TestStatus, seen: u32) {
        let status = match status {
            TestStatus::Passed => 0,
            TestStatus::Failed => 1,
            TestStatus::Skipped => 2,
            TestStatus::Error => 3,
            TestStatus::Xfail => 4,
            TestStatus::Xpass => 5,
        };
        let flags = self.packed & (Self::NAME_INSIDE | Self::MODULE_INSIDE);
        self.packed = status << Self::STATUS | flags | seen.min(Self::MOST_SEEN);
    }
}

/// What the index keeps of a hash, half of it: ids are compared anyway.
#[expect(clippy::cast_possible_truncation, reason = "half of it is kept")]
fn short(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Spreads a kept hash over the bits that a table looks at.
fn spread(short: u32) -> u64 {
    u64::from(short).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl TestResults {
    /// How many tests.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many reports there were, those of the same id counted each.
    pub fn reports(&self) -> u64 {
        self.entries.iter().map(|e| u64::from(e.seen())).sum()
    }

    /// The results in the order of the log.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            results: self,
            entries: self.entries.iter(),
        }
    }

    /// The result under a qualified id.
    pub fn get(&self, qualified: &str) -> Option<TestResult<'_>> {
        Some(self.view(&self.entries[self.find(qualified)?]))
    }

    /// The place of a qualified id, from 0.
    pub fn find(&self, qualified: &str) -> Option<usize> {
        let qualified = Blocks::cut(qualified);
        self.position(self.hasher.hash_one(qualified), qualified)
    }

    /// The result at a place.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn at(&self, place: usize) -> TestResult<'_> {
        self.view(&self.entries[place])
    }

    /// The place of a qualified id, and whether it is new; a new one is entered with this status
    /// and seen once, one that is known stays as it is.
    pub fn enter(
        &mut self,
        module: &str,
        qualified: &str,
        name: &str,
        status: TestStatus,
    ) -> (usize, bool) {
        let qualified = Blocks::cut(qualified);
        let hash = self.hasher.hash_one(qualified);
        if let Some(at) = self.position(hash, qualified) {
            return (at, false);
        }
        let at = self.entries.len();
        self.insert(hash, module, qualified, name, status, 1);
        (at, true)
    }

    /// Gives the result at a place another status and another number of reports.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn set(&mut self, place: usize, status: TestStatus, seen: u32) {
        self.entries[place].set(status, seen);
    }

    /// Adds a result; one of the same qualified id keeps the worst status and counts up.
    pub fn add(&mut self, module: &str, qualified: &str, name: &str, status: TestStatus) {
        let (at, new) = self.enter(module, qualified, name, status);
        if !new {
            let entry = &mut self.entries[at];
            entry.set(entry.status().worst(status), entry.seen().saturating_add(1));
        }
    }

    /// Adds a result with its number of reports, as [`add`](Self::add) does with one.
    pub fn merge(&mut self, result: TestResult<'_>) {
        let (at, new) = self.enter(result.module, result.qualified, result.name, result.status);
        let entry = &mut self.entries[at];
        let before = if new { 0 } else { entry.seen() };
        let seen = before.saturating_add(result.seen);
        entry.set(entry.status().worst(result.status), seen);
    }

    fn insert(
        &mut self,
        hash: u64,
        module: &str,
        qualified: &str,
        name: &str,
        status: TestStatus,
        seen: u32,
    ) {
        let (module, name) = (Blocks::cut(module), Blocks::cut(name));
        let needed = module.len() + qualified.len() + name.len();
        let (block, text) = self.blocks.room(needed);
        let place = span(text.len(), qualified.len());
        text.push_str(qualified);
        // Nearly always the qualified id holds the two others.
        let mut inside = 0;
        if qualified.ends_with(name) {
            inside |= Entry::NAME_INSIDE;
        } else {
            text.push_str(name);
        }
        if qualified.starts_with(module) {
            inside |= Entry::MODULE_INSIDE;
        } else {
            text.push_str(module);
        }
        let mut entry = Entry {
            block,
            start: place.start,
            qualified: place.end - place.start,
            name: span(0, name.len()).end,
            module: span(0, module.len()).end,
            packed: inside,
        };
        entry.set(status, seen);
        self.entries.push(entry);
        // Beyond four thousand million tests, ids are no longer compared.
        if let Ok(number) = u32::try_from(self.entries.len() - 1) {
            let hash = short(hash);
            self.index
                .insert_unique(spread(hash), (hash, number), |(hash, _)| spread(*hash));
        }
    }

    fn position(&self, hash: u64, qualified: &str) -> Option<usize> {
        let hash = short(hash);
        let found = self.index.find(spread(hash), |(known, at)| {
            *known == hash && self.qualified(&self.entries[*at as usize]) == qualified
        })?;
        Some(found.1 as usize)
    }

    fn qualified(&self, entry: &Entry) -> &str {
        let span = entry.start..entry.start + entry.qualified;
        self.blocks.part(entry.block, &span)
    }

    fn view(&self, entry: &Entry) -> TestResult<'_> {
        let text = |start, len| self.blocks.part(entry.block, &(start..start + len));
        let behind = entry.start + entry.qualified;
        let name_inside = entry.packed & Entry::NAME_INSIDE != 0;
        let (name, behind) = if name_inside {
            (behind - entry.name, behind)
        } else {
            (behind, behind + entry.name)
        };
        let module = if entry.packed & Entry::MODULE_INSIDE != 0 {
            entry.start
        } else {
            behind
        };
        TestResult {
            name: text(name, entry.name),
            qualified: self.qualified(entry),
            module: text(module, entry.module),
            status: entry.status(),
            seen: entry.seen(),
        }
    }
}

/// Walks over the results of a log.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    results: &'a TestResults,
    entries: std::slice::Iter<'a, Entry>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = TestResult<'a>;

    fn next(&mut self) -> Option<TestResult<'a>> {
        self.entries.next().map(|entry| self.results.view(entry))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a TestResults {
    type Item = TestResult<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl fmt::Debug for TestResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").finish_non_exhaustive()
    }
}

impl PartialEq for TestResults {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for TestResults {}

impl Serialize for TestResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for result in self {
            list.serialize_element(&result)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for TestResults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Owned {
            name: String,
            qualified: String,
            module: String,
            status: TestStatus,
            seen: u32,
        }
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = TestResults;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of test results")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<TestResults, A::Error> {
                let mut results = TestResults::default();
                while let Some(one) = seq.next_element::<Owned>()? {
                    let (at, new) =
                        results.enter(&one.module, &one.qualified, &one.name, one.status);
                    if !new {
                        return Err(serde::de::Error::custom(format_args!(
                            "the qualified id `{}` stands there twice",
                            one.qualified
                        )));
                    }
                    results.set(at, one.status, one.seen);
                }
                Ok(results)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_wherever_they_stand() {
        let mut results = TestResults::default();
        let long = "x".repeat(1 << 20);
        let cases = [
            ("m", "m::a", "a"),
            ("m", "other::b", "quite different"),
            ("m", "third", "c"),
            ("", "", "empty"),
            (&long, "long", &long),
            ("m", "m::z", "z"),
        ];
        for (module, qualified, name) in cases {
            results.add(module, qualified, name, TestStatus::Passed);
        }
        results.add("m", "m::a", "a", TestStatus::Failed);
        assert_eq!(results.len(), cases.len());
        for (result, (module, qualified, name)) in results.iter().zip(cases) {
            assert_eq!(
                (result.module, result.qualified, result.name),
                (module, qualified, name)
            );
        }
        let first = results.get("m::a").unwrap();
        assert_eq!((first.status, first.seen), (TestStatus::Failed, 2));
        assert!(results.get("m::b").is_none());
        let json = serde_json::to_string(&results).unwrap();
        assert_eq!(serde_json::from_str::<TestResults>(&json).unwrap(), results);
        let twice = format!("[{0},{0}]", serde_json::to_string(&first).unwrap());
        assert!(serde_json::from_str::<TestResults>(&twice).is_err());
    }
}
