//! The results of a log: many, with ids that repeat each other, so kept as text in blocks.

use super::blocks::{Blocks, span};
use super::index::Index;
use crate::TestStatus;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::fmt;
use std::ops::Range;

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
    store: Store,
    index: Index,
    /// Some name is nothing but blanks.
    blank: bool,
}

/// The results themselves.
#[derive(Clone, Default)]
pub(super) struct Store {
    /// The ids, one after the other.
    blocks: Blocks,
    entries: Entries,
}

/// Entries in pieces, so that none is moved when there are more of them.
#[derive(Clone, Default)]
struct Entries {
    pieces: Vec<Vec<Entry>>,
}

impl Entries {
    /// How many a piece holds.
    const PIECE: usize = 4096;

    #[inline]
    fn len(&self) -> usize {
        let last = self.pieces.last().map_or(0, Vec::len);
        self.pieces.len().saturating_sub(1) * Self::PIECE + last
    }

    /// The piece that the next entry goes to. It is given out so that an entry is written where it is
    /// to stay: one that is handed over is written twice, and the second time waits for the first.
    #[inline]
    fn room(&mut self) -> &mut Vec<Entry> {
        if self
            .pieces
            .last()
            .is_none_or(|last| last.len() == last.capacity())
        {
            self.grow();
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    /// Makes room for so many more, as far as one piece goes.
    fn reserve(&mut self, more: usize) {
        let room = self.room();
        room.reserve_exact(more.min(Self::PIECE - room.len()));
    }

    #[cold]
    fn grow(&mut self) {
        // Most logs do not fill the first one.
        match self.pieces.last_mut() {
            None => self.pieces.push(Vec::with_capacity(4)),
            Some(last) if last.len() < Self::PIECE => {
                last.reserve_exact((3 * last.len()).min(Self::PIECE - last.len()));
            }
            Some(_) => self.pieces.push(Vec::with_capacity(Self::PIECE)),
        }
    }

    #[inline]
    fn at(&self, at: usize) -> &Entry {
        &self.pieces[at / Self::PIECE][at % Self::PIECE]
    }

    #[inline]
    fn at_mut(&mut self, at: usize) -> &mut Entry {
        &mut self.pieces[at / Self::PIECE][at % Self::PIECE]
    }

    fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.pieces.iter().flatten()
    }
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

impl Entry {
    const STATUS: u32 = 29;
    const NAME_INSIDE: u32 = 1 << 28;
    const MODULE_INSIDE: u32 = 1 << 27;
    const MOST_SEEN: u32 = Self::MODULE_INSIDE - 1;

    #[inline]
    fn status(&self) -> TestStatus {
        TestStatus::ALL[(self.packed >> Self::STATUS) as usize % TestStatus::ALL.len()]
    }

    #[inline]
    fn seen(&self) -> u32 {
        self.packed & Self::MOST_SEEN
    }

    #[inline]
    fn set(&mut self, status: TestStatus, seen: u32) {
        let flags = self.packed & (Self::NAME_INSIDE | Self::MODULE_INSIDE);
        self.packed = Self::pack(status, seen) | flags;
    }

    /// Status and number of reports, by the status's place in [`TestStatus::ALL`].
    #[inline]
    fn pack(status: TestStatus, seen: u32) -> u32 {
        (status as u32) << Self::STATUS | seen.min(Self::MOST_SEEN)
    }
}

impl Store {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the result at a place has this qualified id.
    #[inline]
    pub(super) fn is(&self, at: usize, id: &str) -> bool {
        let entry = self.entries.at(at);
        if entry.qualified as usize != id.len() {
            return false;
        }
        let start = entry.start as usize;
        let text = self.blocks.bytes(entry.block, start..start + id.len());
        let id = id.as_bytes();
        // Ids of one file begin alike, so they are told apart from the end.
        match (text.split_last_chunk::<8>(), id.split_last_chunk::<8>()) {
            (Some((text, end)), Some((id, wanted))) => end == wanted && text == id,
            _ => text == id,
        }
    }

    /// The first of these results that has this qualified id.
    pub(super) fn find_in(&self, mut results: Range<usize>, id: &str) -> Option<usize> {
        results.find(|at| self.is(*at, id))
    }

    #[inline]
    pub(super) fn qualified(&self, at: usize) -> &str {
        let entry = self.entries.at(at);
        let span = entry.start..entry.start + entry.qualified;
        self.blocks.part(entry.block, &span)
    }

    /// Adds a result without a look at the others.
    #[inline]
    fn push(&mut self, module: &str, qualified: &str, name: &str, status: TestStatus) {
        let (module, name) = (Blocks::cut(module), Blocks::cut(name));
        let needed = module.len() + qualified.len() + name.len();
        let (block, text) = self.blocks.room(needed);
        let place = span(text.len(), qualified.len());
        text.push_str(qualified);
        // Nearly always the qualified id holds the two others.
        let mut inside = 0;
        if std::ptr::eq(qualified, name) || qualified.ends_with(name) {
            inside |= Entry::NAME_INSIDE;
        } else {
            text.push_str(name);
        }
        let cut_from = std::ptr::eq(qualified.as_ptr(), module.as_ptr());
        if cut_from && module.len() <= qualified.len()
            || module.is_empty()
            || qualified.starts_with(module)
        {
            inside |= Entry::MODULE_INSIDE;
        } else {
            text.push_str(module);
        }
        self.entries.room().push(Entry {
            block,
            start: place.start,
            qualified: place.end - place.start,
            name: span(0, name.len()).end,
            module: span(0, module.len()).end,
            packed: Entry::pack(status, 1) | inside,
        });
    }

    /// The same for an id that is `front` and the name, where a module begins the front.
    #[inline]
    fn push_in(&mut self, module: usize, front: &str, name: &str, status: TestStatus, seen: u32) {
        let name = Blocks::cut(name);
        let len = front.len() + name.len();
        let (block, text) = self.blocks.room(len);
        let place = span(text.len(), len);
        text.push_str(front);
        text.push_str(name);
        self.entries.room().push(Entry {
            block,
            start: place.start,
            qualified: place.end - place.start,
            name: span(0, name.len()).end,
            module: span(0, module).end,
            packed: Entry::pack(status, seen) | Entry::NAME_INSIDE | Entry::MODULE_INSIDE,
        });
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
            qualified: text(entry.start, entry.qualified),
            module: text(module, entry.module),
            status: entry.status(),
            seen: entry.seen(),
        }
    }
}

/// Whether a name is nothing but blanks.
#[inline]
pub(super) fn is_blank(name: &str) -> bool {
    !name.as_bytes().first().is_some_and(u8::is_ascii_graphic) && name.trim().is_empty()
}

impl TestResults {
    /// How many tests.
    #[inline]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.store.len() == 0
    }

