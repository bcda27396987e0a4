//! The runners that a command names.

use crate::registry::BUILTIN;

/// What a command says of the runners it starts.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The runners, by their place in the table, with the words that name them.
    pub(super) runners: Vec<(usize, String)>,
    /// Whether the command starts nothing else that may start a runner.
    pub(super) complete: bool,
}

/// Programs that start whatever a project's files say.
const OPAQUE: &[&str] = &[
    "ant", "bazel", "bun", "bundle", "composer", "gmake", "grunt", "gulp", "invoke", "just",
    "lerna", "make", "moon", "ninja", "nox", "npm", "nx", "pnpm", "rake", "rush", "task", "tox",
    "turbo", "wireit", "yarn",
];

/// The runners that a command names.
pub(super) fn runners(command: &str) -> Named {
    // `/usr/bin/pytest` is pytest, and `--test-reporter=junit` is not `junit`.
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\''))
        .filter(|word| !word.is_empty())
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .collect();
    let mut named = Named {
        complete: !words.is_empty() && !words.iter().any(|word| opaque(word)),
        ..Named::default()
    };
    for (number, runner) in BUILTIN.iter().enumerate() {
        for sought in runner.about().commands {
            if names(&words, sought) && !named.runners.iter().any(|(by, _)| *by == number) {
                named.runners.push((number, sought.join(" ")));
            }
        }
    }
    // A driver stands for what it starts.
    let all: Vec<usize> = named.runners.iter().map(|(by, _)| *by).collect();
    named
        .runners
        .retain(|(by, _)| !all.iter().any(|other| super::contains(*other, *by)));
    named
}

fn opaque(word: &str) -> bool {
    OPAQUE.contains(&word)
        || std::path::Path::new(word)
            .extension()
            .is_some_and(|end| end == "sh")
}

/// Whether the words stand there in order, with nothing but flags between them.
fn names(words: &[&str], sought: &[&str]) -> bool {
    let Some((first, rest)) = sought.split_first() else {
        return false;
    };
    words.iter().enumerate().any(|(at, word)| {
        let mut after = words[at + 1..].iter();
        word == first
            && rest.iter().all(|next| {
                // `cargo +nightly test`, `node --no-warnings --test`
                after
                    .by_ref()
                    .find(|word| word == &next || !word.starts_with(['-', '+']))
                    == Some(next)
            })
    })
}

/// The runner of a language that has a usual one.
pub(super) fn usual(language: &str) -> Option<usize> {
    let language = language.to_ascii_lowercase();
    BUILTIN
        .iter()
        .position(|runner| runner.about().usual_for.contains(&language.as_str()))
}
