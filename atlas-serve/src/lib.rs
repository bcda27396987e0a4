#![doc = include_str!("../README.md")]

mod episode;
mod grade;
mod grading;
mod host;
mod http;
mod journal;
mod keys;
mod listen;
mod metrics;
mod options;
mod pending;
mod pool;
mod refusal;
mod reward;
mod server;
pub mod wire;

pub use grade::{Grade, Passed};
pub use host::{EpisodeHost, HostedEpisode, Submission, Task};
pub use listen::Server;
pub use options::{Secret, ServeOptions};
pub use reward::{RewardKind, UnknownReward};
pub use wire::SubmitAnswer;
