//! The operands of a test command: those that a selection stands in place of.

use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;

/// Where a selection goes, in a command whose own operands are gone.
pub(super) const SELECTION: &str = "@ATLAS_SELECTION@";

/// pytest's own operands go: beside them a selection selects nothing.
pub(super) fn without_existing(command: &str, root: &Path) -> String {
    let words = command.split(' ').enumerate();
    let mut before = "";
    let kept: Vec<&str> = words
        .filter(|(at, word)| {
            let is_value = matches!(
                before,
                "-o" | "-p" | "-m" | "-k" | "-n" | "-c" | "cd" | "-r" | "-W"
            );
            before = word;
            let is_place = *at > 0
                && !is_value
                && !word.is_empty()
                && !word.starts_with(['-', '"', '\'', '$', '/'])
                && !word.contains('=')
                && root.join(word.trim_matches('\'')).exists();
            !is_place
        })
        .map(|(_, word)| word)
        .collect();
    kept.join(" ")
}

/// A command of Mocha, node, AVA, Bun, bats or prove with [`SELECTION`] in place of its operands; of the files those are left that it
/// would run. The reason where that cannot be done.
pub(super) fn replaced(
    command: &str,
    values: &[&str],
    root: &Path,
    files: &mut BTreeSet<String>,
) -> Result<String, String> {
    let none = || format!("the test command has no place for a selection: `{command}`");
    let program = Regex::new(
        r"(?:^|[\s/;(])_?(?:mocha(?:\.[cm]?js)?|borp|node --test|bun (?:-\S+ )*test|ava|bats|prove)(?:\s|$)",
    )
    .map_err(|why| why.to_string())?;
    let mut calls = program.find_iter(command);
    let (Some(call), None) = (calls.next(), calls.next()) else {
        return Err(none());
    };
    let is_mocha = call.as_str().contains("mocha");
    let start = call.end();
    let (words, end) = words(&command[start..]);
    let (mut kept, mut operands) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--spec" {
            operands.extend(words.next());
        } else if let Some(spec) = word.strip_prefix("--spec=") {
            operands.push(spec);
        } else if values.contains(&word) {
            kept.push(word);
            kept.extend(words.next());
        } else if word.starts_with('-') || word.starts_with("$(") {
            kept.push(word);
        } else {
            operands.push(word);
        }
    }
    if operands.iter().any(|word| word.contains(['$', '`'])) {
        return Err(none());
    }
    if is_mocha && names_files(root) {
        // Mocha would run them beside the selection.
        return Err("Mocha's configuration names the test files".to_owned());
    }
    let plain: Vec<String> = operands
        .iter()
        .map(|word| word.replace(['"', '\''], ""))
        .collect();
    files.retain(|path| {
        let usual = plain.is_empty()
            && match call.as_str().trim() {
                _ if is_mocha => path.starts_with("test/"),
                name if name.ends_with("prove") => path.starts_with("t/"),
                _ => true,
            };
        usual || plain.iter().any(|operand| covers(operand, path))
    });
    if files.is_empty() {
        return Err("the command runs none of the files that the pull request touches".to_owned());
    }
    kept.push(SELECTION);
    let mut ahead = command[..start].trim_end().to_owned();
    let name = ahead
        .rfind(|c: char| c.is_whitespace() || matches!(c, ';' | '('))
        .map_or(0, |before| before + 1);
    if ahead[name..].rsplit('/').next() == Some("borp") {
        // It adds the files that its configuration names to those that it is given.
        ahead.insert_str(name, "env BORP_CONF_FILE=none ");
    }
    Ok(format!(
        "{ahead} {}{}",
        kept.join(" "),
        &command[start + end..]
    ))
}

/// Whether files of Mocha's configuration name test files.
fn names_files(root: &Path) -> bool {
    let holds = |file: &str, word: &str| {
        std::fs::read_to_string(root.join(file)).is_ok_and(|text| text.contains(word))
    };
    [
        ".mocharc.js",
        ".mocharc.cjs",
        ".mocharc.mjs",
        ".mocharc.json",
        ".mocharc.jsonc",
        ".mocharc.yml",
        ".mocharc.yaml",
    ]
    .iter()
    .any(|file| holds(file, "spec"))
        || holds("package.json", "\"spec\":")
        || std::fs::read_to_string(root.join("test/mocha.opts")).is_ok_and(|text| {
            text.lines()
                .any(|line| !line.trim().is_empty() && !line.trim().starts_with(['-', '#']))
        })
}

