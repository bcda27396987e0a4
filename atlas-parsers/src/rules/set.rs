//! The rule set as it stands in a file.

use atlas_core::TestStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How to read one runner's log, as data: no code, read in linear time.
///
/// Every pattern is a regular expression of the `regex` crate (no look-around, no back-references)
/// and must match a **whole** line, colours removed. Groups are named, `(?P<id>…)`.
///
/// ```
/// use atlas_core::{LogParserExt, TestStatus};
/// let rules = atlas_parsers::RuleSet::from_json(r#"{
///     "schema_version": 1, "id": "tiny",
///     "statuses": {"OK": "PASSED", "ERR": "FAILED"},
///     "lines": [{"name": "result", "pattern": "(?P<id>\\S+) (?P<status>OK|ERR)"}],
///     "totals": [{"name": "end", "pattern": "(?P<total>\\d+) run", "per": "run"}]
/// }"#)?;
/// let parser = rules.compile()?;
/// let log = parser.parse(b"a-1 OK\na-2 ERR\n2 run\n");
/// assert_eq!(log.tests()["a-2"], TestStatus::Failed);
/// assert_eq!(log.consistent, Some(true));
/// # Ok::<(), atlas_parsers::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSet {
    /// Version of this form: 1.
    pub schema_version: u32,
    /// The parser's id: small letters, digits, `-` and `_`.
    pub id: String,
    /// What it reads, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reads: String,
    /// The runner's words for outcomes, exactly as the group `status` has them. A word that is not
    /// here is warned of and never passes a test.
    #[serde(default)]
    pub statuses: BTreeMap<String, TestStatus>,
    /// Lines that announce tests or tell results; the first that matches takes the line.
    pub lines: Vec<LineRule>,
    /// Lines that open a suite: its name stands in front of the tests below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<SuiteRule>,
    /// Lists at the end of a run that name failed tests again, or only there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionRule>,
    /// Lines with the runner's own counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub totals: Vec<TotalsRule>,
    /// Lines and blocks that hold no results, whatever they look like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<IgnoreRule>,
    /// Lines that tell how the run goes.
    #[serde(default, skip_serializing_if = "Markers::is_empty")]
    pub markers: Markers,
    /// What stands between suite and test in a qualified id. Default ` > `.
    #[serde(default = "separator", skip_serializing_if = "is_separator")]
    pub separator: String,
    /// Patterns of what is cut out of ids, wherever it stands in them: timings, addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strip: Vec<String>,
}

/// One kind of line about a test.
///
/// With `id` and a status (`status` group or field) it is a result. With `id` alone it announces a
/// test. With a status alone it is the result of the test that was announced last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineRule {
    /// The rule's name, for messages.
    pub name: String,
    /// Groups: `id`, `status`, `suite`, `time`, `message`; the last two are not kept.
    pub pattern: String,
    /// The status of all such lines, instead of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TestStatus>,
    /// For announcements of a runner that says nothing of a test that passes: the status of a test
    /// about which nothing was said until the next one, the end of its suite or the totals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<TestStatus>,
}

/// A header line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteRule {
    /// The rule's name, for messages.
    pub name: String,
    /// The line that opens a suite; group `suite`.
    pub begin: String,
    /// The line that closes it. Without, the next header does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// A block whose entries name tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionRule {
    /// The rule's name, for messages.
    pub name: String,
    /// Its first line.
    pub begin: String,
    /// Its last line. Without, it ends with the totals, an end marker or the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// A line in it that names a test; groups `id`, and perhaps `suite`.
    pub entry: String,
    /// What an entry says of its test. The worst of this and what was read before counts.
    #[serde(default = "failed")]
    pub status: TestStatus,
}

/// Whose counts a totals line has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// The whole run's: of several such lines the last one counts.
    #[default]
    Run,
    /// One suite's or file's: they are added up.
    Suite,
}

/// A line with counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TotalsRule {
    /// The rule's name, for messages.
    pub name: String,
    /// Groups, each a number: `total`, `passed`, `failed`, `errors`, `skipped`, `xfailed`,
    /// `xpassed`.
    pub pattern: String,
    /// Whose counts.
    #[serde(default)]
    pub per: Per,
}

/// What holds no results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IgnoreRule {
    /// The rule's name, for messages.
    pub name: String,
    /// The line, or the first line of a block.
    pub begin: String,
    /// The block's last line. Without, only the first line is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// Lines that tell how a run goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Markers {
    /// The run begins. Where there are such patterns, nothing outside a run counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<String>,
    /// The runner came to its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub end: Vec<String>,
    /// Something could not be built, loaded or collected. A group `suite` says what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub build_failed: Vec<String>,
    /// The process died.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crashed: Vec<String>,
    /// The runner's own time limit ended the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timed_out: Vec<String>,
}

impl Markers {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn separator() -> String {
    " > ".to_owned()
}

fn is_separator(text: &str) -> bool {
    text == separator()
}

fn failed() -> TestStatus {
    TestStatus::Failed
}

impl RuleSet {
    /// The version of the form that this code reads and writes.
    pub const SCHEMA_VERSION: u32 = 1;

    /// The JSON schema of a rule set, as a model is given it.
    pub fn json_schema() -> Value {
        let text = json!({"type": "string"});
        let status = json!({"type": "string", "enum": TestStatus::ALL.map(TestStatus::as_str)});
        let list = |item: Value| json!({"type": "array", "items": item});
        let object = |fields: Value, required: Value| json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false});
        object(
            json!({
                "schema_version": {"type": "integer", "const": Self::SCHEMA_VERSION},
                "id": text,
                "reads": text,
                "statuses": {"type": "object", "additionalProperties": status},
                "lines": list(object(
                    json!({"name": text, "pattern": text, "status": status, "otherwise": status}),
                    json!(["name", "pattern"]),
                )),
                "suites": list(object(
                    json!({"name": text, "begin": text, "end": text}),
                    json!(["name", "begin"]),
                )),
                "sections": list(object(
                    json!({"name": text, "begin": text, "end": text, "entry": text, "status": status}),
                    json!(["name", "begin", "entry"]),
                )),
                "totals": list(object(
                    json!({"name": text, "pattern": text, "per": {"type": "string", "enum": ["run", "suite"]}}),
                    json!(["name", "pattern"]),
                )),
                "ignore": list(object(
                    json!({"name": text, "begin": text, "end": text}),
                    json!(["name", "begin"]),
                )),
                "markers": object(
                    json!({
                        "start": list(text.clone()), "end": list(text.clone()),
                        "build_failed": list(text.clone()), "crashed": list(text.clone()),
                        "timed_out": list(text.clone()),
                    }),
                    json!([]),
                ),
                "separator": text,
                "strip": list(text.clone()),
            }),
            json!(["schema_version", "id", "statuses", "lines"]),
        )
    }
}
