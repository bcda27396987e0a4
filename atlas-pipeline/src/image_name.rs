//! Names for images that other machines pull.

use atlas_core::{Error, ErrorKind};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// A template of image names: `registry.example/tasks/{instance_id}:{key}`.
///
/// | field | becomes |
/// |---|---|
/// | `{instance_id}` | the instance's name |
/// | `{repo}` | the repository's `owner/name`; in a tag, `owner__name` |
/// | `{owner}`, `{name}` | its two parts |
/// | `{base}` | the base commit, 40 digits |
/// | `{key}` | 16 digits of the hash of all that the image is made from |
///
/// Values are written in small letters, and what no image's name may hold becomes `-`. A template is
/// refused where it can give no valid name.
///
/// ```
/// use atlas_pipeline::{ImageName, ImageNameFields};
/// let name: ImageName = "127.0.0.1:5000/tasks/{repo}:{base}".parse()?;
/// let fields = ImageNameFields {
///     instance_id: "Me__Calc-1",
///     repo: "Me/Calc",
///     base: "0a1b",
///     key: "77",
/// };
/// assert_eq!(name.fill(&fields)?, "127.0.0.1:5000/tasks/me/calc:0a1b");
/// assert!("Registry.example/{what}".parse::<ImageName>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct ImageName(String);

/// What the fields of an [`ImageName`] stand for.
#[derive(Clone, Copy, Debug)]
pub struct ImageNameFields<'a> {
    /// The instance's name.
    pub instance_id: &'a str,
    /// The repository, `owner/name`.
    pub repo: &'a str,
    /// The base commit.
    pub base: &'a str,
    /// The hash of what the image is made from.
    pub key: &'a str,
}

/// Names of fields in their braces.
const FIELDS: [&str; 6] = ["instance_id", "repo", "owner", "name", "base", "key"];

/// A template that gives no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`image.name` is `{template}`: {why}")]
pub struct InvalidImageName {
    template: String,
    why: String,
}

impl ImageName {
    /// The name for one instance, always with a tag.
    ///
    /// # Errors
    /// [`InvalidImageName`] where these values make it none, by its length say.
    pub fn fill(&self, fields: &ImageNameFields<'_>) -> Result<String, InvalidImageName> {
        let (owner, name) = fields.repo.split_once('/').unwrap_or(("", fields.repo));
        let (path, tag) = split(&self.0);
        let part = |text: &str, slash: &str| {
            let mut text = text.to_owned();
            for (field, value) in [
                ("instance_id", fields.instance_id),
                ("owner", owner),
                ("name", name),
                ("base", fields.base),
                ("key", fields.key),
            ] {
                text = text.replace(&format!("{{{field}}}"), &plain(value));
            }
            let parts: Vec<String> = fields.repo.split('/').map(plain).collect();
            text.replace("{repo}", &parts.join(slash))
        };
        let filled = format!(
            "{}:{}",
            part(path, "/"),
            part(tag.unwrap_or("latest"), "__")
        );
        match fault(&filled) {
            Some(why) => Err(self.refused(format!("`{filled}` is no image name: {why}"))),
            None => Ok(filled),
        }
    }

    /// As [`fill`](Self::fill), as an error of the command.
    pub(crate) fn filled(&self, fields: &ImageNameFields<'_>) -> Result<String, Error> {
        self.fill(fields).map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "name the image:", "`--image-name`")
                .with_source(why)
        })
    }

    fn refused(&self, why: String) -> InvalidImageName {
        InvalidImageName {
            template: self.0.clone(),
            why,
        }
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ImageName> for String {
    fn from(name: ImageName) -> Self {
        name.0
    }
}

impl TryFrom<String> for ImageName {
    type Error = InvalidImageName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for ImageName {
    type Err = InvalidImageName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        static FIELD: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\{([^{}]*)\}").expect("a literal pattern"));
        let name = Self(text.to_owned());
        for found in FIELD.captures_iter(text) {
            if !FIELDS.contains(&&found[1]) {
                let why = format!("no field `{}`; there are {}", &found[1], FIELDS.join(", "));
                return Err(name.refused(why));
            }
        }
        if text.contains('@') {
            return Err(name.refused("a digest is the registry's to give".to_owned()));
        }
        // With values that every name may hold, what is wrong is the template's own.
        name.fill(&ImageNameFields {
            instance_id: "a__a-1",
            repo: "a/a",
            base: "0",
            key: "0",
        })?;
        Ok(name)
    }
}

/// Path and tag; a colon before a slash is a port's.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (name, None),
    }
}

