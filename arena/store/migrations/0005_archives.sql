-- The files of bots, packed, each once. `hash` is the SHA-256 of the unpacked archive, `size`
-- its bytes; `packed_by` is who packed it first, as user@host. `added_ms` is when it was last
-- added: until a while after that it stays, even if no bot names it yet.
CREATE TABLE archives (
    hash TEXT PRIMARY KEY,
    size BIGINT NOT NULL,
    packed_size BIGINT NOT NULL,
    packed_by TEXT NOT NULL,
    packed_ms BIGINT NOT NULL,
    added_ms BIGINT NOT NULL
);

-- The packed bytes, in parts of at most a mebibyte, from 0, so that a large one is never in
-- memory as a whole.
CREATE TABLE archive_parts (
    hash TEXT NOT NULL REFERENCES archives (hash),
    part BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (hash, part)
);

-- Which bot it was when the tournament was made, beyond its name: the hash of its files. Null
-- where that is not known.
ALTER TABLE entrants ADD COLUMN identity TEXT;
