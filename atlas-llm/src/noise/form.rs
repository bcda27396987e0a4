//! The form of an answer: labels that a chat names, and JSON that follows a schema.

use super::Piece;
use crate::chance::Chance;
use atlas_core::CompletionRequest;
use serde_json::{Map, Value};

pub(super) const WORDS: [&str; 8] = [
    "patch", "test", "value", "change", "likely", "checks", "returns", "unclear",
];

/// How deep a schema may be nested before the rest is left empty: it may refer to itself.
const DEEPEST: usize = 16;

/// One of the labels that the chat names, or a few words.
pub(super) fn words(request: &CompletionRequest, chance: &mut Chance) -> Vec<Piece> {
    let mut labels = labels(request);
    if labels.len() > 1 {
        let text = labels.swap_remove(chance.below(labels.len()));
        return vec![Piece {
            text,
            others: labels,
        }];
    }
    (0..3)
        .map(|at| {
            let word = WORDS[chance.below(WORDS.len())];
            Piece::plain(if at == 0 {
                word.to_owned()
            } else {
                format!(" {word}")
            })
        })
        .collect()
}

/// The words that the last line about answering gives to choose from.
fn labels(request: &CompletionRequest) -> Vec<String> {
    let lines = request
        .messages
        .iter()
        .rev()
        .flat_map(|message| message.content.lines().rev());
    for line in lines {
        let lower = line.to_lowercase();
        let asks = [
            "answer", "reply", "respond", "output", "return", "one of", "say", "either",
        ]
        .iter()
        .any(|word| lower.contains(word));
        if !asks {
            continue;
        }
        for found in [quoted(line), around_or(line)] {
            if found.len() > 1 {
                return found;
            }
        }
    }
    Vec::new()
}

fn add(label: &str, labels: &mut Vec<String>) {
    let fits = !label.is_empty()
        && label.len() <= 40
        && label
            .chars()
            .all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
    if fits && !labels.iter().any(|known| known == label) {
        labels.push(label.to_owned());
    }
}

/// Single words between quotes or backquotes.
fn quoted(line: &str) -> Vec<String> {
    let mut labels = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '"', '\'', '“', '‘']) {
        let (Some(open), behind) = (rest[at..].chars().next(), &rest[at..]) else {
            break;
        };
        let inside = &behind[open.len_utf8()..];
        let close = match open {
            '“' => '”',
            '‘' => '’',
            same => same,
        };
        // An apostrophe within a word opens nothing.
        let within = open == '\''
            && rest[..at]
                .chars()
                .next_back()
                .is_some_and(char::is_alphanumeric);
        match inside.find(close).filter(|_| !within) {
            Some(end) => {
                add(&inside[..end], &mut labels);
                rest = &inside[end + close.len_utf8()..];
            }
            None => rest = inside,
        }
    }
    labels
}

/// The words on both sides of an `or`, with those before them that commas part.
fn around_or(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let bare = |word: &str| {
        word.trim_matches(|letter: char| !letter.is_alphanumeric())
            .to_owned()
    };
    let Some(at) = words
        .iter()
        .rposition(|word| word.eq_ignore_ascii_case("or"))
    else {
        return Vec::new();
    };
    let (Some(before), Some(after)) = (at.checked_sub(1), words.get(at + 1)) else {
        return Vec::new();
    };
    let mut first = before;
    while first > 0 && words[first - 1].ends_with(',') {
        first -= 1;
    }
    let mut labels = Vec::new();
    for word in words[first..at].iter().chain([after]) {
        add(&bare(word), &mut labels);
    }
    labels
}

/// JSON that follows a schema, in pieces.
pub(super) fn json(schema: &Value, chance: &mut Chance) -> Vec<Piece> {
    let mut pieces = Vec::new();
    value(schema, schema, chance, &mut pieces, 0);
    pieces
}

/// Writes a value that follows `schema`, a part of `root`.
fn value(root: &Value, schema: &Value, chance: &mut Chance, out: &mut Vec<Piece>, depth: usize) {
    let schema = resolve(root, schema);
    if depth > DEEPEST {
        out.push(Piece::plain("null"));
        return;
    }
    if let Some(only) = schema.get("const") {
        out.push(Piece::plain(only.to_string()));
        return;
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        choose(choices.iter().map(Value::to_string).collect(), chance, out);
        return;
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array)
            && !choices.is_empty()
        {
            let chosen = &choices[chance.below(choices.len())];
            value(root, chosen, chance, out, depth + 1);
            return;
        }
    }
    if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
        value(root, &merged(root, schema, all), chance, out, depth + 1);
        return;
    }
    match kind(schema, chance) {
        "object" => object(root, schema, chance, out, depth),
        "array" => array(root, schema, chance, out, depth),
        "boolean" => choose(vec!["true".to_owned(), "false".to_owned()], chance, out),
        "integer" | "number" => number(schema, chance, out),
        "string" => string(schema, chance, out),
        _ => out.push(Piece::plain("null")),
    }
}

/// Follows references within the document.
fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..DEEPEST {
        let target = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|name| name.strip_prefix('#'))
            .and_then(|pointer| root.pointer(pointer));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// One schema of several that all hold.
fn merged(root: &Value, schema: &Value, all: &[Value]) -> Value {
    let mut whole = Map::new();
    for part in std::iter::once(schema).chain(all.iter().map(|part| resolve(root, part))) {
        for (key, more) in part.as_object().into_iter().flatten() {
            match (whole.get_mut(key), more) {
                _ if key == "allOf" => {}
                (Some(Value::Object(known)), Value::Object(more)) => {
                    known.extend(more.clone());
                }
                (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                    known.extend(more.iter().cloned());
                }
                _ => drop(whole.insert(key.clone(), more.clone())),
            }
        }
    }
    Value::Object(whole)
}

