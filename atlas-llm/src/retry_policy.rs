//! How often and when to ask again.

use crate::failure::CallFailure;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How often and when to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// Most tries after the first. Default: 4.
    pub retries: u32,
    /// Seconds before the second try; each later wait is up to twice as long. Default: 0.5.
    pub first_wait: f64,
    /// Longest wait in seconds that Atlas chooses. Default: 30.
    pub longest_wait: f64,
    /// Longest wait in seconds that a server may ask for; what it asks beyond is cut to this.
    /// Default: 120.
    pub longest_retry_after: f64,
    /// Seconds that all tries and the waits between them may take together; waiting for a turn under a limit of
    /// requests or tokens per minute is none. Default: 900.
    pub total: f64,
    /// Makes the waits the same in every process. Default: none.
    pub seed: Option<u64>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 4,
            first_wait: 0.5,
            longest_wait: 30.0,
            longest_retry_after: 120.0,
            total: 900.0,
            seed: None,
        }
    }
}

impl RetryPolicy {
    /// How long to wait before the next try. Waits of one key and seed are the same in every process.
    pub(crate) fn wait(&self, key: &str, seed: u64, tried: u32, failure: &CallFailure) -> Duration {
        if let Some(asked) = failure.retry_after {
            return asked.min(seconds(self.longest_retry_after));
        }
        let longest = self.first_wait * 2_f64.powi(i32::try_from(tried).unwrap_or(i32::MAX));
        // Between half and all of it: callers that failed together come back apart.
        let chance = crate::chance::Chance::new(&format!("{key} {tried}"), seed).unit();
        seconds(longest.min(self.longest_wait) * (0.5 + chance / 2.0))
    }

    /// The seed of the waits: its own, or one by chance.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
            .unwrap_or_else(|| RandomState::new().hash_one("seed"))
    }

    /// Says which setting is no number of seconds.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (name, seconds) in [
            ("first_wait", self.first_wait),
            ("longest_wait", self.longest_wait),
            ("longest_retry_after", self.longest_retry_after),
            ("total", self.total),
        ] {
            if Duration::try_from_secs_f64(seconds).is_err() {
                return Err(format!("`retry.{name}`: {seconds} is no number of seconds"));
            }
        }
        Ok(())
    }
}

pub(crate) fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX)
}
