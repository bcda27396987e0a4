//! Comparing a hint with what is secret.

use super::super::issue::mentions;
use super::lexer::{Lexeme, is_control, is_word, lexemes, shape, words};
use super::secrets::{QUOTED, SHAPE, Secrets, squeezed};
use super::{Leak, LeakKind};
use atlas_core::Evidence;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Most bytes of a hint.
const LONGEST: usize = 64 * 1024;
/// Most leaks that are told.
const MOST: usize = 20;

/// What a line of code has and a sentence has not.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[-+*/%|&^]=|:=|&&|\|\||[=!]=|\w\s*[;{]\s*$|^\s*(?:return|for|while|if|elif|else|switch|yield|raise|throw)\b.*[:;{(]")
        .expect("the pattern is tested")
});

/// An assignment: neither a comparison, an arrow nor a default.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\w)\]\s])(?:[-+*/%|&^]|<<|>>|\?\?|\|\|)?=(?:[^=>~]|$)|:=")
        .expect("the pattern is tested")
});

/// Everything that the hint tells and must not.
pub(super) fn leaks(secrets: &Secrets, hint: &str) -> Vec<Leak> {
    if hint.len() > LONGEST {
        let told = format!("{} bytes", hint.len());
        return vec![leak(hint, LeakKind::Length, 1, told, None)];
    }
    let mut found = Vec::new();
    let shown = without_open(secrets, hint);
    lines(secrets, hint, &shown, &mut found);
    tokens(secrets, &shown, hint, &mut found);
    quotations(secrets, hint, &mut found);
    statements(secrets, &shown, hint, &mut found);
    found.truncate(MOST);
    found
}

fn leak(
    hint: &str,
    kind: LeakKind,
    line: usize,
    told: impl Into<String>,
    gold: Option<&Evidence>,
) -> Leak {
    let text = hint.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let text: String = text.chars().take(300).collect();
    Leak {
        kind,
        told: told.into(),
        place: Evidence::at("hint", line, text.trim()),
        gold: gold.cloned(),
    }
}

