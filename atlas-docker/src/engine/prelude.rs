//! The lines of bash that stand before every command of a plan and every script of a job.

use atlas_core::{Error, ErrorKind, Overlay};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The folder below `$ATLAS_IN` that holds the engine's own files of a job.
pub(super) const OWN_FOLDER: &str = ".atlas";

/// The file below the engine's own folder that names what was laid over the repository, each path with a
/// NUL behind it.
pub(super) const LAID: &str = "laid";

/// That file's content, if anything is laid.
pub(super) fn laid(overlay: &Overlay) -> Option<Vec<u8>> {
    let paths = overlay.write.keys();
    let list: Vec<u8> = paths
        .flat_map(|path| [path.as_bytes(), b"\0"].concat())
        .collect();
    (!list.is_empty()).then_some(list)
}

/// Lines of bash, for the repository's root, that make the files which `list` names newer than all that
/// was built there and in the cache, by a whole second: image layers and some tools keep no more than
/// seconds, and make and ninja take equal times for nothing changed.
///
/// It is the clock of the place where the products were made that counts, so it is read there. What was
/// made by a clock ahead of it is set back to now, and nothing is set to a time to come: make would
/// build it again and again. What is built from here on is as new as these files or newer.
pub(super) fn newer(list: &str) -> String {
    format!(
        r#"laid_at() {{ xargs -0 touch -c -h "$@" -- <{list} 2>/dev/null; }}
made_after() {{
  find . "$ATLAS_CACHE" \( -name .git -o -name node_modules \) -prune -o -type f -newermt "@$1" "${{@:2}}" 2>/dev/null
}}
laid_at -d @1
now=$(date +%s)
if [ -n "$(made_after $((now - 1)) -print -quit)" ]; then
  while [ "$(date +%s)" -le "$now" ]; do sleep 0.05; done
  made_after "$(date +%s)" -exec touch -c -d "@$now" {{}} +
fi
laid_at
"#,
        list = single_quoted(list)
    )
}

/// Variables that values of a plan may use.
const REFERENCES: [&str; 7] = [
    "ATLAS_REPO",
    "ATLAS_ENV",
    "ATLAS_CACHE",
    "ATLAS_IN",
    "ATLAS_OUT",
    "HOME",
    "PATH",
];

/// Whoever writes more to a file than a sandbox allows gets an error: by the signal, a test program died with all tests
/// behind the one that did.
const LARGE_FILES: &str = "trap '' XFSZ\n";

/// Where an engine puts the folders of the convention, as the script sees them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Places {
    /// `$ATLAS_REPO`: the repository, where scripts begin.
    pub repo: String,
    /// `$ATLAS_ENV`: what was installed.
    pub env: String,
    /// `$ATLAS_CACHE`: caches that may be written.
    pub cache: String,
    /// `$ATLAS_IN`: files for the script.
    pub input: String,
    /// `$ATLAS_OUT`: an empty folder for what it leaves.
    pub output: String,
    /// `$HOME`.
    pub home: String,
}

impl Default for Places {
    fn default() -> Self {
        Self::container()
    }
}

impl Places {
    /// What a sandbox's bash does before the script of a job, once the job's files lie there: it sets the variables of
    /// the plan and of the job, goes to the repository, and makes the files that were laid on it newer than all that
    /// was built, so that build tools see them change.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a variable that no shell takes.
    pub fn prelude(
        &self,
        variables: &[&BTreeMap<String, String>],
        laid: &[String],
    ) -> Result<String, Error> {
        let mut text = self.exports(variables)?;
        let _ = writeln!(text, "cd -- \"$ATLAS_REPO\" || exit 125");
        if !laid.is_empty() {
            let list = format!("{}/.laid-{}", self.input, laid.len());
            let paths: Vec<_> = laid.iter().map(|path| single_quoted(path)).collect();
            let quoted = single_quoted(&list);
            let _ = writeln!(text, "printf '%s\\0' {} > {quoted}", paths.join(" "));
            text.push_str(&newer(&list));
            let _ = writeln!(text, "rm -f {quoted}");
        }
        Ok(text)
    }

