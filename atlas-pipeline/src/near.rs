//! The word that somebody meant.

/// Of some words the one nearest to what was written, if one is near enough to be meant.
pub(crate) fn nearest<'a>(
    written: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let most = (written.chars().count() / 3).max(1);
    words
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(written, word), word))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, word)| word)
}

/// The end of a message on an unknown word: the one that is near, if one is.
pub(crate) fn hint<'a>(written: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    nearest(written, words).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// What serde says of an unknown field or variant, with the nearest of the names that it expected.
pub(crate) fn with_nearest(said: &str) -> String {
    let unknown = said.lines().find(|line| line.starts_with("unknown "));
    let mut names = unknown.unwrap_or("").split('`').skip(1).step_by(2);
    let written = names.next().unwrap_or("");
    format!("{said}{}", hint(written, names))
}

#[cfg(test)]
mod tests {
    use super::{nearest, with_nearest};

    #[test]
    fn only_what_is_near_is_meant() {
        assert_eq!(nearest("prepair", ["prepare", "make"]), Some("prepare"));
        assert_eq!(nearest("maek", ["prepare", "make"]), Some("make"));
        assert_eq!(nearest("publish", ["prepare", "make"]), None);
    }

    #[test]
    fn an_unknown_field_gets_its_hint() {
        let said = "TOML parse error\nunknown field `secnds`, expected one of `seconds`, `money`";
        assert!(with_nearest(said).ends_with("; did you mean `seconds`?"));
        assert_eq!(with_nearest("invalid type"), "invalid type");
    }
}
