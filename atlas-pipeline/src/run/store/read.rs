//! What the store tells.

use super::Store;
use crate::run::standings::Standing;
use atlas_core::{Error, Evidence};
use rusqlite::{OptionalExtension as _, params};

/// Steps of one stage in one state with one outcome.
#[derive(Clone, Debug)]
pub(in crate::run) struct Tally {
    pub(in crate::run) stage: String,
    pub(in crate::run) state: String,
    pub(in crate::run) passed: bool,
    pub(in crate::run) outcome: String,
    pub(in crate::run) steps: u64,
    pub(in crate::run) seconds: f64,
    pub(in crate::run) bytes: u64,
    pub(in crate::run) money: f64,
}

/// A step that runs.
#[derive(Clone, Debug)]
pub(in crate::run) struct Running {
    pub(in crate::run) stage: String,
    pub(in crate::run) candidate: String,
    pub(in crate::run) owner: String,
    pub(in crate::run) started: i64,
}

/// A step of one candidate.
#[derive(Clone, Debug)]
pub(in crate::run) struct ToldStep {
    pub(in crate::run) stage: String,
    pub(in crate::run) state: String,
    pub(in crate::run) passed: bool,
    pub(in crate::run) outcome: String,
    pub(in crate::run) reason: String,
    pub(in crate::run) evidence: Vec<Evidence>,
    pub(in crate::run) seconds: f64,
    pub(in crate::run) bytes: u64,
    pub(in crate::run) money: f64,
    pub(in crate::run) attempts: u32,
    pub(in crate::run) started: Option<i64>,
    pub(in crate::run) recipe: Option<String>,
}

/// Something that happened to a candidate.
#[derive(Clone, Debug)]
pub(in crate::run) struct Event {
    pub(in crate::run) stage: String,
    pub(in crate::run) at: i64,
    pub(in crate::run) what: String,
    pub(in crate::run) text: String,
}

/// All of one candidate.
#[derive(Clone, Debug)]
pub(in crate::run) struct Story {
    pub(in crate::run) line: String,
    pub(in crate::run) file: String,
    pub(in crate::run) number: usize,
    pub(in crate::run) withdrawn: bool,
    pub(in crate::run) steps: Vec<ToldStep>,
    pub(in crate::run) events: Vec<Event>,
}

impl Store {
    pub(in crate::run) fn number(&self, name: &str) -> Result<f64, Error> {
        self.look(|at| {
            let found = at
                .query_row("SELECT value FROM number WHERE name = ?1", [name], |row| {
                    row.get(0)
                })
                .optional()?;
            Ok(found.unwrap_or_default())
        })
    }

    pub(in crate::run) fn note(&self, name: &str) -> Result<Option<String>, Error> {
        self.look(|at| {
            at.query_row("SELECT value FROM note WHERE name = ?1", [name], |row| {
                row.get(0)
            })
            .optional()
        })
    }

    pub(in crate::run) fn tally(&self) -> Result<Vec<Tally>, Error> {
        self.look(|at| {
            at.prepare_cached(
                "SELECT stage, state, passed, outcome, steps, seconds, bytes, money FROM tally WHERE steps > 0",
            )?
            .query_map([], |row| {
                Ok(Tally {
                    stage: row.get(0)?,
                    state: row.get(1)?,
                    passed: row.get(2)?,
                    outcome: row.get(3)?,
                    steps: row.get(4)?,
                    seconds: row.get(5)?,
                    bytes: row.get::<_, i64>(6)?.unsigned_abs(),
                    money: row.get(7)?,
                })
            })?
            .collect()
        })
    }

    pub(in crate::run) fn running(&self) -> Result<Vec<Running>, Error> {
        self.look(|at| {
            at.prepare(
                "SELECT stage, name, owner, started FROM step JOIN candidate ON candidate.id = step.candidate
                 WHERE state = 'running' ORDER BY started, name",
            )?
            .query_map([], |row| {
                Ok(Running {
                    stage: row.get(0)?,
                    candidate: row.get(1)?,
                    owner: row.get(2)?,
                    started: row.get(3)?,
                })
            })?
            .collect()
        })
    }

    /// Steps of a stage that ended since a minute.
    pub(in crate::run) fn ended_since(&self, stage: &str, minute: i64) -> Result<u64, Error> {
        self.look(|at| {
            at.query_row(
                "SELECT coalesce(sum(steps), 0) FROM minute WHERE stage = ?1 AND minute >= ?2",
                params![stage, minute],
                |row| row.get(0),
            )
        })
    }

    /// The first minute since one in which a step of a stage ended.
    pub(in crate::run) fn first_minute(
        &self,
        stage: &str,
        minute: i64,
    ) -> Result<Option<i64>, Error> {
        self.look(|at| {
            at.query_row(
                "SELECT min(minute) FROM minute WHERE stage = ?1 AND minute >= ?2",
                params![stage, minute],
                |row| row.get(0),
            )
        })
    }

