//! Archived events of GitHub, as GH Archive keeps them: one hour a file, one event a line.

mod living;

use crate::hosts::clone::linked;
use crate::hosts::issues::IssueTexts;
use crate::hosts::people::associated;
use crate::hosts::time;
use crate::links::{LinkContext, TextKind, closing_links};
use async_trait::async_trait;
use atlas_core::{
    CodeHost, Error, ErrorKind, LinkedIssue, PullRequestSource, RepositoryFacts, RunContext,
    SkippedPullRequest, SourcedPage, SourcedPullRequest,
};
use flate2::read::MultiGzDecoder;
use living::Mark;
use memchr::memmem;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;

/// Pull requests on one page.
const PAGE: usize = 64;

/// A line longer than this is no event.
const MOST_BYTES: usize = 64 << 20;

/// Archived events as a source of merged pull requests, in the order of the files.
///
/// A `PullRequestEvent` of a merge tells of a pull request. Its issues are joined from `IssuesEvent` and `IssueCommentEvent` of all
/// files, earlier and later ones. For that the files are read twice before the first page: once for which issues are named, once for
/// their texts, which go into a file without a name in the system's folder for temporary ones. Memory holds eight bytes for each
/// issue that is named, and where its texts stand.
///
/// Base and head are those of the pull request's own branch, `base.sha` and `head.sha`: the archive does not tell the parents of the
/// merged commit, and what was merged in between is no part of the change. Any file may have texts for any pull request: where a
/// file is new, gone or another, all are read again; where none is, only their lengths and times are looked at. Events of after October 2025 have no titles any
/// more; their pull requests are skipped.
#[derive(Debug)]
pub struct ArchiveHost {
    files: Vec<PathBuf>,
    repos: BTreeSet<String>,
    reading: Arc<Mutex<Reading>>,
}

#[derive(Debug, Default)]
struct Reading {
    texts: Option<(IssueTexts, NamedTempFile)>,
    at: Option<Events>,
}

/// A file's lines, and how many were read.
struct Events {
    file: usize,
    line: u64,
    reader: Box<dyn BufRead + Send>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Events({}:{})", self.file, self.line)
    }
}

impl Events {
    fn open(files: &[PathBuf], file: usize) -> Result<Option<Self>, Error> {
        let Some(path) = files.get(file) else {
            return Ok(None);
        };
        let opened = File::open(path).map_err(|why| Error::io("read events", path, why))?;
        let is_packed = path.extension().is_some_and(|extension| extension == "gz");
        let reader: Box<dyn BufRead + Send> = if is_packed {
            Box::new(BufReader::with_capacity(
                1 << 16,
                MultiGzDecoder::new(opened),
            ))
        } else {
            Box::new(BufReader::with_capacity(1 << 16, opened))
        };
        Ok(Some(Self {
            file,
            line: 0,
            reader,
        }))
    }

