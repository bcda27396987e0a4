//! What a source tells of a pull request, for `atlas make`.

use super::MakeOptions;
use atlas_core::{Error, ErrorKind, Instance, SourcedPullRequest};
use serde_json::json;
use std::io::BufRead;
use std::path::{Path, PathBuf};

impl MakeOptions {
    /// Options for a sourced pull request: its clone, its commits, its number and its name.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if no instance can be named after it.
    pub fn sourced(sourced: SourcedPullRequest, out: impl Into<PathBuf>) -> Result<Self, Error> {
        let name = sourced.instance_name();
        let id = name.parse().map_err(|why: atlas_core::InvalidInstanceId| {
            Error::new(
                ErrorKind::InvalidInput,
                "name the instance of",
                &sourced.repo,
            )
            .with_source(why)
        })?;
        Ok(Self {
            base: Some(sourced.base.to_string()),
            head: Some(sourced.head.to_string()),
            pull_request: sourced.number,
            instance_id: Some(id),
            repo_name: Some(sourced.repo.clone()),
            ..Self::new(sourced.clone.clone(), out)
        }
        .with_sourced(sourced))
    }

    fn with_sourced(mut self, sourced: SourcedPullRequest) -> Self {
        self.sourced = Some(Box::new(sourced));
        self
    }
}

/// One line of `candidates.jsonl`, from 1. Without a number, the file's only line.
///
/// # Errors
/// [`ErrorKind::InvalidInput`], naming file and line, for a line that is not there or is no sourced pull request, and for several
/// lines without a number; a file that cannot be read.
pub fn read_candidate(file: &Path, line: Option<usize>) -> Result<SourcedPullRequest, Error> {
    let fail = |why| Error::io("read candidates", file, why);
    let reader = std::io::BufReader::new(std::fs::File::open(file).map_err(fail)?);
    let mut found = None;
    for (at, text) in reader.lines().enumerate() {
        let text = text.map_err(fail)?;
        if text.trim().is_empty() || line.is_some_and(|line| line != at + 1) {
            continue;
        }
        if found.is_some() {
            let place = format!(
                "`{0}`: it has several; `{0}:LINE` names one",
                file.display()
            );
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "choose the candidate in",
                place,
            ));
        }
        found = Some((at + 1, text));
        if line.is_some() {
            break;
        }
    }
    let Some((at, text)) = found else {
        let wanted = line.map_or(String::new(), |line| format!(", line {line}"));
        let place = format!("`{}`{wanted}: there is none", file.display());
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read the candidate in",
            place,
        ));
    };
    serde_json::from_str(&text).map_err(|why| {
        let place = format!("`{}`, line {at}", file.display());
        Error::new(ErrorKind::InvalidInput, "read the candidate in", place).with_source(why)
    })
}

/// The problem statement: the issues' texts, else the pull request's own; none if neither is known.
pub(super) fn statement(sourced: &SourcedPullRequest) -> Option<String> {
    let issues = sourced.problem_statement();
    let own = format!("{}\n\n{}", sourced.title, sourced.body);
    [issues, own.trim().to_owned()]
        .into_iter()
        .find(|text| !text.trim().is_empty())
}

/// Puts into the row what the source tells. Columns as SWE-bench-Live has them: numbers as text.
pub(super) fn fill(row: &mut Instance, sourced: &SourcedPullRequest) {
    let issues = sourced.issues.iter().map(|issue| {
        if issue.repo.eq_ignore_ascii_case(&sourced.repo) {
            issue.number.to_string()
        } else {
            format!("{}#{}", issue.repo, issue.number)
        }
    });
    row.set("issue_numbers", json!(issues.collect::<Vec<_>>()));
    if let Some(number) = sourced.number {
        row.set("pull_number", json!(number.to_string()));
    }
    row.set("hints_text", json!(sourced.hints_text()));
    row.set("labels", json!(sourced.labels));
    if let Some(date) = sourced.created_at.as_ref().or(sourced.merged_at.as_ref()) {
        row.set("created_at", json!(date));
    }
}

/// What the row's own column says of the source: where each field comes from, who wrote the pull request, and what is known of
/// its repository.
pub(super) fn about(sourced: &SourcedPullRequest) -> serde_json::Value {
    let mut about = json!({
        "source": sourced.source,
        "title": sourced.title,
        "provenance": sourced.provenance,
        "links": sourced.issues.iter().map(|issue| json!({
            "issue": format!("{}#{}", issue.repo, issue.number),
            "labels": issue.labels,
            "evidence": issue.evidence,
        })).collect::<Vec<_>>(),
    });
    let facts = [
        (
            "author_class",
            json!(sourced.author.as_ref().map(|author| author.class)),
        ),
        ("first_commit_at", json!(sourced.first_commit_at)),
        ("merged_at", json!(sourced.merged_at)),
        ("licence", json!(sourced.repository.licence)),
    ];
    let topics = &sourced.repository.topics;
    if !topics.is_empty() {
        about["topics"] = json!(topics);
    }
    for (name, value) in facts {
        if !value.is_null() {
            about[name] = value;
        }
    }
    about
}
