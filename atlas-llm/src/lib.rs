#![doc = include_str!("../README.md")]

mod answers;
#[cfg(feature = "http")]
mod batch;
mod budget;
mod chance;
mod checked;
mod config;
mod embedding;
mod exchange;
mod exchanges;
mod failure;
mod headers;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod next_questions;
mod noise;
mod open;
mod pace;
mod prices;
mod recorded;
mod rehearsal;
mod remembered;
mod replay;
mod retry;
mod retry_policy;
mod scripted;

#[cfg(feature = "http")]
pub use batch::{BatchTally, Batches, Round};
pub use budget::{Account, Budget, BudgetExceeded, Ledger, Limits, Price, Purse};
pub use checked::Checked;
pub use config::{Api, ModelConfig, Provider};
pub use embedding::{RecordedEmbedder, ReplayedEmbedder, open_embedder};
pub use exchange::{Exchange, request_key};
pub use exchanges::{Exchanges, WaitingBatch};
pub use failure::{CallFailure, FailureCause};
pub use headers::{Headers, InvalidHeaders};
#[cfg(feature = "http")]
pub use http::{HttpEmbedder, HttpModel};
pub use noise::Noise;
pub use open::{ModelSource, open_model, open_model_within};
pub use prices::{BatchPrice, PriceTable, PricedModel};
pub use recorded::Recorded;
pub use rehearsal::{Estimate, Rehearsal};
pub use remembered::Remembered;
pub use replay::Replay;
pub use retry::Retry;
pub use retry_policy::RetryPolicy;
pub use scripted::{Rule, Scripted};
