//! Lists of test ids.

use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Test ids in their order.
///
/// A suite has thousands of ids and a dataset thousands of suites, so a list is one text with the
/// places of its ids. Copies of a list and parts of it share that text.
///
/// ```
/// use atlas_core::TestIds;
/// let ids = TestIds::from(["t::a", "t::b"]);
/// let (passing, rest) = ids.split(|id| Some(id == "t::b"));
/// assert_eq!(passing, ["t::b"]);
/// assert_eq!(rest, ["t::a"]);
/// ```
#[derive(Clone, Default)]
pub struct TestIds {
    /// The text; none of a list that is empty, of which there are many.
    all: Option<Arc<TestIdsBuilder>>,
    /// Which of the text's ids, where it is not all of them.
    chosen: Option<Arc<[usize]>>,
}

/// The most ids for which room is set aside where it is not known how many there are.
const MOST_AT_FIRST: usize = 4 << 10;

/// A [`TestIds`] in the making.
#[derive(Clone, Debug, Default)]
pub struct TestIdsBuilder {
    /// The ids, and between them whatever stood there where the list was read as a whole.
    text: String,
    /// Where each id stands.
    places: Vec<Range<usize>>,
}

/// A guess at the bytes of an id and what stands around it.
const BYTES_OF_AN_ID: usize = 64;

impl TestIdsBuilder {
    /// A list in the making with room for ids of so many bytes together.
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            places: Vec::with_capacity(bytes / BYTES_OF_AN_ID),
        }
    }

    /// A list in the making whose ids mostly stand in this text, which is kept as a whole:
    /// [`push_within`](Self::push_within).
    pub fn of_text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            places: Vec::with_capacity((text.len() / BYTES_OF_AN_ID).min(MOST_AT_FIRST)),
        }
    }

    /// Adds the id that stands at this place of what the list has of text.
    ///
    /// # Panics
    /// Where no text of that place can be: behind the end, or in the middle of a character.
    #[inline]
    pub fn push_within(&mut self, place: Range<usize>) {
        let is_whole = self.text.get(place.clone()).is_some();
        assert!(is_whole, "an id stands in the list's text");
        self.places.push(place);
    }

    /// Adds an id at the end.
    #[inline]
    pub fn push(&mut self, id: &str) {
        let from = self.text.len();
        self.text.push_str(id);
        self.places.push(from..self.text.len());
    }

    /// The list, in no more memory than it needs.
    pub fn finish(mut self) -> TestIds {
        self.text.shrink_to_fit();
        self.places.shrink_to_fit();
        self.finish_in_place()
    }

    /// The list with the room that was set aside for it, for one that is soon dropped.
    pub fn finish_in_place(self) -> TestIds {
        TestIds {
            all: (!self.places.is_empty()).then(|| Arc::new(self)),
            chosen: None,
        }
    }
}

