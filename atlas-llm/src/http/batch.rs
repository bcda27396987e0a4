//! Batches of questions: OpenAI's and Anthropic's interfaces for answers within a day at a lower price.

use super::client::{self, MOST_BYTES};
use super::dialect::Dialect;
use super::endpoint::{self, Endpoint};
use super::{Draft, HttpModel, refusal};
use crate::failure::{CallFailure, FailureCause, shorten};
use crate::{ModelConfig, Provider};
use atlas_core::{Completion, CompletionRequest, Error};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// Most bytes of a batch, with room for its frame: OpenAI takes 200 MB in a file, Anthropic 256 MB.
const MOST_OPENAI: (usize, usize) = (50_000, 190_000_000);
const MOST_ANTHROPIC: (usize, usize) = (100_000, 240_000_000);
/// The field of OpenAI's `metadata` that holds our name of a batch.
const OUR_NAME: &str = "atlas";

/// How far a batch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is worked on: so many of its questions are done.
    Running(u64),
    /// What it has is all that it will have.
    Ended,
    /// It was refused as a whole, with these words.
    Refused(String),
}

/// What became of one question.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answered(Completion),
    Failed(CallFailure),
    /// It was not asked: the day was over, or somebody has cancelled the batch.
    NotAsked,
}

/// Whether the server has a batch that we may have sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BatchPresence {
    Yes(String),
    No,
    /// One that is still worked on may be it.
    Perhaps,
}

/// The batches of one model.
#[derive(Debug)]
pub(crate) struct HttpBatches {
    model: HttpModel,
    batches: Endpoint,
    /// Where OpenAI takes and keeps what batches read and write.
    files: Option<Endpoint>,
    /// A server that refuses log-probabilities is not asked for them again.
    without_logprobs: AtomicBool,
}

impl HttpBatches {
    /// Opens the interface of a model. Nothing is sent.
    pub(crate) fn open(config: &ModelConfig) -> Result<Self, Error> {
        let takes = matches!(
            config.provider,
            Provider::OpenAi | Provider::Compatible | Provider::Anthropic
        );
        if !takes {
            let why = format!(
                "`{}` has no batches that Atlas knows; OpenAI, servers with its `/v1/batches`, and Anthropic have. \
                 Leave `--batch` out",
                config.provider
            );
            return Err(endpoint::wrong(config, why));
        }
        let config = ModelConfig {
            stream: false,
            ..config.clone()
        };
        let model = HttpModel::open(&config)?;
        let dialect = model.dialect;
        let is_anthropic = dialect == Dialect::Anthropic;
        let batches = Endpoint::open(&config, dialect, |base| {
            if is_anthropic {
                format!("{}/batches", dialect.url(base, &config.model, false))
            } else {
                format!("{}/batches", base.trim_end_matches('/'))
            }
        })?;
        let files = |base: &str| format!("{}/files", base.trim_end_matches('/'));
        let files = (!is_anthropic).then(|| Endpoint::open(&config, dialect, files));
        Ok(Self {
            model,
            batches,
            files: files.transpose()?,
            without_logprobs: AtomicBool::new(false),
        })
    }

    /// Most questions of a batch, and most bytes of all of them.
    pub(crate) fn most(&self) -> (usize, usize) {
        if self.files.is_some() {
            MOST_OPENAI
        } else {
            MOST_ANTHROPIC
        }
    }

    /// A question as it stands in a batch.
    pub(crate) fn entry(&self, name: &str, request: &CompletionRequest) -> String {
        let mut request = request.clone();
        if self.without_logprobs.load(Ordering::Relaxed) {
            request.top_logprobs = None;
        }
        let body = self.model.body(&request);
        let entry = match self.model.dialect {
            Dialect::Anthropic => json!({"custom_id": name, "params": body}),
            dialect => json!({
                "custom_id": name, "method": "POST", "url": path(dialect), "body": body,
            }),
        };
        entry.to_string()
    }

    /// Gives entries to the server as the batch that we call `token`, and says what it calls it.
    pub(crate) async fn send(
        &self,
        token: &str,
        entries: &[String],
    ) -> Result<String, CallFailure> {
        let body = match &self.files {
            None => format!("{{\"requests\":[{}]}}", entries.join(",")),
            Some(files) => {
                let file = upload(files, token, entries).await?;
                let create = json!({
                    "input_file_id": file, "endpoint": path(self.model.dialect),
                    "completion_window": "24h", "metadata": {OUR_NAME: token},
                });
                create.to_string()
            }
        };
        let url = self.batches.below(&[], &[]);
        let json = "application/json";
        let response = self
            .batches
            .send(Method::POST, url, Some((json, body)))
            .await?;
        let created = self.batches.json(response, false).await?;
        text(&created, "id")
    }

