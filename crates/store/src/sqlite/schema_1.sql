-- The first form of the journal. A form that was released is never edited: the next one gets a file of its own.

-- A log, with its recorded end, so that a tail that was cut off is noticed.
CREATE TABLE logs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL UNIQUE,
    run        TEXT    NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    last_seq   INTEGER NOT NULL DEFAULT 0,
    head       TEXT    NOT NULL,
    created    INTEGER NOT NULL DEFAULT 0,
    updated    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX logs_by_run ON logs (run);

CREATE TABLE lines (
    log  INTEGER NOT NULL REFERENCES logs (id),
    seq  INTEGER NOT NULL,
    line TEXT    NOT NULL,
    PRIMARY KEY (log, seq)
) STRICT;

CREATE TRIGGER lines_are_not_changed BEFORE UPDATE ON lines
BEGIN SELECT RAISE(ABORT, 'a line of the journal is never changed'); END;

CREATE TRIGGER lines_are_not_removed BEFORE DELETE ON lines
BEGIN SELECT RAISE(ABORT, 'a line of the journal is never removed'); END;

CREATE TABLE blobs (
    digest TEXT NOT NULL PRIMARY KEY,
    bytes  BLOB NOT NULL
) STRICT;

-- Commands that nobody has taken yet. Numbers are never used twice.
CREATE TABLE inbox (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run     TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    command TEXT    NOT NULL
) STRICT;

CREATE INDEX inbox_by_run ON inbox (run, id);
