//! The instructions of a Dockerfile, to name a failed step as it was written.

use std::time::Duration;

/// The instructions in order, each with its continuation lines, comments left out.
///
/// As in the engine: a trailing backslash continues, and comment lines within an instruction are
/// skipped. Here-documents are left to the caller's fallback: the classic builder has none.
pub(super) fn instructions(dockerfile: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in dockerfile.lines() {
        let bare = line.trim();
        if bare.starts_with('#') || (bare.is_empty() && open.is_none()) {
            continue;
        }
        let text = match open.take() {
            Some(before) => format!("{before}\n{line}"),
            None => bare.to_owned(),
        };
        if bare.ends_with('\\') || bare.is_empty() {
            open = Some(text);
        } else {
            found.push(text);
        }
    }
    found.extend(open);
    found
}

/// Dockerfile text for Podman 4, which lets a command run on whose build was given up: each ends
/// with the time that a whole build may take.
pub(super) fn with_time_limit(dockerfile: &str, limit: Duration) -> String {
    let seconds = limit.as_secs().max(1);
    let shell =
        format!(r#","timeout -s KILL {seconds} /bin/bash -eo pipefail -c \"$0\" || exit $?""#);
    let own = r#"SHELL ["/bin/bash", "-eo", "pipefail", "-c""#;
    dockerfile.replacen(own, &format!("{own}{shell}"), 1)
}

/// The text with the base image that is really used: a plan as it was made and the plan as it was
/// carried out give one Dockerfile, and so one image.
pub(super) fn with_base(dockerfile: &str, reference: &str) -> String {
    let mut text = String::with_capacity(dockerfile.len());
    let mut named = false;
    for line in dockerfile.split_inclusive('\n') {
        if !named && line.starts_with("ARG BASE=") {
            named = true;
            text.extend(["ARG BASE=", reference, "\n"]);
        } else {
            text.push_str(line);
        }
    }
    text
}

/// The text with instructions at the start of each stage, and of root before all others.
pub(super) fn with_settings(dockerfile: &str, stage: &str, root: &str) -> String {
    let mut text = String::with_capacity(dockerfile.len());
    let mut begun = false;
    for line in dockerfile.split_inclusive('\n') {
        text.push_str(line);
        // The image of an earlier commit is a stage of its own, in which nothing runs.
        if line.starts_with("FROM ") && !line.contains("${EARLIER}") {
            text.push_str(stage);
        } else if !begun && line == "USER root\n" {
            begun = true;
            text.push_str(root);
        }
    }
    text
}

/// The text with instructions before the user is made: after all that root installs.
pub(super) fn with_root_steps(dockerfile: &str, steps: &str) -> String {
    const USER: &str = "COPY --chown=1000:1000 toolbox/ ";
    match dockerfile.find(USER) {
        Some(at) => format!("{}{steps}{}", &dockerfile[..at], &dockerfile[at..]),
        None => dockerfile.to_owned(),
    }
}

/// A line of the log that announces a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    /// Its number among all instructions, where the engine counts so.
    pub(super) number: Option<usize>,
    /// The instruction as the engine read it.
    pub(super) text: &'a str,
}

/// Docker's `Step 3/7 : RUN make`; Podman's `STEP 3/7: RUN make`, with `[1/2] ` before it where
/// there are several stages, each with its own numbers.
pub(super) fn step(line: &str) -> Option<Header<'_>> {
    let counted = |numbers: &str| {
        let (number, count) = numbers.split_once('/')?;
        let _: usize = count.parse().ok()?;
        number.parse::<usize>().ok()
    };
    if let Some(rest) = line.strip_prefix("Step ") {
        let (numbers, text) = rest.split_once(" : ")?;
        let number = Some(counted(numbers)?);
        return Some(Header { number, text });
    }
    let rest = match line.strip_prefix('[') {
        Some(rest) => {
            let (stage, rest) = rest.split_once("] ")?;
            counted(stage)?;
            rest
        }
        None => line,
    };
    let (numbers, text) = rest.strip_prefix("STEP ")?.split_once(": ")?;
    counted(numbers)?;
    Some(Header { number: None, text })
}

