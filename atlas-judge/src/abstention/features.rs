//! Properties of reports that paper 002 compares between attempted and abstained bugs (its Table 3).

use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_][A-Za-z0-9_]*").expect("the pattern is tested"));

/// A label of a build tool (`//path/to:target`, `@repo//:target`) or the name of one of its files.
static BUILD_RULE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)(?:^|[\s`'(\x22])(?:@[\w.~-]*)?//[\w./+-]*:[\w./+=-]+|\bBUILD(?:\.bazel)?\b|\b(?:CMakeLists\.txt|build\.gradle(?:\.kts)?|pom\.xml|meson\.build|Makefile)\b",
    )
    .expect("the pattern is tested")
});

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureOptions {
    /// Texts that stand for the repository's root: the paper looks for its monorepo's root folder.
    /// Without any, an absolute path or one of two or more components that ends in a file name counts.
    pub roots: Vec<String>,
}

impl FeatureOptions {
    /// Whether nothing is asked for beside the usual.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The properties of one report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFeatures {
    /// Words with an underscore inside or a change from a small to a capital letter, each counted as
    /// often as it stands there: what looks like an identifier of code.
    pub code_like_identifiers: usize,
    /// Characters, not bytes.
    pub characters: usize,
    /// Whether a path from the repository's root is named.
    pub repository_root: bool,
    /// Whether something that may be a rule of a build tool is named.
    pub build_rule: bool,
    /// Whether there are three backticks in a row.
    pub code_ticks: bool,
}

/// The properties of a report's text.
///
/// ```
/// use atlas_judge::abstention::{FeatureOptions, report_features};
/// let found = report_features("fooBar in src/a/b.py:\n```x_y```", &FeatureOptions::default());
/// assert_eq!(found.code_like_identifiers, 2);
/// assert!(found.code_ticks && found.repository_root && !found.build_rule);
/// ```
pub fn report_features(text: &str, options: &FeatureOptions) -> ReportFeatures {
    ReportFeatures {
        code_like_identifiers: WORD
            .find_iter(text)
            .filter(|word| is_code_like(word.as_str()))
            .count(),
        characters: text.chars().count(),
        repository_root: if options.roots.is_empty() {
            text.split(|c: char| c.is_whitespace() || "`'\"()[]<>,;".contains(c))
                .any(is_path)
        } else {
            options.roots.iter().any(|root| text.contains(root))
        },
        build_rule: BUILD_RULE.is_match(text),
        code_ticks: text.contains("```"),
    }
}

fn is_code_like(word: &str) -> bool {
    let inner = word.trim_matches('_');
    inner.contains('_')
        || inner
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Whether a word is a path to a file: components, the last with an extension; no address.
fn is_path(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    let word = word.split(':').next().unwrap_or(word);
    let Some((folders, name)) = word.rsplit_once('/') else {
        return false;
    };
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    !folders.contains("//")
        && !stem.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || "/._-+@~".contains(c))
}

/// The properties averaged over a group of reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureAverages {
    /// Reports in the group.
    pub reports: usize,
    /// Mean number.
    pub code_like_identifiers: f64,
    /// Mean number.
    pub characters: f64,
    /// Share of the reports.
    pub repository_root: f64,
    /// Share of the reports.
    pub build_rule: f64,
    /// Share of the reports.
    pub code_ticks: f64,
}

impl FeatureAverages {
    /// Averages; `None` for an empty group.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of words and characters are far below 2^52"
    )]
    pub fn of(group: &[ReportFeatures]) -> Option<Self> {
        if group.is_empty() {
            return None;
        }
        let mean = |value: fn(&ReportFeatures) -> usize| {
            group.iter().map(value).sum::<usize>() as f64 / group.len() as f64
        };
        Some(Self {
            reports: group.len(),
            code_like_identifiers: mean(|one| one.code_like_identifiers),
            characters: mean(|one| one.characters),
            repository_root: mean(|one| usize::from(one.repository_root)),
            build_rule: mean(|one| usize::from(one.build_rule)),
            code_ticks: mean(|one| usize::from(one.code_ticks)),
        })
    }
}
