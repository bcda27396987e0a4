//! As much of a shell's grammar as package scripts use.

use crate::quote::shell_quote;
use std::fmt::Write as _;

/// One command of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// Subshells that open before it and close after it.
    pub(super) opens: usize,
    pub(super) closes: usize,
}

/// The commands of a script, quotes respected. What formats the output of another command (`|`) or
/// only runs when another failed (`||`) is left out.
pub(super) fn split(script: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut part = Part::default();
    let mut dropped = false;
    let mut quote = None;
    let mut nested = 0_usize;
    let mut last = ' ';
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.next() {
        let before = std::mem::replace(&mut last, c);
        match (quote, c) {
            (open, '\\') if open != Some('\'') => {
                part.text.push(c);
                part.text.extend(rest.next());
                continue;
            }
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '(') if nested > 0 || !part.text.trim().is_empty() => nested += 1,
            (None, ')') if nested > 0 => nested -= 1,
            (None, '(') => {
                part.opens += 1;
                continue;
            }
            (None, ')') => {
                part.closes += 1;
                continue;
            }
            (None, '&') if before == '>' || rest.peek() == Some(&'>') => {}
            (None, '&' | '|' | ';' | '\n') if nested == 0 => {
                rest.next_if_eq(&c);
                let ended = std::mem::take(&mut part);
                if !dropped {
                    parts.push(ended);
                }
                dropped = c == '|';
                continue;
            }
            _ => {}
        }
        part.text.push(c);
    }
    if !dropped {
        parts.push(part);
    }
    parts.retain(|part| !part.text.trim().is_empty() || part.opens + part.closes > 0);
    parts
}

/// A loop of a shell over words: `for NAME in WORDS; do`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    name: String,
    words: Vec<String>,
}

impl Loop {
    /// The loop that a command's words begin.
    pub(super) fn begins(words: &[String]) -> Option<Self> {
        match words {
            [head, name, r#in, words @ ..]
                if head == "for"
                    && r#in == "in"
                    && is_assignment(&format!("{name}="))
                    && !words.iter().any(|word| word.contains(['$', '`'])) =>
            {
                Some(Self {
                    name: name.clone(),
                    words: words.to_vec(),
                })
            }
            _ => None,
        }
    }

    /// The command once for each word. All of them run, and one that fails fails all.
    pub(super) fn around(&self, command: &str) -> String {
        let Self { name, words } = self;
        // Words with the variable are quoted as a whole, so that it would stand there by its name.
        let name_in_words = format!(r#"'([^'"`\\]*\$(?:\{{{name}\}}|{name}\b)[^'"`\\]*)'"#);
        let command = regex::Regex::new(&name_in_words).map_or_else(
            |_| command.to_owned(),
            |found| found.replace_all(command, "\"$1\"").into_owned(),
        );
        format!(
            "( code=0; for {name} in {}; do {command} || code=$?; done; exit $code )",
            again(words)
        )
    }
}

/// Words of a command without its redirections; what is quoted keeps its quotes, so that it means
/// the same in a shell again.
pub(super) fn words(part: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    found.push(std::mem::take(&mut word));
                }
                continue;
            }
            (open, '\\') if open != Some('\'') => {
                word.push(c);
                word.extend(rest.next());
                continue;
            }
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        word.push(c);
    }
    if !word.is_empty() {
        found.push(word);
    }
    let mut kept = Vec::new();
    let mut words = found.into_iter();
    while let Some(word) = words.next() {
        let bare = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        if bare.starts_with(['>', '<']) {
            if bare.ends_with(['>', '<']) {
                words.next();
            }
        } else {
            kept.push(word);
        }
    }
    kept
}

/// Whether a word is `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// A word without the quotes and backslashes that a shell would take off.
pub(super) fn unquoted(word: &str) -> String {
    let mut quote = None;
    let mut text = String::new();
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '\\') => text.extend(rest.next()),
            (Some('"'), '\\') if matches!(rest.peek(), Some('"' | '\\' | '$' | '`')) => {
                text.extend(rest.next());
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (_, c) => text.push(c),
        }
    }
    text
}

/// Words as a command again. Words that carry quotes or a pattern of plain characters stay as the
/// script has them; anything that a shell could take for more is quoted.
pub(super) fn again(words: &[String]) -> String {
    let safe = |word: &String| {
        let inner = ['"', '\'']
            .iter()
            .find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(word);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,*?{}[]!^~".contains(c);
        if inner.chars().all(plain) {
            word.clone()
        } else {
            match word.split_once('=').filter(|_| is_assignment(word)) {
                Some((name, value)) => format!("{name}={}", shell_quote(&unquoted(value))),
                None => shell_quote(&unquoted(word)),
            }
        }
    };
    words.iter().map(safe).collect::<Vec<_>>().join(" ")
}

/// A variable with options that every node takes.
pub(super) const NODE_OPTIONS: &str = "NODE_OPTIONS=";

