//! Vectors of texts from a server.

use super::dialect::Dialect;
use super::draft::count;
use super::endpoint::{Endpoint, wrong};
use crate::budget::Cost;
use crate::failure::{CallFailure, FailureCause};
use crate::retry_policy::seconds;
use crate::{ModelConfig, Price, Purse, RetryPolicy};
use async_trait::async_trait;
use atlas_core::{Embedder, Error, ErrorKind, RunContext, Usage};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Most texts of a request.
const MOST_TEXTS: usize = 32;
/// Bytes of texts after which a request is full; one text may be longer.
const MOST_BYTES: usize = 256 << 10;

/// An OpenAI-compatible `/v1/embeddings`.
///
/// Texts go out in batches of at most 32; a text that was embedded once is not sent again for as long as this
/// lives. What fails for a passing reason is asked again by the configuration's rules, and every try counts
/// against the purse.
///
/// # Cancellation
/// Dropping the future closes the connection; whole batches that were answered are kept.
#[derive(Debug)]
pub struct HttpEmbedder {
    name: String,
    model: String,
    extra: Map<String, Value>,
    omit: Vec<String>,
    endpoint: Endpoint,
    retry: RetryPolicy,
    seed: u64,
    price: Option<Price>,
    purse: Arc<Purse>,
    known: Mutex<HashMap<String, Vec<f64>>>,
}

/// A batch's vectors and what they cost, where that was reported.
struct Batch {
    vectors: Vec<Vec<f64>>,
    usage: Option<Usage>,
}

