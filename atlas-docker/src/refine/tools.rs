//! What a model may ask about the repository before it writes a plan.

use async_trait::async_trait;
use atlas_core::{Error, Repository};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// One tool, as a model is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOffer {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its arguments, as a JSON schema of an object.
    pub arguments: Value,
}

/// Tools over one repository at its base commit (paper 001, section 3.2.2: `clone`, `list`, `read`).
///
/// # Contract
/// - Nothing younger than the base commit is shown, and nothing outside of the checkout.
/// - The same call gives the same answer, so that a recorded conversation can be replayed.
#[async_trait]
pub trait RepositoryTools: fmt::Debug + Send + Sync {
    /// The tools there are.
    fn offers(&self) -> Vec<ToolOffer>;

    /// Calls one of them.
    ///
    /// # Errors
    /// A sentence for the model: what is refused, and what to ask instead. The conversation goes on.
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, String>;
}

/// Opens the tools over a repository.
#[async_trait]
pub trait ToolSource: fmt::Debug + Send + Sync {
    /// The tools over this very checkout, which is sealed already; it is there for as long as they are.
    ///
    /// # Errors
    /// The checkout cannot be opened.
    async fn open(&self, repository: &Repository) -> Result<Arc<dyn RepositoryTools>, Error>;
}
