//! The script that runs one state, and cutting its output out of the stream.

use crate::Rerun;
use atlas_core::EnvironmentPlan;
use std::fmt::Write as _;

/// The script's exit code where it could not even begin: a fault of the sandbox, not of the tests.
pub(crate) const NOT_STARTED: i64 = 125;

/// The script that rebuilds and tests one state, for bash.
///
/// It reads a nonce from `$ATLAS_IN/nonce` and deletes the file before anything of the repository
/// runs, so that a test cannot learn it from a file or a variable; the nonce marks where the output of
/// rebuild and tests begins and ends, and with which code. A program that may read the memory of other
/// processes of its user can still find it: markers that stand twice make the run a tampered one. A failing rebuild is
/// part of that output, and then the tests do not run.
///
/// ```
/// let plan = atlas_core::EnvironmentPlan { test_cmd: "make check".into(), ..Default::default() };
/// assert!(atlas_oracle::state_script(&plan).contains("make check"));
/// ```
pub fn state_script(plan: &EnvironmentPlan) -> String {
    varied_script(plan, &plan.test_cmd, "")
}

/// The same with this test command, and commands of ours before the begin marker; what they print is
/// no evidence.
pub(crate) fn varied_script(plan: &EnvironmentPlan, test_cmd: &str, prelude: &str) -> String {
    let run = marked(plan, test_cmd, prelude, "");
    format!("{}{run}exit \"$atlas_code\"\n", opening())
}

/// One script that rebuilds and tests a state several times, each time between markers of its own:
/// [`part`] gives one of them.
pub(crate) fn rerun_script(plan: &EnvironmentPlan, reruns: &[Rerun]) -> String {
    let mut script = opening();
    for (at, rerun) in reruns.iter().enumerate() {
        let run = marked(plan, &rerun.test_cmd, &rerun.prelude, &format!("-{at}"));
        // What one run reports must not be taken for the next one's.
        let _ = write!(
            script,
            "find \"$ATLAS_OUT\" -mindepth 1 -delete 2>/dev/null\n(\n{run}exit \"$atlas_code\"\n)\natlas_code=$?\n"
        );
    }
    script.push_str("exit \"$atlas_code\"\n");
    script
}

/// The stretch of a stream of [`rerun_script`] that holds run `at`, and the nonce of its markers.
pub(crate) fn part<'a>(stream: &'a [u8], nonce: &str, at: usize) -> (&'a [u8], String) {
    let begin = |at: usize| {
        let marker = format!("\n>>>>> atlas {nonce}-{at} begin\n");
        find(stream, marker.as_bytes())
    };
    let start = begin(at).unwrap_or(stream.len());
    let stop = begin(at + 1).map_or(stream.len(), |stop| stop.max(start));
    (&stream[start..stop], format!("{nonce}-{at}"))
}

fn opening() -> String {
    format!(
        r#"IFS= read -r atlas_nonce <"$ATLAS_IN/nonce" || exit {NOT_STARTED}
rm -f "$ATLAS_IN/nonce" || exit {NOT_STARTED}
cd "$ATLAS_REPO" || exit {NOT_STARTED}
"#
    )
}

