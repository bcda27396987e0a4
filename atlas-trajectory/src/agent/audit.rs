//! What an agent tried to read that is not there for it, and what came of it.

use super::Executed;
use atlas_core::Patch;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What an agent may not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forbidden {
    /// Tests that the pull request brings.
    HiddenTests,
    /// History after Base.
    FutureHistory,
    /// Anything beyond the sandbox's loopback.
    Network,
    /// The machine around the sandbox, and what the engine put into it.
    Host,
}

/// One try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForbiddenRead {
    /// Which command of the attempt, from 1.
    pub command: usize,
    /// What it reached for.
    pub what: Forbidden,
    /// The part of the command that says so; of what came unasked, the command's first line.
    pub tried: String,
    /// Whether something came back that the agent could not have: the hole is Atlas's, and the attempt is
    /// worth nothing.
    pub revealed: bool,
    /// The line of the output that shows what came of it, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}

/// What is hidden from the agents of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenFacts {
    /// Files that only the pull request's tests bring.
    files: BTreeSet<String>,
    /// Lines that only they bring, without the space around them.
    lines: BTreeSet<String>,
    base: String,
}

/// Fewer letters and digits than that make a line that may stand anywhere.
const LEAST: usize = 20;

impl HiddenFacts {
    /// Of an instance's test patch and base commit.
    pub fn new(test_patch: &Patch, base: &str) -> Self {
        let mut facts = Self {
            base: base.to_ascii_lowercase(),
            ..Self::default()
        };
        for file in test_patch.files().unwrap_or_default() {
            if file.old_path.is_none()
                && let Some(path) = file.new_path
            {
                facts.files.insert(path);
            }
        }
        let text = String::from_utf8_lossy(test_patch.as_bytes()).into_owned();
        let old: BTreeSet<&str> = text
            .lines()
            .filter(|line| line.starts_with([' ', '-']))
            .map(|line| line[1..].trim())
            .collect();
        for line in text.lines().filter(|line| !line.starts_with("+++")) {
            let Some(line) = line.strip_prefix('+').map(str::trim) else {
                continue;
            };
            let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
            if letters >= LEAST && !old.contains(line) {
                facts.lines.insert(line.to_owned());
            }
        }
        facts
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is tested")
}

/// A word that begins a command: at the beginning, or after what ends another.
const BEGINS: &str =
    r"(?:^|[\n;&|(`{]|\$\(|\b(?:sudo|env|exec|time|timeout\s+\S+|xargs|then|do|else)\s)\s*";

static NETWORK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r#"(?m){BEGINS}(?:curl|wget|ping|nc|ncat|telnet|ssh|scp|rsync|ftp|dig|nslookup)\b[^\n]*|\bgit\s+(?:-\S+\s+)*(?:clone|fetch|pull|push|ls-remote|remote\s+update)\b[^\n]*|{BEGINS}(?:python3?\s+-m\s+)?(?:pip3?|uv|poetry|pdm|npm|yarn|pnpm|bun|cargo|gem|bundle|go|composer|apt|apt-get|apk|conda|brew)\s+(?:-\S+\s+)*(?:pip\s+)?(?:install|download|add|get|update|fetch|search|sync|upgrade|i|ci)\b[^\n]*|/dev/(?:tcp|udp)/[^\n]*|\b(?:urllib\.request|urlopen|requests\.(?:get|post)|http\.client|create_connection|fetch\(['"]https?:)[^\n]*"#
    ))
});

static HISTORY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bgit\s+(?:-\S+\s+)*(?:log|rev-list|show|branch|show-ref|for-each-ref|tag|grep)\b[^\n;|&]*(?:--all|--remotes|--reflog|--walk-reflogs|--branches|origin/\S+|\s-a\b|\s-r\b)|\bgit\s+(?:-\S+\s+)*(?:fsck|reflog|verify-pack|unpack-objects|show-index|cat-file\b[^\n;|&]*--batch-all-objects|ls-remote)\b[^\n;|&]*|\.git/(?:objects|packed-refs|FETCH_HEAD|ORIG_HEAD|logs|refs)\b[^\n;|&]*",
    )
});

static COMMIT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bgit\s[^\n;|&]*?\b([0-9a-fA-F]{40})\b"));

