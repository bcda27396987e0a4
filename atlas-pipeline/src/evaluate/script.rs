//! The scripts of a row: what a harness runs, taken apart and put together.

use crate::eval_script::quote;
use atlas_core::{ExitState, Harness, Patch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a script prints where the output of the tests begins.
pub(super) const START: &str = ">>>>> Start Test Output";
/// What it prints where that ends.
pub(super) const END: &str = ">>>>> End Test Output";
/// What version 5 prints behind the end, with the code of the last test command.
pub(super) const EXIT_CODE: &str = ">>>>> Test Exit Code:";

/// A harness's script, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScriptParts {
    /// What prepares the tests: activating, installing. No command of git, no patch.
    pub(super) setup: String,
    /// The test commands.
    pub(super) tests: String,
}

impl ScriptParts {
    /// Both as one command for bash, with the shell options that harnesses set, but for tracing.
    pub(super) fn command(&self) -> String {
        let mut text = "set -uo pipefail\n".to_owned();
        text.push_str(&self.setup);
        text.push_str(&self.tests);
        text
    }
}

/// Takes a row's evaluation script apart.
///
/// Commands of git are left out, for a prediction and the tests are laid out as files: restoring the
/// test files, applying the test patch, showing what is there. So are removals of the test patch's own
/// files.
pub(super) fn split(script: &str, test_patch: &Patch) -> Result<ScriptParts, String> {
    let own: BTreeSet<String> = test_patch
        .files()
        .map_err(|why| format!("column `test_patch`: {why}"))?
        .iter()
        .flat_map(|file| file.paths().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let (mut setup, mut tests) = (String::new(), String::new());
    let (mut begun, mut ended) = (false, false);
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        if line.contains(START) {
            begun = true;
        } else if line.contains(END) {
            ended = begun;
            break;
        } else if begun {
            tests.push_str(line);
            tests.push('\n');
        } else if let Some(end) = heredoc(line).filter(|_| is_git(line)) {
            for inner in lines.by_ref() {
                if inner.trim_start_matches('\t') == end {
                    break;
                }
            }
        } else if !line.starts_with("#!")
            && !line.trim_start().starts_with("set -")
            && !is_git(line)
            && !removes_only(line, &own)
        {
            setup.push_str(line);
            setup.push('\n');
        }
    }
    if !begun {
        return Err(format!("column `eval_script`: no line says `{START}`"));
    }
    if !ended {
        return Err(format!(
            "column `eval_script`: no line says `{END}` after the start"
        ));
    }
    Ok(ScriptParts { setup, tests })
}

fn is_git(line: &str) -> bool {
    line.trim_start().starts_with("git ")
}

/// The word that ends a here-document which this line begins.
fn heredoc(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let word: String = rest
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    (!word.is_empty()).then_some(word)
}

/// Whether a line removes nothing but these files.
fn removes_only(line: &str, own: &BTreeSet<String>) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("rm -f ") else {
        return false;
    };
    let words: Vec<&str> = rest.split_whitespace().filter(|w| *w != "--").collect();
    !words.is_empty()
        && words
            .iter()
            .all(|word| own.contains(word.trim_matches(['\'', '"'])))
}

