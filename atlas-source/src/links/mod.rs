//! Which issues a text says it resolves.
//!
//! A host closes issues by words in a pull request's description or in a commit's message. The two hosts differ: GitHub
//! counts each keyword with the one reference behind it, so `fixes #1, #2` links issue 1 alone and `fixes #1, fixes #2`
//! both; GitLab takes the whole list.

mod patterns;
mod prose;

use atlas_core::Evidence;
use patterns::{github, gitlab};
use serde::{Deserialize, Serialize};

/// Whose words count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkFlavour {
    /// GitHub's nine keywords: `close`, `closes`, `closed`, `fix`, `fixes`, `fixed`, `resolve`, `resolves`, `resolved`, in any case,
    /// with a colon or without. Each counts with the one reference behind it.
    #[default]
    Github,
    /// GitLab's default pattern: also `closing`, `fixing`, `resolving` and `implement`, with lists as `#1, #2 and group/project#3`.
    Gitlab,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Markdown: HTML comments, code and quotes say nothing.
    Markdown,
    /// A title or a commit's message: lines that begin with `>` are quotes, all others count.
    Plain,
}

/// Where a text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkContext {
    /// Whose words count.
    pub flavour: LinkFlavour,
    /// The host of full addresses, `github.com`: addresses of other hosts are no links.
    pub host: String,
    /// The repository that `#12` means, `owner/name`.
    pub repo: String,
}

impl LinkContext {
    /// A repository at github.com.
    pub fn github(repo: impl Into<String>) -> Self {
        Self {
            flavour: LinkFlavour::Github,
            host: "github.com".to_owned(),
            repo: repo.into(),
        }
    }

    /// A project at gitlab.com.
    pub fn gitlab(repo: impl Into<String>) -> Self {
        Self {
            flavour: LinkFlavour::Gitlab,
            host: "gitlab.com".to_owned(),
            repo: repo.into(),
        }
    }
}

/// An issue that a text says it resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueLink {
    /// The issue's repository.
    pub repo: String,
    /// Its number.
    pub number: u64,
    /// The line that says so, from 1.
    pub line: usize,
    /// The keyword and the reference as written: `Fixes: owner/name#12`.
    pub words: String,
}

impl IssueLink {
    /// The words with their place in `source`, as in `body`, line 3.
    pub fn evidence(&self, source: &str) -> Evidence {
        Evidence::at(source, self.line, &self.words)
    }
}

/// The issues that a text says it resolves, in the text's order, each once: at its first mention.
///
/// References are `#12`, `GH-12` (GitHub), `owner/name#12` and full addresses of issues at the context's host. A keyword
/// and its reference stand on one line. A negation is not understood, as the hosts do not: `does not fix #12` links.
/// Linear in the text; accepts any text.
///
/// ```
/// use atlas_source::{LinkContext, TextKind, closing_links};
///
/// let context = LinkContext::github("owner/name");
/// let links = closing_links("Fixes #1, closes other/lib#2.\n\n`fixes #3`", TextKind::Markdown, &context);
/// let found: Vec<_> = links.iter().map(|link| (link.repo.as_str(), link.number)).collect();
/// assert_eq!(found, [("owner/name", 1), ("other/lib", 2)]);
/// ```
pub fn closing_links(text: &str, kind: TextKind, context: &LinkContext) -> Vec<IssueLink> {
    let prose = match kind {
        TextKind::Markdown => prose::of_markdown(text),
        TextKind::Plain => prose::of_plain(text),
    };
    let found = match context.flavour {
        LinkFlavour::Github => github(&prose, context),
        LinkFlavour::Gitlab => gitlab(&prose, context),
    };
    let mut links: Vec<IssueLink> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let (mut line, mut counted) = (1, 0);
    for reference in found {
        line += memchr::memchr_iter(b'\n', &prose.as_bytes()[counted..reference.start]).count();
        counted = reference.start;
        if seen.insert((reference.repo.to_ascii_lowercase(), reference.number)) {
            let words = text.get(reference.start..reference.end).unwrap_or_default();
            links.push(IssueLink {
                repo: reference.repo,
                number: reference.number,
                line,
                words: words.split_whitespace().collect::<Vec<_>>().join(" "),
            });
        }
    }
    links
}
