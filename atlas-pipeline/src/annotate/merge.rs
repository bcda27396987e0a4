//! What several annotators said, together.

use super::form::{Annotation, DECISION, QUESTIONS, Question, TABLE, read_table};
use crate::write_atomically;
use atlas_core::{Error, ErrorKind};
use atlas_judge::metrics::{Scale, cohen_kappa, fleiss_kappa, krippendorff_alpha};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Whose tables are merged.
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// Annotators, each with the folder or the table that they filled in.
    pub annotators: Vec<(String, PathBuf)>,
    /// Whose answer settles what the others do not agree on; not one of them, and not counted in their agreement. Default: nobody's.
    pub arbiter: Option<PathBuf>,
    /// The file of decisions.
    pub out: PathBuf,
}

/// Who settled an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// All who answered say the same.
    All,
    /// More than half of those who answered do.
    Majority,
    /// The middle of answers that have an order and lie no more than one apart.
    Median,
    /// The arbiter.
    Arbiter,
    /// Nobody: it is open.
    Nobody,
}

/// What was said to one question of one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedAnswer {
    /// Annotator -> answer.
    pub by: BTreeMap<String, String>,
    /// The answer that counts; absent where it is open.
    pub answer: Option<String>,
    /// Who settled it.
    pub settled_by: SettledBy,
}

/// A line of the file of decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowDecision {
    /// The row.
    pub instance_id: String,
    /// The version of its task that was annotated: another task is not decided on.
    pub revision: String,
    /// `accept`, `repair` or `reject`; absent where it is open or nobody said.
    pub decision: Option<String>,
    /// Question -> what was said; questions that nobody answered are absent.
    pub answers: BTreeMap<String, MergedAnswer>,
    /// Annotator -> free words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

/// A kappa or an alpha, with the number of rows that it is of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Coefficient {
    /// Rows.
    pub rows: usize,
    /// From -1 to 1, 0 for what chance gives; absent where it is not defined.
    pub value: Option<f64>,
}

/// How far annotators agree on a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The share of pairs of answers to one row that are the same; absent without a pair.
    pub share: Option<f64>,
    /// Cohen's kappa of each two, named `a/b`; for scores with quadratic weights.
    pub cohen: BTreeMap<String, Coefficient>,
    /// Fleiss' kappa, over rows that all answered.
    pub fleiss: Coefficient,
    /// Krippendorff's alpha, over rows that at least two answered; for scores ordinal.
    pub alpha: Coefficient,
}

/// An answer on which annotators do not agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The row.
    pub instance_id: String,
    /// The question.
    pub question: String,
    /// What was said, and what counts.
    #[serde(flatten)]
    pub answer: MergedAnswer,
}

/// What became of the annotations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MergeReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The file of decisions.
    pub out: PathBuf,
    /// Annotator -> rows on which they said something.
    pub annotators: BTreeMap<String, usize>,
    /// Rows in any table.
    pub rows: usize,
    /// Decision -> rows; `open` where annotators do not agree, `none` where nobody said.
    pub decisions: BTreeMap<String, usize>,
    /// Question -> how far annotators agree.
    pub agreement: BTreeMap<String, Agreement>,
    /// Decisions that are not all the same, and scores that lie two or more apart.
    pub conflicts: Vec<Conflict>,
}

impl MergeReport {
    /// Whether a decision is open.
    pub fn is_open(&self) -> bool {
        self.decisions.contains_key("open")
    }
}

/// Merges what annotators said: writes a decision for each row, and tells how far they agree and where they do not.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a table with a wrong edit, with file, line, column and what may stand there; for annotators of one
/// name; for tables of different versions of a row.
pub fn merge_annotations(options: &MergeOptions) -> Result<MergeReport, Error> {
    let wrong = |what: String| {
        Err(Error::new(
            ErrorKind::InvalidInput,
            "merge annotations:",
            what,
        ))
    };
    let mut said: BTreeMap<String, BTreeMap<String, Annotation>> = BTreeMap::new();
    for (name, place) in &options.annotators {
        if said
            .insert(name.clone(), read_table(&table_of(place))?)
            .is_some()
        {
            return wrong(format!(
                "two annotators are named `{name}`; name them with NAME=DIR"
            ));
        }
    }
    let arbiter = options
        .arbiter
        .as_deref()
        .map(|place| read_table(&table_of(place)))
        .transpose()?;
    let mut revisions: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let arbiters = arbiter.iter().map(|table| ("the arbiter", table));
    let tables = said
        .iter()
        .map(|(name, table)| (name.as_str(), table))
        .chain(arbiters);
    for (name, table) in tables {
        for (id, annotation) in table {
            let first = revisions.entry(id).or_insert((&annotation.revision, name));
            if first.0 != annotation.revision {
                return wrong(format!(
                    "`{id}`: {name} (line {}) saw revision {}, {} saw {}; export the row again and annotate one of them",
                    annotation.line, annotation.revision, first.1, first.0
                ));
            }
        }
    }
    let mut report = MergeReport {
        schema_version: 1,
        out: options.out.clone(),
        annotators: said
            .iter()
            .map(|(name, table)| {
                (
                    name.clone(),
                    table.values().filter(|one| !one.is_empty()).count(),
                )
            })
            .collect(),
        rows: revisions.len(),
        decisions: BTreeMap::new(),
        agreement: QUESTIONS
            .iter()
            .map(|question| (question.name.to_owned(), agreement(question, &said)))
            .collect(),
        conflicts: Vec::new(),
    };
    let mut lines = Vec::new();
    for (id, (revision, _)) in &revisions {
        let mut decision = RowDecision {
            instance_id: (*id).to_owned(),
            revision: (*revision).to_owned(),
            decision: None,
            answers: BTreeMap::new(),
            notes: BTreeMap::new(),
        };
        let own = arbiter.as_ref().and_then(|table| table.get(*id));
        for question in &QUESTIONS {
            let by: BTreeMap<&str, usize> = said
                .iter()
                .filter_map(|(name, table)| {
                    Some((name.as_str(), *table.get(*id)?.answers.get(question.name)?))
                })
                .collect();
            let settled = own.and_then(|own| own.answers.get(question.name)).copied();
            let Some((answer, is_conflict)) = merged(question, &by, settled) else {
                continue;
            };
            if is_conflict {
                report.conflicts.push(Conflict {
                    instance_id: (*id).to_owned(),
                    question: question.name.to_owned(),
                    answer: answer.clone(),
                });
            }
            decision.answers.insert(question.name.to_owned(), answer);
        }
        let named = said
            .iter()
            .map(|(name, table)| (name.as_str(), table.get(*id)));
        for (name, one) in named.chain([("arbiter", own)]) {
            if let Some(one) = one.filter(|one| !one.notes.is_empty()) {
                decision.notes.insert(name.to_owned(), one.notes.clone());
            }
        }
        let answer = decision.answers.get(DECISION);
        decision.decision = answer.and_then(|answer| answer.answer.clone());
        let word = match (answer, &decision.decision) {
            (None, _) => "none",
            (Some(_), None) => "open",
            (Some(_), Some(word)) => word,
        };
        *report.decisions.entry(word.to_owned()).or_default() += 1;
        serde_json::to_writer(&mut lines, &decision).map_err(|why| {
            Error::new(ErrorKind::Internal, "write decisions", "").with_source(why)
        })?;
        lines.push(b'\n');
    }
    write_atomically(&options.out, &lines)?;
    Ok(report)
}

