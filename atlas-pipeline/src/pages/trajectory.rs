//! The page of a trajectory.

use atlas_core::Error;
use atlas_report::TrajectoryPage;
use std::path::Path;

pub(super) fn collect(file: &Path) -> Result<TrajectoryPage, Error> {
    super::read(file)
}
