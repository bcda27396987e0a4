//! The evaluation script of a SWE-bench row.

use atlas_core::{EnvironmentPlan, Patch};
use std::fmt::Write as _;

/// The bash script that version 5 of the SWE-bench harness runs in the image after a prediction was
/// applied: restore the test files, apply the test patch, run the tests between the markers.
///
/// `tests` are the files of the test patch with whether they exist at `base`.
pub fn eval_script(
    base: &str,
    test_patch: &Patch,
    tests: &[(String, bool)],
    plan: &EnvironmentPlan,
) -> String {
    let patch = String::from_utf8_lossy(test_patch.as_bytes());
    let mut end = "EOF_114329324912".to_owned();
    while patch.contains(&end) {
        end.push('_');
    }
    let list = |existing: bool| -> String {
        tests
            .iter()
            .filter(|(_, e)| *e == existing)
            .fold(String::new(), |mut text, (path, _)| {
                let _ = write!(text, " {}", quote(path));
                text
            })
    };
    let (old, new) = (list(true), list(false));
    let mut restore = String::new();
    if !old.is_empty() {
        let _ = writeln!(restore, "git checkout {base} --{old}");
    }
    if !new.is_empty() {
        let _ = writeln!(restore, "rm -f --{new}");
    }
    let mut script = "#!/bin/bash\nset -uxo pipefail\n\
         export ATLAS_REPO=/testbed ATLAS_ENV=/opt/atlas/env ATLAS_CACHE=/opt/atlas/cache\n\
         export ATLAS_OUT=\"${TMPDIR:-/tmp}/atlas-out\"\nmkdir -p \"$ATLAS_OUT\"\n"
        .to_owned();
    for (key, value) in &plan.env {
        let _ = writeln!(
            script,
            "export {key}=\"{}\"",
            atlas_docker::double_quoted(value)
        );
    }
    let _ = write!(
        script,
        "cd /testbed\ngit config --global --add safe.directory /testbed\ngit status\ngit show\n\
         git -c core.fileMode=false diff {base}\n{restore}"
    );
    if !test_patch.is_empty() {
        let newline = if patch.ends_with('\n') { "" } else { "\n" };
        let _ = write!(script, "git apply -v - <<'{end}'\n{patch}{newline}{end}\n");
    }
    script.push_str(": '>>>>> Start Test Output'\n");
    // In a shell of its own each: one that says `exit` must not take the end marker with it.
    let starts = plan.services.iter().map(|service| &service.start);
    for command in plan.rebuild.iter().chain(starts) {
        let _ = writeln!(script, "(\n{command}\n)");
    }
    let _ = write!(
        script,
        "(\n{}\n)\n: '>>>>> End Test Output'\n{restore}",
        plan.test_cmd
    );
    script
}

/// A word that bash reads as it stands.
pub(crate) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_plan_are_no_program() {
        let plan = EnvironmentPlan {
            env: [("WORD".to_owned(), "a$b `id` $(id) \"c\" $HOME".to_owned())].into(),
            ..EnvironmentPlan::default()
        };
        let script = eval_script("base", &Patch::default(), &[], &plan);
        let line = script
            .lines()
            .find(|line| line.starts_with("export WORD="))
            .unwrap();
        let done = std::process::Command::new("bash")
            .args(["-uc", &format!("{line}; printf %s \"$WORD\"")])
            .env("HOME", "at-home")
            .output()
            .unwrap();
        assert_eq!(done.stdout, b"a$b `id` $(id) \"c\" at-home");
    }

    #[test]
    fn a_command_that_exits_leaves_the_end_marker() {
        let plan = EnvironmentPlan {
            rebuild: vec!["exit 4".to_owned()],
            test_cmd: "echo ran; exit 3 # of a suite".to_owned(),
            ..EnvironmentPlan::default()
        };
        let script = eval_script("base", &Patch::default(), &[], &plan);
        let start = script.find(": '>>>>> Start Test Output'").unwrap();
        let done = std::process::Command::new("bash")
            .args(["-xc", &script[start..]])
            .output()
            .unwrap();
        assert_eq!(done.stdout, b"ran\n");
        let traced = String::from_utf8_lossy(&done.stderr);
        assert!(traced.contains(">>>>> End Test Output"), "{traced}");
    }
}