    /// How far a batch is.
    pub(crate) async fn standing(&self, id: &str) -> Result<Standing, CallFailure> {
        let batch = self.get(&[id]).await?;
        let counts = &batch["request_counts"];
        let count = |names: &[&str]| -> u64 {
            let counts = names.iter().filter_map(|name| counts[name].as_u64());
            counts.sum()
        };
        if self.files.is_none() {
            return Ok(match text(&batch, "processing_status")?.as_str() {
                "ended" => Standing::Ended,
                _ => Standing::Running(count(&["succeeded", "errored", "canceled", "expired"])),
            });
        }
        Ok(match text(&batch, "status")?.as_str() {
            "completed" | "expired" | "cancelled" => Standing::Ended,
            "failed" => {
                let errors = batch["errors"]["data"].as_array();
                let words = errors.into_iter().flatten().map(|error| {
                    let word = |key: &str| error[key].as_str().unwrap_or_default();
                    format!("{} ({})", word("message"), word("code"))
                });
                let words: Vec<String> = words.take(3).collect();
                Standing::Refused(shorten(&words.join("; "), 500))
            }
            _ => Standing::Running(count(&["completed", "failed"])),
        })
    }

    /// Goes through what a batch that has ended came to, question by question, by their names.
    pub(crate) async fn outcomes(
        &self,
        id: &str,
        mut each: impl FnMut(&str, Outcome) -> Result<(), Error>,
    ) -> Result<Result<(), Error>, CallFailure> {
        let mut failed = Ok(());
        let mut read = |line: &Value| {
            let Some(name) = line["custom_id"].as_str() else {
                return true;
            };
            failed = each(name, self.outcome(line));
            failed.is_ok()
        };
        match &self.files {
            None => {
                self.lines(&self.batches, &[id, "results"], &mut read)
                    .await?;
            }
            Some(files) => {
                let batch = self.get(&[id]).await?;
                // What went well is in one file and what did not in another; either may be missing.
                for key in ["output_file_id", "error_file_id"] {
                    if let Some(file) = batch[key].as_str() {
                        self.lines(files, &[file, "content"], &mut read).await?;
                    }
                }
            }
        }
        Ok(failed)
    }

