//! The lines of `dotnet test`: of VSTest's console logger, of the terminal logger, of
//! Microsoft.Testing.Platform.

use atlas_core::{TestStatus, Totals};

/// A line that gives a test its result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultLine<'a> {
    pub(super) name: &'a str,
    pub(super) status: TestStatus,
}

fn status_of(word: &str) -> Option<TestStatus> {
    Some(match word {
        "Passed" | "passed" | "√" | "V" | "✓" => TestStatus::Passed,
        "Failed" | "failed" | "X" | "x" | "✗" => TestStatus::Failed,
        "Skipped" | "skipped" | "!" | "↓" => TestStatus::Skipped,
        _ => return None,
    })
}

/// A duration as the runners print it: `334 ms`, `< 1 ms`, `1 m 2 s`, `3ms`, `1m 02s 003ms`.
fn is_duration(text: &str) -> bool {
    let text = text.strip_prefix("< ").unwrap_or(text);
    let mut digits = false;
    for part in text.split(' ') {
        let number = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &part[number.len()..];
        if !number
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
            || !matches!(unit, "" | "ms" | "s" | "m" | "h" | "d")
        {
            return false;
        }
        digits |= !number.is_empty();
    }
    digits
}

/// Reads `Passed NAME [334 ms]`: what stands behind the indentation of a result.
///
/// Versions before 16 print no duration and put names into a column (`Failed   NAME`).
pub(super) fn result(text: &str) -> Option<ResultLine<'_>> {
    let (word, rest) = text.split_once(' ')?;
    let status = status_of(word)?;
    let rest = rest.trim_end();
    if let Some((name, time)) = rest.strip_suffix(']').and_then(|r| r.rsplit_once(" ["))
        && is_duration(time)
    {
        let name = name.trim();
        return (!name.is_empty()).then_some(ResultLine { name, status });
    }
    None
}

/// Reads `Failed   NAME` of VSTest 15: the word padded to nine columns.
pub(super) fn padded_result(text: &str) -> Option<ResultLine<'_>> {
    let (word, name) = text.split_at_checked(9)?;
    let status = match word {
        "Passed   " => TestStatus::Passed,
        "Failed   " => TestStatus::Failed,
        "Skipped  " => TestStatus::Skipped,
        _ => return None,
    };
    let name = name.trim_end();
    (!name.is_empty() && !name.starts_with(' ')).then_some(ResultLine { name, status })
}

/// Reads `failed NAME (12ms)` of Microsoft.Testing.Platform.
pub(super) fn platform_result(text: &str) -> Option<ResultLine<'_>> {
    let (word, rest) = text.split_once(' ')?;
    if !word.starts_with(|c: char| c.is_ascii_lowercase()) {
        return None;
    }
    let status = status_of(word)?;
    let (name, time) = rest.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    (is_duration(time) && !name.is_empty()).then_some(ResultLine { name, status })
}

/// Reads `NAME (3ms): Error Message: …`, what the terminal logger prints of a failure.
pub(super) fn terminal_failure(text: &str) -> Option<&str> {
    let at = text.find("): Error Message:")?;
    let (name, time) = text[..at].rsplit_once(" (")?;
    let name = name.trim();
    (is_duration(time) && !name.is_empty()).then_some(name)
}

/// Reads `[xUnit.net 00:00:00.84]     NAME [FAIL]`, which the adapter prints while tests run.
pub(super) fn adapter_failure(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("[xUnit.net ")?.split_once("]     ")?;
    if rest.starts_with(' ') {
        return None;
    }
    rest.trim_end().strip_suffix(" [FAIL]")
}

