//! Batches that a server works on, kept from before they are sent until all their answers are here.

use super::Exchanges;
#[cfg(feature = "http")]
use crate::Account;
#[cfg(feature = "http")]
use atlas_core::CompletionRequest;
use atlas_core::Error;
#[cfg(feature = "http")]
use rusqlite::params;
use serde::Serialize;

/// A batch of questions that was given to a server, or is about to be.
#[cfg(feature = "http")]
#[derive(Debug)]
pub(crate) struct StoredBatch {
    /// Our own name for it, with which the names of its questions begin.
    pub(crate) token: String,
    /// Whose run it is.
    pub(crate) run: String,
    /// The server's name for it; none where it is unknown whether the server has it.
    pub(crate) id: Option<String>,
    pub(crate) questions: Vec<StoredQuestion>,
}

#[cfg(feature = "http")]
#[derive(Clone, Debug)]
pub(crate) struct StoredQuestion {
    /// Its key among the exchanges.
    pub(crate) key: String,
    pub(crate) request: CompletionRequest,
    /// The number of its call.
    pub(crate) call: i64,
}

/// A batch that is not collected yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitingBatch {
    /// The server's name for it; none where a run was stopped while it gave it away.
    pub id: Option<String>,
    /// Atlas's own name for it.
    pub token: String,
    /// The run that gave it away, by its file of results.
    pub run: String,
    /// How many questions it holds.
    pub questions: u64,
}

impl Exchanges {
    /// Keeps a batch that is about to be sent, with a call at its estimate for each question.
    #[cfg(feature = "http")]
    pub(crate) fn begin_batch(
        &self,
        asked: &str,
        model: &str,
        batch: &mut StoredBatch,
        accounts: &[Account],
    ) -> Result<(), Error> {
        let mut connection = self.lock();
        let mut keep = || -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT INTO batch (token, asked, run) VALUES (?1, ?2, ?3)",
                params![batch.token, asked, batch.run],
            )?;
            for ((at, question), account) in batch.questions.iter_mut().enumerate().zip(accounts) {
                transaction
                    .prepare_cached("INSERT INTO call (run, model, account) VALUES (?1, ?2, ?3)")?
                    .execute(params![batch.run, model, serde_json::to_string(account)?])?;
                question.call = transaction.last_insert_rowid();
                let request = serde_json::to_string(&question.request)?;
                transaction
                    .prepare_cached("INSERT INTO batch_question VALUES (?1, ?2, ?3, ?4, ?5)")?
                    .execute(params![
                        batch.token,
                        i64::try_from(at)?,
                        question.key,
                        request,
                        question.call
                    ])?;
            }
            Ok(transaction.commit()?)
        };
        keep().map_err(|why| self.failed(SharedError(why)))
    }

    /// The server has taken a batch.
    #[cfg(feature = "http")]
    pub(crate) fn batch_sent(&self, token: &str, id: &str) -> Result<(), Error> {
        self.lock()
            .execute(
                "UPDATE batch SET id = ?2 WHERE token = ?1",
                params![token, id],
            )
            .map_err(|why| self.failed(why))?;
        Ok(())
    }

    /// The batches that were given to a model and are not collected, the oldest first.
    #[cfg(feature = "http")]
    pub(crate) fn batches(&self, asked: &str) -> Result<Vec<StoredBatch>, Error> {
        let connection = self.lock();
        let read = || -> Result<Vec<StoredBatch>, Box<dyn std::error::Error + Send + Sync>> {
            let mut query = connection
                .prepare("SELECT token, run, id FROM batch WHERE asked = ?1 ORDER BY rowid")?;
            let rows = query.query_map([asked], |row| {
                Ok(StoredBatch {
                    token: row.get(0)?,
                    run: row.get(1)?,
                    id: row.get(2)?,
                    questions: Vec::new(),
                })
            })?;
            let mut batches = Vec::new();
            for row in rows {
                let mut batch = row?;
                let mut query = connection.prepare(
                    "SELECT key, request, call FROM batch_question WHERE batch = ?1 ORDER BY number",
                )?;
                let mut rows = query.query([&batch.token])?;
                while let Some(row) = rows.next()? {
                    batch.questions.push(StoredQuestion {
                        key: row.get(0)?,
                        request: serde_json::from_str(&row.get::<_, String>(1)?)?,
                        call: row.get(2)?,
                    });
                }
                batches.push(batch);
            }
            Ok(batches)
        };
        read().map_err(|why| self.failed(SharedError(why)))
    }

    /// All batches that are not collected, of every model and run.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn waiting(&self) -> Result<Vec<WaitingBatch>, Error> {
        self.waiting_of(None)
    }

    /// Those of a model with these settings, as [`Remembered::kept_in`](crate::Remembered::kept_in) has them.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn waiting_for(
        &self,
        model: &str,
        settings: &serde_json::Value,
    ) -> Result<Vec<WaitingBatch>, Error> {
        self.waiting_of(Some(&super::asked(model, &settings.to_string())))
    }

    fn waiting_of(&self, asked: Option<&str>) -> Result<Vec<WaitingBatch>, Error> {
        let connection = self.lock();
        let read = || -> rusqlite::Result<Vec<WaitingBatch>> {
            let mut query = connection.prepare(
                "SELECT id, token, run, (SELECT count(*) FROM batch_question WHERE batch = token) FROM batch
                 WHERE ?1 IS NULL OR asked = ?1 ORDER BY rowid",
            )?;
            let rows = query.query_map([asked], |row| {
                Ok(WaitingBatch {
                    id: row.get(0)?,
                    token: row.get(1)?,
                    run: row.get(2)?,
                    questions: u64::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
                })
            })?;
            rows.collect()
        };
        read().map_err(|why| self.failed(why))
    }

    /// Forgets a batch that waits at a server, so that the next run asks its questions again. `name` is the server's name
    /// of the batch or Atlas's own. What the server may still charge for it stays in the total, at its estimate. Returns
    /// whether there was such a batch.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget_batch(&self, name: &str) -> Result<bool, Error> {
        let mut connection = self.lock();
        let mut forget = || -> rusqlite::Result<bool> {
            let transaction = connection.transaction()?;
            transaction.execute(
                "DELETE FROM batch_question WHERE batch IN (SELECT token FROM batch WHERE token = ?1 OR id = ?1)",
                [name],
            )?;
            let count =
                transaction.execute("DELETE FROM batch WHERE token = ?1 OR id = ?1", [name])?;
            transaction.commit()?;
            Ok(count > 0)
        };
        forget().map_err(|why| self.failed(why))
    }
}

/// A cause of one of several types.
#[cfg(feature = "http")]
#[derive(Debug)]
struct SharedError(Box<dyn std::error::Error + Send + Sync>);

#[cfg(feature = "http")]
impl std::fmt::Display for SharedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(feature = "http")]
impl std::error::Error for SharedError {}
