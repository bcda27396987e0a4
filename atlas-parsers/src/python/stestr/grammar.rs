//! The lines of subunit-trace.

use crate::edges::is_number;
use atlas_core::Totals;

/// What the line of a test says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Passed, or failed as expected.
    Ok,
    /// Failed, or passed unexpectedly.
    Failed,
    Skipped,
    /// The worker ended while the test ran.
    InProgress,
}

/// `{0} pkg.mod.Class.test_x [0.012345s] ... ok`, `{0} pkg.mod.Class.test_x ... SKIPPED: reason`; also behind
/// output that has no line end.
pub(super) fn result(line: &str) -> Option<(&str, Word)> {
    // A hostile line has many braces.
    const TRIES: usize = 8;
    if let Some(result) = at_begin(line) {
        return Some(result);
    }
    let braces = line.rmatch_indices('{').take(TRIES);
    braces.into_iter().find_map(|(at, _)| at_begin(&line[at..]))
}

fn at_begin(line: &str) -> Option<(&str, Word)> {
    let (worker, rest) = line.strip_prefix('{')?.split_once("} ")?;
    if !is_number(worker) {
        return None;
    }
    let skipped = rest.find(" ... SKIPPED");
    let timed = rest
        .find("] ... ")
        .filter(|at| skipped.is_none_or(|skipped| *at < skipped));
    let (name, word) = if let Some(at) = timed {
        let (name, time) = rest[..at].rsplit_once(" [")?;
        let word = match &rest[at + "] ... ".len()..] {
            "ok" => Word::Ok,
            "FAILED" | "fail" => Word::Failed,
            "inprogress" => Word::InProgress,
            _ => return None,
        };
        (is_time(time).then_some(name)?, word)
    } else {
        let at = skipped?;
        let reason = &rest[at + " ... SKIPPED".len()..];
        let ends = reason.is_empty() || reason.starts_with(':');
        (ends.then_some(&rest[..at])?, Word::Skipped)
    };
    let is_name = name.starts_with(|c: char| c == '_' || c.is_alphabetic());
    (is_name && name.contains('.')).then_some((name, word))
}

/// `0.012345s`, with the difference to the run before (`0.012345s +5.00%`), or nothing where no time is known.
fn is_time(text: &str) -> bool {
    let (time, difference) = text.split_once(' ').unwrap_or((text, "0%"));
    let seconds = time.strip_suffix('s').map(str::parse::<f64>);
    let percent = difference.strip_suffix('%').map(str::parse::<f64>);
    text.is_empty() || matches!(seconds, Some(Ok(_))) && matches!(percent, Some(Ok(_)))
}

/// A test's whole name as its lines have it: without the tags of its attributes, `test_x[slow]`.
pub(super) fn without_tags(name: &str) -> String {
    let (Some(open), Some(close)) = (name.find('['), name.find(']')) else {
        return name.to_owned();
    };
    if open == 0 || close < open {
        return name.to_owned();
    }
    format!("{}{}", &name[..open], &name[close + 1..])
}

/// `Failed 3 tests - output below:`. Where there are none, it is not printed.
pub(super) fn failed_tests(line: &str) -> Option<u64> {
    let number = line.strip_prefix("Failed ")?;
    let number = number.strip_suffix(" tests - output below:")?;
    number.parse().ok().filter(|number| *number > 0)
}

/// `Ran: 75 tests in 0.5222 sec.`.
pub(super) fn ran(line: &str) -> Option<u64> {
    let (number, time) = line.strip_prefix("Ran: ")?.split_once(" tests in ")?;
    time.strip_suffix(" sec.")?.parse::<f64>().ok()?;
    number.parse().ok()
}

/// Adds a line of the totals, ` - Passed: 75`. Returns whether it was one.
pub(super) fn add_total(totals: &mut Totals, line: &str) -> bool {
    let total = line
        .strip_prefix(" - ")
        .and_then(|line| line.split_once(": "));
    let Some((name, Ok(number))) = total.map(|(name, number)| (name, number.parse())) else {
        return false;
    };
    let place = match name {
        "Passed" => &mut totals.passed,
        "Skipped" => &mut totals.skipped,
        "Expected Fail" => &mut totals.xfailed,
        "Unexpected Success" => &mut totals.xpassed,
        "Failed" => &mut totals.failed,
        _ => return false,
    };
    *place = Some(number);
    true
}

/// Whether a line is nothing but this character.
pub(super) fn is_rule(line: &str, rule: u8) -> bool {
    line.len() >= 6 && line.bytes().all(|byte| byte == rule)
}
