//! One question with its answer, and the key that finds it again.

use atlas_core::{Completion, CompletionRequest};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// One line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// [`request_key`] of the request.
    pub key: String,
    /// The model's configured name.
    pub model: String,
    /// What was asked.
    pub request: CompletionRequest,
    /// What it answered.
    pub completion: Completion,
}

/// The key of a request to a model: a hash over its name and every field of the request.
///
/// ```
/// let request = atlas_core::CompletionRequest {
///     messages: Vec::new(), max_tokens: 1, temperature: 0.0, seed: None, top_logprobs: None, json_schema: None,
/// };
/// let key = atlas_llm::request_key("m", &request);
/// assert_eq!(key.len(), 64);
/// assert_ne!(key, atlas_llm::request_key("other", &request));
/// ```
pub fn request_key(model: &str, request: &CompletionRequest) -> String {
    // The fields have a fixed order, and a schema keeps the order it was written in.
    let text = serde_json::to_vec(&(model, request)).unwrap_or_default();
    Sha256::digest(&text)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}
