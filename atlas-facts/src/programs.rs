//! Programs that commands start, and the runners whose logs are read.

use crate::languages::Family;

/// What starting a program comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Does {
    /// It runs tests and does nothing else.
    Tests,
    /// It builds, installs or manages, and runs tests where one of its words asks for it: `make check`.
    Builds,
    /// It starts the program that stands behind it, with some of its own words between: `poetry run`, `timeout 60`.
    Starts,
    /// It runs the file that stands behind it.
    Interprets,
}

/// A family of languages, or none; then the names of programs that test, build, start and interpret, parted by spaces.
/// A program that does several things is in several columns.
type Row = (Option<Family>, [&'static str; 4]);

const PROGRAMS: &[Row] = &[
    (
        Some(Family::Python),
        [
            "pytest py.test tox nose nosetests nose2 trial stestr unittest behave",
            "hatch nox invoke manage.py setup.py",
            "coverage poetry uv uvx pipenv pdm rye hatch conda mamba",
            "python python2 python3",
        ],
    ),
    (
        Some(Family::JavaScript),
        [
            "jest vitest mocha ava jasmine karma tape tap uvu",
            "npm yarn pnpm bun deno nx turbo lerna node cypress playwright lab",
            "npx bunx npm yarn pnpm",
            "node",
        ],
    ),
    (Some(Family::Go), ["gotestsum", "go ginkgo", "", ""]),
    (Some(Family::Rust), ["cargo-nextest", "cargo", "", ""]),
    (
        Some(Family::Ruby),
        ["rspec cucumber", "rake rails", "bundle", "ruby"],
    ),
    (
        Some(Family::Php),
        ["phpunit pest codecept", "composer", "composer", "php"],
    ),
    (
        Some(Family::Java),
        [
            "",
            "mvn mvnw gradle gradlew ant sbt lein",
            "",
            "java kotlin scala groovy",
        ],
    ),
    (Some(Family::C), ["ctest", "cmake meson ninja", "", ""]),
    (Some(Family::DotNet), ["nunit3-console", "dotnet", "", ""]),
    (
        None,
        [
            "bats prove",
            "make gmake bazel bazelisk blaze buck buck2 pants just mix swift flutter dart stack cabal zig",
            "sudo time timeout env nice nohup xvfb-run stdbuf unbuffer exec command run",
            "bash sh zsh perl",
        ],
    ),
];

/// Ids of log parsers, by the languages whose tests their runners run. One that is used with many languages is not here.
const PARSERS: &[(Family, &str)] = &[
    (Family::Python, "pytest unittest django sympy trial stestr"),
    (
        Family::JavaScript,
        "ava bun cypress deno jasmine jest karma lab mocha nodetest playwright tape uvu vitest",
    ),
    (Family::Go, "gotest gotestsum"),
    (Family::Rust, "cargo nextest"),
    (Family::Ruby, "minitest rspec testunit"),
    (Family::Php, "nettetester phpunit"),
    (Family::Java, "ant gradle junitconsole maven"),
    (
        Family::C,
        "automake boost catch2 check cmocka cppunit ctest cunit doctest gtest handmade meson unity",
    ),
    (Family::DotNet, "dotnet nunit2 nunit3 nunitxml trx xunit"),
];

/// Whether a program does this. A path before its name does not matter, an ending does: `bin/rspec` is `rspec`.
pub fn does(program: &str, what: Does) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let mut named = PROGRAMS.iter().map(|(_, columns)| columns[what as usize]);
    named.any(|names| names.split_whitespace().any(|known| known == name))
}

/// Programs that belong to one family of languages, with it.
pub fn programs_of_families() -> impl Iterator<Item = (Family, &'static str)> {
    let named = |(family, columns): &'static Row| {
        let names = columns.iter().flat_map(|names| names.split_whitespace());
        names.filter_map(|name| Some(((*family)?, name)))
    };
    PROGRAMS.iter().flat_map(named)
}

/// The family of languages whose tests a log parser reads; none where it is used with many.
pub fn family_of_parser(id: &str) -> Option<Family> {
    let known = |(_, ids): &&(Family, &str)| ids.split(' ').any(|known| known == id);
    PARSERS.iter().find(known).map(|(family, _)| *family)
}

#[cfg(test)]
mod tests {
    use super::{Does, Family, PARSERS, PROGRAMS, does, family_of_parser, programs_of_families};

    #[test]
    fn a_program_may_do_several_things() {
        assert!(does("npm", Does::Builds) && does("npm", Does::Starts));
        assert!(does("./vendor/bin/phpunit", Does::Tests));
        assert!(does("timeout", Does::Starts) && !does("timeout", Does::Tests));
        assert!(does("/usr/bin/python3", Does::Interprets));
        assert!(!does("", Does::Starts) && !does("grep", Does::Tests));
    }

    #[test]
    fn families_are_told_by_programs_and_parsers() {
        let all: Vec<_> = programs_of_families().collect();
        assert!(all.contains(&(Family::Java, "gradlew")));
        assert!(all.iter().all(|(_, program)| *program != "make"));
        assert_eq!(family_of_parser("gtest"), Some(Family::C));
        assert_eq!(family_of_parser("tap"), None);
        assert_eq!(Family::of_language("TypeScript"), Some(Family::JavaScript));
        assert_eq!(Family::of_language("Visual Basic"), Some(Family::DotNet));
        assert_eq!(Family::of_language("perl"), None);
    }

    #[test]
    fn no_name_stands_twice_in_a_column() {
        for column in 0..4 {
            let mut names: Vec<&str> = PROGRAMS
                .iter()
                .flat_map(|(_, columns)| columns[column].split_whitespace())
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "column {column}");
        }
        let mut ids: Vec<&str> = PARSERS.iter().flat_map(|(_, ids)| ids.split(' ')).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
