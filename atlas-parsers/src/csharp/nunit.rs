//! What the console runners of NUnit 2 and 3 have in common: numbered lists of tests that did not
//! pass.

/// An entry of such a list: `12) Failed : Name.Space.Class.Method(1,"a")`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) number: u64,
    /// `Failed`, `SetUp Error`, `Ignored`.
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Entry<'a> {
    /// Reads an entry's first line.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        if !line.first()?.is_ascii_digit() {
            return None;
        }
        let line = std::str::from_utf8(line).ok()?;
        let (number, rest) = line.split_once(") ")?;
        let (kind, name) = rest.split_once(" : ")?;
        let name = name.trim_end();
        let worded = |text: &str| text.bytes().all(|b| b.is_ascii_alphabetic() || b == b' ');
        (worded(kind) && !name.is_empty()).then_some(())?;
        Some(Self {
            number: number.parse().ok()?,
            kind,
            name,
        })
    }
}

/// The numbers in `Test Count: 2, Passed: 1, Failed: 1`, by their labels.
pub(super) fn counts(line: &str) -> impl Iterator<Item = (&str, u64)> {
    line.split(',').filter_map(|part| {
        let (label, number) = part.rsplit_once(':')?;
        Some((label.trim(), number.trim().parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_a_number_a_kind_and_a_name() {
        let entry = Entry::read(b"12) SetUp Error : A.B(\"x : y\")").unwrap();
        assert_eq!(
            (entry.number, entry.kind, entry.name),
            (12, "SetUp Error", "A.B(\"x : y\")")
        );
        for other in ["1) Failed", "x) Failed : A", "1) a.b : A", "1) Failed :  "] {
            assert_eq!(Entry::read(other.as_bytes()), None, "{other}");
        }
    }
}
