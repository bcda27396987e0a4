//! The commands that run suites, with output that can be read.

use super::package::{Workspace, join};
use super::programs::INTERPRETERS;
use super::runner::{Runner, Suite};
use super::script::head;
use super::shell::{NODE_OPTIONS, again, drop_flags, drop_valued, take_node_options};
use crate::quote::shell_quote;
use crate::toolbox::{
    self, AVA_TWO, MOCHA_TWO, NODE_WHOLE, PLAYWRIGHT_TWO, UVU_TAP, UVU_TAP_MODULE,
};
use crate::tree::Tree;

/// Milliseconds that a test of node's own runner, or a file of them, may take, where that knows the option.
const TIMEOUT: &str = " $(node --help | grep -q -e --test-timeout && echo --test-timeout=120000)";

/// What a plan needs to know to write a suite's command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    pub(super) tree: &'a Tree,
    pub(super) workspace: &'a Workspace,
    /// Node's major version.
    pub(super) node: u32,
    /// Whether a report is to be written.
    pub(super) report: bool,
    /// Which of several runs of Vitest it is, whose reports become one.
    pub(super) part: Option<usize>,
}

/// The first release of borp's 0 that reports to files.
const BORP_FILES: u32 = 9;

/// The report that several runs of Vitest leave together.
pub(super) const VITEST_PARTS: &str = "vitest.xml";

impl Suite {
    /// The report that the runner can write beside its log: file and reader.
    pub(super) fn report(
        &self,
        node: u32,
        workspace: &Workspace,
    ) -> Option<(&'static str, &'static str)> {
        match self.runner {
            // Each run of a loop would write over the last one's.
            _ if self.each.is_some() => None,
            Runner::Jest => Some(("jest.json", "jest")),
            Runner::Vitest => Some(("vitest.json", "vitest")),
            Runner::Mocha => Some(("mocha.xml", "junit")),
            Runner::Ava if !self.is_file() => Some(("ava.xml", "junit")),
            // What makes TAP of their results writes them down, too.
            Runner::Jasmine => Some(("jasmine.xml", "junit")),
            Runner::Uvu => Some(("uvu.xml", "junit")),
            Runner::Lab => Some(("lab.xml", "junit")),
            Runner::Playwright => Some(("playwright.xml", "junit")),
            Runner::Bun => Some(("bun.xml", "junit")),
            Runner::NodeTest if self.is_borp() => self
                .borp_writes_files(workspace)
                .then_some(("report.tap", "nodetest")),
            // Several reporters at once came with Node 20; a file run by itself takes no option.
            Runner::NodeTest if node >= 20 && !self.is_file() => Some(("report.tap", "nodetest")),
            _ => None,
        }
    }

    /// Whether the tests are a file that is run, not a runner.
    fn is_file(&self) -> bool {
        match self.runner {
            Runner::NodeTest => {
                let is_option = |word: &String| word.starts_with('-');
                self.program.first().is_some_and(|word| !is_option(word)) && !self.is_borp()
            }
            Runner::Mocha | Runner::Ava | Runner::Jest | Runner::Tap => {
                self.program.len() > 1
                    && INTERPRETERS.contains(&head(&self.program[0]).as_str())
                    && !self
                        .program
                        .iter()
                        .any(|word| word.contains("node_modules/") || word.contains("bin/"))
            }
            _ => false,
        }
    }

    /// Whether it is node's runner under the command `borp`.
    pub(super) fn is_borp(&self) -> bool {
        self.program
            .first()
            .is_some_and(|word| head(word) == "borp")
    }