impl TestIds {
    /// The list that a JSON text holds.
    ///
    /// # Errors
    /// A text that is no list of texts.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        // No id is longer than its spelling.
        let mut text = TestIdsBuilder::with_capacity(json.len());
        let mut reader = serde_json::Deserializer::from_str(json);
        reader.deserialize_seq(ListVisitor(&mut text))?;
        reader.end()?;
        Ok(text.finish())
    }

    /// The list that stands at the beginning of a text, and what follows it. Each id stands in quotes, with
    /// a backslash before each where the list is `ENCODED` in a text. Nothing where an id holds a backslash or
    /// a quote: that is for a reader of JSON.
    pub(crate) fn plain<const ENCODED: bool>(json: &str) -> Option<(Self, &str)> {
        let quote = if ENCODED { "\\\"" } else { "\"" };
        let bytes = json.as_bytes();
        let is_quote = |at: usize| {
            let is_marked = !ENCODED || bytes.get(at) == Some(&b'\\');
            is_marked && bytes.get(at + quote.len() - 1) == Some(&b'"')
        };
        if bytes.first() != Some(&b'[') {
            return None;
        }
        let mut at = blank_end(bytes, 1);
        if bytes.get(at) == Some(&b']') {
            return Some((Self::default(), &json[at + 1..]));
        }
        let first = at;
        let guess = (json.len() / BYTES_OF_AN_ID).min(MOST_AT_FIRST);
        let mut places: Vec<Range<usize>> = Vec::with_capacity(guess);
        loop {
            if !is_quote(at) {
                return None;
            }
            let from = at + quote.len();
            let end = plain_end(bytes, from);
            if !is_quote(end) {
                return None;
            }
            places.push(from - first..end - first);
            at = blank_end(bytes, end + quote.len());
            match bytes.get(at) {
                Some(b',') => at = blank_end(bytes, at + 1),
                Some(b']') => break,
                _ => return None,
            }
        }
        if has_control(&bytes[first..at]) {
            return None;
        }
        places.shrink_to_fit();
        let ids = TestIdsBuilder {
            text: json[first..at].to_owned(),
            places,
        };
        Some((ids.finish_in_place(), &json[at + 1..]))
    }

    /// How many ids there are.
    #[inline]
    pub fn len(&self) -> usize {
        match (&self.chosen, &self.all) {
            (Some(chosen), _) => chosen.len(),
            (None, Some(all)) => all.places.len(),
            (None, None) => 0,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids in their order.
    #[inline]
    pub fn iter(&self) -> TestIdsIter<'_> {
        let (text, places) = match self.all.as_deref() {
            Some(all) => (all.text.as_str(), all.places.as_slice()),
            None => ("", [].as_slice()),
        };
        TestIdsIter {
            text,
            left: match &self.chosen {
                Some(chosen) => Left::Chosen(chosen.iter(), places),
                None => Left::All(places.iter()),
            },
        }
    }

    /// An id by its place, from 0.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&str> {
        let all = self.all.as_deref()?;
        let place = match &self.chosen {
            Some(chosen) => *chosen.get(index)?,
            None => index,
        };
        all.places.get(place).map(|place| &all.text[place.clone()])
    }

    /// The first id.
    pub fn first(&self) -> Option<&str> {
        self.get(0)
    }

    /// Whether an id is in the list. All are looked at: for many questions collect them into a set.
    pub fn contains(&self, id: &str) -> bool {
        self.iter().any(|known| known == id)
    }

    /// Each id as a text of its own.
    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(str::to_owned).collect()
    }

    /// Two parts of the list: the ids for which `is_first` says yes, and those for which it says no.
    /// Those of which it says nothing are in neither.
    #[must_use]
    pub fn split(&self, mut is_first: impl FnMut(&str) -> Option<bool>) -> (Self, Self) {
        let (mut first, mut second) = (Part::default(), Part::default());
        for (index, id) in self.iter().enumerate() {
            match is_first(id) {
                Some(true) => first.push(self, index),
                Some(false) => second.push(self, index),
                None => {}
            }
        }
        (first.of(self), second.of(self))
    }

    /// The ids that `keep` says yes to.
    #[must_use]
    pub fn filter(&self, mut keep: impl FnMut(&str) -> bool) -> Self {
        self.split(|id| keep(id).then_some(true)).0
    }

    /// The place in the whole text of an id of this list.
    #[inline]
    fn place(&self, index: usize) -> usize {
        self.chosen.as_ref().map_or(index, |chosen| chosen[index])
    }
}

/// The first byte at or behind `at` that is no blank.
fn blank_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// The first quote or backslash at or behind `at`.
#[inline]
fn plain_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())
}

/// Whether there is a character in it that JSON takes in no text as it is.
fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < b' '
}

/// Some ids of a list in the making. Most lists pass as a whole, so places are only noted once an id of
/// the beginning is left out.
#[derive(Debug, Default)]
struct Part {
    /// How many ids of the list's beginning there are.
    leading: usize,
    /// The places of all, once there is one behind a gap.
    places: Vec<usize>,
}

impl Part {
    #[inline]
    fn push(&mut self, ids: &TestIds, index: usize) {
        if self.places.is_empty() {
            if self.leading == index {
                self.leading += 1;
                return;
            }
            self.places.reserve(self.leading + 1);
            self.places
                .extend((0..self.leading).map(|place| ids.place(place)));
        }
        self.places.push(ids.place(index));
    }

    fn of(self, ids: &TestIds) -> TestIds {
        let chosen: Arc<[usize]> = if !self.places.is_empty() {
            self.places.into()
        } else if self.leading == ids.len() {
            return ids.clone();
        } else if self.leading == 0 {
            return TestIds::default();
        } else {
            (0..self.leading).map(|place| ids.place(place)).collect()
        };
        TestIds {
            all: ids.all.clone(),
            chosen: Some(chosen),
        }
    }
}

/// The ids of a [`TestIds`].
#[derive(Clone, Debug)]
pub struct TestIdsIter<'a> {
    text: &'a str,
    left: Left<'a>,
}

