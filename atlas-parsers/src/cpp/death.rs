//! How the shell, the C library and sanitizers tell that a process died.

use atlas_core::Evidence;
use memchr::memmem;

/// Whether a line tells that a process died.
pub(super) fn is_death(line: &[u8]) -> bool {
    const SIGNS: &[&[u8]] = &[
        b"Segmentation fault",
        b"core dumped",
        b"terminate called",
        b"libc++abi: terminating",
        b"ERROR: AddressSanitizer",
        b"ERROR: LeakSanitizer",
        b"WARNING: ThreadSanitizer",
        b"MemorySanitizer: ",
        b"UndefinedBehaviorSanitizer:",
        b"*** stack smashing detected ***",
        b"SIGSEGV",
        b"SIGABRT",
    ];
    const WORDS: &[&[u8]] = &[
        b"Aborted",
        b"Killed",
        b"Terminated",
        b"Bus error",
        b"Illegal instruction",
        b"Floating point exception",
        b"Trace/breakpoint trap",
    ];
    if line.len() > 4096 {
        return false;
    }
    if SIGNS.iter().any(|sign| memmem::find(line, sign).is_some()) {
        return true;
    }
    // `Aborted`, `Aborted (core dumped)`, `run.sh: line 3: 412 Killed   ./tests`: the shell's word
    // stands at the start or behind a process number.
    WORDS.iter().any(|word| {
        memmem::find_iter(line, word).any(|at| {
            let before = line[..at].trim_ascii_end();
            let shell = before.last().is_none_or(u8::is_ascii_digit);
            let after = line.get(at + word.len());
            shell && after.is_none_or(u8::is_ascii_whitespace)
        })
    })
}

/// The last lines of a process's output, kept for the case that it dies.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    lines: [(u64, Vec<u8>); Tail::KEPT],
    next: usize,
}

impl Tail {
    const KEPT: usize = 8;
    const WIDTH: usize = 400;

    pub(super) fn clear(&mut self) {
        for (number, _) in &mut self.lines {
            *number = 0;
        }
    }

    pub(super) fn push(&mut self, number: u64, line: &[u8]) {
        let (at, text) = &mut self.lines[self.next % Self::KEPT];
        *at = number;
        text.clear();
        text.extend_from_slice(&line[..line.len().min(Self::WIDTH)]);
        self.next = (self.next + 1) % Self::KEPT;
    }

    /// The lines that tell of a death, in the order of the log.
    pub(super) fn deaths(&self) -> Vec<Evidence> {
        (0..Self::KEPT)
            .map(|step| &self.lines[(self.next + step) % Self::KEPT])
            .filter(|(number, text)| *number > 0 && is_death(text))
            .map(|(number, text)| {
                let number = usize::try_from(*number).unwrap_or(usize::MAX);
                Evidence::at("log", number, String::from_utf8_lossy(text).into_owned())
            })
            .collect()
    }
}