/// The hint with blanks in the place of the signatures and paths that may be told.
fn without_open(secrets: &Secrets, hint: &str) -> String {
    let mut open: Vec<&String> = secrets.open.iter().collect();
    // A longer one first: it may hold a shorter one.
    open.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let lines = hint.lines().map(|line| {
        let mut line = line.to_owned();
        for text in open.iter().filter(|text| text.len() > 2) {
            let mut from = 0;
            while let Some(found) = line.get(from..).and_then(|rest| rest.find(text.as_str())) {
                let (start, end) = (from + found, from + found + text.len());
                let touches = |c: Option<char>| c.is_some_and(is_word);
                let is_part = touches(line[..start].chars().next_back())
                    && text.starts_with(is_word)
                    || touches(line[end..].chars().next()) && text.ends_with(is_word);
                if is_part {
                    from = end;
                } else {
                    line.replace_range(start..end, &" ".repeat(text.len()));
                    from = end;
                }
            }
        }
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Copied lines, as they are and with other names.
fn lines(secrets: &Secrets, hint: &str, shown: &str, found: &mut Vec<Leak>) {
    let whole = squeezed(hint);
    for (line, place) in &secrets.lines {
        if whole.contains(line) {
            let at = hint
                .lines()
                .position(|text| squeezed(text).contains(line))
                .map_or(1, |at| at + 1);
            found.push(leak(
                hint,
                LeakKind::Line,
                at,
                place.text.clone(),
                Some(place),
            ));
        }
    }
    for (at, text) in shown.lines().enumerate() {
        let text = text.replace('`', " ");
        let tokens = lexemes(&text);
        if tokens.len() < *SHAPE.start() {
            continue;
        }
        for (length, shapes) in &secrets.shapes {
            for window in tokens.windows(*length) {
                if let Some(place) = shapes.get(&shape(window)) {
                    let told = hint.lines().nth(at).unwrap_or_default().trim();
                    found.push(leak(hint, LeakKind::Shape, at + 1, told, Some(place)));
                    break;
                }
            }
        }
    }
}

/// Names, numbers and texts.
fn tokens(secrets: &Secrets, shown: &str, hint: &str, found: &mut Vec<Leak>) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (line, word) in words(shown) {
        if !seen.insert(word) {
            continue;
        }
        let own = ["", "?", "!", "="]
            .iter()
            .find_map(|ending| secrets.names.get(&format!("{word}{ending}")));
        if let Some(place) = own
            && mentions(hint, word)
        {
            found.push(leak(hint, LeakKind::Name, line, word, Some(place)));
        }
    }
    let is_told = |text: &str, from: &str| {
        from.match_indices(text).any(|(start, _)| {
            let before = from[..start].chars().next_back();
            let after = from[start + text.len()..].chars().next();
            !(text.starts_with(is_word) && before.is_some_and(is_word)
                || text.ends_with(is_word) && after.is_some_and(is_word))
        })
    };
    for (kind, all) in [
        (LeakKind::Number, &secrets.numbers),
        (LeakKind::Text, &secrets.texts),
    ] {
        for (text, place) in all {
            let at = shown.lines().position(|line| is_told(text, line));
            // A word that is in a text of the solution may be in any sentence.
            let is_code = kind == LeakKind::Number
                || text.contains(|c: char| !c.is_alphabetic())
                || mentions(hint, text)
                || [format!("\"{text}\""), format!("'{text}'")]
                    .iter()
                    .any(|quoted| hint.contains(quoted));
            if let (Some(at), true) = (at, is_code) {
                found.push(leak(hint, kind, at + 1, text.clone(), Some(place)));
            }
        }
    }
}

/// Words of comments.
fn quotations(secrets: &Secrets, hint: &str, found: &mut Vec<Leak>) {
    let words = words(hint);
    let small: Vec<String> = words.iter().map(|(_, word)| word.to_lowercase()).collect();
    let mut told: BTreeSet<&Evidence> = BTreeSet::new();
    for length in 3..=QUOTED {
        for (at, run) in small.windows(length).enumerate() {
            let run = run.join(" ");
            if let Some(place) = secrets.quotations.get(&run)
                && told.insert(place)
            {
                let line = words.get(at).map_or(1, |(line, _)| *line);
                found.push(leak(hint, LeakKind::Comment, line, run, Some(place)));
            }
        }
    }
}

/// Code that says what is to be done.
fn statements(secrets: &Secrets, shown: &str, hint: &str, found: &mut Vec<Leak>) {
    let mut is_fenced = false;
    for (at, line) in shown.lines().enumerate() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        let spans: Vec<&str> = if is_fenced || CODE.is_match(line) && !line.contains('`') {
            vec![line]
        } else {
            line.split('`').skip(1).step_by(2).collect()
        };
        if let Some(span) = spans.into_iter().find(|span| is_statement(secrets, span)) {
            found.push(leak(hint, LeakKind::Statement, at + 1, span.trim(), None));
        }
    }
}

fn is_statement(secrets: &Secrets, span: &str) -> bool {
    let text = span.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    // A path, a single word; Rust's `impl A for B`.
    if !text.contains(char::is_whitespace) && !text.contains(['=', '(']) {
        return false;
    }
    let tokens = lexemes(text);
    let controls = tokens.iter().enumerate().any(|(at, token)| {
        let Lexeme::Word(word) = token else {
            return false;
        };
        let is_member = at > 0 && matches!(tokens[at - 1], Lexeme::Sign('.' | ':' | '>'));
        let is_of_type = *word == "for" && matches!(first, "impl" | "unsafe" | "where");
        is_control(word) && !is_member && !is_of_type && !secrets.open.contains(*word)
    });
    let is_alias = matches!(first, "type" | "using" | "typedef" | "export");
    controls || !is_alias && ASSIGNED.is_match(&outside_of_brackets(text))
}

/// A text without what stands in brackets, where defaults are.
fn outside_of_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}
