//! The table of parsers.

use crate::front::Fronted;
use crate::merge::Several;
use crate::runner::Runner;
use atlas_core::LogParser;
use std::sync::Arc;

/// Every parser shipped with this crate: one line a folder.
pub const BUILTIN: &[&dyn Runner] = &[
    // Any language
    &crate::common::junit::Junit,
    &crate::common::nunitxml::NunitXml,
    &crate::common::tap::Tap,
    &crate::common::trx::Trx,
    // Python
    &crate::python::pytest::Pytest,
    &crate::python::unittest::Unittest,
    &crate::python::django::Django,
    &crate::python::sympy::Sympy,
    &crate::python::trial::Trial,
    &crate::python::stestr::Stestr,
    // JavaScript and TypeScript
    &crate::javascript::ava::Ava,
    &crate::javascript::bun::Bun,
    &crate::javascript::cypress::Cypress,
    &crate::javascript::deno::Deno,
    &crate::javascript::jasmine::Jasmine,
    &crate::javascript::jest::Jest,
    &crate::javascript::karma::Karma,
    &crate::javascript::lab::Lab,
    &crate::javascript::mocha::Mocha,
    &crate::javascript::nodetest::NodeTest,
    &crate::javascript::playwright::Playwright,
    &crate::javascript::tape::Tape,
    &crate::javascript::vitest::Vitest,
    // Java
    &crate::java::ant::Ant,
    &crate::java::gradle::Gradle,
    &crate::java::junitconsole::JunitConsole,
    &crate::java::maven::Maven,
    // Go
    &crate::go::gotest::GoTest,
    &crate::go::gotestsum::GoTestSum,
    // Rust
    &crate::rust::cargo::Cargo,
    &crate::rust::nextest::Nextest,
    // Ruby
    &crate::ruby::cucumber::Cucumber,
    &crate::ruby::minitest::Minitest,
    &crate::ruby::rspec::Rspec,
    &crate::ruby::testunit::TestUnit,
    // PHP
    &crate::php::nettetester::NetteTester,
    &crate::php::phpunit::Phpunit,
    // C and C++
    &crate::cpp::automake::Automake,
    &crate::cpp::check::Check,
    &crate::cpp::cmocka::Cmocka,
    &crate::cpp::ctest::Ctest,
    &crate::cpp::cunit::Cunit,
    &crate::cpp::meson::Meson,
    &crate::cpp::unity::Unity,
    &crate::cpp::boost::Boost,
    &crate::cpp::catch2::Catch2,
    &crate::cpp::cppunit::CppUnit,
    &crate::cpp::doctest::Doctest,
    &crate::cpp::gtest::Gtest,
    &crate::cpp::handmade::Handmade,
    // C#
    &crate::csharp::dotnet::DotNet,
    &crate::csharp::nunit2::NUnit2,
    &crate::csharp::nunit3::NUnit3,
    &crate::csharp::xunit::XUnit,
    // Shell and Perl
    &crate::shell::bats::Bats,
    &crate::shell::prove::Prove,
];

/// A set of parsers: the shipped ones and yours.
#[derive(Clone, Debug)]
pub struct Parsers {
    parsers: Vec<Arc<dyn LogParser>>,
    /// The ids of those that are not shipped.
    own: Vec<String>,
}

/// A parser id that no parser of the set bears.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown log parser `{id}`; known are: {}", known.join(", "))]
pub struct UnknownParser {
    /// What was asked for.
    pub id: String,
    /// What there is.
    pub known: Vec<String>,
}

impl Parsers {
    /// The shipped parsers.
    pub fn builtin() -> Self {
        Self {
            parsers: BUILTIN
                .iter()
                .map(|runner| Arc::new(*runner as &dyn LogParser) as Arc<dyn LogParser>)
                .collect(),
            own: Vec::new(),
        }
    }

    /// The same set with one more; the same id replaces.
    #[must_use]
    pub fn with(mut self, parser: impl LogParser + 'static) -> Self {
        self.own.push(parser.id().to_owned());
        self.parsers.retain(|known| known.id() != parser.id());
        self.parsers.push(Arc::new(parser));
        self
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.parsers.iter().map(LogParser::id)
    }

    /// The parser of that id, of several joined with `+` (`jest+mocha`, for a log that both printed),
    /// or of that [alias](crate::About::aliases); `parse_log_gotest`, the original
    /// harness's name, is read as `gotest`.
    ///
    /// A shipped parser reads raw logs of CI systems too, and those that were written on a terminal
    /// (`docs/parsers.md`); a parser of yours is given the log as it is.
    ///
    /// # Errors
    /// [`UnknownParser`] with the ids there are: an unknown name never falls back to another parser.
    pub fn get(&self, id: &str) -> Result<Arc<dyn LogParser>, UnknownParser> {
        let parser = self.bare(id)?;
        if self.own.iter().any(|own| own == parser.id()) {
            return Ok(parser);
        }
        Ok(Arc::new(Fronted(parser)))
    }

    /// The parser of that name, for logs as its runner printed them.
    pub(crate) fn bare(&self, id: &str) -> Result<Arc<dyn LogParser>, UnknownParser> {
        let short = id.strip_prefix("parse_log_").unwrap_or(id);
        let named = |id: &str| self.parsers.iter().find(|parser| parser.id() == id);
        let alias = || {
            let runner = BUILTIN
                .iter()
                .find(|runner| runner.about().aliases.contains(&short))?;
            named(runner.id())
        };
        named(short)
            .or_else(alias)
            .cloned()
            .or_else(|| {
                let several = Several::named(short, self)?;
                Some(Arc::new(several) as Arc<dyn LogParser>)
            })
            .ok_or_else(|| UnknownParser {
                id: id.to_owned(),
                known: self.ids().map(str::to_owned).collect(),
            })
    }
}

impl Default for Parsers {
    fn default() -> Self {
        Self::builtin()
    }
}
