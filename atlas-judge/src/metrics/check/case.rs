//! One case: which of its fields are input, which are expected, and whether those agree.

use super::{CheckReport, Difference, Fault, Quantity};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A case while its quantity reads it.
pub(super) struct Case<'a> {
    at: usize,
    fields: &'a Map<String, Value>,
    read: BTreeSet<String>,
    found: BTreeMap<String, Value>,
}

impl<'a> Case<'a> {
    /// Evaluates one case into the report.
    pub(super) fn check(
        at: usize,
        case: &'a Value,
        quantity: Quantity,
        tolerance: f64,
        report: &mut CheckReport,
    ) {
        let fault = |field: Option<&str>, message: &str| Fault {
            case: Some(at),
            field: field.map(str::to_owned),
            message: message.to_owned(),
        };
        let Some(fields) = case.as_object() else {
            report.faults.push(fault(None, "a case must be an object"));
            return;
        };
        let mut case = Case {
            at,
            fields,
            read: BTreeSet::new(),
            found: BTreeMap::new(),
        };
        if let Err(why) = quantity(&mut case) {
            report.faults.push(why);
            return;
        }
        let mut compared = 0;
        for (name, expected) in fields {
            if let Some(got) = case.found.get(name) {
                let mut compare = Compare {
                    case: at,
                    tolerance,
                    report,
                };
                compare.values(name, expected, got);
                compared += 1;
            } else if !case.read.contains(name) {
                let message = "not known for this quantity: neither input nor expected";
                report.faults.push(fault(Some(name), message));
            }
        }
        if compared == 0 {
            report.faults.push(fault(None, "the case expects nothing"));
        }
        report.fields += compared;
    }

    /// The names of all fields.
    pub(super) fn names(&self) -> Vec<&'a str> {
        self.fields.keys().map(String::as_str).collect()
    }

    /// A field of the input.
    pub(super) fn input<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, Fault> {
        self.read.insert(name.to_owned());
        let value = self.fields.get(name).unwrap_or(&Value::Null);
        T::deserialize(value).map_err(|why| self.fault(name, format!("input: {why}")))
    }

    /// A field that the file quotes and that nothing is computed from, such as a row's name.
    pub(super) fn quoted(&mut self, name: &str) {
        self.read.insert(name.to_owned());
    }

    /// The stored value of an expected field, where its own form says what is asked for.
    pub(super) fn expected(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name)
    }

    /// A computed value.
    pub(super) fn found(&mut self, name: &str, value: impl Into<Value>) {
        self.found.insert(name.to_owned(), value.into());
    }

    pub(super) fn fault(&self, field: &str, message: impl Into<String>) -> Fault {
        Fault {
            case: Some(self.at),
            field: Some(field.to_owned()),
            message: message.into(),
        }
    }
}

/// Lays a stored and a computed value side by side.
struct Compare<'a> {
    case: usize,
    tolerance: f64,
    report: &'a mut CheckReport,
}

impl Compare<'_> {
    fn values(&mut self, field: &str, expected: &Value, got: &Value) {
        match (expected, got) {
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (at, (a, b)) in a.iter().zip(b).enumerate() {
                    self.values(&format!("{field}[{at}]"), a, b);
                }
            }
            (Value::Object(a), Value::Object(b)) => {
                let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
                for key in keys {
                    let field = format!("{field}.{key}");
                    match (a.get(key), b.get(key)) {
                        (Some(a), Some(b)) => self.values(&field, a, b),
                        (a, b) => self.differ(
                            &field,
                            a.cloned().unwrap_or_else(|| "absent".into()),
                            b.cloned().unwrap_or_else(|| "absent".into()),
                        ),
                    }
                }
            }
            (Value::Number(a), Value::Number(b)) => {
                let error = match (a.as_f64(), b.as_f64()) {
                    (Some(a), Some(b)) => (a - b).abs(),
                    _ => f64::INFINITY,
                };
                if error <= self.tolerance {
                    self.report.largest_error = self.report.largest_error.max(error);
                } else {
                    self.differ(field, expected.clone(), got.clone());
                }
            }
            (a, b) if a == b => {}
            (a, b) => self.differ(field, a.clone(), b.clone()),
        }
    }

    fn differ(&mut self, field: &str, expected: Value, got: Value) {
        self.report.differences.push(Difference {
            case: self.case,
            field: field.to_owned(),
            expected,
            got,
        });
    }
}

/// Yes or no, written as such or as 1 and 0.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Flag(pub(super) bool);

impl TryFrom<Value> for Flag {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match (value.as_bool(), value.as_u64()) {
            (Some(flag), _) => Ok(Self(flag)),
            (None, Some(number @ (0 | 1))) => Ok(Self(number == 1)),
            _ => Err(format!("`{value}` is none of true, false, 1, 0")),
        }
    }
}

/// A number at the end of a field's name, with `_` as its point: `attempt_tau_0_5`.
pub(super) fn number_of(name: &str, prefix: &str) -> Option<f64> {
    let number = name.strip_prefix(prefix)?;
    let plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'_');
    number.replace('_', ".").parse().ok().filter(|_| plain)
}
