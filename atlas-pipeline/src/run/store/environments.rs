//! Environments, and what those of one repository share.

use super::Store;
use crate::run::StepEnvironment;
use atlas_core::Error;
use rusqlite::{OptionalExtension as _, Transaction, params};
use serde::Serialize;

/// What the environments of one repository's candidates take up and share, as they were built: what the engine has
/// removed since by itself is still counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RepositoryImages {
    /// The repository.
    pub repo: String,
    /// Images that are there; candidates may share one. Prepared folders of the local engine count as images of one layer.
    pub images: u64,
    /// Their layers, without those of base images; one that several have counts once.
    pub layers: u64,
    /// The bytes of these.
    pub bytes: u64,
    /// Layers that more than one of the images has.
    pub shared_layers: u64,
    /// The bytes of these, each layer once.
    pub shared_bytes: u64,
    /// Bytes that the images would take up if none shared a layer.
    pub unshared_bytes: u64,
    /// Seconds of the step of the first candidate that got an environment.
    pub first_seconds: f64,
    /// Of these, for its environment: analysis and build.
    pub first_build_seconds: f64,
    /// Candidates after it.
    pub later: u64,
    /// Seconds of a step of theirs, on average; absent without any.
    pub later_seconds: Option<f64>,
    /// Of these, for its environment.
    pub later_build_seconds: Option<f64>,
}

/// Notes the environment of a candidate whose step took so many seconds.
pub(super) fn take(
    at: &Transaction,
    candidate: i64,
    environment: &StepEnvironment,
    seconds: f64,
) -> rusqlite::Result<()> {
    let repository: i64 = at
        .prepare_cached("SELECT repository FROM candidate WHERE id = ?1")?
        .query_row([candidate], |row| row.get(0))?;
    forget(at, candidate)?;
    at.prepare_cached("INSERT INTO environment VALUES (?1, ?2, ?3)")?
        .execute(params![candidate, repository, environment.image])?;
    for (hash, bytes) in &environment.layers {
        at.prepare_cached("INSERT OR REPLACE INTO layer VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                repository,
                environment.image,
                hash,
                i64::try_from(*bytes).unwrap_or(i64::MAX)
            ])?;
    }
    at.prepare_cached(
        "INSERT INTO sharing (repository, first_seconds, first_build) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET later = later + 1, later_seconds = later_seconds + excluded.first_seconds,
             later_build = later_build + excluded.first_build",
    )?
    .execute(params![repository, seconds, environment.build_seconds])?;
    sum_up(at, repository)
}

/// Notes that the environment of a candidate was given back, and with it that of all who had the same image.
pub(super) fn give_back(at: &Transaction, candidate: i64) -> rusqlite::Result<()> {
    let known: Option<(i64, String)> = at
        .prepare_cached("SELECT repository, image FROM environment WHERE candidate = ?1")?
        .query_row([candidate], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((repository, image)) = known else {
        return Ok(());
    };
    at.execute(
        "DELETE FROM environment WHERE repository = ?1 AND image = ?2",
        params![repository, image],
    )?;
    at.execute(
        "DELETE FROM layer WHERE repository = ?1 AND image = ?2",
        params![repository, image],
    )?;
    sum_up(at, repository)
}

/// Takes away what is known of a candidate's environment, and of its image where nobody else has it.
fn forget(at: &Transaction, candidate: i64) -> rusqlite::Result<()> {
    at.prepare_cached(
        "DELETE FROM layer WHERE (repository, image) IN (SELECT repository, image FROM environment WHERE candidate = ?1)
             AND NOT EXISTS (SELECT 1 FROM environment AS other WHERE other.repository = layer.repository
                 AND other.image = layer.image AND other.candidate <> ?1)",
    )?
    .execute([candidate])?;
    at.prepare_cached("DELETE FROM environment WHERE candidate = ?1")?
        .execute([candidate])
        .map(drop)
}

/// Brings the line of a repository up to its layers.
fn sum_up(at: &Transaction, repository: i64) -> rusqlite::Result<()> {
    at.prepare_cached(
        "UPDATE sharing SET
             images = (SELECT count(DISTINCT image) FROM environment WHERE repository = ?1),
             (layers, bytes, shared_layers, shared_bytes, whole) = (
                 SELECT count(*), coalesce(sum(bytes), 0), coalesce(sum(times > 1), 0),
                     coalesce(sum(iif(times > 1, bytes, 0)), 0), coalesce(sum(bytes * times), 0)
                 FROM (SELECT max(bytes) AS bytes, count(*) AS times FROM layer WHERE repository = ?1 GROUP BY hash))
         WHERE repository = ?1",
    )?
    .execute([repository])
    .map(drop)
}

impl Store {
    /// Repositories with environments, those that take up most first, at most so many of them.
    pub(in crate::run) fn sharing(&self, most: usize) -> Result<Vec<RepositoryImages>, Error> {
        self.look(|at| {
            at.prepare_cached(
                "SELECT name, images, layers, bytes, shared_layers, shared_bytes, whole, first_seconds, first_build,
                     later, later_seconds, later_build
                 FROM sharing JOIN repository ON repository.id = sharing.repository
                 ORDER BY bytes DESC, name LIMIT ?1",
            )?
            .query_map([i64::try_from(most).unwrap_or(i64::MAX)], |row| {
                let later: u32 = row.get(9)?;
                let mean = |sum: f64| (later > 0).then(|| sum / f64::from(later));
                Ok(RepositoryImages {
                    repo: row.get(0)?,
                    images: row.get(1)?,
                    layers: row.get(2)?,
                    bytes: row.get(3)?,
                    shared_layers: row.get(4)?,
                    shared_bytes: row.get(5)?,
                    unshared_bytes: row.get(6)?,
                    first_seconds: row.get(7)?,
                    first_build_seconds: row.get(8)?,
                    later: later.into(),
                    later_seconds: mean(row.get(10)?),
                    later_build_seconds: mean(row.get(11)?),
                })
            })?
            .collect()
        })
    }

    /// How many repositories have environments, and the bytes of all of them.
    pub(in crate::run) fn sharing_in_all(&self) -> Result<(u64, u64), Error> {
        self.look(|at| {
            at.query_row(
                "SELECT count(*), coalesce(sum(bytes), 0) FROM sharing",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
        })
    }
}
