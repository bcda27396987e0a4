//! Texts as vectors.

use crate::{Error, RunContext};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// Turns texts into vectors that are alike where the texts are.
///
/// # Contract
/// - One vector for every text, in their order; all of one length, and every number finite.
/// - The same text gives the same vector, whatever else is asked for with it.
/// - The name tells what really ran, with everything that changes a vector.
/// - A refused or unreadable answer is an [`Error`] of kind [`ErrorKind::Model`](crate::ErrorKind::Model); a
///   call that a budget forbids is of kind [`ErrorKind::BudgetExceeded`](crate::ErrorKind::BudgetExceeded).
///
/// # Cancellation
/// Raising `cx.cancel` aborts the call with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
#[async_trait]
pub trait Embedder: fmt::Debug + Send + Sync {
    /// The stable name.
    fn name(&self) -> &str;

    /// The vectors of texts.
    ///
    /// # Errors
    /// See the contract.
    async fn embed(&self, cx: &RunContext, texts: &[String]) -> Result<Vec<Vec<f64>>, Error>;
}

macro_rules! forward_embedder {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<E: Embedder + ?Sized> Embedder for $ty {
            fn name(&self) -> &str { (**self).name() }
            async fn embed(
                &self,
                cx: &RunContext,
                texts: &[String],
            ) -> Result<Vec<Vec<f64>>, Error> {
                (**self).embed(cx, texts).await
            }
        }
    )+};
}
forward_embedder!(&E, Box<E>, Arc<E>);
