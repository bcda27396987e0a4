//! Answers that are on their way, and those that were given.

use crate::refusal::Refusal;
use axum::body::Bytes;
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, VecDeque};
use tokio::sync::watch;

/// The JSON of an answer, or why there is none.
pub(crate) type Outcome = Result<Bytes, Refusal>;

/// An answer that any number of requests may wait for. Whoever stops waiting stops nothing.
#[derive(Clone, Debug)]
pub(crate) struct Pending(watch::Receiver<Option<Outcome>>);

/// The other end of a [`Pending`].
#[derive(Debug)]
pub(crate) struct Answerer(watch::Sender<Option<Outcome>>);

impl Pending {
    pub(crate) fn new() -> (Answerer, Self) {
        let (sender, receiver) = watch::channel(None);
        (Answerer(sender), Self(receiver))
    }

    pub(crate) async fn wait(mut self) -> Outcome {
        let Ok(answer) = self.0.wait_for(Option::is_some).await else {
            // Whoever was to answer died of a panic.
            return Err(Refusal::defect());
        };
        answer.clone().unwrap_or_else(|| Err(Refusal::defect()))
    }

    fn bytes(&self) -> usize {
        match &*self.0.borrow() {
            Some(Ok(bytes)) => bytes.len(),
            _ => 0,
        }
    }
}

impl Answerer {
    pub(crate) fn answer(self, outcome: Outcome) {
        self.0.send_replace(Some(outcome));
    }
}

/// Bytes of answers that an episode keeps for requests that are asked again.
const KEPT: usize = 4 << 20;

/// The named requests of an episode, and the answers of the latest ones.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    // Without an answer if it was given too long ago.
    seen: HashMap<String, ([u8; 32], Option<Pending>)>,
    order: VecDeque<String>,
}

impl Answers {
    /// The answer to a request of this name that was asked before.
    pub(crate) fn find(
        &self,
        name: Option<&str>,
        digest: &[u8; 32],
    ) -> Result<Option<Pending>, Refusal> {
        let Some((was, answer)) = name.and_then(|name| self.seen.get(name)) else {
            return Ok(None);
        };
        if was != digest {
            return Err(Refusal::invalid(
                "`request_id` was the name of another request: each needs a name of its own",
            ));
        }
        let Some(answer) = answer else {
            return Err(Refusal::new(
                axum::http::StatusCode::GONE,
                "forgotten",
                "the request was carried out, and its answer is no longer kept",
            ));
        };
        Ok(Some(answer.clone()))
    }

    /// Keeps the answer of a named request.
    pub(crate) fn keep(&mut self, name: Option<&str>, digest: [u8; 32], answer: &Pending) {
        let Some(name) = name else { return };
        self.seen
            .insert(name.to_owned(), (digest, Some(answer.clone())));
        self.order.push_back(name.to_owned());
        // The newest one is not given yet, and stays.
        let mut bytes = 0;
        for name in self.order.iter().rev() {
            if let Some((_, Some(answer))) = self.seen.get(name) {
                bytes += answer.bytes();
            }
        }
        while bytes > KEPT
            && let Some(name) = self.order.pop_front()
        {
            if let Some((_, answer)) = self.seen.get_mut(&name)
                && let Some(answer) = answer.take()
            {
                bytes -= answer.bytes();
            }
        }
    }

    /// Forgets a request that was not carried out.
    pub(crate) fn forget(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.seen.remove(name);
            self.order.retain(|known| known != name);
        }
    }
}

/// What a request asks, so that another one is not taken for it.
pub(crate) fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
