//! The near spelling of a name that is not known.

/// ``; did you mean `…`?`` with the known name that is nearest, empty where none is near.
pub(crate) fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let close = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness > 0.85)
        // The first of those that are equally near.
        .fold(None, |best: Option<(f64, &str)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        });
    close.map_or_else(String::new, |(_, known)| {
        format!("; did you mean `{known}`?")
    })
}