/// A value as part of a name: small letters and digits, joined by `.`, `_`, `__` or `-`.
fn plain(value: &str) -> String {
    static JOINT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("[^a-z0-9]+").expect("a literal pattern"));
    let lower = value.to_ascii_lowercase();
    let ends = |c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit();
    let joined = JOINT.replace_all(lower.trim_matches(ends), |found: &regex::Captures<'_>| {
        let known = &found[0];
        if matches!(known, "." | "_" | "__") || known.bytes().all(|byte| byte == b'-') {
            known.to_owned()
        } else {
            "-".to_owned()
        }
    });
    if joined.is_empty() {
        "x".to_owned()
    } else {
        joined.into_owned()
    }
}

/// Why a text is no image's name, by the rules of Docker's distribution.
fn fault(name: &str) -> Option<&'static str> {
    static HOST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]+)?$")
            .expect("a literal pattern")
    });
    static PART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$").expect("a literal pattern")
    });
    static TAG: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\w[\w.-]{0,127}$").expect("a literal pattern"));
    let (path, tag) = split(name);
    let host = path
        .split_once('/')
        .filter(|(first, _)| first.contains(['.', ':']) || *first == "localhost");
    let rest = host.map_or(path, |(_, rest)| rest);
    if host.is_some_and(|(host, _)| !HOST.is_match(host)) {
        Some("its first part is no host")
    } else if !rest.split('/').all(|part| PART.is_match(part)) {
        Some("a part of the path is small letters and digits, joined by `.`, `_`, `__` or `-`")
    } else if tag.is_some_and(|tag| !TAG.is_match(tag)) {
        Some("a tag is at most 128 letters, digits, `_`, `.` and `-`")
    } else if path.len() > 255 {
        Some("it is longer than 255 characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{ImageName, ImageNameFields};

    fn filled(template: &str) -> Result<String, String> {
        let name: ImageName = template.parse().map_err(|why| format!("{why}"))?;
        name.fill(&ImageNameFields {
            instance_id: "Some_Body__the..Thing-12",
            repo: "Some_Body/the..Thing",
            base: "0123456789012345678901234567890123456789",
            key: "00ff00ff00ff00ff",
        })
        .map_err(|why| why.to_string())
    }

    #[test]
    fn fields_are_filled_with_what_a_name_may_hold() {
        for (template, expected) in [
            ("me/{instance_id}", "me/some_body__the-thing-12:latest"),
            (
                "127.0.0.1:5000/{repo}:{key}",
                "127.0.0.1:5000/some_body/the-thing:00ff00ff00ff00ff",
            ),
            (
                "quay.io/me/tasks:{repo}",
                "quay.io/me/tasks:some_body__the-thing",
            ),
            (
                "localhost/{owner}.{name}:v1",
                "localhost/some_body.the-thing:v1",
            ),
        ] {
            assert_eq!(filled(template).unwrap(), expected);
        }
    }

    #[test]
    fn what_gives_no_name_is_refused_with_the_field_and_the_reason() {
        for (template, words) in [
            ("Me/{instance_id}", "small letters"),
            ("me/{instance}", "no field `instance`"),
            ("me/{instance_id", "small letters"),
            ("me//{name}", "small letters"),
            ("", "small letters"),
            ("-x.y/{name}", "no host"),
            ("me/{name}:a b", "a tag is"),
            ("me/{name}@sha256:0a", "digest"),
            ("me/{name}:{base}{base}{base}{base}", "a tag is"),
            ("me/x\nFROM y", "small letters"),
        ] {
            let why = filled(template).unwrap_err();
            assert!(why.contains("image.name") && why.contains(words), "{why}");
        }
    }

    #[test]
    fn values_never_make_a_valid_template_invalid() {
        for value in [
            "", "---", "ÄÖ", "a--b", "x_", "a___b", "../..", "1.", "A/B/C", "_.-",
        ] {
            let name: ImageName = "r.example/t-{owner}/{repo}-{instance_id}:{name}"
                .parse()
                .unwrap();
            let fields = ImageNameFields {
                instance_id: value,
                repo: value,
                base: value,
                key: value,
            };
            name.fill(&fields)
                .unwrap_or_else(|why| panic!("{value}: {why}"));
        }
    }
}