/// Whether a file, folder or pattern may stand for a file.
fn covers(operand: &str, path: &str) -> bool {
    let operand = operand.trim_start_matches("./").trim_end_matches('/');
    let signs = ['*', '?', '{', '[', '(', '!', '+', '@'];
    if let Some(at) = operand.find(signs) {
        let last = operand
            .rfind(['*', '?', '}', ']', ')'])
            .map_or(at, |last| last + 1);
        return path.starts_with(&operand[..at]) && path.ends_with(&operand[last.max(at)..]);
    }
    let rest = path.strip_prefix(operand);
    matches!(operand, "" | ".") || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The words of one simple command, and where it ends: at an operator of the shell or a redirection.
fn words(text: &str) -> (Vec<&str>, usize) {
    let mut found = Vec::new();
    let mut start = None;
    let (mut quote, mut depth, mut before) = (None, 0_usize, ' ');
    let mut end = text.len();
    for (at, sign) in text.char_indices() {
        let is_open = quote.is_some() || depth > 0;
        match sign {
            sign if quote == Some(sign) => quote = None,
            _ if quote.is_some() => {}
            '"' | '\'' => quote = Some(sign),
            '(' if before == '$' || depth > 0 => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ' ' if !is_open => {
                found.extend(start.take().map(|from| &text[from..at]));
            }
            ';' | '|' | '&' | ')' | '\n' | '>' | '<' if !is_open => {
                // `2>file`: the number belongs to the redirection.
                let number = start.take().filter(|from| {
                    !(matches!(sign, '>' | '<')
                        && text[*from..at].chars().all(|c| c.is_ascii_digit()))
                });
                found.extend(number.map(|from| &text[from..at]));
                end = at;
                break;
            }
            _ => {}
        }
        if start.is_none() && sign != ' ' {
            start = Some(at);
        }
        before = sign;
    }
    if end == text.len() {
        found.extend(start.map(|from| &text[from..]));
        return (found, end);
    }
    // Blanks and the number before what ends the command stay with that.
    let upto = text[..end].trim_end_matches(|c: char| c.is_ascii_digit());
    let end = if text[end..].starts_with(['>', '<']) && upto.ends_with(' ') {
        upto.len()
    } else {
        end
    };
    (found, text[..end].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::{SELECTION, replaced};
    use std::collections::BTreeSet;

    #[test]
    fn a_selection_takes_the_place_of_the_command_s_files() {
        let folder = tempfile::tempdir().unwrap();
        let all = ["test/a.js", "test/deep/b.js", "test/c.ts", "lib/d.test.js"];
        for (command, wanted, left) in [
            (
                "export PATH=\"$PWD/node_modules/.bin:$PATH\"; mocha --require test/env --check-leaks test/ test/deep/ --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\"",
                "mocha --require test/env --check-leaks --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\" @",
                &["test/a.js", "test/c.ts", "test/deep/b.js"][..],
            ),
            (
                "node_modules/.bin/mocha -t 5000 --spec 'test/**/*.js'; (exit 1)",
                "node_modules/.bin/mocha -t 5000 @; (exit 1)",
                &["test/a.js", "test/deep/b.js"],
            ),
            (
                "mocha",
                "mocha @",
                &["test/a.js", "test/c.ts", "test/deep/b.js"],
            ),
            (
                "export PATH=\"$PWD/node_modules/.bin:$PATH\"; borp --reporter spec",
                "; env BORP_CONF_FILE=none borp --reporter spec @",
                &["lib/d.test.js", "test/a.js", "test/c.ts", "test/deep/b.js"],
            ),
            (
                "node --test $(node --help | grep -q x && echo --test-timeout=1) --import tsx lib/*.test.js 2>\"$ATLAS_OUT/report.tap\" || (code=$?; exit $code)",
                "node --test $(node --help | grep -q x && echo --test-timeout=1) --import tsx @ 2>\"$ATLAS_OUT/report.tap\" || (code",
                &["lib/d.test.js"],
            ),
        ] {
            let mut files: BTreeSet<String> = all.map(str::to_owned).into();
            let made = replaced(
                command,
                &["--require", "-t", "--reporter", "--import"],
                folder.path(),
                &mut files,
            )
            .unwrap();
            assert!(made.contains(&wanted.replace('@', SELECTION)), "{made}");
            assert!(files.iter().eq(left), "{command}: {files:?}");
        }
    }

    #[test]
    fn what_leaves_no_place_for_a_selection_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let why = |command: &str, file: &str| {
            let mut files = BTreeSet::from([file.to_owned()]);
            replaced(command, &[], folder.path(), &mut files).unwrap_err()
        };
        // Tests that are compiled first run under other names.
        assert!(why("mocha dist/**/*.js", "test/a.ts").contains("none of the files"));
        assert!(why("npm run x", "test/a.js").contains("no place"));
        assert!(why("mocha a; mocha b", "a/x.js").contains("no place"));
        std::fs::write(folder.path().join(".mocharc.yml"), "spec: test/*.js\n").unwrap();
        assert!(why("mocha", "test/a.js").contains("configuration"));
    }
}
