//! A program that tests talk to and that nobody started.

use super::{Change, Repair, Symptom};
use crate::services::kind_at;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Lines that ask before one is started: a test may want to be refused.
const LEAST: usize = 3;

/// Connections that are refused on the usual port of a program that the distribution has.
pub(super) fn refused(symptom: &Symptom<'_>) -> Vec<Repair> {
    static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)connection refused|ECONNREFUSED|failed to connect|can't connect to|could not connect|connection error")
            .expect("a literal pattern")
    });
    static PLACE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:localhost|127\.0\.0\.1|\[?::1\]?)\W{0,3}(?:,? port |:)\s?(\d{4,5})\b")
            .expect("a literal pattern")
    });
    let mut seen: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in symptom.text.lines().filter(|line| REFUSED.is_match(line)) {
        for found in PLACE.captures_iter(line) {
            if let Some(kind) = found[1].parse().ok().and_then(kind_at) {
                seen.entry(kind).or_default().push(line);
                break;
            }
        }
    }
    seen.retain(|_, lines| lines.len() >= LEAST);
    let repair = |(kind, lines): (&str, Vec<&str>)| Repair {
        rule: "a service that is not there",
        proof: symptom.proof(lines[0]),
        change: Change::Service(kind.to_owned()),
    };
    seen.into_iter().map(repair).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::super::testing::changes;

    #[test]
    fn what_is_refused_again_and_again_is_started() {
        for (line, kind) in [
            (
                "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
                "redis",
            ),
            ("Error: connect ECONNREFUSED 127.0.0.1:5432", "postgres"),
            (
                "dial tcp [::1]:11211: connect: connection refused",
                "memcached",
            ),
            (
                "connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused",
                "postgres",
            ),
            (
                "JedisConnectionException: Failed to connect to localhost/127.0.0.1:6379.",
                "redis",
            ),
            ("Connection refused [tcp://127.0.0.1:6379]", "redis"),
        ] {
            let text = format!("{line}\n").repeat(3);
            assert_eq!(
                changes("x:1", &[], &text),
                [Change::Service(kind.to_owned())],
                "{line}"
            );
            assert_eq!(
                changes("x:1", &[], &format!("{line}\n").repeat(2)),
                [],
                "{line}"
            );
        }
        for line in [
            "connect ECONNREFUSED 127.0.0.1:4999",
            "connection refused: db.example:5432",
            "listening on localhost:6379",
        ] {
            assert_eq!(
                changes("x:1", &[], &format!("{line}\n").repeat(9)),
                [],
                "{line}"
            );
        }
    }
}
