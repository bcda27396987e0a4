//! One judge over many items.

use super::ensemble::{MemberUse, uses};
use super::paid::{Bill, of_item};
use super::results_file::{ResultLines, ResultsFile};
use crate::batch::Batch;
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_judge::metrics::results::Cost;
use atlas_llm::{CallFailure, FailureCause};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where results go, and what they depend on.
#[derive(Clone, Debug)]
pub struct JudgeRun {
    /// What the items are being put through, for messages: `review`.
    pub name: String,
    /// The file of results. What stands in it is not asked again.
    pub out: PathBuf,
    /// Everything that changes an answer: model, prompts' versions, options. Results of other settings
    /// are not mixed into one file.
    pub settings: Value,
    /// Items that go on at once; 0 counts as 1.
    pub jobs: usize,
}

/// The first fields of a line, each a text.
pub type Identity = Vec<(&'static str, String)>;

/// Something to judge.
#[derive(Clone, Debug)]
pub struct JudgeItem<I> {
    /// Its name, unique among the items.
    pub key: Arc<str>,
    /// A hash of everything in it that changes the answer. A result of another hash is not this item's, and it is asked
    /// again.
    pub content: ContentHash,
    /// What is judged; of many items better where to find it, for all of them are in memory.
    pub input: I,
}

/// A short hash, written as 12 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentHash([u8; 6]);

impl ContentHash {
    /// A hash of texts, told apart by their lengths.
    pub fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self::begin(&hash.finalize().into())
    }

    fn begin(hash: &[u8; 32]) -> Self {
        Self(std::array::from_fn(|at| hash[at]))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// An item about which nothing could be found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedItem {
    /// Its name.
    pub key: String,
    /// The kind of error, as a stable word.
    pub kind: String,
    /// Why.
    pub message: String,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeReport {
    /// The file of results.
    pub out: PathBuf,
    /// Items that were asked for.
    pub items: usize,
    /// Those that earlier runs had done.
    pub known: usize,
    /// Those that this run did.
    pub done: usize,
    /// Those that failed; their lines hold the error, and the next run tries them again.
    pub failed: Vec<FailedItem>,
    /// Those that were not begun, or not finished, because the run was stopped.
    pub left: usize,
    /// Why it was stopped, and how to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The members of a committee or a cascade, over all lines of these items; empty of a single judge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberUse>,
}

impl JudgeReport {
    /// Whether every item has its result.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.left == 0
    }
}

/// Puts items through `work` and keeps each result in the file as soon as it is there.
///
/// A result is a line with `key`, `settings` and `content` (hashes), the fields of the item's `identity` (`instance_id`,
/// `agent`, `patch_id`), those of its work, and where a
/// model was asked `paid` and, for answers that were kept from before, `kept` ([`Cost`](atlas_judge::metrics::results::Cost)),
/// each also in those of the line's `members` that they are of. An item
/// whose work fails does not stop the others: its line has `error` with `kind` and `message`, and the
/// next run tries it again. A budget that is used up ends the run in order: nothing new is begun, the
/// report says how to go on, and the items are still to be done. At the end the lines stand in the
/// items' order, behind those of items that were not asked for this time.
///
/// Gives the report and the lines of the items that have one, in their order. Neither lines nor what was judged are kept
/// in memory, so that it is the items' names alone that many items need more of.
///
/// # Errors
/// The file cannot be read or written, another run writes it, or it holds results of other settings,
/// which the message tells apart; two items of one name; [`ErrorKind::Cancelled`].
///
/// # Cancellation
/// With `cx.cancel` raised nothing new is begun and what is under way is waited for, or cancels itself.
/// Dropping the future loses what is under way; lines that were written stay.
pub async fn judge_items<I, N, F, R>(
    cx: &RunContext,
    run: &JudgeRun,
    items: Vec<JudgeItem<I>>,
    identity: N,
    work: F,
) -> Result<(JudgeReport, ResultLines), Error>
where
    N: Fn(&I) -> Identity,
    F: Fn(I) -> R,
    R: Future<Output = Result<Map<String, Value>, Error>>,
{
    let order: Vec<Arc<str>> = items.iter().map(|item| Arc::clone(&item.key)).collect();
    let settings = Settings::of(run)?;
    let mut file = earlier(run, &settings, &items)?;
    settings.write(run)?;

    let total = items.len();
    let todo: Vec<JudgeItem<I>> = items
        .into_iter()
        .filter(|item| !file.contains(&item.key))
        .collect();
    let mut report = JudgeReport {
        out: run.out.clone(),
        items: total,
        known: total - todo.len(),
        done: 0,
        failed: Vec::new(),
        left: 0,
        stopped: None,
        members: Vec::new(),
    };
    let is_stopped = AtomicBool::new(false);
    let ask = |item: JudgeItem<I>| {
        let (is_stopped, work, identity) = (&is_stopped, &work, &identity);
        async move {
            let identity = identity(&item.input);
            if is_stopped.load(Ordering::SeqCst) || cx.cancel.is_cancelled() {
                let bill = Bill::default();
                return (item.key, item.content, identity, None, bill);
            }
            let (result, bill) = of_item(work(item.input)).await;
            // Seen by the items that are begun next, before this one is looked at below.
            if result.as_ref().is_err_and(|why| way_on(why).is_some()) {
                is_stopped.store(true, Ordering::SeqCst);
            }
            (item.key, item.content, identity, Some(result), bill)
        }
    };
    let batch = Batch {
        cx,
        name: &run.name,
        jobs: run.jobs,
        known: report.known,
    };
    let mut paid = Cost::default();
    let settle = |(key, content, identity, result, bill): Settled, settled: usize| {
        paid += bill.paid();
        cx.progress
            .detail(&format!("{settled} of {total}{}: {key}", spent(paid)));
        let mut line = Map::new();
        line.insert("key".to_owned(), json!(&*key));
        line.insert("settings".to_owned(), json!(settings.hash));
        line.insert("content".to_owned(), json!(content.to_string()));
        let identity = identity.into_iter();
        line.extend(identity.map(|(name, value)| (name.to_owned(), json!(value))));
        let hopeless = result.as_ref().and_then(|result| result.as_ref().err());
        if let Some((why, way_on)) = hopeless.and_then(|why| Some((why, way_on(why)?))) {
            report.left += 1;
            report.stopped.get_or_insert_with(|| {
                format!(
                    "{}; what is done is kept: {way_on} and run the same command again to go on",
                    why.chain()
                )
            });
            return Ok(());
        }
        match result {
            None => {
                report.left += 1;
                return Ok(());
            }
            Some(Ok(fields)) => {
                report.done += 1;
                line.extend(fields);
            }
            Some(Err(why)) if why.kind() == ErrorKind::Cancelled => {
                report.left += 1;
                return Ok(());
            }
            Some(Err(why)) => {
                let failed = FailedItem {
                    key: key.to_string(),
                    kind: why.kind().as_str().to_owned(),
                    message: why.chain(),
                };
                line.insert(
                    "error".to_owned(),
                    json!({"kind": failed.kind, "message": failed.message}),
                );
                tracing::warn!(key = &*key, error = failed.message, "an item failed");
                report.failed.push(failed);
            }
        }
        bill.write(&mut line);
        file.append(key, &line)
    };
    batch.each(todo, ask, settle).await?;
    cx.check(&run.name)?;

    let lines = file.sorted(&order)?;
    let place = |key: &str| order.iter().position(|other| **other == *key);
    report.failed.sort_by_key(|failed| place(&failed.key));
    report.members = uses(&lines)?;
    Ok((report, lines))
}

/// An item with what was found out, if it was begun, and what was paid.
type Settled = (
    Arc<str>,
    ContentHash,
    Identity,
    Option<Result<Map<String, Value>, Error>>,
    Bill,
);

/// What a run has paid so far, for its progress; nothing where it has paid for nothing.
fn spent(paid: Cost) -> String {
    let money = paid.money.filter(|money| *money > 0.0);
    match (paid.calls, money) {
        (0, _) => String::new(),
        (calls, None) => format!(", {calls} calls"),
        (calls, Some(money)) => format!(", {calls} calls, {money:.4} in money"),
    }
}

/// The file of results with what stands in it of these items, and of others.
///
/// # Errors
/// As [`judge_items`].
fn earlier<I>(
    run: &JudgeRun,
    settings: &Settings,
    items: &[JudgeItem<I>],
) -> Result<ResultsFile, Error> {
    let mut known: HashMap<&str, (&Arc<str>, ContentHash)> = HashMap::with_capacity(items.len());
    for item in items {
        if known.insert(&item.key, (&item.key, item.content)).is_some() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("{}:", run.name),
                format!("two items are named `{}`", item.key),
            ));
        }
    }
    ResultsFile::open(&run.out, |number, line| {
        let key = settings.key(run, number, line)?;
        // Errors are tried again, and so is what was judged in another form.
        if line.contains_key("error") {
            return Ok(None);
        }
        let of = line.get("content").and_then(Value::as_str);
        Ok(match known.get(key) {
            None => Some(key.into()),
            Some((key, now)) => (of == Some(&*now.to_string())).then(|| Arc::clone(key)),
        })
    })
}

