//! Files that are made before the tests run, by a Makefile or by the CI's own commands.

use crate::ci::Job;
use crate::facts::Facts;
use crate::languages::native::make::{TARGETS, makefile, rule};
use crate::quote::shell_quote;
use crate::toolbox::MAKE;
use crate::tree::{Tree, resolved};
use atlas_core::{EnvironmentPlan, Evidence};

/// Slim images have none.
const INSTALL_MAKE: &str = "apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*";

/// Where the tests run without `make`, the files that its target for them depends on are made first: fixtures that
/// are packed, sources that are generated. Targets that are no files of a folder are other work; what is there already
/// needs none.
pub(crate) fn prerequisites(facts: &Facts<'_>, plan: &mut EnvironmentPlan) {
    copied(facts, plan);
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

/// Settings of which CI takes a copy where the tests look for them: `cp config/database.ci.yml config/database.yml`.
fn copied(facts: &Facts<'_>, plan: &mut EnvironmentPlan) {
    for job in facts.ci.jobs.iter().filter(|job| job.tests()) {
        let before = job
            .commands
            .iter()
            .take_while(|command| !Job::is_test(&command.text));
        for command in before {
            let text = job.expand(command).into_iter().next();
            let text = text.map_or_else(|| command.text.clone(), |filled| filled.text);
            let folder = job.directory(command).unwrap_or_default();
            let Some((from, to)) = copy(facts.tree, folder, &text) else {
                continue;
            };
            let line = format!("cp {} {}", shell_quote(&from), shell_quote(&to));
            if plan.build.contains(&line) {
                continue;
            }
            if facts.touched.contains(&from) {
                plan.rebuild.push(line.clone());
            }
            plan.build.push(line);
            let at = Evidence::at(command.file.clone(), command.line, command.text.clone());
            plan.prove("build", at);
        }
    }
}

/// What a command copies: a file of the repository to a place where it has none.
fn copy(tree: &Tree, folder: &str, command: &str) -> Option<(String, String)> {
    let mut words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']))
        .filter(|word| !word.starts_with('-'));
    let ("cp", from, to, None) = (words.next()?, words.next()?, words.next()?, words.next()) else {
        return None;
    };
    let is_plain = |path: &str| {
        !path.starts_with(['/', '~']) && !path.contains(['$', '*', '{', '&', ';', '|', '>'])
    };
    if !is_plain(from) || !is_plain(to) {
        return None;
    }
    let from = resolved(folder, from).filter(|from| tree.has(from))?;
    let mut into = resolved(folder, to)?;
    if into.is_empty() || to.ends_with('/') || tree.has_folder(&into) {
        let name = from.rsplit('/').next().unwrap_or(&from);
        into = resolved(&into, name)?;
    }
    let parent = into.rsplit_once('/').map(|(parent, _)| parent);
    let is_there = parent.is_none_or(|parent| tree.has_folder(parent));
    (is_there && !tree.has(&into)).then_some((from, into))
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
    #[test]
    fn settings_that_ci_copies_are_copied() {
        let files = [
            ("go.mod", "module example.org/x\n\ngo 1.22\n"),
            ("x_test.go", "package x\n"),
            ("conf/ci.yml", ""),
            ("conf/own.yml", ""),
            ("sample", ""),
            (
                ".github/workflows/ci.yml",
                r"
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: cp conf/ci.yml conf/here.yml
      - run: |
          cd conf
          cp -f ../sample .
      - run: cp conf/ci.yml conf/own.yml
      - run: cp conf/ci.yml /etc/x.yml
      - run: cp conf/ci.yml $HOME
      - run: cp missing conf/x
      - run: cp sample conf/y && make
      - run: go test ./...
      - run: cp sample conf/late
",
            ),
        ];
        let plan = planned(files, &[]);
        let copies: Vec<&String> = plan
            .build
            .iter()
            .filter(|line| line.starts_with("cp "))
            .collect();
        assert_eq!(
            copies,
            ["cp conf/ci.yml conf/here.yml", "cp sample conf/sample"]
        );
        assert!(!plan.rebuild.concat().contains("cp "), "{:?}", plan.rebuild);
    }
}
