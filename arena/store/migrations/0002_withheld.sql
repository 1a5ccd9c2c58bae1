-- Games of deals with secrets that are still to be played from other seats. Nothing of
-- them is told: they are in no list, and neither counters nor first_fouls have them yet.
CREATE TABLE withheld (
    tournament BIGINT NOT NULL REFERENCES tournaments (id),
    grp BIGINT NOT NULL,
    seating BIGINT NOT NULL,
    PRIMARY KEY (tournament, grp, seating)
);
