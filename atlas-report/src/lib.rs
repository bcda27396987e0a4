#![doc = include_str!("../README.md")]

mod shell;

mod chart;
mod log;
mod patch;
mod table;

mod comparison;
mod evaluation;
mod fragment;
mod instance;
mod run;
mod trajectory;

pub use chart::{Bar, BarChart};
pub use comparison::{ComparedModel, ComparedPair, ComparisonPage};
pub use evaluation::{EvaluationPage, ModelScore, VerdictRow};
pub use fragment::{Cell, Fragment, FragmentPart, FragmentTable};
pub use instance::{
    Conclusion, HistoryStep, InstancePage, NamedText, PlanPart, StatePane, TransitionRow,
};
pub use log::{LogView, ReadLine};
pub use run::{
    CandidateRow, FilterRow, ReasonRow, RunPage, SharedCount, StageRow, TestQuality, YieldRow,
};
pub use shell::Live;
pub use trajectory::{TrajectoryPage, TrajectoryStep};

use serde::{Deserialize, Serialize};

/// A share in percent with the ends of its interval at 95 %, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The share, in percent; absent where nothing was counted.
    pub percent: Option<f64>,
    /// The ends of its interval, in percent.
    pub interval: Option<(f64, f64)>,
}

impl Share {
    /// A share with its interval, all in percent.
    pub fn percent(percent: f64, low: f64, high: f64) -> Self {
        Self {
            percent: Some(percent),
            interval: Some((low, high)),
        }
    }

    fn bar(self) -> Option<chart::Bar> {
        self.percent.map(|value| chart::Bar {
            value,
            interval: self.interval,
        })
    }

    fn said(self) -> String {
        match (self.percent, self.interval) {
            (Some(value), Some((low, high))) => {
                let between = if low < 0.0 { " to " } else { "–" };
                let (value, low, high) = (number(value), number(low), number(high));
                format!("{value} % ({low}{between}{high})")
            }
            (Some(value), None) => format!("{} %", number(value)),
            (None, _) => "–".to_owned(),
        }
    }
}

/// A number as people write it: whole ones whole, others with one digit behind the point.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Bytes as people write them.
fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut shown, mut unit) = (count, 0);
    while shown >= 10 * 1024 && unit + 1 < UNITS.len() {
        shown = (shown + 512) / 1024;
        unit += 1;
    }
    format!("{shown} {}", UNITS[unit])
}

/// Seconds as people write them.
fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "–".to_owned();
    }
    if seconds < 100.0 {
        return format!("{seconds:.1} s");
    }
    if seconds < 100.0 * 60.0 {
        return format!("{:.0} min", seconds / 60.0);
    }
    format!("{:.1} h", seconds / 3600.0)
}

/// A name as one part of an address: what is no letter, digit, `-`, `_` or `.` is written by its bytes.
pub fn address(name: &str) -> String {
    use std::fmt::Write as _;
    let mut safe = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            safe.push(char::from(byte));
        } else {
            let _ = write!(safe, "%{byte:02X}");
        }
    }
    safe
}
