//! Names of tests as the runner prints them.

use crate::edges::is_number;
use std::path::Path;

/// The arguments behind a data set's name are looked for in titles up to this length.
const MAX_ARGUMENTS: usize = 16 << 10;
/// How many places of a title are tried for the beginning of its arguments.
const MAX_PLACES: usize = 16;

const DATA_SET: &str = " with data set ";

/// A number without sign, or nothing.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + u64::from(byte - b'0'))
    })
}

/// `App\Tests\NastyTest`.
pub(super) fn is_class(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'\\' | b'/' | b'@') || b >= 0x80
        })
}

/// A test's id without the dump of its arguments; nothing where the title names no test.
///
/// `NS\ATest::testB with data set "x" (1, 'y')` and `…#0 (1)` lose the parentheses.
pub(super) fn id(title: &str) -> Option<&str> {
    if is_phpt(title) {
        return Some(title);
    }
    let (class, rest) = title.split_once("::")?;
    if !is_class(class) || rest.is_empty() {
        return None;
    }
    let Some(at) = rest.find(DATA_SET) else {
        return is_class(rest).then_some(title);
    };
    if !is_class(&rest[..at]) {
        return None;
    }
    let name = class.len() + 2 + at + DATA_SET.len();
    let data = &title[name..];
    if let Some(rest) = data.strip_prefix('#') {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        return (digits > 0).then(|| &title[..name + 1 + digits]);
    }
    if !data.starts_with('"') {
        return None;
    }
    Some(&title[..name + data_name(data)])
}

/// A test's id that has no arguments behind it.
pub(super) fn bare_id(title: &str) -> Option<&str> {
    id(title).map(|_| title)
}

/// A sentence of `--testdox` in colours with its data set as it is named without them: `with first·set` in
/// dim and cyan is `with data set "first set"`, `with data set 0` is `with data set #0`.
/// Source: `PHPUnit\Logging\TestDox\NamePrettifier`, `PHPUnit\Util\Color::visualizeWhitespace`.
pub(super) fn in_plain_words(line: &[u8]) -> Option<Vec<u8>> {
    const NAMED: &[u8] = b"\x1b[2m with \x1b[22m\x1b[36m";
    const NUMBERED: &[u8] = b"\x1b[2m with data set \x1b[22m\x1b[36m";
    let find = |mark: &[u8]| memchr::memmem::find(line, mark).map(|at| (at, at + mark.len()));
    let numbered = find(NUMBERED);
    let (at, from) = numbered.or_else(|| find(NAMED))?;
    let name = &line[from..];
    let name = &name[..memchr::memmem::find(name, b"\x1b[0m")?];
    let mut plain = line[..at].to_vec();
    plain.extend_from_slice(DATA_SET.as_bytes());
    if numbered.is_some() {
        plain.push(b'#');
        plain.extend_from_slice(name);
    } else {
        plain.push(b'"');
        plain.extend(with_blanks(name));
        plain.push(b'"');
    }
    plain.extend_from_slice(&line[from + name.len()..]);
    Some(plain)
}

/// The name with blanks and tabs where the runner shows signs for them, which it dims.
fn with_blanks(mut name: &[u8]) -> Vec<u8> {
    const DIM: &[u8] = b"\x1b[2m";
    const BRIGHT: &[u8] = b"\x1b[22m";
    let mut whole = Vec::with_capacity(name.len());
    while let Some(at) = memchr::memmem::find(name, DIM) {
        let signs = &name[at + DIM.len()..];
        let end = memchr::memmem::find(signs, BRIGHT).unwrap_or(signs.len());
        whole.extend_from_slice(&name[..at]);
        let blanks = String::from_utf8_lossy(&signs[..end]);
        whole.extend(
            blanks
                .replace('\u{b7}', " ")
                .replace('\u{21e5}', "\t")
                .bytes(),
        );
        name = signs.get(end + BRIGHT.len()..).unwrap_or_default();
    }
    whole.extend_from_slice(name);
    whole
}

/// How long the quoted name at the beginning is.
fn data_name(data: &str) -> usize {
    let mut first = None;
    if data.ends_with(')') && data.len() <= MAX_ARGUMENTS {
        for (at, _) in data[1..].match_indices("\" (").take(MAX_PLACES) {
            let end = at + 2;
            first = first.or(Some(end));
            if closes_at_the_end(&data.as_bytes()[end + 1..]) {
                return end;
            }
        }
    } else {
        first = data[1..].find("\" (").map(|at| at + 2);
    }
    first.unwrap_or(data.len())
}

/// Whether the parenthesis at the beginning is closed by the last byte, and not before.
fn closes_at_the_end(dump: &[u8]) -> bool {
    let (mut depth, mut quoted) = (0_usize, false);
    for (at, byte) in dump.iter().enumerate() {
        match byte {
            b'\'' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1 == dump.len();
                }
            }
            _ => {}
        }
    }
    false
}

/// `NS\ATest::testB#x` of an event as the other forms of output have it.
pub(super) fn of_event(id: &str) -> Option<String> {
    let (class, rest) = id.split_once("::").unwrap_or((id, ""));
    if rest.is_empty() {
        return is_phpt(id).then(|| id.to_owned());
    }
    if !is_class(class) {
        return None;
    }
    let Some((method, data)) = rest.split_once('#') else {
        return (!rest.contains(' ')).then(|| id.to_owned());
    };
    let numbered = is_number(data);
    Some(if numbered {
        format!("{class}::{method}{DATA_SET}#{data}")
    } else {
        format!("{class}::{method}{DATA_SET}\"{data}\"")
    })
}

/// A test that is a file of its own.
pub(super) fn is_phpt(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "phpt")
}

/// The class of an id.
pub(super) fn class(id: &str) -> &str {
    id.split_once("::").map_or("", |(class, _)| class)
}
