//! Lines that Karma's own reporters share.

/// How a browser stands: `Chrome 120 (Linux): Executed 3 of 10 (1 FAILED) (skipped 2) SUCCESS
/// (0.5 secs / 0.3 secs)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Executed {
    pub(super) ran: u64,
    pub(super) total: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) disconnected: bool,
    pub(super) error: bool,
}

/// Reads such a line: the browser's name and how it stands.
pub(super) fn executed(line: &[u8]) -> Option<(&str, Executed)> {
    let at = memchr::memmem::find(line, b": Executed ")?;
    let browser = std::str::from_utf8(&line[..at]).ok()?;
    let rest = std::str::from_utf8(&line[at + 11..]).ok()?;
    if browser.is_empty() || browser.starts_with(' ') {
        return None;
    }
    let (ran, rest) = rest.split_once(" of ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (total, rest) = rest.split_at_checked(digits)?;
    let mut executed = Executed {
        ran: ran.parse().ok()?,
        total: total.parse().ok()?,
        ..Executed::default()
    };
    for part in rest.split(" (").skip(1) {
        let (inside, after) = part.split_once(')')?;
        if let Some(failed) = inside.strip_suffix(" FAILED") {
            executed.failed = failed.parse().ok()?;
        } else if let Some(skipped) = inside.strip_prefix("skipped ") {
            executed.skipped = skipped.parse().ok()?;
        }
        executed.words(after);
    }
    executed.words(rest.split('(').next().unwrap_or_default());
    Some((browser, executed))
}

impl Executed {
    fn words(&mut self, text: &str) {
        self.disconnected |= text.contains("DISCONNECTED");
        self.error |= text.contains(" ERROR");
    }
}

/// A browser as Karma names it: `Chrome Headless 120.0.0.0 (Linux x86_64)`; the text behind it.
pub(super) fn browser(text: &str) -> Option<(&str, &str)> {
    // The first word that is a version, then the system in parentheses.
    let mut from = 0;
    while let Some(at) = text[from..].find(' ') {
        let version = from + at + 1;
        let rest = &text[version..];
        let digits = rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'.')
            .count();
        if digits > 0 && rest.starts_with(|c: char| c.is_ascii_digit()) {
            let after = &rest[digits..];
            if let Some(system) = after.strip_prefix(" (")
                && let Some(close) = system.find(')')
            {
                let end = text.len() - system.len() + close + 1;
                return Some(text.split_at(end));
            }
        }
        from = version;
    }
    None
}

/// `22 11 2026 02:19:22.262:INFO [karma-server]: text`: the level, who says it, and what.
pub(super) fn logged(line: &str) -> Option<(&str, &str, &str)> {
    let open = line.find(" [")?;
    let (head, rest) = (&line[..open], &line[open + 2..]);
    let level = head.rsplit([':', ' ']).next()?;
    if !matches!(level, "INFO" | "WARN" | "ERROR" | "DEBUG") {
        return None;
    }
    let (who, what) = rest.split_once("]: ")?;
    Some((level, who, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_has_a_version_and_a_system() {
        let text = "Chrome Headless 120.0 (Linux x86_64) a 1.0 (b) FAILED";
        assert_eq!(
            browser(text),
            Some(("Chrome Headless 120.0 (Linux x86_64)", " a 1.0 (b) FAILED"))
        );
        assert_eq!(browser("the job 3 FAILED"), None);
        assert_eq!(browser(""), None);
    }

    #[test]
    fn how_a_browser_stands() {
        let (name, executed) = executed(
            b"X 1.0 (L): Executed 3 of 10 (1 FAILED) (skipped 2) DISCONNECTED (1 secs / 0 secs)",
        )
        .unwrap();
        assert_eq!(name, "X 1.0 (L)");
        assert_eq!(
            executed,
            Executed {
                ran: 3,
                total: 10,
                failed: 1,
                skipped: 2,
                disconnected: true,
                error: false
            }
        );
        assert!(super::executed(b"X: Executed a of b").is_none());
    }
}
