//! How many tests the sources of a state declare, for the plausibility of what a log names (paper 001,
//! section 3.3.3).

use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, Overlay, RunContext};
use atlas_oracle::TestCounter;
use atlas_syntax::{Language, count_tests};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most files and bytes that are read: the number of a larger tree is not known.
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 64 << 20;

/// Folders of what others wrote.
const OTHERS: &[&str] = &[
    ".git",
    "node_modules",
    "vendor",
    "third_party",
    "target",
    "build",
    "dist",
];

/// Counts the tests of a checkout.
#[derive(Clone, Debug)]
pub(crate) struct SourceCounter {
    pub(crate) checkout: PathBuf,
}

#[async_trait]
impl TestCounter for SourceCounter {
    async fn declared(&self, cx: &RunContext, over: &Overlay) -> Result<Option<u64>, Error> {
        declared_tests(cx, self.checkout.clone(), over).await
    }
}

/// The tests that the sources of a checkout declare with these files over it; nothing where there are none,
/// or too many sources to read.
///
/// # Errors
/// [`ErrorKind::Cancelled`], and what keeps the thread from its end.
pub(crate) async fn declared_tests(
    cx: &RunContext,
    checkout: PathBuf,
    over: &Overlay,
) -> Result<Option<u64>, Error> {
    cx.check("count tests")?;
    let written: BTreeMap<String, Vec<u8>> = over
        .write
        .iter()
        .map(|(path, content)| (path.clone(), content.bytes.clone()))
        .collect();
    let removed = over.remove.clone();
    let counted = tokio::task::spawn_blocking(move || {
        let mut files = Vec::new();
        sources(&checkout, &mut files)?;
        files.retain(|path| {
            let name = path.strip_prefix(&checkout).ok().and_then(Path::to_str);
            name.is_none_or(|name| !written.contains_key(name) && !removed.contains(name))
        });
        let old = files.iter().filter_map(|path| {
            let text = std::fs::read(path).ok()?;
            Some(of(path.to_str()?, &text))
        });
        let new = written.iter().map(|(path, text)| of(path, text));
        Some(old.chain(new).sum::<usize>() as u64)
    });
    let counted = counted
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, "count tests", "").with_source(why))?;
    Ok(counted.filter(|count| *count > 0))
}

/// The sources below a folder; nothing where they are too many.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Option<()> {
    let mut folders = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_str().unwrap_or_default();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                if !OTHERS.contains(&name) {
                    folders.push(path);
                }
            } else if kind.is_file() && Language::of_path(name).is_some() {
                bytes += entry.metadata().map_or(0, |about| about.len());
                found.push(path);
                if found.len() > MOST_FILES || bytes > MOST_BYTES {
                    return None;
                }
            }
        }
    }
    Some(())
}

/// The tests of one source. Most sources have none, and a word tells sooner than a tree.
fn of(path: &str, text: &[u8]) -> usize {
    const WORDS: [&[u8]; 6] = [b"test", b"Test", b"TEST", b"it(", b"it ", b"Fact"];
    let is_likely = WORDS
        .iter()
        .any(|word| memchr::memmem::find(text, word).is_some());
    match Language::of_path(path) {
        Some(language) if is_likely => count_tests(language, text),
        _ => 0,
    }
}
