//! Files that a Makefile makes before it runs the tests.

use crate::analysis::Facts;
use crate::native::make::{TARGETS, makefile, rule};
use crate::render::shell_quote;
use crate::toolbox::MAKE;
use crate::tree::Tree;
use atlas_core::EnvironmentPlan;

/// Slim images have none.
const INSTALL_MAKE: &str = "apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*";

/// Where the tests run without `make`, the files that its target for them depends on are made first: fixtures that
/// are packed, sources that are generated. Targets that are no files of a folder are other work; what is there already
/// needs none.
pub(crate) fn prerequisites(facts: &Facts<'_>, plan: &mut EnvironmentPlan) {
    let Some(file) = makefile(facts, "").filter(|_| !plan.test_cmd.contains(MAKE)) else {
        return;
    };
    let mut rules = TARGETS
        .iter()
        .filter_map(|target| rule(facts, &file, target));
    let found = rules.find_map(|line| {
        let made = missing(facts.tree, &line.text);
        (!made.is_empty()).then_some((line, made))
    });
    let Some((line, made)) = found else {
        return;
    };
    let command = format!(
        "make {} || echo 'atlas: a file that the tests need was not made'",
        made.join(" ")
    );
    plan.build.push(command.clone());
    plan.rebuild.push(command);
    for key in ["build", "apt_packages"] {
        plan.prove(key, line.clone());
    }
    if !plan.apt_packages.iter().any(|name| name == "make") {
        plan.apt_packages.push("make".to_owned());
        plan.apt_packages.sort();
        plan.pre_install.push(INSTALL_MAKE.to_owned());
    }
}

/// The files of folders that a rule needs and that are not there, as words of the shell.
fn missing(tree: &Tree, rule: &str) -> Vec<String> {
    let needed = rule.split_once(':').map_or("", |(_, needed)| needed);
    let needed = needed.split(['#', ';', '|']).next().unwrap_or_default();
    // `test := x` and `test: X = a/b` set variables.
    if needed.contains('=') {
        return Vec::new();
    }
    let is_missing = |path: &&str| {
        let is_file =
            path.contains('/') && !path.starts_with('/') && !path.contains(['$', '%', '*']);
        is_file && !tree.has(path) && !tree.has_folder(path)
    };
    let files = needed.split_whitespace().filter(is_missing);
    files.map(shell_quote).collect()
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
