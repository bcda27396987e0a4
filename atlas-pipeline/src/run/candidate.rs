//! A candidate, and when its turn comes.

use atlas_core::{InstanceId, SourcedPullRequest};
use std::path::PathBuf;

/// A pull request on its way through the stages.
#[derive(Clone, Debug)]
pub struct RunCandidate {
    /// The name that its instance gets.
    pub id: InstanceId,
    /// What its source tells of it.
    pub request: SourcedPullRequest,
    /// The folder of its artefacts, below that of all instances.
    pub artefacts: PathBuf,
    /// A folder for what does not outlive the step; it is there and empty.
    pub scratch: PathBuf,
}

/// Changed lines without tests up to which a change is small (paper 002, appendix A).
const SMALL_LINES: u64 = 150;
/// Changed files without tests up to which a change is small.
const SMALL_FILES: u64 = 5;

/// How cheap and promising a candidate looks by its line alone, from 0 on: small changes with tests that resolve an
/// issue whose text is known; other small ones with tests; those of which too little is known; large ones; those
/// without tests, which are rejected for sure.
fn band(request: &SourcedPullRequest) -> u8 {
    let Some(change) = &request.change else {
        return 2;
    };
    if change.test_files == 0 {
        return 4;
    }
    let small = change.added + change.removed <= SMALL_LINES && change.files <= SMALL_FILES;
    let told = request.issues.iter().any(|issue| !issue.title.is_empty());
    match (small, told) {
        (true, true) => 0,
        (true, false) => 1,
        (false, _) => 3,
    }
}

/// A text by whose order candidates are taken: band by band; within one, repository by repository, so that environments
/// share what was built last; within a repository the oldest first.
pub(super) fn rank(request: &SourcedPullRequest, id: &InstanceId) -> String {
    let at = request.merged_at.as_deref().unwrap_or("");
    let number = request.number.unwrap_or(0);
    format!(
        "{} {} {at} {number:010} {}",
        band(request),
        request.repo,
        id.as_str()
    )
}

#[cfg(test)]
mod tests {
    use super::rank;
    use atlas_core::{ChangeShape, SourcedPullRequest};

    fn request(
        repo: &str,
        number: u64,
        at: &str,
        change: Option<ChangeShape>,
    ) -> SourcedPullRequest {
        let line = serde_json::json!({
            "repo": repo, "clone": "/x", "source": "clone", "number": number,
            "base": "0".repeat(40), "head": "1".repeat(40), "merged_at": at,
        });
        SourcedPullRequest {
            change,
            ..serde_json::from_value(line).unwrap()
        }
    }

    #[test]
    fn small_ones_come_first_and_repositories_stay_together() {
        let small = ChangeShape {
            test_files: 1,
            added: 3,
            ..ChangeShape::default()
        };
        let large = ChangeShape {
            added: 3000,
            ..small.clone()
        };
        let untested = ChangeShape::default();
        let mut all = [
            request("a/a", 9, "2024-01-02T00:00:00Z", Some(small.clone())),
            request("b/b", 8, "2024-01-01T00:00:00Z", Some(small.clone())),
            request("a/a", 10, "2024-01-01T00:00:00Z", Some(small)),
            request("a/a", 1, "2020-01-01T00:00:00Z", Some(large)),
            request("a/a", 2, "2020-01-01T00:00:00Z", Some(untested)),
            request("a/a", 3, "2020-01-01T00:00:00Z", None),
        ];
        all.sort_by_key(|one| rank(one, &one.instance_name().parse().unwrap()));
        let order: Vec<u64> = all.iter().filter_map(|one| one.number).collect();
        assert_eq!(order, [10, 9, 8, 3, 1, 2]);
    }
}
