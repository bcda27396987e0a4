//! What a commit on the first-parent history of a branch says of the pull request that it brought.

use crate::links::LinkFlavour;
use regex::Regex;
use std::sync::LazyLock;

/// What a commit's message says of its pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MergeMessage {
    /// The number, where it says one.
    pub(crate) number: Option<u64>,
    /// The title, without what hosts and bots add.
    pub(crate) title: String,
    /// The description; of a squashed one the list of its commits, or what its author made of it.
    pub(crate) body: String,
    /// The branch that was merged, `owner/branch` or `branch`.
    pub(crate) branch: Option<String>,
    /// What shows that it is one, for people.
    pub(crate) how: &'static str,
}

/// The subjects of merges that name a number, as [`GitRepo::pull_request`](crate::GitRepo::pull_request) looks for them.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?<kind>Merge pull request|Merge PR:?|Merge|Auto merge of|Merge pull requests) #(?<number>[0-9]+)(?:[^0-9](?<rest>.*))?$",
    )
    .expect("the pattern is tested")
});

static BRANCH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^Merge (?:remote-tracking )?branch '(?<branch>[^']+)'")
        .expect("the pattern is tested")
});

static SQUASHED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?<title>.*?) *\(#(?<number>[0-9]+)\)$").expect("tested"));

/// GitLab's line below the description: `See merge request group/project!7`.
static SEE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^See merge request (?:[\w.-]+(?:/[\w.-]+)*)?!(?<number>[0-9]+)\s*$")
        .expect("the pattern is tested")
});

/// bors-ng's line for each pull request of a batch: `7: Title r=reviewer a=author`.
static BORS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?<number>[0-9]+): (?<title>.*?)(?: r=\S+)?(?: a=\S+)?$").expect("tested")
});

/// A trailer that names the pull request of a commit that was rebased: `PR-URL: https://github.com/o/n/pull/7` (Node.js), `Part-of:
/// <https://gitlab.com/g/p/-/merge_requests/7>` (Marge-bot), `Merge-request: !7`, `PR #7`.
static TRAILER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?mi)^(?:PR-URL|Part-of|Pull-Request|Merge-Request|PR)(?:: *| +)<?(?:https?://\S+/(?:pull|merge_requests)/|[#!])?(?<number>[0-9]+)>?[ \t]*$",
    )
    .expect("the pattern is tested")
});

/// Branches that others are merged from into a pull request, not by one.
const TRUNKS: &[&str] = &[
    "main",
    "master",
    "develop",
    "trunk",
    "origin/main",
    "origin/master",
];

/// Reads a message, `is_merge` of a commit with two parents. `None` where nothing in it tells of a pull request.
pub(crate) fn read(message: &str, is_merge: bool, flavour: LinkFlavour) -> Option<MergeMessage> {
    let (subject, rest) = message.split_once('\n').unwrap_or((message, ""));
    let (subject, rest) = (subject.trim(), rest.trim());
    let see = SEE
        .captures(rest)
        .and_then(|found| found["number"].parse().ok());
    if is_merge {
        if let Some(found) = NUMBERED.captures(subject) {
            let number = found["number"].parse().ok()?;
            return Some(merged(number, &found, rest));
        }
        let branch = BRANCH.captures(subject)?["branch"].to_owned();
        if see.is_none() && TRUNKS.contains(&branch.as_str()) {
            return None;
        }
        let (title, body) = title_and_body(&without_see(rest));
        return Some(MergeMessage {
            number: see,
            title,
            body,
            branch: Some(branch),
            how: if see.is_some() {
                "merge of a merge request"
            } else {
                "merge of a branch"
            },
        });
    }
    // A branch that was squashed under the words of its merge.
    if let Some(found) = NUMBERED.captures(subject)
        && &found["kind"] == "Merge pull request"
    {
        let number = found["number"].parse().ok()?;
        return Some(MergeMessage {
            how: "squashed commit",
            ..merged(number, &found, rest)
        });
    }
    if let Some(found) = SQUASHED.captures(subject)
        && flavour == LinkFlavour::Github
    {
        return Some(MergeMessage {
            number: Some(found["number"].parse().ok()?),
            title: found["title"].to_owned(),
            body: rest.to_owned(),
            branch: None,
            how: "squashed commit",
        });
    }
    let trailer = TRAILER
        .captures(rest)
        .and_then(|found| found["number"].parse().ok());
    Some(MergeMessage {
        number: see.or(trailer),
        title: subject.to_owned(),
        body: without_see(rest),
        branch: None,
        how: match (see, trailer) {
            (Some(_), _) => "squashed commit",
            (None, Some(_)) => "commit with a trailer",
            (None, None) => "commit",
        },
    })
}