/// The places of ids that are still to come.
#[derive(Clone, Debug)]
enum Left<'a> {
    All(std::slice::Iter<'a, Range<usize>>),
    /// Which of these places.
    Chosen(std::slice::Iter<'a, usize>, &'a [Range<usize>]),
}

impl<'a> Iterator for TestIdsIter<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let place = match &mut self.left {
            Left::All(places) => places.next()?,
            Left::Chosen(chosen, places) => &places[*chosen.next()?],
        };
        Some(&self.text[place.clone()])
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.left {
            Left::All(places) => places.size_hint(),
            Left::Chosen(chosen, _) => chosen.size_hint(),
        }
    }
}

impl DoubleEndedIterator for TestIdsIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let place = match &mut self.left {
            Left::All(places) => places.next_back()?,
            Left::Chosen(chosen, places) => &places[*chosen.next_back()?],
        };
        Some(&self.text[place.clone()])
    }
}

impl ExactSizeIterator for TestIdsIter<'_> {}

impl<'a> IntoIterator for &'a TestIds {
    type Item = &'a str;
    type IntoIter = TestIdsIter<'a>;

    fn into_iter(self) -> TestIdsIter<'a> {
        self.iter()
    }
}

impl IntoIterator for TestIds {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    /// Each id as a text of its own.
    fn into_iter(self) -> Self::IntoIter {
        self.to_vec().into_iter()
    }
}

impl std::ops::Index<usize> for TestIds {
    type Output = str;

    /// # Panics
    /// Where there are not so many ids.
    #[inline]
    fn index(&self, index: usize) -> &str {
        self.get(index).expect("the list has so many ids")
    }
}

impl<S: AsRef<str>> FromIterator<S> for TestIds {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        let mut text = TestIdsBuilder::default();
        for id in ids {
            text.push(id.as_ref());
        }
        text.finish()
    }
}

impl From<&Self> for TestIds {
    fn from(ids: &Self) -> Self {
        ids.clone()
    }
}

impl<S: AsRef<str>> From<&[S]> for TestIds {
    fn from(ids: &[S]) -> Self {
        ids.iter().collect()
    }
}

impl<S: AsRef<str>> From<&Vec<S>> for TestIds {
    fn from(ids: &Vec<S>) -> Self {
        ids.iter().collect()
    }
}

impl<S: AsRef<str>> From<Vec<S>> for TestIds {
    fn from(ids: Vec<S>) -> Self {
        ids.iter().collect()
    }
}

impl<S: AsRef<str>, const N: usize> From<[S; N]> for TestIds {
    fn from(ids: [S; N]) -> Self {
        ids.iter().collect()
    }
}

impl<S: AsRef<str>, const N: usize> From<&[S; N]> for TestIds {
    fn from(ids: &[S; N]) -> Self {
        ids.iter().collect()
    }
}

impl PartialEq for TestIds {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl Eq for TestIds {}

impl<S: AsRef<str>> PartialEq<[S]> for TestIds {
    fn eq(&self, other: &[S]) -> bool {
        self.iter().eq(other.iter().map(AsRef::as_ref))
    }
}

impl<S: AsRef<str>> PartialEq<Vec<S>> for TestIds {
    fn eq(&self, other: &Vec<S>) -> bool {
        *self == **other
    }
}

impl<S: AsRef<str>, const N: usize> PartialEq<[S; N]> for TestIds {
    fn eq(&self, other: &[S; N]) -> bool {
        *self == other[..]
    }
}

impl fmt::Debug for TestIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Serialize for TestIds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for TestIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = TestIdsBuilder::default();
        deserializer.deserialize_seq(ListVisitor(&mut text))?;
        Ok(text.finish())
    }
}

struct ListVisitor<'a>(&'a mut TestIdsBuilder);

impl<'de> Visitor<'de> for ListVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of test ids")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Pushed(self.0))?.is_some() {}
        Ok(())
    }
}

/// Reads one id to the end of a text, without a text of its own.
struct Pushed<'a>(&'a mut TestIdsBuilder);

