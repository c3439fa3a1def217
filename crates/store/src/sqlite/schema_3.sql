-- The third form of the journal: the feed, all lines of all logs in the order of their commits, so that one number says
-- how far a reader has come.

-- `run` is the oldest log of the run that the line belongs to. A position is never used twice.
CREATE TABLE feed (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    run      INTEGER NOT NULL,
    log      INTEGER NOT NULL,
    seq      INTEGER NOT NULL
) STRICT;

CREATE INDEX feed_by_run ON feed (run);

INSERT INTO feed (run, log, seq)
    SELECT (SELECT id FROM logs AS oldest WHERE oldest.run = logs.run ORDER BY id LIMIT 1), lines.log, lines.seq
    FROM lines JOIN logs ON logs.id = lines.log ORDER BY lines.log, lines.seq;

-- A trigger, so that lines of a program that had the journal open before it got this form are in the feed, too.
CREATE TRIGGER lines_enter_the_feed AFTER INSERT ON lines
BEGIN
    INSERT INTO feed (run, log, seq)
        SELECT (SELECT id FROM logs AS oldest WHERE oldest.run = logs.run ORDER BY id LIMIT 1), NEW.log, NEW.seq
        FROM logs WHERE logs.id = NEW.log;
END;
