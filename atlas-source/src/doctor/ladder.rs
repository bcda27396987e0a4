//! The commands by which each harness applies a patch, in its order.

use atlas_core::{GradingMode, Harness};
use std::fmt::Write as _;

/// How a work tree is cleaned before an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeReset {
    /// Not at all: what the attempts before left stays, half-applied files and `.rej` files too.
    Keep,
    /// `git checkout -- . ; git clean -fd`. The first fails as a whole while a file is unmerged,
    /// and files that git ignores stay.
    CheckoutAndClean,
    /// `git reset --hard HEAD && git clean -fd`. Files that git ignores stay.
    ResetAndClean,
}

impl TreeReset {
    /// The commands, in order.
    pub fn commands(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Keep => &[],
            Self::CheckoutAndClean => &[&["git", "checkout", "--", "."], &["git", "clean", "-fd"]],
            Self::ResetAndClean => &[
                &["git", "reset", "--hard", "HEAD"],
                &["git", "clean", "-fd"],
            ],
        }
    }

    /// Whether a command that fails keeps the next one from running.
    pub fn stops_at_failure(self) -> bool {
        self == Self::ResetAndClean
    }

    fn shell(self) -> &'static str {
        match self {
            Self::Keep => "",
            Self::CheckoutAndClean => "git checkout -- . ; git clean -fd",
            Self::ResetAndClean => "git reset --hard HEAD && git clean -fd",
        }
    }
}

/// One attempt of a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderStep {
    /// How the tree is cleaned first.
    pub reset: TreeReset,
    /// The program and its options. The path of the patch follows as the last argument.
    pub command: Vec<String>,
    /// Whether the command changes nothing and only asks whether the tree already has the patch.
    pub only_asks: bool,
}

impl LadderStep {
    fn new(reset: TreeReset, command: &str) -> Self {
        Self {
            reset,
            command: command.split(' ').map(str::to_owned).collect(),
            only_asks: false,
        }
    }

    /// The command as it would be typed, with this path of the patch.
    pub fn text(&self, patch_path: &str) -> String {
        let mut text = self.command.join(" ");
        text.push(' ');
        text.push_str(&quoted(patch_path));
        text
    }
}

/// The attempts of a mode, in order. The first that ends with exit code 0 decides; if none does,
/// the patch does not apply.
///
/// The strict ladder is that of [`apply`](crate::apply): every attempt begins from the same tree
/// (an index, or for `patch` a folder with the files that it names), so nothing has to be cleaned.
///
/// ```
/// use atlas_core::{GradingMode, Harness};
/// let steps = atlas_source::ladder(GradingMode::Compat(Harness::SweBench4));
/// assert_eq!(steps[1].text("/tmp/patch.diff"), "git apply --verbose --reject /tmp/patch.diff");
/// ```
pub fn ladder(mode: GradingMode) -> Vec<LadderStep> {
    let (reset, commands): (_, &[&str]) = match mode {
        GradingMode::Strict => (
            TreeReset::Keep,
            &[
                "git apply --cached --whitespace=nowarn --",
                "git apply --cached --whitespace=nowarn --3way --",
                "git apply --cached --whitespace=nowarn -C1 --",
                "patch --batch --forward --fuzz=5 -p1 --no-backup-if-mismatch --reject-file=- --input",
            ],
        ),
        GradingMode::Compat(Harness::SweBench4) => (
            TreeReset::Keep,
            &[
                "git apply --verbose",
                "git apply --verbose --reject",
                "patch --batch --fuzz=5 -p1 -i",
            ],
        ),
        GradingMode::Compat(Harness::SweBench5) => (
            TreeReset::CheckoutAndClean,
            &[
                "git apply --verbose",
                "git apply --verbose --3way",
                "git apply --verbose --reject",
                "patch --batch --forward --fuzz=5 -p1 -i",
            ],
        ),
        GradingMode::Compat(Harness::SweBenchPp) => (
            TreeReset::ResetAndClean,
            &[
                "git apply --verbose",
                "patch -N --batch --fuzz=5 -p1 -i",
                "git apply --verbose --ignore-whitespace",
            ],
        ),
    };
    let mut steps: Vec<LadderStep> = commands
        .iter()
        .enumerate()
        .map(|(place, command)| {
            let reset = if place == 0 { TreeReset::Keep } else { reset };
            LadderStep::new(reset, command)
        })
        .collect();
    if mode == GradingMode::Compat(Harness::SweBench5) {
        // It looks at what the last attempt left: the tree is not cleaned before.
        steps.push(LadderStep {
            only_asks: true,
            ..LadderStep::new(TreeReset::Keep, "git apply --check --reverse")
        });
    }
    steps
}

/// Bash that applies a patch in the current folder as a harness does and prints what each program
/// says.
///
/// The last line is `>>>>> Applied Patch` with exit code 0 or `>>>>> Patch Apply Failed` with exit
/// code 1; believe the exit code, since a patch can make a program print either line before. It needs git;
/// a `patch` that is not installed is an attempt that fails, as it is for the harness.
///
/// ```
/// let script = atlas_source::ladder_script(atlas_core::Harness::SweBench5, "/tmp/patch.diff");
/// assert!(script.contains("attempt git apply --verbose --3way /tmp/patch.diff"));
/// ```
pub fn ladder_script(harness: Harness, patch_path: &str) -> String {
    // What is cleaned says much and means nothing; the harnesses drop it too.
    let mut script = String::from(
        "#!/bin/bash\n\
         attempt() {\n\
         \x20   printf '$ %s\\n' \"$*\"\n\
         \x20   \"$@\" </dev/null 2>&1\n\
         \x20   local code=$?\n\
         \x20   printf '\\n$ exit code %s\\n' \"$code\"\n\
         \x20   if [ \"$code\" -eq 0 ]; then\n\
         \x20       printf '>>>>> Applied Patch\\n'\n\
         \x20       exit 0\n\
         \x20   fi\n\
         }\n",
    );
    for step in ladder(GradingMode::Compat(harness)) {
        if step.reset != TreeReset::Keep {
            let _ = writeln!(
                script,
                "{{ {}; }} </dev/null >/dev/null 2>&1",
                step.reset.shell()
            );
        }
        let _ = writeln!(script, "attempt {}", step.text(patch_path));
    }
    script.push_str("printf '>>>>> Patch Apply Failed\\n'\nexit 1\n");
    script
}

/// A word that the shell takes as it stands.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
