//! What the lines with a mark look like, so that a runner is not asked about the others: of a log of ten
//! megabytes nearly every line is asked about by two runners instead of fifty.
//!
//! A test asks every runner about every line of every corpus and holds the answers to this table. A runner
//! without a line in it is asked about all.

use crate::registry::BUILTIN;
use std::sync::LazyLock;

/// A runner, and of lines with a mark of its own: the bytes that they begin with, where that is no blank; the
/// first byte behind the blanks that others begin with; the last byte. `a-z` is a range, `~` every byte above
/// ASCII, `*` any.
type Look = (&'static str, &'static str, &'static str, &'static str);

const LOOKS: &[Look] = &[
    ("junit", "<", "<", "*"),
    ("nunitxml", "<", "<", "*"),
    ("tap", "T1on", "", "*"),
    ("trx", "<", "<", "*"),
    ("pytest", "=", "", "="),
    ("pytest", "T", "", "*"),
    ("unittest", "R", "", "*"),
    ("unittest", "*", "*", "kLR"),
    ("django", "CDSTF", "", "*"),
    ("sympy", "=", "", "*"),
    ("sympy", "D", "=t", "*"),
    ("ava", "on", "~0-9-", "*"),
    ("cypress", "", "(R", "*"),
    ("jasmine", "FJES", "", "*"),
    ("jest", "TPF{", "", "*"),
    ("karma", "*", "", "*"),
    ("mocha", "[<{", "0-9\"", "*"),
    ("nodetest", "#~", "<", "*"),
    ("playwright", "R", "\"", "*"),
    ("playwright", "", "*", ")"),
    ("tape", "#", "o", "*"),
    ("vitest", "on<{", "TR", "*"),
    ("ant", "BT[", "[", "*"),
    ("gradle", ">B:E0-9", "", "*"),
    ("junitconsole", "[T~", "", "*"),
    ("maven", "[TR0-9", "T[", "*"),
    ("gotest", "={oF?", "", "*"),
    ("gotestsum", "D=", "", "*"),
    ("gotestsum", "PFS:", "", ")"),
    ("cargo", "e", "R", "*"),
    ("cargo", "tr", "", "*"),
    ("nextest", "e", "A-Z(", "*"),
    ("cucumber", "0-9cF[", "\"", "*"),
    ("minitest", "#SRF0-9", "", "*"),
    ("rspec", "F0-9r{}", "\"", "*"),
    ("testunit", "S0-9", "", "*"),
    ("phpunit", "PTO#", "A-Z", "*"),
    ("automake", "TmgA0-9#P", "", "*"),
    ("check", "R0-9<ont", "", "*"),
    ("cmocka", "[#t", "<", "*"),
    ("cmocka", "*", "*", "!"),
    ("ctest", "0-9ENT", "0-9TM", "*"),
    ("cunit", "R<-", "CT", "*"),
    ("meson", "FE0-9", "0-9", "*"),
    ("unity", "0-9", "", "*"),
    ("unity", "*", "*", "S"),
    ("boost", "*", "*", "*"),
    ("catch2", "At<#on:", "<", "*"),
    ("catch2", "*", "*", "."),
    ("cppunit", "!RO<", "", "*"),
    ("cppunit", "*", "*", "Knr"),
    ("doctest", "[<", "<", "*"),
    ("gtest", "[", "", "*"),
    ("handmade", "[", "", "*"),
    ("dotnet", "TASPF[", "TASPF[", "*"),
    ("nunit2", "NE", "N", "*"),
    ("nunit3", "N", "OD", "*"),
    ("xunit", "x=", "*", "*"),
    ("bats", "#no", "*", "*"),
    ("prove", "*", "*", "*"),
];

/// Which looks a line may have: one bit for each.
struct Tables {
    /// By the first byte, by the first byte behind blanks, by the last byte.
    first: [u128; 256],
    inner: [u128; 256],
    last: [u128; 256],
    /// Of each look, the runner's place in the table of runners.
    runners: Vec<usize>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables {
        first: [0; 256],
        inner: [0; 256],
        last: [0; 256],
        runners: Vec::new(),
    };
    for (number, runner) in BUILTIN.iter().enumerate() {
        let own: Vec<&Look> = LOOKS.iter().filter(|look| look.0 == runner.id()).collect();
        let any = [&(runner.id(), "*", "*", "*")];
        for (_, first, inner, last) in if own.is_empty() { &any } else { &own[..] } {
            let bit = 1_u128 << tables.runners.len();
            tables.runners.push(number);
            set(&mut tables.first, first, bit);
            set(&mut tables.inner, inner, bit);
            set(&mut tables.last, last, bit);
        }
    }
    tables
});

fn set(table: &mut [u128; 256], bytes: &str, bit: u128) {
    let bytes = bytes.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let range = match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
            (b'*', ..) => 0..=255,
            (b'~', ..) => 128..=255,
            (from, Some(b'-'), Some(to)) => {
                at += 2;
                *from..=*to
            }
            (byte, ..) => *byte..=*byte,
        };
        for byte in range {
            table[usize::from(byte)] |= bit;
        }
        at += 1;
    }
}

/// The runners that may have a mark in this line, by their places in the table of runners and in its order.
pub(crate) fn runners(line: &[u8]) -> impl Iterator<Item = usize> {
    let tables = &*TABLES;
    let looks = match line {
        [first, ..] => {
            let last = line.last().unwrap_or(first);
            let begins = if first.is_ascii_whitespace() {
                let inner = line.iter().find(|byte| !byte.is_ascii_whitespace());
                inner.map_or(0, |inner| tables.inner[usize::from(*inner)])
            } else {
                tables.first[usize::from(*first)]
            };
            begins & tables.last[usize::from(*last)]
        }
        [] => 0,
    };
    let mut before = None;
    Bits(looks)
        .filter_map(|bit| tables.runners.get(bit).copied())
        // One may have two looks.
        .filter(move |runner| before.replace(*runner) != Some(*runner))
}

/// The places of the bits that are set.
struct Bits(u128);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOKS, runners};
    use crate::registry::BUILTIN;
    use crate::text::clean;
    use std::path::Path;

    #[test]
    fn the_table_admits_each_line_with_a_mark() {
        let mut marks = 0;
        for log in logs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let mut before = Vec::new();
            for line in log.split(|byte| *byte == b'\n') {
                let line = clean(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
                if line.is_empty() {
                    continue;
                }
                let admitted: Vec<usize> = runners(&line).collect();
                assert!(admitted.is_sorted());
                for (number, runner) in BUILTIN.iter().enumerate() {
                    if let Some(mark) = runner.mark(&line, &before) {
                        let text = String::from_utf8_lossy(&line);
                        assert!(
                            admitted.contains(&number),
                            "{}: {mark:?}: {text}",
                            runner.id()
                        );
                        marks += 1;
                    }
                }
                before = line;
            }
        }
        assert!(marks > 5_000, "{marks}");
        let known = |id: &str| BUILTIN.iter().any(|runner| runner.id() == id);
        assert!(LOOKS.iter().all(|look| known(look.0)));
    }

    fn logs(folder: &Path) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(logs(&path));
            } else if path
                .parent()
                .is_some_and(|folder| folder.ends_with("corpus"))
            {
                found.push(std::fs::read(&path).unwrap());
            }
        }
        found
    }
}
