//! The criteria of papers.

use super::bounds::Bounds;
use super::config::{Endings, FilterConfig};
use serde::{Deserialize, Serialize};

/// The criteria of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FilterPreset {
    /// Paper 001, section 3.1: more than 100 stars, a test framework, more than 10,000 lines of code, an issue, tests. The paper's
    /// "recent commit activity" has no numbers: `pushed` or `merged` say it.
    #[serde(rename = "paper-001")]
    Paper001,
    /// Paper 002, appendix A: one issue, no screenshots, nine languages and no configuration or data, fewer than 150 changed lines.
    /// Its 31 test targets that depend on the changed files are known to a build system alone; at most 31 changed files
    /// stand for them. `merged` says the year.
    #[serde(rename = "paper-002-industrial")]
    Paper002Industrial,
}

/// The key `preset`, which is read and then stands for others.
#[cfg(feature = "schema")]
pub(super) fn with_preset(schema: &mut schemars::Schema) {
    let mut preset = schemars::schema_for!(FilterPreset);
    preset.remove("$schema");
    preset.remove("title");
    let about = "The criteria of a paper; other keys go before them. Default: none.";
    preset.insert("description".to_owned(), about.into());
    if let Some(keys) = schema
        .get_mut("properties")
        .and_then(serde_json::Value::as_object_mut)
    {
        keys.shift_insert(0, "preset".to_owned(), preset.into());
    }
}

impl FilterConfig {
    /// The criteria of a paper, in the order in which it names them.
    pub fn preset(preset: FilterPreset) -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut filters = match preset {
            FilterPreset::Paper001 => Self {
                stars: Some(Bounds::more_than(100)),
                test_framework: true,
                lines_of_code: Some(Bounds::more_than(10_000)),
                issues: Some(Bounds::from_to(Some(1), None)),
                edits_tests: true,
                ..Self::default()
            },
            FilterPreset::Paper002Industrial => Self {
                issues: Some(Bounds::from_to(Some(1), Some(1))),
                edits_tests: true,
                no_screenshots: true,
                endings: Some(Endings {
                    any_of: words(&[
                        "cc", "cpp", "cxx", "hpp", "hh", "c", "h", "dart", "java", "kt", "kts",
                        "ts", "tsx", "js", "jsx", "mjs", "cjs", "go", "py",
                    ]),
                    none_of: words(&[
                        "sql",
                        "html",
                        "htm",
                        "css",
                        "scss",
                        "less",
                        "yaml",
                        "yml",
                        "toml",
                        "ini",
                        "cfg",
                        "conf",
                        "json",
                        "xml",
                        "properties",
                        "png",
                        "jpg",
                        "jpeg",
                        "gif",
                        "svg",
                        "ico",
                        "webp",
                        "mp3",
                        "mp4",
                        "wav",
                        "pdf",
                        "bin",
                        "dat",
                        "zip",
                        "gz",
                        "jar",
                        "so",
                        "exe",
                    ]),
                }),
                changed_lines: Some(Bounds::less_than(150)),
                changed_files: Some(Bounds::from_to(None, Some(31))),
                ..Self::default()
            },
        };
        filters.order = filters.set();
        filters
    }
}