    /// The places inside a container, and inside bubblewrap.
    pub fn container() -> Self {
        Self {
            repo: "/testbed".to_owned(),
            env: "/opt/atlas/env".to_owned(),
            cache: "/opt/atlas/cache".to_owned(),
            input: "/opt/atlas/in".to_owned(),
            output: "/opt/atlas/out".to_owned(),
            home: "/home/atlas".to_owned(),
        }
    }

    /// Export lines for the places and for the variables, those of later maps last, and what else holds for every job.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a name that is no identifier or a value with a NUL.
    pub(super) fn exports(&self, variables: &[&BTreeMap<String, String>]) -> Result<String, Error> {
        let mut text = LARGE_FILES.to_owned();
        for (name, value) in [
            ("ATLAS_REPO", &self.repo),
            ("ATLAS_ENV", &self.env),
            ("ATLAS_CACHE", &self.cache),
            ("ATLAS_IN", &self.input),
            ("ATLAS_OUT", &self.output),
            ("HOME", &self.home),
        ] {
            let _ = writeln!(text, "export {name}={}", single_quoted(value));
        }
        for (name, value) in variables.iter().flat_map(|map| map.iter()) {
            if !is_identifier(name) || value.contains('\0') {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "environment variable",
                    format!(
                        "`{name}`: letters, digits and `_` are allowed in a name, and no NUL in a value"
                    ),
                ));
            }
            let _ = writeln!(text, "export {name}=\"{}\"", double_quoted(value));
        }
        Ok(text)
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `text` as one word of a shell.
pub(super) fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The value of a plan's variable for between double quotes in a shell: references to the variables
/// that a plan may use stay, everything else is literal.
pub fn double_quoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        if first == '$' && reference(rest).is_some() {
            text.push('$');
        } else {
            if matches!(first, '\\' | '"' | '`' | '$') {
                text.push('\\');
            }
            text.push(first);
        }
        rest = &rest[first.len_utf8()..];
    }
    text
}

/// The allowed variable that `text`, which starts with `$`, refers to.
fn reference(text: &str) -> Option<&str> {
    let name = &text[1..];
    if let Some(inner) = name.strip_prefix('{') {
        let (inner, _) = inner.split_once('}')?;
        return REFERENCES.contains(&inner).then_some(inner);
    }
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(name.len());
    REFERENCES.contains(&&name[..end]).then_some(&name[..end])
}

#[cfg(test)]
mod tests {
    use super::{Places, double_quoted};
    use std::collections::BTreeMap;
    use std::process::Command;

    #[test]
    fn only_the_known_variables_are_left_alone() {
        for (value, expected) in [
            ("$ATLAS_ENV/bin:$PATH", "$ATLAS_ENV/bin:$PATH"),
            ("${HOME}/x", "${HOME}/x"),
            ("$HOMES $(id) `id`", r"\$HOMES \$(id) \`id\`"),
            (r#"a"b\c"#, r#"a\"b\\c"#),
            ("${HOME:-x} $", r"\${HOME:-x} \$"),
        ] {
            assert_eq!(double_quoted(value), expected);
        }
    }

    #[test]
    fn bash_reads_what_was_meant() {
        let value = "it's $ATLAS_REPO \"$(echo no)\" \\ `x` $UNKNOWN\nnext";
        let variables = BTreeMap::from([("SOME_VALUE".to_owned(), value.to_owned())]);
        let script = format!(
            "{}printf %s \"$SOME_VALUE\"",
            Places::container().exports(&[&variables]).unwrap()
        );
        let printed = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(
            String::from_utf8(printed.stdout).unwrap(),
            value.replace("$ATLAS_REPO", "/testbed")
        );
    }

    #[test]
    fn a_name_cannot_smuggle_a_command() {
        for name in ["A;id", "1A", "", "A B", "A=B"] {
            let variables = BTreeMap::from([(name.to_owned(), String::new())]);
            assert!(
                Places::container().exports(&[&variables]).is_err(),
                "{name}"
            );
        }
    }
}
