//! Limits of numbers and of times.

use crate::hosts::time;
use serde::{Deserialize, Serialize};

/// Limits of a number. One that nothing can keep is refused where it is read.
///
/// ```
/// let lines: atlas_source::Bounds = serde_json::from_str(r#"{"below": 150}"#)?;
/// assert!(lines.hold(149) && !lines.hold(150));
/// assert!(serde_json::from_str::<atlas_source::Bounds>(r#"{"above": 5, "at_most": 5}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(!try_from))]
#[serde(try_from = "WrittenBounds")]
pub struct Bounds {
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<u64>,
    /// This or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<u64>,
    /// This or less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBounds {
    above: Option<u64>,
    at_least: Option<u64>,
    at_most: Option<u64>,
    below: Option<u64>,
}

impl TryFrom<WrittenBounds> for Bounds {
    type Error = String;

    fn try_from(written: WrittenBounds) -> Result<Self, Self::Error> {
        let bounds = Self {
            above: written.above,
            at_least: written.at_least,
            at_most: written.at_most,
            below: written.below,
        };
        if bounds == Self::default() {
            return Err("no limit: above, at_least, at_most or below expected".to_owned());
        }
        match bounds.kept() {
            Some(_) => Ok(bounds),
            None => Err(format!("no number is {bounds}: nothing could pass")),
        }
    }
}

impl Bounds {
    /// Exactly these limits: more than.
    pub(crate) fn more_than(limit: u64) -> Self {
        Self {
            above: Some(limit),
            ..Self::default()
        }
    }

    pub(crate) fn less_than(limit: u64) -> Self {
        Self {
            below: Some(limit),
            ..Self::default()
        }
    }

    pub(crate) fn from_to(at_least: Option<u64>, at_most: Option<u64>) -> Self {
        Self {
            at_least,
            at_most,
            ..Self::default()
        }
    }

    /// The least and the greatest number within; `None` if there is none.
    fn kept(&self) -> Option<(u64, u64)> {
        let above = match self.above {
            Some(limit) => limit.checked_add(1)?,
            None => 0,
        };
        let below = match self.below {
            Some(limit) => limit.checked_sub(1)?,
            None => u64::MAX,
        };
        let least = above.max(self.at_least.unwrap_or(0));
        let most = below.min(self.at_most.unwrap_or(u64::MAX));
        (least <= most).then_some((least, most))
    }

    /// The least and the greatest number within; of limits that nothing can keep, which are refused where they are read, none.
    pub(crate) fn range(&self) -> (u64, u64) {
        self.kept().unwrap_or((u64::MAX, 0))
    }

    /// Whether the number is within.
    pub fn hold(&self, number: u64) -> bool {
        self.kept()
            .is_some_and(|(least, most)| (least..=most).contains(&number))
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limits = [
            ("more than", self.above),
            ("at least", self.at_least),
            ("at most", self.at_most),
            ("less than", self.below),
        ];
        let texts = limits
            .into_iter()
            .filter_map(|(word, limit)| Some(format!("{word} {}", limit?)));
        f.write_str(&texts.collect::<Vec<_>>().join(" and "))
    }
}

/// A day or a time: `2024-03-01` is its first second in UTC.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String")]
pub struct Moment(String);

impl TryFrom<String> for Moment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let expected = || {
            format!(
                "`{text}`: a day as \"2024-03-01\" or a time as \"2024-03-01T12:00:00Z\" expected"
            )
        };
        time::of_day_or_time(&text).map(Self).ok_or_else(expected)
    }
}

impl Moment {
    /// As `2024-03-01T00:00:00Z`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A stretch of time. One that has no moment is refused where it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(!try_from))]
#[serde(try_from = "WrittenWindow")]
pub struct Window {
    /// From this moment on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Moment>,
    /// Before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Moment>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWindow {
    after: Option<Moment>,
    before: Option<Moment>,
}

impl TryFrom<WrittenWindow> for Window {
    type Error = String;

    fn try_from(written: WrittenWindow) -> Result<Self, Self::Error> {
        match (&written.after, &written.before) {
            (None, None) => Err("no limit: after or before expected".to_owned()),
            (Some(after), Some(before)) if after >= before => Err(format!(
                "no moment is from {} on and before {}: nothing could pass",
                after.as_str(),
                before.as_str()
            )),
            _ => Ok(Self {
                after: written.after,
                before: written.before,
            }),
        }
    }
}

impl Window {
    /// Whether a time, as `2024-03-01T12:00:00Z`, is within.
    pub fn holds(&self, time: &str) -> bool {
        self.after
            .as_ref()
            .is_none_or(|after| time >= after.as_str())
            && self
                .before
                .as_ref()
                .is_none_or(|before| time < before.as_str())
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let after = self
            .after
            .as_ref()
            .map(|after| format!("from {} on", after.as_str()));
        let before = self
            .before
            .as_ref()
            .map(|before| format!("before {}", before.as_str()));
        let texts: Vec<String> = after.into_iter().chain(before).collect();
        f.write_str(&texts.join(" and "))
    }
}
