//! What compilers and linkers say of a test program that cannot be built.

use atlas_core::{Evidence, LostReason, ParsedLogBuilder};
use memchr::memmem;

/// Collects complaints of GCC, Clang, MSVC and their linkers, by source file.
///
/// Only lines outside of test runs are to be fed: a test of a compiler prints such lines too.
#[derive(Clone, Debug, Default)]
pub(super) struct Build {
    complaints: Vec<(String, Vec<Evidence>)>,
    lines: usize,
}

impl Build {
    /// The most lines and files that are kept.
    const MAX_LINES: usize = 400;
    const MAX_FILES: usize = 64;

    pub(super) fn line(&mut self, line: &[u8], number: u64) {
        let short = line.len() <= 4096 && memchr::memchr(b':', line).is_some();
        if !short || self.lines >= Self::MAX_LINES {
            return;
        }
        let Some(file) = complaint(line) else {
            return;
        };
        let file = String::from_utf8_lossy(file).into_owned();
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let proof = Evidence::at("log", number, String::from_utf8_lossy(line).into_owned());
        self.lines += 1;
        if let Some((_, lines)) = self.complaints.iter_mut().find(|known| known.0 == file) {
            lines.push(proof);
        } else if self.complaints.len() < Self::MAX_FILES {
            self.complaints.push((file, vec![proof]));
        }
    }

    /// Tells the log what was not built. Returns whether there was anything.
    pub(super) fn report(self, log: &mut ParsedLogBuilder) -> bool {
        let failed = !self.complaints.is_empty();
        for (file, proof) in self.complaints {
            log.lose(&file, LostReason::BuildFailed, proof);
        }
        failed
    }
}

/// The file that a line says does not compile or link.
fn complaint(line: &[u8]) -> Option<&[u8]> {
    if let Some(at) = memmem::find(line, b"error") {
        let fatal = line[..at].strip_suffix(b"fatal ");
        let before = fatal.unwrap_or(&line[..at]);
        let after = &line[at + b"error".len()..];
        if after.starts_with(b": ") {
            // `a.cpp:3:7: error: `, `a.cpp:3: error: `
            let place = before.strip_suffix(b": ")?;
            let (rest, number) = split_number(place)?;
            let file = split_number(rest).map_or(rest, |(file, _)| file);
            return (number > 0 && is_path(file)).then_some(file);
        }
        // `a.cpp(3): error C2065: `, `a.cpp(3,7): error C2065: `
        let code = after.strip_prefix(b" C")?;
        code.first().filter(|byte| byte.is_ascii_digit())?;
        let place = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
        let open = memchr::memrchr(b'(', place.strip_suffix(b")")?)?;
        return is_path(&place[..open]).then_some(&place[..open]);
    }
    if let Some(at) = memmem::find(line, b": undefined reference to ") {
        // `a.cpp:(.text+0x12): `, `a.o:a.cpp:12: `, `/usr/bin/ld: a.o: in function`
        let before = line[..at]
            .strip_prefix(b"/usr/bin/ld: ")
            .unwrap_or(&line[..at]);
        let file = memchr::memchr(b':', before).map_or(before, |end| &before[..end]);
        return is_path(file).then_some(file);
    }
    None
}

/// Cuts `:12` from the end.
fn split_number(text: &[u8]) -> Option<(&[u8], u64)> {
    let colon = memchr::memrchr(b':', text)?;
    let number = std::str::from_utf8(&text[colon + 1..]).ok()?.parse().ok()?;
    Some((&text[..colon], number))
}

/// Whether this can be the name of a source or object file.
fn is_path(text: &[u8]) -> bool {
    !text.is_empty()
        && text.len() <= 512
        && memchr::memchr(b'.', text).is_some()
        && !text.contains(&b'"')
}
