//! JSON documents, laid out as `serde_json` lays them out.
//!
//! The reports of a thousand instances are tens of megabytes, and to spell them took longer than to reach the
//! verdicts that they tell: so it is done by a library that looks at many bytes at once, and what stands before
//! a value on its line is one write instead of one for each step in.

use atlas_core::{Error, ErrorKind};
use serde::Serialize;
use sonic_rs::format::Formatter;
use sonic_rs::writer::BufferedWriter;
use std::io::{self, BufWriter, Write};

/// Bytes that are written at once.
const PIECE: usize = 256 << 10;

/// Writes a document and a line end, piece by piece: it may be longer than memory should hold. The inner
/// result is that of writing.
pub(super) fn write<T: Serialize>(to: impl Write, value: &T) -> Result<io::Result<()>, Error> {
    let mut out = BufferedWriter::new(BufWriter::with_capacity(PIECE, to));
    let mut serializer = sonic_rs::Serializer::with_formatter(&mut out, Indented::default());
    match value.serialize(&mut serializer) {
        Ok(()) => Ok(out.write_all(b"\n").and_then(|()| out.flush())),
        Err(why) if why.is_io() => Ok(Err(why.into())),
        Err(why) => Err(Error::new(ErrorKind::Internal, "encode the result", "").with_source(why)),
    }
}

/// What stands between two values and in front of the second, with as many blanks as are written at once.
const BETWEEN: &[u8; 66] = b",\n                                                                ";

/// Two blanks for each step in, each value on a line.
#[derive(Clone, Debug, Default)]
struct Indented {
    depth: usize,
    /// Whether there is a value in the innermost list or object.
    has_value: bool,
}

impl Indented {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            self.line(writer, true)?;
        }
        writer.write_all(bracket)
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W, is_first: bool) -> io::Result<()> {
        let mut left = 2 * self.depth;
        let (comma, blanks) = (usize::from(is_first), left.min(BETWEEN.len() - 2));
        writer.write_all(&BETWEEN[comma..2 + blanks])?;
        left -= blanks;
        while left > 0 {
            let blanks = left.min(BETWEEN.len() - 2);
            writer.write_all(&BETWEEN[2..2 + blanks])?;
            left -= blanks;
        }
        Ok(())
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.line(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.line(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BETWEEN, PIECE, write};
    use atlas_core::TestIds;
    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use std::io::{Error, ErrorKind, Write};

    fn printed<T: Serialize>(value: &T) -> String {
        let mut out = Vec::new();
        write(&mut out, value).unwrap().unwrap();
        String::from_utf8(out).unwrap()
    }

    /// What is printed is what the reader of everybody's JSON prints, byte for byte.
    #[track_caller]
    fn check<T: Serialize>(value: &T) {
        let known = serde_json::to_string_pretty(value).unwrap() + "\n";
        assert_eq!(printed(value), known);
    }

    #[test]
    fn documents_are_laid_out_as_usual() {
        #[derive(Serialize)]
        enum Kind {
            Unit,
            Of(u8),
            With { a: Option<u8> },
        }
        #[derive(Serialize)]
        struct All<'a> {
            #[serde(flatten)]
            more: BTreeMap<&'a str, Value>,
            kinds: [Kind; 3],
            by_number: BTreeMap<i64, f32>,
            by_flag: BTreeMap<bool, char>,
            pair: (u64, i128),
            ids: TestIds,
            nothing: (),
            empty: [(); 0],
        }
        check(&All {
            more: BTreeMap::from([(
                "x",
                json!({"z": [], "a": {}, "b": [null, [[]], {"c": [1]}]}),
            )]),
            kinds: [Kind::Unit, Kind::Of(3), Kind::With { a: None }],
            by_number: BTreeMap::from([(-1, 0.1), (7, 1e9)]),
            by_flag: BTreeMap::from([(true, '\u{7f}'), (false, '\u{2028}')]),
            pair: (u64::MAX, i128::MIN),
            ids: TestIds::from(["a", "", "\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}", "ü\u{1f600}"]),
            nothing: (),
            empty: [],
        });
        for number in [
            0.0,
            -0.0,
            1.0,
            0.1 + 0.2,
            1e15,
            1e16,
            1e17,
            123_456_789_012_345_680.0,
            1e21,
            1e-5,
            1e-7,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::NAN,
            f64::INFINITY,
        ] {
            check(&number);
        }
    }

    #[test]
    fn deep_documents_are_laid_out_as_usual() {
        let mut value = json!([{}, "a"]);
        for depth in 0..100 {
            value = if depth % 2 == 0 {
                json!({"a": value, "b": []})
            } else {
                json!([value, 1])
            };
        }
        assert!(2 * 100 > BETWEEN.len());
        check(&value);
    }

    proptest! {
        #[test]
        fn texts_and_numbers_are_spelled_as_usual(
            texts in prop::collection::vec(any::<String>(), 0..5),
            ascii in "[\\x00-\\x7f]{0,80}",
            number in any::<f64>(),
            small in any::<f32>(),
        ) {
            check(&(texts, ascii, number, small));
        }
    }

    /// Takes so many bytes and then no more.
    struct Full(usize, ErrorKind);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 {
                return Err(self.1.into());
            }
            Ok(taken)
        }

        fn flush(&mut self) -> Result<(), Error> {
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let long = vec!["x".repeat(1000); 3 * PIECE / 1000];
        for room in [0, 10, PIECE + 10] {
            for kind in [ErrorKind::StorageFull, ErrorKind::BrokenPipe] {
                let why = write(Full(room, kind), &long).unwrap().unwrap_err();
                assert_eq!(why.kind(), kind);
            }
        }
        // A map whose key is a list is no JSON.
        let odd = BTreeMap::from([(vec![1], 1)]);
        assert!(write(Vec::new(), &odd).is_err());
    }
}