    /// Looks for the batch that we call `token`, of so many questions, among those that the server has.
    pub(crate) async fn find(
        &self,
        token: &str,
        questions: usize,
    ) -> Result<BatchPresence, CallFailure> {
        let mut after: Option<String> = None;
        let mut found = BatchPresence::No;
        // Newer ones come first, and it is one of the newest.
        for _ in 0..3 {
            let key = if self.files.is_some() {
                "after"
            } else {
                "after_id"
            };
            let mut query = vec![("limit", "100")];
            query.extend(after.as_deref().map(|after| (key, after)));
            let url = self.batches.below(&[], &query);
            let response = self.batches.send(Method::GET, url, None).await?;
            let list = self.batches.json(response, false).await?;
            for batch in list["data"].as_array().into_iter().flatten() {
                let Some(id) = batch["id"].as_str() else {
                    continue;
                };
                if self.files.is_some() {
                    if batch["metadata"][OUR_NAME].as_str() == Some(token) {
                        return Ok(BatchPresence::Yes(id.to_owned()));
                    }
                    continue;
                }
                // Anthropic keeps no name of ours but those of the questions, which stand in the results.
                let counts = batch["request_counts"].as_object();
                let count: u64 = counts
                    .into_iter()
                    .flat_map(|all| all.values())
                    .filter_map(Value::as_u64)
                    .sum();
                if usize::try_from(count) != Ok(questions) {
                    continue;
                }
                if batch["processing_status"].as_str() != Some("ended") {
                    found = BatchPresence::Perhaps;
                    continue;
                }
                let mut is_ours = false;
                let mut first = |line: &Value| {
                    let name = line["custom_id"].as_str().unwrap_or_default();
                    is_ours = name
                        .strip_prefix(token)
                        .is_some_and(|rest| rest.starts_with('-'));
                    false
                };
                // Results are kept for some weeks only; those of a batch of ours would be there.
                let read = self
                    .lines(&self.batches, &[id, "results"], &mut first)
                    .await;
                if read.is_ok() && is_ours {
                    return Ok(BatchPresence::Yes(id.to_owned()));
                }
            }
            after = list["last_id"].as_str().map(str::to_owned);
            if list["has_more"].as_bool() != Some(true) || after.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// Takes a refusal to heart: whether the question may be asked in a batch again, in another form.
    pub(crate) fn learn(&self, failure: &CallFailure) -> bool {
        match (failure.cause, failure.parameter) {
            (FailureCause::LogprobsRefused, _) => {
                self.without_logprobs.store(true, Ordering::Relaxed);
                true
            }
            (FailureCause::ParameterRefused, Some(field)) => {
                self.model.learned.add(field);
                true
            }
            _ => false,
        }
    }

    /// One question's line in the results.
    fn outcome(&self, line: &Value) -> Outcome {
        if self.files.is_none() {
            let result = &line["result"];
            return match result["type"].as_str() {
                Some("succeeded") => self.read(&result["message"]),
                Some("errored") => {
                    let failure = refusal::embedded(&result["error"], false);
                    Outcome::Failed(failure.unwrap_or_else(|| unreadable(line)))
                }
                _ => Outcome::NotAsked,
            };
        }
        let response = &line["response"];
        let status = response["status_code"].as_u64();
        let status = status.and_then(|status| u16::try_from(status).ok());
        match status {
            Some(200..300) => self.read(&response["body"]),
            Some(status) => {
                let body = response["body"].to_string();
                let asked_logprobs = !self.without_logprobs.load(Ordering::Relaxed);
                Outcome::Failed(refusal::refused(
                    status,
                    &HeaderMap::new(),
                    &body,
                    asked_logprobs,
                ))
            }
            None if is_over(line) => Outcome::NotAsked,
            None => {
                let failure = refusal::embedded(line, false);
                Outcome::Failed(failure.unwrap_or_else(|| unreadable(line)))
            }
        }
    }

    fn read(&self, body: &Value) -> Outcome {
        if let Some(failure) = refusal::embedded(body, false) {
            return Outcome::Failed(failure);
        }
        let mut draft = Draft::default();
        self.model.dialect.read(body, &mut draft);
        match draft.into_completion(&self.model.name) {
            Ok(completion) => Outcome::Answered(completion),
            Err(failure) => Outcome::Failed(failure),
        }
    }

    async fn get(&self, below: &[&str]) -> Result<Value, CallFailure> {
        let url = self.batches.below(below, &[]);
        let response = self.batches.send(Method::GET, url, None).await?;
        // A batch whose requests failed has `errors`, and a null `error` at most.
        self.batches.json(response, false).await
    }

    /// Reads a file of JSON lines as it comes, until `each` has enough.
    async fn lines(
        &self,
        endpoint: &Endpoint,
        below: &[&str],
        each: &mut impl FnMut(&Value) -> bool,
    ) -> Result<(), CallFailure> {
        let url = endpoint.below(below, &[]);
        let mut response = endpoint.send(Method::GET, url, None).await?;
        let mut rest = Vec::new();
        let mut read = |line: &[u8]| {
            let line = endpoint
                .secrets
                .scrub(String::from_utf8_lossy(line).into_owned());
            if line.trim().is_empty() {
                return Ok(true);
            }
            let parsed: Value = serde_json::from_str(&line).map_err(|why| {
                let what = format!(
                    "a line of results is no JSON ({why}): `{}`",
                    shorten(&line, 200)
                );
                CallFailure::new(FailureCause::Unreadable, what)
            })?;
            Ok(each(&parsed))
        };
        while let Some(piece) = response.chunk().await.map_err(client::failed)? {
            rest.extend_from_slice(&piece);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                if !read(&line)? {
                    return Ok(());
                }
            }
            if rest.len() > MOST_BYTES {
                return Err(client::too_large());
            }
        }
        read(&rest).map(drop)
    }
}

/// Sends a file of entries, and says what the server calls it.
async fn upload(files: &Endpoint, token: &str, entries: &[String]) -> Result<String, CallFailure> {
    // Entries are JSON on one line each, so no line of theirs is the boundary.
    let boundary = format!("--atlas-{token}");
    let mut body = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{boundary}\r\n\
         content-disposition: form-data; name=\"file\"; filename=\"{token}.jsonl\"\r\n\
         content-type: application/jsonl\r\n\r\n"
    );
    for entry in entries {
        body.push_str(entry);
        body.push('\n');
    }
    body.push_str("\r\n--");
    body.push_str(&boundary);
    body.push_str("--\r\n");
    let kind = format!("multipart/form-data; boundary={boundary}");
    let url = files.below(&[], &[]);
    let response = files.send(Method::POST, url, Some((&kind, body))).await?;
    text(&files.json(response, false).await?, "id")
}

/// The path of a question's own interface, as entries name it whatever the address is.
fn path(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Responses => "/v1/responses",
        _ => "/v1/chat/completions",
    }
}

fn text(value: &Value, key: &str) -> Result<String, CallFailure> {
    let found = value[key].as_str().map(str::to_owned);
    found.ok_or_else(|| {
        let what = format!("no `{key}`: `{}`", shorten(&value.to_string(), 200));
        CallFailure::new(FailureCause::Unreadable, what)
    })
}

/// Whether a question was not asked because its batch was over.
fn is_over(line: &Value) -> bool {
    let code = line["error"]["code"].as_str();
    matches!(code, Some("batch_expired" | "batch_cancelled"))
}

fn unreadable(line: &Value) -> CallFailure {
    let what = format!(
        "a result that is none: `{}`",
        shorten(&line.to_string(), 200)
    );
    CallFailure::new(FailureCause::Unreadable, what)
}
