//! A row as something that can be run and graded.

use super::script;
use crate::own_parser::{ParserOrigin, parser_of_row};
use crate::synth::ParserFile;
use atlas_core::{Instance, InstanceError, InstanceId, Patch, TestIds, TestList};
use atlas_formats::{RowLists, read_literal};

/// What of a row an evaluation needs.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) id: InstanceId,
    /// The row; where nothing is to be run, its name alone.
    pub(super) row: Instance,
    pub(super) repo: String,
    pub(super) version: String,
    pub(super) language: String,
    /// The image to run, by name; empty where nothing is to be run.
    pub(super) image: String,
    /// The whole script of the harness, and where it comes from; a reason where there is none. Empty where
    /// nothing is to be run.
    pub(super) script: Result<String, String>,
    /// The reader's name as the row has it.
    pub(super) log_parser: String,
    /// The parser that the row brings along.
    pub(super) own: Option<(ParserFile, ParserOrigin)>,
    /// The reader's name for SWE-Bench++; empty where the row says none of its own.
    pub(super) plus_plus_parser: String,
    pub(super) fails_only: bool,
    pub(super) gold_patch: Patch,
    pub(super) test_patch: Patch,
    pub(super) fail_to_pass: TestList,
    pub(super) pass_to_pass: TestList,
}

impl Subject {
    /// Columns that hold lists of tests.
    pub(super) const LISTS: [&'static str; 4] = [
        "FAIL_TO_PASS",
        "fail_to_pass",
        "PASS_TO_PASS",
        "pass_to_pass",
    ];

    /// Reads a row of any schema of the SWE-bench family.
    pub(super) fn read(row: Instance) -> Result<Self, InstanceError> {
        Self::read_beside(row, &RowLists::default())
    }

    /// The same of a row whose lists of tests may stand beside it.
    pub(super) fn read_beside(row: Instance, lists: &RowLists) -> Result<Self, InstanceError> {
        let id = row.id()?;
        let first = |columns: &[&str]| -> Result<Option<String>, InstanceError> {
            for column in columns {
                if let Some(text) = row.text(column)? {
                    return Ok(Some(text.to_owned()));
                }
            }
            Ok(None)
        };
        let base = row.required("base_commit")?.to_owned();
        let language = first(&["language"])?.unwrap_or_default();
        let test_patch = row.test_patch()?;
        let config = script::plus_plus_config(row.as_map());
        let named = config
            .as_ref()
            .and_then(|config| config["log_parser_name"].as_str().map(str::to_owned));
        let plus_plus_parser = named.clone().unwrap_or_default();
        let log_parser = first(&["log_parser"])?.or(named).unwrap_or_default();
        let image = match first(&["image", "image_name", "docker_image"])? {
            Some(image) => image,
            None => format!(
                "sweb.eval.{}.{}:latest",
                if cfg!(target_arch = "aarch64") {
                    "arm64"
                } else {
                    "x86_64"
                },
                id.as_str().to_lowercase()
            ),
        };
        let script = match (first(&["eval_script"])?, &config) {
            (Some(script), _) if !script.trim().is_empty() => Ok(script),
            (_, Some(config)) => script::plus_plus_script(config, &language, &base, &test_patch),
            _ => Err(
                "the row has neither `eval_script` nor `environment_config`: nothing says how its \
                 tests run; convert the dataset, or take one of version 5 of SWE-bench"
                    .to_owned(),
            ),
        };
        let list = |names: &[&str]| -> Result<TestList, InstanceError> {
            let mut found = TestList::default();
            for name in names {
                if found.ids.is_empty() {
                    found = match lists.get(name) {
                        Some(list) => list.clone(),
                        None => tests(&row, name)?,
                    };
                }
            }
            Ok(found)
        };
        Ok(Self {
            repo: first(&["repo"])?.unwrap_or_default(),
            version: first(&["version"])?.unwrap_or_else(|| {
                let number = id.as_str().rsplit('-').next();
                number.unwrap_or_default().to_owned()
            }),
            own: parser_of_row(row.as_map()).map_err(|why| InstanceError::Wrong {
                column: "atlas".to_owned(),
                why,
            })?,
            fails_only: first(&["eval_type"])?.as_deref() == Some("fail_only"),
            gold_patch: Patch::new(first(&["patch", "gold_patch"])?.unwrap_or_default()),
            fail_to_pass: list(&Self::LISTS[..2])?,
            pass_to_pass: list(&Self::LISTS[2..])?,
            row,
            id,
            language,
            image,
            script,
            log_parser,
            plus_plus_parser,
            test_patch,
        })
    }

    /// Drops what only a run needs: of a dataset that is most of its memory.
    pub(super) fn forget_how_to_run(&mut self) {
        self.row = Instance::new(&self.id);
        self.image = String::new();
        self.script = Ok(String::new());
        self.test_patch = Patch::default();
    }

    /// Atlas's own parser for the row's reader; `auto` where its name tells nothing.
    pub(super) fn parser(&self) -> String {
        let own = atlas_parsers::Parsers::builtin();
        let name = self.log_parser.trim_start_matches("parse_log_");
        let known = [
            ("parse_ci_log", "maven"),
            ("googletest", "gtest"),
            ("ruby_unit", "test-unit"),
            ("mocha_v2", "mocha"),
        ];
        let renamed = known
            .iter()
            .find(|(theirs, _)| *theirs == name)
            .map(|(_, ours)| *ours);
        let pytest = [
            "pytest_options",
            "pytest_v2",
            "astroid",
            "flask",
            "marshmallow",
            "pvlib",
            "pyvista",
            "sqlfluff",
            "xarray",
            "pydicom",
            "requests",
            "pylint",
            "astropy",
            "scikit",
            "sphinx",
            "matplotlib",
            "seaborn",
        ];
        for candidate in [name]
            .into_iter()
            .chain(renamed)
            .chain(pytest.contains(&name).then_some("pytest"))
        {
            if own.get(candidate).is_ok() {
                return candidate.to_owned();
            }
        }
        "auto".to_owned()
    }
}

/// A list of tests: as the field writes it, or as Python prints one, which SWE-Bench++ and SWE-bench Pro read.
fn tests(row: &Instance, column: &str) -> Result<TestList, InstanceError> {
    let why = match row.tests(column) {
        Ok(list) => return Ok(list),
        Err(why) => why,
    };
    let literal = row.text(column).ok().flatten().map(read_literal);
    let ids = literal.and_then(Result::ok).and_then(|value| {
        let items = value.as_array()?.iter();
        items
            .map(serde_json::Value::as_str)
            .collect::<Option<TestIds>>()
    });
    ids.map(TestList::encoded).ok_or(why)
}
