//! What untrusted code may use.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Upper bounds for one script in a sandbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Memory in bytes, swap included. Default 8 GiB.
    pub memory_bytes: u64,
    /// Processor cores, fractions allowed. Default 2.
    pub cpus: f64,
    /// Processes and threads alive at once. Default 1,024.
    pub processes: u64,
    /// Wall time in seconds; then everything is killed. Default 1,800, as in the SWE-bench harness.
    pub seconds: u64,
    /// Bytes of console output that are kept; the rest is read and counted. Default 64 MiB.
    pub output_bytes: u64,
    /// Size in bytes of a single file written by the script. Default 2 GiB.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 8 << 30,
            cpus: 2.0,
            processes: 1024,
            seconds: 1800,
            output_bytes: 64 << 20,
            file_bytes: 2 << 30,
        }
    }
}

impl Limits {
    /// The wall time as a [`Duration`].
    pub fn wall(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}
