-- The few games with fouls are found without reading all others.
CREATE INDEX games_with_fouls ON games (tournament, grp, seating) WHERE fouls IS NOT NULL;
