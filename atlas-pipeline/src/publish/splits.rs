//! Which rows go into which split.

use crate::near::hint;
use atlas_core::{Error, ErrorKind, InstanceId};
use atlas_formats::{ReadOptions, Row, read_dataset};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How rows are put into splits; written as `atlas publish --split` takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub enum SplitRule {
    /// The instances that a file names, one a line or as a dataset, go into this split.
    File {
        /// The split.
        split: String,
        /// The file.
        file: PathBuf,
    },
    /// A split for each value of a column, such as `language`.
    By(String),
    /// All that no other rule takes go into this split.
    Rest(String),
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}`: NAME, NAME=FILE or by=COLUMN expected; a name has letters, digits and `_` alone and is not `by`"
)]
pub struct InvalidSplitRule(String);

impl FromStr for SplitRule {
    type Err = InvalidSplitRule;

    fn from_str(text: &str) -> Result<Self, InvalidSplitRule> {
        let wrong = || InvalidSplitRule(text.to_owned());
        match text.split_once('=') {
            Some(("by", column)) if !column.is_empty() => Ok(Self::By(column.to_owned())),
            Some((split, file)) if is_name(split) && split != "by" && !file.is_empty() => {
                Ok(Self::File {
                    split: split.to_owned(),
                    file: file.into(),
                })
            }
            None if is_name(text) && text != "by" => Ok(Self::Rest(text.to_owned())),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for SplitRule {
    type Error = InvalidSplitRule;

    fn try_from(text: String) -> Result<Self, InvalidSplitRule> {
        text.parse()
    }
}

impl From<SplitRule> for String {
    fn from(rule: SplitRule) -> Self {
        match rule {
            SplitRule::File { split, file } => format!("{split}={}", file.display()),
            SplitRule::By(column) => format!("by={column}"),
            SplitRule::Rest(split) => split,
        }
    }
}

/// A name that `datasets` takes for a split.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The split named for a value of a column.
fn name_of(value: &str) -> String {
    let spoken = value
        .to_lowercase()
        .replace("++", "pp")
        .replace('#', "sharp");
    let name: String = spoken
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    }
}

/// What splits are made by, of one row.
#[derive(Clone, Debug)]
pub(super) struct SplitRow {
    id: InstanceId,
    /// Those of the rules' columns that the row has, as text.
    columns: Vec<(String, String)>,
}

impl SplitRow {
    pub(super) fn of(row: &Row, rules: &[SplitRule]) -> Self {
        let columns = rules.iter().filter_map(|rule| match rule {
            SplitRule::By(column) => {
                row.get(column)?;
                let text = row.text(column).unwrap_or_default();
                Some((column.clone(), text.to_owned()))
            }
            _ => None,
        });
        Self {
            id: row.id().clone(),
            columns: columns.collect(),
        }
    }

    fn column(&self, name: &str) -> Option<&str> {
        let found = self.columns.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str())
    }
}

/// Split -> the places of its rows, in the dataset's order. Without rules all are in `test`. `known` are columns, for the near
/// spelling of one that no row has.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a row in no split or in two, and for a name in a file that is no row's, with file and line.
pub(super) fn splits(
    rows: &[SplitRow],
    known: &[String],
    rules: &[SplitRule],
) -> Result<BTreeMap<String, Vec<usize>>, Error> {
    let wrong = |what: String| Err(Error::new(ErrorKind::InvalidInput, "split:", what));
    let mut of_row: Vec<Option<String>> = vec![None; rows.len()];
    let mut rest = rules.is_empty().then(|| "test".to_owned());
    for rule in rules {
        match rule {
            SplitRule::Rest(split) => {
                if let Some(other) = rest.replace(split.clone()) {
                    return wrong(format!("`{other}` and `{split}` both take the rest"));
                }
            }
            SplitRule::By(column) => {
                if !rows.iter().any(|row| row.column(column).is_some()) {
                    let known = known.iter().map(String::as_str);
                    return wrong(format!(
                        "no row has a column `{column}`{}",
                        hint(column, known)
                    ));
                }
                let mut values: BTreeMap<String, String> = BTreeMap::new();
                for (row, split) in rows.iter().zip(&mut of_row) {
                    let value = row.column(column).unwrap_or_default();
                    let name = name_of(value);
                    let first = values
                        .entry(name.clone())
                        .or_insert_with(|| value.to_owned());
                    if first != value {
                        return wrong(format!(
                            "`{first}` and `{value}` of column `{column}` would both be `{name}`; give --split NAME=FILE"
                        ));
                    }
                    split.get_or_insert(name);
                }
            }
            SplitRule::File { split, file } => {
                let places: HashMap<&str, usize> = rows
                    .iter()
                    .enumerate()
                    .map(|(at, row)| (row.id.as_str(), at))
                    .collect();
                for (id, line) in names(file)? {
                    let place = format!("`{}`, line {line}", file.display());
                    let Some(at) = places.get(id.as_str()) else {
                        let known = rows.iter().map(|row| row.id.as_str());
                        return wrong(format!(
                            "{place}: the dataset has no `{id}`{}",
                            hint(&id, known)
                        ));
                    };
                    match of_row[*at].replace(split.clone()) {
                        Some(other) if other != *split => {
                            return wrong(format!("{place}: `{id}` is in `{other}` already"));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, split) in of_row.into_iter().enumerate() {
        let Some(split) = split.or_else(|| rest.clone()) else {
            return wrong(format!(
                "`{}` is in no split; `--split NAME` takes all that no file names",
                rows[at].id
            ));
        };
        found.entry(split).or_default().push(at);
    }
    Ok(found)
}

/// The names in a file, each with its line: a dataset's, or one a line; `#` begins a remark.
fn names(file: &Path) -> Result<Vec<(String, usize)>, Error> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    if matches!(ending, Some("json" | "jsonl" | "ndjson" | "parquet")) {
        let set = read_dataset(file, &ReadOptions::default())?;
        if let Some(fault) = set.faults.first() {
            let what = fault.to_string();
            return Err(Error::new(ErrorKind::InvalidInput, "read split", what));
        }
        let line = |row: &Row| {
            row.place()
                .map_or(0, |place| place.line.max(place.index + 1))
        };
        let all = set.rows.iter().map(|row| (row.id().to_string(), line(row)));
        return Ok(all.collect());
    }
    let text = std::fs::read_to_string(file).map_err(|why| Error::io("read split", file, why))?;
    let lines = text.lines().zip(1..).map(|(line, at)| (line.trim(), at));
    let named = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    Ok(named.map(|(line, at)| (line.to_owned(), at)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_formats::Dataset;

    fn rows() -> Vec<Row> {
        let text = r#"{"instance_id":"a__a-1","language":"C++"}
{"instance_id":"a__a-2","language":"go"}
{"instance_id":"b__b-1","language":"go"}
"#;
        Dataset::from_bytes(text.as_bytes(), Path::new("d.jsonl")).rows
    }

    fn rules(texts: &[&str]) -> Vec<SplitRule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// The splits of these rows.
    fn splits(rows: &[Row], rules: &[SplitRule]) -> Result<BTreeMap<String, Vec<usize>>, Error> {
        let known: Vec<SplitRow> = rows.iter().map(|row| SplitRow::of(row, rules)).collect();
        let columns: Vec<String> = rows[0].columns().keys().cloned().collect();
        super::splits(&known, &columns, rules)
    }

    #[test]
    fn rows_go_where_the_rules_say() {
        let rows = rows();
        assert_eq!(splits(&rows, &[]).unwrap()["test"], [0, 1, 2]);
        let by = splits(&rows, &rules(&["by=language"])).unwrap();
        assert_eq!((&by["cpp"], &by["go"]), (&vec![0], &vec![1, 2]));
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("train.txt");
        std::fs::write(&file, "# the first\na__a-2\n\n").unwrap();
        let named = format!("train={}", file.display());
        let two = splits(&rows, &rules(&[&named, "test"])).unwrap();
        assert_eq!((&two["train"], &two["test"]), (&vec![1], &vec![0, 2]));
        let why = splits(&rows, &rules(&[&named])).unwrap_err().to_string();
        assert!(why.contains("`a__a-1` is in no split"), "{why}");
        std::fs::write(&file, "a__a-2\na__a-11\n").unwrap();
        let why = splits(&rows, &rules(&[&named, "test"]))
            .unwrap_err()
            .to_string();
        assert!(
            why.contains("line 2") && why.contains("did you mean `a__a-1`"),
            "{why}"
        );
        let why = splits(&rows, &rules(&["by=langauge"]))
            .unwrap_err()
            .to_string();
        assert!(why.contains("did you mean `language`"), "{why}");
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["", "by", "by=", "te st", "test-1", "test="] {
            assert!(text.parse::<SplitRule>().is_err(), "{text}");
        }
    }
}
