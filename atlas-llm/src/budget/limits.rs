//! How much may be spent.

use atlas_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::time::Duration;

/// How much may be spent in all; what is absent is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Most requests sent, those that failed included.
    pub calls: Option<u64>,
    /// Most tokens, read and written.
    pub tokens: Option<u64>,
    /// Most money, in the currency of the models' prices.
    pub money: Option<f64>,
    /// Longest time from the first call on, in seconds.
    pub seconds: Option<f64>,
}

impl Limits {
    /// Nothing is limited.
    pub fn none() -> Self {
        Self::default()
    }

    /// The time limit.
    pub(crate) fn wall(&self) -> Option<Duration> {
        self.seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

/// Reads `calls=100,tokens=2M,money=1.50,time=10m`: any of them, once each. Counts take `k` and `M`,
/// a time takes `s`, `m` or `h`.
///
/// ```
/// let limits: atlas_llm::Limits = "tokens=200k,money=1.5,time=10m".parse()?;
/// assert_eq!(limits.tokens, Some(200_000));
/// assert_eq!(limits.seconds, Some(600.0));
/// assert!("tokens=many".parse::<atlas_llm::Limits>().is_err());
/// # Ok::<(), atlas_core::Error>(())
/// ```
impl FromStr for Limits {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: String| {
            Error::new(
                ErrorKind::InvalidInput,
                "read the budget",
                format!("`{text}`"),
            )
            .with_source(format!(
                "{why}; a budget looks like `calls=100,tokens=2M,money=1.50,time=10m`"
            ))
        };
        let mut limits = Self::default();
        for part in text.split(',').map(str::trim) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| wrong(format!("`{part}` has no `=`")))?;
            let number = |units: &[(char, f64)]| {
                let (digits, unit) = units
                    .iter()
                    .find_map(|(letter, unit)| Some((value.strip_suffix(*letter)?, *unit)))
                    .unwrap_or((value, 1.0));
                match digits.parse::<f64>() {
                    Ok(number) if number.is_finite() && number >= 0.0 => Ok(number * unit),
                    _ => Err(wrong(format!("`{value}` is no amount of {name}"))),
                }
            };
            let counts = [('k', 1e3), ('K', 1e3), ('M', 1e6)];
            let slot_taken = match name {
                "calls" => limits.calls.replace(whole(number(&counts)?)).is_some(),
                "tokens" => limits.tokens.replace(whole(number(&counts)?)).is_some(),
                "money" | "usd" => limits.money.replace(number(&[])?).is_some(),
                "time" => {
                    let units = [('s', 1.0), ('m', 60.0), ('h', 3600.0)];
                    limits.seconds.replace(number(&units)?).is_some()
                }
                _ => return Err(wrong(format!("there is no limit on `{name}`"))),
            };
            if slot_taken {
                return Err(wrong(format!("`{name}` stands twice")));
            }
        }
        Ok(limits)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "finite and not negative; a cast of what is too large saturates"
)]
fn whole(number: f64) -> u64 {
    number as u64
}