/// The assembly of `Test run for PATH.dll (.NETCoreApp,Version=v8.0)`, as `NAME.dll (net8.0)`.
pub(super) fn assembly(text: &str) -> Option<String> {
    let rest = text.strip_prefix("Test run for ")?;
    let (path, framework) = match rest
        .trim_end()
        .strip_suffix(')')
        .and_then(|r| r.rsplit_once('('))
    {
        Some((path, framework)) => (path.trim_end(), framework),
        None => (rest.trim_end(), ""),
    };
    let file = path.rsplit(['/', '\\']).next()?;
    if file.is_empty() {
        return None;
    }
    Some(match moniker(framework) {
        Some(moniker) => format!("{file} ({moniker})"),
        None => file.to_owned(),
    })
}

/// `.NETCoreApp,Version=v8.0` in the short form that totals have: `net8.0`.
fn moniker(framework: &str) -> Option<String> {
    let (family, version) = framework.split_once(",Version=v")?;
    Some(match family {
        ".NETFramework" => format!("net{}", version.replace('.', "")),
        ".NETCoreApp" => {
            let major: u32 = version.split('.').next()?.parse().ok()?;
            let family = if major < 5 { "netcoreapp" } else { "net" };
            format!("{family}{version}")
        }
        _ => return None,
    })
}

/// The numbers of a line such as
/// `Passed!  - Failed:     0, Passed:   231, Skipped:     0, Total:   231, Duration: 4 s - T.dll (net8.0)`,
/// with the assembly it names.
pub(super) fn one_line_totals(text: &str) -> Option<(Totals, &str)> {
    let (word, rest) = text
        .split_once("!  - ")
        .or_else(|| text.split_once("! - "))?;
    if !matches!(word, "Passed" | "Failed" | "Skipped") {
        return None;
    }
    let (numbers, name) = match rest.rsplit_once(" - ") {
        Some((numbers, name)) => (numbers, name.trim()),
        None => (rest, ""),
    };
    let mut totals = Totals::default();
    for part in numbers.split(',') {
        let Some((label, number)) = part.split_once(':') else {
            continue;
        };
        set(&mut totals, label.trim(), number.trim());
    }
    totals.passed.and(totals.failed)?;
    Some((totals, name))
}

/// Sets the total with this label; false if it has none.
pub(super) fn set(totals: &mut Totals, label: &str, number: &str) -> bool {
    let field = match label {
        "Total tests" | "Total" | "total" => &mut totals.total,
        "Passed" | "passed" | "succeeded" => &mut totals.passed,
        "Failed" | "failed" => &mut totals.failed,
        "Skipped" | "skipped" => &mut totals.skipped,
        _ => return false,
    };
    let Ok(number) = number.trim_end_matches('.').parse() else {
        return false;
    };
    *field = Some(number);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_a_duration() {
        let read = |text| result(text).map(|r| (r.name.to_owned(), r.status));
        assert_eq!(
            read("Passed A.B(text: \"x [3 ms]\") [12 ms]"),
            Some(("A.B(text: \"x [3 ms]\")".to_owned(), TestStatus::Passed))
        );
        assert_eq!(
            read("Failed A.B [< 1 ms]"),
            Some(("A.B".to_owned(), TestStatus::Failed))
        );
        assert_eq!(
            read("X A.B [1m 2s]"),
            Some(("A.B".to_owned(), TestStatus::Failed))
        );
        assert_eq!(read("Passed the exam [barely]"), None);
        assert_eq!(read("Passed []"), None);
    }

    #[test]
    fn assemblies_are_named_as_totals_name_them() {
        assert_eq!(
            assembly("Test run for C:\\w\\T.dll (.NETCoreApp,Version=v8.0)").as_deref(),
            Some("T.dll (net8.0)")
        );
        assert_eq!(
            assembly("Test run for /w/T.dll(.NETCoreApp,Version=v1.1)").as_deref(),
            Some("T.dll (netcoreapp1.1)")
        );
        assert_eq!(
            assembly("Test run for /w/T.dll (.NETFramework,Version=v4.7.2)").as_deref(),
            Some("T.dll (net472)")
        );
    }
}
