-- Contests: who takes part, what they hand in, and what comes of it. Everything of a contest is
-- numbered within it, and the numbers stay when a person is forgotten.

CREATE TABLE contests (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- JSON: what its file says.
    definition TEXT NOT NULL,
    -- The root of the deals of exams and leagues, which is never told.
    root TEXT NOT NULL,
    -- The root of the final, which is told when the contest is published.
    final_root TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    published_ms BIGINT
);

-- Those who are ranked: a person, or a team.
CREATE TABLE contestants (
    contest BIGINT NOT NULL REFERENCES contests (id),
    number BIGINT NOT NULL,
    -- The name that the others see.
    pseudonym TEXT NOT NULL,
    -- Null where it is one person.
    team TEXT,
    -- The moment until which it may hand in, where that is not the contest's.
    until_ms BIGINT,
    -- Why it is out.
    disqualified TEXT,
    PRIMARY KEY (contest, number)
);

CREATE TABLE people (
    contest BIGINT NOT NULL REFERENCES contests (id),
    number BIGINT NOT NULL,
    role TEXT NOT NULL,
    contestant BIGINT,
    -- Null where the person was forgotten, as are the next two.
    name TEXT,
    external_id TEXT,
    section TEXT,
    -- SHA-256; null where the person can't log in.
    token_hash TEXT UNIQUE,
    PRIMARY KEY (contest, number)
);
CREATE INDEX people_by_external_id ON people (external_id);

-- Who is logged in with a browser. A cookie has the secret whose SHA-256 this is.
CREATE TABLE logins (
    secret_hash TEXT PRIMARY KEY,
    contest BIGINT NOT NULL,
    person BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    FOREIGN KEY (contest, person) REFERENCES people (contest, number)
);

CREATE TABLE entries (
    contest BIGINT NOT NULL REFERENCES contests (id),
    number BIGINT NOT NULL,
    contestant BIGINT NOT NULL,
    -- The person who handed it in.
    person BIGINT NOT NULL,
    -- Which part of the exam it is for, from 1; 0 is the whole.
    part BIGINT NOT NULL,
    received_ms BIGINT NOT NULL,
    -- 0 for one that came after the deadline.
    official BIGINT NOT NULL,
    -- 1 as long as it takes one of the counted places.
    counted BIGINT NOT NULL,
    state TEXT NOT NULL,
    -- The number of times that it was taken up, to fence off who was thought to be dead.
    attempt BIGINT NOT NULL,
    -- The name of the file that was handed in, and its SHA-256.
    file TEXT NOT NULL,
    hash TEXT NOT NULL,
    -- JSON: what came of it, in few words.
    outcome TEXT,
    -- JSON: all that builds and games said of it, which no list reads. It goes when the person is
    -- forgotten.
    details TEXT,
    -- How its bot is started: packed:HASH and so on.
    spec TEXT,
    score BIGINT,
    -- The entry that this one judges anew; null where it is one that was handed in.
    trial_of BIGINT,
    PRIMARY KEY (contest, number),
    FOREIGN KEY (contest, contestant) REFERENCES contestants (contest, number)
);
CREATE INDEX entries_by_contestant ON entries (contest, contestant);
CREATE INDEX entries_by_state ON entries (contest, state);

-- What was handed in, as it came. It goes when the person is forgotten.
CREATE TABLE uploads (
    contest BIGINT NOT NULL,
    entry BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (contest, entry)
);

-- The tournaments that a contest plays: no list has them, and nobody sees them but by the contest.
CREATE TABLE contest_runs (
    tournament BIGINT PRIMARY KEY REFERENCES tournaments (id),
    contest BIGINT NOT NULL REFERENCES contests (id),
    -- exam, league, final
    kind TEXT NOT NULL,
    -- The entry that is examined; null in a league and a final.
    entry BIGINT,
    -- The part of the exam, or the number of the league's round.
    part BIGINT NOT NULL,
    -- JSON: what came of a league's round or a final, once it is over.
    result TEXT
);
CREATE INDEX contest_runs_by_entry ON contest_runs (contest, entry, tournament);

-- Who wants to meet whom in the next round of a ladder.
CREATE TABLE contest_challenges (
    contest BIGINT NOT NULL REFERENCES contests (id),
    number BIGINT NOT NULL,
    -- Who asks for it.
    contestant BIGINT NOT NULL,
    opponent BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    -- The round in which they met.
    round BIGINT,
    PRIMARY KEY (contest, number)
);

-- What was done, by whom. Rows are added only.
CREATE TABLE contest_log (
    contest BIGINT NOT NULL REFERENCES contests (id),
    number BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (contest, number)
);
