//! Scanners of line-based files.

use super::statements::Statement;

/// `[section]`, `key = value`, continuation lines that are indented. As `configparser` reads it:
/// an indented line continues the key above it, if there is one.
#[expect(clippy::unnecessary_wraps, reason = "one signature for all scanners")]
pub(super) fn ini(text: &str) -> Option<Vec<Statement<'_>>> {
    let mut out: Vec<Statement<'_>> = Vec::new();
    let mut section = String::new();
    let mut has_key = false;
    for (start, line) in lines(text) {
        let bare = line.trim();
        let indented = line.starts_with([' ', '\t']);
        let is_text = !bare.is_empty() && !bare.starts_with(['#', ';']);
        if is_text && !(indented && has_key) {
            if let Some(rest) = bare.strip_prefix('[') {
                rest.split(']')
                    .next()
                    .unwrap_or_default()
                    .clone_into(&mut section);
                has_key = false;
                out.push(statement(vec![section.clone()], true, text, start, line));
            } else {
                let key = bare.split(['=', ':']).next().unwrap_or_default();
                let key = key.trim().to_lowercase();
                has_key = true;
                out.push(statement(
                    vec![section.clone(), key],
                    false,
                    text,
                    start,
                    line,
                ));
            }
        } else if is_text {
            continuation(&mut out, text, start, line);
        } else {
            filler(&mut out, text, start, line);
        }
    }
    Some(out)
}

/// `word …` and `word ( … )`, as in `go.mod`.
#[expect(clippy::unnecessary_wraps, reason = "one signature for all scanners")]
pub(super) fn directives(text: &str) -> Option<Vec<Statement<'_>>> {
    let mut out: Vec<Statement<'_>> = Vec::new();
    let mut open = false;
    for (start, line) in lines(text) {
        let code = line.split("//").next().unwrap_or_default().trim();
        if open {
            continuation(&mut out, text, start, line);
            open = code != ")";
            continue;
        }
        if code.is_empty() {
            filler(&mut out, text, start, line);
            continue;
        }
        let word = code.split([' ', '\t', '(']).next().unwrap_or_default();
        out.push(statement(vec![word.to_owned()], false, text, start, line));
        open = code.ends_with('(');
    }
    Some(out)
}

/// `key=value`, lines continued with a backslash.
#[expect(clippy::unnecessary_wraps, reason = "one signature for all scanners")]
pub(super) fn properties(text: &str) -> Option<Vec<Statement<'_>>> {
    let mut out: Vec<Statement<'_>> = Vec::new();
    let mut continued = false;
    for (start, line) in lines(text) {
        let bare = line.trim();
        if continued {
            continuation(&mut out, text, start, line);
        } else if bare.is_empty() || bare.starts_with(['#', '!']) {
            filler(&mut out, text, start, line);
        } else {
            let key = bare
                .split(['=', ':', ' '])
                .next()
                .unwrap_or_default()
                .trim();
            out.push(statement(vec![key.to_owned()], false, text, start, line));
        }
        continued = !bare.starts_with('#') && bare.ends_with('\\');
    }
    Some(out)
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

pub(super) fn statement<'a>(
    path: Vec<String>,
    header: bool,
    text: &'a str,
    start: usize,
    line: &str,
) -> Statement<'a> {
    Statement {
        path,
        header,
        start,
        text: &text[start..start + line.len()],
    }
}

/// A blank line or a comment, which belongs to nothing. Runs of one kind are one.
pub(super) fn filler<'a>(out: &mut Vec<Statement<'a>>, text: &'a str, start: usize, line: &str) {
    let is_blank = |text: &str| text.trim().is_empty();
    match out.last() {
        Some(last) if last.is_filler() && is_blank(last.text) == is_blank(line) => {
            extend(out, text, start, line);
        }
        _ => out.push(statement(Vec::new(), false, text, start, line)),
    }
}

/// Adds a line to the last statement, with the blank lines between them.
pub(super) fn continuation<'a>(
    out: &mut Vec<Statement<'a>>,
    text: &'a str,
    start: usize,
    line: &str,
) {
    while out.len() > 1 && out.last().is_some_and(Statement::is_filler) {
        out.pop();
    }
    extend(out, text, start, line);
}

fn extend<'a>(out: &mut Vec<Statement<'a>>, text: &'a str, start: usize, line: &str) {
    let end = start + line.len();
    if let Some(last) = out.last_mut() {
        last.text = &text[last.start..end];
    } else {
        out.push(statement(Vec::new(), false, text, start, line));
    }
}
