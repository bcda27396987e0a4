//! JSON as Python's `json.loads` takes it, and the errors its values raise when they are something
//! else than a harness expects.

use super::CompatFault;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Values nest this deep before Python gives up.
const DEPTH: usize = 980;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// As Python prints it.
    Number(String),
    Text(String),
    List(Vec<Value>),
    /// Each field with its place, as Python prints them in the order of the text.
    Object(BTreeMap<String, (usize, Value)>),
}

/// What was wrong with a text.
#[derive(Debug)]
pub(super) enum Unread {
    /// A `JSONDecodeError`, which some readers pass over.
    Malformed(usize),
    /// A `RecursionError`, which none does.
    Deep,
}

/// `json.loads(text)`; malformed text is no value.
pub(super) fn read_or_none(text: &str) -> Result<Option<Value>, CompatFault> {
    match read(text) {
        Ok(value) => Ok(Some(value)),
        Err(Unread::Malformed(_)) => Ok(None),
        Err(deep) => Err(deep.into()),
    }
}

impl From<Unread> for CompatFault {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Malformed(at) => Self::new(&format!("JSONDecodeError: at byte {at}")),
            Unread::Deep => Self::new("RecursionError: maximum recursion depth exceeded"),
        }
    }
}

/// `json.loads(text)`.
pub(super) fn read(text: &str) -> Result<Value, Unread> {
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at == text.len() {
        Ok(value)
    } else {
        Err(Unread::Malformed(reader.at))
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn bad<T>(&self) -> Result<T, Unread> {
        Err(Unread::Malformed(self.at))
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Value, Unread> {
        if depth > DEPTH {
            return Err(Unread::Deep);
        }
        match self.peek() {
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            _ => self.plain(),
        }
    }

    fn plain(&mut self) -> Result<Value, Unread> {
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Number("nan".to_owned())),
            ("Infinity", Value::Number("inf".to_owned())),
            ("-Infinity", Value::Number("-inf".to_owned())),
        ];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.number()
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value, Unread> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') && self.digits() == 0 {
            return self.bad();
        }
        let whole = self.at;
        // A fraction or an exponent without digits is not part of the number.
        if self.take(b'.') && self.digits() == 0 {
            self.at = whole;
        }
        let before_exponent = self.at;
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'-') {
                self.take(b'+');
            }
            if self.digits() == 0 {
                self.at = before_exponent;
            }
        }
        let text = &self.text[start..self.at];
        Ok(Value::Number(if self.at == whole {
            if text == "-0" { "0" } else { text }.to_owned()
        } else {
            float(text)
        }))
    }

    fn string(&mut self) -> Result<String, Unread> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(end) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') else {
                return self.bad();
            };
            text.push_str(&rest[..end]);
            self.at += end;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return self.bad(),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Unread> {
        self.at += 1;
        let Some(byte) = self.peek() else {
            return self.bad();
        };
        self.at += usize::from(byte.is_ascii());
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit()?;
                if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
                    let back = self.at;
                    self.at += 2;
                    let second = self.unit()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    self.at = back;
                }
                // Half a pair cannot be held here; Python keeps it.
                char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return self.bad(),
        })
    }

    fn unit(&mut self) -> Result<u32, Unread> {
        let digits = self.text.get(self.at..self.at + 4);
        match digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            Some(digits) => {
                self.at += 4;
                u32::from_str_radix(digits, 16).map_err(|_| Unread::Malformed(self.at))
            }
            None => self.bad(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Unread> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            if !self.take(b',') {
                return self.bad();
            }
            self.blanks();
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Unread> {
        self.at += 1;
        let mut fields = BTreeMap::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(Value::Object(fields));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.bad();
            }
            let name = self.string()?;
            self.blanks();
            if !self.take(b':') {
                return self.bad();
            }
            self.blanks();
            let value = self.value(depth + 1)?;
            let next = fields.len();
            // A second one of a name takes the place of the first.
            fields.entry(name).or_insert((next, Value::Null)).1 = value;
            self.blanks();
            if self.take(b'}') {
                return Ok(Value::Object(fields));
            }
            if !self.take(b',') {
                return self.bad();
            }
            self.blanks();
        }
    }
}

