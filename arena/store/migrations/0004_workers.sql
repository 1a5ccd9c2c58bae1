-- Workers that are processes of their own. A session is the life of such a process; a lease
-- with one may go on when the arena is killed, one without ends with the arena.
ALTER TABLE leases ADD COLUMN session TEXT;
-- Who played a game; null where the arena's own process did.
ALTER TABLE games ADD COLUMN worker TEXT;
-- Tournaments of a higher priority are played first.
ALTER TABLE tournaments ADD COLUMN priority BIGINT NOT NULL DEFAULT 0;
-- What a person has asked for: play, pause, cancel. Null where the arena that plays it was
-- started for this tournament alone.
ALTER TABLE tournaments ADD COLUMN wish TEXT;
-- What it waits for, in words, where no worker can play it.
ALTER TABLE tournaments ADD COLUMN waits TEXT;

-- Who may work. `token_hash` is the SHA-256 of a token; null where none is needed.
CREATE TABLE workers (
    name TEXT PRIMARY KEY,
    token_hash TEXT,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    revoked BIGINT NOT NULL,
    -- Why it may not work any more: it reported a game that was not played so.
    shut_out TEXT
);

-- What is known of each worker's processes, for people.
CREATE TABLE worker_sessions (
    session TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    -- JSON: its machine and what it has done.
    about TEXT NOT NULL,
    joined_ms BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL
);
