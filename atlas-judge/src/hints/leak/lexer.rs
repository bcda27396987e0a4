//! Words and signs of code of any language, without its grammar.

/// A word, a text in quotes, or a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme<'t> {
    Word(&'t str),
    Text,
    Sign(char),
}

/// The tokens of a text. A quote that is not closed on its line is a sign.
pub(super) fn lexemes(text: &str) -> Vec<Lexeme<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
        } else if is_word(c) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            found.push(Lexeme::Word(&rest[..end]));
            rest = &rest[end..];
        } else if let Some(end) = quoted(rest, c) {
            found.push(Lexeme::Text);
            rest = &rest[end..];
        } else {
            found.push(Lexeme::Sign(c));
            rest = &rest[c.len_utf8()..];
        }
    }
    found
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of a text, with the line of each, from 1.
pub(super) fn words(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(at, line)| {
            line.split(|c| !is_word(c))
                .filter(|word| !word.is_empty())
                .map(move |word| (at + 1, word))
        })
        .collect()
}

fn quoted(text: &str, quote: char) -> Option<usize> {
    if !matches!(quote, '"' | '\'') {
        return None;
    }
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return None,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Words that say what is to be done.
pub(super) fn is_control(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "for"
            | "foreach"
            | "while"
            | "until"
            | "unless"
            | "loop"
            | "if"
            | "else"
            | "elif"
            | "elsif"
            | "elseif"
            | "switch"
            | "case"
            | "match"
            | "when"
            | "yield"
            | "raise"
            | "throw"
            | "try"
            | "catch"
            | "except"
            | "rescue"
            | "finally"
            | "ensure"
            | "break"
            | "continue"
            | "goto"
            | "defer"
            | "await"
    )
}

/// Tokens with every name replaced by the place of its first use, so that other names make no difference.
pub(super) fn shape(lexemes: &[Lexeme<'_>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut text = String::new();
    for lexeme in lexemes {
        match lexeme {
            Lexeme::Word(word) if is_control(word) => text.push_str(word),
            Lexeme::Word(word) if word.starts_with(|c: char| c.is_ascii_digit()) => text.push('0'),
            Lexeme::Word(word) => {
                let known = names.iter().position(|other| other == word);
                let place = known.unwrap_or_else(|| {
                    names.push(word);
                    names.len() - 1
                });
                text.push_str(&place.to_string());
            }
            Lexeme::Text => text.push('"'),
            Lexeme::Sign(sign) => text.push(*sign),
        }
        text.push(' ');
    }
    text
}