    /// The next line; false at the end.
    fn next(&mut self, path: &Path, line: &mut Vec<u8>) -> Result<bool, Error> {
        line.clear();
        let fail = |why| Error::io("read events", path, why);
        self.line += 1;
        loop {
            let piece = self.reader.fill_buf().map_err(fail)?;
            if piece.is_empty() {
                return Ok(!line.is_empty());
            }
            let end = memchr::memchr(b'\n', piece);
            let taken = end.map_or(piece.len(), |end| end + 1);
            if line.len() + taken <= MOST_BYTES {
                line.extend_from_slice(&piece[..taken]);
            }
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

impl ArchiveHost {
    /// Files of events, `2024-03-01-12.json.gz` or unpacked, in this order.
    ///
    /// # Errors
    /// A file that is not there.
    pub fn open(files: Vec<PathBuf>) -> Result<Self, Error> {
        for path in &files {
            std::fs::metadata(path).map_err(|why| Error::io("read events", path, why))?;
        }
        Ok(Self {
            files,
            repos: BTreeSet::new(),
            reading: Arc::default(),
        })
    }

    /// The same with pull requests of these repositories alone, `owner/name`. Default: of all.
    #[must_use]
    pub fn with_repos(mut self, repos: impl IntoIterator<Item = String>) -> Self {
        self.repos = repos
            .into_iter()
            .map(|repo| repo.to_ascii_lowercase())
            .collect();
        self
    }
}

/// What a line is of, without reading it whole.
fn is_of(line: &[u8], kinds: &[&str]) -> bool {
    kinds
        .iter()
        .any(|kind| memmem::find(line, kind.as_bytes()).is_some())
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

/// The merged pull request of a line, if it is the event of one in these repositories.
fn merged(line: &[u8], repos: &BTreeSet<String>) -> Option<(String, Value)> {
    if !is_of(line, &["PullRequestEvent"]) {
        return None;
    }
    let mut event: Value = serde_json::from_slice(line).ok()?;
    if text(&event, "type") != Some("PullRequestEvent") {
        return None;
    }
    let repo = text(event.get("repo")?, "name")?.to_owned();
    let payload = event.get_mut("payload")?;
    let action = text(payload, "action")?.to_owned();
    let told = payload.get_mut("pull_request")?.take();
    let is_merged = action == "merged"
        || action == "closed" && told.get("merged").and_then(Value::as_bool) == Some(true);
    let is_wanted = repos.is_empty() || repos.contains(&repo.to_ascii_lowercase());
    (is_merged && is_wanted).then_some((repo, told))
}

fn issues(repo: &str, told: &Value) -> Vec<LinkedIssue> {
    let context = LinkContext::github(repo);
    let number = told.get("number").and_then(Value::as_u64);
    let mut found = Vec::new();
    for (field, kind) in [("title", TextKind::Plain), ("body", TextKind::Markdown)] {
        let links = closing_links(text(told, field).unwrap_or_default(), kind, &context);
        found.extend(links.into_iter().map(|link| (link, field.to_owned())));
    }
    found.retain(|(link, _)| Some(link.number) != number || !link.repo.eq_ignore_ascii_case(repo));
    linked(found)
}

fn pull_request(
    repo: String,
    told: &Value,
    texts: &IssueTexts,
) -> Result<SourcedPullRequest, String> {
    let title = text(told, "title")
        .ok_or("the event has no title")?
        .to_owned();
    let end = |name: &str| {
        let sha = told.get(name).and_then(|end| text(end, "sha"));
        sha.and_then(|sha| sha.parse().ok())
            .ok_or_else(|| format!("the event has no {name}.sha"))
    };
    let mut issues = issues(&repo, told);
    for issue in &mut issues {
        texts.fill(issue).map_err(|why| why.chain())?;
    }
    let user = told.get("user");
    let field = |name: &str| user.and_then(|user| text(user, name));
    let at = |name: &str| text(told, name).and_then(time::normal);
    let home = told
        .get("base")
        .and_then(|base| base.get("repo"))
        .cloned()
        .unwrap_or_default();
    let topics = home.get("topics").and_then(Value::as_array);
    let labels = told.get("labels").and_then(Value::as_array);
    let named = |label: &Value| Some(text(label, "name")?.to_owned());
    let mut provenance = BTreeMap::new();
    for (name, from) in [
        ("title", "event pull_request.title"),
        ("body", "event pull_request.body"),
        ("labels", "event pull_request.labels"),
        ("author", "event pull_request.user"),
        ("created_at", "event pull_request.created_at"),
        ("merged_at", "event pull_request.merged_at"),
        (
            "issues",
            "words of title and body; texts of archived events",
        ),
        ("repository", "event pull_request.base.repo, at that moment"),
        ("base", "event pull_request.base.sha"),
        ("head", "event pull_request.head.sha"),
    ] {
        provenance.insert(name.to_owned(), from.to_owned());
    }
    Ok(SourcedPullRequest {
        clone: format!("https://github.com/{repo}.git"),
        repo,
        source: PullRequestSource::Archive,
        number: told.get("number").and_then(Value::as_u64),
        base: end("base")?,
        head: end("head")?,
        title,
        body: text(told, "body").unwrap_or_default().to_owned(),
        labels: labels.into_iter().flatten().filter_map(named).collect(),
        author: Some(associated(
            field("login"),
            field("type"),
            text(told, "author_association"),
        )),
        created_at: at("created_at"),
        first_commit_at: None,
        merged_at: at("merged_at"),
        issues,
        reviews: Vec::new(),
        change: None,
        repository: RepositoryFacts {
            stars: home.get("stargazers_count").and_then(Value::as_u64),
            topics: topics
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            licence: home
                .get("license")
                .and_then(|licence| text(licence, "spdx_id"))
                .map(str::to_owned),
            language: text(&home, "language").map(str::to_owned),
            pushed_at: text(&home, "pushed_at").and_then(time::normal),
            fork: home.get("fork").and_then(Value::as_bool),
            archived: home.get("archived").and_then(Value::as_bool),
            ..RepositoryFacts::default()
        },
        provenance,
    })
}

/// Goes through all lines of all files.
fn each_line(
    files: &[PathBuf],
    cx: &RunContext,
    mut take: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut line = Vec::new();
    for (file, path) in files.iter().enumerate() {
        cx.check("read events")?;
        cx.progress
            .detail(&format!("file {} of {}", file + 1, files.len()));
        let Some(mut events) = Events::open(files, file)? else {
            break;
        };
        while events.next(path, &mut line)? {
            take(&line)?;
        }
    }
    Ok(())
}

/// The texts of all issues that pull requests name.
fn texts(
    files: &[PathBuf],
    repos: &BTreeSet<String>,
    cx: &RunContext,
) -> Result<(IssueTexts, NamedTempFile), Error> {
    // Within one process only: what is not wanted and has the hash of what is, is one line too many.
    let hasher = RandomState::new();
    let key = |repo: &str, number: u64| hasher.hash_one((repo.to_ascii_lowercase(), number));
    cx.progress.phase("look for links in events");
    let mut wanted: HashSet<u64> = HashSet::new();
    each_line(files, cx, |line| {
        if let Some((repo, told)) = merged(line, repos) {
            let found = issues(&repo, &told);
            wanted.extend(found.iter().map(|issue| key(&issue.repo, issue.number)));
        }
        Ok(())
    })?;
    cx.progress.phase("look for issues in events");
    let file = NamedTempFile::new()
        .map_err(|why| Error::io("write", Path::new("texts of issues"), why))?;
    let fail = |why| Error::io("write", file.path(), why);
    let mut writer = BufWriter::new(file.as_file());
    let mut known: HashSet<u64> = HashSet::new();
    each_line(files, cx, |line| {
        if !is_of(line, &["IssuesEvent", "IssueCommentEvent"]) {
            return Ok(());
        }
        let Ok(event) = serde_json::from_slice::<Value>(line) else {
            return Ok(());
        };
        let is_comment = text(&event, "type") == Some("IssueCommentEvent");
        let payload = &event["payload"];
        let (Some(repo), Some(number)) = (
            text(&event["repo"], "name"),
            payload["issue"]["number"].as_u64(),
        ) else {
            return Ok(());
        };
        let key = key(repo, number);
        if !wanted.contains(&key) || payload["issue"].get("pull_request").is_some() {
            return Ok(());
        }
        // Every comment brings the issue along.
        if !is_comment || !known.contains(&key) {
            known.insert(key);
            let mut issue = payload["issue"].clone();
            issue["repository_url"] = json!(format!("https://api.github.com/repos/{repo}"));
            writeln!(writer, "{issue}").map_err(fail)?;
        }
        if is_comment && text(payload, "action") == Some("created") {
            let mut comment = payload["comment"].clone();
            comment["issue_url"] = json!(format!(
                "https://api.github.com/repos/{repo}/issues/{number}"
            ));
            writeln!(writer, "{comment}").map_err(fail)?;
        }
        Ok(())
    })?;
    writer.flush().map_err(fail)?;
    drop(writer);
    let texts = IssueTexts::open(file.path(), "")?;
    Ok((texts, file))
}

fn read_page(
    files: &[PathBuf],
    repos: &BTreeSet<String>,
    reading: &mut Reading,
    cx: &RunContext,
    start: (usize, u64),
) -> Result<SourcedPage, Error> {
    if reading.texts.is_none() {
        reading.texts = Some(texts(files, repos, cx)?);
    }
    let Some((texts, _)) = &reading.texts else {
        return Ok(SourcedPage::default());
    };
    let mut page = SourcedPage::default();
    let mut line = Vec::new();
    let held = reading
        .at
        .take()
        .filter(|events| (events.file, events.line) == start);
    let mut events = held;
    if events.is_none() {
        events = Events::open(files, start.0)?;
        if let Some(events) = &mut events {
            // What is packed has no places: the lines before are read over.
            while events.line < start.1 && events.next(&files[start.0], &mut line)? {}
        }
    }
    while let Some(mut at) = events.take() {
        cx.check("read events")?;
        let path = &files[at.file];
        loop {
            if page.pull_requests.len() + page.skipped.len() >= PAGE {
                page.next = Some(format!("{}:{}", at.file, at.line));
                reading.at = Some(at);
                return Ok(page);
            }
            if !at.next(path, &mut line)? {
                break;
            }
            if let Some((repo, told)) = merged(&line, repos) {
                let number = told
                    .get("number")
                    .and_then(Value::as_u64)
                    .unwrap_or_default();
                let name = format!("{repo}#{number}");
                match pull_request(repo, &told, texts) {
                    Ok(found) => page.pull_requests.push(found),
                    Err(reason) => page.skipped.push(SkippedPullRequest { name, reason }),
                }
            }
        }
        events = Events::open(files, at.file + 1)?;
    }
    Ok(page)
}

impl ArchiveHost {
    /// The page behind a cursor: `FILE:LINE HASH`, by which other files than those that it was made of are known.
    async fn read(
        &self,
        cx: &RunContext,
        cursor: Option<&str>,
        mark: &Mark,
    ) -> Result<SourcedPage, Error> {
        let own = mark.hash();
        let wrong = |cursor: &str| {
            let place = format!("`{cursor}`");
            Error::new(ErrorKind::InvalidInput, "go on from the event", place)
        };
        let mut start = (0, 0);
        if let Some(cursor) = cursor {
            let (place, hash) = cursor.split_once(' ').ok_or_else(|| wrong(cursor))?;
            if hash != own {
                return Ok(SourcedPage::anew("the files changed while they were read"));
            }
            let parts = place.split_once(':');
            start = parts
                .and_then(|(file, line)| Some((file.parse().ok()?, line.parse().ok()?)))
                .filter(|(file, _)| *file < self.files.len())
                .ok_or_else(|| wrong(cursor))?;
        }
        let (files, repos, cx) = (self.files.clone(), self.repos.clone(), cx.clone());
        let reading = Arc::clone(&self.reading);
        let work = move || {
            let mut reading = reading
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            read_page(&files, &repos, &mut reading, &cx, start)
        };
        let mut page = tokio::task::spawn_blocking(work)
            .await
            .map_err(|why| Error::new(ErrorKind::Internal, "read events", "").with_source(why))??;
        page.next = page.next.map(|place| format!("{place} {own}"));
        Ok(page)
    }

    /// The files as they are now; those that look as they did are not read.
    async fn now(&self, since: Option<Mark>) -> Result<Mark, Error> {
        let files = self.files.clone();
        let work = move || Mark::of(&files, since.as_ref());
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|why| Error::new(ErrorKind::Internal, "read events", "").with_source(why))?
    }
}

#[async_trait]
impl CodeHost for ArchiveHost {
    fn name(&self) -> String {
        let repos: Vec<&str> = self.repos.iter().map(String::as_str).collect();
        format!("archive {}", repos.join(" ")).trim_end().to_owned()
    }

    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error> {
        let mark = self.now(None).await?;
        let mut page = self.read(cx, cursor, &mark).await?;
        page.mark = cursor.is_none().then(|| mark.text());
        Ok(page)
    }

    async fn changes(
        &self,
        _: &RunContext,
        since: &str,
        _: Option<&str>,
    ) -> Result<SourcedPage, Error> {
        let since = Mark::read(since)?;
        let now = self.now(Some(since.clone())).await?;
        Ok(match now.differs_from(&since) {
            Some(why) => SourcedPage::anew(why),
            None => SourcedPage {
                mark: Some(now.text()),
                ..SourcedPage::default()
            },
        })
    }
}
