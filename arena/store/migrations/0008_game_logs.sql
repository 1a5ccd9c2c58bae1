-- What the bot of an entrant printed in a game, packed, where that is kept: in the tournaments of contests.
-- It goes when the person is forgotten, and that of a league when there are newer rounds.
CREATE TABLE game_logs (
    tournament BIGINT NOT NULL,
    grp BIGINT NOT NULL,
    seating BIGINT NOT NULL,
    seat BIGINT NOT NULL,
    entrant BIGINT NOT NULL,
    log BYTEA NOT NULL,
    PRIMARY KEY (tournament, grp, seating, seat)
);

-- The tournaments in which a bot plays.
CREATE INDEX entrants_by_name ON entrants (name, tournament);
