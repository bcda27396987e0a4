//! Pulling images: patient with registries that are busy, brief with those that say no.

use super::DockerEngine;
use super::names::offered;
use atlas_core::{Error, ErrorKind, RunContext};
use bollard::errors::Error as Fault;
use bollard::query_parameters::CreateImageOptionsBuilder;
use futures_util::StreamExt;
use std::time::Duration;

/// Longest pause between two rounds, whatever a registry asks for.
const LONGEST: Duration = Duration::from_secs(300);

/// Why an image was not pulled.
struct Refusal {
    why: String,
    /// Whether it may be another matter a moment later.
    passing: bool,
    /// How long the registry asked to wait.
    wait: Option<Duration>,
}

/// Pulls from the first place that gives, in rounds with growing pauses as long as one of them may
/// still give. The inner error says in words why there is no image.
///
/// # Errors
/// [`ErrorKind::Cancelled`].
pub(super) async fn pull(
    engine: &DockerEngine,
    cx: &RunContext,
    places: &[String],
) -> Result<Result<String, String>, Error> {
    let options = engine.options();
    let mut open: Vec<&String> = places.iter().collect();
    let mut reasons = Vec::new();
    for round in 1..=options.pull_attempts.max(1) {
        let mut wait: Option<Duration> = None;
        let mut passing = Vec::new();
        for place in open {
            let refusal = match one(engine, cx, place).await? {
                Ok(()) => return Ok(Ok(place.clone())),
                Err(refusal) => refusal,
            };
            tracing::debug!(%place, round, why = refusal.why, "not pulled");
            wait = wait.max(refusal.wait);
            if refusal.passing {
                passing.push((place, refusal.why));
            } else {
                reasons.push(refusal.why);
            }
        }
        if passing.is_empty() || round >= options.pull_attempts {
            reasons.extend(passing.into_iter().map(|(_, why)| match round {
                1 => why,
                _ => format!("{why}, {round} times"),
            }));
            break;
        }
        open = passing.into_iter().map(|(place, _)| place).collect();
        let pause = pause(options.pull_pause, round, wait, chance());
        cx.progress
            .detail(&format!("pull again in {:.0} s", pause.as_secs_f64()));
        tokio::select! {
            () = cx.cancel.cancelled() => return Err(cancelled(&places[0])),
            () = tokio::time::sleep(pause) => {}
        }
    }
    Ok(Err(reasons.join("; ")))
}

fn cancelled(name: &str) -> Error {
    Error::new(ErrorKind::Cancelled, "pull", format!("`{name}`"))
}

/// The pause after a round: doubled each time, half of it by chance so that many that were turned
/// away together do not return together, and never less than a registry asked for.
pub(super) fn pause(first: Duration, round: u32, asked: Option<Duration>, chance: f64) -> Duration {
    let doubled = first.saturating_mul(1 << (round - 1).min(16)).min(LONGEST);
    let jittered = doubled.mul_f64(0.5 + chance / 2.0);
    let asked = asked.unwrap_or_default();
    (asked
        + if asked.is_zero() {
            jittered
        } else {
            first.mul_f64(chance)
        })
    .min(LONGEST)
}

