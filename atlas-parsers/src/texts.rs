//! Texts that are kept until a run ends.

/// Texts, one after the other; none is moved when there are more of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pieces: Vec<String>,
}

/// Where a text stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    piece: u32,
    start: u32,
    len: u32,
}

impl Texts {
    /// The size of a piece, once there are several. A longer text gets one of its own.
    const PIECE: usize = 128 << 10;

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a line that is read has at most 4 MiB, and so has a piece"
    )]
    pub(crate) fn push(&mut self, text: &str) -> Place {
        let room = self.pieces.last().map_or(0, |p| p.capacity() - p.len());
        if room < text.len() || self.pieces.is_empty() {
            self.grow(text.len());
        }
        let last = self.pieces.len() - 1;
        let piece = &mut self.pieces[last];
        let start = piece.len();
        piece.push_str(text);
        Place {
            piece: last as u32,
            start: start as u32,
            len: text.len() as u32,
        }
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        let size = (4 << 10 << self.pieces.len().min(5)).min(Self::PIECE);
        self.pieces.push(String::with_capacity(size.max(len)));
    }

    pub(crate) fn text(&self, place: Place) -> &str {
        let start = place.start as usize;
        &self.pieces[place.piece as usize][start..start + place.len as usize]
    }
}
