//! Results and records in SQLite or PostgreSQL: nothing that is in it is lost or
//! counted twice.
