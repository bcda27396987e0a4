//! Issues that were exported to a file of JSON lines.
//!
//! Each line is an issue or a comment, in Atlas's own form or as GitHub's REST API has it. Only where each one stands is kept in
//! memory; the texts are read when a pull request wants them.

use super::people::associated;
use super::time;
use atlas_core::{Error, ErrorKind, LinkedIssue, Remark};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Where a line stands.
type Place = (u64, u64);

/// The texts of issues, from a file beside a clone.
///
/// A line is one of these:
/// - Atlas's form: `{"repo": "o/n", "number": 1, "title": …, "body": …, "labels": ["bug"], "author": {"name": …, "class":
///   "unknown"}, "created_at": …, "comments": [{"author": …, "created_at": …, "body": …}]}`; all but `number` may be absent;
/// - an issue of GitHub's REST API (`/repos/o/n/issues`): `labels` are objects with `name`, `user` is an object with `login`, `comments` a
///   number. Pull requests among them are passed over;
/// - a comment of GitHub's REST API (`/repos/o/n/issues/comments`): it has `issue_url`.
///
/// Without `repo`, `repository_url` or `issue_url`, a line belongs to the repository that [`open`](Self::open) is given.
#[derive(Debug)]
pub struct IssueTexts {
    path: PathBuf,
    file: Mutex<File>,
    places: BTreeMap<(String, u64), Vec<Place>>,
}

/// What tells whose line it is.
#[derive(Deserialize)]
struct Address {
    #[serde(default)]
    repo: Option<String>,
    #[serde(default)]
    number: Option<u64>,
    #[serde(default)]
    repository_url: Option<String>,
    #[serde(default)]
    issue_url: Option<String>,
    #[serde(default)]
    pull_request: Option<serde::de::IgnoredAny>,
}

impl Address {
    fn key(&self, repo: &str) -> Option<(String, u64)> {
        if self.pull_request.is_some() {
            return None;
        }
        let of_url = |url: &str| -> Option<String> {
            let (_, rest) = url.split_once("/repos/")?;
            let mut parts = rest.splitn(3, '/');
            Some(format!("{}/{}", parts.next()?, parts.next()?))
        };
        let found = match (&self.issue_url, self.number) {
            (Some(url), _) => {
                let number = url.rsplit('/').next()?.parse().ok()?;
                (of_url(url), number)
            }
            (None, Some(number)) => {
                let url = self.repository_url.as_deref();
                let repo = url.and_then(of_url);
                (repo.or_else(|| self.repo.clone()), number)
            }
            (None, None) => return None,
        };
        let repo = found.0.unwrap_or_else(|| repo.to_owned());
        Some((repo.to_ascii_lowercase(), found.1))
    }
}

impl IssueTexts {
    /// A hash of the file's bytes, within one build.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn hash(&self) -> Result<u64, Error> {
        let fail = |why| Error::io("read issues", &self.path, why);
        let mut file = File::open(&self.path).map_err(fail)?;
        let (mut hasher, mut piece) = (DefaultHasher::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut piece).map_err(fail)? {
                0 => return Ok(hasher.finish()),
                read => hasher.write(&piece[..read]),
            }
        }
    }

    /// Looks through a file once, for lines of `repo` where they say nothing else.
    ///
    /// # Errors
    /// A file that cannot be read; [`ErrorKind::InvalidInput`], with file and line, for what is no JSON object or has no number.
    pub fn open(path: &Path, repo: &str) -> Result<Self, Error> {
        let fail = |why| Error::io("read issues", path, why);
        let file = File::open(path).map_err(fail)?;
        let mut reader = BufReader::new(&file);
        let mut places: BTreeMap<_, Vec<Place>> = BTreeMap::new();
        let (mut at, mut line, mut count) = (0, Vec::new(), 0);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(fail)? as u64;
            if read == 0 {
                break;
            }
            count += 1;
            let text = line.trim_ascii();
            if !text.is_empty() {
                let address = address(text).map_err(|why| {
                    let place = format!("`{}`, line {count}", path.display());
                    Error::new(ErrorKind::InvalidInput, "read issues", place).with_source(why)
                })?;
                if let Some(key) = address.key(repo) {
                    places.entry(key).or_default().push((at, read));
                }
            }
            at += read;
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            places,
        })
    }

    /// How many issues the file tells of.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it tells of none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Puts what the file tells of the issue into it; whether it tells of it.
    ///
    /// # Errors
    /// The file cannot be read any more.
    pub fn fill(&self, issue: &mut LinkedIssue) -> Result<bool, Error> {
        let key = (issue.repo.to_ascii_lowercase(), issue.number);
        let Some(places) = self.places.get(&key) else {
            return Ok(false);
        };
        for (at, length) in places {
            let mut bytes = Vec::new();
            {
                let mut file = self
                    .file
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                let read = file
                    .seek(SeekFrom::Start(*at))
                    .and_then(|_| (&mut *file).take(*length).read_to_end(&mut bytes));
                read.map_err(|why| Error::io("read issues", &self.path, why))?;
            }
            // It was JSON when the file was opened.
            if let Ok(value) = serde_json::from_slice::<Value>(&bytes) {
                put(issue, &value);
            }
        }
        issue
            .comments
            .sort_by(|one, other| one.created_at.cmp(&other.created_at));
        Ok(true)
    }
}

fn address(text: &[u8]) -> Result<Address, String> {
    if text.starts_with(b"[") {
        return Err("an array; one issue a line is expected: `jq -c '.[]'` makes it so".to_owned());
    }
    let address: Address = serde_json::from_slice(text).map_err(|why| why.to_string())?;
    if address.number.is_none() && address.issue_url.is_none() {
        return Err("neither `number` nor `issue_url`".to_owned());
    }
    Ok(address)
}

/// Takes a line, of either form, into the issue.
pub(crate) fn put(issue: &mut LinkedIssue, value: &Value) {
    if value.get("issue_url").is_some() {
        issue.comments.extend(remark(value));
        return;
    }
    let text = |name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    issue.title = text("title");
    issue.body = text("body");
    issue.created_at = value
        .get("created_at")
        .and_then(Value::as_str)
        .and_then(time::normal);
    issue.author = author(value);
    let labels = value.get("labels").and_then(Value::as_array);
    let name = |label: &Value| {
        Some(
            label
                .as_str()
                .or_else(|| label.get("name")?.as_str())?
                .to_owned(),
        )
    };
    issue.labels = labels.into_iter().flatten().filter_map(name).collect();
    let comments = value.get("comments").and_then(Value::as_array);
    issue
        .comments
        .extend(comments.into_iter().flatten().filter_map(remark));
}

/// A comment of either form.
pub(crate) fn remark(value: &Value) -> Option<Remark> {
    let created = value.get("created_at").and_then(Value::as_str);
    Some(Remark {
        author: author(value),
        created_at: created.and_then(time::normal),
        body: value.get("body")?.as_str()?.to_owned(),
    })
}

/// The author of either form.
pub(crate) fn author(value: &Value) -> Option<atlas_core::Author> {
    if let Some(own) = value.get("author") {
        return serde_json::from_value(own.clone()).ok();
    }
    let user = value.get("user")?;
    let field = |name: &str| user.get(name).and_then(Value::as_str);
    let association = value.get("author_association").and_then(Value::as_str);
    Some(associated(field("login"), field("type"), association))
}
