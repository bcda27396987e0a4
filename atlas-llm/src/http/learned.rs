//! Fields that a model's server was found not to take.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The fields of a request that can be left out, or named otherwise, where a server refuses them.
pub(super) const FIELDS: &[&str] = &[
    "temperature",
    "seed",
    "response_format",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
];

/// What was refused up to now: a model refuses a field once, and is never sent it again.
#[derive(Debug, Default)]
pub(super) struct Learned(Mutex<BTreeSet<&'static str>>);

impl Learned {
    /// What is known by now.
    pub(super) fn fields(&self) -> BTreeSet<&'static str> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Takes a refusal to heart.
    pub(super) fn add(&self, field: &'static str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(field);
    }

    /// Takes what is refused out of a body. The most tokens of an answer have two names.
    pub(super) fn apply(&self, body: &mut Map<String, Value>) {
        let learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for field in learned.iter() {
            let Some(value) = body.shift_remove(*field) else {
                continue;
            };
            let other = match *field {
                "max_tokens" => "max_completion_tokens",
                "max_completion_tokens" => "max_tokens",
                _ => continue,
            };
            if !learned.contains(other) {
                body.insert(other.to_owned(), value);
            }
        }
    }
}