/// What a person can do about an error that every other item would have, too.
fn way_on(why: &Error) -> Option<&'static str> {
    if why.kind() == ErrorKind::BudgetExceeded {
        return Some("raise the budget");
    }
    let cause = CallFailure::of(why)?.cause;
    cause.is_fatal().then_some(match cause {
        FailureCause::Unauthorised => "give a key that is accepted",
        FailureCause::NotFound => "name a model and an address that exist",
        FailureCause::QuotaSpent => "refill the quota",
        _ => "leave the parameter out (`omit` in the model's table of atlas.toml)",
    })
}

/// The settings of a run, with their hash.
struct Settings {
    hash: String,
    value: Value,
}

impl Settings {
    fn of(run: &JudgeRun) -> Result<Self, Error> {
        let fail =
            |why| Error::new(ErrorKind::Internal, "encode the settings", "").with_source(why);
        let value = json!({"command": run.name, "settings": run.settings});
        let bytes = serde_json::to_vec(&value).map_err(fail)?;
        let hash = ContentHash::begin(&Sha256::digest(&bytes).into()).to_string();
        Ok(Self { hash, value })
    }

    /// Beside the results, so that a later run can say what differs.
    fn path(run: &JudgeRun) -> PathBuf {
        let mut name = run.out.clone().into_os_string();
        name.push(".settings.json");
        PathBuf::from(name)
    }

