//! Taking steps, ending them, and putting them back.

use super::import::go_on;
use super::{Store, environments, now};
use crate::run::stages::NO_ANSWER;
use crate::run::{Recipe, StepEnvironment};
use atlas_core::{Error, Evidence};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

/// A step that was taken by this runner.
#[derive(Clone, Debug)]
pub(in crate::run) struct Claim {
    pub(in crate::run) candidate: i64,
    pub(in crate::run) name: String,
    pub(in crate::run) stage: String,
    /// The candidate's line.
    pub(in crate::run) line: String,
    pub(in crate::run) hash: Vec<u8>,
    /// Errors of the machine until now.
    pub(in crate::run) faults: u32,
}

/// What became of a step.
#[derive(Clone, Debug)]
pub(in crate::run) enum Ending {
    /// A verdict.
    Done {
        passed: bool,
        outcome: String,
        reason: String,
        evidence: Vec<Evidence>,
        bytes: u64,
        environment: Option<StepEnvironment>,
    },
    /// An error that another try will not mend, or after too many tries.
    Failed { kind: String, reason: String },
    /// An error of the machine: to be tried again, not before this time in milliseconds since 1970.
    Again {
        kind: String,
        reason: String,
        not_before: i64,
    },
    /// Stopped from outside: nothing was found out.
    Returned { why: String },
}

/// Which candidates may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Choice {
    All,
    /// Those in the table of chosen ones, so many.
    Chosen(u64),
}

/// Above so many chosen candidates the queue is walked and not the table of the chosen.
const FEW: u64 = 2_000;

impl Store {
    /// The rows of recipes, made where they are new.
    pub(in crate::run) fn recipes(&self, recipes: &[Recipe]) -> Result<Vec<i64>, Error> {
        self.change(|at| {
            let mut ids = Vec::new();
            for recipe in recipes {
                at.execute(
                    "INSERT OR IGNORE INTO recipe (stage, version, settings, key) VALUES (?1, ?2, ?3, ?4)",
                    params![recipe.stage, recipe.version, recipe.settings, recipe.key],
                )?;
                let id = "SELECT id FROM recipe WHERE key = ?1";
                ids.push(at.query_row(id, [&recipe.key], |row| row.get(0))?);
            }
            Ok(ids)
        })
    }

