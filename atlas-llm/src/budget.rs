//! A model with a hard limit.

use async_trait::async_trait;
use atlas_core::{
    Completion, CompletionRequest, Error, ErrorKind, LanguageModel, RunContext, Usage,
};
use std::sync::Mutex;

/// How much may be asked in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most calls.
    pub calls: u64,
    /// Most tokens, read and written.
    pub tokens: u64,
}

#[derive(Debug, Default)]
struct Spent {
    calls: u64,
    tokens: u64,
}

/// Passes calls on until a limit is reached. A call counts when it is made; its tokens count as the
/// model reports them, and until then as the most that it may write, so that calls side by side
/// cannot overdraw together.
#[derive(Debug)]
pub struct Budget<M> {
    inner: M,
    limits: Limits,
    spent: Mutex<Spent>,
}

impl<M: LanguageModel> Budget<M> {
    /// A budget that nothing was spent of.
    pub fn new(inner: M, limits: Limits) -> Self {
        Self {
            inner,
            limits,
            spent: Mutex::default(),
        }
    }

    /// Calls and tokens that were spent.
    pub fn spent(&self) -> (u64, u64) {
        let spent = self.lock();
        (spent.calls, spent.tokens)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spent> {
        self.spent
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Reserves a call, or says which limit it would break.
    fn reserve(&self, tokens: u64) -> Result<(), Error> {
        let mut spent = self.lock();
        let over = |what: &str, limit: u64| {
            Error::new(
                ErrorKind::Model,
                "ask the model: its budget is used up:",
                format!("{limit} {what}"),
            )
        };
        if spent.calls >= self.limits.calls {
            return Err(over("calls", self.limits.calls));
        }
        if spent.tokens.saturating_add(tokens) > self.limits.tokens {
            return Err(over("tokens", self.limits.tokens));
        }
        spent.calls += 1;
        spent.tokens += tokens;
        Ok(())
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Budget<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(
        &self,
        cx: &RunContext,
        request: &CompletionRequest,
    ) -> Result<Completion, Error> {
        let reserved = u64::from(request.max_tokens);
        self.reserve(reserved)?;
        let answer = self.inner.complete(cx, request).await;
        let used = answer.as_ref().map_or(Usage::default(), |done| done.usage);
        let mut spent = self.lock();
        spent.tokens -= reserved;
        spent.tokens += used.prompt_tokens + used.completion_tokens;
        drop(spent);
        answer
    }
}