    fn write(&self, run: &JudgeRun) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(&self.value).map_err(|why| {
            Error::new(ErrorKind::Internal, "encode the settings", "").with_source(why)
        })?;
        text.push(b'\n');
        crate::store::write_atomically(&Self::path(run), &text)
    }

    /// The key of an earlier line, if it is of these settings.
    fn key<'a>(
        &self,
        run: &JudgeRun,
        number: usize,
        line: &'a Map<String, Value>,
    ) -> Result<&'a str, Error> {
        let wrong = |what: String| {
            Error::new(
                ErrorKind::InvalidInput,
                "go on with the results",
                format!("`{}`, line {number}: {what}", run.out.display()),
            )
        };
        let key = line.get("key").and_then(Value::as_str);
        let key = key.ok_or_else(|| {
            let what = "it has no `key`, so it is no result of this command; write to another file";
            wrong(what.to_owned())
        })?;
        if line.get("settings").and_then(Value::as_str) != Some(&self.hash) {
            return Err(wrong(format!(
                "it was made with other settings{}; write to another file, or remove this one",
                self.difference(run)
            )));
        }
        Ok(key)
    }

    /// What differs from the settings that stand beside the results.
    fn difference(&self, run: &JudgeRun) -> String {
        let earlier = std::fs::read(Self::path(run)).ok();
        let earlier = earlier.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let Some(earlier) = earlier else {
            return String::new();
        };
        let mut found = Vec::new();
        differences("", &earlier, &self.value, &mut found);
        let rest = found.len().saturating_sub(3);
        found.truncate(3);
        if rest > 0 {
            found.push(format!("and {rest} more"));
        }
        if found.is_empty() {
            String::new()
        } else {
            format!(" ({})", found.join(", "))
        }
    }
}

fn differences(at: &str, earlier: &Value, now: &Value, found: &mut Vec<String>) {
    match (earlier, now) {
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let path = match at {
                    "" | "settings" => name.clone(),
                    _ => format!("{at}.{name}"),
                };
                let none = &Value::Null;
                let (a, b) = (a.get(name).unwrap_or(none), b.get(name).unwrap_or(none));
                differences(&path, a, b, found);
            }
        }
        (a, b) if a != b => {
            let short = |value: &Value| value.to_string().chars().take(60).collect::<String>();
            found.push(format!("`{at}` was {} and is {}", short(a), short(b)));
        }
        _ => {}
    }
}