/// A number with a fraction as `str` prints it.
fn float(text: &str) -> String {
    let value: f64 = text.parse().unwrap_or(f64::INFINITY);
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent
            .strip_prefix('-')
            .map_or(('+', exponent), |exponent| ('-', exponent));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{value:?}")
}

impl Value {
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Python's name of the type.
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NoneType",
            Self::Bool(_) => "bool",
            Self::Number(text) if text.contains(['.', 'e', 'n']) => "float",
            Self::Number(_) => "int",
            Self::Text(_) => "str",
            Self::List(_) => "list",
            Self::Object(_) => "dict",
        }
    }

    /// Whether `if value` holds.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(text) => text.parse() != Ok(0.0),
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Object(fields) => !fields.is_empty(),
        }
    }

    /// The field of an object; nothing of any other value.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.get(name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// `value.get(name)`.
    pub(super) fn field(&self, name: &str) -> Result<Option<&Self>, CompatFault> {
        match self {
            Self::Object(_) => Ok(self.get(name)),
            _ => Err(CompatFault::attribute(self.kind(), "get")),
        }
    }

    /// `value[name]`; none for a `KeyError`.
    pub(super) fn item(&self, name: &str) -> Result<Option<&Self>, CompatFault> {
        match self {
            Self::Object(_) => Ok(self.get(name)),
            Self::Text(_) | Self::List(_) => Err(CompatFault::new(&format!(
                "TypeError: {} indices must be integers",
                self.kind()
            ))),
            _ => Err(CompatFault::new(&format!(
                "TypeError: '{}' object is not subscriptable",
                self.kind()
            ))),
        }
    }

    /// What `for item in value` goes through.
    pub(super) fn items(&self) -> Result<Vec<Cow<'_, Self>>, CompatFault> {
        let owned = |text: String| Cow::Owned(Self::Text(text));
        match self {
            Self::List(items) => Ok(items.iter().map(Cow::Borrowed).collect()),
            Self::Object(fields) => Ok(fields.keys().cloned().map(owned).collect()),
            Self::Text(text) => Ok(text.chars().map(|c| owned(c.into())).collect()),
            _ => Err(CompatFault::new(&format!(
                "TypeError: '{}' object is not iterable",
                self.kind()
            ))),
        }
    }

    /// `value.get(name, "").lower()`.
    pub(super) fn lower(&self, name: &str) -> Result<String, CompatFault> {
        match self.field(name)? {
            None => Ok(String::new()),
            Some(Self::Text(text)) => Ok(text.to_lowercase()),
            Some(other) => Err(CompatFault::attribute(other.kind(), "lower")),
        }
    }

    /// A field in a text, or the words that stand for a missing one.
    pub(super) fn text(&self, name: &str, missing: &str) -> String {
        self.get(name)
            .map_or_else(|| missing.to_owned(), Self::print)
    }

    /// `str(value)`.
    pub(super) fn print(&self) -> String {
        match self {
            Self::Null => "None".to_owned(),
            Self::Bool(true) => "True".to_owned(),
            Self::Bool(false) => "False".to_owned(),
            Self::Number(text) | Self::Text(text) => text.clone(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::quoted).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(_, (place, _))| *place);
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, (_, value))| format!("{}: {}", quote(name), value.quoted()))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }

    fn quoted(&self) -> String {
        match self {
            Self::Text(text) => quote(text),
            _ => self.print(),
        }
    }

    /// The value as a key of a dictionary: lists and objects are none.
    pub(super) fn key(&self) -> Result<String, CompatFault> {
        match self {
            Self::List(_) | Self::Object(_) => Err(CompatFault::new(&format!(
                "TypeError: unhashable type: '{}'",
                self.kind()
            ))),
            _ => Ok(self.print()),
        }
    }
}

/// `repr(text)`, without the escapes of characters that do not print.
fn quote(text: &str) -> String {
    let text = text
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
        .replace('\r', "\\r");
    if text.contains('\'') && !text.contains('"') {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', "\\'"))
    }
}
