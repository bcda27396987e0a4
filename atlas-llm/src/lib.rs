#![doc = include_str!("../README.md")]

mod budget;
mod exchange;
mod recorded;
mod replay;
mod scripted;

pub use budget::{Budget, Limits};
pub use exchange::{Exchange, request_key};
pub use recorded::Recorded;
pub use replay::Replay;
pub use scripted::{Rule, Scripted};
