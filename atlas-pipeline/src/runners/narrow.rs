//! Fewer tests, by runner: the files, packages or classes of some tests alone.

use super::known::{Known, RUNNERS};
use super::{Edit, Touched, edit, other_order, scoped};
use crate::eval_script::quote;
use atlas_core::{EnvironmentPlan, JobFile, TestScopeLevel};
use atlas_oracle::Rerun;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// One test that is wanted, as a log names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    pub(crate) qualified: &'a str,
    pub(crate) module: &'a str,
    /// Its file by a structured report, where that tells it.
    pub(crate) file: Option<&'a str>,
}

/// A plan whose run is a part of its tests, or all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrowed {
    plan: EnvironmentPlan,
    /// Variables that the plan does not set so.
    env: BTreeMap<String, String>,
    prelude: String,
    files: Vec<JobFile>,
    /// What is run, in words of the runner; empty for all.
    pub(crate) scope: Vec<String>,
}

impl Narrowed {
    /// All tests of the plan.
    pub(crate) fn whole(plan: &EnvironmentPlan) -> Self {
        Self {
            plan: plan.clone(),
            ..Self::default()
        }
    }

    /// Runs only the test files that a pull request touches.
    ///
    /// # Errors
    /// Why the test command cannot be limited to these files.
    pub(crate) fn touched(plan: &EnvironmentPlan, touched: &Touched) -> Result<Self, String> {
        if plan.test_scope.is_some() {
            return Err("the suite is a part already".to_owned());
        }
        let part = scoped(plan, touched, TestScopeLevel::Touched)?;
        let is_new = |(name, value): &(&String, &String)| plan.env.get(*name) != Some(*value);
        let changed = part.env.iter().filter(is_new);
        Ok(Self {
            env: changed.map(|(n, v)| (n.clone(), v.clone())).collect(),
            scope: part
                .test_scope
                .iter()
                .flat_map(|s| s.places.clone())
                .collect(),
            plan: part,
            ..Self::default()
        })
    }

    /// The name that a test has in these runs, where it is another: AVA puts the file's before titles only where
    /// several files run.
    pub(crate) fn name<'a>(&self, id: &'a str) -> Option<&'a str> {
        let [file] = self.scope.as_slice() else {
            return None;
        };
        let name = file.rsplit('/').next()?;
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let title = id.strip_prefix(stem)?.strip_prefix(" › ")?;
        (self.plan.log_parser_name == "ava").then_some(title)
    }

    /// So many runs, the last of them in another order where the runner knows one; that order in words,
    /// and the files that the runs need.
    pub(crate) fn reruns(&self, count: u32) -> (Vec<Rerun>, Vec<JobFile>, Option<&'static str>) {
        let plain = Rerun {
            test_cmd: self.plan.test_cmd.clone(),
            prelude: format!("{}{}", exports(&self.env), self.prelude),
        };
        let count = usize::try_from(count).unwrap_or(1).max(1);
        let mut reruns = vec![plain; count];
        let mut files = self.files.clone();
        let Some((order, what)) = other_order(&self.plan).filter(|_| count > 1) else {
            return (reruns, files, None);
        };
        files.extend(order.files);
        let mut env = self.env.clone();
        env.extend(order.env);
        if let Some(last) = reruns.last_mut() {
            last.prelude = format!("{}{}{}", exports(&env), self.prelude, order.prelude);
            if let Some(test_cmd) = order.test_cmd {
                last.test_cmd = test_cmd;
            }
        }
        (reruns, files, Some(what))
    }
}

/// Variables for bash; a plan's values name folders as variables.
fn exports(env: &BTreeMap<String, String>) -> String {
    env.iter().fold(String::new(), |mut text, (name, value)| {
        let value = atlas_docker::double_quoted(value);
        let _ = writeln!(text, "export {name}=\"{value}\"");
        text
    })
}

