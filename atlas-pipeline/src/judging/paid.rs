//! What single items cost.

use async_trait::async_trait;
use atlas_core::{Completion, CompletionRequest, Error, LanguageModel, RunContext};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

tokio::task_local! {
    static ITEM: Arc<Mutex<Paid>>;
}

/// What was paid for one item: calls that were answered, with their tokens as reported. (No time: the same
/// answers make the same lines.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Paid {
    pub(super) calls: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
}

/// Does the work of one item, and tells what was paid for it.
pub(super) async fn of_item<T>(work: impl Future<Output = T>) -> (T, Paid) {
    let item = Arc::new(Mutex::new(Paid::default()));
    let done = ITEM.scope(Arc::clone(&item), work).await;
    let paid = *item.lock().unwrap_or_else(PoisonError::into_inner);
    (done, paid)
}

/// A model whose calls are counted for the item that they are made for.
#[derive(Debug)]
pub(super) struct Metered<M>(pub(super) M);

#[async_trait]
impl<M: LanguageModel> LanguageModel for Metered<M> {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let answer = self.0.complete(cx, request).await?;
        let add = |item: &Arc<Mutex<Paid>>| {
            let mut paid = item.lock().unwrap_or_else(PoisonError::into_inner);
            paid.calls += 1;
            paid.prompt_tokens += answer.usage.prompt_tokens;
            paid.completion_tokens += answer.usage.completion_tokens;
        };
        // Outside of a run over items nobody asks.
        let _ = ITEM.try_with(add);
        Ok(answer)
    }
}
