-- Which transaction completed a group, by number from 1: who has summed all groups up to one adds those
-- that came after it. -1 where an arena has written the group that does not know this column: before
-- it was there, or while it runs beside one that knows it. Whoever sums gives these groups a number first.
ALTER TABLE groups ADD COLUMN change BIGINT NOT NULL DEFAULT -1;
CREATE INDEX groups_by_change ON groups (tournament, change, number);

-- What was summed over the results of a tournament, JSON. It can be computed anew from them, and is by
-- who does not know `made_by`. Each revision replaces the one before.
CREATE TABLE totals (
    tournament BIGINT PRIMARY KEY REFERENCES tournaments (id),
    revision BIGINT NOT NULL,
    made_by TEXT NOT NULL,
    state TEXT NOT NULL
);

-- The different courses of the games in it, each once: numbers of 64 bits in ascending order, the lowest
-- byte first.
CREATE TABLE courses (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    part BIGINT NOT NULL,
    courses BYTEA NOT NULL,
    PRIMARY KEY (tournament, part)
);