impl HttpEmbedder {
    /// An embedder of a configuration, of the providers `openai`, `compatible` and `llama`. The key is read
    /// from the environment now.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: as [`HttpModel::open`](crate::HttpModel::open), and for other providers.
    pub fn open(config: &ModelConfig, purse: &Arc<Purse>) -> Result<Self, Error> {
        let dialect = Dialect::of(config.provider).filter(|dialect| *dialect == Dialect::OpenAi);
        let dialect = dialect.ok_or_else(|| {
            let provider = config.provider;
            let why = format!(
                "`{provider}` has no embeddings here; openai, compatible, llama and replay have"
            );
            wrong(config, why)
        })?;
        let address = |base: &str| format!("{}/embeddings", base.trim_end_matches('/'));
        Ok(Self {
            endpoint: Endpoint::open(config, dialect, address)?,
            name: config.embedder_name(),
            model: config.model.clone(),
            extra: config.extra_body.clone(),
            omit: config.omit.clone(),
            retry: config.retry,
            seed: config.retry.seed(),
            price: config.price,
            purse: Arc::clone(purse),
            known: Mutex::default(),
        })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Vec<f64>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn body(&self, texts: &[String]) -> Value {
        let mut body = Map::new();
        if !self.model.is_empty() {
            body.insert("model".to_owned(), json!(self.model));
        }
        body.insert("input".to_owned(), json!(texts));
        body.insert("encoding_format".to_owned(), json!("float"));
        body.retain(|field, _| !self.omit.contains(field));
        body.extend(self.extra.clone());
        Value::Object(body)
    }

    async fn ask(&self, texts: &[String]) -> Result<Batch, CallFailure> {
        let response = self.endpoint.post(&self.body(texts), false).await?;
        let answer = self.endpoint.json(response, false).await?;
        let usage = answer.get("usage").and_then(|usage| {
            let read = count(usage, "prompt_tokens").or_else(|| count(usage, "total_tokens"))?;
            Some(Usage {
                prompt_tokens: read,
                ..Usage::default()
            })
        });
        let vectors = vectors(&answer, texts.len()).map_err(|why| {
            let mut failure = CallFailure::new(FailureCause::Unreadable, why);
            failure.status = Some(200);
            failure.usage = usage;
            failure
        })?;
        Ok(Batch { vectors, usage })
    }

    /// One try, on the purse.
    async fn once(
        &self,
        cx: &RunContext,
        texts: &[String],
        estimate: Usage,
    ) -> Result<Batch, Error> {
        let call = async {
            tokio::select! {
                answer = self.ask(texts) => answer.map_err(|why| why.into_error(&self.name)),
                () = cx.cancel.cancelled() => {
                    Err(Error::new(ErrorKind::Cancelled, "embed texts", "was cancelled"))
                }
            }
        };
        let cost = |batch: &Batch, held| batch.usage.map_or(Cost::Estimated(held), Cost::Reported);
        self.purse
            .spend(cx, &self.name, self.price, estimate, call, cost)
            .await
    }

    async fn batch(&self, cx: &RunContext, texts: &[String]) -> Result<Vec<Vec<f64>>, Error> {
        let (mut started, total) = (Instant::now(), seconds(self.retry.total));
        let bytes: usize = texts.iter().map(String::len).sum();
        let estimate = Usage {
            prompt_tokens: u64::try_from(bytes.div_ceil(2)).unwrap_or(u64::MAX),
            ..Usage::default()
        };
        let pace = &self.endpoint.pace;
        let mut tried = 0;
        loop {
            cx.check("embed texts")?;
            let queued = Instant::now();
            let (purse, tokens) = (Some(&*self.purse), estimate.prompt_tokens);
            let turn = pace.turn_within(cx, purse, &self.name, tokens).await?;
            // However long the queue is, it is nobody's failure.
            started += queued.elapsed();
            let why = match self.once(cx, texts, estimate).await {
                Ok(batch) => {
                    pace.answered(&turn, batch.usage.unwrap_or_default());
                    return Ok(batch.vectors);
                }
                Err(why) => why,
            };
            if let Some(failure) = CallFailure::of(&why) {
                pace.failed(&turn, failure, &self.retry);
            }
            let failure = CallFailure::of(&why).filter(|failure| failure.cause.is_transient());
            let Some(failure) = failure.filter(|_| tried < self.retry.retries) else {
                return Err(why);
            };
            let wait = self.retry.wait(&self.name, self.seed, tried, failure);
            if started.elapsed().saturating_add(wait) >= total {
                return Err(why);
            }
            tried += 1;
            tracing::debug!(model = self.name, cause = ?failure.cause, tried, ?wait, "asked again");
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = cx.cancel.cancelled() => {}
            }
        }
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    async fn embed(&self, cx: &RunContext, texts: &[String]) -> Result<Vec<Vec<f64>>, Error> {
        cx.check("embed texts")?;
        let new: BTreeSet<&String> = {
            let known = self.known();
            let new = texts.iter().filter(|text| !known.contains_key(*text));
            new.collect()
        };
        let mut new: Vec<String> = new.into_iter().cloned().collect();
        while !new.is_empty() {
            let mut bytes = 0;
            let full = new.iter().position(|text| {
                bytes += text.len();
                bytes > MOST_BYTES
            });
            let size = full
                .unwrap_or(new.len())
                .clamp(1, MOST_TEXTS)
                .min(new.len());
            let batch: Vec<String> = new.drain(..size).collect();
            let vectors = self.batch(cx, &batch).await?;
            self.known().extend(batch.into_iter().zip(vectors));
        }
        let known = self.known();
        let vectors = texts.iter().filter_map(|text| known.get(text).cloned());
        let vectors: Vec<Vec<f64>> = vectors.collect();
        let lengths: BTreeSet<usize> = vectors.iter().map(Vec::len).collect();
        if lengths.len() > 1 {
            let what = format!("vectors of several lengths: {lengths:?}");
            let failure = CallFailure::new(FailureCause::Unreadable, what);
            return Err(failure.into_error(&self.name));
        }
        Ok(vectors)
    }
}

/// The vectors of an answer in the order of the texts.
fn vectors(answer: &Value, texts: usize) -> Result<Vec<Vec<f64>>, String> {
    let data = answer.get("data").and_then(Value::as_array);
    let data = data.ok_or("it has no list `data`")?;
    let mut found: Vec<Option<Vec<f64>>> = vec![None; texts];
    for (at, entry) in data.iter().enumerate() {
        let index = entry.get("index").and_then(Value::as_u64);
        let index = index.map_or(at, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let numbers = entry.get("embedding").and_then(Value::as_array);
        let numbers = numbers.ok_or_else(|| format!("`data[{at}].embedding` is no list"))?;
        let vector: Option<Vec<f64>> = numbers
            .iter()
            .map(|number| number.as_f64().filter(|number| number.is_finite()))
            .collect();
        let vector = vector.filter(|vector| !vector.is_empty()).ok_or_else(|| {
            format!("`data[{at}].embedding` is empty, or holds what is no number")
        })?;
        let place = found.get_mut(index);
        let place = place.ok_or_else(|| format!("`data[{at}].index` is {index} of {texts}"))?;
        if place.replace(vector).is_some() {
            return Err(format!("text {index} has two vectors"));
        }
    }
    let count = found.iter().flatten().count();
    let all: Option<Vec<Vec<f64>>> = found.into_iter().collect();
    all.ok_or_else(|| format!("{count} vectors for {texts} texts"))
}
