//! Data outside of test folders that only tests read.

use crate::rules::{PathRules, is_manifest};
use crate::scratch::Scratch;
use atlas_core::Error;
use atlas_facts::language_of;

/// Endings of files that hold data. Scripts, sources and settings of tools are none.
const DATA: &[&str] = &[
    "json", "jsonl", "ndjson", "json5", "csv", "tsv", "txt", "xml", "html", "yaml", "yml", "bin",
    "dat", "data", "out", "golden", "expected", "snap", "gz", "zip", "tar", "png", "jpg", "jpeg",
    "gif", "svg", "pdf", "wasm", "sql", "log",
];

/// Endings of files that may read data beside sources of the known languages.
const SOURCES: &[&str] = &[
    "inc", "swift", "pl", "lua", "toml", "cfg", "ini", "cmake", "am", "in", "mk", "json", "xml",
    "yaml", "yml", "html", "htm", "css", "scss", "less", "erb", "twig", "j2", "tmpl",
];

/// Those of them that are settings of tools, which name folders for reasons of their own.
const SETTINGS: &[&str] = &["json", "toml", "cfg", "ini", "xml", "yaml", "yml", "in"];

/// Folders whose programs are for developers: they are no part of what is tested.
const TOOLS: &[&str] = &[
    "scripts",
    "script",
    "tools",
    "tool",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "hack",
];

/// Where a changed file is data that a test names and nothing that is tested does: the test that names
/// it. Decided on the tree after the pull request, by the file's name, and by its folder's, for a source may
/// put the name together. What any other source names stays what it is.
pub(crate) async fn reader(
    scratch: &Scratch,
    rules: &PathRules,
    tree: &str,
    path: &str,
) -> Result<Option<String>, Error> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_data = ends_in(name, DATA) && !name.starts_with('.') && !is_manifest(path);
    let folder = folders.rsplit('/').next().unwrap_or(folders);
    // At the root lie settings of tools that read them by a name of their own.
    if !is_data || folder.is_empty() {
        return Ok(None);
    }
    let mut test = None;
    for found in grep(scratch, tree, ["-F", "-e"], name).await? {
        if found == path || is_tool(&found) || !may_read(&found) {
            continue;
        }
        if !rules.decide(&found).test {
            return Ok(None);
        }
        test.get_or_insert(found);
    }
    let Some(test) = test else { return Ok(None) };
    let is_product = |found: &String| {
        may_read(found) && !ends_in(found, SETTINGS) && !is_tool(found) && !rules.decide(found).test
    };
    let escaped: String = folder.chars().fold(String::new(), |mut text, c| {
        if !c.is_alphanumeric() && c != '_' && c != '-' {
            text.push('\\');
        }
        text.push(c);
        text
    });
    let words = format!("(^|[^A-Za-z0-9_.-]){escaped}/|[\"'`]{escaped}[\"'`]");
    if grep(scratch, tree, ["-E", "-e"], &words)
        .await?
        .iter()
        .any(is_product)
    {
        return Ok(None);
    }
    Ok(Some(test))
}

/// Files of a tree that hold this.
async fn grep(
    scratch: &Scratch,
    tree: &str,
    options: [&str; 2],
    what: &str,
) -> Result<Vec<String>, Error> {
    let output = scratch
        .git()
        .args(["grep", "-l", "-z", "-I"])
        .args(options)
        .arg(what)
        .arg(tree)
        .output()
        .await?;
    // Nothing found is no success.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let start = format!("{tree}:");
    Ok(text
        .split('\0')
        .filter_map(|found| found.strip_prefix(&start))
        .map(str::to_owned)
        .collect())
}

fn may_read(path: &str) -> bool {
    language_of(path).is_some() || ends_in(path, SOURCES)
}

fn ends_in(path: &str, endings: &[&str]) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, ending)| endings.contains(&ending.to_ascii_lowercase().as_str()))
}

/// Whether the path is a program for developers, as benchmarks are.
fn is_tool(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    folders
        .split('/')
        .any(|folder| TOOLS.contains(&folder.to_ascii_lowercase().as_str()))
        || [".bench.", "_bench.", ".benchmark."]
            .iter()
            .any(|mark| name.contains(mark))
}