/// Takes the options for node out of variables; empty where there are none.
pub(super) fn take_node_options(env: &mut Vec<String>) -> String {
    let at = env.iter().position(|word| word.starts_with(NODE_OPTIONS));
    let word = at.map(|at| env.remove(at)).unwrap_or_default();
    unquoted(word.trim_start_matches(NODE_OPTIONS))
}

/// Leading options, each with its value (empty where it has none), and the words after them. A
/// value stands behind `=`, or in the next word for those named in `valued`.
pub(super) fn options<'a>(
    words: &'a [String],
    valued: &[&str],
) -> (Vec<(String, String)>, &'a [String]) {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        if word == "--" {
            break;
        }
        if let Some((name, value)) = word.split_once('=') {
            found.push((name.to_owned(), unquoted(value)));
        } else if valued.contains(&word.as_str()) {
            let value = words.get(at).map(|word| unquoted(word));
            at += 1;
            found.push((word.clone(), value.unwrap_or_default()));
        } else {
            found.push((word.clone(), String::new()));
        }
    }
    (found, words.get(at..).unwrap_or_default())
}

/// Removes options that take a value, written with `=` or a blank.
pub(super) fn drop_valued(words: &mut Vec<String>, options: &[&str]) {
    let mut kept = Vec::new();
    let mut rest = words.drain(..).peekable();
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or(&word);
        if options.contains(&name) {
            if !word.contains('=') {
                rest.next_if(|next| !next.starts_with("--"));
            }
        } else {
            kept.push(word);
        }
    }
    drop(rest);
    *words = kept;
}

/// Removes options that stand alone; a value behind `=` goes with them.
pub(super) fn drop_flags(words: &mut Vec<String>, flags: &[&str]) {
    words.retain(|word| !flags.contains(&word.split('=').next().unwrap_or(word)));
}

/// A pattern of names or paths (`*`, `**`, `?`, `{a,b}`) as a regular expression.
pub(super) fn pattern(glob: &str, separator: char) -> Option<regex::Regex> {
    let other = format!("[^{separator}]*");
    let mut text = String::from("^");
    let mut rest = glob.chars().peekable();
    let mut braces = 0_usize;
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.next_if_eq(&'*').is_some() => {
                // `**/` also stands for no folder at all.
                if rest.next_if_eq(&separator).is_some() {
                    let _ = write!(text, "(?:.*{separator})?");
                } else {
                    text.push_str(".*");
                }
            }
            '*' => text.push_str(&other),
            '?' => text.push('.'),
            '{' => {
                braces += 1;
                text.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                text.push(')');
            }
            ',' if braces > 0 => text.push('|'),
            c => text.push_str(&regex::escape(&c.to_string())),
        }
    }
    text.push('$');
    regex::Regex::new(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::{pattern, split, unquoted, words};

    fn texts(script: &str) -> Vec<String> {
        split(script)
            .into_iter()
            .map(|part| part.text.trim().to_owned())
            .collect()
    }

    #[test]
    fn scripts_fall_into_commands() {
        for (script, expected) in [
            ("a && b; c & d", &["a", "b", "c", "d"][..]),
            (
                "tape 'a|b' \"c && d\" | tap-spec",
                &["tape 'a|b' \"c && d\""],
            ),
            ("a | b | c && d", &["a", "d"]),
            ("a || true && b", &["a", "b"]),
            ("a 2>&1 && b &> log", &["a 2>&1", "b &> log"]),
            ("(cd x && y) && z", &["cd x", "y", "z"]),
            ("mocha test/@(a|b).js && c", &["mocha test/@(a|b).js", "c"]),
            ("echo $(a && b) && c", &["echo $(a && b)", "c"]),
            (r#"a \"b && c\" d"#, &[r#"a \"b"#, r#"c\" d"#]),
            ("", &[]),
            ("'open", &["'open"]),
        ] {
            assert_eq!(texts(script), expected, "{script}");
        }
    }

    #[test]
    fn words_lose_redirections_and_keep_quotes() {
        assert_eq!(
            words("a  'b c' d\\ e > log 2>&1 <in \"f\"g &>x").join("|"),
            "a|'b c'|d\\ e|\"f\"g"
        );
        assert_eq!(unquoted(r#"'a b'"c\"d"\e"#), "a bc\"de");
    }

    #[test]
    fn patterns_of_paths_and_scripts() {
        for (glob, separator, name, fits) in [
            ("packages/*", '/', "packages/a", true),
            ("packages/*", '/', "packages/a/b", false),
            ("packages/**", '/', "packages/a/b", true),
            ("**/x", '/', "x", true),
            ("test:*", ':', "test:unit", true),
            ("test:*", ':', "test:unit:a", false),
            ("@a/{b,c}", '/', "@a/c", true),
            ("a.b", '/', "axb", false),
        ] {
            let pattern = pattern(glob, separator).unwrap();
            assert_eq!(pattern.is_match(name), fits, "{glob} {name}");
        }
    }
}
