-- The store of a run. `user_version` is its form; a store of another form is refused.

CREATE TABLE number (name TEXT PRIMARY KEY, value REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- `open`: steps of its candidates that are pending or running.
CREATE TABLE repository (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, open INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE candidate (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, repository INTEGER NOT NULL, hash BLOB NOT NULL,
    rank TEXT NOT NULL, withdrawn INTEGER NOT NULL DEFAULT 0, reclaimed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX candidate_by_hash ON candidate (hash);

-- Apart from the candidates, so that looking through them reads no texts.
CREATE TABLE line (
    candidate INTEGER PRIMARY KEY, text TEXT NOT NULL, file TEXT NOT NULL, number INTEGER NOT NULL
) STRICT;

CREATE TABLE recipe (
    id INTEGER PRIMARY KEY, stage TEXT NOT NULL, version INTEGER NOT NULL, settings TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE
) STRICT;

-- `passed`: the candidate goes on to the next stage. `outcome`: of a done step its word, of a failed one the
-- kind of error. `attempts`: claims; `faults`: errors of the machine among them.
CREATE TABLE step (
    candidate INTEGER NOT NULL, stage TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed')),
    repository INTEGER NOT NULL, rank TEXT NOT NULL, hash BLOB, recipe INTEGER,
    passed INTEGER NOT NULL DEFAULT 0, outcome TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, money REAL NOT NULL DEFAULT 0,
    started INTEGER, ended INTEGER, owner TEXT,
    attempts INTEGER NOT NULL DEFAULT 0, faults INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (candidate, stage)
) STRICT, WITHOUT ROWID;
CREATE INDEX step_pending ON step (stage, rank, repository, not_before) WHERE state = 'pending';
CREATE INDEX step_running ON step (stage, repository) WHERE state = 'running';
CREATE INDEX step_ended ON step (stage, recipe) WHERE state IN ('done', 'failed');

CREATE TABLE verdict (
    candidate INTEGER NOT NULL, stage TEXT NOT NULL, reason TEXT NOT NULL, evidence TEXT NOT NULL,
    PRIMARY KEY (candidate, stage)
) STRICT;

CREATE TABLE event (
    id INTEGER PRIMARY KEY, candidate INTEGER NOT NULL, stage TEXT NOT NULL, at INTEGER NOT NULL,
    what TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_candidate ON event (candidate);

-- Steps that ended in each minute, for rates.
CREATE TABLE minute (
    stage TEXT NOT NULL, minute INTEGER NOT NULL, steps INTEGER NOT NULL, PRIMARY KEY (stage, minute)
) STRICT, WITHOUT ROWID;

-- Sums over `step`, kept by the triggers in the transactions that change it: nothing counts rows.
CREATE TABLE tally (
    stage TEXT NOT NULL, state TEXT NOT NULL, passed INTEGER NOT NULL, outcome TEXT NOT NULL,
    steps INTEGER NOT NULL, seconds REAL NOT NULL, bytes INTEGER NOT NULL, money REAL NOT NULL,
    PRIMARY KEY (stage, state, passed, outcome)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER step_added AFTER INSERT ON step BEGIN
    INSERT INTO tally
        VALUES (NEW.stage, NEW.state, NEW.passed, NEW.outcome, 1, NEW.seconds, NEW.bytes, NEW.money)
        ON CONFLICT DO UPDATE SET steps = steps + 1, seconds = seconds + excluded.seconds,
            bytes = bytes + excluded.bytes, money = money + excluded.money;
    UPDATE repository SET open = open + 1 WHERE id = NEW.repository AND NEW.state IN ('pending', 'running');
    UPDATE number SET value = value + 1 WHERE name = 'dataset_wanted' AND NEW.stage = 'accept' AND NEW.state = 'done';
END;

CREATE TRIGGER step_removed AFTER DELETE ON step BEGIN
    UPDATE tally SET steps = steps - 1, seconds = seconds - OLD.seconds, bytes = bytes - OLD.bytes,
            money = money - OLD.money
        WHERE stage = OLD.stage AND state = OLD.state AND passed = OLD.passed AND outcome = OLD.outcome;
    UPDATE repository SET open = open - 1 WHERE id = OLD.repository AND OLD.state IN ('pending', 'running');
    UPDATE number SET value = value + 1 WHERE name = 'dataset_wanted' AND OLD.stage = 'accept' AND OLD.state = 'done';
END;

CREATE TRIGGER step_changed AFTER UPDATE ON step BEGIN
    UPDATE tally SET steps = steps - 1, seconds = seconds - OLD.seconds, bytes = bytes - OLD.bytes,
            money = money - OLD.money
        WHERE stage = OLD.stage AND state = OLD.state AND passed = OLD.passed AND outcome = OLD.outcome;
    INSERT INTO tally
        VALUES (NEW.stage, NEW.state, NEW.passed, NEW.outcome, 1, NEW.seconds, NEW.bytes, NEW.money)
        ON CONFLICT DO UPDATE SET steps = steps + 1, seconds = seconds + excluded.seconds,
            bytes = bytes + excluded.bytes, money = money + excluded.money;
    UPDATE repository SET open = open - 1
        WHERE id = OLD.repository AND OLD.state IN ('pending', 'running') AND NEW.state NOT IN ('pending', 'running');
    UPDATE repository SET open = open + 1
        WHERE id = NEW.repository AND NEW.state IN ('pending', 'running') AND OLD.state NOT IN ('pending', 'running');
    UPDATE number SET value = value + 1
        WHERE name = 'dataset_wanted' AND NEW.stage = 'accept' AND 'done' IN (OLD.state, NEW.state);
END;

CREATE TRIGGER candidate_added AFTER INSERT ON candidate BEGIN
    UPDATE number SET value = value + 1 WHERE name = 'candidates';
END;

CREATE TRIGGER candidate_withdrawn AFTER UPDATE OF withdrawn ON candidate WHEN OLD.withdrawn <> NEW.withdrawn BEGIN
    UPDATE number SET value = value + NEW.withdrawn - OLD.withdrawn WHERE name = 'withdrawn';
    UPDATE number SET value = value + 1 WHERE name = 'dataset_wanted';
END;

INSERT INTO number VALUES ('candidates', 0), ('withdrawn', 0), ('dataset_wanted', 0), ('dataset_written', 0),
    ('dataset_rows', 0), ('seconds', 0), ('money', 0);
