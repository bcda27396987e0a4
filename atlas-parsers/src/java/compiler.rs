//! What `javac`, `kotlinc`, `groovyc` and `scalac` print of a file that they cannot compile, where no
//! build tool stands around them.

use crate::edges::is_number;
use atlas_core::{Evidence, LostReason, ParsedLogBuilder};
use memchr::memmem;

/// Collects the complaints of a compiler by source file.
///
/// Tests of a compiler print such lines too, so they say something only of a log in which no
/// test ran.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiler {
    complaints: Vec<(String, Vec<Evidence>)>,
    lines: usize,
    /// Whether the last complaint goes on: the code, a caret, the symbol that is missing.
    open: bool,
}

impl Compiler {
    const MAX_LINES: usize = 400;
    const MAX_FILES: usize = 64;

    /// Takes one clean line.
    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        if self.lines >= Self::MAX_LINES || line.len() > 4096 {
            return;
        }
        let Some(file) = complaint(line) else {
            // `  symbol:   method builder()` tells what is missing, the code above it repeats.
            let detail = line.trim_ascii_start();
            if !self.open || detail.len() == line.len() {
                self.open = false;
            } else if (detail.starts_with(b"symbol:") || detail.starts_with(b"location:"))
                && let Some((_, lines)) = self.complaints.last_mut()
            {
                self.lines += 1;
                lines.push(proof(detail, number));
            }
            return;
        };
        self.open = true;
        self.lines += 1;
        let file = String::from_utf8_lossy(file).into_owned();
        let known = self.complaints.iter().position(|known| known.0 == file);
        match known {
            Some(at) => {
                // The last one is where details go.
                let (file, mut lines) = self.complaints.remove(at);
                lines.push(proof(line, number));
                self.complaints.push((file, lines));
            }
            None if self.complaints.len() < Self::MAX_FILES => {
                self.complaints.push((file, vec![proof(line, number)]));
            }
            None => self.open = false,
        }
    }

    /// Tells the log which files do not compile. Returns whether there are any.
    pub(super) fn report(self, log: &mut ParsedLogBuilder) -> bool {
        let any = !self.complaints.is_empty();
        for (file, lines) in self.complaints {
            log.lose(&file, LostReason::BuildFailed, lines);
        }
        any
    }
}

fn proof(line: &[u8], number: usize) -> Evidence {
    Evidence::at("log", number, String::from_utf8_lossy(line).into_owned())
}

/// The file of `a/B.java:3: error: why`, `a/b.kt:3:5: error: why`.
fn complaint(line: &[u8]) -> Option<&[u8]> {
    const SOURCES: &[&[u8]] = &[b".java", b".kt", b".kts", b".groovy", b".scala"];
    let at = memmem::find(line, b": error: ")?;
    let mut place = line.get(..at)?;
    let mut numbers = 0;
    while let Some(colon) = memchr::memrchr(b':', place) {
        let digits = place.get(colon + 1..)?;
        if !is_number(digits) {
            break;
        }
        numbers += 1;
        place = place.get(..colon)?;
    }
    let blank = place.first().is_none_or(u8::is_ascii_whitespace);
    let source = SOURCES.iter().any(|end| place.ends_with(end));
    (numbers > 0 && !blank && source).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_has_a_source_file_and_a_row() {
        let file = |line: &'static str| complaint(line.as_bytes());
        assert_eq!(
            file("a/B.java:3: error: ';' expected"),
            Some(&b"a/B.java"[..])
        );
        assert_eq!(file("b.kt:3:5: error: unresolved"), Some(&b"b.kt"[..]));
        for line in [
            "B.java: error: no row",
            "note.txt:3: error: x",
            "B.java:3: warning: x",
            "  B.java:3: error: x",
            "12: error: x",
        ] {
            assert_eq!(file(line), None, "{line}");
        }
    }
}
