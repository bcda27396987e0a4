#![doc = include_str!("../README.md")]

mod applier;
mod apply;
mod changes;
mod conditions;
mod doctor;
mod filters;
mod git;
mod heirs;
mod hosts;
mod links;
mod log;
mod modified;
mod overlay;
mod pull_request;
mod remarks;
mod repository;
mod rules;
mod rust_items;
mod scratch;
mod seal;
mod spans;
mod split;
mod submodules;
mod test_data;
mod worktree;

pub use applier::{CommitApplier, FolderApplier, index_paths};
pub use apply::{ApplyOutcome, Rung, Tried, apply};
pub use changes::{ChangeKind, ChangedFile};
pub use doctor::{
    Diagnosis, LadderStep, Mended, PatchFault, PatchFaultKind, TreeReset, Tries, Try, climb_as,
    diagnose, examine, ladder, ladder_script, touched_paths,
};
pub use filters::{
    Bounds, Endings, FilterConfig, FilterExample, FilterFunnel, FilterName, FilterPreset,
    FilterStep, Filters, Moment, NearDuplicates, UnknownFacts, Window,
};
pub use hosts::archive::ArchiveHost;
pub use hosts::clone::CloneHost;
pub use hosts::facts::repository_facts;
#[cfg(feature = "http")]
pub use hosts::github::{GithubHost, GithubRestHost};
#[cfg(feature = "http")]
pub use hosts::gitlab::GitlabHost;
#[cfg(feature = "http")]
pub use hosts::http::ApiOptions;
pub use hosts::issues::IssueTexts;
pub use links::{IssueLink, LinkContext, LinkFlavour, TextKind, closing_links};
pub use log::{LogEntry, LogQuery};
pub use overlay::{OverlayOutcome, OverlayState, manifests_of, overlay};
pub use pull_request::{PullRequestCommits, problem_statement};
pub use remarks::changes_remarks_alone;
pub use repository::{EntryKind, GitRepo, TreeEntry, is_url};
pub use rules::test_files;
pub use seal::{History, SEALED_BRANCH, Sealed, Submodule, seal};
pub use split::{Side, SplitDecision, SplitPullRequest, split};
pub use worktree::{ignored_paths, patch_between};
