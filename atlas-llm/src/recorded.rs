//! A model whose exchanges are written down.

use crate::{Exchange, request_key};
use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Asks another model and appends every exchange to a file of JSON lines, which
/// [`Replay`](crate::Replay) reads.
#[derive(Debug)]
pub struct Recorded<M> {
    inner: M,
    path: PathBuf,
    file: Mutex<File>,
}

impl<M: LanguageModel> Recorded<M> {
    /// Records into a file, behind what it holds already.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub fn new(inner: M, path: &Path) -> Result<Self, Error> {
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|why| Error::io("record exchanges in", path, why))?;
        Ok(Self {
            inner,
            path: path.to_owned(),
            file: Mutex::new(file),
        })
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Recorded<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let completion = self.inner.complete(cx, request).await?;
        let exchange = Exchange {
            key: request_key(self.name(), request),
            model: self.name().to_owned(),
            request: request.clone(),
            completion: completion.clone(),
        };
        let fail = |why| Error::io("record an exchange in", &self.path, why);
        let mut line = serde_json::to_vec(&exchange).map_err(|why| fail(why.into()))?;
        line.push(b'\n');
        let mut file = self
            .file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // One write, so that a killed run leaves whole lines.
        file.write_all(&line).map_err(fail)?;
        Ok(completion)
    }
}
