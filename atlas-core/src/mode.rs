//! Whose rules a prediction is graded by.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A released harness of the field whose verdicts can be reproduced, its mistakes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Harness {
    /// SWE-bench 4.1 (`swebench` on `PyPI`).
    #[serde(rename = "swebench4")]
    SweBench4,
    /// SWE-bench 5.0 (`swebench` on `PyPI`).
    #[serde(rename = "swebench5")]
    SweBench5,
    /// SWE-Bench++.
    #[serde(rename = "swebenchpp")]
    SweBenchPp,
}

impl Harness {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SweBench4, Self::SweBench5, Self::SweBenchPp];

    /// Its name: `swebench5`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SweBench4 => "swebench4",
            Self::SweBench5 => "swebench5",
            Self::SweBenchPp => "swebenchpp",
        }
    }
}

impl fmt::Display for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The rules of a grading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GradingMode {
    /// Atlas's own: what may be forged does not count.
    #[default]
    Strict,
    /// Those of a released harness.
    Compat(Harness),
}

impl GradingMode {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [
        Self::Strict,
        Self::Compat(Harness::SweBench5),
        Self::Compat(Harness::SweBench4),
        Self::Compat(Harness::SweBenchPp),
    ];
}

impl fmt::Display for GradingMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strict => f.write_str("strict"),
            Self::Compat(harness) => write!(f, "compat-{harness}"),
        }
    }
}

/// A text that names no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("mode `{0}`: strict, compat-swebench5, compat-swebench4 or compat-swebenchpp expected")]
pub struct UnknownMode(pub String);

impl FromStr for GradingMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.to_string() == text)
            .ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

impl Serialize for GradingMode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GradingMode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_written_as_they_are_read() {
        for mode in GradingMode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
            let json = serde_json::to_string(&mode).unwrap();
            assert_eq!(serde_json::from_str::<GradingMode>(&json).unwrap(), mode);
        }
        assert!("swebench5".parse::<GradingMode>().is_err());
    }
}