/// Rebuild and one test command between markers; the code is in `$atlas_code` then.
fn marked(plan: &EnvironmentPlan, test_cmd: &str, prelude: &str, tag: &str) -> String {
    let prelude = if prelude.is_empty() {
        String::new()
    } else {
        format!("{}\n", prelude.trim_end())
    };
    // Further runs rest on the first one's build.
    let (stamp, listing) = if tag.is_empty() {
        crate::witness::listing(plan)
    } else {
        (String::new(), String::new())
    };
    let mut commands = String::new();
    for command in &plan.rebuild {
        commands.extend(["( ", command, "\n) || failed $?\n"]);
    }
    if !tag.is_empty() && !commands.is_empty() {
        // What was rebuilt for one run of a state is there for the next.
        commands = format!(
            "if [ ! -e \"$ATLAS_IN/rebuilt\" ]; then\n{commands}: >\"$ATLAS_IN/rebuilt\"\nfi\n"
        );
    }
    // What one run of a state left in them must not reach the next.
    for service in &plan.services {
        commands.extend(["( ", &service.start, "\n) || failed $?\n"]);
    }
    commands.push_str("unset atlas_nonce\n");
    commands.push_str(test_cmd);
    format!(
        r#"{prelude}{stamp}printf '\n>>>>> atlas %s{tag} begin\n' "$atlas_nonce"
(
failed() {{ printf '\n>>>>> atlas %s{tag} rebuild failed\n' "$atlas_nonce"; exit "$1"; }}
{commands}
) </dev/null 2>&1
atlas_code=$?
{listing}printf '\n>>>>> atlas %s{tag} end %s\n' "$atlas_nonce" "$atlas_code"
"#
    )
}

/// What stands between the markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedLog<'a> {
    /// The output of rebuild and tests.
    pub log: &'a [u8],
    /// The code after the end marker; absent if the end was never reached.
    pub code: Option<i64>,
    /// What is wrong with the markers, if anything.
    pub faults: Vec<String>,
    /// Whether the output ends in a rebuild step that failed, so that no test ran.
    pub rebuild_failed: bool,
    /// Whether markers stand where only code that knows the nonce can have put them.
    pub forged: bool,
    started: bool,
}

impl MarkedLog<'_> {
    /// Whether the begin marker is missing.
    pub fn never_started(&self) -> bool {
        !self.started
    }
}

/// Cuts the marked part out of a sandbox's stream.
///
/// Without a begin marker there is no log: nothing that was printed before it is evidence. Without
/// an end marker the log runs to the end of the stream. Markers must stand once each, in order.
pub fn cut<'a>(stream: &'a [u8], nonce: &str) -> MarkedLog<'a> {
    let begin = format!("\n>>>>> atlas {nonce} begin\n").into_bytes();
    let end = format!("\n>>>>> atlas {nonce} end ").into_bytes();
    let mut faults = Vec::new();
    let Some(start) = find(stream, &begin) else {
        faults.push("the test command was never started".to_owned());
        return MarkedLog {
            log: b"",
            code: None,
            faults,
            rebuild_failed: false,
            forged: false,
            started: false,
        };
    };
    let rest = &stream[start + begin.len()..];
    let begins_again = find(rest, &begin).is_some();
    if begins_again {
        faults.push("the begin marker stands more than once".to_owned());
    }
    let Some(stop) = find(rest, &end) else {
        faults.push("the test command never came to its end".to_owned());
        return MarkedLog {
            log: rest,
            code: None,
            faults,
            rebuild_failed: false,
            forged: begins_again,
            started: true,
        };
    };
    let tail = &rest[stop + end.len()..];
    let digits = tail.iter().take_while(|b| b.is_ascii_digit()).count();
    let code = std::str::from_utf8(&tail[..digits])
        .ok()
        .and_then(|text| text.parse().ok());
    if code.is_none() || tail.get(digits) != Some(&b'\n') {
        faults.push("the end marker holds no exit code".to_owned());
    }
    let ends_again = find(tail, &end).is_some();
    if ends_again {
        faults.push("the end marker stands more than once".to_owned());
    } else if tail.len() > digits + 1 {
        faults.push(format!(
            "{} bytes were printed after the end marker",
            tail.len() - digits - 1
        ));
    }
    // The failing step is the last thing that ran, so its marker ends the output.
    let failed = format!("\n>>>>> atlas {nonce} rebuild failed\n");
    let log = &rest[..stop];
    let unmarked = log.strip_suffix(failed.as_bytes());
    MarkedLog {
        log: unmarked.unwrap_or(log),
        code,
        faults,
        rebuild_failed: unmarked.is_some(),
        forged: begins_again || ends_again,
        started: true,
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}
