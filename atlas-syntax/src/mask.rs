//! A second look at C and C++ that the grammar cannot place: what the preprocessor would take away
//! is blanked, byte for byte, so every place stays where it is.

use crate::language::Language;
use tree_sitter::Tree;

/// Bytes in error nodes, and one for every token that is missing.
pub(crate) fn error_bytes(tree: &Tree) -> usize {
    let mut cursor = tree.root_node().walk();
    let mut bytes = 0;
    loop {
        let node = cursor.node();
        if node.is_error() {
            bytes += node.byte_range().len().max(1);
        } else if node.is_missing() {
            bytes += 1;
        }
        if !node.is_error() && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return bytes;
            }
        }
    }
}

/// The text with directives, all but the first branch of conditions, and macros that stand where no
/// expression can, as blanks.
pub(crate) fn mask(language: Language, text: &[u8]) -> Vec<u8> {
    let mut masked = text.to_vec();
    blank_directives(&mut masked);
    blank_macros(language, &mut masked);
    masked
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

fn blank_directives(text: &mut [u8]) {
    // For each open condition: whether its present branch is left out, and whether one was kept.
    let mut conditions: Vec<(bool, bool)> = Vec::new();
    let mut start = 0;
    let mut continues = false;
    while start < text.len() {
        let end = text[start..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(text.len(), |at| start + at + 1);
        let line = text[start..end].trim_ascii();
        let directive = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
        let is_directive = directive.is_some() || continues;
        if let Some(directive) = directive.filter(|_| !continues) {
            let word_end = directive
                .iter()
                .position(|byte| !byte.is_ascii_alphabetic())
                .unwrap_or(directive.len());
            let (word, rest) = directive.split_at(word_end);
            match word {
                b"if" | b"ifdef" | b"ifndef" => {
                    let never = word == b"if" && rest.trim_ascii().starts_with(b"0");
                    conditions.push((never, !never));
                }
                b"elif" | b"else" | b"elifdef" | b"elifndef" => {
                    if let Some((left_out, kept)) = conditions.last_mut() {
                        *left_out = *kept;
                        *kept = true;
                    }
                }
                b"endif" => {
                    conditions.pop();
                }
                _ => {}
            }
        }
        continues = is_directive && line.ends_with(b"\\");
        if is_directive || conditions.iter().any(|(left_out, _)| *left_out) {
            blank(&mut text[start..end]);
        }
        start = end;
    }
}

/// Blanks words in capitals before another word, or alone on a line, and the arguments of those
/// that have some: `API_EXPORT int f()`, `class LIB_API C`, `BEGIN_NAMESPACE`.
fn blank_macros(language: Language, text: &mut [u8]) {
    let mut at = 0;
    let mut line_start = true;
    while at < text.len() {
        match text[at] {
            b'"' | b'\'' => {
                at = quoted_end(text, at);
                line_start = false;
            }
            b'/' if text.get(at + 1) == Some(&b'/') => {
                at += text[at..]
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .unwrap_or(text.len() - at);
            }
            b'/' if text.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].windows(2).position(|two| two == b"*/");
                at = end.map_or(text.len(), |end| at + end + 4);
            }
            b'\n' => {
                line_start = true;
                at += 1;
            }
            // Conditions on templates in a trailing return type are more than the grammar takes.
            b'-' if text[at..].starts_with(b"->") => {
                let after = skip_space(text, at + 2);
                let open = after + b"decltype".len();
                let is_decltype = text[after..].starts_with(b"decltype(");
                match closing(text, open).filter(|_| is_decltype) {
                    Some(close) => {
                        blank(&mut text[at..=close]);
                        at = close + 1;
                    }
                    None => at += 2,
                }
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let end = word_end(text, at);
                if is_loud(&text[at..end]) {
                    let after = macro_end(language, text, at, end, line_start);
                    blank(&mut text[at..after]);
                    at = after.max(end);
                } else {
                    at = end;
                }
                line_start = false;
            }
            byte => {
                line_start &= byte.is_ascii_whitespace();
                at += 1;
            }
        }
    }
}

/// Where the macro at `at` ends if it is to be blanked, else `at`.
fn macro_end(
    language: Language,
    text: &mut [u8],
    at: usize,
    end: usize,
    line_start: bool,
) -> usize {
    let next = skip_blanks(text, end);
    let follows = |from: usize| text.get(skip_space(text, from)).copied().unwrap_or(b'\n');
    let is_word = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    match text.get(next).copied().unwrap_or(b'\n') {
        // Alone on its line.
        b'\n' | b'\r' if line_start => end,
        byte if is_word(byte) || (byte == b'~' && language == Language::Cpp) => end,
        // `API(type) name(…)` declares with a macro around the type: the words inside stay.
        b'(' if line_start => {
            let Some(close) = closing(text, next) else {
                return at;
            };
            let after = follows(close + 1);
            if is_word(after) && text[next..close].iter().all(|byte| *byte != b'"') {
                text[next] = b' ';
                text[close] = b' ';
                end
            } else {
                at
            }
        }
        _ => at,
    }
}

fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

fn closing(text: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate().skip(open).take(400) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            b';' | b'{' => return None,
            _ => {}
        }
    }
    None
}

fn word_end(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    let length = rest
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    at + length.unwrap_or(rest.len())
}

fn quoted_end(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = text.get(end) {
        match byte {
            b'\\' => end += 1,
            b'\n' => return end,
            byte if *byte == text[at] => return end + 1,
            _ => {}
        }
        end += 1;
    }
    text.len()
}

/// Three or more capitals, digits and underscores.
fn is_loud(word: &[u8]) -> bool {
    word.len() >= 3
        && word.iter().any(u8::is_ascii_uppercase)
        && word
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}