    /// How many reports there were, those of the same id counted each.
    pub fn reports(&self) -> u64 {
        let seen = self.store.entries.iter().map(|e| u64::from(e.seen()));
        seen.sum()
    }

    /// How many reports there were of each status, by its place in [`TestStatus::ALL`].
    pub(super) fn reports_by_status(&self) -> [u64; TestStatus::ALL.len()] {
        let mut counts = [0; TestStatus::ALL.len()];
        for entry in self.store.entries.iter() {
            counts[entry.status() as usize] += u64::from(entry.seen());
        }
        counts
    }

    /// Whether some name is nothing but blanks.
    pub(super) fn has_blank(&self) -> bool {
        self.blank
    }

    /// The results in the order of the log.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            store: &self.store,
            places: 0..self.store.len(),
        }
    }

    /// The result under a qualified id.
    pub fn get(&self, qualified: &str) -> Option<TestResult<'_>> {
        Some(self.at(self.find(qualified)?))
    }

    /// The place of a qualified id, from 0.
    #[inline]
    pub fn find(&self, qualified: &str) -> Option<usize> {
        self.index.find(&self.store, Blocks::cut(qualified))
    }

    /// The result at a place.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn at(&self, place: usize) -> TestResult<'_> {
        self.store.view(self.store.entries.at(place))
    }

    /// The place of a qualified id, and whether it is new; a new one is entered with this status
    /// and seen once, one that is known stays as it is.
    #[inline]
    pub fn enter(
        &mut self,
        module: &str,
        qualified: &str,
        name: &str,
        status: TestStatus,
    ) -> (usize, bool) {
        let qualified = Blocks::cut(qualified);
        if let Some(at) = self.index.enter(&self.store, qualified) {
            return (at, false);
        }
        self.blank |= is_blank(name);
        self.store.push(module, qualified, name, status);
        (self.store.len() - 1, true)
    }

    /// Gives the result at a place another status and another number of reports.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn set(&mut self, place: usize, status: TestStatus, seen: u32) {
        self.store.entries.at_mut(place).set(status, seen);
    }

    /// Adds a result; one of the same qualified id keeps the worst status and counts up.
    pub fn add(&mut self, module: &str, qualified: &str, name: &str, status: TestStatus) {
        let (at, new) = self.enter(module, qualified, name, status);
        if !new {
            let entry = self.store.entries.at_mut(at);
            entry.set(entry.status().worst(status), entry.seen().saturating_add(1));
        }
    }

    /// Adds results of one module by name, status and number of reports: each as
    /// [`merge`](Self::merge) would under the qualified id of module, separator and name, or the name
    /// alone where the module is empty.
    ///
    /// No name may come twice. So a module that is new costs no look at what is there.
    ///
    /// ```
    /// use atlas_core::{TestResults, TestStatus};
    /// let mut results = TestResults::default();
    /// results.add_all("pkg/a", "::", [("TestX", TestStatus::Passed, 1)]);
    /// results.add_all("pkg/b", "::", [("TestX", TestStatus::Failed, 2)]);
    /// assert_eq!(results.find("pkg/b::TestX"), Some(1));
    /// ```
    pub fn add_all<'a>(
        &mut self,
        module: &str,
        separator: &str,
        results: impl IntoIterator<Item = (&'a str, TestStatus, u32)>,
    ) {
        let mut blank = false;
        let results = results
            .into_iter()
            .inspect(|(name, ..)| blank |= is_blank(name));
        self.add_named(module, separator, results);
        self.blank |= blank;
    }

    /// The same for results of which none has a name of nothing but blanks.
    pub(super) fn add_named<'a>(
        &mut self,
        module: &str,
        separator: &str,
        results: impl Iterator<Item = (&'a str, TestStatus, u32)>,
    ) {
        let mut front = String::with_capacity(module.len() + separator.len() + 64);
        if !module.is_empty() {
            front.push_str(module);
            front.push_str(separator);
        }
        if self.index.begin(&self.store, &front, module, separator) {
            self.store
                .entries
                .reserve(results.size_hint().1.unwrap_or_default());
            // Unlike a loop, this is one loop for iterators that are put together of several.
            results.for_each(|(name, status, seen)| {
                self.store.push_in(module.len(), &front, name, status, seen);
            });
            return;
        }
        let len = front.len();
        for (name, status, seen) in results {
            front.truncate(len);
            front.push_str(name);
            self.merge(TestResult {
                name,
                qualified: &front,
                module,
                status,
                seen,
            });
        }
    }

    /// Adds a result with its number of reports, as [`add`](Self::add) does with one.
    pub fn merge(&mut self, result: TestResult<'_>) {
        let (at, new) = self.enter(result.module, result.qualified, result.name, result.status);
        let entry = self.store.entries.at_mut(at);
        let before = if new { 0 } else { entry.seen() };
        let seen = before.saturating_add(result.seen);
        entry.set(entry.status().worst(result.status), seen);
    }
}

