//! Answers of a set form.

use super::Unreadable;
use super::unreadable::shorten;
use serde_json::{Map, Value, json};

/// What a field may hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `true` or `false`.
    Bool,
    /// A text.
    Text,
    /// One of these texts.
    OneOf(Vec<String>),
    /// A number from the first to the second, both included.
    Number(f64, f64),
    /// A whole number from the first to the second, both included.
    Whole(i64, i64),
    /// A list.
    List(Box<Shape>),
    /// An object of its own.
    Object(Schema),
}

/// One field of an answer. All are required: what is optional a model leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub shape: Shape,
    /// What the model is told of it.
    pub description: String,
}

/// The form of an answer: an object with exactly these fields.
///
/// The same value makes the JSON schema that the request carries and checks what comes back, so the
/// two cannot differ; whatever the server claims, the check is ours.
///
/// ```
/// use atlas_judge::answer::{Schema, Shape};
/// let schema = Schema::new([("is_bug_fixed", Shape::Bool, ""), ("explanation", Shape::Text, "")]);
/// let read = schema.parse("```json\n{\"is_bug_fixed\": true, \"explanation\": \"x\"}\n```")?;
/// assert_eq!(read["is_bug_fixed"], true);
/// let why = schema.parse("{\"is_bug_fixed\": \"yes\"}").unwrap_err().to_string();
/// assert!(why.contains("`is_bug_fixed`") && why.contains("`explanation`"), "{why}");
/// # Ok::<(), atlas_judge::answer::Unreadable>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The fields, in the order in which the model writes them.
    pub fields: Vec<Field>,
}

impl Schema {
    /// A form from names, shapes and descriptions.
    pub fn new<'a>(fields: impl IntoIterator<Item = (&'a str, Shape, &'a str)>) -> Self {
        let fields = fields.into_iter().map(|(name, shape, description)| Field {
            name: name.to_owned(),
            shape,
            description: description.to_owned(),
        });
        Self {
            fields: fields.collect(),
        }
    }

    /// The JSON schema for a request.
    pub fn to_json(&self) -> Value {
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|field| {
                let mut value = field.shape.to_json();
                if let (Value::Object(map), false) = (&mut value, field.description.is_empty()) {
                    map.insert("description".to_owned(), json!(field.description));
                }
                (field.name.clone(), value)
            })
            .collect();
        let names: Vec<&str> = self
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": false,
        })
    }

    /// Likewise, with a limit of characters for every free text, and then of twelve entries for every list. It keeps a
    /// model that would not stop from being cut off; not every server takes it, and the check does not ask for it.
    pub fn to_json_within(&self, characters: Option<u32>) -> Value {
        let mut schema = self.to_json();
        if let Some(characters) = characters {
            limit_texts(&mut schema, characters);
        }
        schema
    }

    /// Reads an answer. A code fence around it is taken off; nothing else may stand beside the object.
    ///
    /// # Errors
    /// [`Unreadable::Empty`], [`Unreadable::NotJson`], or [`Unreadable::Fields`] naming every field that
    /// is wrong.
    pub fn parse(&self, text: &str) -> Result<Map<String, Value>, Unreadable> {
        let text = unfenced(text);
        if text.is_empty() {
            return Err(Unreadable::Empty);
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|why| Unreadable::NotJson(format!("{why}: `{}`", shorten(text, 80))))?;
        let mut faults = Vec::new();
        self.check(&value, "", &mut faults);
        match value {
            Value::Object(map) if faults.is_empty() => Ok(map),
            _ => Err(Unreadable::Fields(faults)),
        }
    }

    fn check(&self, value: &Value, at: &str, faults: &mut Vec<String>) {
        let Value::Object(map) = value else {
            let place = if at.is_empty() { "the answer" } else { at };
            faults.push(format!(
                "{place}: an object expected, found {}",
                kind(value)
            ));
            return;
        };
        let path = |name: &str| {
            if at.is_empty() {
                name.to_owned()
            } else {
                format!("{at}.{name}")
            }
        };
        for field in &self.fields {
            match map.get(&field.name) {
                None => faults.push(format!("field `{}` is missing", path(&field.name))),
                Some(value) => field.shape.check(value, &path(&field.name), faults),
            }
        }
        for name in map.keys() {
            if !self.fields.iter().any(|field| field.name == *name) {
                faults.push(format!("field `{}` was not asked for", path(name)));
            }
        }
    }
}