/// What the merge of a numbered pull request says: GitHub puts title and description below the subject, bors and homu likewise.
fn merged(number: u64, subject: &regex::Captures, rest: &str) -> MergeMessage {
    let tail = subject.name("rest").map_or("", |rest| rest.as_str()).trim();
    let branch = match &subject["kind"] {
        "Merge pull request" => tail.strip_prefix("from ").map(str::to_owned),
        "Auto merge of" => tail
            .trim_start_matches(['-', ' '])
            .split([',', ' '])
            .next()
            .filter(|branch| !branch.is_empty())
            .map(str::to_owned),
        _ => None,
    };
    let (mut title, mut body) = title_and_body(rest);
    if let Some(found) = BORS.captures(&title)
        && found["number"].parse() == Ok(number)
    {
        title = found["title"].to_owned();
    }
    // `Merge PR #7: Title` has it in the subject.
    let own = tail.trim_start_matches([':', '-', ' ']);
    if branch.is_none() && !own.is_empty() {
        let below = format!("{title}\n\n{body}");
        below.trim().clone_into(&mut body);
        own.clone_into(&mut title);
    }
    MergeMessage {
        number: Some(number),
        title,
        body,
        branch,
        how: "merge commit",
    }
}

fn title_and_body(text: &str) -> (String, String) {
    let (title, body) = text.split_once('\n').unwrap_or((text, ""));
    (title.trim().to_owned(), body.trim().to_owned())
}

fn without_see(text: &str) -> String {
    SEE.replace(text, "").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, is_merge: bool, expected: Option<(Option<u64>, &str, &str)>) {
        for flavour in [LinkFlavour::Github, LinkFlavour::Gitlab] {
            if flavour == LinkFlavour::Gitlab && message.contains("(#") {
                continue;
            }
            let told = read(message, is_merge, flavour);
            let found = told
                .as_ref()
                .map(|told| (told.number, &*told.title, &*told.body));
            assert_eq!(found, expected, "{message:?}");
        }
    }

    #[test]
    fn merges_say_number_title_and_description() {
        check(
            "Merge pull request #7 from me/fix-it\n\nFix it\n\nFixes #5.",
            true,
            Some((Some(7), "Fix it", "Fixes #5.")),
        );
        check(
            "Merge pull request #7 from me/fix-it",
            true,
            Some((Some(7), "", "")),
        );
        check(
            "Auto merge of #7 - me:fix, r=you\n\nFix it\n\nBody",
            true,
            Some((Some(7), "Fix it", "Body")),
        );
        check(
            "Merge #7\n\n7: Fix it r=you a=me\n\nBody",
            true,
            Some((Some(7), "Fix it", "Body")),
        );
        check(
            "Merge PR #7: Fix it\n\nBody",
            true,
            Some((Some(7), "Fix it", "Body")),
        );
        check(
            "Merge branch 'fix' into 'main'\n\nFix it\n\nCloses #5\n\nSee merge request group/sub/project!7",
            true,
            Some((Some(7), "Fix it", "Closes #5")),
        );
        check(
            "Merge branch 'fix'\n\nFixes #5",
            true,
            Some((None, "Fixes #5", "")),
        );
        check("Merge branch 'main' into fix", true, None);
        check("Merge tag 'v1.0'", true, None);
    }

    #[test]
    fn squashed_ones_end_their_subject_in_the_number() {
        check(
            "Fix it (#7)\n\n* one\n* two",
            false,
            Some((Some(7), "Fix it", "* one\n* two")),
        );
        check(
            "Revert \"Fix it (#7)\" (#8)",
            false,
            Some((Some(8), "Revert \"Fix it (#7)\"", "")),
        );
        check(
            "Merge pull request #7 from me/fix\n\nFix it",
            false,
            Some((Some(7), "Fix it", "")),
        );
        check("Fix (#7) it", false, Some((None, "Fix (#7) it", "")));
        check(
            "Fix it\n\nSee merge request g/p!7",
            false,
            Some((Some(7), "Fix it", "")),
        );
    }

    #[test]
    fn trailers_name_the_pull_request_of_a_rebased_commit() {
        for trailer in [
            "PR-URL: https://github.com/o/n/pull/7",
            "Part-of: <https://gitlab.com/g/p/-/merge_requests/7>",
            "Merge-request: !7",
            "Pull-Request: #7",
            "PR #7",
            "Reviewed-by: Ann\nPR: 7\nSigned-off-by: Bob",
        ] {
            let told = read(
                &format!("Fix it\n\n{trailer}\n"),
                false,
                LinkFlavour::Github,
            )
            .unwrap();
            assert_eq!(told.number, Some(7), "{trailer}");
        }
        for words in [
            "see PR #7 for more",
            "PR #7 was wrong",
            "Part-of: #7 and #8",
        ] {
            let told = read(&format!("Fix it\n\n{words}\n"), false, LinkFlavour::Github).unwrap();
            assert_eq!(told.number, None, "{words}");
        }
    }
}
