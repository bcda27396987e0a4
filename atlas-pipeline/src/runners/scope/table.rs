//! Which runners can be told a part of their tests, and how.

use super::super::narrow::Spelling;
use super::super::{Edit, JEST, VITEST};
use super::operands::SELECTION;
use atlas_core::EnvironmentPlan;

/// Sources of C and C++, what they include, and scripts that are tests of themselves.
const NATIVE: &[&str] = &[
    ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hpp", ".hh", ".hxx", ".sh", ".py", ".pl",
    ".test",
];

/// Sources of JavaScript and TypeScript.
const SCRIPTS: &[&str] = &[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"];

/// Options of Mocha's, and of node's below it, whose value is a word of its own.
const MOCHA_VALUES: &[&str] = &[
    "--require",
    "-r",
    "--timeout",
    "--timeouts",
    "-t",
    "--ui",
    "-u",
    "--extension",
    "--file",
    "--ignore",
    "--exclude",
    "--config",
    "--package",
    "--slow",
    "-s",
    "--retries",
    "--grep",
    "-g",
    "--fgrep",
    "-f",
    "--jobs",
    "-j",
    "--reporter",
    "-R",
    "--reporter-option",
    "--reporter-options",
    "-O",
    "--global",
    "--globals",
    "--import",
    "--loader",
    "--experimental-loader",
    "--node-option",
    "-n",
    "--opts",
    "--compilers",
];

/// Likewise of node's own runner.
const NODE_VALUES: &[&str] = &[
    "--require",
    "-r",
    "--import",
    "--loader",
    "--experimental-loader",
    "--conditions",
    "-C",
    "--test-concurrency",
    "--test-name-pattern",
    "--test-skip-pattern",
    "--test-reporter",
    "--test-reporter-destination",
    "--test-timeout",
    "--env-file",
    "--reporter",
    "--timeout",
    "--concurrency",
    "--pattern",
];

/// Likewise of AVA.
const AVA_VALUES: &[&str] = &[
    "--timeout",
    "-T",
    "--match",
    "-m",
    "--concurrency",
    "-c",
    "--config",
    "--node-arguments",
];

/// Likewise of Bun's.
const BUN_VALUES: &[&str] = &[
    "--test-name-pattern",
    "-t",
    "--preload",
    "-r",
    "--require",
    "--import",
    "--timeout",
    "--rerun-each",
    "--retry",
    "--max-concurrency",
    "--path-ignore-patterns",
    "--env-file",
    "--config",
    "-c",
    "--cwd",
    "--define",
    "-d",
    "--loader",
    "-l",
    "--conditions",
    "--tsconfig-override",
];

/// Likewise of bats.
const BATS_VALUES: &[&str] = &[
    "--filter",
    "-f",
    "--filter-status",
    "--filter-tags",
    "--negative-filter",
    "--formatter",
    "-F",
    "--report-formatter",
    "--gather-test-outputs-in",
    "--jobs",
    "-j",
    "--parallel-binary-name",
    "--output",
    "-o",
    "--line-reference-format",
    "--code-quote-style",
];

/// Likewise of prove.
const PROVE_VALUES: &[&str] = &[
    "-I",
    "-M",
    "-P",
    "-a",
    "--archive",
    "-e",
    "--exec",
    "--ext",
    "--formatter",
    "--harness",
    "-j",
    "--jobs",
    "--rc",
    "--rules",
    "--source",
    "--state",
    "--statefile",
];

/// One family of runners: how test files become a selection, and where that goes in the test command.
pub(super) struct Scoping {
    /// Parsers of its logs; none where many kinds of programs run under it.
    pub(super) parsers: &'static [&'static str],
    /// What its command holds.
    pub(super) program: &'static str,
    /// The ends of its test files' names.
    pub(super) ends: &'static [&'static str],
    /// What stands for a file: its path from the folder of the command, its folder, its class.
    pub(super) place: fn(&str) -> Option<String>,
    /// How the places are written into an edit's text.
    pub(super) spelling: Spelling,
    pub(super) edits: &'static [Edit],
    /// How far a place reaches.
    pub(super) reach: Reach,
    /// How the command's own operands give way to a selection.
    pub(super) operands: Operands,
}

/// How far the places of a selection reach, and from where they are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Single files.
    File,
    /// Whole packages, those of changed sources among them.
    Package,
    /// Files that a helper program looks up in what was built: named from the repository's root, however many
    /// folders the command goes to.
    FromRoot,
    /// The same, and at the level of packages the folder that holds this manifest.
    Manifest(&'static str),
}

/// What becomes of the operands that a command has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// They stay.
    Kept,
    /// Those that are there as files or folders go: beside them a selection selects nothing.
    Existing,
    /// The selection stands in their place, as far as they match it. With the options that take a value of their
    /// own.
    Replaced(&'static [&'static str]),
}

impl Scoping {
    /// Whether a plan's tests run under it.
    pub(super) fn is_of(&self, plan: &EnvironmentPlan) -> bool {
        (self.parsers.is_empty() || self.parsers.contains(&plan.log_parser_name.as_str()))
            && plan.test_cmd.contains(self.program)
    }

    /// Whether a file is one that a place stands for.
    pub(super) fn is_test(&self, path: &str) -> bool {
        self.ends.iter().any(|end| path.ends_with(end)) && (self.place)(path).is_some()
    }