/// How the places are written into an edit's text.
#[derive(Clone, Copy)]
pub(super) enum Spelling {
    /// One a line, as one word of the shell.
    Lines,
    /// Words of the shell.
    Words,
    /// Words of the shell, each behind this option.
    Options(&'static str),
    /// Separated by commas, no word of its own.
    Commas,
    /// Separated by blanks, in a variable's value, which nothing reads as a shell does.
    Blanks,
    /// Alternatives of a regular expression, as one word of the shell, between these two texts.
    Regex(&'static str, &'static str),
}

/// A way to run some of the tests alone.
pub(super) struct Narrowing {
    /// Parsers of the runner's logs.
    pub(super) parsers: &'static [&'static str],
    /// Where a test is, as the runner's options name places; `None` for an id of another form.
    pub(super) place: fn(&Wanted<'_>) -> Option<String>,
    pub(super) spelling: Spelling,
    pub(super) edits: &'static [Edit],
}

pub(super) fn word(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A test's name, which libtest takes as a filter. A program without libtest is its own only test: what it makes of words, it alone knows.
pub(super) fn libtest(test: &Wanted<'_>) -> Option<String> {
    let is_program = !test.module.is_empty() && test.qualified == test.module;
    (!is_program).then(|| word(test.name)).flatten()
}

/// A file as a log names it, without what leads to it from elsewhere.
pub(super) fn file(text: &str) -> Option<String> {
    let text = text.trim_start_matches("./").trim_start_matches("../");
    let last = text.rsplit('/').next().unwrap_or(text);
    (last.contains('.') && !text.starts_with('/')).then(|| text.to_owned())
}

pub(super) fn parent(text: &str, separator: char) -> Option<String> {
    text.rsplit_once(separator)
        .and_then(|(parent, _)| word(parent))
}

/// `Calc` of `com.example.Calc$Inner.adds(int)[1]`; `None` for a title.
pub(super) fn class(name: &str) -> Option<String> {
    let plain = name.find(['(', '[', '{']).map_or(name, |at| &name[..at]);
    let (class, _) = plain.rsplit_once('.')?;
    let class = class.rsplit('.').next()?.split('$').next()?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    (!class.is_empty() && plain.chars().all(|c| is_name(c) || ".$".contains(c)))
        .then(|| class.to_owned())
}

impl Spelling {
    pub(super) fn write(self, places: &BTreeSet<String>) -> String {
        let join = |texts: Vec<String>, with: &str| texts.join(with);
        let each = |text: fn(&str) -> String| places.iter().map(|p| text(p)).collect::<Vec<_>>();
        match self {
            Self::Lines => quote(&join(places.iter().cloned().collect(), "\n")),
            Self::Words => join(each(quote), " "),
            Self::Options(option) => {
                let words = places.iter().map(|p| format!("{option} {}", quote(p)));
                join(words.collect(), " ")
            }
            Self::Commas => join(places.iter().cloned().collect(), ","),
            Self::Blanks => join(places.iter().cloned().collect(), " "),
            Self::Regex(before, after) => {
                let inner = join(each(regex::escape), "|");
                quote(&format!("{before}{inner}{after}"))
            }
        }
    }
}

/// The plan's tests narrowed to these alone, where their runner can; otherwise to their places.
pub(crate) fn single(plan: &EnvironmentPlan, wanted: &[Wanted<'_>]) -> Result<Narrowed, String> {
    narrowed(plan, wanted, |runner| runner.singles).or_else(|_| narrow(plan, wanted))
}

/// The plan's tests narrowed to the places of these; the reason where that cannot be done.
pub(crate) fn narrow(plan: &EnvironmentPlan, wanted: &[Wanted<'_>]) -> Result<Narrowed, String> {
    narrowed(plan, wanted, |runner| runner.narrowings)
}

fn narrowed(
    plan: &EnvironmentPlan,
    wanted: &[Wanted<'_>],
    of: fn(&Known) -> &'static [Narrowing],
) -> Result<Narrowed, String> {
    /// The most bytes of a selection: kernels limit a word of a command and a variable.
    const MOST: usize = 60_000;
    let parser = plan.log_parser_name.as_str();
    let known: Vec<&Narrowing> = RUNNERS
        .iter()
        .flat_map(of)
        .filter(|narrowing| narrowing.parsers.contains(&parser))
        .collect();
    let Some(first) = known.first() else {
        return Err(format!(
            "no way is known to run a part of the tests of `{parser}`"
        ));
    };
    let mut places = BTreeSet::new();
    for test in wanted {
        let Some(place) = (first.place)(test) else {
            return Err(format!("nothing tells where `{}` is", test.name));
        };
        places.insert(place);
    }
    let edited = known
        .iter()
        .find_map(|narrowing| edit(plan, narrowing.edits, &narrowing.spelling.write(&places)))
        .filter(|edited| edited.test_cmd.len() + edited.prelude.len() < MOST)
        .ok_or_else(|| {
            format!(
                "the test command has no place for a selection: `{}`",
                plan.test_cmd
            )
        })?;
    let mut plan = plan.clone();
    plan.test_cmd = edited.test_cmd;
    plan.env.extend(edited.env.clone());
    Ok(Narrowed {
        plan,
        env: edited.env,
        prelude: edited.prelude,
        files: edited
            .files
            .into_iter()
            .map(|(name, text)| JobFile {
                name: name.to_owned(),
                bytes: text.into(),
            })
            .collect(),
        scope: places.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Narrowed, Touched, Wanted, narrow, scoped, single};
    use atlas_core::{EnvironmentPlan, TestScopeLevel};

    fn plan(parser: &str, test_cmd: &str) -> EnvironmentPlan {
        EnvironmentPlan {
            log_parser_name: parser.to_owned(),
            test_cmd: test_cmd.to_owned(),
            ..EnvironmentPlan::default()
        }
    }

    fn test<'a>(name: &'a str, qualified: &'a str, module: &'a str) -> Wanted<'a> {
        Wanted {
            name,
            qualified,
            module,
            file: None,
        }
    }

    /// Commands as analysis writes them, a test, and the command and what stands before it.
    #[test]
    fn a_part_of_the_tests_by_runner() {
        let jest = "export PATH=\"$PWD/node_modules/.bin:$PATH\"; jest --ci --json --outputFile=\"$ATLAS_OUT/jest.json\"";
        let cargo = "bash \"$ATLAS_ENV/toolbox/cargo-test-each\" --features std";
        let ruby = "bundle exec ruby -I lib \"$ATLAS_ENV/toolbox/load.rb\" 'test/**/*_test.rb' -- -v --seed=0";
        for (parser, command, (name, qualified, module), wanted) in [
            (
                "pytest",
                "python -m pytest -rA tests",
                ("tests/test_a.py::test_x[1]", "", ""),
                "export ATLAS_ONLY=tests/test_a.py ",
            ),
            (
                "unittest",
                "python -m unittest discover -v",
                ("test_x (t.A.test_x)", "t.A.test_x", "t"),
                "-m unittest discover -k t.A -v",
            ),
            (
                "gotest",
                "go test -count=1 -v ./...",
                ("TestX/sub", "", "example.com/m/alpha"),
                "go test -count=1 -v example.com/m/alpha",
            ),
            (
                "jest",
                jest,
                ("A > b", "", "src/a.test.js"),
                "jest --testPathIgnorePatterns='^(?!.*/(?:src/a\\.test\\.js)$).*$' --ci --json",
            ),
            (
                "vitest",
                "vitest run --reporter=verbose",
                ("src/a.test.ts > b", "", "src/a.test.ts"),
                "vitest run src/a.test.ts --reporter=verbose",
            ),
            (
                "mocha",
                "mocha --reporter spec",
                ("A > does it", "", ""),
                "mocha --grep '^(?:A does it)$' --reporter spec",
            ),
            (
                "tap",
                "export PATH=x; tap --reporter=tap --no-coverage",
                ("test/a.js > b", "", "test/a.js"),
                "; tap --reporter=tap --no-coverage test/a.js",
            ),
            (
                "cargo",
                cargo,
                ("tests::adds", "", "m"),
                "--features std -- tests::adds",
            ),
            (
                "cargo",
                "bash \"$ATLAS_ENV/toolbox/cargo-test-each\" -- --test-threads=1",
                ("adds", "", "m"),
                " -- adds --test-threads=1",
            ),
            (
                "minitest",
                ruby,
                ("TestA#test_x", "", "TestA"),
                " -- -n '/^(?:TestA)#/' -v --seed=0",
            ),
            // A console that groups classes below those they inherit from.
            (
                "testunit",
                ruby,
                ("App::Case::TestA::test_x", "", "App::Case::TestA"),
                " -- -t '/(?:^|::)(?:TestA)$/' -v",
            ),
            (
                "phpunit",
                "php -d memory_limit=-1 \"$ATLAS_ENV/phpunit/vendor/bin/phpunit\" --teamcity",
                ("A\\BTest::testX", "", ""),
                "bin/phpunit\" --filter '/^(?:A\\\\BTest)::/' --teamcity",
            ),
            (
                "maven",
                "mvn -o $MAVEN_CHECKS_OFF test",
                ("com.example.Calc$In.adds(int)[1]", "", ""),
                "export MAVEN_CHECKS_OFF=\"-Dtest=Calc -DfailIfNoTests=false",
            ),
        ] {
            let made = narrow(&plan(parser, command), &[test(name, qualified, module)]).unwrap();
            let (reruns, _, _) = made.reruns(1);
            let text = format!("{}{}", reruns[0].prelude, reruns[0].test_cmd);
            assert!(text.contains(wanted), "{parser}: {text}");
        }
    }

    #[test]
    fn what_cannot_be_narrowed_says_why() {
        let made = |parser: &str, command: &str, name| {
            narrow(&plan(parser, command), &[test(name, "", "")]).unwrap_err()
        };
        assert!(made("automake", "make check", "a").contains("`automake`"));
        assert!(made("gotest", "make test", "TestA").contains("`TestA`"));
        let cargo = plan("cargo", "bash \"$ATLAS_ENV/toolbox/cargo-test-each\"");
        let one = test("TestA#test_x/y", "", "TestA");
        let command =
            "bundle exec ruby \"$ATLAS_ENV/toolbox/load.rb\" 'test/**/*_test.rb' -- -v --seed=0";
        let alone = single(&plan("minitest", command), &[one]).unwrap();
        assert!(
            alone
                .plan
                .test_cmd
                .contains(" -- -n '/^(?:TestA\\#test_x/y)$/' -v"),
            "{}",
            alone.plan.test_cmd
        );
        let program = narrow(&cargo, &[test("url_wpt", "url_wpt", "url_wpt")]);
        assert!(program.unwrap_err().contains("`url_wpt`"));
        // Which files the command itself names, only its shell knows.
        let tap = plan("tap", "tap --reporter=tap test/*.js");
        let file = narrow(&tap, &[test("test/a.js", "", "test/a.js")]);
        assert!(file.unwrap_err().contains("`tap --reporter"));
        assert!(made("mocha", "npm test", "A > b").contains("`npm test`"));
        assert!(made("maven", "mvn test", "adds two numbers").contains("adds two numbers"));
    }

    #[test]
    fn a_file_alone_stands_before_no_title_of_ava_s() {
        let narrowed = |parser: &str, scope: &[&str]| Narrowed {
            plan: plan(parser, ""),
            scope: scope.iter().map(|path| (*path).to_owned()).collect(),
            ..Narrowed::default()
        };
        let alone = narrowed("ava", &["test/abort.test.ts"]);
        assert_eq!(
            alone.name("abort › stops › at once"),
            Some("stops › at once")
        );
        assert_eq!(alone.name("stream › stops"), None);
        let two = narrowed("ava", &["test/abort.ts", "test/b.ts"]);
        assert_eq!(two.name("abort › stops"), None);
        assert_eq!(
            narrowed("tap", &["test/abort.ts"]).name("abort › stops"),
            None
        );
    }

    #[test]
    fn files_that_are_touched_are_a_part_where_no_test_has_a_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a_test.cpp"), "").unwrap();
        let decision = atlas_source::SplitDecision {
            path: "a_test.cpp".to_owned(),
            side: atlas_source::Side::Test,
            rule: String::new(),
            evidence: String::new(),
        };
        let touched = Touched::new(folder.path(), &[decision]);
        let plan = plan(
            "ctest+check",
            "bash \"$ATLAS_ENV/toolbox/ctest.sh\" split .",
        );
        assert!(narrow(&plan, &[test("a", "", "")]).is_err());
        let made = Narrowed::touched(&plan, &touched).unwrap();
        assert_eq!(made.scope, ["a_test.cpp"]);
        let (reruns, _, _) = made.reruns(2);
        assert_eq!(reruns[1].prelude, "export ATLAS_TESTS=\"a_test.cpp\"\n");
        assert_eq!(reruns[1].test_cmd, plan.test_cmd);
        let part = scoped(&plan, &touched, TestScopeLevel::Touched).unwrap();
        assert!(Narrowed::touched(&part, &touched).is_err());
    }

    #[test]
    fn the_last_of_several_runs_is_in_another_order_over_the_same_part() {
        let tests = [test("t/test_a.py::test_x", "", "")];
        let made = narrow(&plan("pytest", "pytest"), &tests).unwrap();
        let (reruns, files, order) = made.reruns(3);
        assert_eq!(reruns[0], reruns[1]);
        assert!(
            reruns[2].prelude.contains("atlas_only") && reruns[2].prelude.contains("atlas_order")
        );
        assert!(!reruns[0].prelude.contains("atlas_order"));
        assert_eq!((files.len(), order), (2, Some("reverse")));
        let (reruns, _, order) = Narrowed::whole(&plan("mocha", "mocha")).reruns(3);
        assert_eq!((reruns.len(), order), (3, None));
    }
}
