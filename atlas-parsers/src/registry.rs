//! The table of parsers.

use crate::front::Fronted;
use crate::merge::Several;
use crate::runner::Runner;
use atlas_core::LogParser;
use std::sync::Arc;

/// Every parser shipped with this crate: one line a folder.
pub const BUILTIN: &[&dyn Runner] = &[
    // Any language
    &crate::common::junit::JUNIT,
    &crate::common::nunitxml::NUNITXML,
    &crate::common::tap::TAP,
    &crate::common::trx::TRX,
    // Python
    &crate::python::pytest::PYTEST,
    &crate::python::unittest::UNITTEST,
    &crate::python::django::DJANGO,
    &crate::python::sympy::SYMPY,
    &crate::python::trial::TRIAL,
    &crate::python::stestr::STESTR,
    // JavaScript and TypeScript
    &crate::javascript::ava::AVA,
    &crate::javascript::bun::BUN,
    &crate::javascript::cypress::CYPRESS,
    &crate::javascript::deno::DENO,
    &crate::javascript::jasmine::JASMINE,
    &crate::javascript::jest::JEST,
    &crate::javascript::karma::KARMA,
    &crate::javascript::lab::LAB,
    &crate::javascript::mocha::Mocha,
    &crate::javascript::nodetest::NODETEST,
    &crate::javascript::playwright::PLAYWRIGHT,
    &crate::javascript::tape::TAPE,
    &crate::javascript::uvu::UVU,
    &crate::javascript::vitest::VITEST,
    // Java
    &crate::java::ant::ANT,
    &crate::java::gradle::GRADLE,
    &crate::java::junitconsole::JUNITCONSOLE,
    &crate::java::maven::MAVEN,
    // Go
    &crate::go::gotest::GOTEST,
    &crate::go::gotestsum::GOTESTSUM,
    // Rust
    &crate::rust::cargo::CARGO,
    &crate::rust::nextest::NEXTEST,
    // Ruby
    &crate::ruby::cucumber::CUCUMBER,
    &crate::ruby::minitest::MINITEST,
    &crate::ruby::rspec::RSPEC,
    &crate::ruby::testunit::TESTUNIT,
    // PHP
    &crate::php::nettetester::NETTETESTER,
    &crate::php::phpunit::PHPUNIT,
    // C and C++
    &crate::cpp::automake::AUTOMAKE,
    &crate::cpp::check::CHECK,
    &crate::cpp::cmocka::CMOCKA,
    &crate::cpp::ctest::CTEST,
    &crate::cpp::cunit::CUNIT,
    &crate::cpp::meson::MESON,
    &crate::cpp::unity::UNITY,
    &crate::cpp::boost::BOOST,
    &crate::cpp::catch2::CATCH2,
    &crate::cpp::cppunit::CPPUNIT,
    &crate::cpp::doctest::DOCTEST,
    &crate::cpp::gtest::GTEST,
    &crate::cpp::handmade::HANDMADE,
    // C#
    &crate::csharp::dotnet::DOTNET,
    &crate::csharp::nunit2::NUNIT2,
    &crate::csharp::nunit3::NUNIT3,
    &crate::csharp::xunit::XUNIT,
    // Shell and Perl
    &crate::shell::bats::BATS,
    &crate::shell::prove::PROVE,
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