/// A number from 0 to 1: the seed of a fresh hash map is as random as a pause needs.
pub(super) fn chance() -> f64 {
    use std::hash::{BuildHasher, Hasher};
    let bits = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    f64::from(u32::try_from(bits >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

async fn one(
    engine: &DockerEngine,
    cx: &RunContext,
    name: &str,
) -> Result<Result<(), Refusal>, Error> {
    cx.progress.detail(&format!("pull {name}"));
    let (repository, version) = offered(name);
    let options = CreateImageOptionsBuilder::default()
        .from_image(repository)
        .tag(version);
    let timeout = engine.options().pull_timeout;
    // The engine may be silent for as long as a registry lets it wait.
    let docker = engine.docker().clone().with_timeout(timeout);
    let mut stream = Box::pin(docker.create_image(Some(options.build()), None, None));
    let work = async {
        while let Some(item) = stream.next().await {
            item?;
        }
        Ok::<(), Fault>(())
    };
    let ended = tokio::select! {
        () = cx.cancel.cancelled() => return Err(cancelled(name)),
        ended = tokio::time::timeout(timeout, work) => ended,
    };
    Ok(match ended {
        Err(_) => Err(Refusal {
            why: format!(
                "the pull of `{name}` did not end within {} s",
                timeout.as_secs()
            ),
            passing: false,
            wait: None,
        }),
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => match &why {
            Fault::DockerResponseServerError { message, .. } => Err(judge(name, message)),
            Fault::DockerStreamError { error } => Err(judge(name, error)),
            _ => return Err(super::fault("pull", name, why)),
        },
    })
}

/// What a registry, or the way to it, has to say, as the engine passes it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It turns requests away for now.
    Busy,
    /// It has a fault of its own.
    Unwell,
    /// Nothing has this name: nor will it in a minute.
    Nameless,
    /// It was not reached.
    Network,
    /// It has no such image, or not for everybody.
    Unknown,
    /// Anything else.
    Other,
}

impl Answer {
    /// Reads an engine's words.
    pub(super) fn of(message: &str) -> Self {
        let lower = message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let status = |code: u16| {
            has(&[
                &format!("http status: {code}"),
                &format!("http status {code}"),
                &format!("status code {code}"),
                &format!("status: {code}"),
            ])
        };
        if has(&["toomanyrequests", "too many requests", "429", "rate limit"]) {
            return Self::Busy;
        }
        let unwell = [
            "internal server error",
            "bad gateway",
            "service unavailable",
            "gateway time-out",
            "gateway timeout",
        ];
        if [500, 502, 503, 504].into_iter().any(status) || has(&unwell) {
            return Self::Unwell;
        }
        if has(&["no such host"]) {
            return Self::Nameless;
        }
        if has(&[
            "lookup ",
            "dial tcp",
            "timeout",
            "deadline exceeded",
            "refused",
            "unreachable",
            "connection reset",
            "broken pipe",
            "eof",
        ]) {
            return Self::Network;
        }
        if has(&[
            "manifest unknown",
            "not found",
            "does not exist",
            "access denied",
            "no such image",
            "name unknown",
            "unauthorized",
        ]) {
            return Self::Unknown;
        }
        Self::Other
    }

    /// Whether it may be another one a moment later.
    pub(super) fn may_pass(self) -> bool {
        matches!(self, Self::Busy | Self::Unwell | Self::Network)
    }
}

/// Reads an engine's words for a registry's answer.
fn judge(name: &str, message: &str) -> Refusal {
    let message = message.trim();
    let answer = Answer::of(message);
    let reason = match answer {
        Answer::Busy => {
            "its registry turns requests away (`docker login` raises the limit, a mirror in \
             `engine.mirrors` avoids it)"
        }
        Answer::Unwell => "its registry is not well",
        Answer::Unknown => "its registry does not offer it",
        Answer::Nameless | Answer::Network => "its registry could not be reached",
        Answer::Other => "the pull failed",
    };
    Refusal {
        why: format!("`{name}`: {reason} ({message})"),
        passing: answer.may_pass(),
        wait: asked(&message.to_lowercase()),
    }
}

/// "retry-after: 30", "retry after 30 seconds", "try again in 2 minutes": what an engine passes on
/// of a registry's wish.
pub(super) fn asked(lower: &str) -> Option<Duration> {
    let (_, rest) = ["retry-after", "retry after", "again in", "again after"]
        .iter()
        .find_map(|words| lower.split_once(words))?;
    let rest = rest.trim_start_matches([':', '=', ' ', '"']);
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let number: u64 = rest[..digits].parse().ok()?;
    let unit =
        rest[digits..].trim_start_matches(|c: char| c == '.' || c == ' ' || c.is_ascii_digit());
    let seconds = if ["ms", "milli", "µs", "ns"]
        .iter()
        .any(|small| unit.starts_with(small))
    {
        1
    } else if unit.starts_with('m') {
        number.saturating_mul(60)
    } else if unit.starts_with('h') {
        number.saturating_mul(3600)
    } else {
        number
    };
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, asked, judge, pause};
    use std::time::Duration;

    #[test]
    fn who_may_be_asked_again() {
        for (message, passing) in [
            (
                "toomanyrequests: You have reached your pull rate limit.",
                true,
            ),
            (
                "reading manifest 1 in r/x: received unexpected HTTP status: 503 Service Unavailable",
                true,
            ),
            (
                "Get \"https://r/v2/\": dial tcp 192.0.2.1:443: i/o timeout",
                true,
            ),
            (
                "Get \"http://r/v2/\": dial tcp 127.0.0.1:1: connect: connection refused",
                true,
            ),
            (
                "Get \"https://r/v2/\": dial tcp: lookup r: no such host",
                false,
            ),
            (
                "manifest for r/x:1 not found: manifest unknown: manifest unknown",
                false,
            ),
            ("pull access denied for x, repository does not exist", false),
            ("invalid reference format", false),
        ] {
            assert_eq!(judge("r/x:1", message).passing, passing, "{message}");
        }
    }

    #[test]
    fn a_registry_s_wish_is_read() {
        for (words, seconds) in [
            ("toomanyrequests: retry-after: 30", Some(30)),
            ("retry-after: 879.613µs, allowed: 44000/minute", Some(1)),
            ("please try again in 2 minutes", Some(120)),
            ("try again in 100ms", Some(1)),
            ("try again later", None),
            ("no", None),
        ] {
            assert_eq!(asked(words), seconds.map(Duration::from_secs), "{words}");
        }
    }

    #[test]
    fn pauses_grow_to_an_end() {
        let first = Duration::from_secs(2);
        assert_eq!(pause(first, 1, None, 0.0), Duration::from_secs(1));
        assert_eq!(pause(first, 1, None, 1.0), Duration::from_secs(2));
        assert_eq!(pause(first, 4, None, 1.0), Duration::from_secs(16));
        assert_eq!(pause(first, 40, None, 1.0), LONGEST);
        let asked = Some(Duration::from_secs(30));
        assert!(pause(first, 1, asked, 0.0) >= Duration::from_secs(30));
    }
}
