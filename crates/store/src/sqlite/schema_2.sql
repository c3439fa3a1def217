-- The second form of the journal: summaries of runs, so that a list reads no logs; and removal, on record.

-- What a list shows of a log, in the words of its writer: short, and as a whole where the run is over.
CREATE TABLE summaries (
    log     INTEGER NOT NULL PRIMARY KEY REFERENCES logs (id),
    form    INTEGER NOT NULL,
    summary TEXT    NOT NULL,
    whole   TEXT
) STRICT;

-- The last line for which its writer has vouched for the summary. It holds while this is the log's last line.
ALTER TABLE logs ADD COLUMN summary_seq INTEGER NOT NULL DEFAULT 0;

-- Logs that were removed: where they ended, when, and by whom.
CREATE TABLE removed (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    name     TEXT    NOT NULL,
    run      TEXT    NOT NULL,
    last_seq INTEGER NOT NULL,
    head     TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    by       TEXT    NOT NULL
) STRICT;

CREATE TRIGGER removals_are_not_changed BEFORE UPDATE ON removed
BEGIN SELECT RAISE(ABORT, 'the record of a removal is never changed'); END;

CREATE TRIGGER removals_are_not_removed BEFORE DELETE ON removed
BEGIN SELECT RAISE(ABORT, 'the record of a removal is never removed'); END;

-- Logs that are being removed: it has rows only inside of the transaction that removes them.
CREATE TABLE removing (
    log INTEGER NOT NULL PRIMARY KEY REFERENCES logs (id)
) STRICT;

DROP TRIGGER lines_are_not_removed;

CREATE TRIGGER lines_are_not_removed BEFORE DELETE ON lines
WHEN NOT EXISTS (SELECT 1 FROM removing WHERE log = OLD.log)
BEGIN SELECT RAISE(ABORT, 'a line of the journal is never removed'); END;