static HOST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?m)docker\.sock\b|/proc/(?:1|self)/(?:root|environ|cwd|mem)\b|/proc/(?:kcore|sysrq-trigger)\b|/dev/(?:sd|vd|nvme|xvd|mem\b|kmem\b)\S*|/var/lib/(?:docker|containerd)\b|\b169\.254\.169\.254\b|/opt/atlas/(?:in|head)\b\S*|\$\{{?ATLAS_IN\b|\brelease_agent\b|{BEGINS}(?:nsenter|chroot|mount|umount|unshare|sudo|su|insmod|modprobe|docker|podman|kubectl)\b[^\n]*"
    ))
});

/// Words of programs that did not get what they wanted.
static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)could not resolve|resolution|unreachable|no such|not found|cannot|can't|could not|couldn't|denied|not permitted|refused|bad object|unknown revision|not a valid|must be superuser|fatal:|failed|offline|no matches|timed out",
    )
});

/// Looks through an attempt's commands for what is hidden from it.
///
/// Tries are told by the words of the commands: a try that hides its words (a script that is decoded first) is
/// not seen, but what it reveals is: a line of the hidden tests in an output, which no earlier command
/// wrote.
pub fn forbidden_reads(commands: &[Executed], hidden: &HiddenFacts) -> Vec<ForbiddenRead> {
    let mut found = Vec::new();
    let mut written = String::new();
    for (at, executed) in commands.iter().enumerate() {
        let command = executed.command.as_str();
        let mut tries: Vec<(Forbidden, String)> = Vec::new();
        let mut add = |what, text: &str| tries.push((what, first_line(text)));
        if let Some(read) = hidden.read_in(command, &written) {
            add(Forbidden::HiddenTests, read);
        }
        let other = COMMIT
            .captures_iter(command)
            .find(|found| !found[1].eq_ignore_ascii_case(&hidden.base));
        if let Some(read) = HISTORY.find(command) {
            add(Forbidden::FutureHistory, read.as_str());
        } else if let Some(other) = other {
            add(Forbidden::FutureHistory, &other[0]);
        }
        for (what, pattern) in [(Forbidden::Network, &*NETWORK), (Forbidden::Host, &*HOST)] {
            if let Some(read) = pattern.find(command) {
                add(what, read.as_str());
            }
        }
        written.push_str(command);
        written.push('\n');
        let told = executed.output.lines().map(str::trim).find(|line| {
            let line = line.trim_start_matches(['+', '-', ' ']);
            // Lines are shown with their numbers, too.
            hidden
                .lines
                .iter()
                .any(|hidden| line.ends_with(hidden.as_str()))
                && !hidden.lines.iter().any(|hidden| {
                    line.ends_with(hidden.as_str()) && written.contains(hidden.as_str())
                })
        });
        if told.is_some()
            && !tries
                .iter()
                .any(|(what, _)| *what == Forbidden::HiddenTests)
        {
            tries.push((Forbidden::HiddenTests, first_line(command)));
        }
        for (what, tried) in tries {
            let revealed = told.filter(|_| what == Forbidden::HiddenTests);
            let refusal = || executed.output.lines().find(|line| REFUSED.is_match(line));
            found.push(ForbiddenRead {
                command: at + 1,
                what,
                tried,
                revealed: revealed.is_some(),
                proof: revealed.or_else(refusal).map(first_line),
            });
        }
    }
    found
}

impl HiddenFacts {
    /// The hidden file that a command names and no earlier one wrote, nor itself.
    fn read_in<'a>(&'a self, command: &str, written: &str) -> Option<&'a str> {
        let names = |text: &str, path: &str| {
            text.match_indices(path).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let after = text[at + path.len()..].chars().next();
                let is_part = |c: Option<char>| {
                    c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
                };
                !is_part(before) && !is_part(after)
            })
        };
        let is_written = |text: &str, path: &str| {
            text.lines().any(|line| {
                names(line, path)
                    && (line.contains('>')
                        || ["tee ", "touch ", "cp ", "mv ", "open("]
                            .iter()
                            .any(|word| line.contains(word)))
            })
        };
        self.files
            .iter()
            .find(|path| {
                names(command, path) && !is_written(command, path) && !is_written(written, path)
            })
            .map(String::as_str)
    }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(200).collect()
}