/// Walks over the results of a log.
#[derive(Clone)]
pub struct Iter<'a> {
    store: &'a Store,
    places: Range<usize>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = TestResult<'a>;

    fn next(&mut self) -> Option<TestResult<'a>> {
        let place = self.places.next()?;
        Some(self.store.view(self.store.entries.at(place)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
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

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
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
    fn every_status_is_kept() {
        let mut results = TestResults::default();
        for status in TestStatus::ALL {
            let name = status.to_string();
            results.add("m", &name, &name, status);
            assert_eq!(results.get(&name).unwrap().status, status);
            for other in TestStatus::ALL {
                results.set(results.len() - 1, other, 7);
                let result = results.get(&name).unwrap();
                assert_eq!((result.status, result.seen), (other, 7));
            }
        }
    }

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

    /// What is found must not depend on how results came in, group by group or mixed.
    #[test]
    fn ids_are_found_whatever_their_order() {
        let mut ids: Vec<String> = Vec::new();
        for group in 0..40 {
            let tests = if group == 7 { 300 } else { group % 9 };
            ids.extend((0..tests).map(|test| format!("m{group}::t{test}")));
            ids.push(format!("m{group}"));
        }
        ids.extend(["m3::late", "m7::late", "a:::b", "a::", "::a", "m3::t1::x"].map(str::to_owned));
        let mut turned = ids.clone();
        turned.reverse();
        let mut mixed: Vec<String> = (0..ids.len())
            .map(|at| ids[at * 7 % ids.len()].clone())
            .collect();
        mixed.dedup();
        for ids in [ids, turned, mixed] {
            let mut results = TestResults::default();
            let mut known = std::collections::HashMap::new();
            for (nth, id) in ids.iter().chain(ids.iter().step_by(3)).enumerate() {
                let module = id.split("::").next().unwrap();
                let (at, new) = results.enter(module, id, id, TestStatus::Passed);
                let next = known.len();
                assert_eq!(*known.entry(id.clone()).or_insert(next), at, "{id}");
                assert_eq!(new, at == next, "{id}");
                if nth % 50 == 0 {
                    assert_eq!(results.find(id), Some(at));
                    assert_eq!(results.find("m1::none"), None);
                }
            }
            assert!(known.iter().all(|(id, at)| results.find(id) == Some(*at)));
        }
    }

    /// Module, separator, and what its tests ended with.
    type Section = (
        &'static str,
        &'static str,
        &'static [(&'static str, TestStatus, u32)],
    );

    #[test]
    fn modules_added_whole_are_as_results_added_one_by_one() {
        const PASS: TestStatus = TestStatus::Passed;
        const FAIL: TestStatus = TestStatus::Failed;
        let sections: [Section; 8] = [
            (
                "a",
                "::",
                &[("x", PASS, 1), ("b::x", PASS, 2), (":y", PASS, 1)],
            ),
            ("b", "::", &[("x", PASS, 1)]),
            ("a:", "::", &[("y", FAIL, 1)]),
            ("a::b", "::", &[("x", FAIL, 3), ("z", PASS, 1)]),
            ("a", "::", &[("x", FAIL, 1), ("new", PASS, 1)]),
            ("", "::", &[("b::x", FAIL, 1), ("bare", PASS, 1)]),
            ("b", " > ", &[("x", PASS, 1)]),
            ("c", "::", &[("x", PASS, 1)]),
        ];
        for first in 0..sections.len() {
            let (mut whole, mut single) = (TestResults::default(), TestResults::default());
            for (module, between, tests) in sections.iter().cycle().skip(first).take(8) {
                whole.add_all(module, between, tests.iter().copied());
                for (name, status, seen) in *tests {
                    let id = if module.is_empty() {
                        (*name).to_owned()
                    } else {
                        format!("{module}{between}{name}")
                    };
                    for _ in 0..*seen {
                        single.add(module, &id, name, *status);
                    }
                }
                assert_eq!(whole, single);
            }
            for (at, result) in single.iter().enumerate() {
                assert_eq!(whole.find(result.qualified), Some(at));
            }
        }
    }
}
