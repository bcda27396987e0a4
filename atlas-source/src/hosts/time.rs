//! Times, as `2024-03-01T12:00:00Z`.

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};

/// Seconds since 1970.
pub(crate) fn of_seconds(seconds: i64) -> Option<String> {
    let time = DateTime::<Utc>::from_timestamp(seconds, 0)?;
    // Years that have no four digits are broken clocks; their texts have no order.
    let text = time.to_rfc3339_opts(SecondsFormat::Secs, true);
    (text.len() == 20 && !text.starts_with('-')).then_some(text)
}

/// Any RFC 3339 time, in UTC and whole seconds.
pub(crate) fn normal(text: &str) -> Option<String> {
    of_seconds(DateTime::parse_from_rfc3339(text).ok()?.timestamp())
}

/// A day, `2024-03-01`, as its first second, or a time.
pub(crate) fn of_day_or_time(text: &str) -> Option<String> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let start = day.and_then(|day| day.and_hms_opt(0, 0, 0));
    match start {
        Some(start) => of_seconds(start.and_utc().timestamp()),
        None => normal(text),
    }
}
