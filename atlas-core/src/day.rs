//! A day of the calendar.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A day of the calendar, written `yyyy-mm-dd`; days are ordered by time.
///
/// ```
/// let day: atlas_core::Day = "2025-06-17".parse()?;
/// assert_eq!(day.first_of_month().as_str(), "2025-06-01");
/// assert!("2025-6-17".parse::<atlas_core::Day>().is_err());
/// # Ok::<(), atlas_core::InvalidDay>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(String);

/// Why a text is no [`Day`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("day `{0}`: yyyy-mm-dd expected")]
pub struct InvalidDay(pub String);

impl Day {
    /// The day as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first day of its month.
    #[must_use]
    pub fn first_of_month(&self) -> Self {
        Self(format!("{}01", &self.0[..8]))
    }
}

impl FromStr for Day {
    type Err = InvalidDay;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_in_place = |(at, c): (usize, u8)| match at {
            4 | 7 => c == b'-',
            _ => c.is_ascii_digit(),
        };
        let good = text.len() == 10
            && text.bytes().enumerate().all(is_in_place)
            && ("01".."13").contains(&&text[5..7])
            && ("01".."32").contains(&&text[8..]);
        if good {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidDay(text.to_owned()))
        }
    }
}

impl TryFrom<String> for Day {
    type Error = InvalidDay;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.0
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
