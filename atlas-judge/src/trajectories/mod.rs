//! How well an agent worked (paper 001, appendix F.3, step 4).
//!
//! A trajectory whose patch passes every test may still be a bad lesson: the problem was never seen, nothing was
//! checked, scratch files were left. [`TrajectoryJudge`] asks a model for four scores, each with quotations that must
//! stand in the step that they name.

mod judge;
mod scores;

pub use judge::{
    TrajectoryJudge, TrajectoryJudgeOptions, trajectory_quality_prompt, trajectory_quality_schema,
};
pub use scores::{Dimension, DimensionScore, TrajectoryQuality, TrajectoryRule};
