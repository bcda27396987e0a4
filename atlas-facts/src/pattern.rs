//! Names with a wildcard.

/// Whether a whole name is as the pattern says. `*` stands for any text, none and slashes included; letters are
/// compared without regard to ASCII case.
///
/// ```
/// assert!(atlas_facts::fits("*requirements*.txt", "dev-requirements.txt"));
/// assert!(!atlas_facts::fits("Cargo.toml", "Cargo.toml.orig"));
/// ```
pub fn fits(pattern: &str, name: &str) -> bool {
    bytes_fit(pattern.as_bytes(), name.as_bytes())
}

fn bytes_fit(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skip| bytes_fit(rest, &name[skip..])),
        Some((first, rest)) => name
            .split_first()
            .is_some_and(|(byte, name)| byte.eq_ignore_ascii_case(first) && bytes_fit(rest, name)),
    }
}