/// Exit code in "The command '…' returned a non-zero code: 42" and in "building at STEP "RUN …":
/// while running runtime: exit status 42".
pub(super) fn exit_code(message: &str) -> Option<i64> {
    let (_, code) = message
        .rsplit_once("returned a non-zero code: ")
        .or_else(|| message.rsplit_once("while running runtime: exit status "))?;
    code.trim().parse().ok()
}

/// The rest of Podman's "building at STEP "RUN …": why", which starts with the failed instruction.
pub(super) fn failed_at(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("building at STEP \"")?;
    Some(rest)
}

/// Which of the instructions a text starts with: the longest, its lines joined as engines do.
pub(super) fn position(instructions: &[String], text: &str) -> Option<usize> {
    let text = squashed(text);
    instructions
        .iter()
        .enumerate()
        .map(|(at, instruction)| (at, squashed(instruction)))
        .filter(|(_, instruction)| text.starts_with(instruction))
        .max_by_key(|(_, instruction)| instruction.len())
        .map(|(at, _)| at)
}

fn squashed(instruction: &str) -> String {
    instruction
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| line.strip_suffix('\\').unwrap_or(line).split_whitespace())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Header, exit_code, failed_at, instructions, position, step, with_time_limit};
    use std::time::Duration;

    #[test]
    fn instructions_keep_their_lines() {
        let text = "ARG BASE=x\n\n# note\nFROM ${BASE}\nRUN a && \\\n  # why\n  b\nCMD c\n";
        assert_eq!(
            instructions(text),
            ["ARG BASE=x", "FROM ${BASE}", "RUN a && \\\n  b", "CMD c"]
        );
    }

    #[test]
    fn the_engines_lines_are_read() {
        let make = |number| Header {
            number,
            text: "RUN make",
        };
        assert_eq!(step("Step 3/7 : RUN make"), Some(make(Some(3))));
        assert_eq!(step("STEP 3/7: RUN make"), Some(make(None)));
        assert_eq!(step("[1/2] STEP 3/7: RUN make"), Some(make(None)));
        for other in ["Step by step", "STEP by: step", "[x] STEP 3/7: RUN make"] {
            assert_eq!(step(other), None);
        }
        for (message, code) in [
            (
                "The command '/bin/sh -c x' returned a non-zero code: 42",
                Some(42),
            ),
            (
                "building at STEP \"RUN x\": while running runtime: exit status 7\n",
                Some(7),
            ),
            ("COPY failed", None),
        ] {
            assert_eq!(exit_code(message), code);
        }
    }

    #[test]
    fn the_failed_instruction_is_found_by_its_words() {
        let all = instructions("FROM x\nRUN a\nRUN a && \\\n    b\n");
        let message = "building at STEP \"RUN a &&     b\": while running runtime: exit status 1";
        assert_eq!(position(&all, failed_at(message).unwrap()), Some(2));
        assert_eq!(position(&all, "RUN c"), None);
    }

    #[test]
    fn a_limited_command_ends_as_it_would() {
        let text = "FROM x\nSHELL [\"/bin/bash\", \"-eo\", \"pipefail\", \"-c\"]\nRUN x\n";
        let changed = with_time_limit(text, Duration::from_secs(2));
        let line = changed.lines().nth(1).unwrap();
        let words: Vec<String> =
            serde_json::from_str(line.strip_prefix("SHELL ").unwrap()).unwrap();
        for (command, code) in [
            ("sleep 70", 137),
            ("kill -9 $$", 137),
            ("exit 3", 3),
            ("false; true", 1),
            ("true", 0),
        ] {
            let mut words = words.iter();
            let status = std::process::Command::new(words.next().unwrap())
                .args(words)
                .arg(command)
                .stderr(std::process::Stdio::null())
                .status()
                .unwrap();
            assert_eq!(status.code(), Some(code), "{command}");
        }
    }
}
