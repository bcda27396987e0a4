//! Many verdicts as numbers.

mod bounds;
mod leaderboard;
mod pass_at_k;

pub use bounds::{ScoreBounds, Scored, wilson};
pub use leaderboard::{Leaderboard, LeaderboardRow, leaderboard};
pub use pass_at_k::{AttemptCount, PassAtK, PassAtKRow, TaskGroups, pass_at_k_table};