/// The script that version 5 of the SWE-bench harness runs for a row's `eval_script`: the code of the
/// last command before the end marker is printed behind it.
pub(super) fn with_exit_code(script: &str) -> String {
    const VARIABLE: &str = "SWEBENCH_TEST_EXIT_CODE";
    let body: Vec<&str> = script
        .lines()
        .filter(|line| !line.starts_with("#!") && line.trim() != "set -uxo pipefail")
        .collect();
    let mut text = "#!/bin/bash\nset -uxo pipefail\n".to_owned();
    let at = body.iter().position(|line| line.contains(END));
    for (number, line) in body.iter().enumerate() {
        if Some(number) == at {
            let _ = writeln!(
                text,
                "{VARIABLE}=$?\n{line}\necho \"{EXIT_CODE} ${VARIABLE}\""
            );
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The output of a run of Atlas's own between the harness's marks, so that whoever reads the harness's logs
/// reads it: `regrade` and the harness itself. A run that was cut short has no end.
pub(super) fn marked(log: &[u8], exit: Option<ExitState>) -> Vec<u8> {
    let mut text = format!("{START}\n").into_bytes();
    text.extend_from_slice(log);
    if let Some(ExitState::Exited { code }) = exit {
        if !log.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(format!("{END}\n{EXIT_CODE} {code}\n").as_bytes());
    }
    text
}

/// The `environment_config` or `spec_dict` of a SWE-Bench++ row, as an object.
pub(super) fn plus_plus_config(row: &serde_json::Map<String, Value>) -> Option<Value> {
    ["environment_config", "spec_dict"]
        .iter()
        .filter_map(|column| row.get(*column))
        .find_map(|value| match value {
            Value::Object(_) => Some(value.clone()),
            Value::String(text) => serde_json::from_str::<Value>(text)
                .ok()
                .filter(Value::is_object),
            _ => None,
        })
}

/// The script that the SWE-Bench++ harness runs for such a configuration.
pub(super) fn plus_plus_script(
    config: &Value,
    language: &str,
    base: &str,
    test_patch: &Patch,
) -> Result<String, String> {
    let test_cmd = commands(&config["test_cmd"]);
    if test_cmd.is_empty() {
        return Err("column `environment_config`: `test_cmd` is missing or empty".to_owned());
    }
    let files = test_patch
        .files()
        .map_err(|why| format!("column `test_patch`: {why}"))?;
    let is_set = |key: &str| match &config[key] {
        Value::Bool(on) => *on,
        Value::Null => false,
        _ => true,
    };
    let is_python = language.is_empty() || language.eq_ignore_ascii_case("python");
    let activate = "source /opt/miniconda3/bin/activate\nconda activate testbed\n";
    let mut text = "#!/bin/bash\nset -uxo pipefail\n".to_owned();
    let uses_environment = is_python && !is_set("no_use_env");
    if uses_environment {
        text.push_str(activate);
    }
    text.push_str("cd /testbed\n");
    for command in commands(&config["eval_commands"]) {
        let _ = writeln!(text, "{command}");
    }
    let _ = writeln!(
        text,
        "git config --global --add safe.directory /testbed\ncd /testbed\ngit status\ngit show\n\
         git -c core.fileMode=false diff {base}"
    );
    if uses_environment {
        text.push_str(activate);
    }
    if is_python {
        for command in commands(&config["install"]) {
            let _ = writeln!(text, "{command}");
        }
    }
    let existing: Vec<String> = files
        .iter()
        .filter_map(|file| file.old_path.as_deref())
        .map(quote)
        .collect();
    let restore = if existing.is_empty() {
        String::new()
    } else {
        format!("git checkout {base} {}\n", existing.join(" "))
    };
    text.push_str(&restore);
    let patch = String::from_utf8_lossy(test_patch.as_bytes());
    let newline = if patch.ends_with('\n') { "" } else { "\n" };
    let end = "EOF_114329324912";
    let _ = write!(
        text,
        "git apply --verbose --reject - <<'{end}'\n{patch}{newline}{end}\n"
    );
    for command in commands(&config["build"]) {
        let _ = writeln!(text, "{command}");
    }
    let _ = writeln!(text, ": '{START}'");
    let directives: Vec<String> = if is_python && !is_set("no_test_directives") {
        files
            .iter()
            .filter_map(|file| file.new_path.as_deref())
            .map(quote)
            .collect()
    } else {
        Vec::new()
    };
    let mut all = test_cmd.join("\n");
    if !directives.is_empty() {
        let _ = write!(all, " {}", directives.join(" "));
    }
    let _ = write!(text, "(\n{all}\n)\nset +x; echo '{END}'\n{restore}");
    Ok(text)
}

/// One command or a list of them.
fn commands(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => vec![text.clone()],
        Value::Array(list) => list
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// The script of a whole evaluation as a harness does it: its ladder for the prediction, then the
/// row's script. A line that only knows the nonce tells where the first ends and with which code.
pub(super) fn as_harness(harness: Harness, nonce: &str) -> String {
    let ladder = atlas_source::ladder_script(harness, "/tmp/patch.diff");
    format!(
        r#"cp "$ATLAS_IN/patch.diff" /tmp/patch.diff && cp "$ATLAS_IN/eval.sh" /eval.sh || exit 125
rm -f "$ATLAS_IN/patch.diff" "$ATLAS_IN/eval.sh"
(
{ladder}
) </dev/null 2>&1
atlas_code=$?
printf '\n>>>>> atlas {nonce} applied %s\n' "$atlas_code"
test "$atlas_code" = 0 || exit 0
unset atlas_code ATLAS_IN ATLAS_OUT ATLAS_REPO ATLAS_ENV ATLAS_CACHE
exec /bin/bash /eval.sh
"#
    )
}

/// The output of such an evaluation, cut where the prediction was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HarnessOutput<'a> {
    /// What applying said.
    pub(super) applying: &'a [u8],
    /// The code of the ladder; absent if it never ended.
    pub(super) applied: Option<i64>,
    /// What the row's script printed.
    pub(super) tests: &'a [u8],
}

/// Cuts the output; the first such line counts, for nothing of the prediction has run before it.
pub(super) fn cut_harness<'a>(output: &'a [u8], nonce: &str) -> HarnessOutput<'a> {
    let marker = format!("\n>>>>> atlas {nonce} applied ").into_bytes();
    let Some(at) = memchr::memmem::find(output, &marker) else {
        return HarnessOutput {
            applying: output,
            applied: None,
            tests: b"",
        };
    };
    let rest = &output[at + marker.len()..];
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    HarnessOutput {
        applying: &output[..at],
        applied: std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|code| code.parse().ok()),
        tests: rest.get(end + 1..).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PATCH: &str =
        "diff --git a/t/a.py b/t/a.py\n--- a/t/a.py\n+++ b/t/a.py\n@@ -1 +1 @@\n-x\n+y\n";

    #[test]
    fn a_script_is_taken_apart_without_git() {
        let script = format!(
            "#!/bin/bash\nset -uxo pipefail\nsource activate\ncd /testbed\ngit status\n\
             git apply -v - <<'EOF_1'\n{PATCH}+git status\nEOF_1\nrm -f -- t/a.py\nrm -f build/x\n\
             : '{START}'\nmake test\n: '{END}'\ngit checkout x t/a.py\n"
        );
        let parts = split(&script, &Patch::new(PATCH)).unwrap();
        assert_eq!(parts.setup, "source activate\ncd /testbed\nrm -f build/x\n");
        assert_eq!(parts.tests, "make test\n");
        assert!(split("make test", &Patch::default()).is_err());
        assert!(split(&format!(": '{START}'\nmake"), &Patch::default()).is_err());
    }

    #[test]
    fn the_code_of_the_tests_is_printed_behind_their_end() {
        let script =
            format!("#!/bin/bash\nset -uxo pipefail\n: '{START}'\nfalse\n: '{END}'\ntrue\n");
        let done = std::process::Command::new("bash")
            .args(["-c", &with_exit_code(&script)])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(done.stdout).unwrap(),
            format!("{EXIT_CODE} 1\n")
        );
    }

    #[test]
    fn a_configuration_becomes_a_script() {
        let config = json!({"test_cmd": "python -m pytest", "install": "true", "build": []});
        let script = plus_plus_script(&config, "Python", "abc", &Patch::new(PATCH)).unwrap();
        let parts = split(&script, &Patch::new(PATCH)).unwrap();
        assert_eq!(parts.tests.trim(), "(\npython -m pytest t/a.py\n)");
        assert!(parts.setup.contains("conda activate testbed"));
        assert!(plus_plus_script(&json!({}), "", "abc", &Patch::default()).is_err());
    }

    #[test]
    fn the_first_mark_tells_whether_a_patch_was_applied() {
        let output = b"said\n\n>>>>> atlas n applied 0\ntests\n>>>>> atlas n applied 1\n";
        let cut = cut_harness(output, "n");
        assert_eq!(cut.applying, b"said\n");
        assert_eq!(cut.applied, Some(0));
        assert!(cut.tests.starts_with(b"tests\n"));
        assert_eq!(cut_harness(output, "m").applied, None);
    }
}
