//! Which commits a pull request's number stands for, and what its author wrote.

use crate::repository::{GitRepo, shas};
use atlas_core::{CommitSha, Error, ErrorKind};
use regex::Regex;
use std::sync::LazyLock;

/// The two ends of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestCommits {
    /// The state before.
    pub base: CommitSha,
    /// The state after.
    pub head: CommitSha,
    /// How the commits were found, for people.
    pub how: String,
}

impl GitRepo {
    /// Finds the commits of a pull request without asking its host.
    ///
    /// Tried in this order: a merge commit whose subject names the number (`Merge pull request
    /// #7`, `Merge #7`, `Merge PR #7`, `Auto merge of #7`; base is its first parent); a commit
    /// whose subject ends in `(#7)`, as squashed pull requests have; a ref that the host keeps
    /// (`refs/pull/7/head` or `refs/remotes/*/pr/7`), with the merge base to the default branch.
    /// What was merged comes first because it is the state that was released; of several commits
    /// with the number the oldest counts, since later ones are back-ports.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] saying what was looked for.
    pub async fn pull_request(&self, number: u64) -> Result<PullRequestCommits, Error> {
        let merge =
            format!("^(Merge pull request|Merge PR:?|Merge|Auto merge of) #{number}([^0-9]|$)");
        if let Some((head, parents)) = self.search(&merge, true).await?
            && let Some(base) = parents.into_iter().next()
        {
            let how = format!("merge commit {}", head.short());
            return Ok(PullRequestCommits { base, head, how });
        }
        let squash = format!("\\(#{number}\\)$");
        if let Some((head, parents)) = self.search(&squash, false).await?
            && let Some(base) = parents.into_iter().next()
        {
            let how = format!("squashed commit {}", head.short());
            return Ok(PullRequestCommits { base, head, how });
        }
        if let Some(found) = self.by_ref(number).await? {
            return Ok(found);
        }
        Err(Error::new(
            ErrorKind::NotFound,
            "find pull request",
            format!(
                "#{number}: no commit says `Merge pull request #{number}` or ends its subject in `(#{number})`, \
                 and there is no unmerged `refs/pull/{number}/head` or `refs/remotes/*/pr/{number}`; \
                 fetch the pull request, or give base and head commits"
            ),
        ))
    }

    /// The oldest commit whose subject fits, those reachable from HEAD first.
    async fn search(
        &self,
        pattern: &str,
        merges: bool,
    ) -> Result<Option<(CommitSha, Vec<CommitSha>)>, Error> {
        let subject = regex::Regex::new(pattern).map_err(|why| {
            Error::new(ErrorKind::Internal, "make the pattern", pattern).with_source(why)
        })?;
        for from in ["HEAD", "--all"] {
            let mut call = self.git().args([
                "rev-list",
                "--no-commit-header",
                "--format=%H%x00%P%x00%s%x00",
                "--extended-regexp",
            ]);
            if merges {
                call = call.arg("--merges");
            }
            let output = call
                .arg(format!("--grep={pattern}"))
                .args([from, "--"])
                .output()
                .await?;
            let text = String::from_utf8_lossy(&output.stdout);
            let mut fields = text.split('\0');
            let mut found = None;
            while let (Some(id), Some(parents), Some(line)) =
                (fields.next(), fields.next(), fields.next())
            {
                // The pattern looked at every line of the message; only the subject counts.
                if subject.is_match(line) {
                    found = Some((id.trim().to_owned(), parents.to_owned()));
                }
            }
            if let Some((id, parents)) = found
                && let Some(id) = shas(&id)?.into_iter().next()
            {
                return Ok(Some((id, shas(&parents)?)));
            }
        }
        Ok(None)
    }

