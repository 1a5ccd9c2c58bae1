-- The largest number that an attempt at a chunk can have so far. They are reserved many at a time, so
-- that a lease waits for no transaction, and a number is never given twice, also after a crash.
ALTER TABLE tournaments ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
UPDATE tournaments SET attempts =
    (SELECT COALESCE(MAX(attempt), 0) FROM leases WHERE leases.tournament = tournaments.id);
