//! Numbers of releases.

/// A version as far as releases are compared by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Release {
    pub(super) numbers: Vec<u64>,
    /// Not one that comes before the release of these numbers, as `1.2.0rc1` and `1.2.0.dev0` do.
    full: bool,
}

impl Release {
    /// Reads the longest dotted number in a version or in a tag: `1.2.0rc1`, `v1.2`, `lib4-1.2`.
    pub(super) fn in_text(text: &str) -> Option<Self> {
        let digit = |c: char| c.is_ascii_digit();
        let mut best: Option<(usize, &str)> = None;
        let mut at = 0;
        while let Some(start) = text[at..].find(digit).map(|found| at + found) {
            let rest = &text[start..];
            let end = rest
                .find(|c: char| !digit(c) && c != '.')
                .unwrap_or(rest.len());
            let number = rest[..end].trim_end_matches('.');
            let dots = |number: &str| number.matches('.').count();
            if best.is_none_or(|(_, known)| dots(number) > dots(known)) {
                best = Some((start, number));
            }
            at = start + end;
        }
        let (start, number) = best?;
        let mut numbers = number
            .split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<Vec<u64>>>()?;
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        let rest = text[start + number.len()..].trim_start_matches(['.', '-', '_']);
        let rest = rest.to_ascii_lowercase();
        let early = [
            "a", "b", "c", "rc", "dev", "pre", "m", "snapshot", "next", "canary", "preview",
            "nightly", "insiders",
        ];
        let word = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .map_or(&*rest, |end| &rest[..end]);
        let early = early.contains(&word) || word.starts_with("alpha") || word.starts_with("beta");
        Some(Self {
            numbers,
            full: !early,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Release;

    #[test]
    fn versions_are_read_out_of_tags() {
        let release = |text| Release::in_text(text).unwrap();
        for (lower, higher) in [
            ("1.2.0rc1", "1.2"),
            ("1.2.0.dev4+g12ab", "v1.2.0"),
            ("lib4-1.9", "lib4-1.10"),
            ("1.2-SNAPSHOT", "release_1.2"),
            ("v0.0.0-20230101000000-0123456789ab", "v0.0.1"),
            ("1.2", "1.2.1-beta.3"),
        ] {
            assert!(release(lower) < release(higher), "{lower} {higher}");
        }
        assert_eq!(release("1.2.0"), release("v1.2"));
        assert_eq!(Release::in_text("next"), None);
    }
}
