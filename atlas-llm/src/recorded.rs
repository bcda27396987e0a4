//! A model whose exchanges are written down.

use crate::{Exchange, Replay, request_key};
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
    /// Opened when there is something to write.
    file: Mutex<Option<File>>,
    /// What the file held before.
    earlier: Option<Replay>,
}

impl<M: LanguageModel> Recorded<M> {
    /// Records into a file, behind what it holds already.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub fn new(inner: M, path: &Path) -> Result<Self, Error> {
        Ok(Self {
            inner,
            path: path.to_owned(),
            file: Mutex::new(Some(opened(path)?)),
            earlier: None,
        })
    }

    /// The same for a run that may have been stopped before: a question that the file answers already, word for
    /// word, is not asked again. A file of another model, or one that cannot be read, is begun anew; without a
    /// question there is none.
    ///
    /// # Errors
    /// The old file cannot be removed.
    pub fn resuming(inner: M, path: &Path) -> Result<Self, Error> {
        let earlier = Replay::read(path).ok();
        let earlier = earlier.filter(|earlier| earlier.name() == inner.name());
        if earlier.is_none() {
            match std::fs::remove_file(path) {
                Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", path, why));
                }
                _ => {}
            }
        }
        Ok(Self {
            inner,
            path: path.to_owned(),
            file: Mutex::new(None),
            earlier,
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
        let key = request_key(self.name(), request);
        if let Some(known) = self.earlier.as_ref().and_then(|old| old.answer(&key)) {
            cx.check("ask the model")?;
            return Ok(known.clone());
        }
        let completion = self.inner.complete(cx, request).await?;
        let exchange = Exchange {
            key,
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
        let file = match &mut *file {
            Some(file) => file,
            none => none.insert(opened(&self.path)?),
        };
        // One write, so that a killed run leaves whole lines.
        file.write_all(&line).map_err(fail)?;
        Ok(completion)
    }
}

/// The file, to be written to behind what it holds.
fn opened(path: &Path) -> Result<File, Error> {
    let fail = |why| Error::io("record exchanges in", path, why);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(fail)
}
