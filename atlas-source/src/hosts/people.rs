//! Who wrote something, by name.

use atlas_core::{Author, AuthorClass};

/// Accounts that are programs, in lower case; beside them every name that ends in `[bot]`.
const BOTS: &[&str] = &[
    "dependabot",
    "dependabot-preview",
    "renovate",
    "renovate-bot",
    "renovatebot",
    "pre-commit-ci",
    "github-actions",
    "github actions",
    "greenkeeper",
    "greenkeeperio-bot",
    "pyup-bot",
    "pyup.io bot",
    "snyk-bot",
    "snyk bot",
    "imgbot",
    "imgbotapp",
    "allcontributors",
    "mergify",
    "semantic-release-bot",
    "weblate",
    "hosted weblate",
    "transifex-integration",
    "crowdin-bot",
    "codecov-io",
    "bors",
    "bors-servo",
    "homu",
    "web-flow",
    "copybara-service",
    "k8s-ci-robot",
    "miss-islington",
    "scala-steward",
    "depfu",
    "whitesource-bolt",
    "gitlab-bot",
    "project-bot",
];

/// Whether the name is a program's: `dependabot[bot]`, `app/renovate`, `mergify-bot`.
pub(crate) fn is_bot(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_prefix("app/").unwrap_or(&name);
    let ends = ["[bot]", "-bot", "_bot", " bot"];
    BOTS.contains(&name) || ends.iter().any(|end| name.ends_with(end))
}

/// An author of whom only the name is known; without one, a deleted account.
pub(crate) fn named(name: Option<&str>) -> Author {
    let class = match name {
        None => AuthorClass::Deleted,
        Some(name) if is_bot(name) => AuthorClass::Bot,
        Some(_) => AuthorClass::Unknown,
    };
    Author {
        name: name.map(str::to_owned),
        class,
    }
}

/// The class that GitHub's `authorAssociation` tells of an account; `kind` is `Bot` or `User` where it says so.
pub(crate) fn associated(
    name: Option<&str>,
    kind: Option<&str>,
    association: Option<&str>,
) -> Author {
    let mut author = named(name);
    // `ghost` stands for accounts that were deleted.
    if author.class == AuthorClass::Deleted || name == Some("ghost") {
        author.class = AuthorClass::Deleted;
        author.name = None;
    } else if kind == Some("Bot") {
        author.class = AuthorClass::Bot;
    } else if author.class == AuthorClass::Unknown {
        author.class = match association {
            Some("OWNER" | "MEMBER" | "COLLABORATOR") => AuthorClass::Maintainer,
            Some("CONTRIBUTOR") => AuthorClass::Contributor,
            Some("FIRST_TIMER" | "FIRST_TIME_CONTRIBUTOR" | "NONE" | "MANNEQUIN") => {
                AuthorClass::Newcomer
            }
            _ => AuthorClass::Unknown,
        };
    }
    author
}
