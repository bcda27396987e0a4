//! Under which licence the sources of a row stand.

use super::NAME_OF_UNKNOWN;
use crate::near::hint;
use atlas_core::{Error, ErrorKind};
use atlas_formats::Row;
use serde::Serialize;
use serde_json::Value;

/// Who says a row's licence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LicenceSource {
    /// The row.
    Row,
    /// The options.
    Option,
    /// Nobody.
    Nobody,
}

/// The licence of a row's sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Licence {
    /// As it is said: an SPDX expression, the row's own words, or `unknown`.
    pub(super) said: String,
    /// The SPDX expression, where it is one.
    pub(super) expression: Option<String>,
    pub(super) source: LicenceSource,
}

/// The columns in which datasets of the field say licences.
const COLUMNS: [&str; 3] = ["license", "licence", "license_name"];

/// The row's licence, else the given one, else `unknown`.
pub(super) fn licence_of(row: &Row, given: Option<&str>) -> Licence {
    let own = COLUMNS.iter().find_map(|column| row.text(column));
    let ours = || {
        let atlas = row.get("atlas").and_then(Value::as_object)?;
        let sourced = atlas.get("sourced").and_then(Value::as_object);
        let mut of = [Some(atlas), sourced].into_iter().flatten();
        of.find_map(|of| COLUMNS.iter().find_map(|column| of.get(*column)?.as_str()))
    };
    let is_said = |text: &&str| {
        let text = text.trim();
        !text.is_empty() && !text.eq_ignore_ascii_case(NAME_OF_UNKNOWN) && text != "NOASSERTION"
    };
    let (said, source) = match (
        own.filter(is_said).or_else(|| ours().filter(is_said)),
        given,
    ) {
        (Some(said), _) => (said.trim(), LicenceSource::Row),
        (None, Some(given)) => (given, LicenceSource::Option),
        (None, None) => (NAME_OF_UNKNOWN, LicenceSource::Nobody),
    };
    Licence {
        said: said.to_owned(),
        expression: expression(said),
        source,
    }
}

/// A text as an SPDX expression, in SPDX's own spelling; absent where it is none.
fn expression(text: &str) -> Option<String> {
    let canonical = spdx::Expression::canonicalize(text).ok()?;
    let text = canonical.unwrap_or_else(|| text.to_owned());
    spdx::Expression::parse_mode(&text, spdx::ParseMode::LAX).ok()?;
    Some(text)
}

/// Checks a licence that was given as an option.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for what is no SPDX expression, with the near spelling.
pub(super) fn check(given: &str) -> Result<String, Error> {
    expression(given).ok_or_else(|| {
        let known = spdx::identifiers::LICENSES.iter().map(|known| known.name);
        let what = format!(
            "`{given}` is no SPDX licence expression{}",
            hint(given, known)
        );
        Error::new(ErrorKind::InvalidInput, "read the licence:", what)
    })
}

/// The Hub's names of licences that it lists, without `-only` and `-or-later`, which it does not tell apart.
const OF_HUB: &[&str] = &[
    "apache-2.0",
    "mit",
    "afl-3.0",
    "artistic-2.0",
    "bsl-1.0",
    "bsd",
    "bsd-2-clause",
    "bsd-3-clause",
    "bsd-3-clause-clear",
    "cc",
    "cc0-1.0",
    "cc-by-2.0",
    "cc-by-2.5",
    "cc-by-3.0",
    "cc-by-4.0",
    "cc-by-sa-3.0",
    "cc-by-sa-4.0",
    "cc-by-nc-2.0",
    "cc-by-nc-3.0",
    "cc-by-nc-4.0",
    "cc-by-nd-4.0",
    "cc-by-nc-nd-3.0",
    "cc-by-nc-nd-4.0",
    "cc-by-nc-sa-2.0",
    "cc-by-nc-sa-3.0",
    "cc-by-nc-sa-4.0",
    "ecl-2.0",
    "epl-1.0",
    "epl-2.0",
    "eupl-1.1",
    "eupl-1.2",
    "agpl-3.0",
    "gfdl",
    "gpl",
    "gpl-2.0",
    "gpl-3.0",
    "lgpl",
    "lgpl-2.1",
    "lgpl-3.0",
    "isc",
    "lppl-1.3c",
    "ms-pl",
    "mpl-2.0",
    "ncsa",
    "ofl-1.1",
    "osl-3.0",
    "postgresql",
    "unlicense",
    "wtfpl",
    "zlib",
];

/// The Hub's name of a licence: `other` for one that it does not list.
pub(super) fn of_hub(licence: &str) -> String {
    let name = licence.to_lowercase();
    if name == NAME_OF_UNKNOWN {
        return name;
    }
    let bare = name
        .strip_suffix("-only")
        .or_else(|| name.strip_suffix("-or-later"));
    let bare = bare.unwrap_or(&name);
    if OF_HUB.contains(&bare) {
        bare.to_owned()
    } else {
        "other".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_taken_from_where_it_is_said() {
        let row = |text: &str| text.parse::<Row>().unwrap();
        let own = licence_of(
            &row(r#"{"instance_id":"a","license":"MIT OR Apache-2.0"}"#),
            Some("ISC"),
        );
        assert_eq!(
            (own.said.as_str(), own.source),
            ("MIT OR Apache-2.0", LicenceSource::Row)
        );
        assert!(own.expression.is_some());
        let words = licence_of(
            &row(r#"{"instance_id":"a","license_name":"do what you like"}"#),
            None,
        );
        assert_eq!(
            (words.said.as_str(), words.expression),
            ("do what you like", None)
        );
        let given = licence_of(
            &row(r#"{"instance_id":"a","license":"NOASSERTION"}"#),
            Some("ISC"),
        );
        assert_eq!(
            (given.said.as_str(), given.source),
            ("ISC", LicenceSource::Option)
        );
        let nobody = licence_of(&row(r#"{"instance_id":"a"}"#), None);
        assert_eq!(
            (nobody.said.as_str(), nobody.source),
            ("unknown", LicenceSource::Nobody)
        );
    }

    #[test]
    fn the_hub_has_names_of_its_own() {
        for (spdx, hub) in [
            ("GPL-3.0-or-later", "gpl-3.0"),
            ("Apache-2.0", "apache-2.0"),
            ("MIT OR Apache-2.0", "other"),
            ("unknown", "unknown"),
        ] {
            assert_eq!(of_hub(spdx), hub);
        }
    }

    #[test]
    fn what_is_no_licence_is_refused_with_a_near_one() {
        assert_eq!(check("Apache-2.0").unwrap(), "Apache-2.0");
        let why = check("Apachee-2.0").unwrap_err().to_string();
        assert!(why.contains("did you mean `Apache-2.0`"), "{why}");
    }
}