impl<'de> DeserializeSeed<'de> for Pushed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Pushed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<(), E> {
        self.0.push(id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{TestIds, TestIdsBuilder};

    #[test]
    fn parts_keep_the_order_and_share_nothing_that_shows() {
        let ids = TestIds::from(["a", "", "b", "ä", "b"]);
        assert_eq!(ids.len(), 5);
        let (first, second) = ids.split(|id| match id {
            "" => None,
            id => Some(id == "b"),
        });
        assert_eq!(first, ["b", "b"]);
        assert_eq!(second, ["a", "ä"]);
        assert_eq!(second.filter(|id| id != "a"), ["ä"]);
        assert_eq!(
            first.split(|_| Some(true)),
            (first.clone(), TestIds::default())
        );
        assert_eq!(ids.get(4), Some("b"));
        assert_eq!(ids.get(5), None);
        assert_eq!(second.get(2), None);
        assert_eq!(&ids[3], "ä");
        assert_eq!(ids.iter().next_back(), Some("b"));
        assert!(ids.contains("ä") && !first.contains("a"));
        assert_ne!(first, TestIds::from(["b"]));
    }

    #[test]
    fn a_part_is_noted_by_its_places_from_the_first_gap() {
        let ids: TestIds = (0..6).map(|number| number.to_string()).collect();
        for bits in 0..64_u32 {
            let chosen = |id: &str| bits >> id.parse::<u32>().unwrap() & 1 == 1;
            let (first, second) = ids.split(|id| Some(chosen(id)));
            let expected = |wanted| -> Vec<String> {
                let all = ids.iter().filter(|id| chosen(id) == wanted);
                all.map(str::to_owned).collect()
            };
            assert_eq!(first, expected(true));
            assert_eq!(second, expected(false));
            let (even, odd) = first.split(|id| Some(id.parse::<u32>().unwrap() % 2 == 0));
            assert_eq!(even.len() + odd.len(), first.len());
            assert!(even.iter().all(|id| ["0", "2", "4"].contains(&id)));
        }
    }

    #[test]
    fn what_json_spells_in_its_own_way_is_found_at_every_place() {
        for length in 0..40_usize {
            for at in 0..length {
                for (char, is_special) in [
                    ('"', true),
                    ('\\', true),
                    ('\0', true),
                    ('\u{1f}', true),
                    (' ', false),
                    ('!', false),
                    ('#', false),
                    ('[', false),
                    (']', false),
                    ('\u{7f}', false),
                    ('ü', false),
                    ('\u{1f600}', false),
                ] {
                    let mut chars = vec!['x'; length];
                    chars[at] = char;
                    let id: String = chars.into_iter().collect();
                    let plain = TestIds::plain::<false>(&format!(r#"["a", "{id}","b"]rest"#))
                        .map(|(ids, rest)| (ids, rest.to_owned()));
                    let text = format!(r#"["a", "{id}","b"]rest"#).replace('"', r#"\""#);
                    let encoded =
                        TestIds::plain::<true>(&text).map(|(ids, rest)| (ids, rest.to_owned()));
                    let ids = TestIds::from(["a", &id, "b"]);
                    let wanted = (!is_special).then(|| (ids, "rest".to_owned()));
                    assert_eq!(plain, wanted, "{char:?} at {at} of {length}");
                    assert_eq!(encoded, wanted, "{char:?} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn ids_stand_in_a_text_or_behind_it() {
        let mut made = TestIdsBuilder::of_text("PASSED t::ä");
        made.push_within(7..12);
        made.push("t::b");
        made.push_within(0..6);
        assert_eq!(made.finish(), ["t::ä", "t::b", "PASSED"]);
    }

    #[test]
    #[should_panic(expected = "an id stands in the list's text")]
    fn an_id_ends_where_a_character_does() {
        TestIdsBuilder::of_text("tä").push_within(0..2);
    }

    #[test]
    fn it_is_a_list_of_texts_in_json() {
        let text = r#"["a\n\"b","","ü"]"#;
        let ids: TestIds = serde_json::from_str(text).unwrap();
        assert_eq!(ids, ["a\n\"b", "", "ü"]);
        assert_eq!(serde_json::to_string(&ids).unwrap(), text);
        let part = ids.filter(str::is_empty);
        assert_eq!(serde_json::to_string(&part).unwrap(), r#"[""]"#);
        for wrong in ["[1]", "[null]", "{}", r#""a""#, r#"["a""#] {
            assert!(serde_json::from_str::<TestIds>(wrong).is_err(), "{wrong}");
        }
        let known = serde_json::from_str::<Vec<String>>("[1]").unwrap_err();
        let ours = serde_json::from_str::<TestIds>("[1]").unwrap_err();
        assert_eq!(ours.to_string(), known.to_string());
    }
}
