//! Keeping a bounded part of what a process prints.

use std::collections::VecDeque;

/// Keeps the first bytes up to a cap and counts the rest: the output of a job.
#[derive(Debug)]
pub(super) struct Head {
    kept: Vec<u8>,
    cap: usize,
    total: u64,
}

impl Head {
    pub(super) fn new(cap: u64) -> Self {
        Self {
            kept: Vec::new(),
            cap: usize::try_from(cap).unwrap_or(usize::MAX),
            total: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.cap - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn into_parts(self) -> (Vec<u8>, u64) {
        (self.kept, self.total)
    }
}

/// Passes on what comes before a mark, and notices the mark.
#[derive(Debug)]
pub(super) struct UpTo {
    mark: Vec<u8>,
    /// The last bytes, which may be the beginning of the mark.
    held: Vec<u8>,
    found: bool,
    /// What followed the mark, up to a limit.
    after: Vec<u8>,
}

impl UpTo {
    pub(super) fn new(mark: Vec<u8>) -> Self {
        Self {
            mark,
            held: Vec::new(),
            found: false,
            after: Vec::new(),
        }
    }

    /// Whether the mark has come.
    pub(super) fn found(&self) -> bool {
        self.found
    }

    /// The first bytes that followed the mark.
    pub(super) fn after(&self) -> &[u8] {
        &self.after
    }

    fn keep_after(&mut self, bytes: &[u8]) {
        let room = super::usage::LINE_BYTES.saturating_sub(self.after.len());
        self.after
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn push(&mut self, bytes: &[u8], to: &mut Head) {
        if self.found {
            self.keep_after(bytes);
            return;
        }
        self.held.extend_from_slice(bytes);
        let end = if let Some(at) = memchr::memmem::find(&self.held, &self.mark) {
            self.found = true;
            at
        } else {
            let last = self.held.len().saturating_sub(self.mark.len());
            let begins = |at: &usize| self.mark.starts_with(&self.held[*at..]);
            (last..self.held.len())
                .find(begins)
                .unwrap_or(self.held.len())
        };
        to.push(&self.held[..end]);
        self.held.drain(..end);
        if self.found {
            let held = std::mem::take(&mut self.held);
            self.keep_after(&held[self.mark.len()..]);
        }
    }

    /// What was held back is no mark: nothing more comes.
    pub(super) fn finish(&mut self, to: &mut Head) {
        if !self.found {
            to.push(&self.held);
        }
        self.held.clear();
    }
}

/// Keeps an eighth of its cap from the start and the rest from the end: logs, whose last lines
/// explain a failure and whose first lines say what was being done.
#[derive(Debug)]
pub(super) struct Tail {
    head: Vec<u8>,
    head_cap: usize,
    end: VecDeque<u8>,
    end_cap: usize,
    dropped: u64,
}

impl Tail {
    pub(super) fn new(cap: usize) -> Self {
        let head_cap = cap / 8;
        Self {
            head: Vec::new(),
            head_cap,
            end: VecDeque::new(),
            end_cap: cap - head_cap,
            dropped: 0,
        }
    }

    /// Keeps nothing but the end.
    pub(super) fn end_only(cap: usize) -> Self {
        Self {
            head_cap: 0,
            end_cap: cap,
            ..Self::new(0)
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = (self.head_cap - self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.end.extend(&bytes[room..]);
        if self.end.len() > self.end_cap {
            let over = self.end.len() - self.end_cap;
            self.end.drain(..over);
            self.dropped += over as u64;
        }
    }

    pub(super) fn clear(&mut self) {
        self.head.clear();
        self.end.clear();
        self.dropped = 0;
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.dropped > 0 {
            let note = format!("\n[… {} bytes left out …]\n", self.dropped);
            bytes.extend_from_slice(note.as_bytes());
        }
        bytes.extend(&self.end);
        bytes
    }

    pub(super) fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, Tail, UpTo};

    #[test]
    fn a_mark_is_found_wherever_it_is_cut() {
        let text = b"aEENDbEN-ENDtail";
        for size in 1..=text.len() {
            let (mut up_to, mut head) = (UpTo::new(b"-END".to_vec()), Head::new(100));
            for piece in text.chunks(size) {
                up_to.push(piece, &mut head);
            }
            up_to.finish(&mut head);
            assert!(up_to.found());
            assert_eq!(up_to.after(), b"tail", "{size}");
            assert_eq!(head.into_parts(), (b"aEENDbEN".to_vec(), 8), "{size}");
        }
        let (mut up_to, mut head) = (UpTo::new(b"-END".to_vec()), Head::new(100));
        up_to.push(b"all-EN", &mut head);
        up_to.finish(&mut head);
        assert!(!up_to.found());
        assert_eq!(head.into_parts().0, b"all-EN");
    }

    #[test]
    fn head_keeps_the_start_and_counts_everything() {
        let mut head = Head::new(3);
        head.push(b"ab");
        head.push(b"cdef");
        assert_eq!(head.into_parts(), (b"abc".to_vec(), 6));
    }

    #[test]
    fn tail_keeps_both_ends_and_says_what_is_missing() {
        let mut tail = Tail::new(16);
        tail.push(b"0123456789");
        assert_eq!(tail.to_text(), "0123456789");
        tail.push(b"abcdefghijklmn");
        assert_eq!(tail.to_text(), "01\n[… 8 bytes left out …]\nabcdefghijklmn");
        tail.clear();
        assert_eq!(tail.to_text(), "");
    }
}
