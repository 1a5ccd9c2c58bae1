-- One text for SQLite and PostgreSQL: BIGINT, TEXT and BYTEA mean the same in
-- both. Lists are texts of numbers with commas; in a lineup "-" is a place that
-- a house bot fills. Times are milliseconds since 1970.

-- Bots that have been entered for tournaments to come. `number` is the order
-- in which they were entered: a bare name means its newest version.
CREATE TABLE bots (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    spec TEXT NOT NULL,
    owner TEXT,
    games TEXT NOT NULL,
    number BIGINT NOT NULL UNIQUE,
    retired BIGINT NOT NULL,
    PRIMARY KEY (name, version)
);

CREATE TABLE tournaments (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    game TEXT NOT NULL,
    rules_version BIGINT NOT NULL,
    definition TEXT NOT NULL,
    commitment TEXT NOT NULL,
    -- Secret until the tournament is over. Null where it was imported before.
    root TEXT,
    reproduction BIGINT NOT NULL,
    state TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    over_ms BIGINT
);

-- Who entered, copied: what becomes of a bot later changes no tournament.
CREATE TABLE entrants (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    spec TEXT NOT NULL,
    owner TEXT,
    PRIMARY KEY (tournament, number)
);

-- Who runs a tournament, for the message to another. What decides is a lock.
CREATE TABLE claims (
    tournament BIGINT PRIMARY KEY REFERENCES tournaments (id),
    host TEXT NOT NULL,
    pid BIGINT NOT NULL
);

-- The newest attempt at each chunk of work. `seating` is -1 for all seatings;
-- a worker of null is nobody: the row stays, to fence off late reports.
CREATE TABLE leases (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    matchup BIGINT NOT NULL,
    first_group BIGINT NOT NULL,
    group_count BIGINT NOT NULL,
    seating BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    worker TEXT,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (tournament, first_group, seating, group_count, matchup)
);

-- The key is what makes a game count once.
CREATE TABLE games (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    grp BIGINT NOT NULL,
    seating BIGINT NOT NULL,
    games_in_group BIGINT NOT NULL,
    matchup BIGINT NOT NULL,
    lineup TEXT NOT NULL,
    -- For each seat the place in the lineup.
    seats TEXT NOT NULL,
    -- By seat, as are scores and thought_us.
    places TEXT NOT NULL,
    scores TEXT NOT NULL,
    reason TEXT NOT NULL,
    -- JSON; null where there are none.
    fouls TEXT,
    plies BIGINT NOT NULL,
    thought_us TEXT NOT NULL,
    -- The 64 bits of an unsigned number.
    course BIGINT NOT NULL,
    play_hash TEXT NOT NULL,
    voided BIGINT NOT NULL,
    finished_ms BIGINT NOT NULL,
    -- JSON: what the game adds to the counters.
    counters TEXT NOT NULL,
    PRIMARY KEY (tournament, grp, seating)
);

-- Apart from the games, which are read by the thousand; zstd.
CREATE TABLE records (
    tournament BIGINT NOT NULL,
    grp BIGINT NOT NULL,
    seating BIGINT NOT NULL,
    record BYTEA NOT NULL,
    PRIMARY KEY (tournament, grp, seating)
);

-- Groups of which every game is there. `places` has the games of the group
-- with semicolons, each by place in the lineup, as are the other lists.
CREATE TABLE groups (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    number BIGINT NOT NULL,
    matchup BIGINT NOT NULL,
    lineup TEXT NOT NULL,
    games BIGINT NOT NULL,
    points TEXT NOT NULL,
    margins TEXT NOT NULL,
    starts TEXT NOT NULL,
    fouls TEXT NOT NULL,
    places TEXT NOT NULL,
    PRIMARY KEY (tournament, number)
);

-- Entrant -1 is nobody in particular.
CREATE TABLE counters (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    entrant BIGINT NOT NULL,
    name TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (tournament, entrant, name)
);

-- The foul of each entrant in the lowest group and seating.
CREATE TABLE first_fouls (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    entrant BIGINT NOT NULL,
    grp BIGINT NOT NULL,
    seating BIGINT NOT NULL,
    foul TEXT NOT NULL,
    PRIMARY KEY (tournament, entrant)
);