/// Entries of a list in an answer whose texts are limited: twice as many as any list of ours is asked for.
const MOST_ENTRIES: u32 = 12;

fn limit_texts(schema: &mut Value, characters: u32) {
    let Value::Object(map) = schema else { return };
    if map.get("type") == Some(&json!("string")) && !map.contains_key("enum") {
        map.insert("maxLength".to_owned(), json!(characters));
    }
    if let Some(items) = map.get_mut("items") {
        limit_texts(items, characters);
        map.insert("maxItems".to_owned(), json!(MOST_ENTRIES));
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for value in properties.values_mut() {
            limit_texts(value, characters);
        }
    }
}

impl Shape {
    fn to_json(&self) -> Value {
        match self {
            Self::Bool => json!({"type": "boolean"}),
            Self::Text => json!({"type": "string"}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Number(least, most) => {
                json!({"type": "number", "minimum": least, "maximum": most})
            }
            Self::Whole(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::List(item) => json!({"type": "array", "items": item.to_json()}),
            Self::Object(schema) => schema.to_json(),
        }
    }

    fn check(&self, value: &Value, at: &str, faults: &mut Vec<String>) {
        let expected = match self {
            Self::Bool if value.is_boolean() => return,
            Self::Text if value.is_string() => return,
            Self::OneOf(words) if words.iter().any(|word| value == word.as_str()) => return,
            Self::Number(least, most)
                if value
                    .as_f64()
                    .is_some_and(|n| (*least..=*most).contains(&n)) =>
            {
                return;
            }
            Self::Whole(least, most)
                if value
                    .as_i64()
                    .is_some_and(|n| (*least..=*most).contains(&n)) =>
            {
                return;
            }
            Self::Object(schema) => return schema.check(value, at, faults),
            Self::List(item) => match value {
                Value::Array(items) => {
                    for (number, value) in items.iter().enumerate() {
                        item.check(value, &format!("{at}[{number}]"), faults);
                    }
                    return;
                }
                _ => "a list".to_owned(),
            },
            Self::Bool => "true or false".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
        };
        let found = kind(value);
        faults.push(format!("field `{at}`: {expected} expected, found {found}"));
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("the text `{}`", shorten(text, 40)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A text without the code fence around it, if it has one.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(rest) = text.strip_prefix("```") else {
        return text;
    };
    let Some(rest) = rest.strip_suffix("```") else {
        return text;
    };
    match rest.split_once('\n') {
        Some((language, body)) if !language.trim().contains(char::is_whitespace) => {
            if language.contains('{') {
                rest.trim()
            } else {
                body.trim()
            }
        }
        _ => rest.trim(),
    }
}

/// Where the text of a field of an object stands, without its quotation marks: of an answer that has
/// been read, so that it is an object, perhaps in a fence. None for another kind of value, and where a
/// name stands twice, for then it is not clear which one counts.
pub(super) fn text_of_field(text: &str, field: &str) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = text.find('{')?;
    let (mut depth, mut is_value, mut is_wanted) = (0_usize, false, false);
    let mut found = None;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return found;
                }
            }
            b':' if depth == 1 => is_value = true,
            b',' if depth == 1 => (is_value, is_wanted) = (false, false),
            b'"' => {
                let start = at + 1;
                at = start;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if depth == 1 && !is_value {
                    // A name may be written with escapes.
                    let name: String = serde_json::from_str(text.get(start - 1..=at)?).ok()?;
                    is_wanted = name == field;
                } else if depth == 1 && is_wanted && found.replace(start..at).is_some() {
                    return None;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
