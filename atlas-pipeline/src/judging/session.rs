//! The model of a run, and what it may spend.

use atlas_core::{Error, ErrorKind, LanguageModel};
use atlas_llm::{Budget, Limits, Replay};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// An opened model with its budget and its ledger.
#[derive(Clone, Debug)]
pub struct ModelSession {
    budget: Arc<Budget<Arc<dyn LanguageModel>>>,
}

impl ModelSession {
    /// Opens.
    pub fn open(spec: &str, _budget: Option<&str>, _config: &crate::Config) -> Result<Self, Error> {
        let inner: Arc<dyn LanguageModel> = match spec.split_once(':') {
            Some(("replay", path)) => Arc::new(Replay::read(Path::new(path))?),
            _ => {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "open the model",
                    format!("`{spec}`"),
                ));
            }
        };
        let limits = Limits {
            calls: u64::MAX,
            tokens: u64::MAX,
        };
        Ok(Self {
            budget: Arc::new(Budget::new(inner, limits)),
        })
    }

    /// The model.
    pub fn model(&self) -> Arc<dyn LanguageModel> {
        let model: Arc<dyn LanguageModel> = Arc::<Budget<_>>::clone(&self.budget);
        model
    }

    /// What was spent.
    pub fn ledger(&self) -> Value {
        let (calls, tokens) = self.budget.spent();
        json!({"calls": calls, "prompt_tokens": tokens, "completion_tokens": 0})
    }
}
