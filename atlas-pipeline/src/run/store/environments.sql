-- What environments of one repository share.

CREATE TABLE environment (
    candidate INTEGER PRIMARY KEY, repository INTEGER NOT NULL, image TEXT NOT NULL
) STRICT;
CREATE INDEX environment_by_image ON environment (repository, image);

-- Layers of the images that are there; of a prepared folder the folder is one.
CREATE TABLE layer (
    repository INTEGER NOT NULL, image TEXT NOT NULL, hash TEXT NOT NULL, bytes INTEGER NOT NULL,
    PRIMARY KEY (repository, image, hash)
) STRICT, WITHOUT ROWID;

-- A line for each repository, so that nothing counts layers to tell of it. `whole`: bytes of all images if none shared
-- a layer. Seconds are those of steps and of builds within them: of the first, and of all later ones.
CREATE TABLE sharing (
    repository INTEGER PRIMARY KEY,
    images INTEGER NOT NULL DEFAULT 0, layers INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
    shared_layers INTEGER NOT NULL DEFAULT 0, shared_bytes INTEGER NOT NULL DEFAULT 0, whole INTEGER NOT NULL DEFAULT 0,
    first_seconds REAL NOT NULL, first_build REAL NOT NULL,
    later INTEGER NOT NULL DEFAULT 0, later_seconds REAL NOT NULL DEFAULT 0, later_build REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sharing_by_bytes ON sharing (bytes);