    /// Whether this borp knows files to report to: `--reporter tap:FILE`.
    fn borp_writes_files(&self, workspace: &Workspace) -> bool {
        let range = workspace.range(self.package, "borp").unwrap_or_default();
        let mut numbers = range
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse::<u32>().ok());
        // A range without numbers is the newest.
        match (numbers.next(), numbers.next()) {
            (Some(0), minor) => minor.is_some_and(|minor| minor >= BORP_FILES),
            _ => true,
        }
    }

    /// The command with an option for node before the project's own, however node is started.
    fn with_node_option(&self, mut env: Vec<String>, option: &str, args: Vec<String>) -> String {
        let given = take_node_options(&mut env);
        let shown = again(&env);
        let gap = if shown.is_empty() { "" } else { " " };
        let given = if given.is_empty() {
            given
        } else {
            // One word with the option behind it.
            shell_quote(&format!("{given} "))
        };
        let mut words = self.program.clone();
        words.extend(args);
        format!(
            "{shown}{gap}{NODE_OPTIONS}{given}\"{option}\" {}",
            again(&words)
        )
    }

    /// The command, run in the suite's folder with its programs on the path.
    pub(super) fn command(&self, setting: Setting<'_>) -> String {
        let command = self.one(setting);
        match &self.each {
            Some(each) => each.around(&command),
            None => command,
        }
    }

    /// The command of one run.
    fn one(&self, setting: Setting<'_>) -> String {
        let mut env = self.env.clone();
        let mut args = self.args.clone();
        let own: Vec<String> = match self.runner {
            // A program that starts Mocha itself names the reporter, too.
            Runner::Mocha if self.is_file() && setting.report => {
                let option = format!("--require $ATLAS_ENV/toolbox/{MOCHA_TWO}");
                return self.with_node_option(env, &option, args);
            }
            _ if self.is_file() => Vec::new(),
            Runner::Jest => jest(&mut args, setting.report),
            Runner::Vitest => vitest(&mut args, setting),
            Runner::Mocha => mocha(&mut args, setting, &self.folder),
            Runner::Ava => {
                let own = ava(&mut args);
                if setting.report {
                    let option = format!("--require $ATLAS_ENV/toolbox/{AVA_TWO}");
                    args.extend(own);
                    return self.with_node_option(env, &option, args);
                }
                own
            }
            Runner::NodeTest => return self.node_test(setting),
            Runner::Tap => tap(&mut args, self.major(setting, "tap")),
            Runner::Tape => Vec::new(),
            Runner::QUnit => {
                drop_valued(&mut args, &["--reporter", "-r", "--seed"]);
                drop_flags(&mut args, &["--watch", "-w"]);
                owned(["--reporter tap"])
            }
            Runner::Brittle => {
                drop_flags(
                    &mut args,
                    &["--bail", "-b", "--coverage", "-c", "--cov", "--solo", "-s"],
                );
                Vec::new()
            }
            Runner::Lab => lab(&mut args, setting.report),
            Runner::Jasmine => {
                drop_valued(
                    &mut args,
                    &["--reporter", "--parallel", "--random", "--seed"],
                );
                owned([
                    "--helper=\"$ATLAS_ENV/toolbox/jasmine-tap.cjs\"",
                    "--random=false",
                ])
            }
            Runner::Uvu => {
                drop_flags(&mut args, &["--bail", "-b", "--quiet", "-q"]);
                let option = if setting.node >= 20 {
                    format!("--import=$ATLAS_ENV/toolbox/{UVU_TAP_MODULE}")
                } else {
                    format!("--require $ATLAS_ENV/toolbox/{UVU_TAP}")
                };
                return self.with_node_option(env, &option, args);
            }
            Runner::Bun => bun(&mut args, setting.report),
            Runner::Karma => karma(&mut args, setting, self.package),
            Runner::Playwright => {
                drop_valued(
                    &mut args,
                    &[
                        "--reporter",
                        "--workers",
                        "-j",
                        "--retries",
                        "-x",
                        "--max-failures",
                    ],
                );
                drop_flags(&mut args, &["--ui", "--headed", "--debug"]);
                let reporter = if setting.report {
                    format!("--reporter=list,{}", toolbox::path(PLAYWRIGHT_TWO))
                } else {
                    "--reporter=list".to_owned()
                };
                vec![reporter, "--workers=2".to_owned()]
            }
            Runner::Cypress => {
                drop_valued(
                    &mut args,
                    &[
                        "--reporter",
                        "--browser",
                        "-b",
                        "--record",
                        "--key",
                        "--group",
                    ],
                );
                Vec::new()
            }
        };
        let mut words = std::mem::take(&mut env);
        words.extend(self.program.iter().cloned());
        words.extend(args);
        let mut command = again(&words);
        for word in own {
            command.push(' ');
            command.push_str(&word);
        }
        command
    }

    fn major(&self, setting: Setting<'_>, dependency: &str) -> Option<u32> {
        let range = setting.workspace.range(self.package, dependency)?;
        major(&range)
    }

    fn node_test(&self, setting: Setting<'_>) -> String {
        let mut kept = self.program.clone();
        kept.extend(self.args.iter().cloned());
        // A second reporter would print what no parser expects.
        drop_valued(
            &mut kept,
            &["--test-reporter", "--test-reporter-destination"],
        );
        kept.retain(|word| {
            word != "--watch"
                && !word.starts_with("--experimental-test-coverage")
                && !word.starts_with("--test-coverage")
                && !word.starts_with("--enable-source-maps=")
        });
        let mut words = self.env.clone();
        if self.is_borp() {
            drop_valued(&mut kept, &["--reporter", "-r"]);
            drop_flags(&mut kept, &["--coverage", "-C", "--check-coverage"]);
            words.extend(kept);
            let report = if setting.report {
                " --reporter \"tap:$ATLAS_OUT/report.tap\""
            } else {
                ""
            };
            return again(&words) + " --reporter spec" + report;
        }
        words.extend(["node", "--test"].map(str::to_owned));
        let mut command = again(&words);
        if setting.report {
            // A failing test that leaves a server open would hang the run. (`--test-force-exit` ends
            // a file whose tests are awaited one by one after the first of them.)
            let own = kept.iter().any(|word| {
                word.starts_with("--test-timeout") || word.starts_with("--test-force-exit")
            });
            if !own {
                command.push_str(TIMEOUT);
            }
            command.push_str(" --require ");
            command.push_str(&toolbox::path(NODE_WHOLE));
            command.push_str(
                " --test-reporter=spec --test-reporter-destination=stdout \
                 --test-reporter=tap --test-reporter-destination=stderr",
            );
        }
        if !kept.is_empty() {
            command.push(' ');
            command.push_str(&again(&kept));
        }
        if setting.report {
            // A runner that could not start says so there, and a person should see it.
            command.push_str(
                " 2>\"$ATLAS_OUT/report.tap\" || (code=$?; grep -q '^TAP version' \
                 \"$ATLAS_OUT/report.tap\" || cat \"$ATLAS_OUT/report.tap\"; exit $code)",
            );
        }
        command
    }
}

