//! `report.json` of one instance.

use super::json;
use crate::Graded;
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One instance's `report.json`: an object with one key, the instance's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceReport {
    /// The instance.
    pub instance_id: String,
    /// What is said of it.
    pub body: ReportBody,
}

/// What a harness writes of an instance. Fields that only some harnesses know are absent elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportBody {
    /// Whether the prediction's patch is null.
    #[serde(rename = "patch_is_None", default)]
    pub patch_is_none: bool,
    /// Whether it is not; an empty text exists.
    #[serde(default)]
    pub patch_exists: bool,
    /// Whether the log could be graded, whatever the name says.
    #[serde(default)]
    pub patch_successfully_applied: bool,
    /// The verdict.
    pub resolved: bool,
    /// SWE-bench 5: whether an ungradable log shows that the environment broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_failure: Option<bool>,
    /// SWE-bench 5: the reason that an ungradable log gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_failure_reason: Option<String>,
    /// SWE-Bench++: `RESOLVED`, `UNSOLVED`, `EMPTY_PATCH`, `SYSTEM_ERROR`, `APPLY_PATCH_FAILED`,
    /// `TEST_ERROR` or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The lists, where there is something to say of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_status: Option<TestsStatus>,
    /// Fields of others, kept; they are written last.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The four lists of a report. A test in neither part of its list had a status that the harness does
/// not know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestsStatus {
    /// The tests that define the task.
    #[serde(rename = "FAIL_TO_PASS", default)]
    pub fail_to_pass: Graded,
    /// The tests that guard the rest.
    #[serde(rename = "PASS_TO_PASS", default)]
    pub pass_to_pass: Graded,
    /// Always empty in what the harnesses write.
    #[serde(rename = "FAIL_TO_FAIL", default)]
    pub fail_to_fail: Graded,
    /// Always empty in what the harnesses write.
    #[serde(rename = "PASS_TO_FAIL", default)]
    pub pass_to_fail: Graded,
}

impl InstanceReport {
    /// The bytes of the file, equal to what the harnesses write: four spaces a level, ASCII, no line
    /// end.
    pub fn to_json_bytes(&self) -> Vec<u8> {
        json::to_bytes(self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is no object with one instance in it, with line and column where JSON itself is wrong.
    pub fn from_json_bytes(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

impl Serialize for InstanceReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.instance_id, &self.body)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for InstanceReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut found = BTreeMap::<String, ReportBody>::deserialize(deserializer)?;
        match (found.pop_first(), found.len()) {
            (Some((instance_id, body)), 0) => Ok(Self { instance_id, body }),
            (None, _) => Err(D::Error::custom("a report names no instance")),
            (Some(_), more) => Err(D::Error::custom(format!(
                "a report of one instance expected, {} found: read them one by one",
                more + 1
            ))),
        }
    }
}
