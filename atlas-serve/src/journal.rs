//! What outlives the server: episodes, patches that were submitted, results.

use crate::{RewardKind, SubmitAnswer};
use atlas_core::{Error, ErrorKind};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The form of the table.
const FORM: i64 = 1;

/// One `SQLite` file. A change that was told to be made survives a power cut.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    connection: Mutex<Connection>,
    // Locked as long as the journal is open: a second server would end the first one's episodes.
    _lock: File,
}

/// Where an episode stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    Open,
    /// The patch is here, its verdict is not.
    Submitted {
        patch: String,
    },
    Graded(Box<SubmitAnswer>),
    /// Without a submission.
    Ended {
        cause: String,
    },
}

/// What is known of an episode.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) instance_id: String,
    pub(crate) reward: RewardKind,
    pub(crate) state: State,
}

impl Journal {
    /// Opens the one in a folder.
    ///
    /// # Errors
    /// Another server uses it; another Atlas made it.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let lock = File::create(folder.join("lock"))
            .map_err(|why| Error::io("lock", &folder.join("lock"), why))?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(
            |why| {
                let place = format!(
                    "`{}`: another server uses it; choose another folder",
                    folder.display()
                );
                Error::new(ErrorKind::InvalidInput, "lock", place).with_source(why)
            },
        )?;
        let path = folder.join("journal.sqlite");
        let opened = || -> rusqlite::Result<(Connection, i64)> {
            let mut connection = Connection::open(&path)?;
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            let change = connection.transaction()?;
            let mut form: i64 =
                change.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if form == 0 {
                change.execute_batch(include_str!("schema.sql"))?;
                change.pragma_update(None, "user_version", FORM)?;
                form = FORM;
            }
            change.commit()?;
            Ok((connection, form))
        };
        let (connection, form) = opened().map_err(|why| failed(&path, why))?;
        if form != FORM {
            let place = format!(
                "`{}`: its form is {form}, and this Atlas knows {FORM}; choose another folder",
                path.display()
            );
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "open the journal",
                place,
            ));
        }
        Ok(Self {
            inner: Arc::new(Inner {
                path,
                connection: Mutex::new(connection),
                _lock: lock,
            }),
        })
    }

    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let inner = Arc::clone(&self.inner);
        let asked = tokio::task::spawn_blocking(move || {
            let connection = inner
                .connection
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            ask(&connection).map_err(|why| failed(&inner.path, why))
        });
        asked.await.unwrap_or_else(|why| {
            Err(Error::new(ErrorKind::Internal, "use the journal", "").with_source(why))
        })
    }

    /// An episode began.
    pub(crate) async fn begin(
        &self,
        id: &str,
        instance_id: &str,
        reward: RewardKind,
    ) -> Result<(), Error> {
        let row = (
            id.to_owned(),
            instance_id.to_owned(),
            reward.as_str(),
            now(),
        );
        self.ask(move |journal| {
            journal.execute(
                "INSERT INTO episode (id, instance, reward, state, at) VALUES (?1, ?2, ?3, 'open', ?4)",
                row,
            )
        })
        .await
        .map(drop)
    }

    /// Its patch was taken: from here on a verdict is owed.
    pub(crate) async fn submit(&self, id: &str, patch: &str) -> Result<(), Error> {
        let row = (id.to_owned(), patch.to_owned(), now());
        self.ask(move |journal| {
            journal.execute(
                "UPDATE episode SET state = 'submitted', patch = ?2, at = ?3 WHERE id = ?1 AND state = 'open'",
                row,
            )
        })
        .await
        .map(drop)
    }

    /// The verdict is known.
    pub(crate) async fn grade(&self, id: &str, result: &SubmitAnswer) -> Result<(), Error> {
        let result = serde_json::to_string(result).map_err(|why| {
            Error::new(ErrorKind::Internal, "write the result of", id).with_source(why)
        })?;
        let row = (id.to_owned(), result, now());
        self.ask(move |journal| {
            journal.execute(
                "UPDATE episode SET state = 'graded', result = ?2, at = ?3 WHERE id = ?1",
                row,
            )
        })
        .await
        .map(drop)
    }

    /// It ended without a submission.
    pub(crate) async fn end(&self, id: &str, cause: &str) -> Result<(), Error> {
        let row = (id.to_owned(), cause.to_owned(), now());
        self.ask(move |journal| {
            journal.execute(
                "UPDATE episode SET state = 'ended', cause = ?2, at = ?3 WHERE id = ?1 AND state = 'open'",
                row,
            )
        })
        .await
        .map(drop)
    }

    /// Ends whatever is open; how many.
    pub(crate) async fn end_open(&self, cause: &'static str) -> Result<usize, Error> {
        self.ask(move |journal| {
            journal.execute(
                "UPDATE episode SET state = 'ended', cause = ?1, at = ?2 WHERE state = 'open'",
                params![cause, now()],
            )
        })
        .await
    }

    /// The submissions whose verdict is owed, oldest first.
    pub(crate) async fn owed(&self) -> Result<Vec<String>, Error> {
        self.ask(|journal| {
            let mut rows = journal
                .prepare("SELECT id FROM episode WHERE state = 'submitted' ORDER BY at, id")?;
            let ids = rows.query_map([], |row| row.get(0))?;
            ids.collect()
        })
        .await
    }

    /// Forgets what ended longer ago.
    pub(crate) async fn forget(&self, older: Duration) -> Result<usize, Error> {
        let before = now() - i64::try_from(older.as_millis()).unwrap_or(i64::MAX);
        self.ask(move |journal| {
            journal.execute(
                "DELETE FROM episode WHERE state IN ('graded', 'ended') AND at < ?1",
                [before],
            )
        })
        .await
    }

    /// What is known of an episode.
    pub(crate) async fn find(&self, id: &str) -> Result<Option<Entry>, Error> {
        type Row = (
            String,
            String,
            String,
            Option<String>,
            Option<String>,
            Option<String>,
        );
        let name = id.to_owned();
        let row: Option<Row> = self
            .ask(move |journal| {
                journal
                    .query_row(
                        "SELECT instance, reward, state, cause, patch, result FROM episode WHERE id = ?1",
                        [name],
                        |row| {
                            Ok((
                                row.get(0)?,
                                row.get(1)?,
                                row.get(2)?,
                                row.get(3)?,
                                row.get(4)?,
                                row.get(5)?,
                            ))
                        },
                    )
                    .optional()
            })
            .await?;
        let Some((instance_id, reward, state, cause, patch, result)) = row else {
            return Ok(None);
        };
        let unreadable = |why: Box<dyn std::error::Error + Send + Sync>| {
            Error::new(ErrorKind::Internal, "read the journal's row of", id).with_source(why)
        };
        let reward = reward.parse().map_err(|why| unreadable(Box::new(why)))?;
        let state = match state.as_str() {
            "open" => State::Open,
            "submitted" => State::Submitted {
                patch: patch.unwrap_or_default(),
            },
            "graded" => State::Graded(Box::new(
                serde_json::from_str(result.as_deref().unwrap_or_default())
                    .map_err(|why| unreadable(Box::new(why)))?,
            )),
            _ => State::Ended {
                cause: cause.unwrap_or_default(),
            },
        };
        Ok(Some(Entry {
            instance_id,
            reward,
            state,
        }))
    }
}

fn failed(path: &Path, why: rusqlite::Error) -> Error {
    let place = format!("`{}`", path.display());
    Error::new(ErrorKind::Io, "use the journal", place).with_source(why)
}

fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
