-- The fourth form of the journal: a line's key is its place in the feed. With a table of its own, the feed made a commit
-- write twice as many pages.

-- A position is never used twice, also if its line was removed: none up to this one is given out again.
CREATE TABLE given (
    position INTEGER NOT NULL
) STRICT;

INSERT INTO given SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'feed';

CREATE TABLE placed (
    position INTEGER PRIMARY KEY,
    log      INTEGER NOT NULL REFERENCES logs (id),
    seq      INTEGER NOT NULL,
    line     TEXT    NOT NULL,
    UNIQUE (log, seq)
) STRICT;

INSERT OR IGNORE INTO placed (position, log, seq, line)
    SELECT feed.position, lines.log, lines.seq, lines.line
    FROM feed CROSS JOIN lines ON lines.log = feed.log AND lines.seq = feed.seq ORDER BY feed.position;

-- A damaged feed loses no line.
INSERT INTO placed (log, seq, line)
    SELECT log, seq, line FROM lines
    WHERE NOT EXISTS (SELECT 1 FROM placed WHERE placed.log = lines.log AND placed.seq = lines.seq)
    ORDER BY log, seq;

DROP TABLE feed;
-- With its triggers.
DROP TABLE lines;
ALTER TABLE placed RENAME TO lines;

CREATE TRIGGER lines_are_not_changed BEFORE UPDATE ON lines
BEGIN SELECT RAISE(ABORT, 'a line of the journal is never changed'); END;

CREATE TRIGGER lines_are_not_removed BEFORE DELETE ON lines
WHEN NOT EXISTS (SELECT 1 FROM removing WHERE log = OLD.log)
BEGIN SELECT RAISE(ABORT, 'a line of the journal is never removed'); END;
