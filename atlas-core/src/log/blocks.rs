//! Text in blocks that never move, so that nothing is copied twice.

use std::ops::Range;

/// Texts, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<String>,
}

/// Where a text stands.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) block: u32,
    pub(super) span: Range<u32>,
}

/// The usual size of a block, once there are several. A longer text gets one of its own.
const BLOCK: usize = 256 << 10;

/// The most bytes of one text that are kept, far beyond any line that is read.
const LONGEST: usize = 16 << 20;

impl Blocks {
    /// The part of a text that is kept.
    #[inline]
    pub(super) fn cut(text: &str) -> &str {
        if text.len() <= LONGEST {
            return text;
        }
        let mut end = LONGEST;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        &text[..end]
    }

    /// A block with room for texts of this length in all, and its number.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a block has at least 4 KiB, so there are never so many"
    )]
    pub(super) fn room(&mut self, len: usize) -> (u32, &mut String) {
        let room = self.blocks.last().map_or(0, |b| b.capacity() - b.len());
        if room < len || self.blocks.is_empty() {
            self.grow(len);
        }
        let last = self.blocks.len() - 1;
        (last as u32, &mut self.blocks[last])
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        // The first ones are small: most logs are.
        let size = (4 << 10 << self.blocks.len().min(6)).min(BLOCK);
        self.blocks.push(String::with_capacity(size.max(len)));
    }

    /// Adds a text.
    #[inline]
    pub(super) fn push(&mut self, text: &str) -> Place {
        let (block, room) = self.room(text.len());
        let start = room.len();
        room.push_str(text);
        Place {
            block,
            span: span(start, text.len()),
        }
    }

    #[inline]
    pub(super) fn text(&self, place: &Place) -> &str {
        self.part(place.block, &place.span)
    }

    #[inline]
    pub(super) fn part(&self, block: u32, span: &Range<u32>) -> &str {
        &self.blocks[block as usize][span.start as usize..span.end as usize]
    }

    /// Whether this is the text at a place.
    #[inline]
    pub(super) fn is(&self, place: &Place, text: &str) -> bool {
        let span = place.span.start as usize..place.span.end as usize;
        span.len() == text.len() && self.bytes(place.block, span) == text.as_bytes()
    }

    #[inline]
    pub(super) fn bytes(&self, block: u32, span: Range<usize>) -> &[u8] {
        &self.blocks[block as usize].as_bytes()[span]
    }

    /// Forgets everything but one block's room.
    pub(super) fn clear(&mut self) {
        self.blocks.truncate(1);
        if let Some(first) = self.blocks.first_mut() {
            first.clear();
        }
    }
}

/// Offsets in a block.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a block holds at most three texts of 16 MiB"
)]
pub(super) fn span(start: usize, len: usize) -> Range<u32> {
    start as u32..(start + len) as u32
}
