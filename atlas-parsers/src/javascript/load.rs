//! Test files that Node.js could not load: a runner then stops before its first test.

use crate::edges::is_number;
use atlas_core::Evidence;

/// How many lines behind an error may say that it is the runner's.
const REACH: usize = 60;
const KEPT: usize = 12;

/// Errors outside of the tests.
#[derive(Clone, Debug)]
pub(super) struct Load {
    runner: &'static str,
    /// Parts of the paths of the files in which the runner loads test files.
    loaders: &'static [&'static str],
    open: Option<Error>,
    /// `/path/file.js:3` or `- /path/file.js`, the last seen.
    file: Option<(String, usize)>,
    found: Vec<(String, Vec<Evidence>)>,
    /// Those of runs that are over.
    settled: usize,
}

#[derive(Clone, Debug)]
struct Error {
    file: Option<String>,
    lines: Vec<Evidence>,
    until: usize,
    required: bool,
}

impl Load {
    pub(super) fn new(runner: &'static str, loaders: &'static [&'static str]) -> Self {
        Self {
            runner,
            loaders,
            open: None,
            file: None,
            found: Vec::new(),
            settled: 0,
        }
    }

    /// Takes a clean line; only those that begin at the line start or with `    at ` matter.
    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        let Some(first) = line.first() else {
            return;
        };
        if let Some(error) = &mut self.open {
            if number > error.until {
                self.open = None;
            } else if line == b"Require stack:" {
                error.required = true;
            } else if std::mem::take(&mut error.required) {
                if let Some(path) = line.strip_prefix(b"- ") {
                    error.file = Some(String::from_utf8_lossy(path).into_owned());
                }
            } else if line.starts_with(b"    at ") && self.loads(line) {
                self.close();
                return;
            }
        }
        if let Some(rest) = line.strip_prefix(b" Exception during run: ") {
            self.start(rest, number);
        } else if matches!(first, b'/' | b'f') || first.is_ascii_uppercase() {
            self.start(line, number);
        }
    }

    fn start(&mut self, line: &[u8], number: usize) {
        if let Some(file) = place(line) {
            self.file = Some((file, number));
        } else if self.open.is_none() {
            self.error(line, number);
        }
    }

    fn error(&mut self, line: &[u8], number: usize) {
        if !is_error(line) {
            return;
        }
        // The code in question stands between a syntax error's place and its message.
        let file = self.file.take().filter(|(_, at)| number - at < 12);
        let mut lines = Vec::new();
        if let Some((file, at)) = &file {
            lines.push(Evidence::at("log", *at, file.clone()));
        }
        let text = String::from_utf8_lossy(line).into_owned();
        lines.push(Evidence::at("log", number, text));
        self.open = Some(Error {
            file: file.map(|(file, _)| file),
            lines,
            until: number + REACH,
            required: false,
        });
    }

    /// A frame in the code by which the runner loads test files.
    fn loads(&self, line: &[u8]) -> bool {
        let within = |part: &&str| memchr::memmem::find(line, part.as_bytes()).is_some();
        self.loaders.iter().any(within)
    }

    fn close(&mut self) {
        if let Some(error) = self.open.take()
            && self.found.len() < KEPT
        {
            let file = error.file.unwrap_or_else(|| self.runner.to_owned());
            self.found.push((file, error.lines));
        }
    }

    /// Tests run after all: what was printed since the last run ended is their output.
    pub(super) fn forget(&mut self) {
        self.found.truncate(self.settled);
        self.open = None;
    }

    /// A run is over.
    pub(super) fn settle(&mut self) {
        self.settled = self.found.len();
    }

    pub(super) fn finish(self) -> Vec<(String, Vec<Evidence>)> {
        self.found
    }
}

/// `/path/file.js:3` or `file:///path/file.mjs:3`, alone on its line.
fn place(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let (file, number) = text.rsplit_once(':')?;
    let rooted = file.starts_with('/') || file.starts_with("file:///");
    let numeric = is_number(number);
    (rooted && numeric && !file.contains(' ')).then(|| file.to_owned())
}

/// `SyntaxError: …`, `Error [CODE]: …`
fn is_error(line: &[u8]) -> bool {
    let word = line
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let (class, rest) = line.split_at(word);
    class.ends_with(b"Error") && (rest.starts_with(b": ") || rest.starts_with(b" ["))
}
