//! Services beside a job, and the variables that speak of them.

use super::{Job, Placed};
use regex::Regex;
use std::sync::LazyLock;

/// What the variables of a job with services may speak of.
#[derive(Debug)]
pub(crate) struct Reach {
    /// The places of the job's variables.
    variables: Vec<Placed>,
    /// Name, the container's own port, and the port here.
    had: Vec<(String, u16, u16)>,
    lacking: bool,
}

impl Reach {
    pub(crate) fn of(job: &Job) -> Self {
        Self {
            variables: job.env.iter().map(|(_, value)| value.clone()).collect(),
            had: Vec::new(),
            lacking: false,
        }
    }

    /// Notes one that is started here.
    pub(crate) fn has(&mut self, name: &str, own: u16, port: u16) {
        self.had.push((name.to_owned(), own, port));
    }

    /// Notes that one is not, which tests are likely to need.
    pub(crate) fn lacks(&mut self) {
        self.lacking = true;
    }

    /// Whether this is a variable of the job.
    pub(crate) fn is_of(&self, value: &Placed) -> bool {
        self.variables.contains(value)
    }

    /// Whether all is started here that the job has beside it, and there is something.
    pub(crate) fn is_whole(&self) -> bool {
        !self.had.is_empty() && !self.lacking
    }

    /// A variable's value as it is here: a service's name is this machine's own. `None` for one that speaks of
    /// another machine, and for one that is no literal.
    pub(crate) fn value(&self, variable: &str, text: &str) -> Option<String> {
        static PORT: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"\$\{\{\s*job\.services\.([\w-]+)\.ports\[['"]?(\d+)['"]?\]\s*\}\}"#)
                .expect("a literal pattern")
        });
        static HOST: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"://(?:[^/@\s]*@)?([^/:@\s,]+)").expect("a literal pattern")
        });
        let mut text = PORT
            .replace_all(text, |found: &regex::Captures<'_>| {
                let had = self
                    .had
                    .iter()
                    .find(|(name, own, _)| *name == found[1] && own.to_string() == found[2]);
                had.map_or_else(|| found[0].to_owned(), |(_, _, port)| port.to_string())
            })
            .into_owned();
        for (name, ..) in self.had.iter().filter(|(name, ..)| !name.is_empty()) {
            // `postgres` is a host in one variable and a user in the next.
            if text == *name && names_a_host(variable) {
                return Some("localhost".to_owned());
            }
            for (before, after) in [
                ("@", ":"),
                ("@", "/"),
                ("//", ":"),
                ("//", "/"),
                ("tcp(", ":"),
                ("host=", ";"),
                ("host=", " "),
            ] {
                text = text.replace(
                    &format!("{before}{name}{after}"),
                    &format!("{before}localhost{after}"),
                );
            }
            let rest = text.strip_prefix(name.as_str());
            let port = rest.and_then(|rest| rest.strip_prefix(':'));
            if let Some(port) = port.filter(|port| port.starts_with(|c: char| c.is_ascii_digit())) {
                text = format!("localhost:{port}");
            }
        }
        let own = |host: &str| ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].contains(&host);
        let stays = HOST.captures_iter(&text).all(|found| own(&found[1]));
        (stays && is_plain(&text) && !text.starts_with('/') && text.len() <= 300).then_some(text)
    }
}

fn names_a_host(variable: &str) -> bool {
    let name = variable.to_ascii_uppercase();
    let words = ["HOST", "ADDR", "SERVER", "NODE", "ENDPOINT", "BROKER"];
    words.iter().any(|word| name.contains(word))
}

/// Whether a setting is a literal.
pub(crate) fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && !value.contains(['$', '`', '{', '<'])
        && !value.chars().any(char::is_control)
}