    /// Whether places are files named from the repository's root.
    pub(super) fn is_from_root(&self) -> bool {
        matches!(self.reach, Reach::FromRoot | Reach::Manifest(_))
    }
}

pub(super) const SCOPINGS: &[Scoping] = &[
    Scoping {
        parsers: &["pytest"],
        program: "",
        ends: &[".py"],
        place: |path| {
            let name = path.rsplit('/').next()?;
            (!["conftest.py", "__init__.py"].contains(&name)).then(|| path.to_owned())
        },
        spelling: Spelling::Words,
        // A file that a state does not have is an error for all of them.
        edits: &[Edit::Insert(
            r#"--junitxml="\$ATLAS_OUT/junit\.xml""#,
            " $(ls -d -- {} 2>/dev/null)",
        )],
        reach: Reach::File,
        operands: Operands::Existing,
    },
    Scoping {
        parsers: &["unittest"],
        program: "",
        ends: &[".py"],
        place: |path| {
            Some(format!(
                "{}.",
                path.rsplit('/').next()?.strip_suffix(".py")?
            ))
        },
        spelling: Spelling::Options("-k"),
        edits: &[Edit::Insert(r"-m unittest( discover)?", " {}")],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["gotest", "gotestsum"],
        program: "",
        ends: &[".go"],
        place: |path| {
            Some(
                path.rsplit_once('/')
                    .map_or_else(|| ".".to_owned(), |(folder, _)| format!("./{folder}")),
            )
        },
        spelling: Spelling::Words,
        edits: &[Edit::Replace(r" \./\.\.\.", " {}")],
        reach: Reach::Package,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["jest"],
        program: "",
        ends: &["js", "jsx", "ts", "tsx", "mjs", "cjs"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Regex("^(?!.*/(?:", ")$).*$"),
        edits: &[Edit::Insert(JEST, "--testPathIgnorePatterns={} ")],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["vitest"],
        program: "",
        ends: &["js", "jsx", "ts", "tsx", "mjs", "cjs"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        edits: &[Edit::Insert(VITEST, "{} ")],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["rspec"],
        program: "",
        ends: &["_spec.rb"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        edits: &[Edit::Insert(
            r"--require \S*keep_going\.rb\S*",
            " $(ls -d -- {} 2>/dev/null)",
        )],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["minitest", "testunit"],
        program: "",
        ends: &[".rb"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        // Its own program takes a file that is not there for a pattern that matches none.
        edits: &[Edit::Replace(r" '[^']*\*[^']*\.rb' --", " {} --")],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["phpunit"],
        program: "",
        ends: &["Test.php"],
        place: |path| Some(path.rsplit('/').next()?.strip_suffix(".php")?.to_owned()),
        spelling: Spelling::Regex(r"/(?:^|\\)(?:", ")::/"),
        edits: &[Edit::Insert(r#"bin/(simple-)?phpunit\b"?"#, " --filter {}")],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["maven"],
        program: "",
        ends: &[".java"],
        place: |path| Some(path.rsplit('/').next()?.strip_suffix(".java")?.to_owned()),
        spelling: Spelling::Commas,
        edits: &[Edit::Append(
            "MAVEN_CHECKS_OFF",
            "-Dtest={} -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false",
        )],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["gradle"],
        program: "",
        ends: &[".java", ".kt", ".groovy"],
        place: |path| Some(format!("*{}*", path.rsplit('/').next()?.split('.').next()?)),
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        reach: Reach::File,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &["cargo"],
        program: "toolbox/cargo-test-each",
        ends: &[".rs"],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        reach: Reach::Manifest("Cargo.toml"),
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &[],
        program: "toolbox/ctest.sh",
        ends: NATIVE,
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        reach: Reach::FromRoot,
        operands: Operands::Kept,
    },
    Scoping {
        parsers: &[],
        program: "toolbox/meson.sh",
        ends: NATIVE,
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        reach: Reach::FromRoot,
        operands: Operands::Kept,
    },
    // Of a Makefile written by hand nothing says what a test is made of.
    Scoping {
        parsers: &[],
        program: "toolbox/make.sh\" automake",
        ends: NATIVE,
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        reach: Reach::FromRoot,
        operands: Operands::Kept,
    },
    by_operands(&["mocha"], "mocha", SCRIPTS, MOCHA_VALUES),
    by_operands(&["nodetest"], "", SCRIPTS, NODE_VALUES),
    by_operands(&["ava"], "ava", SCRIPTS, AVA_VALUES),
    by_operands(&["bun"], "", SCRIPTS, BUN_VALUES),
    by_operands(&["bats"], "bats", &[".bats"], BATS_VALUES),
    by_operands(&["prove", "tap"], "prove", &[".t"], PROVE_VALUES),
];

/// A runner that takes test files as operands, with its options that take a value of their own.
const fn by_operands(
    parsers: &'static [&'static str],
    program: &'static str,
    ends: &'static [&'static str],
    values: &'static [&'static str],
) -> Scoping {
    Scoping {
        parsers,
        program,
        ends,
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        edits: &[Edit::Replace(SELECTION, "$(ls -d -- {} 2>/dev/null)")],
        reach: Reach::File,
        operands: Operands::Replaced(values),
    }
}
