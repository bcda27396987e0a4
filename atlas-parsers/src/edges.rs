//! Words and numbers at the begin and at the end of a text.

/// A text of characters or of bytes.
pub(crate) trait Text {
    /// What follows this word at the begin.
    fn behind(&self, word: &Self) -> Option<&Self>;
    /// What stands in front of this word at the end.
    fn before(&self, word: &Self) -> Option<&Self>;
}

impl Text for str {
    #[inline]
    fn behind(&self, word: &Self) -> Option<&Self> {
        self.strip_prefix(word)
    }

    #[inline]
    fn before(&self, word: &Self) -> Option<&Self> {
        self.strip_suffix(word)
    }
}

impl Text for [u8] {
    #[inline]
    fn behind(&self, word: &Self) -> Option<&Self> {
        self.strip_prefix(word)
    }

    #[inline]
    fn before(&self, word: &Self) -> Option<&Self> {
        self.strip_suffix(word)
    }
}

/// What follows the first of these words that the text begins with.
#[inline]
pub(crate) fn behind_any<'a, T: Text + ?Sized>(text: &'a T, words: &[&T]) -> Option<&'a T> {
    words.iter().find_map(|word| text.behind(word))
}

/// What stands in front of the first of these words that the text ends with.
#[inline]
pub(crate) fn before_any<'a, T: Text + ?Sized>(text: &'a T, words: &[&T]) -> Option<&'a T> {
    words.iter().find_map(|word| text.before(word))
}

/// What follows the first word of a table that the text begins with, and what the word means.
#[inline]
pub(crate) fn begin_of<'a, T: Text + ?Sized, M: Copy>(
    text: &'a T,
    table: &[(&T, M)],
) -> Option<(&'a T, M)> {
    let mut words = table.iter();
    words.find_map(|(word, means)| Some((text.behind(word)?, *means)))
}

/// What stands in front of the first word of a table that the text ends with, and what the word
/// means.
#[inline]
pub(crate) fn end_of<'a, T: Text + ?Sized, M: Copy>(
    text: &'a T,
    table: &[(&T, M)],
) -> Option<(&'a T, M)> {
    let mut words = table.iter();
    words.find_map(|(word, means)| Some((text.before(word)?, *means)))
}

/// What stands in front of a note at the end, such as a time in brackets: between the last `open`
/// and `close` is what `is_note` knows.
#[inline]
pub(crate) fn without_note<'a>(
    text: &'a str,
    open: &str,
    close: &str,
    is_note: impl FnOnce(&str) -> bool,
) -> Option<&'a str> {
    let (head, note) = text.strip_suffix(close)?.rsplit_once(open)?;
    is_note(note).then_some(head)
}

/// Whether there are digits and nothing else.
#[inline]
pub(crate) fn is_number(text: impl AsRef<[u8]>) -> bool {
    let text = text.as_ref();
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether there are digits and points and nothing else.
#[inline]
pub(crate) fn is_decimal(text: impl AsRef<[u8]>) -> bool {
    let text = text.as_ref();
    !text.is_empty()
        && text
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.')
}
