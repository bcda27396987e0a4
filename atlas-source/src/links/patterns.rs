//! The hosts' closing patterns.

use super::LinkContext;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// A reference behind a keyword, with where both stand.
pub(super) struct Reference {
    pub(super) repo: String,
    pub(super) number: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// `#12`, `GH-12`, `owner/name#12`, `https://host/owner/name/issues/12`, in GitLab with `/-/` and with groups in groups.
const REFERENCE: &str = r"(?x:
      <?https?://(?<host>[\w.:-]+)/(?<place>[\w.-]+(?:/[\w.-]+)+?)(?:/-)?/(?:issues|work_items)/(?<at>[0-9]+)
    | (?<repo>[\w.-]+(?:/[\w.-]+)+)?\#(?<number>[0-9]+)
    | (?i:GH)-(?<short>[0-9]+)
)";

/// Of GitHub, <https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue>.
static GITHUB: LazyLock<Regex> = LazyLock::new(|| {
    let keyword = r"(?i:close[sd]?|fix(?:e[sd])?|resolve[sd]?)";
    Regex::new(&format!(r"\b{keyword}(?:[ \t]*:[ \t]*|[ \t]+){REFERENCE}"))
        .expect("the pattern is tested")
});

/// The keyword of GitLab's `issue_closing_pattern`, which has no full case folding: `Closes` and `closes`, not `CLOSES`.
static GITLAB: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):? +(?:issues? +)?",
    )
    .expect("the pattern is tested")
});

static FIRST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!("^{REFERENCE}")).expect("the pattern is tested"));

/// Between the references of one list in GitLab.
static SEPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ *,? *(?:and +)?(?:issues? +)?").expect("the pattern is tested")
});

/// Whether a keyword here is a word of its own: `hot-fix #12` and `x.fix #12` are other words.
fn is_word(text: &str, start: usize) -> bool {
    !text[..start].ends_with(['-', '.', '/', '#', '@'])
}

/// What the captures refer to, if it is an issue at the context's host and ends as a number does.
fn reference(
    found: &Captures,
    text: &str,
    offset: usize,
    start: usize,
    context: &LinkContext,
) -> Option<Reference> {
    let end = offset + found.get_match().end();
    let goes_on = text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let (repo, digits) = if let Some(host) = found.name("host") {
        if !host.as_str().eq_ignore_ascii_case(&context.host) {
            return None;
        }
        (found.name("place")?.as_str().to_owned(), found.name("at")?)
    } else if let Some(number) = found.name("number") {
        let repo = found
            .name("repo")
            .map_or(context.repo.as_str(), |repo| repo.as_str());
        (repo.to_owned(), number)
    } else {
        (context.repo.clone(), found.name("short")?)
    };
    let number = digits.as_str().parse().ok().filter(|number| *number > 0)?;
    (!goes_on).then_some(Reference {
        repo,
        number,
        start,
        end,
    })
}

pub(super) fn github(text: &str, context: &LinkContext) -> Vec<Reference> {
    let fits = |found: &Captures| {
        let start = found.get_match().start();
        let reference = reference(found, text, 0, start, context)?;
        // GitHub has no groups in groups.
        let flat = reference.repo.matches('/').count() == 1 || reference.repo == context.repo;
        (flat && is_word(text, start)).then_some(reference)
    };
    GITHUB
        .captures_iter(text)
        .filter_map(|found| fits(&found))
        .collect()
}

pub(super) fn gitlab(text: &str, context: &LinkContext) -> Vec<Reference> {
    let mut references = Vec::new();
    let mut next = 0;
    for keyword in GITLAB.find_iter(text) {
        if keyword.start() < next || !is_word(text, keyword.start()) {
            continue;
        }
        let (mut start, mut at) = (keyword.start(), keyword.end());
        while let Some(found) = FIRST.captures(&text[at..]) {
            if found.name("short").is_some() {
                break;
            }
            let end = at + found.get_match().end();
            references.extend(reference(&found, text, at, start, context));
            let between = SEPARATOR
                .find(&text[end..])
                .map_or(0, |between| between.len());
            (start, at) = (end + between, end + between);
            next = end;
        }
    }
    references
}
