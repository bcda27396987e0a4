//! A row as something that can be run and graded.

use super::input::Keep;
use super::script;
use crate::own_parser::{ParserOrigin, absent_parser_of_row, parser_of_row};
use crate::synth::ParserFile;
use atlas_core::{Instance, InstanceError, InstanceId, Patch, TestIds, TestList};
use atlas_formats::{PlainRow, RowLists, read_literal};

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
    /// The parser that nobody but the row's maker has, where such a one reads its logs.
    pub(super) absent_parser: Option<String>,
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

    /// Columns that say more than their text, of a parser or of how tests run.
    const STRUCTURED: [&'static str; 7] = [
        "_atlas_source",
        "atlas",
        "environment_config",
        "install_config",
        "log_parser_code",
        "log_parser_name",
        "spec_dict",
    ];

    /// Reads a row of any schema of the SWE-bench family.
    pub(super) fn read(row: Instance) -> Result<Self, InstanceError> {
        Self::read_beside(row, &RowLists::default(), Keep::Rows)
    }

    /// The same of a row whose lists of tests may stand beside it.
    pub(super) fn read_beside(
        row: Instance,
        lists: &RowLists,
        keep: Keep,
    ) -> Result<Self, InstanceError> {
        let mut subject = Self::of(row.id()?, Columns::Any(&row), lists, keep)?;
        if keep == Keep::Rows {
            subject.row = row;
        }
        Ok(subject)
    }

    /// What a verdict needs of a row that is nothing but texts. Nothing where it must be read as a whole.
    pub(super) fn read_plain(row: &PlainRow<'_>) -> Option<Self> {
        let is_source = |parser: &str| parser.contains('\n');
        if Self::STRUCTURED.iter().any(|column| row.has(column))
            || row.text("log_parser")?.is_some_and(is_source)
        {
            return None;
        }
        let columns = Columns::Plain(row);
        Self::of(row.id().clone(), columns, row.lists(), Keep::Verdicts).ok()
    }

    /// The order in which columns are looked at decides which of several faults is told.
    fn of(
        id: InstanceId,
        row: Columns<'_>,
        lists: &RowLists,
        keep: Keep,
    ) -> Result<Self, InstanceError> {
        let first = |columns: &[&str]| -> Result<Option<&str>, InstanceError> {
            for column in columns {
                if let Some(text) = row.text(column)? {
                    return Ok(Some(text));
                }
            }
            Ok(None)
        };
        let require = |column: &str| {
            let is_there = row.has_text(column)?;
            let missing = || InstanceError::Missing(column.to_owned());
            is_there.then_some(()).ok_or_else(missing)
        };
        let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
        require("base_commit")?;
        let language = owned(first(&["language"])?);
        require("test_patch")?;
        let config = row.map().and_then(script::plus_plus_config);
        let named = config
            .as_ref()
            .and_then(|config| config["log_parser_name"].as_str());
        let log_parser = first(&["log_parser"])?.or(named);
        let image = first(&["image", "image_name", "docker_image"])?;
        row.has_text("eval_script")?;
        let mut subject = Self {
            repo: owned(first(&["repo"])?),
            version: match first(&["version"])? {
                Some(version) => version.to_owned(),
                None => owned(id.as_str().rsplit('-').next()),
            },
            own: match row.map() {
                Some(map) => parser_of_row(map).map_err(|why| InstanceError::Wrong {
                    column: "atlas".to_owned(),
                    why,
                })?,
                None => None,
            },
            absent_parser: row.map().and_then(absent_parser_of_row),
            fails_only: first(&["eval_type"])? == Some("fail_only"),
            gold_patch: Patch::new(first(&["patch", "gold_patch"])?.unwrap_or_default()),
            fail_to_pass: row.list(&Self::LISTS[..2], lists)?,
            pass_to_pass: row.list(&Self::LISTS[2..], lists)?,
            row: Instance::new(&id),
            id,
            language,
            image: String::new(),
            script: Ok(String::new()),
            log_parser: owned(log_parser),
            plus_plus_parser: owned(named),
            test_patch: Patch::default(),
        };
        if keep == Keep::Rows {
            subject.image = image.map_or_else(|| usual_image(&subject.id), str::to_owned);
            subject.test_patch = Patch::new(first(&["test_patch"])?.unwrap_or_default());
            let base = first(&["base_commit"])?.unwrap_or_default();
            subject.script = match (first(&["eval_script"])?, &config) {
                (Some(script), _) if !script.trim().is_empty() => Ok(script.to_owned()),
                (_, Some(config)) => {
                    script::plus_plus_script(config, &subject.language, base, &subject.test_patch)
                }
                _ => Err(
                    "the row has neither `eval_script` nor `environment_config`: nothing says how its \
                     tests run; convert the dataset, or take one of version 5 of SWE-bench"
                        .to_owned(),
                ),
            };
        }
        Ok(subject)
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

/// Where the columns of a row are looked up.
#[derive(Clone, Copy)]
enum Columns<'a> {
    Any(&'a Instance),
    Plain(&'a PlainRow<'a>),
}

impl<'a> Columns<'a> {
    /// A text column; absent or null is `None`.
    fn text(self, column: &str) -> Result<Option<&'a str>, InstanceError> {
        match self {
            Self::Any(row) => row.text(column),
            Self::Plain(row) => row
                .text(column)
                .ok_or_else(|| Self::no_text(column.to_owned())),
        }
    }

    /// Whether there is text in a column, which costs less to say than what it says.
    fn has_text(self, column: &str) -> Result<bool, InstanceError> {
        match self {
            Self::Any(row) => Ok(row.text(column)?.is_some()),
            Self::Plain(row) => row
                .has_text(column)
                .ok_or_else(|| Self::no_text(column.to_owned())),
        }
    }

    fn no_text(column: String) -> InstanceError {
        InstanceError::Wrong {
            column,
            why: "text expected".to_owned(),
        }
    }

    /// The row as an object, where its columns may hold objects.
    fn map(self) -> Option<&'a serde_json::Map<String, serde_json::Value>> {
        match self {
            Self::Any(row) => Some(row.as_map()),
            Self::Plain(_) => None,
        }
    }

    /// The first of these lists of tests that is not empty.
    fn list(self, names: &[&str], lists: &RowLists) -> Result<TestList, InstanceError> {
        let mut found = TestList::default();
        for name in names {
            if found.ids.is_empty() {
                found = match (lists.get(name), self) {
                    (Some(list), _) => list.clone(),
                    (None, Self::Any(row)) => tests(row, name)?,
                    // What a plain row has no list of is null there.
                    (None, Self::Plain(_)) => TestList::default(),
                };
            }
        }
        Ok(found)
    }
}