    /// Takes the next step of a stage. With `alone`, not of a repository of which a step of this stage runs.
    pub(in crate::run) fn claim(
        &self,
        (stage, recipe): (&str, i64),
        owner: &str,
        alone: bool,
        choice: Choice,
    ) -> Result<Option<Claim>, Error> {
        let from = match choice {
            Choice::All => "step INDEXED BY step_pending WHERE",
            Choice::Chosen(count) if count <= FEW => {
                "temp.chosen CROSS JOIN step ON step.candidate = chosen.candidate WHERE"
            }
            Choice::Chosen(_) => {
                "step INDEXED BY step_pending WHERE candidate IN (SELECT candidate FROM temp.chosen) AND"
            }
        };
        let free = if alone {
            "AND repository NOT IN (SELECT repository FROM step WHERE stage = ?1 AND state = 'running')"
        } else {
            ""
        };
        let next = format!(
            "SELECT step.candidate FROM {from} state = 'pending' AND stage = ?1 AND not_before <= ?2 {free} ORDER BY rank LIMIT 1"
        );
        self.change(|at| {
            let time = now();
            let candidate: Option<i64> = at
                .prepare_cached(&next)?
                .query_row(params![stage, time], |row| row.get(0))
                .optional()?;
            let Some(candidate) = candidate else {
                return Ok(None);
            };
            let (name, hash, line) = at
                .prepare_cached(
                    "SELECT name, hash, text FROM candidate JOIN line ON line.candidate = candidate.id WHERE candidate.id = ?1",
                )?
                .query_row([candidate], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?, row.get(2)?)))?;
            let faults = at
                .prepare_cached(
                    "UPDATE step SET state = 'running', owner = ?3, started = ?4, attempts = attempts + 1, hash = ?5,
                         recipe = ?6, ended = NULL
                     WHERE candidate = ?1 AND stage = ?2 AND state = 'pending' RETURNING faults",
                )?
                .query_row(params![candidate, stage, owner, time, hash, recipe], |row| row.get(0))?;
            Ok(Some(Claim { candidate, name, stage: stage.to_owned(), line, hash, faults }))
        })
    }

    /// Ends a step, with what it took, and puts the next one into the queue. A result on a line that has changed meanwhile
    /// is thrown away.
    pub(in crate::run) fn end(
        &self,
        claim: &Claim,
        ending: &Ending,
        (seconds, money): (f64, f64),
        stages: &[&str],
    ) -> Result<(), Error> {
        self.change(|at| {
            add(at, "seconds", seconds)?;
            add(at, "money", money)?;
            let (hash, withdrawn): (Vec<u8>, bool) = at.query_row(
                "SELECT hash, withdrawn FROM candidate WHERE id = ?1",
                [claim.candidate],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            if hash != claim.hash {
                at.execute("DELETE FROM step WHERE candidate = ?1", [claim.candidate])?;
                event(
                    at,
                    claim,
                    "thrown away",
                    "the candidate's line changed meanwhile",
                )?;
                return if withdrawn {
                    Ok(())
                } else {
                    go_on(at, claim.candidate, stages)
                };
            }
            write_ending(at, claim, ending, (seconds, money))?;
            if withdrawn {
                at.execute(
                    "DELETE FROM step WHERE candidate = ?1 AND state = 'pending'",
                    [claim.candidate],
                )?;
            } else {
                go_on(at, claim.candidate, stages)?;
            }
            Ok(())
        })
    }

    /// Puts the running steps of owners that have ended back; returns how many.
    pub(in crate::run) fn free(
        &self,
        is_dead: impl Fn(&str) -> bool,
        stages: &[&str],
    ) -> Result<usize, Error> {
        let running: Vec<(i64, String, String)> = self.look(|at| {
            at.prepare("SELECT candidate, stage, owner FROM step WHERE state = 'running'")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect()
        })?;
        let mut dead = running;
        dead.retain(|(_, _, owner)| is_dead(owner));
        if dead.is_empty() {
            return Ok(0);
        }
        self.change(|at| {
            let mut freed = 0;
            for (candidate, stage, owner) in &dead {
                // Somebody else may have done it since.
                let mine = at.execute(
                    "UPDATE step SET state = 'pending', owner = NULL, started = NULL
                     WHERE candidate = ?1 AND stage = ?2 AND state = 'running' AND owner = ?3",
                    params![candidate, stage, owner],
                )?;
                if mine == 0 {
                    continue;
                }
                freed += mine;
                at.execute(
                    "INSERT INTO event (candidate, stage, at, what, text) VALUES (?1, ?2, ?3, 'left', ?4)",
                    params![candidate, stage, now(), format!("its process ended: {owner}")],
                )?;
                let (changed, withdrawn): (bool, bool) = at.query_row(
                    "SELECT candidate.hash <> step.hash, withdrawn FROM candidate JOIN step ON step.candidate = id
                     WHERE id = ?1 AND stage = ?2",
                    params![candidate, stage],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )?;
                if changed {
                    at.execute("DELETE FROM step WHERE candidate = ?1", [candidate])?;
                }
                if withdrawn {
                    at.execute("DELETE FROM step WHERE candidate = ?1 AND state = 'pending'", [candidate])?;
                } else {
                    go_on(at, *candidate, stages)?;
                }
            }
            Ok(freed)
        })
    }

    /// Puts failed steps of these kinds of error back, with new tries, and steps that went on without their model's answer for
    /// such an error, with those after them; with patterns, those of candidates that match one. Returns how many.
    pub(in crate::run) fn retry(
        &self,
        kinds: &[String],
        only: &[String],
        stages: &[&str],
    ) -> Result<usize, Error> {
        let all = ["*".to_owned()];
        let patterns = if only.is_empty() { &all } else { only };
        self.change(|at| {
            let mut back = 0;
            for (kind, pattern) in kinds.iter().flat_map(|kind| patterns.iter().map(move |p| (kind, p))) {
                back += unanswered(at, kind, pattern, stages)?;
                back += at.execute(
                    "UPDATE step SET state = 'pending', outcome = '', faults = 0, not_before = 0,
                         rank = (SELECT rank FROM candidate WHERE id = step.candidate)
                     WHERE state = 'failed' AND outcome = ?1
                         AND candidate IN (SELECT id FROM candidate WHERE withdrawn = 0 AND name GLOB ?2)",
                    [kind, pattern],
                )?;
            }
            Ok(back)
        })
    }

    /// How many ended steps of each recipe's stage are of another recipe.
    pub(in crate::run) fn stale(&self, recipes: &[Recipe]) -> Result<Vec<u64>, Error> {
        self.look(|at| {
            let counts = recipes.iter().map(|recipe| {
                let id = at
                    .query_row("SELECT id FROM recipe WHERE key = ?1", [&recipe.key], |row| row.get(0))
                    .optional()?
                    .unwrap_or(0_i64);
                let mut stale = 0;
                for side in ["<", ">"] {
                    let count = format!(
                        "SELECT count(*) FROM step WHERE state IN ('done', 'failed') AND stage = ?1 AND recipe {side} ?2"
                    );
                    stale += at.query_row(&count, params![recipe.stage, id], |row| row.get::<_, u64>(0))?;
                }
                Ok(stale)
            });
            counts.collect()
        })
    }

    /// Begins the candidates with stale steps again at the first of them; returns how many candidates.
    pub(in crate::run) fn renew(&self, stages: &[(&str, i64)]) -> Result<usize, Error> {
        let names: Vec<&str> = stages.iter().map(|(stage, _)| *stage).collect();
        self.change(|at| {
            let mut renewed = 0;
            for (place, (stage, recipe)) in stages.iter().enumerate() {
                let stale: Vec<i64> = at
                    .prepare("SELECT candidate FROM step WHERE state IN ('done', 'failed') AND stage = ?1 AND recipe <> ?2")?
                    .query_map(params![stage, recipe], |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?;
                for candidate in &stale {
                    for later in &names[place..] {
                        at.prepare_cached(
                            "DELETE FROM step WHERE candidate = ?1 AND stage = ?2 AND state <> 'running'",
                        )?
                        .execute(params![candidate, later])?;
                    }
                    at.prepare_cached(
                        "INSERT INTO event (candidate, stage, at, what, text)
                         VALUES (?1, ?2, ?3, 'stale', 'another version or configuration of the stage')",
                    )?
                    .execute(params![candidate, stage, now()])?;
                    let here: bool = at.query_row(
                        "SELECT withdrawn = 0 FROM candidate WHERE id = ?1",
                        [candidate],
                        |row| row.get(0),
                    )?;
                    if here {
                        go_on(at, *candidate, &names)?;
                    }
                }
                renewed += stale.len();
            }
            Ok(renewed)
        })
    }

    /// How many candidates a pattern (`GLOB`) matches.
    pub(in crate::run) fn matches(&self, pattern: &str) -> Result<u64, Error> {
        self.look(|at| {
            let count = "SELECT count(*) FROM candidate WHERE withdrawn = 0 AND name GLOB ?1";
            at.query_row(count, [pattern], |row| row.get(0))
        })
    }

    /// Chooses candidates: of those whose names match one of the patterns (all where there is none) the first `limit`, in
    /// the order of the queue, that have a step to do in one of the stages. Returns how many.
    pub(in crate::run) fn choose(
        &self,
        patterns: &[String],
        limit: Option<u64>,
        stages: &[&str],
    ) -> Result<u64, Error> {
        let limit = limit.unwrap_or(u64::MAX).min(i64::MAX.unsigned_abs());
        let list: Vec<String> = stages.iter().map(|stage| format!("'{stage}'")).collect();
        let list = list.join(",");
        self.change(|at| {
            at.execute_batch(
                "CREATE TEMP TABLE IF NOT EXISTS pattern (text TEXT NOT NULL);
                 CREATE TEMP TABLE IF NOT EXISTS chosen (candidate INTEGER PRIMARY KEY);
                 DELETE FROM temp.pattern; DELETE FROM temp.chosen;",
            )?;
            for pattern in patterns {
                at.execute("INSERT INTO temp.pattern VALUES (?1)", [pattern])?;
            }
            let matching = if patterns.is_empty() {
                ""
            } else {
                "AND EXISTS (SELECT 1 FROM temp.pattern WHERE name GLOB pattern.text)"
            };
            let count = at.execute(
                &format!(
                    "INSERT INTO temp.chosen SELECT id FROM candidate WHERE withdrawn = 0 {matching} AND EXISTS
                         (SELECT 1 FROM step WHERE candidate = id AND state IN ('pending', 'running') AND stage IN ({list}))
                     ORDER BY rank LIMIT ?1"
                ),
                [limit],
            )?;
            Ok(count as u64)
        })
    }

    /// Whether a step up to the last of these stages waits or runs somewhere, of those that may be taken.
    pub(in crate::run) fn is_open(&self, stages: &[&str], choice: Choice) -> Result<bool, Error> {
        let list: Vec<String> = stages.iter().map(|stage| format!("'{stage}'")).collect();
        let chosen = match choice {
            Choice::All => "",
            Choice::Chosen(_) => "AND candidate IN (SELECT candidate FROM temp.chosen)",
        };
        self.look(|at| {
            for state in ["pending", "running"] {
                let open: bool = at
                    .prepare_cached(&format!(
                        "SELECT EXISTS (SELECT 1 FROM step WHERE state = '{state}' AND stage IN ({}) {chosen})",
                        list.join(",")
                    ))?
                    .query_row([], |row| row.get(0))?;
                if open {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// A candidate that is finished, of a repository that has nothing open, and whose environment was not given up yet:
    /// first one that was rejected.
    pub(in crate::run) fn reclaimable(&self) -> Result<Option<(i64, String, String)>, Error> {
        self.look(|at| {
            at.query_row(
                "SELECT candidate.id, candidate.name, line.text FROM candidate
                 JOIN repository ON repository.id = candidate.repository AND repository.open = 0
                 JOIN line ON line.candidate = candidate.id
                 JOIN step ON step.candidate = candidate.id AND step.stage = 'make' AND step.state IN ('done', 'failed')
                 WHERE candidate.reclaimed = 0
                 ORDER BY step.passed, step.ended LIMIT 1",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()
        })
    }

    pub(in crate::run) fn reclaimed(&self, candidate: i64) -> Result<(), Error> {
        self.change(|at| {
            environments::give_back(at, candidate)?;
            at.execute(
                "UPDATE candidate SET reclaimed = 1 WHERE id = ?1",
                [candidate],
            )
            .map(drop)
        })
    }

    pub(in crate::run) fn set_number(&self, name: &str, value: f64) -> Result<(), Error> {
        self.change(|at| {
            at.execute(
                "INSERT OR REPLACE INTO number VALUES (?1, ?2)",
                params![name, value],
            )
            .map(drop)
        })
    }

    pub(in crate::run) fn set_note(&self, name: &str, value: &str) -> Result<(), Error> {
        self.change(|at| {
            at.execute(
                "INSERT OR REPLACE INTO note VALUES (?1, ?2)",
                params![name, value],
            )
            .map(drop)
        })
    }
}

/// Puts steps back that ended without an answer for this kind of error: they and those after them are begun again. Candidates
/// that are at work are left to another time.
fn unanswered(
    at: &Connection,
    kind: &str,
    pattern: &str,
    stages: &[&str],
) -> rusqlite::Result<usize> {
    let mut back = 0;
    for (place, stage) in stages.iter().enumerate() {
        let found: Vec<i64> = at
            .prepare_cached(
                "SELECT candidate FROM step JOIN candidate ON candidate.id = step.candidate
                 WHERE stage = ?1 AND state IN ('done', 'failed') AND state = 'done' AND outcome = ?2 AND withdrawn = 0
                     AND name GLOB ?3 AND NOT EXISTS
                         (SELECT 1 FROM step AS other WHERE other.candidate = step.candidate AND other.state = 'running')",
            )?
            .query_map(params![stage, format!("{NO_ANSWER}{kind}"), pattern], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for candidate in &found {
            for later in &stages[place..] {
                at.prepare_cached("DELETE FROM step WHERE candidate = ?1 AND stage = ?2")?
                    .execute(params![candidate, later])?;
            }
            go_on(at, *candidate, stages)?;
        }
        back += found.len();
    }
    Ok(back)
}

fn add(at: &Connection, name: &str, more: f64) -> rusqlite::Result<()> {
    at.prepare_cached("UPDATE number SET value = value + ?2 WHERE name = ?1")?
        .execute(params![name, more])
        .map(drop)
}

fn event(at: &Connection, claim: &Claim, what: &str, text: &str) -> rusqlite::Result<()> {
    at.prepare_cached(
        "INSERT INTO event (candidate, stage, at, what, text) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![claim.candidate, claim.stage, now(), what, text])
    .map(drop)
}

fn write_ending(
    at: &Transaction,
    claim: &Claim,
    ending: &Ending,
    (seconds, money): (f64, f64),
) -> rusqlite::Result<()> {
    let verdict = |reason: &str, evidence: &[Evidence]| {
        let evidence = serde_json::to_string(evidence).unwrap_or_default();
        at.prepare_cached("INSERT OR REPLACE INTO verdict VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![claim.candidate, claim.stage, reason, evidence])
            .map(drop)
    };
    let time = now();
    match ending {
        Ending::Done {
            passed,
            outcome,
            reason,
            evidence,
            bytes,
            environment,
        } => {
            if let Some(environment) = environment {
                environments::take(at, claim.candidate, environment, seconds)?;
            }
            at.prepare_cached(
                "UPDATE step SET state = 'done', passed = ?3, outcome = ?4, seconds = ?5, bytes = ?6, money = ?7,
                     ended = ?8, owner = NULL, rank = '' WHERE candidate = ?1 AND stage = ?2",
            )?
            .execute(params![
                claim.candidate, claim.stage, passed, outcome, seconds,
                i64::try_from(*bytes).unwrap_or(i64::MAX), money, time
            ])?;
            verdict(reason, evidence)?;
            // What it may have built is there again.
            at.prepare_cached(
                "UPDATE candidate SET reclaimed = 0 WHERE id = ?1 AND reclaimed = 1",
            )?
            .execute([claim.candidate])?;
            at.prepare_cached(
                "INSERT INTO minute VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE SET steps = steps + 1",
            )?
            .execute(params![claim.stage, time / 60_000])?;
        }
        Ending::Failed { kind, reason } => {
            at.prepare_cached(
                "UPDATE step SET state = 'failed', passed = 0, outcome = ?3, seconds = ?4, money = ?5, ended = ?6,
                     owner = NULL, rank = '' WHERE candidate = ?1 AND stage = ?2",
            )?
            .execute(params![claim.candidate, claim.stage, kind, seconds, money, time])?;
            verdict(reason, &[])?;
            event(at, claim, "error", &format!("{kind}: {reason}"))?;
        }
        Ending::Again {
            kind,
            reason,
            not_before,
        } => {
            at.prepare_cached(
                "UPDATE step SET state = 'pending', owner = NULL, faults = faults + 1, not_before = ?3
                 WHERE candidate = ?1 AND stage = ?2",
            )?
            .execute(params![claim.candidate, claim.stage, not_before])?;
            event(
                at,
                claim,
                "error",
                &format!("{kind}: {reason}; tried again"),
            )?;
        }
        Ending::Returned { why } => {
            at.prepare_cached(
                "UPDATE step SET state = 'pending', owner = NULL, started = NULL WHERE candidate = ?1 AND stage = ?2",
            )?
            .execute(params![claim.candidate, claim.stage])?;
            event(at, claim, "returned", why)?;
        }
    }
    Ok(())
}
