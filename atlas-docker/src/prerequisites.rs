//! Files that a Makefile makes before it runs the tests.

use crate::analysis::Facts;
use crate::render::shell_quote;
use crate::toolbox::MAKE;
use atlas_core::{EnvironmentPlan, Evidence};

/// Slim images have none.
const INSTALL_MAKE: &str = "apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*";

/// Targets that run tests.
const TARGETS: &[&str] = &[
    "test",
    "tests",
    "check",
    "unit-test",
    "unittest",
    "test-unit",
];

/// Where the tests run without `make`, the files that its target for them depends on are made first: fixtures that
/// are packed, sources that are generated. Targets that are no files of a folder are other work; what is there already
/// needs none.
pub(crate) fn prerequisites(facts: &Facts<'_>, plan: &mut EnvironmentPlan) {
    let tree = facts.tree;
    let files = ["GNUmakefile", "makefile", "Makefile"];
    let Some(file) = files.into_iter().find(|file| tree.has(file)) else {
        return;
    };
    if plan.test_cmd.contains(MAKE) {
        return;
    }
    let text = tree.text(file).unwrap_or_default();
    let found = TARGETS.iter().find_map(|target| needed(&text, target));
    let Some((line, text, needed)) = found else {
        return;
    };
    let made: Vec<String> = needed
        .into_iter()
        .filter(|path| !tree.has(path) && !tree.has_folder(path))
        .map(shell_quote)
        .collect();
    if made.is_empty() {
        return;
    }
    let command = format!(
        "make {} || echo 'atlas: a file that the tests need was not made'",
        made.join(" ")
    );
    plan.build.push(command.clone());
    plan.rebuild.push(command);
    for key in ["build", "apt_packages"] {
        plan.prove(key, Evidence::at(file, line, text));
    }
    if !plan.apt_packages.iter().any(|name| name == "make") {
        plan.apt_packages.push("make".to_owned());
        plan.apt_packages.sort();
        plan.pre_install.push(INSTALL_MAKE.to_owned());
    }
}

/// The first rule of a target that needs files of folders: its line from 1, its text, those files.
fn needed<'a>(text: &'a str, target: &str) -> Option<(usize, &'a str, Vec<&'a str>)> {
    text.lines().enumerate().find_map(|(at, line)| {
        let rest = line.strip_prefix(target)?.trim_start().strip_prefix(':')?;
        // `test := x` and `test: X = a/b` are variables.
        let rest = rest
            .split(['#', ';', '|'])
            .next()
            .filter(|rest| !rest.contains('='))?;
        let is_file = |word: &&str| {
            word.contains('/') && !word.starts_with('/') && !word.contains(['$', '%', '*'])
        };
        let files: Vec<&str> = rest.split_whitespace().filter(is_file).collect();
        (!files.is_empty()).then(|| (at + 1, line.trim(), files))
    })
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::planned;

    #[test]
    fn what_make_makes_before_the_tests_is_made() {
        let of = |rule: &str| {
            let files = [
                ("go.mod", "module example.org/x\n\ngo 1.22\n"),
                ("x_test.go", "package x\n"),
                ("here/x", ""),
                ("Makefile", rule),
            ];
            planned(files, &[])
        };
        let plan = of("build:\n\ntest: build here/x data/sys/.unpacked $(OUT)/y # z\n\tgo test\n");
        let command = "make data/sys/.unpacked || echo";
        assert!(
            plan.rebuild.iter().any(|line| line.starts_with(command)),
            "{:?}",
            plan.rebuild
        );
        assert!(
            plan.build.last().unwrap().starts_with(command),
            "{:?}",
            plan.build
        );
        assert!(plan.apt_packages.contains(&"make".to_owned()));
        assert!(
            plan.pre_install.concat().contains(" make "),
            "{:?}",
            plan.pre_install
        );
        for none in [
            "test: build\n",
            "test := a/b\n",
            "test: X = a/b\n",
            "other: a/b\n",
            "test: here/x here\n",
        ] {
            let plan = of(none);
            assert!(
                !plan.build.concat().contains("make"),
                "{none}: {:?}",
                plan.build
            );
        }
    }
}