fn table_of(place: &Path) -> PathBuf {
    if place.is_dir() {
        place.join(TABLE)
    } else {
        place.to_owned()
    }
}

/// What counts of some answers, and whether they are in conflict; nothing where nobody answered.
fn merged(
    question: &Question,
    by: &BTreeMap<&str, usize>,
    arbiter: Option<usize>,
) -> Option<(MergedAnswer, bool)> {
    let mut all: Vec<usize> = by.values().copied().collect();
    all.sort_unstable();
    let (least, most) = match (all.first(), all.last(), arbiter) {
        (Some(least), Some(most), _) => (*least, *most),
        (_, _, Some(arbiter)) => (arbiter, arbiter),
        _ => return None,
    };
    let is_conflict = match question.scale {
        Scale::Nominal => least != most,
        Scale::Ordinal => most - least > 1,
    };
    let more_than_half = (0..question.answers.len())
        .find(|answer| 2 * all.iter().filter(|said| *said == answer).count() > all.len());
    let (answer, settled_by) = match (arbiter, more_than_half) {
        (Some(arbiter), _) => (Some(arbiter), SettledBy::Arbiter),
        (None, Some(answer)) if least == most => (Some(answer), SettledBy::All),
        (None, Some(answer)) if !is_conflict || question.scale == Scale::Nominal => {
            (Some(answer), SettledBy::Majority)
        }
        // Of an even number of answers the worse one of the two in the middle.
        (None, _) if !is_conflict => (Some(all[all.len() / 2]), SettledBy::Median),
        (None, _) => (None, SettledBy::Nobody),
    };
    let word = |at: usize| question.answers[at].to_owned();
    let answer = MergedAnswer {
        by: by
            .iter()
            .map(|(name, at)| ((*name).to_owned(), word(*at)))
            .collect(),
        answer: answer.map(word),
        settled_by,
    };
    Some((answer, is_conflict))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of annotations are far below 2^52"
)]
fn agreement(
    question: &Question,
    said: &BTreeMap<String, BTreeMap<String, Annotation>>,
) -> Agreement {
    let answers = question.answers.len();
    let of = |table: &BTreeMap<String, Annotation>, id: &str| -> Option<usize> {
        table.get(id)?.answers.get(question.name).copied()
    };
    let ids: BTreeSet<&String> = said.values().flat_map(BTreeMap::keys).collect();
    let items: Vec<Vec<usize>> = ids
        .iter()
        .map(|id| said.values().filter_map(|table| of(table, id)).collect())
        .collect();
    let (mut same, mut pairs) = (0_usize, 0_usize);
    for item in &items {
        for (at, one) in item.iter().enumerate() {
            pairs += item.len() - at - 1;
            same += item[at + 1..].iter().filter(|other| *other == one).count();
        }
    }
    let mut cohen = BTreeMap::new();
    for (one, ours) in said {
        for (other, theirs) in
            said.range::<String, _>((std::ops::Bound::Excluded(one), std::ops::Bound::Unbounded))
        {
            let both = ids
                .iter()
                .filter_map(|id| Some((of(ours, id)?, of(theirs, id)?)));
            let both: Vec<(usize, usize)> = both.collect();
            let value = cohen_kappa(&both, answers, question.scale);
            let rows = both.len();
            cohen.insert(format!("{one}/{other}"), Coefficient { rows, value });
        }
    }
    let whole: Vec<Vec<u64>> = items
        .iter()
        .filter(|item| item.len() == said.len())
        .map(|item| {
            let count = |answer| item.iter().filter(|said| **said == answer).count() as u64;
            (0..answers).map(count).collect()
        })
        .collect();
    Agreement {
        share: (pairs > 0).then(|| same as f64 / pairs as f64),
        cohen,
        fleiss: Coefficient {
            rows: whole.len(),
            value: fleiss_kappa(&whole),
        },
        alpha: Coefficient {
            rows: items.iter().filter(|item| item.len() >= 2).count(),
            value: krippendorff_alpha(&items, answers, question.scale),
        },
    }
}