    /// The accepted candidates, sorted by name, one after the other.
    pub(in crate::run) fn accepted(
        &self,
        each: impl FnMut(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.ended("stage = 'accept' AND passed = 1", each)
    }

    /// Candidates that the stage `make` ended with this outcome for, sorted by name, one after the other.
    pub(in crate::run) fn ended_with(
        &self,
        outcome: &str,
        each: impl FnMut(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.ended(&format!("stage = 'make' AND outcome = '{outcome}'"), each)
    }

    fn ended(
        &self,
        which: &str,
        mut each: impl FnMut(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let names: Vec<String> = self.look(|at| {
            at.prepare(&format!(
                "SELECT name FROM step INDEXED BY step_ended JOIN candidate ON candidate.id = step.candidate
                 WHERE {which} AND state IN ('done', 'failed') AND state = 'done' AND withdrawn = 0 ORDER BY name"
            ))?
            .query_map([], |row| row.get(0))?
            .collect()
        })?;
        names.iter().try_for_each(|name| each(name))
    }

    /// All that is known of a candidate.
    pub(in crate::run) fn story(&self, name: &str) -> Result<Option<Story>, Error> {
        self.look(|at| {
            let found: Option<(i64, bool, String, String, usize)> = at
                .query_row(
                    "SELECT id, withdrawn, text, file, number FROM candidate JOIN line ON line.candidate = candidate.id
                     WHERE name = ?1",
                    [name],
                    |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
                )
                .optional()?;
            let Some((id, withdrawn, line, file, number)) = found else {
                return Ok(None);
            };
            let steps = at
                .prepare(
                    "SELECT step.stage, state, passed, outcome, coalesce(reason, ''), coalesce(evidence, '[]'), seconds,
                         bytes, money, attempts, started, key
                     FROM step LEFT JOIN verdict ON verdict.candidate = step.candidate AND verdict.stage = step.stage
                     LEFT JOIN recipe ON recipe.id = step.recipe WHERE step.candidate = ?1",
                )?
                .query_map([id], |row| {
                    let evidence: String = row.get(5)?;
                    Ok(ToldStep {
                        stage: row.get(0)?,
                        state: row.get(1)?,
                        passed: row.get(2)?,
                        outcome: row.get(3)?,
                        reason: row.get(4)?,
                        evidence: serde_json::from_str(&evidence).unwrap_or_default(),
                        seconds: row.get(6)?,
                        bytes: row.get::<_, i64>(7)?.unsigned_abs(),
                        money: row.get(8)?,
                        attempts: row.get(9)?,
                        started: row.get(10)?,
                        recipe: row.get(11)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            let events = at
                .prepare("SELECT stage, at, what, text FROM event WHERE candidate = ?1 ORDER BY id")?
                .query_map([id], |row| {
                    Ok(Event {
                        stage: row.get(0)?,
                        at: row.get(1)?,
                        what: row.get(2)?,
                        text: row.get(3)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok(Some(Story { line, file, number, withdrawn, steps, events }))
        })
    }

    /// Where candidates stand of which a step has begun: the first `most` by name, and how many there are.
    pub(in crate::run) fn standings(
        &self,
        order: &[&str],
        most: usize,
    ) -> Result<(Vec<Standing>, u64), Error> {
        const BEGUN: &str =
            "SELECT DISTINCT candidate FROM step WHERE state <> 'pending' OR attempts > 0";
        self.look(|at| {
            let all: i64 = at.query_row(&format!("SELECT count(*) FROM ({BEGUN})"), [], |row| row.get(0))?;
            let mut steps = at.prepare(
                "SELECT step.stage, state, passed, outcome, coalesce(reason, ''), coalesce(evidence, '[]'), seconds, bytes
                 FROM step LEFT JOIN verdict ON verdict.candidate = step.candidate AND verdict.stage = step.stage
                 WHERE step.candidate = ?1",
            )?;
            let mut found = Vec::new();
            let mut candidates = at.prepare(&format!(
                "SELECT candidate.id, candidate.name, repository.name FROM candidate
                 JOIN repository ON repository.id = candidate.repository
                 WHERE withdrawn = 0 AND candidate.id IN ({BEGUN}) ORDER BY candidate.name LIMIT ?1"
            ))?;
            let mut rows = candidates.query([i64::try_from(most).unwrap_or(i64::MAX)])?;
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                let mut standing = Standing { id: row.get(1)?, repo: row.get(2)?, ..Standing::default() };
                let mut last = None;
                let mut told = steps.query([id])?;
                while let Some(step) = told.next()? {
                    let stage: String = step.get(0)?;
                    standing.seconds += step.get::<_, f64>(6)?;
                    standing.bytes = standing.bytes.max(step.get::<_, i64>(7)?.unsigned_abs());
                    let place = order.iter().position(|name| *name == stage);
                    if last.is_some() && place < last {
                        continue;
                    }
                    last = place;
                    standing.stage = stage;
                    standing.state = step.get(1)?;
                    standing.passed = step.get(2)?;
                    standing.outcome = step.get(3)?;
                    standing.reason = step.get(4)?;
                    standing.evidence = serde_json::from_str(&step.get::<_, String>(5)?).unwrap_or_default();
                }
                found.push(standing);
            }
            Ok((found, all.unsigned_abs()))
        })
    }

    /// Names that stand near a name in the alphabet, or near one of its beginnings, for a hint.
    pub(in crate::run) fn names_near(&self, name: &str) -> Result<Vec<String>, Error> {
        self.look(|at| {
            let mut names = Vec::new();
            for (end, _) in name.char_indices().chain([(name.len(), ' ')]) {
                for sides in ["name >= ?1 ORDER BY name", "name < ?1 ORDER BY name DESC"] {
                    let near = format!("SELECT name FROM candidate WHERE {sides} LIMIT 50");
                    let mut near = at.prepare_cached(&near)?;
                    let near = near.query_map([&name[..end]], |row| row.get(0))?;
                    names.extend(near.collect::<rusqlite::Result<Vec<String>>>()?);
                }
            }
            Ok(names)
        })
    }
}
