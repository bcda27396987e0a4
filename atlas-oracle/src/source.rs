//! Which files and parts of a patch are code.

use atlas_core::PatchPart;

/// Kinds of files that no program reads: prose, and what tells a repository's story.
const PROSE: &[&str] = &[
    "md", "markdown", "rst", "adoc", "asciidoc", "textile", "pod", "man",
];

/// Names of such files, whatever their kind.
const PROSE_NAMES: &[&str] = &[
    "authors",
    "changelog",
    "changes",
    "contributors",
    "copying",
    "history",
    "license",
    "licence",
    "news",
    "notice",
    "readme",
    "releasenotes",
    "thanks",
    "todo",
];

/// Where continuous integration is told what to do: no test of the repository reads it.
const AUTOMATION: &[&str] = &[
    ".github/",
    ".gitlab/",
    ".gitlab-ci.yml",
    ".circleci/",
    ".travis.yml",
    ".cirrus.yml",
    ".buildkite/",
    "appveyor.yml",
    ".appveyor.yml",
    "azure-pipelines.yml",
    ".pre-commit-config.yaml",
];

/// Whether a file can matter to a build or a test. Prose that is itself what a program is made from (a site
/// generator's pages) counts as prose all the same.
pub(crate) fn is_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let (stem, kind) = name.split_once('.').unwrap_or((&name, ""));
    let last = kind.rsplit('.').next().unwrap_or(kind);
    let bare: String = stem.chars().filter(char::is_ascii_alphanumeric).collect();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let told = matches!(folder, "" | "doc" | "docs" | "documentation");
    let is_story = told && PROSE_NAMES.contains(&bare.as_str()) && matches!(last, "" | "txt");
    let is_automation = AUTOMATION.iter().any(|place| path.starts_with(place));
    !PROSE.contains(&last) && !is_story && !is_automation
}

/// Whether a part only sets white space anew, in a language where that changes nothing.
pub(crate) fn is_reformatted(part: &PatchPart) -> bool {
    let by_indentation = [
        ".py", ".pyx", ".yml", ".yaml", ".haml", ".slim", ".pug", ".coffee", ".nim", ".fs", ".hs",
        ".mk", "Makefile",
    ];
    let bare = |lines: &[String]| -> String {
        let text = lines.concat();
        text.chars().filter(|c| !c.is_whitespace()).collect()
    };
    // White space inside quotes is text.
    let lines = || part.inserted.iter().chain(&part.deleted);
    let is_plain = |line: &String| !line.contains(['"', '\'', '`']);
    !by_indentation.iter().any(|kind| part.path.ends_with(kind))
        && lines().next().is_some()
        && lines().all(is_plain)
        && bare(&part.inserted) == bare(&part.deleted)
}

/// Whether all that a part adds and takes away is comments and empty lines, by the marks that most
/// languages share. Text inside a multi-line string may look so too; the part went unnoticed anyway.
pub(crate) fn is_commented_out(part: &PatchPart) -> bool {
    let python_like = [
        "py", "rb", "sh", "toml", "yml", "yaml", "pl", "cmake", "cfg", "r",
    ]
    .iter()
    .any(|kind| part.path.ends_with(&format!(".{kind}")));
    let is_comment = |line: &String| {
        let line = line.trim();
        line.is_empty()
            || ["//", "/*", "*/", "* ", "<!--", "-- "]
                .iter()
                .any(|mark| line.starts_with(mark))
            || line == "*"
            || (python_like && line.starts_with('#'))
    };
    let mut lines = part.inserted.iter().chain(&part.deleted).peekable();
    lines.peek().is_some() && lines.all(is_comment)
}
