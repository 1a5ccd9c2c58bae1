-- A late answer that is excused by a delay of the referee no longer makes its game void: such
-- answers are counted by bot, in the counters.
ALTER TABLE games DROP COLUMN voided;
