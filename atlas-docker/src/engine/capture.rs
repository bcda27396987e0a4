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
    use super::{Head, Tail};

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