/// The first number of a version range.
pub(super) fn major(range: &str) -> Option<u32> {
    let range = range.rsplit('@').next().unwrap_or(range);
    let digits: String = range
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// Jest's arguments without those that the plan sets itself, that stop early or that only measure.
fn jest(args: &mut Vec<String>, report: bool) -> Vec<String> {
    drop_valued(
        args,
        &[
            "--outputFile",
            "--coverageReporters",
            "--reporters",
            "--coverageDirectory",
            "--collectCoverageFrom",
            "--coverageThreshold",
            "--coverageProvider",
            "--changedSince",
        ],
    );
    drop_flags(
        args,
        &[
            "--coverage",
            "--collectCoverage",
            "--no-coverage",
            "--watch",
            "--watchAll",
            "--silent",
            "--bail",
            "-b",
            "--ci",
            "--verbose",
            "--json",
            "-o",
            "--onlyChanged",
            "--notify",
            "-u",
            "--updateSnapshot",
            "--colors",
            "--color",
            "--passWithNoTests",
            "--detectOpenHandles",
            "--logHeapUsage",
            "--randomize",
        ],
    );
    let sized = ["-i", "--runInBand", "-w", "--maxWorkers"];
    let mut own = owned(["--ci", "--verbose", "--coverage=false"]);
    if !args
        .iter()
        .any(|word| sized.contains(&word.split('=').next().unwrap_or(word)))
    {
        own.push("--maxWorkers=2".to_owned());
    }
    if report {
        own.extend(owned(["--json", "--outputFile=\"$ATLAS_OUT/jest.json\""]));
    }
    own
}

fn vitest(args: &mut Vec<String>, setting: Setting<'_>) -> Vec<String> {
    drop_valued(
        args,
        &[
            "--reporter",
            "--outputFile",
            "--bail",
            "--changed",
            "--shard",
        ],
    );
    args.retain(|word| {
        let name = word.split('=').next().unwrap_or(word);
        !name.starts_with("--coverage")
            && !name.starts_with("--no-coverage")
            && !name.starts_with("--outputFile.")
            && !matches!(
                name,
                "run"
                    | "--run"
                    | "watch"
                    | "dev"
                    | "--watch"
                    | "-w"
                    | "--no-watch"
                    | "--ui"
                    | "--open"
                    | "-u"
                    | "--update"
                    | "--silent"
                    | "--passWithNoTests"
            )
    });
    args.insert(0, "run".to_owned());
    let mut own = owned(["--reporter=verbose"]);
    match setting.part.filter(|_| setting.report) {
        // A document of JSON is one run's; those of JUnit may follow each other.
        Some(part) => own.extend([
            "--reporter=junit".to_owned(),
            format!("--outputFile.junit=\"$ATLAS_OUT/vitest-{part}.xml\""),
        ]),
        None if setting.report => own.extend(owned([
            "--reporter=json",
            "--outputFile.json=\"$ATLAS_OUT/vitest.json\"",
        ])),
        None => {}
    }
    own
}

fn mocha(args: &mut Vec<String>, setting: Setting<'_>, folder: &str) -> Vec<String> {
    drop_valued(
        args,
        &[
            "--reporter",
            "-R",
            "--reporter-option",
            "--reporter-options",
            "-O",
        ],
    );
    drop_flags(
        args,
        &[
            "--bail", "-b", "--watch", "-w", "--growl", "-G", "--colors", "--color", "-c",
        ],
    );
    let mut own = if setting.report {
        vec![format!("--reporter {}", toolbox::path(MOCHA_TWO))]
    } else {
        owned(["--reporter", "spec"])
    };
    let bails = [
        ".mocharc.js",
        ".mocharc.cjs",
        ".mocharc.json",
        ".mocharc.jsonc",
        ".mocharc.yml",
        ".mocharc.yaml",
    ]
    .iter()
    .filter_map(|file| setting.tree.text(&join(folder, file)))
    .any(|text| text.contains("bail"));
    if bails {
        own.push("--no-bail".to_owned());
    }
    own
}

/// AVA gives up, with a log that looks complete, where nothing happens for ten seconds: too little
/// on a loaded machine.
fn ava(args: &mut Vec<String>) -> Vec<String> {
    drop_valued(args, &["--timeout", "-T"]);
    drop_flags(
        args,
        &[
            "--tap",
            "-t",
            "--verbose",
            "-v",
            "--watch",
            "-w",
            "--fail-fast",
            "--color",
            "--no-color",
            "-u",
            "--update-snapshots",
        ],
    );
    owned(["--tap", "--timeout=300s"])
}

fn tap(args: &mut Vec<String>, major: Option<u32>) -> Vec<String> {
    drop_valued(
        args,
        &[
            "--reporter",
            "-R",
            "--coverage-report",
            "--output-file",
            "-o",
        ],
    );
    args.retain(|word| {
        let name = word.split('=').next().unwrap_or(word);
        !matches!(
            name,
            "--100"
                | "--cov"
                | "--coverage"
                | "--no-coverage"
                | "--no-cov"
                | "--check-coverage"
                | "--no-check-coverage"
                | "--disable-coverage"
                | "--allow-incomplete-coverage"
                | "--allow-empty-coverage"
                | "--show-full-coverage"
                | "--no-coverage-report"
                | "--no-browser"
                | "--bail"
                | "-b"
                | "--watch"
                | "--color"
                | "--functions"
                | "--branches"
                | "--lines"
                | "--statements"
                | "--changed"
        ) && !name.starts_with("-R")
    });
    let coverage = match major {
        Some(18..) => "--disable-coverage",
        Some(..=9) => "--no-cov",
        _ => "--no-coverage",
    };
    owned(["--reporter=tap", coverage])
}

fn lab(args: &mut Vec<String>, report: bool) -> Vec<String> {
    drop_valued(
        args,
        &[
            "--reporter",
            "-r",
            "--output",
            "-o",
            "--threshold",
            "-t",
            "--coverage-exclude",
            "--coverage-path",
            "--coverage-pattern",
            "--coverage-predicates",
            "--linter",
            "-n",
            "--lint-options",
            "--lint-errors-threshold",
            "--lint-warnings-threshold",
            "--seed",
            "--types-test",
        ],
    );
    drop_flags(
        args,
        &[
            "--bail",
            "--colors",
            "-C",
            "--coverage",
            "-c",
            "--coverage-all",
            "--coverage-flat",
            "--lint",
            "-L",
            "--lint-fix",
            "--shuffle",
            "--silence",
            "-s",
            "--silent-skips",
            "-k",
            "--types",
            "-Y",
            "--verbose",
            "-v",
        ],
    );
    if report {
        owned(["-v -r console -o stdout -r junit -o \"$ATLAS_OUT/lab.xml\""])
    } else {
        owned(["-v"])
    }
}

fn bun(args: &mut Vec<String>, report: bool) -> Vec<String> {
    drop_valued(
        args,
        &[
            "--reporter",
            "--reporter-outfile",
            "--coverage-reporter",
            "--coverage-dir",
            "--shard",
            "--seed",
        ],
    );
    drop_flags(
        args,
        &[
            "--bail",
            "--changed",
            "--coverage",
            "--dots",
            "--only-failures",
            "--pass-with-no-tests",
            "--randomize",
            "--update-snapshots",
            "-u",
            "--watch",
        ],
    );
    // Its own lines go to the one stream and what tests print to the other: by one way they come in their order.
    if report {
        owned(["--reporter=junit --reporter-outfile=\"$ATLAS_OUT/bun.xml\" 2>&1"])
    } else {
        owned(["2>&1"])
    }
}

fn karma(args: &mut Vec<String>, setting: Setting<'_>, package: usize) -> Vec<String> {
    drop_valued(args, &["--reporters", "--browsers"]);
    drop_flags(
        args,
        &[
            "--single-run",
            "--no-single-run",
            "--auto-watch",
            "--no-auto-watch",
            "--watch",
        ],
    );
    let has = |name| setting.workspace.range(package, name).is_some();
    let reporter = if has("karma-mocha-reporter") {
        "mocha"
    } else if has("karma-spec-reporter") {
        "spec"
    } else {
        "dots"
    };
    owned([
        "--single-run",
        "--no-auto-watch",
        "--browsers=ChromeHeadless",
        &format!("--reporters={reporter}"),
    ])
}
