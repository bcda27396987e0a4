#![doc = include_str!("../README.md")]

mod model;
mod page;

pub use model::{Overview, PullRequest, Share, StageCost};
pub use page::overview;
