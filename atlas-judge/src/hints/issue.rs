//! Whether an issue names something.

/// Whether a text mentions a name of code.
///
/// A name that only code has (`split_off`, `getVarNames`, `MAX_SIZE`, `utf8`) counts wherever it stands
/// as a word of its own. One that could be plain English (`add`, `Router`) counts where it is written as
/// code: in backticks or a code block, before `(`, or behind `.`, `::`, `->` or `#`.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let name = name.trim_end_matches(['?', '!', '=']);
    if name.is_empty() {
        return true;
    }
    let is_code_only = is_code_only(name);
    let mut from = 0;
    while let Some(found) = text[from..].find(name) {
        let (start, end) = (from + found, from + found + name.len());
        from = end;
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        if before.is_some_and(is_word) || after.is_some_and(is_word) {
            continue;
        }
        if is_code_only || is_written_as_code(text, start, end) {
            return true;
        }
    }
    false
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_code_only(name: &str) -> bool {
    let mut letters = name.chars();
    let _ = letters.next();
    name.chars().any(|c| !c.is_alphabetic()) || letters.any(char::is_uppercase)
}

fn is_written_as_code(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (&text[..start], &text[end..]);
    let is_called = after.starts_with('(') || after.starts_with("::") || after.starts_with("->");
    // A full stop ends sentences; between two words without a space it does not.
    let is_member = ["::", "->", "#", "."]
        .iter()
        .any(|sign| before.ends_with(sign) && !before.ends_with(".."))
        || (after.starts_with('.') && after[1..].starts_with(char::is_alphanumeric));
    is_called || is_member || is_in_ticks(before, after) || is_in_block(before)
}

/// Between backticks of one line.
fn is_in_ticks(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = after.split('\n').next().unwrap_or_default();
    line.matches('`').count() % 2 == 1 && rest.contains('`')
}

/// Behind an opened fence, or on a line that is indented as code after an empty one.
fn is_in_block(before: &str) -> bool {
    let fences = before.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("```") || line.starts_with("~~~")
    });
    fences.count() % 2 == 1
        || before
            .rsplit('\n')
            .next()
            .is_some_and(|line| line.starts_with("    ") || line.starts_with('\t'))
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn names_of_code_count_as_words_plain_words_as_code() {
        for (text, name, expected) in [
            ("please add split_off to it", "split_off", true),
            ("please add split_off_at to it", "split_off", false),
            ("getVarNames is missing", "getVarNames", true),
            ("please add a thing", "add", false),
            ("`list.add` is missing", "add", true),
            ("call add(1)", "add", true),
            ("The Router fails", "Router", false),
            ("```go\nr := Router{}\n```", "Router", true),
            ("before\n```\nx\n```\nRouter", "Router", false),
            ("It is empty. add it", "add", false),
            ("obj.add", "add", true),
            ("empty? is missing", "empty?", false),
            ("`empty?` is missing", "empty?", true),
            ("", "x1", false),
        ] {
            assert_eq!(mentions(text, name), expected, "{name} in {text}");
        }
    }
}
