//! A check that a tournament that somebody else exported could have been written and run here: its
//! names become parts of paths and of tables.

use std::collections::BTreeSet;

use arena_store::{NewEntrant, Tournament};
use referee_bots::Entry;

use crate::{
    Definition, TournamentError,
    definition::{must_be_a_line, must_be_a_name, must_be_a_spec},
    error::invalid,
};

/// Checks what an import says of itself, as if it had been typed. Its games are proved by
/// [`verify`](crate::verify).
///
/// # Errors
///
/// [`TournamentError::Invalid`] says what was expected.
pub fn check_imported(tournament: &Tournament) -> Result<(), TournamentError> {
    must_be_a_name("name", &tournament.name)?;
    let definition: Definition = match serde_json::from_value(tournament.definition.clone()) {
        Ok(definition) => definition,
        Err(error) => return invalid(format!("its definition: {error}")),
    };
    if definition.game != tournament.game {
        return invalid("expected one game in the tournament and in its definition, found two");
    }
    let kind = definition.kind()?;
    must_be_a_spec("filler", &definition.filler)?;
    must_be_a_line("directory", &definition.directory.to_string_lossy())?;
    let mut names = BTreeSet::new();
    for NewEntrant {
        name,
        version,
        spec,
        owner,
        identity,
    } in &tournament.entrants
    {
        Entry::check_name(name)?;
        if !names.insert(name) {
            return invalid(format!("bots: two are called \"{name}\""));
        }
        must_be_a_line("version", version)?;
        must_be_a_spec("spec", spec)?;
        must_be_a_line("owner", owner.as_deref().unwrap_or("nobody"))?;
        must_be_a_line("identity", identity.as_deref().unwrap_or("none"))?;
    }
    definition.schedule(tournament.entrants.len(), [0; 32])?;
    if tournament.rules_version == kind.info().rules_version {
        for setup in &definition.setups {
            kind.setup(setup)?;
        }
    }
    Ok(())
}
