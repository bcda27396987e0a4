CREATE TABLE episode (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    reward TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'submitted', 'graded', 'ended')),
    -- Milliseconds since 1970 of the last change of state.
    at INTEGER NOT NULL,
    cause TEXT,
    patch TEXT,
    -- The answer to the submission, as JSON.
    result TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX episode_state ON episode (state, at);
