//! A second look at C, C++ and C# that the grammar cannot place: what the preprocessor would take
//! away is blanked, byte for byte, so every place stays where it is.

use crate::language::Language;
use std::ops::Range;
use tree_sitter::Tree;

/// Bytes in error nodes, and one for every token that is missing.
pub(crate) fn error_bytes(tree: &Tree) -> usize {
    let errors = errors(tree);
    errors.iter().map(|range| range.len().max(1)).sum()
}

/// Error nodes, outermost, and the places of missing tokens.
pub(crate) fn errors(tree: &Tree) -> Vec<Range<usize>> {
    let mut cursor = tree.root_node().walk();
    let mut errors = Vec::new();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            errors.push(node.byte_range());
        }
        if !node.is_error() && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return errors;
            }
        }
    }
}

/// The text with directives, all but the first branch of conditions, and macros that stand where no
/// expression can, as blanks.
pub(crate) fn mask(language: Language, text: &[u8]) -> Vec<u8> {
    let mut masked = text.to_vec();
    blank_directives(&mut masked);
    if language != Language::CSharp {
        blank_macros(language, &mut masked);
    }
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

/// Blanks words in capitals before another word, behind parameters, or alone on a line, and the
/// arguments of those that have some: `API_EXPORT int f()`, `class LIB_API C`, `BEGIN_NAMESPACE`,
/// `int f() REQUIRES(lock) {`.
fn blank_macros(language: Language, text: &mut [u8]) {
    let mut at = 0;
    let mut line_start = true;
    // What stands before, comments, blanks and what was blanked aside.
    let mut before = b';';
    while at < text.len() {
        match text[at] {
            b'"' | b'\'' => {
                before = text[at];
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
                if let Some(close) = closing(text, open).filter(|_| is_decltype) {
                    blank(&mut text[at..=close]);
                    at = close + 1;
                } else {
                    at += 2;
                    before = b'>';
                }
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let end = word_end(text, at);
                if is_loud(&text[at..end]) {
                    let place = Place { line_start, before };
                    let after = macro_end(language, text, at, end, place);
                    blank(&mut text[at..after]);
                    if after == at {
                        before = b'a';
                    }
                    at = after.max(end);
                } else {
                    // `f() const` still stands behind parameters.
                    if !(before == b')' && is_qualifier(&text[at..end])) {
                        before = b'a';
                    }
                    at = end;
                }
                line_start = false;
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    line_start = false;
                    before = byte;
                }
                at += 1;
            }
        }
    }
}

/// Where a word stands.
#[derive(Clone, Copy)]
struct Place {
    /// First on its line.
    line_start: bool,
    /// The byte that counts before it; `a` for any word.
    before: u8,
}

/// Where the macro at `at` ends if it is to be blanked, else `at`.
fn macro_end(language: Language, text: &mut [u8], at: usize, end: usize, place: Place) -> usize {
    let next = skip_blanks(text, end);
    let is_word = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let behind = |from: usize| text.get(skip_comments(text, from)).copied();
    match text.get(next).copied().unwrap_or(b'\n') {
        byte if is_word(byte) || (byte == b'~' && language == Language::Cpp) => end,
        b'(' => {
            let Some(close) = closing(text, next) else {
                return at;
            };
            let follows = behind(close + 1).unwrap_or(b'}');
            // `void f() REQUIRES(lock) {`
            if place.before == b')' && matches!(follows, b'{' | b';') {
                return close + 1;
            }
            if !place.line_start {
                return at;
            }
            let ends_line = matches!(
                text.get(skip_blanks(text, close + 1)),
                None | Some(b'\n' | b'\r')
            );
            let inside = &text[next + 1..close];
            if ends_line && (is_word(follows) || follows == b'}') && begins(place.before) {
                // `DEFINE_ERRORS(Base, Name)` and no semicolon.
                return close + 1;
            }
            // `API(type) name(…)` and `API(type name(…)) {` declare with a macro around them: the words
            // inside stay.
            let is_around = is_word(follows) && !inside.contains(&b'"')
                || follows == b'{' && is_declaration(inside);
            if is_around {
                text[next] = b' ';
                text[close] = b' ';
                return end;
            }
            at
        }
        // `void f() OVERRIDE {`
        b'{' | b';' if place.before == b')' => end,
        // Alone on its line, where no list or expression goes on: an enumerator, an argument.
        b'\n' | b'\r' if place.line_start => {
            let follows = behind(end).unwrap_or(b'}');
            let is_last = place.before == b'{' && follows == b'}';
            let goes_on =
                !(is_word(follows) || matches!(follows, b'{' | b'}' | b'#' | b'~' | b'['));
            if is_last || goes_on || !begins(place.before) {
                at
            } else {
                end
            }
        }
        _ => at,
    }
}

/// Words that stand between the parameters of a function and its body.
fn is_qualifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"const" | b"volatile" | b"noexcept" | b"override" | b"final"
    )
}

/// Whether a declaration or a statement can begin behind this byte, or a declaration go on.
fn begins(before: u8) -> bool {
    matches!(
        before,
        b';' | b'{' | b'}' | b')' | b':' | b'a' | b'*' | b'&' | b'>'
    )
}

/// Whether the text is the head of a function: two words or more and then parameters.
fn is_declaration(text: &[u8]) -> bool {
    let Some(open) = text.iter().position(|byte| *byte == b'(') else {
        return false;
    };
    let head = &text[..open];
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_ \t\r\n*&:".contains(byte);
    head.iter().all(is_plain)
        && head
            .split(|byte| b" \t\r\n*&".contains(byte))
            .filter(|word| !word.is_empty())
            .count()
            > 1
}

/// The next byte that is neither blank nor in a comment.
fn skip_comments(text: &[u8], mut at: usize) -> usize {
    loop {
        at = skip_space(text, at);
        let rest = &text[at.min(text.len())..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|byte| *byte == b'\n')
        } else if rest.starts_with(b"/*") {
            let end = rest[2..].windows(2).position(|two| two == b"*/");
            end.map(|end| end + 4)
        } else {
            return at;
        };
        match length {
            Some(length) => at += length,
            None => return text.len(),
        }
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
