//! A model that answers from a recording.

use crate::{Exchange, request_key};
use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, ErrorKind, LanguageModel, RunContext};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers from a file that [`Recorded`](crate::Recorded) wrote. A question that is not in it is an
/// error that says how the nearest one differs.
#[derive(Clone, Debug)]
pub struct Replay {
    model: String,
    exchanges: BTreeMap<String, Exchange>,
    /// Keys in the order of the file.
    order: Vec<String>,
    alike: Option<Alike>,
}

/// Finds questions that differ from a recorded one in numbers alone.
#[derive(Clone, Debug)]
struct Alike {
    /// [`masked`] request -> keys of such requests, in the order of the file.
    keys: BTreeMap<String, Vec<String>>,
    /// Keys that were answered from.
    given: Arc<Mutex<BTreeSet<String>>>,
}

impl Replay {
    /// Reads a recording.
    ///
    /// # Errors
    /// The file cannot be read; a line of it is no exchange, or its key does not fit its request
    /// (the message names the line); it holds exchanges of several models, or none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| Error::io("read the recording", path, why))?;
        let wrong = |what: String| {
            let place = format!("`{}`", path.display());
            Error::new(ErrorKind::InvalidInput, "read the recording", place).with_source(what)
        };
        let mut model: Option<String> = None;
        let mut exchanges = BTreeMap::new();
        let mut order = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let at = at + 1;
            let exchange: Exchange =
                serde_json::from_str(line).map_err(|why| wrong(format!("line {at}: {why}")))?;
            if exchange.key != request_key(&exchange.model, &exchange.request) {
                return Err(wrong(format!(
                    "line {at}: `key` is not the key of its request: the line was changed by hand"
                )));
            }
            match &model {
                Some(known) if *known != exchange.model => {
                    return Err(wrong(format!(
                        "line {at}: model `{}` after `{known}`; one file is one model's",
                        exchange.model
                    )));
                }
                _ => model = Some(exchange.model.clone()),
            }
            order.push(exchange.key.clone());
            exchanges.insert(exchange.key.clone(), exchange);
        }
        let model = model.ok_or_else(|| wrong("it holds no exchange".to_owned()))?;
        Ok(Self {
            model,
            exchanges,
            order,
            alike: None,
        })
    }

    /// Answers questions, too, that differ from a recorded one only in words with digits: seconds, process ids, the
    /// folder of a run. For conversations about what a command printed, which never prints the same twice. Of
    /// several recorded questions that are alike, each answers once, in the order of the file, then the last.
    #[must_use]
    pub fn ignoring_numbers(mut self) -> Self {
        let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for key in &self.order {
            let text = masked(&self.exchanges[key].request);
            keys.entry(text).or_default().push(key.clone());
        }
        self.alike = Some(Alike {
            keys,
            given: Arc::default(),
        });
        self
    }

    /// The answer under a key.
    pub(crate) fn answer(&self, key: &str) -> Option<&Completion> {
        Some(&self.exchanges.get(key)?.completion)
    }

    /// The recorded question that is this one, or alike.
    fn find(&self, request: &CompletionRequest, key: &str) -> Option<&Exchange> {
        let exact = self.exchanges.get(key);
        let Some(alike) = &self.alike else {
            return exact;
        };
        let mut given = alike.given.lock().unwrap_or_else(PoisonError::into_inner);
        let found = exact.or_else(|| {
            let keys = alike.keys.get(&masked(request))?;
            let next = keys.iter().find(|key| !given.contains(*key));
            self.exchanges.get(next.or(keys.last())?)
        })?;
        given.insert(found.key.clone());
        Some(found)
    }

    /// Where the most similar recorded question parts from this one.
    fn nearest(&self, request: &CompletionRequest) -> String {
        let text = |request: &CompletionRequest| -> String {
            request
                .messages
                .iter()
                .map(|message| message.content.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        };
        let asked = text(request);
        let common = |other: &str| {
            asked
                .chars()
                .zip(other.chars())
                .take_while(|(a, b)| a == b)
                .count()
        };
        let nearest = self
            .exchanges
            .values()
            .map(|exchange| (common(&text(&exchange.request)), exchange))
            .max_by_key(|(length, _)| *length);
        let Some((length, exchange)) = nearest else {
            return "the recording is empty".to_owned();
        };
        let recorded = text(&exchange.request);
        let behind = |text: &str| text.chars().skip(length).take(60).collect::<String>();
        if recorded == asked {
            return format!(
                "{} has the same messages, but other settings (tokens, temperature, seed, schema)",
                &exchange.key[..12]
            );
        }
        format!(
            "the nearest, {}, parts from it after {length} characters: asked `{}`, recorded `{}`",
            &exchange.key[..12],
            behind(&asked),
            behind(&recorded)
        )
    }
}

#[async_trait]
impl LanguageModel for Replay {
    fn name(&self) -> &str {
        &self.model
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        cx.check("replay the model")?;
        let key = request_key(&self.model, request);
        match self.find(request, &key) {
            Some(exchange) => Ok(exchange.completion.clone()),
            None => Err(Error::new(
                ErrorKind::Model,
                "replay the model: no such question was recorded:",
                format!("{}; {}", &key[..12], self.nearest(request)),
            )),
        }
    }
}

/// A request with `#` for every word that holds a digit.
fn masked(request: &CompletionRequest) -> String {
    let mut request = request.clone();
    for message in &mut request.messages {
        let mut text = String::with_capacity(message.content.len());
        for word in message
            .content
            .split_inclusive(|c: char| !c.is_alphanumeric())
        {
            let end = word.len()
                - word
                    .chars()
                    .next_back()
                    .map_or(0, |c| if c.is_alphanumeric() { 0 } else { c.len_utf8() });
            let (word, rest) = word.split_at(end);
            if word.chars().any(|c| c.is_ascii_digit()) {
                text.push('#');
            } else {
                text.push_str(word);
            }
            text.push_str(rest);
        }
        message.content = text;
    }
    serde_json::to_string(&request).unwrap_or_default()
}