    async fn by_ref(&self, number: u64) -> Result<Option<PullRequestCommits>, Error> {
        let output = self
            .git()
            .args(["for-each-ref", "--format=%(refname)"])
            .arg(format!("refs/pull/{number}/head"))
            .arg(format!("refs/remotes/*/pr/{number}"))
            .arg(format!("refs/remotes/*/pull/{number}/head"))
            .checked()
            .await?;
        let text = output.line();
        let Some(name) = text.lines().next() else {
            return Ok(None);
        };
        let head = self.resolve(name).await?;
        for default in ["refs/remotes/origin/HEAD", "HEAD"] {
            let Ok(branch) = self.resolve(default).await else {
                continue;
            };
            let Some(base) = self.merge_base(&branch, &head).await? else {
                continue;
            };
            if base != head {
                let how = format!("{name} since {default}");
                return Ok(Some(PullRequestCommits { base, head, how }));
            }
            // The branch was merged under a subject of its own: find the merge that took it in.
            let output = self
                .git()
                .args(["rev-list", "--merges", "--parents", "--ancestry-path"])
                .arg(format!("{head}..{branch}"))
                .checked()
                .await?;
            let merges = output.line();
            for line in merges.lines() {
                let mut ids = shas(line)?.into_iter();
                if let (Some(merge), Some(first)) = (ids.next(), ids.next())
                    && ids.any(|parent| parent == head)
                {
                    let how = format!("{name}, merged by {}", merge.short());
                    return Ok(Some(PullRequestCommits {
                        base: first,
                        head: merge,
                        how,
                    }));
                }
            }
        }
        Ok(None)
    }
}

/// A problem statement out of commit messages, for want of the pull request's own text: the
/// messages one after another without what git and hosts add to them: sign-off lines, pull request numbers
/// at the end of subjects, subjects of merges, lists of files in conflict and the rule before co-authors.
///
/// ```
/// let text = atlas_source::problem_statement(&["Fix it (#7)\n\nBody.\n\nSigned-off-by: Me <me@x>"]);
/// assert_eq!(text, "Fix it\n\nBody.");
/// ```
pub fn problem_statement<S: AsRef<str>>(messages: &[S]) -> String {
    let mut parts = Vec::new();
    for message in messages {
        let mut lines = Vec::new();
        let mut in_conflicts = false;
        for line in message.as_ref().lines().map(str::trim_end) {
            if is_conflicts(line) {
                in_conflicts = true;
                continue;
            }
            // The files are indented, behind a `#` or not; anything else ends the list.
            let file = line.trim_start_matches('#');
            in_conflicts &= file.is_empty() || file.starts_with('\t') || file.starts_with("  ");
            if in_conflicts && !line.is_empty() || is_added(line) {
                continue;
            }
            // What was left out leaves blank lines behind. A rule below text makes it a heading.
            let is_rule = line.len() >= 5 && line.bytes().all(|byte| byte == b'-');
            let above = lines.last().is_none_or(|last: &&str| last.is_empty());
            if !(above && (line.is_empty() || is_rule)) {
                lines.push(line);
            }
        }
        if let Some(subject) = lines.first_mut() {
            *subject = without_number(subject);
        }
        let text = lines.join("\n");
        let text = text.trim();
        if !text.is_empty() {
            parts.push(text.to_owned());
        }
    }
    parts.join("\n\n")
}

/// `Conflicts:` or `# Conflicts:`, which git writes above the files of a merge that did not fit.
fn is_conflicts(line: &str) -> bool {
    let line = line.trim_start_matches(['#', ' ', '*', '-']);
    line.eq_ignore_ascii_case("conflicts:")
}

/// A line that no author wrote: a trailer, the subject of a merge (squashing makes it an item of a list).
fn is_added(line: &str) -> bool {
    const TRAILERS: &[&str] = &[
        "signed-off-by",
        "co-authored-by",
        "reviewed-by",
        "acked-by",
        "tested-by",
        "reviewed-on",
        "change-id",
        "cc",
    ];
    static MERGE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?x)^(?:[*-]\ +)?Merged?\ (?:
                (?:remote(?:-tracking)?\ )?(?:branch|branches|tag|tags|commit)\ '[^']+'.*
                | branch\ \S+(?:\ (?:of|from|into|in|to)\ \S+)*
                | pull\ request\ \#\d+.*
                | [0-9a-f]{7,40}\ into\ [0-9a-f]{7,40}
            )$",
        )
        .expect("the pattern is tested")
    });
    let key = line
        .split_once(": ")
        .map(|(key, _)| key.to_ascii_lowercase());
    key.is_some_and(|key| TRAILERS.contains(&key.as_str())) || MERGE.is_match(line)
}

/// The subject without `(#7)` at its end.
fn without_number(subject: &str) -> &str {
    let Some((rest, number)) = subject
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once("(#"))
    else {
        return subject;
    };
    if number.bytes().all(|byte| byte.is_ascii_digit()) {
        rest.trim_end()
    } else {
        subject
    }
}