fn kind<'a>(schema: &'a Value, chance: &mut Chance) -> &'a str {
    match schema.get("type") {
        Some(Value::String(one)) => one,
        Some(Value::Array(several)) if !several.is_empty() => several[chance.below(several.len())]
            .as_str()
            .unwrap_or("null"),
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ if schema.get("maxLength").is_some() => "string",
        _ if schema.get("minimum").is_some() => "number",
        _ => "null",
    }
}

fn choose(mut choices: Vec<String>, chance: &mut Chance, out: &mut Vec<Piece>) {
    if choices.is_empty() {
        out.push(Piece::plain("null"));
        return;
    }
    let text = choices.swap_remove(chance.below(choices.len()));
    // The quotes of a word are tokens of their own, so that a word's alternatives are words.
    let bare = |text: &str| {
        text.strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .map(str::to_owned)
    };
    match (
        bare(&text),
        choices.iter().map(|other| bare(other)).collect(),
    ) {
        (Some(text), Some(others)) if !text.is_empty() => {
            out.push(Piece::plain("\""));
            out.push(Piece { text, others });
            out.push(Piece::plain("\""));
        }
        _ => out.push(Piece {
            text,
            others: choices,
        }),
    }
}

fn object(root: &Value, schema: &Value, chance: &mut Chance, out: &mut Vec<Piece>, depth: usize) {
    out.push(Piece::plain("{"));
    let required = schema.get("required").and_then(Value::as_array);
    let needed = |name: &str| {
        required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)))
    };
    let mut first = true;
    let empty = Map::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let missing = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| !properties.contains_key(*name))
        .map(|name| (name, &Value::Null));
    let known = properties
        .iter()
        .map(|(name, property)| (name.as_str(), property));
    for (name, property) in known.chain(missing) {
        // What is optional is left out now and then, and always where it may nest without end.
        if !needed(name) && (depth > 3 || chance.below(2) == 0) {
            continue;
        }
        if !first {
            out.push(Piece::plain(","));
        }
        first = false;
        out.push(Piece::plain(Value::from(name).to_string()));
        out.push(Piece::plain(":"));
        value(root, property, chance, out, depth + 1);
    }
    out.push(Piece::plain("}"));
}

fn array(root: &Value, schema: &Value, chance: &mut Chance, out: &mut Vec<Piece>, depth: usize) {
    let least = bound(schema, "minItems").unwrap_or(0);
    let most = bound(schema, "maxItems").unwrap_or(least + 2).max(least);
    let more = if depth > 3 {
        0
    } else {
        chance.below((most - least).min(3) + 1)
    };
    out.push(Piece::plain("["));
    for at in 0..least + more {
        if at > 0 {
            out.push(Piece::plain(","));
        }
        let items = schema.get("items").unwrap_or(&Value::Null);
        value(root, items, chance, out, depth + 1);
    }
    out.push(Piece::plain("]"));
}

fn bound(schema: &Value, key: &str) -> Option<usize> {
    let number = schema.get(key)?.as_u64()?;
    // An answer of a thousand items or letters is form enough.
    Some(usize::try_from(number).unwrap_or(usize::MAX).min(1000))
}

fn number(schema: &Value, chance: &mut Chance, out: &mut Vec<Piece>) {
    let at = |key: &str| schema.get(key).and_then(Value::as_f64);
    let whole = schema.get("type").and_then(Value::as_str) == Some("integer");
    let step = if whole { 1.0 } else { 1e-6 };
    let least = at("minimum").or(at("exclusiveMinimum").map(|least| least + step));
    let most = at("maximum").or(at("exclusiveMaximum").map(|most| most - step));
    let (least, most) = match (least, most) {
        (Some(least), Some(most)) => (least, most.max(least)),
        (Some(least), None) => (least, least + 100.0),
        (None, Some(most)) => (most - 100.0, most),
        (None, None) => (0.0, 100.0),
    };
    if whole {
        let (least, most) = (least.ceil(), most.floor());
        let count = (most - least + 1.0).clamp(1.0, 1e6);
        let mut write = || format!("{:.0}", least + (chance.unit() * count).floor());
        let text = write();
        let mut others: Vec<String> = (0..3).map(|_| write()).collect();
        others.sort();
        others.dedup();
        others.retain(|other| *other != text);
        out.push(Piece { text, others });
    } else {
        out.push(Piece::plain(
            Value::from(least + chance.unit() * (most - least)).to_string(),
        ));
    }
}

fn string(schema: &Value, chance: &mut Chance, out: &mut Vec<Piece>) {
    let least = bound(schema, "minLength").unwrap_or(0);
    let most = bound(schema, "maxLength").unwrap_or(60).max(least);
    let mut text = WORDS[chance.below(WORDS.len())].to_owned();
    for _ in 0..3 {
        text.push(' ');
        text.push_str(WORDS[chance.below(WORDS.len())]);
    }
    while text.len() < least {
        text.push('.');
    }
    text.truncate(most);
    out.push(Piece::plain("\""));
    let mut rest = text.as_str();
    while !rest.is_empty() {
        // A blank belongs to the word behind it, as in most tokenisers.
        let end = rest[1..].find(' ').map_or(rest.len(), |at| at + 1);
        out.push(Piece::plain(&rest[..end]));
        rest = &rest[end..];
    }
    out.push(Piece::plain("\""));
}
