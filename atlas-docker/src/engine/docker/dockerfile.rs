//! The instructions of a Dockerfile, to name a failed step as it was written.

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

/// Number, count and text of a line `Step 3/7 : RUN make`.
pub(super) fn step(line: &str) -> Option<(usize, usize, &str)> {
    let (numbers, text) = line.strip_prefix("Step ")?.split_once(" : ")?;
    let (number, count) = numbers.split_once('/')?;
    Some((number.parse().ok()?, count.parse().ok()?, text))
}

/// Exit code in "The command '…' returned a non-zero code: 42".
pub(super) fn exit_code(message: &str) -> Option<i64> {
    let (_, code) = message.rsplit_once("returned a non-zero code: ")?;
    code.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{exit_code, instructions, step};

    #[test]
    fn instructions_keep_their_lines() {
        let text = "ARG BASE=x\n\n# note\nFROM ${BASE}\nRUN a && \\\n  # why\n  b\nCMD c\n";
        assert_eq!(
            instructions(text),
            ["ARG BASE=x", "FROM ${BASE}", "RUN a && \\\n  b", "CMD c"]
        );
    }

    #[test]
    fn the_engine_s_lines_are_read() {
        assert_eq!(step("Step 3/7 : RUN make"), Some((3, 7, "RUN make")));
        assert_eq!(step("Step by step"), None);
        assert_eq!(
            exit_code("The command '/bin/sh -c x' returned a non-zero code: 42"),
            Some(42)
        );
        assert_eq!(exit_code("COPY failed"), None);
    }
}
