//! Package names in `apt-get install` lines.

use regex::Regex;
use std::sync::LazyLock;

/// Long options whose value is the next word.
const VALUED: &[&str] = &[
    "--build-profiles",
    "--config-file",
    "--default-release",
    "--host-architecture",
    "--option",
    "--target-release",
];

/// Letters of short options that take a value.
const VALUED_LETTERS: &[char] = &['a', 'c', 'o', 'P', 't'];

/// The packages that a shell line installs by apt. What is no literal name (a variable, a pattern, a
/// file, a name with a version) says nothing about another system and is left out.
pub(crate) fn installed(line: &str) -> Vec<String> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[a-z0-9][a-z0-9.+-]*[a-z0-9.+]$").expect("a literal pattern")
    });
    let mut found = Vec::new();
    for command in commands(line) {
        let is_apt = |word: &String| matches!(word.rsplit('/').next(), Some("apt" | "apt-get"));
        let Some(at) = command.iter().position(is_apt) else {
            continue;
        };
        let mut words = command[at + 1..].iter();
        let mut operands = Vec::new();
        while let Some(word) = words.next() {
            if word.starts_with('#') {
                break;
            }
            let redirects = word.contains(['<', '>']);
            if redirects && word.ends_with(['<', '>']) || takes_next(word) {
                words.next();
            } else if !redirects && !word.starts_with('-') {
                operands.push(word);
            }
        }
        if operands.first().is_some_and(|word| *word == "install") {
            let names = operands[1..].iter().filter(|word| NAME.is_match(word));
            found.extend(names.map(|word| (*word).clone()));
        }
    }
    found
}

/// Whether an option's value is the next word.
fn takes_next(option: &str) -> bool {
    if option.starts_with("--") {
        return VALUED.contains(&option);
    }
    // In `-yt NAME` it is, in `-tNAME` and `-oName=value` the rest of the word is the value.
    option
        .strip_prefix('-')
        .and_then(|letters| letters.split_once(VALUED_LETTERS))
        .is_some_and(|(_, rest)| rest.is_empty())
}

/// The commands of a line as words. An expansion stays within its word, whatever it holds; quotes
/// that hold something go, as they do in a shell.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    let mut closing: Vec<char> = Vec::new();
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let nested = !closing.is_empty();
        match (quote, c) {
            (Some(open), _) if c == open => {
                quote = None;
                if open == '`' {
                    word.push(c);
                }
            }
            (None, '\'' | '"') => quote = Some(c),
            (None, '`') => {
                quote = Some(c);
                word.push(c);
            }
            (Some('\'' | '`'), _) => word.push(c),
            (_, '\\') => word.extend(rest.next()),
            (_, '$') if matches!(rest.peek(), Some('(' | '{')) => {
                let open = rest.next().unwrap_or('(');
                closing.push(if open == '(' { ')' } else { '}' });
                word.extend([c, open]);
            }
            (None, '(' | '{') if nested => {
                closing.push(if c == '(' { ')' } else { '}' });
                word.push(c);
            }
            (_, _) if closing.last() == Some(&c) => {
                closing.pop();
                word.push(c);
            }
            (None, _) if !nested && (c.is_whitespace() || ";&|()".contains(c)) => {
                if !word.is_empty() {
                    all.last_mut()
                        .expect("begins with one")
                        .push(std::mem::take(&mut word));
                }
                if ";&|()".contains(c) {
                    all.push(Vec::new());
                }
            }
            _ => word.push(c),
        }
    }
    all.last_mut().expect("begins with one").push(word);
    all
}

#[cfg(test)]
mod tests {
    use super::installed;

    #[test]
    fn only_literal_names_are_packages() {
        for (line, names) in [
            ("sudo apt-get install -y libfoo-dev g++", "libfoo-dev g++"),
            (
                "apt-get update && apt -qq install a1 ; apt-get install b1|cat",
                "a1 b1",
            ),
            (
                "(DEBIAN_FRONTEND=noninteractive /usr/bin/apt-get -y install a1)",
                "a1",
            ),
            ("apt-get -t bookworm-backports install a1", "a1"),
            (
                "apt-get install -t stable -o Dpkg::Use-Pty=0 a1 --target-release sid b1",
                "a1 b1",
            ),
            (
                "apt-get install -yt stable -qqo x=y a1 -tsid -ox=y --option=x --option x b1",
                "a1 b1",
            ),
            (
                "apt-get install -o 'Dpkg::Options::=--force confold' -c apt.conf a1",
                "a1",
            ),
            (
                "apt-get -o Acquire::Retries=3 --config-file my.conf install a1",
                "a1",
            ),
            (
                "apt-get install $PKGS ${PKG} \"$A\" pre$B ${{ matrix.pkg }} ${A:-x y} a1",
                "a1",
            ),
            (
                "apt-get install linux-headers-$(uname -r) $(cat list more) `cat list more` a1",
                "a1",
            ),
            (
                "apt-get install \"lib$(dpkg --print \"x\" y)\" a1 $(a (b) c) b1",
                "a1 b1",
            ),
            ("apt-get install 'libfoo*' libba? lib[x] lib{a,b} a1", "a1"),
            (
                "apt-get install ./x.deb /x/y a1=1.2 b1/sid c1:i386 d1- \"e1\"",
                "e1",
            ),
            ("apt-get install a1 > log 2>err b1 2>&1 && echo c1", "a1 b1"),
            ("apt-get install a1 # and b1", "a1"),
            (
                "apt-get remove a1; apt-get build-dep b1; echo 'apt-get install c1'",
                "",
            ),
            ("apt-get update -o install a1", ""),
            ("apt-get", ""),
            ("apt-get install 'a1", "a1"),
            ("apt-get install \\", ""),
        ] {
            assert_eq!(installed(line).join(" "), names, "{line}");
        }
    }
}
