//! Embedders: opened from a configuration, recorded and replayed.

use crate::open::ModelSource;
use crate::{ModelConfig, Provider, Purse};
use async_trait::async_trait;
use atlas_core::{Embedder, Error, ErrorKind, RunContext};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Opens an embedder that spends from a purse: the `/v1/embeddings` of an OpenAI-compatible server, or
/// `replay:FILE` of a recording. It asks again what failed for a passing reason, and records where the
/// configuration says so.
///
/// # Errors
/// [`ErrorKind::InvalidInput`]: the configuration cannot be used as it is; the message says why. Other kinds
/// where a file that it names cannot be read or written.
pub fn open_embedder<S: ModelSource + ?Sized>(
    model: &S,
    purse: &Arc<Purse>,
) -> Result<Arc<dyn Embedder>, Error> {
    let config = model.config()?;
    let config = config.as_ref();
    let wrong = |why: &str| {
        let name = format!("`{}`", config.name());
        Error::new(ErrorKind::InvalidInput, "open the embedder", name).with_source(why.to_owned())
    };
    config.retry.check().map_err(|why| wrong(&why))?;
    if config.provider == Provider::Replay {
        let file = config.file.as_deref();
        let file = file.ok_or_else(|| wrong("`replay` needs a `file`"))?;
        return Ok(Arc::new(ReplayedEmbedder::read(file)?));
    }
    if config.price.is_none() && purse.limits_money() {
        return Err(wrong(
            "a budget in money needs its `price`: what a million tokens cost, as `{ input = 0.02, output = 0.0 }`",
        ));
    }
    let embedder = over_http(config, purse)?;
    Ok(match &config.record {
        None => embedder,
        Some(path) => Arc::new(RecordedEmbedder::new(embedder, path)?),
    })
}

#[cfg(feature = "http")]
fn over_http(config: &ModelConfig, purse: &Arc<Purse>) -> Result<Arc<dyn Embedder>, Error> {
    Ok(Arc::new(crate::HttpEmbedder::open(config, purse)?))
}

#[cfg(not(feature = "http"))]
fn over_http(config: &ModelConfig, _purse: &Arc<Purse>) -> Result<Arc<dyn Embedder>, Error> {
    Err(Error::new(
        ErrorKind::InvalidInput,
        "open the embedder",
        format!("`{}`: this program was built without HTTP", config.name()),
    ))
}

/// One line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct EmbeddedText {
    embedder: String,
    text: String,
    vector: Vec<f64>,
}

/// Asks another embedder and appends every new text with its vector to a file of JSON lines, which
/// [`ReplayedEmbedder`] reads.
#[derive(Debug)]
pub struct RecordedEmbedder<E> {
    inner: E,
    path: PathBuf,
    state: Mutex<(File, BTreeSet<String>)>,
}

impl<E: Embedder> RecordedEmbedder<E> {
    /// Records into a file, behind what it holds already.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub fn new(inner: E, path: &Path) -> Result<Self, Error> {
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(|why| Error::io("record embeddings in", path, why))?;
        Ok(Self {
            inner,
            path: path.to_owned(),
            state: Mutex::new((file, BTreeSet::new())),
        })
    }
}

#[async_trait]
impl<E: Embedder> Embedder for RecordedEmbedder<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, cx: &RunContext, texts: &[String]) -> Result<Vec<Vec<f64>>, Error> {
        let vectors = self.inner.embed(cx, texts).await?;
        let fail = |why| Error::io("record embeddings in", &self.path, why);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, seen) = &mut *state;
        let mut lines = Vec::new();
        for (text, vector) in texts.iter().zip(&vectors) {
            if seen.insert(text.clone()) {
                let line = EmbeddedText {
                    embedder: self.name().to_owned(),
                    text: text.clone(),
                    vector: vector.clone(),
                };
                serde_json::to_writer(&mut lines, &line).map_err(|why| fail(why.into()))?;
                lines.push(b'\n');
            }
        }
        // One write, so that a killed run leaves whole lines.
        file.write_all(&lines).map_err(fail)?;
        Ok(vectors)
    }
}

/// Gives the vectors of a file that [`RecordedEmbedder`] wrote. A text that is not in it is an error.
#[derive(Clone, Debug)]
pub struct ReplayedEmbedder {
    name: String,
    vectors: BTreeMap<String, Vec<f64>>,
}

impl ReplayedEmbedder {
    /// Reads a recording.
    ///
    /// # Errors
    /// The file cannot be read; a line of it is no embedding (the message names the line); it holds those of
    /// several embedders, or none.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|why| Error::io("read the recording", path, why))?;
        let wrong = |what: String| {
            let place = format!("`{}`", path.display());
            Error::new(ErrorKind::InvalidInput, "read the recording", place).with_source(what)
        };
        let mut name: Option<String> = None;
        let mut vectors = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let at = at + 1;
            let one: EmbeddedText =
                serde_json::from_str(line).map_err(|why| wrong(format!("line {at}: {why}")))?;
            if name.as_ref().is_some_and(|known| *known != one.embedder) {
                let what = format!("line {at}: `{}`; one file is one embedder's", one.embedder);
                return Err(wrong(what));
            }
            name = Some(one.embedder);
            vectors.insert(one.text, one.vector);
        }
        let name = name.ok_or_else(|| wrong("it holds no embedding".to_owned()))?;
        Ok(Self { name, vectors })
    }
}

#[async_trait]
impl Embedder for ReplayedEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    async fn embed(&self, cx: &RunContext, texts: &[String]) -> Result<Vec<Vec<f64>>, Error> {
        cx.check("replay the embedder")?;
        let of = |text: &String| {
            self.vectors.get(text).cloned().ok_or_else(|| {
                let begin = crate::failure::shorten(text, 60);
                Error::new(
                    ErrorKind::Model,
                    "replay the embedder: no such text was recorded:",
                    format!("{} characters, `{begin}`", text.chars().count()),
                )
            })
        };
        texts.iter().map(of).collect()
    }
}