/// The name that the harness gives to the image of an instance.
fn usual_image(id: &InstanceId) -> String {
    let machine = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "x86_64"
    };
    format!("sweb.eval.{machine}.{}:latest", id.as_str().to_lowercase())
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

#[cfg(test)]
mod tests {
    use super::{Keep, Subject};
    use atlas_formats::{PlainRow, ReadOptions, Row, RowLists, map_plain_rows};

    #[test]
    fn a_plain_row_is_read_as_any_row() {
        let base = r#""instance_id":"a__b-7","base_commit":"c","test_patch":"t""#;
        // Whether each is plain enough, and its further columns.
        let rows = [
            (true, ""),
            (
                true,
                r#","repo":"a/b","version":"1.2","patch":"d\n","log_parser":"pytest""#,
            ),
            (
                true,
                r#","FAIL_TO_PASS":["a"],"PASS_TO_PASS":"[\"b\"]","fail_to_pass":["x"]"#,
            ),
            (
                true,
                r#","FAIL_TO_PASS":[],"fail_to_pass":["x"],"PASS_TO_PASS":null,"n":1"#,
            ),
            (
                true,
                r#","eval_type":"fail_only","language":"go","image":"i","eval_script":"s""#,
            ),
            (
                true,
                r#","gold_patch":"g","version":null,"log_parser":null"#,
            ),
            (false, r#","version":1"#),
            (false, r#","image":1"#),
            (false, r#","log_parser":"def parse(log):\n  return {}""#),
            (
                false,
                r#","environment_config":{"log_parser_name":"gtest","test_cmd":"x"}"#,
            ),
            (
                false,
                r#","environment_config":"{\"log_parser_name\":\"gtest\",\"test_cmd\":\"x\"}""#,
            ),
            (
                false,
                r#","log_parser_name":"custom","log_parser_code":"def parse(): pass""#,
            ),
            (false, r#","FAIL_TO_PASS":"['a']""#),
            (false, r#","atlas":null"#),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        for (is_plain, more) in rows {
            std::fs::write(&path, format!("{{{base}{more}}}\n")).unwrap();
            let read = |plain: bool| {
                let (mut found, faults) = map_plain_rows(
                    &path,
                    &ReadOptions::default(),
                    &Subject::LISTS,
                    |row: &PlainRow<'_>| {
                        let read = Subject::read_plain(row).filter(|_| plain)?;
                        Some((true, format!("{read:?}")))
                    },
                    |row: Row, lists: RowLists| {
                        let row = row.into_instance().unwrap();
                        let read = Subject::read_beside(row, &lists, Keep::Verdicts);
                        let read =
                            read.map_or_else(|why| format!("{why:?}"), |it| format!("{it:?}"));
                        (false, read)
                    },
                )
                .unwrap();
                assert!(faults.is_empty());
                found.remove(0)
            };
            let (of_plain, of_any) = (read(true), read(false));
            assert_eq!(of_plain.0, is_plain, "{more}");
            assert_eq!(of_plain.1, of_any.1, "{more}");
        }
    }
}
